"""Chi-squared tests of pairs of labels where some entries are unknown.

Each pair has a table of its own: the rows in which both labels are known, n of them, of which c_i
carry the one, c_j the other and n11 both. All four are products of dense matrices, a block of
labels at a time. Knows numpy and the tests of `chi2`.
"""

import numpy as np

from sklearn_mrmp._graph.chi2 import (
    LabelPairs,
    chi2_p_value,
    chi2_statistic,
    corrected,
    dependent,
    whole,
)
from sklearn_mrmp._numerics.rows import row_blocks

# Pairs of labels whose tables are computed at once.
_PAIRS_AT_ONCE = 2**21


def significant_known_pairs(Y, known, *, alpha, correction=None, min_count=0, weights=None):
    """All pairs of labels whose independence is rejected on the rows where both are known.

    Parameters
    ----------
    Y : csr_array of shape (n_samples, n_labels)
        Canonical 0/1 matrix, 0 where it is unknown.
    known : bool ndarray of shape (n_samples, n_labels)
        Which entries are known.
    alpha, correction, min_count, weights
        As for `significant_pairs`. A label that is constant in the rows of a pair is not tested
        there.

    Returns
    -------
    pairs : LabelPairs
        The dependent pairs.
    tables : tuple of (c_i, c_j, n), ndarrays of shape (n_pairs,)
        The rest of each pair's table.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> Y = np.tile([[1, 1], [0, 0], [0, 1]], (10, 1))
    >>> known = np.tile([[True, True], [True, True], [True, False]], (10, 1))
    >>> pairs, (c_i, c_j, n) = significant_known_pairs(sp.csr_array(Y * known), known, alpha=0.05)
    >>> pairs.co_occurrence, c_i, c_j, n
    (array([10]), array([10]), array([10]), array([20]))
    """
    weights = np.ones(Y.shape[0]) if weights is None else weights
    enough = Y.T @ weights >= min_count
    found, n_tested = [], 0
    for labels in row_blocks(Y.shape[1], Y.shape[1], _PAIRS_AT_ONCE):
        n11, c_i, c_j, n = tables = pair_tables(Y, known, weights, labels)
        first, second = np.arange(labels.start, labels.stop)[:, None], np.arange(Y.shape[1])
        is_tested = (second > first) & enough[labels, None] & enough
        is_tested &= (c_i > 0) & (c_i < n) & (c_j > 0) & (c_j < n)
        n_tested += np.count_nonzero(is_tested)
        i, j = np.nonzero(is_tested)
        keep = dependent(chi2_statistic(*(part[i, j] for part in tables)), alpha)
        i, j = i[keep], j[keep]
        found.append(np.stack([i + labels.start, j, *(part[i, j] for part in tables)]))
    first, second, *tables = np.concatenate(found, axis=1)
    if correction is not None:
        p = chi2_p_value(chi2_statistic(*tables))
        keep = corrected(p, n_tested, correction) <= alpha
        first, second, *tables = (part[keep] for part in (first, second, *tables))
    n11, *others = (whole(part) for part in tables)
    return LabelPairs(first.astype(np.int32), second.astype(np.int32), n11), tuple(others)


def pair_tables(Y, known, weights, labels):
    """Tables n11, c_i, c_j, n of some labels with all, float64 of shape (n_some, n_labels)."""
    n_samples, n_labels = Y.shape
    tables = np.zeros((4, labels.stop - labels.start, n_labels))
    for rows in row_blocks(n_samples, n_labels):
        carry, know = Y[rows].toarray().astype(np.float64), known[rows].astype(np.float64)
        some = [weights[rows, None] * part[:, labels] for part in (carry, know)]
        tables[0] += some[0].T @ carry
        tables[1] += some[0].T @ know
        tables[2] += some[1].T @ carry
        tables[3] += some[1].T @ know
    return tables
