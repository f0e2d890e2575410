"""Decisions with a floor: at least so much precision, or recall, overall or for each label.

Of the cuts that keep the floor on the rows used for tuning, the one with the most of the other
measure is taken; all distinct cuts are looked at. A floor that no cut keeps is reported by a
`FloorNotMetWarning` and by the rule. Knows numpy, and scipy's beta function for confidence.
"""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import betainc, betaincinv

from sklearn_mrmp._decisions.goals.base import Decision, check_average, check_number, listed
from sklearn_mrmp._decisions.sweep import last_of_equals
from sklearn_mrmp._model_files.part import Part

# Shares of counts that differ by less are equal: 0.07 * 100 is more than 7.
_ROUNDING = 1e-9


class FloorNotMetWarning(UserWarning):
    """A floor on precision or recall cannot be met on the rows used for tuning."""


@dataclass(frozen=True, eq=False)
class FloorRule:
    """Cuts that keep a floor; what `PrecisionFloor` and `RecallFloor` make.

    Arrays have an entry for each label, or a single one for all labels together.

    Attributes
    ----------
    thresholds : ndarray
        The cuts; infinite where nothing is predicted.
    precision, recall : ndarray
        What they reach on the rows used for tuning; NaN where it is not defined.
    best_reachable : ndarray
        The highest value of what the floor is about that any cut reaches, with a confidence the
        highest lower bound; NaN if not defined.
    met : bool ndarray
        Whether the floor is kept.
    validation_score : float
        The mean of the other measure: of recall for a floor on precision.
    """

    thresholds: np.ndarray
    precision: np.ndarray
    recall: np.ndarray
    best_reachable: np.ndarray
    met: np.ndarray
    validation_score: float

    def decide(self, P):
        """Return the predicted labels, bool ndarray of the shape of `P`."""
        return np.asarray(P) >= self.thresholds


@dataclass(frozen=True)
class _Curve:
    """Hits and predictions at each distinct cut of some scores, falling."""

    values: np.ndarray
    hits: np.ndarray
    predicted: np.ndarray

    @classmethod
    def of(cls, y, s):
        order = np.argsort(-s, kind="stable")
        values = s[order]
        last = last_of_equals(values)
        return cls(values[last], np.cumsum(y[order])[last], last + 1)

    @property
    def n_positives(self):
        return self.hits[-1]

    def cut(self, position):
        """Middle between the score at a position and the next lower one, in the scores' dtype."""
        high = self.values[position]
        if position + 1 == len(self.values):
            return high
        low = self.values[position + 1]
        middle = high.dtype.type(0.5 * float(low) + 0.5 * float(high))
        return middle if middle > low else high


class _Floor(Decision):
    """What the two floors share; a subclass says how the best cut of a curve is found."""

    _measure: ClassVar[str]

    def __post_init__(self):
        check_number(self.floor, "floor", 0, 1)
        check_average(self.average, ("micro", "per_label"))
        if self.confidence is not None:
            check_number(self.confidence, "confidence", 0.5, 1 - _ROUNDING)

    def _is_kept(self, hits, sizes):
        """Whether so many hits of so many entries are enough, for arrays of counts."""
        if self.confidence is None:
            return hits >= self.floor * sizes - _ROUNDING
        # The chance of so many hits, or more, if the share were just the floor.
        return betainc(np.maximum(hits, 1), sizes - hits + 1, self.floor) <= 1 - self.confidence

    def _best_share(self, hits, sizes):
        """Highest share of hits, or lower bound of it, among arrays of counts; hits only grow."""
        first = np.flatnonzero(np.diff(hits, prepend=0))  # of equal hits the first has fewest
        if not first.size:
            return 0.0
        hits, sizes = hits[first], np.broadcast_to(sizes, hits.shape)[first]
        if self.confidence is None:
            return float((hits / sizes).max())
        # Clopper and Pearson's exact bound, of one side.
        return float(betaincinv(hits, sizes - hits + 1, 1 - self.confidence).max())

    def _rule(self, rows, names):
        if self.average == "micro":
            curves = [_Curve.of(rows.Y.ravel(), rows.P.ravel())]
        else:
            columns = range(rows.P.shape[1])
            curves = [_Curve.of(rows.Y[:, label], rows.P[:, label]) for label in columns]
        found = np.array([self._found(curve) for curve in curves])
        cuts, precision, recall, reachable, met = found.T
        cuts, met = cuts.astype(rows.P.dtype), met > 0
        if not met.all():
            cuts = self._instead(cuts, met, rows)
            self._warn(met, reachable, len(rows.Y), names)
        score = recall if self._measure == "precision" else precision
        score = float(np.nan_to_num(score).mean())
        return FloorRule(cuts, precision, recall, reachable, met, score)

    def _found(self, curve):
        """Cut, precision, recall, the best reachable value, and whether the floor is kept."""
        reachable, position = self._best(curve)
        if position is None:
            return np.inf, np.nan, np.nan, reachable, False
        hits, predicted = curve.hits[position], curve.predicted[position]
        recall = hits / curve.n_positives if curve.n_positives else np.nan
        return curve.cut(position), hits / predicted, recall, reachable, True

    def _instead(self, cuts, met, rows):
        """Return the cuts to use where the floor cannot be kept: none is reached by a score."""
        return cuts

    def _warn(self, met, reachable, n_rows, names):
        unmet = np.flatnonzero(~met)
        if self.average == "micro":
            what = f"it is reached by no cut of all labels (best: {reachable[0]:.3g})"
        else:
            each = [f"{names[k]} (best: {reachable[k]:.3g})" for k in unmet]
            what = f"{len(unmet)} of {len(met)} labels do not reach it: {listed(each)}"
        warnings.warn(
            f"{self!r} cannot be met on the {n_rows} rows used for tuning: {what}. "
            f"{self._consequence} Lower the floor, or tune on more rows. The rule's `met` and "
            "`best_reachable` have the figures.",
            FloorNotMetWarning,
            stacklevel=2,
        )


@dataclass(frozen=True)
class PrecisionFloor(_Floor):
    """Decide for the highest recall with at least this precision.

    If no threshold has this precision on the rows used for tuning, nothing is predicted, and a
    `FloorNotMetWarning` names the labels and the best precision that they reach.

    Parameters
    ----------
    floor : float
        The lowest precision allowed, from 0 to 1.
    average : {"micro", "per_label"}, default="micro"
        Whether the floor is for all predicted entries together, with one threshold for all labels,
        or for each label, with its own threshold.
    confidence : float, default=None
        None requires the precision only on the rows used for tuning, where it may be reached by
        chance, for example by two right predictions out of two. With 0.95, the lower bound of a 95
        % confidence interval must reach the floor.

    Notes
    -----
    The bound is exact for a given threshold. It is a little optimistic for the best of many
    thresholds.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp import PrecisionFloor
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> P = np.array([[0.9, 0.4], [0.3, 0.1], [0.2, 0.8], [0.5, 0.7]])
    >>> rule = PrecisionFloor(0.75, average="per_label").tune(Y, P)
    >>> rule.thresholds, rule.recall
    (array([0.7 , 0.55]), array([0.5, 1. ]))
    """

    floor: float
    average: str = "micro"
    confidence: float | None = None

    _measure: ClassVar[str] = "precision"
    _consequence: ClassVar[str] = "Nothing is predicted there."

    def _best(self, curve):
        kept = self._is_kept(curve.hits, curve.predicted) & (curve.hits > 0)
        best = self._best_share(curve.hits, curve.predicted)
        if not kept.any():
            return best, None
        # Hits only grow: the first cut with the most of them has the fewest wrong entries.
        most = curve.hits[kept].max()
        return best, int(np.flatnonzero(kept & (curve.hits == most))[0])


@dataclass(frozen=True)
class RecallFloor(_Floor):
    """Decide for the highest precision with at least this recall.

    Every recall can be reached by predicting enough labels, except with a `confidence` for which
    there are too few positive rows. A label that cannot reach it, or has no positive row, gets the
    threshold of all labels together. If these cannot reach it, either, nothing is predicted. A
    `FloorNotMetWarning` names the labels.

    Parameters
    ----------
    floor : float
        The lowest recall allowed, from 0 to 1.
    average : {"micro", "per_label"}, default="micro"
        Whether the floor is for all true entries together, with one threshold for all labels, or
        for each label, with its own threshold.
    confidence : float, default=None
        None requires the recall only on the rows used for tuning. With 0.95, the lower bound of a
        95 % confidence interval must reach the floor, if that is possible.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp import RecallFloor
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> P = np.array([[0.9, 0.4], [0.3, 0.1], [0.2, 0.8], [0.5, 0.7]])
    >>> rule = RecallFloor(1.0).tune(Y, P)
    >>> rule.precision, rule.recall
    (array([0.66666667]), array([1.]))
    """

    floor: float
    average: str = "micro"
    confidence: float | None = None

    _measure: ClassVar[str] = "recall"
    _consequence: ClassVar[str] = (
        "The cut of all labels together is used there, if it reaches the floor, or else none."
    )

    def _best(self, curve):
        if curve.n_positives == 0:
            return np.nan, None
        kept = self._is_kept(curve.hits, curve.n_positives)
        best = self._best_share(curve.hits, curve.n_positives)
        if not kept.any():
            return best, None
        precision = np.where(kept, curve.hits / curve.predicted, -1.0)
        # Of equally precise cuts the last has the highest recall.
        return best, int(np.flatnonzero(precision == precision.max())[-1])

    def _instead(self, cuts, met, rows):
        if self.average == "micro":
            return cuts
        common, *_ = self._found(_Curve.of(rows.Y.ravel(), rows.P.ravel()))
        return np.where(met, cuts, cuts.dtype.type(common))


PrecisionFloor._model_part = RecallFloor._model_part = Part()
