"""Multi-label classification with learned label relations, for scikit-learn."""

from sklearn_mrmp._label_graph import LabelGraph, label_graph
from sklearn_mrmp._mrmp import MrMPClassifier
from sklearn_mrmp._text import TokenSequenceVectorizer
from sklearn_mrmp._thresholds import tune_thresholds

__version__ = "0.1.0"

__all__ = [
    "LabelGraph",
    "MrMPClassifier",
    "TokenSequenceVectorizer",
    "label_graph",
    "tune_thresholds",
]
