"""Multi-label classification with learned label relations, for scikit-learn.

`MrMPClassifier` stacks a neural network, a logistic regression and the most similar training rows.
Its network learns a graph of labels that attract each other and labels that avoid each other. The
package also has the classifiers that the paper compares with, decision rules for any multi-label
classifier, label graphs, explanations, pictures and comparisons.
"""

from importlib import import_module

from sklearn_mrmp._baselines.label_chain import LabelChainClassifier
from sklearn_mrmp._baselines.label_powerset import LabelPowersetClassifier
from sklearn_mrmp._baselines.mlaram import MLARAMClassifier
from sklearn_mrmp._baselines.tuned_relevance import TunedBinaryRelevanceClassifier
from sklearn_mrmp._compare.ablation import AblationResult, auc_gain_by_degree, relation_ablation
from sklearn_mrmp._compare.api import compare_classifiers
from sklearn_mrmp._compare.report import ComparisonResult
from sklearn_mrmp._decisions.choice import fit_decision_rules
from sklearn_mrmp._decisions.goals.costs import LabelCosts
from sklearn_mrmp._decisions.goals.floors import FloorNotMetWarning, PrecisionFloor, RecallFloor
from sklearn_mrmp._decisions.goals.given import AtLeastOne, LabelCuts, TopK
from sklearn_mrmp._decisions.goals.measures import FBeta, Jaccard
from sklearn_mrmp._decisions.thresholds import ThresholdResult, tune_thresholds
from sklearn_mrmp._explain.value import Explanation
from sklearn_mrmp._graph.hierarchy import add_ancestors
from sklearn_mrmp._graph.learning import LabelGraph, label_graph
from sklearn_mrmp._graph.priors import hierarchy_relation, similarity_relation
from sklearn_mrmp._hub.api import from_pretrained, push_to_hub, save_pretrained
from sklearn_mrmp._hub.card import model_card
from sklearn_mrmp._model_files.api import load, save
from sklearn_mrmp._model_files.errors import ModelFileError
from sklearn_mrmp._onnx.api import to_onnx
from sklearn_mrmp._plot.ablation import AblationDisplay
from sklearn_mrmp._plot.comparison import ComparisonDisplay
from sklearn_mrmp._plot.explanation import ExplanationDisplay
from sklearn_mrmp._plot.label_graph import LabelGraphDisplay
from sklearn_mrmp._plot.ranks import RankDisplay
from sklearn_mrmp._plot.reliability import ReliabilityDisplay
from sklearn_mrmp._plot.threshold import ThresholdDisplay
from sklearn_mrmp._plot.training_history import TrainingHistoryDisplay
from sklearn_mrmp._reports.label_report import LabelReport
from sklearn_mrmp._splits.splitters import (
    MultilabelStratifiedKFold,
    MultilabelStratifiedShuffleSplit,
    multilabel_train_test_split,
)
from sklearn_mrmp._text import TokenSequenceVectorizer
from sklearn_mrmp._trust.calibration import LabelCalibrator, calibrate_labels
from sklearn_mrmp._trust.classifier import CalibratedMultilabelClassifier
from sklearn_mrmp._trust.conformal import LabelConformal
from sklearn_mrmp._trust.label_errors import LabelErrors, label_errors
from sklearn_mrmp._tuned_decision.classifier import TunedDecisionClassifier
from sklearn_mrmp._version import __version__ as __version__
from sklearn_mrmp._voting import SoftVotingMultilabelClassifier

__all__ = [
    "AblationDisplay",
    "AblationResult",
    "AtLeastOne",
    "CalibratedMultilabelClassifier",
    "ComparisonDisplay",
    "ComparisonResult",
    "Explanation",
    "ExplanationDisplay",
    "FBeta",
    "FloorNotMetWarning",
    "Jaccard",
    "LaMPClassifier",
    "LabelCalibrator",
    "LabelChainClassifier",
    "LabelConformal",
    "LabelCosts",
    "LabelCuts",
    "LabelErrors",
    "LabelGraph",
    "LabelGraphDisplay",
    "LabelPowersetClassifier",
    "LabelReport",
    "MLARAMClassifier",
    "MLKNNClassifier",
    "MLRNNClassifier",
    "MPVAEClassifier",
    "ModelFileError",
    "MrMPClassifier",
    "MultilabelStratifiedKFold",
    "MultilabelStratifiedShuffleSplit",
    "PrecisionFloor",
    "RankDisplay",
    "RecallFloor",
    "ReliabilityDisplay",
    "SoftVotingMultilabelClassifier",
    "TextEncoder",
    "ThresholdDisplay",
    "ThresholdResult",
    "TokenSequenceVectorizer",
    "TopK",
    "TrainingHistoryDisplay",
    "TunedBinaryRelevanceClassifier",
    "TunedDecisionClassifier",
    "add_ancestors",
    "auc_gain_by_degree",
    "calibrate_labels",
    "compare_classifiers",
    "fit_decision_rules",
    "from_pretrained",
    "hierarchy_relation",
    "label_errors",
    "label_graph",
    "load",
    "model_card",
    "multilabel_train_test_split",
    "push_to_hub",
    "relation_ablation",
    "save",
    "save_pretrained",
    "similarity_relation",
    "to_onnx",
    "tune_thresholds",
]


# Estimators whose imports take long: torch, and scikit-learn's neighbours.
_IMPORTED_LATE = {
    "LaMPClassifier": "_peers.lamp",
    "MLRNNClassifier": "_peers.mlrnn",
    "MPVAEClassifier": "_peers.mpvae",
    "MrMPClassifier": "_mrmp",
    "MLKNNClassifier": "_baselines.mlknn",
    "TextEncoder": "_text_encoder",
}


def __getattr__(name):
    """Import an estimator that needs much when it is first asked for.

    Data sets, label graphs, decisions and the other baselines then load in a fraction of the time.
    """
    if name in _IMPORTED_LATE:
        module = import_module(f"sklearn_mrmp.{_IMPORTED_LATE[name]}")
        return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
