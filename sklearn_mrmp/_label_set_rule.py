"""Decision rule for `accuracy`: the most probable of the label sets seen in training.

A row is right only when its whole label set is, and most sets that labels could form never occur.
The rule maximises, over the sets S seen in training,

    Σ_{i in S} (logit p_i + bias) + prior · log count(S)

with `bias` and `prior` tuned on validation rows. One sparse product scores all sets. Knows numpy
and scipy.
"""

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._expected_f1_rule import safe_logit
from sklearn_mrmp._threshold_sweep import metric_value
from sklearn_mrmp._thresholds import check_labels, check_labels_and_scores

_BIASES = np.arange(-2.0, 4.01, 0.5)
_PRIORS = np.array([0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5])
_CHUNK_NUMBERS = 4_000_000
_TUNING_NUMBERS = 20_000_000


class LabelSetRule:
    """Predict the most probable label set among those seen in training.

    Parameters
    ----------
    max_sets : int, default=20000
        Number of label sets that are kept, the most frequent ones.
    metric : {"accuracy", "f1_samples", "f1_micro", "f1_macro"}, default="accuracy"
        What the constants maximise on the validation rows.

    Attributes
    ----------
    sets_ : csr_array of shape (n_sets, n_labels)
        The label sets.
    log_counts_ : ndarray of shape (n_sets,)
        Logarithm of their frequency.
    bias_, prior_ : float
        The tuned constants.
    validation_score : float
        The metric on the validation rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp._label_set_rule import LabelSetRule
    >>> Y_train = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> rule = LabelSetRule().fit([[1, 1, 0]], [[0.9, 0.4, 0.3]], Y_train)
    >>> rule.decide(np.array([[0.9, 0.4, 0.3]])).astype(int)
    array([[1, 1, 0]])
    """

    def __init__(self, max_sets=20_000, metric="accuracy"):
        self.max_sets = max_sets
        self.metric = metric

    def fit(self, Y_valid, P_valid, Y_train=None):
        """Collect the label sets and tune the constants.

        Parameters
        ----------
        Y_valid : {array-like, sparse matrix} of shape (n_valid, n_labels)
            Labels of the validation rows.
        P_valid : array-like of shape (n_valid, n_labels)
            Their probabilities.
        Y_train : {array-like, sparse matrix} of shape (n_train, n_labels), default=None
            Labels of rows besides the validation rows. None when there are no others, as with
            out-of-fold probabilities of all training rows: then each validation row is tuned as
            if its own label set had been seen once less.

        Returns
        -------
        self : LabelSetRule
            The fitted rule.
        """
        Y, P = check_labels_and_scores(Y_valid, P_valid)
        Y_train = Y[:0] if Y_train is None else check_labels(Y_train, "Y_train")
        own = len(Y_train) == 0
        seen = Y if own else Y_train
        self.sets_, counts, index = distinct_sets(seen, self.max_sets)
        step = -(-len(P) * len(counts) // _TUNING_NUMBERS)
        self._tune(Y[::step], P[::step], counts, index[::step] if own else None)
        self.sets_, counts, _ = distinct_sets(np.vstack([Y_train, Y]), self.max_sets)
        self.log_counts_ = np.log(counts)
        self.validation_score = metric_value(Y, self.decide(P), self.metric)
        return self

    def _tune(self, Y, P, counts, own):
        best = (-1.0,)
        base = safe_logit(P) @ self.sets_.T
        sizes = self.sets_.sum(axis=1)
        log_counts = np.log(counts)
        for prior in _PRIORS:
            for bias in _BIASES:
                scores = base + (bias * sizes + prior * log_counts)
                if own is not None:
                    self._leave_one_out(scores, counts, own, prior)
                decided = self._members(scores.argmax(axis=1))
                value = metric_value(Y, decided, self.metric)
                if value > best[0] + 1e-12:
                    best = (value, bias, prior)
        self.bias_, self.prior_ = float(best[1]), float(best[2])

    def _leave_one_out(self, scores, counts, own, prior):
        rows = np.flatnonzero(own >= 0)
        sets = own[rows]
        with np.errstate(divide="ignore"):
            less = np.log(counts[sets] - 1) - np.log(counts[sets])
        alone = np.isneginf(less)
        scores[rows, sets] += np.where(alone, -1e30, prior * np.where(alone, 0, less))

    def _members(self, chosen):
        return self.sets_[chosen].toarray().astype(bool)

    def decide(self, P):
        """Return the predicted labels, bool ndarray of the shape of `P`."""
        P = np.asarray(P)
        decided = np.empty(P.shape, dtype=bool)
        size = max(1, _CHUNK_NUMBERS // self.sets_.shape[0])
        constant = self.bias_ * self.sets_.sum(axis=1) + self.prior_ * self.log_counts_
        for start in range(0, len(P), size):
            rows = slice(start, start + size)
            scores = safe_logit(P[rows]) @ self.sets_.T + constant
            decided[rows] = self._members(scores.argmax(axis=1))
        return decided


def distinct_sets(Y, max_sets):
    """Distinct rows of a bool matrix, the most frequent ones.

    Returns
    -------
    sets : csr_array of shape (n_sets, n_labels)
        The rows, float32 ones.
    counts : int ndarray of shape (n_sets,)
        How often they occur.
    index : int ndarray of shape (n_samples,)
        Which set each row of `Y` is; -1 for those not kept.
    """
    packed = np.packbits(Y, axis=1)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, index, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -counts))[:max_sets]
    position = np.full(len(counts), -1)
    position[order] = np.arange(len(order))
    sets = sp.csr_array(Y[first[order]], dtype=np.float32)
    return sets, counts[order], position[index.ravel()]
