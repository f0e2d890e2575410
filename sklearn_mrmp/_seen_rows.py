"""Rows that were seen before, or almost: their label sets, as a whole, for subset accuracy.

Probabilities of labels say little about a row that occurs twice: the set it had then is more often
exactly right than the most probable set. Knows numpy, scipy and log odds; nothing of where similar
rows come from.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._log_odds import log_odds

# Similarities tried, the most careful one first.
_SIMILARITIES = (0.99, 0.95, 0.9, 0.8)
# More rows have to turn right than wrong: by so many standard deviations of chance, squared. Four
# rows against none will do.
_CLEAR_GAIN = 4.0
# Pairs of similar rows that are looked at together.
_PAIRS_AT_ONCE = 2**16
_MARGIN = 1e-6


@dataclass(frozen=True, eq=False)
class SimilarRows:
    """For each row the training rows most similar to it.

    Attributes
    ----------
    similarities : ndarray of shape (n_samples, k)
        Falling from left to right.
    rows : int ndarray of shape (n_samples, k)
        Which rows of `labels` they are.
    labels : csr_array of shape (n_rows, n_labels)
        0/1 labels of the training rows.

    Examples
    --------
    >>> labels = sp.csr_array([[1, 0, 1], [0, 1, 0]])
    >>> similarities, rows = np.array([[1.0, 0.5], [0.4, 0.3]]), np.array([[1, 0], [0, 1]])
    >>> similar = SimilarRows(similarities, rows, labels)
    >>> found, their_labels = similar.most_probable_labels(np.full((2, 3), 0.5), 0.9)
    >>> found.tolist(), their_labels.toarray().tolist()
    ([0], [[0, 1, 0]])
    """

    similarities: np.ndarray
    rows: np.ndarray
    labels: sp.csr_array

    @classmethod
    def concatenated(cls, parts):
        """Put parts together that have training rows of their own."""
        k = min(part.rows.shape[1] for part in parts)
        firsts = np.cumsum([0, *(part.labels.shape[0] for part in parts)])
        rows = [part.rows[:, :k] + first for part, first in zip(parts, firsts, strict=False)]
        return cls(
            np.concatenate([part.similarities[:, :k] for part in parts]),
            np.concatenate(rows),
            sp.csr_array(sp.vstack([part.labels for part in parts])),
        )

    def most_probable_labels(self, P, min_similarity):
        """Labels that a similar row had; of several, the most probable ones.

        Parameters
        ----------
        P : ndarray of shape (n_samples, n_labels)
            Probabilities of the labels.
        min_similarity : float
            Rows below it are not similar.

        Returns
        -------
        found : int ndarray
            The rows that have a similar one.
        labels : csr_array of shape (len(found), n_labels)
            0/1 labels for these.
        """
        found = np.flatnonzero(self.similarities[:, 0] >= min_similarity)
        size = max(1, _PAIRS_AT_ONCE // self.rows.shape[1])
        best = [
            self._most_probable_rows(found[start : start + size], P, min_similarity)
            for start in range(0, len(found), size)
        ]
        return found, self.labels[np.concatenate([np.empty(0, dtype=np.intp), *best])]

    def _most_probable_rows(self, found, P, min_similarity):
        """Which rows of `labels` have the most probable labels for some rows that were found."""
        is_similar, rows = self.similarities[found] >= min_similarity, self.rows[found]
        pairs = np.nonzero(is_similar)
        candidates, Z = self.labels[rows[pairs]], log_odds(P[found], _MARGIN)
        sizes = np.diff(candidates.indptr)
        odds = Z[np.repeat(pairs[0], sizes), candidates.indices]
        # Logarithm of P(labels) without what all candidates of a row have in common.
        scores = np.full(rows.shape, -np.inf)
        owners = np.repeat(np.arange(len(sizes)), sizes)
        scores[pairs] = np.bincount(owners, weights=odds, minlength=len(sizes))
        return rows[np.arange(len(found)), scores.argmax(axis=1)]


@dataclass(eq=False)
class SeenRowRule:
    """Decide as another rule does, but give rows that were seen before the labels they had.

    Attributes
    ----------
    rule : object
        Decides about all other rows.
    min_similarity : float
        From here on a row counts as seen.
    validation_score : float
        Subset accuracy on the validation rows.
    """

    rule: object
    min_similarity: float
    validation_score: float

    @classmethod
    def around(cls, rule, decided, Y, P, similar):
        """Put the rule around another one where that is clearly better.

        Parameters
        ----------
        rule : object
            A fitted rule for subset accuracy.
        decided, Y : bool ndarray of shape (n_samples, n_labels)
            Its decisions about rows it was not fitted on, and the truth.
        P : ndarray of shape (n_samples, n_labels)
            Probabilities of these rows.
        similar : SimilarRows
            Training rows similar to them, themselves not among these.

        Returns
        -------
        rule : SeenRowRule, or the other rule itself
        """
        was_right = (decided == Y).all(axis=1)
        best, best_gain = rule, 0
        for min_similarity in _SIMILARITIES:
            found, labels = similar.most_probable_labels(P, min_similarity)
            is_right = ((labels.toarray() > 0) == Y[found]).all(axis=1)
            n_changed = np.count_nonzero(is_right != was_right[found])
            gain = np.count_nonzero(is_right) - np.count_nonzero(was_right[found])
            if gain > best_gain and gain**2 >= _CLEAR_GAIN * n_changed:
                score = float((np.count_nonzero(was_right) + gain) / len(Y))
                best, best_gain = cls(rule, min_similarity, score), gain
        return best

    def decide(self, P, similar=None):
        """Return the predicted labels, bool ndarray of the shape of `P`.

        Without `similar` rows it is the other rule that decides.
        """
        decided = self.rule.decide(P)
        if similar is not None:
            found, labels = similar.most_probable_labels(np.asarray(P), self.min_similarity)
            decided[found] = labels.toarray() > 0
        return decided
