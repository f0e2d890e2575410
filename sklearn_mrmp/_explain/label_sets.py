"""Which other labels raised or lowered a label through the label sets seen in training.

The label sets change a probability by what the voters say of the other labels. What one of them is
worth is told by leaving it out: were its log odds those of its frequency, the weight of every set
with it would change by the same factor, so that a formula gives the new probability at once. Knows
the model of label sets.
"""

import numpy as np
from scipy.special import expit

from sklearn_mrmp._decisions.label_set_model import to_logits

# Terms smaller than this are left to the rest.
_SMALLEST = 1e-9


class LabelSetEffect:
    """What label sets do to the labels of one row.

    Parameters
    ----------
    vote : LabelSetVote
        The label sets that are mixed in.
    P_alone : ndarray of shape (n_labels,), float32
        Probabilities that the label sets were asked with.
    told : ndarray of shape (n_labels,), default=None
        1 and -1 where a label is told to be there or not to be; None if nothing is told.
    """

    def __init__(self, vote, P_alone, told=None):
        self.vote, self.model = vote, vote.model
        self.Z = to_logits(P_alone)
        ((_, scores),) = self.model.scores(self.Z[None])
        scores = scores[:, 0].astype(np.float64)
        self.agree = True
        if told is not None:
            agrees = self.model.sets @ told == np.count_nonzero(told > 0)
            self.agree = bool(agrees.any())
            scores = np.where(agrees, scores, -np.inf) if self.agree else scores
        weights = np.exp(scores - scores.max())
        self.P_sets = weights / weights.sum()
        self.marginals = self.model.sets.T @ self.P_sets

    def mixed(self, log_odds, marginal):
        """Log odds after label sets of which a label has the given probability are mixed in."""
        if not self.agree:  # a row that no label set agrees with keeps what it had
            return np.broadcast_to(log_odds, np.shape(marginal))
        share = self.vote.share
        # Both tails are means of tails, which keeps small probabilities exact.
        has = (1 - share) * expit(log_odds) + share * np.clip(marginal, 0, 1)
        has_not = (1 - share) * expit(-log_odds) + share * np.clip(1 - marginal, 0, 1)
        return np.log(has) - np.log(has_not)

    def change(self, label, log_odds):
        """Return what the label sets add to the log odds of a label."""
        return float(self.mixed(log_odds, self.marginals[label]) - log_odds)

    def terms(self, label, log_odds):
        """Return what each of the other labels adds, by leaving it out.

        Parameters
        ----------
        label : int
            The label.
        log_odds : float
            Its log odds before label sets are mixed in.

        Returns
        -------
        labels : int ndarray of shape (n_terms,)
            Other labels that raise or lower it.
        values : float64 ndarray of shape (n_terms,)
            By how much. They do not add up to the whole change: labels act together, and the
            label itself does, too.
        """
        model, marginals = self.model, self.marginals
        has_label = model.sets[:, [label]].toarray()[:, 0]
        together = model.sets.T @ (self.P_sets * has_label)
        factor = np.expm1(model.coefficients[0] * (model.label_prior - self.Z))
        without = (marginals[label] + factor * together) / (1 + factor * marginals)
        values = self.mixed(log_odds, marginals[label]) - self.mixed(log_odds, without)
        values[label] = 0.0
        labels = np.flatnonzero(np.abs(values) > _SMALLEST)
        return labels, values[labels]
