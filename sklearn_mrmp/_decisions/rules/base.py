"""The base of decision rules: validate, choose constants, say how well they do.

A rule is a small picklable object: ``fit(Y_valid, P_valid)`` chooses its constants for a metric on
validation rows, ``decide(P)`` turns scores into label sets. A subclass is a dataclass with a field
`metric`, and with a field `from_logits` if it has to know what kind of scores it gets; it
implements `_choose` and `decide`. Knows numpy and `ValidationRows`.
"""

from abc import ABC, abstractmethod

from sklearn_mrmp._decisions.sweep import metric_value
from sklearn_mrmp._decisions.thresholds import check_measures
from sklearn_mrmp._decisions.validation_rows import ValidationRows


class Rule(ABC):
    """Turns scores into label sets, with constants chosen on validation rows.

    Attributes
    ----------
    needs_rows : bool
        Whether `decide` wants to see training rows similar to those it decides about, as a second
        argument.
    needs_label_sets : bool
        Whether it cannot be fitted unless the label sets of some rows are known.
    validation_score : float
        The metric on the validation rows.
    """

    needs_rows = False
    needs_label_sets = False
    from_logits = False

    def fit(self, Y_valid, P_valid, Y_train=None):
        """Choose the rule's constants on validation rows.

        Parameters
        ----------
        Y_valid : {array-like, sparse matrix} of shape (n_valid, n_labels)
            0/1 labels of the validation rows.
        P_valid : array-like of shape (n_valid, n_labels)
            Their scores, from a model that did not see these rows.
        Y_train : {array-like, sparse matrix} of shape (n_train, n_labels), default=None
            Labels of the other training rows, for rules of label sets. None when there are none,
            as with out-of-fold scores of all rows: each validation row is then judged by the label
            sets of the others.

        Returns
        -------
        self : object
            The fitted rule.
        """
        check_measures(self.metric)
        rows = ValidationRows.check(Y_valid, P_valid, Y_train, from_logits=self.from_logits)
        self._fit_rows(rows)
        return self

    def _fit_rows(self, rows):
        """Fit on rows that were checked before.

        Parameters
        ----------
        rows : ValidationRows
            Labels, scores, and what rules share of them.

        Returns
        -------
        decided : bool ndarray of shape (n_valid, n_labels)
            The decisions about these rows, in which no row's own label set speaks for it.
        """
        self._choose(rows)
        decided = rows.counted(self._decide_unseen(rows))
        self.validation_score = metric_value(rows.Y, decided, self.metric)
        return decided

    @abstractmethod
    def _choose(self, rows):
        """Choose the constants on `ValidationRows`."""

    def _decide_unseen(self, rows):
        """Decide about the validation rows as if their labels had not been seen."""
        return self.decide(rows.P)

    @abstractmethod
    def decide(self, P):
        """Return the predicted labels, bool ndarray of the shape of `P`."""
