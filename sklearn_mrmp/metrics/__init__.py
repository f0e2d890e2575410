"""Measures of the top of a ranking of labels, for label matrices with many columns.

Functions have scikit-learn's signatures and take sparse label matrices; `get_scorer` gives them as
scorers. What scikit-learn has already is not repeated: ``coverage_error``,
``label_ranking_average_precision_score`` and ``label_ranking_loss`` take label matrices, too.
"""

from sklearn_mrmp.metrics._propensity import label_propensities, propensity_scored_precision_at_k
from sklearn_mrmp.metrics._ranking import (
    label_coverage_at_k,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
)
from sklearn_mrmp.metrics._scorers import get_scorer, get_scorer_names

__all__ = [
    "get_scorer",
    "get_scorer_names",
    "label_coverage_at_k",
    "label_propensities",
    "ndcg_at_k",
    "precision_at_k",
    "propensity_scored_precision_at_k",
    "recall_at_k",
]
