"""What the label sets seen in training say about single labels, mixed into their probabilities.

Labels are not independent: given all that the voters say, some label sets are likely and most never
occur. The probability of a label under the distribution over the sets seen in training, mixed with
its own, is often the better one; held-out rows say how much of it. Knows the model of label sets.
"""

from dataclasses import dataclass

import numpy as np

from sklearn_mrmp._decisions.label_set_model import (
    CollectedLabelSets,
    LabelSetModel,
    fit_label_sets,
    to_logits,
)
from sklearn_mrmp._model_files.part import Part, require

# Shares tried; 0 leaves the probabilities alone.
_SHARES = (0.0, 0.25, 0.5, 0.75)
# Gain in log loss, summed over all entries, that speaks for label sets: four coefficients were
# fitted on the same rows.
_CLEAR_GAIN = 4.0
# With more labels hardly any set occurs twice.
_MOST_LABELS = 2_000


@dataclass(eq=False)
class LabelSetVote:
    """Mix the probabilities of labels with those under the distribution over label sets.

    Attributes
    ----------
    model : LabelSetModel
        The label sets and the coefficients of their distribution.
    share : float
        Share of the label sets in the mean, above 0 and below 1.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]] * 20, dtype=bool)
    >>> P = np.where(Y, 0.6, 0.3)
    >>> vote, P_mixed = LabelSetVote.fit(Y, P, Y)
    >>> bool((P_mixed[Y] > 0.6).all())    # the first two come together
    True
    """

    model: LabelSetModel
    share: float

    @classmethod
    def fit(cls, Y, P, Y_others=None, *, forget_held_out=False, collected=None, known=None):
        """Fit on held-out rows.

        Parameters
        ----------
        Y : bool ndarray of shape (n_samples, n_labels)
            Labels of rows that `P` was not fitted on.
        P : ndarray of shape (n_samples, n_labels)
            Their probabilities.
        Y_others : bool ndarray of shape (n_others, n_labels), default=None
            Labels of the other training rows. Without them each row is judged by the label sets of
            the other rows of `Y`.
        forget_held_out : bool, default=False
            Leave the label sets of `Y` out of the model, where there are `Y_others`: for rows that
            somebody will tune decisions on.
        collected : CollectedLabelSets, default=None
            The label sets of `Y` and `Y_others`, where somebody has collected them before.
        known : bool ndarray of shape (n_samples, n_labels), default=None
            Which entries of `Y` are known, the others being False; None is all.

        Returns
        -------
        vote : LabelSetVote or None
            None when label sets do not help.
        P : ndarray of shape (n_samples, n_labels), float32
            Mixed probabilities of the rows; a row's own label set is not held against it.
        """
        if Y.shape[1] > _MOST_LABELS:
            return None, P
        Z = to_logits(P)
        if collected is None:
            collected = CollectedLabelSets.of(Y, Y_others, known=known)
        fit = fit_label_sets(collected, Z)
        marginals = fit.judge.marginals(Z, fit.own)
        losses = {share: _log_loss(Y, _mean(P, marginals, share), known) for share in _SHARES}
        share = min(losses, key=losses.get)
        if losses[share] > losses[0.0] - _CLEAR_GAIN:
            return None, P
        model = fit.judge if forget_held_out else fit.model
        return cls(model, share), _mean(P, marginals, share)

    def mix(self, P):
        """Return mixed probabilities, float32; a row's depend on it alone."""
        return _mean(P, self.model.marginals(to_logits(P)), self.share)

    def mix_told(self, P, P_alone, told):
        """Return probabilities mixed with those under the label sets that agree with the told.

        Parameters
        ----------
        P : ndarray of shape (n_samples, n_labels), float32
            Probabilities that know what is told.
        P_alone : ndarray of shape (n_samples, n_labels), float32
            Probabilities that do not, since the label sets learn it on their own.
        told : csr_array of shape (n_samples, n_labels)
            1 and -1 where a label is told to be there or not to be.

        Returns
        -------
        P : ndarray of shape (n_samples, n_labels), float32
            A row that no label set agrees with keeps what it had.
        """
        marginals = self.model.told_marginals(to_logits(P_alone), told)
        return np.where(np.isnan(marginals), P, _mean(P, marginals, self.share))


def _mean(P, marginals, share):
    return np.float32(1 - share) * P + np.float32(share) * marginals


def _log_loss(Y, P, known):
    given = np.where(Y, P, 1 - P)
    given = given if known is None else given[known]
    return -np.log(np.maximum(given, 1e-12)).sum(dtype=np.float64)


def _complete(vote):
    """Check, in a model file, the parts of a vote of label sets."""
    require(type(vote.model) is LabelSetModel, "label sets of a vote")
    require(isinstance(vote.share, float) and 0 < vote.share < 1, "share of label sets")


LabelSetVote._model_part = Part(complete=_complete)
