"""How much each entry of a label matrix counts: not at all where it is unknown, or as its row does.

Travels beside a 0/1 matrix `Y`, in which unknown entries are 0; None in its place says that all
entries are known and count alike. A row of weight 2 counts like two equal rows. Leaf module: numpy,
and scikit-learn to check weights.
"""

from dataclasses import dataclass

import numpy as np

from sklearn_mrmp._numerics.rows import row_blocks
from sklearn_mrmp._sklearn_compat import _check_sample_weight

# Rows are repeated at most so many times on average, and at least once.
_MOST_REPETITIONS = 10


@dataclass(frozen=True, eq=False)
class EntryWeights:
    """Weights of the entries of a label matrix; made by `of`.

    Attributes
    ----------
    known : bool ndarray of shape (n_samples, n_labels), or None
        Which entries are known; None is all.
    rows : float64 ndarray of shape (n_samples,), or None
        Weight of each row, at least 0; None is 1.
    labels : float64 ndarray of shape (n_labels,), or None
        Weight of each label in a loss, and nowhere else; None is 1.

    Examples
    --------
    >>> weights = EntryWeights.of(known=np.array([[True, False], [True, True]]), rows=[2.0, 1.0])
    >>> weights.entries()
    array([[2., 0.],
           [1., 1.]], dtype=float32)
    """

    known: np.ndarray | None = None
    rows: np.ndarray | None = None
    labels: np.ndarray | None = None

    @classmethod
    def of(cls, known=None, rows=None, labels=None):
        """Return the weights, or None where every entry is known and counts as 1."""
        if known is not None and known.all():
            known = None
        rows, labels = (_unless_one(part) for part in (rows, labels))
        if known is None and rows is None and labels is None:
            return None
        return cls(known, rows, labels)

    def take(self, chosen):
        """Return the weights of some rows."""
        known, rows = (None if part is None else part[chosen] for part in (self.known, self.rows))
        return EntryWeights(known, rows, self.labels)

    @staticmethod
    def concatenated(parts):
        """Put the weights of several groups of rows together; all of them are None, or none."""
        if parts[0] is None:
            return None
        known, rows = (
            None
            if getattr(parts[0], name) is None
            else np.concatenate([getattr(part, name) for part in parts])
            for name in ("known", "rows")
        )
        return EntryWeights(known, rows, parts[0].labels)

    def entries(self):
        """Weights, float32 of shape (n_samples, n_labels) or (n_samples, 1); None if all are 1."""
        if self.known is None:
            return None if self.rows is None else self.rows.astype(np.float32)[:, None]
        known = self.known.astype(np.float32)
        return known if self.rows is None else known * self.rows.astype(np.float32)[:, None]

    def in_loss(self):
        """Weights times those of the labels; one of their axes may have length 1."""
        entries = self.entries()
        if self.labels is None:
            return entries
        labels = self.labels.astype(np.float32)[None]
        return labels if entries is None else entries * labels

    def row_weights(self, n_samples):
        """Weights of the rows alone, float64 of shape (n_samples,)."""
        return np.ones(n_samples) if self.rows is None else self.rows

    def is_complete(self):
        """Whether each row is known in all entries, a bool ndarray; None where all are."""
        return None if self.known is None else self.known.all(axis=1)

    def repetitions(self):
        """Row numbers that stand for weighted rows: each as often as it weighs.

        Whole weights give exactly as many repetitions, unless they are large; fractions are
        rounded so that the rows before any row are as many as their weights sum to.

        Examples
        --------
        >>> EntryWeights.of(rows=[2.0, 0.5, 1.5]).repetitions().tolist()
        [0, 0, 2, 2]
        """
        ends = np.cumsum(self.rows)
        if not self.rows.any():
            return np.empty(0, dtype=np.intp)
        n_rows = np.clip(ends[-1], len(ends), _MOST_REPETITIONS * len(ends))
        ends *= n_rows / ends[-1]
        places = np.arange(round(n_rows)) + 0.5
        return np.minimum(np.searchsorted(ends, places, side="right"), len(ends) - 1)


def _unless_one(weights):
    if weights is None:
        return None
    weights = np.asarray(weights, dtype=np.float64)
    return None if (weights == 1).all() else weights


def label_totals(Y, weights=None):
    """Weight of the rows that carry each label, and of those of which it is known.

    Parameters
    ----------
    Y : csr_array of shape (n_samples, n_labels)
        0/1 labels, 0 where they are unknown.
    weights : EntryWeights, default=None
        What entries count; None is 1 each.

    Returns
    -------
    counts : float64 ndarray of shape (n_labels,)
    totals : int, or float64 ndarray of shape (n_labels,)
    """
    if weights is None or (weights.rows is None and weights.known is None):
        return np.asarray(Y.sum(axis=0), dtype=np.float64).ravel(), Y.shape[0]
    rows = weights.row_weights(Y.shape[0])
    counts = Y.T @ rows
    if weights.known is None:
        return counts, np.full(Y.shape[1], rows.sum())
    totals = np.zeros(Y.shape[1])
    for block in row_blocks(*Y.shape):
        totals += rows[block] @ weights.known[block]
    return counts, totals


def checked_weights(sample_weight, X):
    """Check weights of rows; None stays None.

    Returns
    -------
    weights : float64 ndarray of shape (n_samples,), or None
        At least 0, and not all of them 0.
    """
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weights.any():  # scikit-learn says so itself from 1.9 on
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weights


def rows_that_count(X, Y, sample_weight):
    """Leave out rows of weight 0.

    Returns
    -------
    X, Y : {ndarray, csr_array}
        The other rows and their labels.
    weights : float64 ndarray of shape (n_samples,), or None
        Their weights.
    """
    weights = checked_weights(sample_weight, X)
    if weights is None or weights.all():
        return X, Y, weights
    keep = np.flatnonzero(weights)
    return X[keep], Y[keep], weights[keep]
