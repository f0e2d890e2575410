"""Training rows that are similar to some rows, as a value between those who find and use them.

Leaf module: numpy, scipy and log odds.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._numerics.log_odds import log_odds
from sklearn_mrmp._numerics.rows import row_blocks

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

    def take(self, chosen):
        """Return the same for some of the rows."""
        return SimilarRows(self.similarities[chosen], self.rows[chosen], self.labels)

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
        best = [
            self._most_probable_rows(found[block], P, min_similarity)
            for block in row_blocks(len(found), self.rows.shape[1], _PAIRS_AT_ONCE)
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


@dataclass(frozen=True, eq=False)
class NearestRows:
    """The training rows that vote about one label of one row.

    Attributes
    ----------
    rows : int ndarray of shape (k,)
        Numbers of the training rows, the most similar ones first.
    similarities : ndarray of shape (k,)
        Their cosines.
    has_label : ndarray of shape (k,)
        1 for a row that has the label, 0 for one that has not, NaN where it is not known.
    shares : ndarray of shape (k,)
        What each row counts in the vote; the frequency of the label counts the rest of 1.
    frequency : float
        Share of all training rows that have the label.

    Examples
    --------
    >>> rows = np.array([7, 2])
    >>> near = NearestRows(rows, np.array([0.9, 0.5]), np.array([1, 0]), np.array([0.6, 0.2]), 0.1)
    >>> round(near.probability, 2)
    0.62
    """

    rows: np.ndarray
    similarities: np.ndarray
    has_label: np.ndarray
    shares: np.ndarray
    frequency: float

    @property
    def probability(self):
        """Probability of the label: the share of the vote that is for it."""
        rest = 1.0 - self.shares.sum()
        return float(self.shares @ np.nan_to_num(self.has_label) + rest * self.frequency)
