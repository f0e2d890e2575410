"""The rows that decisions are tuned on: checked once, and what several rules need of them.

Every rule of a tuning reads the same `ValidationRows`; what two of them want is computed when the
first asks for it. Knows numpy, thresholds, calibration and the model of label sets.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sklearn_mrmp._decisions.calibration import Calibration
from sklearn_mrmp._decisions.label_set_model import (
    MAX_SETS,
    CollectedLabelSets,
    fit_label_sets,
    to_logits,
)
from sklearn_mrmp._decisions.thresholds import (
    best_global_cuts,
    check_labels,
    check_labels_and_scores,
)
from sklearn_mrmp._numerics.similar_rows import SimilarRows


@dataclass(frozen=True, eq=False)
class ValidationRows:
    """Labels and scores of rows that a classifier was not fitted on; `check` makes them.

    Attributes
    ----------
    Y : bool ndarray of shape (n_valid, n_labels)
        Labels of the rows, C-contiguous.
    P : float ndarray of shape (n_valid, n_labels)
        Their probabilities, logits or margins, C-contiguous.
    Y_train : bool ndarray of shape (n_train, n_labels), or None
        Labels of the other training rows; None when there are none.
    from_logits : bool
        Whether scores are logits or margins instead of probabilities.
    similar : SimilarRows or None
        Training rows similar to these, for rules that look at rows.
    collected : CollectedLabelSets or None
        The label sets of `Y` and `Y_train`, where somebody has collected them before.
    known : bool ndarray of shape (n_valid, n_labels), or None
        Which entries of `Y` are known, the others being False; None is all.

    Examples
    --------
    >>> from sklearn_mrmp._decisions.validation_rows import ValidationRows
    >>> rows = ValidationRows.check([[1, 0], [1, 1]], [[0.75, 0.25], [0.75, 0.5]])
    >>> rows.Y.dtype
    dtype('bool')
    >>> rows.global_cut("f1_micro")
    0.375
    """

    Y: np.ndarray
    P: np.ndarray
    Y_train: np.ndarray | None = None
    from_logits: bool = False
    similar: SimilarRows | None = None
    collected: CollectedLabelSets | None = None
    known: np.ndarray | None = None
    _cuts: dict = field(default_factory=dict, init=False, repr=False)
    _fits: dict = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def check(
        cls,
        Y_valid,
        P_valid,
        Y_train=None,
        *,
        from_logits=False,
        similar=None,
        collected=None,
        known=None,
    ):
        """Validate what a caller passed.

        Parameters
        ----------
        Y_valid : {array-like, sparse matrix} of shape (n_valid, n_labels)
            0/1 labels.
        P_valid : array-like of shape (n_valid, n_labels)
            Scores.
        Y_train : {array-like, sparse matrix} of shape (n_train, n_labels), default=None
            0/1 labels of the other training rows.
        from_logits, similar, collected, known
            See the attributes; they are taken as they are.

        Returns
        -------
        rows : ValidationRows
        """
        Y, P = check_labels_and_scores(Y_valid, P_valid)
        if Y_train is not None:
            Y_train = check_labels(Y_train, "Y_train")
            if Y_train.shape[1] != Y.shape[1]:
                raise ValueError(
                    f"Y_train has {Y_train.shape[1]} labels and the validation rows have "
                    f"{Y.shape[1]}; pass the same labels in the same order."
                )
        return cls(Y, P, Y_train, from_logits, similar, collected, known)

    @cached_property
    def logits(self):
        """Logits of the scores, finite ones."""
        return to_logits(self.P, self.from_logits)

    @cached_property
    def calibration(self):
        """The scores' `Calibration`; None where no label is true, so there is none to learn."""
        if not self.Y.any():
            return None
        return Calibration.fit(self.Y, self.P, self.from_logits, self.known)

    @cached_property
    def cut_scores(self):
        """Scores for those who look for cuts: below all others where an entry is unknown.

        Such an entry is False in `Y`, so that no metric changes unless it is predicted.
        """
        return self.lowest_if_unknown(self.P)

    def lowest_if_unknown(self, S):
        """Return scores `S` of all entries, those of unknown ones below all others."""
        if self.known is None:
            return S
        return np.where(self.known, S, np.nextafter(S.min(), S.dtype.type(-np.inf)))

    def counted(self, decided):
        """Return decisions about all entries, nothing being predicted of unknown ones."""
        return decided if self.known is None else decided & self.known

    def every(self, step):
        """Return every so many rows, for rules that need no label sets."""
        known = None if self.known is None else self.known[::step]
        Y, P = self.Y[::step], self.P[::step]
        return ValidationRows(Y, P, from_logits=self.from_logits, known=known)

    @cached_property
    def has_label_sets(self):
        """Whether the label set of any row is known."""
        if self.known is None or self.collected is not None:
            return True
        return bool(self.known.all(axis=1).any()) or (
            self.Y_train is not None and len(self.Y_train) > 0
        )

    def global_cut(self, metric):
        """Return the best single cut of the scores for a metric."""
        if metric not in self._cuts:
            self._cuts.update(best_global_cuts(self.Y, self.cut_scores, (metric,))[0])
        return self._cuts[metric]

    def label_set_fit(self, max_sets=MAX_SETS):
        """Return the model of label sets fitted on these rows, a `LabelSetFit`."""
        if max_sets not in self._fits:
            collected = self.collected
            if collected is None or collected.max_sets != max_sets:
                collected = CollectedLabelSets.of(self.Y, self.Y_train, max_sets, self.known)
            self._fits[max_sets] = fit_label_sets(collected, self.logits)
        return self._fits[max_sets]
