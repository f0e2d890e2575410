"""Decisions that maximise a measure of counts: F-beta and the Jaccard index.

Both are metrics of `sweep`, so that the best cut is found among all of them. Knows numpy and the
rules of cuts.
"""

from dataclasses import dataclass

import numpy as np

from sklearn_mrmp._decisions.goals.base import Decision, check_average, check_number
from sklearn_mrmp._decisions.rules.cuts import GlobalThresholdRule, LabelThresholdRule
from sklearn_mrmp._model_files.part import Part

_AVERAGES = ("micro", "macro", "samples")


class _Measure(Decision):
    """A decision for the highest mean of a function of counts."""

    def _rule(self, rows, names):
        # A macro average is the sum of one measure for each label, so each has a cut of its own.
        kind = LabelThresholdRule if self.average == "macro" else GlobalThresholdRule
        rule = kind(metric=self)
        rule._fit_rows(rows)
        return rule


@dataclass(frozen=True)
class FBeta(_Measure):
    """Decide for the highest F-beta: recall counts `beta` times as much as precision.

    ``"micro"`` and ``"samples"`` use one threshold for all labels, the best of all thresholds on
    the rows used for tuning. ``"macro"`` uses one for each label, shrunk towards the common one as
    in `tune_thresholds`.

    Parameters
    ----------
    beta : float
        Weight of recall. 2 prefers recall, 0.5 precision, 1 is F1.
    average : {"micro", "macro", "samples"}, default="micro"
        Over all entries, over labels, or over rows, as in scikit-learn's ``fbeta_score`` with
        ``zero_division=0``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp import FBeta
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [0, 0]])
    >>> P = np.array([[0.9, 0.4], [0.3, 0.1], [0.2, 0.8], [0.5, 0.1]])
    >>> FBeta(2.0).tune(Y, P).threshold, FBeta(0.5).tune(Y, P).threshold
    (0.25, 0.65)
    """

    beta: float
    average: str = "micro"

    def __post_init__(self):
        check_number(self.beta, "beta", 0, 1e6)
        check_average(self.average, _AVERAGES)

    def of_counts(self, hits, predicted, positives):
        """F-beta of counts; 0 where nothing is true and nothing is predicted.

        Parameters
        ----------
        hits, predicted, positives : int or ndarray
            Entries that are both, predicted entries, true entries.

        Returns
        -------
        value : float or ndarray
        """
        weight = float(self.beta) ** 2
        total = predicted + weight * positives
        return (1 + weight) * hits / np.where(total > 0, total, 1)


@dataclass(frozen=True)
class Jaccard(_Measure):
    """Decide for the highest Jaccard index: what is true and predicted, of what is either.

    The cuts are as those of `FBeta`.

    Parameters
    ----------
    average : {"micro", "macro", "samples"}, default="micro"
        Over all entries, over labels, or over rows, as in scikit-learn's ``jaccard_score`` with
        ``zero_division=0``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp import Jaccard
    >>> Y = np.array([[1, 0], [1, 0], [0, 1]])
    >>> P = np.array([[0.9, 0.4], [0.3, 0.1], [0.2, 0.8]])
    >>> rule = Jaccard("samples").tune(Y, P)
    >>> rule.decide(P).astype(int)
    array([[1, 1],
           [1, 0],
           [0, 1]])
    """

    average: str = "micro"

    def __post_init__(self):
        check_average(self.average, _AVERAGES)

    def of_counts(self, hits, predicted, positives):
        """Jaccard index of counts; 0 where nothing is true and nothing is predicted.

        Parameters
        ----------
        hits, predicted, positives : int or ndarray
            Entries that are both, predicted entries, true entries.

        Returns
        -------
        value : float or ndarray
        """
        return hits / np.maximum(predicted + positives - hits, 1)


FBeta._model_part = Jaccard._model_part = Part()
