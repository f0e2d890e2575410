"""Decision rules that cut scores: one threshold, one for each label, the top k, at least one.

Knows numpy and thresholds.
"""

from dataclasses import dataclass

import numpy as np

from sklearn_mrmp._decisions.per_label import SHRINKAGE, tune_label_cuts
from sklearn_mrmp._decisions.rules.base import Rule
from sklearn_mrmp._decisions.thresholds import best_global_cuts, check_shrinkage
from sklearn_mrmp._model_files.part import NUMBER, Part


@dataclass(eq=False)
class GlobalThresholdRule(Rule):
    """Predict the labels whose score reaches one cut, the best one for a metric.

    Parameters
    ----------
    metric : {"accuracy", "f1_samples", "f1_micro", "f1_macro"}, default="f1_micro"
        What the cut maximises on the validation rows.

    Attributes
    ----------
    threshold : float
        The cut.
    validation_score : float
        The metric on the validation rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp._decisions.rules.cuts import GlobalThresholdRule
    >>> rule = GlobalThresholdRule().fit([[1, 0], [1, 1]], [[0.75, 0.25], [0.75, 0.5]])
    >>> rule.decide(np.array([[0.3, 0.4]]))
    array([[False,  True]])
    """

    metric: str = "f1_micro"

    def _choose(self, rows):
        self.threshold = rows.global_cut(self.metric)

    def decide(self, P):
        """Return the predicted labels, bool ndarray of the shape of `P`."""
        return np.asarray(P) >= self.threshold


GlobalThresholdRule._model_part = Part({"threshold": NUMBER, "validation_score": NUMBER})


@dataclass(eq=False)
class LabelThresholdRule(Rule):
    """Predict a label when its score reaches the label's own cut, shrunk to the global one.

    Parameters
    ----------
    metric : {"accuracy", "f1_samples", "f1_micro", "f1_macro"}, default="f1_macro"
        What the cuts maximise on the validation rows.
    shrinkage : float, default=10.0
        See `tune_thresholds`.

    Attributes
    ----------
    thresholds : ndarray of shape (n_labels,)
        The cuts.
    validation_score : float
        The metric on the validation rows.

    Examples
    --------
    >>> from sklearn_mrmp._decisions.rules.cuts import LabelThresholdRule
    >>> rule = LabelThresholdRule(shrinkage=0)
    >>> rule.fit([[1, 0], [0, 1]], [[0.5, 0.25], [0.25, 0.75]]).thresholds
    array([0.375, 0.5  ])
    """

    metric: str = "f1_macro"
    shrinkage: float = SHRINKAGE

    def _choose(self, rows):
        check_shrinkage(self.shrinkage)
        start = rows.global_cut(self.metric)
        scores = rows.cut_scores
        self.thresholds = tune_label_cuts(rows.Y, scores, self.metric, start, self.shrinkage)

    def decide(self, P):
        """Return the predicted labels, bool ndarray of the shape of `P`."""
        return np.asarray(P) >= self.thresholds


LabelThresholdRule._model_part = Part({"thresholds": "ndarray", "validation_score": NUMBER})


@dataclass(eq=False)
class TopKRule(Rule):
    """Predict the k labels of highest score, in every row; k is the best number for a metric.

    Parameters
    ----------
    metric : {"accuracy", "f1_samples", "f1_micro", "f1_macro"}, default="f1_micro"
        The metric.

    Attributes
    ----------
    k : int
        The number of labels.
    validation_score : float
        The metric on the validation rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp._decisions.rules.cuts import TopKRule
    >>> rule = TopKRule().fit([[1, 0, 0], [0, 1, 0]], [[0.4, 0.2, 0.1], [0.1, 0.2, 0.1]])
    >>> rule.decide(np.array([[0.2, 0.1, 0.3]]))
    array([[False, False,  True]])
    """

    metric: str = "f1_micro"

    def _choose(self, rows):
        # ranks as scores: the best cut of the ranks is the best k
        scores = rows.lowest_if_unknown(1.0 - falling_ranks(rows.P))
        cuts, _ = best_global_cuts(rows.Y, scores, (self.metric,))
        self.k = max(1, int(np.floor(1.0 - cuts[self.metric])))

    def decide(self, P):
        """Return the predicted labels, bool ndarray of the shape of `P`."""
        return falling_ranks(np.asarray(P)) <= self.k


TopKRule._model_part = Part({"k": "int", "validation_score": NUMBER})


@dataclass(eq=False)
class AtLeastOneRule(Rule):
    """Predict the labels whose score reaches a cut, and in any case the best label of each row.

    The cut is the best one for a metric, exactly.

    Parameters
    ----------
    metric : {"accuracy", "f1_samples", "f1_micro", "f1_macro"}, default="f1_micro"
        The metric.

    Attributes
    ----------
    threshold : float
        The cut.
    validation_score : float
        The metric on the validation rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp._decisions.rules.cuts import AtLeastOneRule
    >>> rule = AtLeastOneRule().fit([[1, 0], [1, 1]], [[0.9, 0.2], [0.8, 0.6]])
    >>> rule.decide(np.array([[0.2, 0.1], [0.8, 0.7]]))
    array([[ True, False],
           [ True,  True]])
    """

    metric: str = "f1_micro"

    def _choose(self, rows):
        # with the best label of each row on top of all scores, every cut predicts it
        lifted, highest = rows.P.copy(), rows.P.max()
        lifted[np.arange(len(lifted)), rows.P.argmax(axis=1)] = highest
        cuts, _ = best_global_cuts(rows.Y, rows.lowest_if_unknown(lifted), (self.metric,))
        self.threshold = min(cuts[self.metric], float(highest))

    def decide(self, P):
        """Return the predicted labels, bool ndarray of the shape of `P`."""
        return with_best_label(P, self.threshold)


AtLeastOneRule._model_part = Part({"threshold": NUMBER, "validation_score": NUMBER})


def with_best_label(P, cut):
    """Labels whose score reaches a cut, and the best one of each row, the first of equals."""
    P = np.asarray(P)
    decided = cut <= P
    decided[np.arange(len(P)), P.argmax(axis=1)] = True
    return decided


def falling_ranks(P):
    """Rank of each score within its row, 1 for the highest; ties by column."""
    order = np.argsort(-P, axis=1, kind="stable")
    ranks = np.empty(P.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, np.arange(1, P.shape[1] + 1)[None], axis=1)
    return ranks
