"""Decisions that the user gives, and nothing is tuned: cuts of labels, and numbers of labels.

Knows numpy.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np

from sklearn_mrmp._decisions.goals.base import (
    Decision,
    check_number,
    in_label_order,
    plain_values,
)
from sklearn_mrmp._decisions.rules.cuts import falling_ranks, with_best_label
from sklearn_mrmp._model_files.part import Part


@dataclass(frozen=True, eq=False)
class CutsRule:
    """Predict a label when its score reaches the label's cut.

    Attributes
    ----------
    thresholds : ndarray of shape (n_labels,)
        The cuts.
    validation_score : float or None
        How good they are on the rows used for tuning, if there were any.
    """

    thresholds: np.ndarray
    validation_score: float | None = None

    def decide(self, P):
        """Return the predicted labels, bool ndarray of the shape of `P`."""
        return np.asarray(P) >= self.thresholds


@dataclass(frozen=True)
class LabelCuts(Decision):
    """Decide by thresholds of your own, one for each label.

    Parameters
    ----------
    cuts : sequence of float or mapping of str to float
        A label is predicted if its score is at least its threshold: one number for each label in
        order, or by label name.
    default : float, default=None
        The threshold of labels that are missing in a mapping; with None, such a mapping is refused.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp import LabelCuts
    >>> P = np.array([[0.4, 0.4], [0.6, 0.2]])
    >>> rule = LabelCuts({"rare": 0.3}, default=0.5).tune([[0, 1], [1, 0]], P,
    ...                                                   label_names=["often", "rare"])
    >>> rule.decide(P).astype(int)
    array([[0, 1],
           [1, 0]])
    """

    cuts: object
    default: float | None = None

    is_tuned = False

    def __post_init__(self):
        if np.ndim(self.cuts) == 0 and not hasattr(self.cuts, "keys"):
            raise TypeError(
                f"cuts must be a sequence or a mapping, got {self.cuts!r}; a single cut is "
                "decision=<number>."
            )
        object.__setattr__(self, "cuts", plain_values(self.cuts, "cuts", -np.inf))
        if self.default is not None:
            check_number(self.default, "default", -np.inf)

    def _for_labels(self, names):
        return replace(self, cuts=in_label_order(self.cuts, names, "cuts", self.default))

    def _rule(self, rows, names):
        return CutsRule(np.array(self.cuts))


@dataclass(frozen=True, eq=False)
class TopKRowsRule:
    """Predict the labels of highest score, so many of them in each row; ties go to the first.

    Attributes
    ----------
    k : int, tuple of int or callable
        As `TopK` has it.
    """

    k: object
    validation_score = None

    def decide(self, P):
        """Return the predicted labels, bool ndarray of the shape of `P`."""
        P = np.asarray(P)
        k = self.k(P) if callable(self.k) else self.k
        if np.ndim(k) == 0 and not callable(self.k):
            return falling_ranks(P) <= k
        k = np.asarray(k)
        if k.shape != (len(P),) or k.dtype.kind not in "iu":
            raise ValueError(
                f"TopK needs one whole number for each of the {len(P)} rows, got an array of "
                f"shape {k.shape} and dtype {k.dtype}."
            )
        if len(k) and not (k.min() >= 0 and k.max() <= P.shape[1]):
            raise ValueError(
                f"k must be between 0 and the number of labels, {P.shape[1]}; got values from "
                f"{k.min()} to {k.max()}."
            )
        return falling_ranks(P) <= k[:, None]


@dataclass(frozen=True)
class TopK(Decision):
    """Decide for the `k` labels of highest score in each row.

    ``decision="top_k"`` uses the best number for a metric instead, the same for all rows.

    Parameters
    ----------
    k : int, array-like of int of shape (n_samples,) or callable
        How many labels: one number for all rows, one for each row of the ``X`` that is predicted,
        or a function of the scores (n, n_labels) of some rows that returns the numbers (n,).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp import TopK
    >>> P = np.array([[0.2, 0.7, 0.6], [0.3, 0.1, 0.2]])
    >>> TopK([2, 1]).tune(P > 0.5, P).decide(P).astype(int)
    array([[0, 1, 1],
           [1, 0, 0]])
    >>> def expected_number(P):
    ...     return np.rint(P.sum(axis=1)).astype(int)
    >>> TopK(expected_number).tune(P > 0.5, P).decide(P).sum(axis=1)
    array([2, 1])
    """

    k: object

    is_tuned = False
    is_for_sets = True

    def __post_init__(self):
        if isinstance(self.k, Callable):
            return
        k = np.asarray(self.k)
        if k.ndim > 1 or k.dtype.kind not in "iu":
            raise TypeError(
                f"k must be a whole number, one for each row, or a function, got {self.k!r}."
            )
        if k.size and k.min() < (k.ndim == 0):
            raise ValueError(f"k must be at least {int(k.ndim == 0)}, got {k.min()}.")
        object.__setattr__(self, "k", tuple(k.tolist()) if k.ndim else int(k))

    @property
    def needs_all_rows(self):
        """Whether there is a number for each row."""
        return isinstance(self.k, tuple)

    def _for_labels(self, names):
        if isinstance(self.k, Integral) and self.k > len(names):
            raise ValueError(f"k is {self.k}, but there are {len(names)} labels.")
        return self

    def _rule(self, rows, names):
        return TopKRowsRule(self.k)


@dataclass(frozen=True, eq=False)
class BestLabelRule:
    """Predict labels whose score reaches a cut, and the best label of each row.

    Attributes
    ----------
    threshold : float
        The cut.
    """

    threshold: float
    validation_score = None

    def decide(self, P):
        """Return the predicted labels, bool ndarray of the shape of `P`."""
        return with_best_label(P, self.threshold)


@dataclass(frozen=True)
class AtLeastOne(Decision):
    """Decide by a threshold of your own, and always predict the best label of each row.

    ``decision="at_least_one"`` uses the best threshold for a metric instead.

    Parameters
    ----------
    cut : float
        The threshold: labels whose score is at least this high are predicted.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp import AtLeastOne
    >>> P = np.array([[0.2, 0.1], [0.8, 0.7]])
    >>> AtLeastOne(0.5).tune(P > 0.5, P).decide(P).astype(int)
    array([[1, 0],
           [1, 1]])
    """

    cut: float

    is_tuned = False
    is_for_sets = True

    def __post_init__(self):
        check_number(self.cut, "cut", -np.inf)

    def _rule(self, rows, names):
        return BestLabelRule(float(self.cut))


LabelCuts._model_part = TopK._model_part = AtLeastOne._model_part = Part()
