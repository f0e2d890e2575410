"""Chi-squared tests of independence between all pairs of labels, without visiting all pairs.

Section "label relation graphs" of the paper. A pair of labels with counts c_i, c_j that occur
together in n11 of n rows has the statistic

    chi2 = n (n n11 − c_i c_j)² / (c_i (n − c_i) c_j (n − c_j)).

Pairs that occur together come from the sparse product YᵀY. For pairs that never do, n11 = 0 and
the statistic is n · odds_i · odds_j with odds = c / (n − c): it grows with both counts, so among
labels sorted by count the significant partners of a label are a prefix, found by bisection.
Rows may have weights, whose sums then take the place of counts. Knows numpy and scipy only; Y is a
canonical CSR array of ones.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from scipy.special import chdtrc, chdtri
from scipy.stats import false_discovery_control

# Pairs held in working memory at a time; bounds the peak, hardly changes the speed.
_PAIRS_PER_BLOCK = 4_000_000
_DENSE_CELLS = 16_000_000
# Measured: from about a tenth of ones on, a dense product counts pairs faster than a sparse one.
_DENSE_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class LabelPairs:
    """Dependent label pairs, each pair once.

    Attributes
    ----------
    first, second : ndarray of int32 of shape (n_pairs,)
        The two labels of each pair.
    co_occurrence : ndarray of int64, or of float64, of shape (n_pairs,)
        Number of rows that carry both labels, or their weight.
    """

    first: np.ndarray
    second: np.ndarray
    co_occurrence: np.ndarray


def excess_co_occurrence(n11, c_i, c_j, n):
    """``n · n11 − c_i · c_j``, of counts in exact integers: its sign is that of the dependence."""
    return n * _numbers(n11) - _numbers(c_i) * _numbers(c_j)


def _numbers(counts):
    """Return counts as int64, weights of rows as float64."""
    counts = np.asarray(counts)
    return counts.astype(np.float64 if counts.dtype.kind == "f" else np.int64, copy=False)


def whole(weights):
    """Weights as int64 where all of them are whole numbers, else as float64."""
    weights = np.asarray(weights, dtype=np.float64)
    rounded = np.rint(weights)
    return rounded.astype(np.int64) if (rounded == weights).all() else weights


def chi2_statistic(n11, c_i, c_j, n):
    """Chi-squared statistic of 2×2 tables, without continuity correction.

    Parameters
    ----------
    n11 : array-like of int or float
        Number of rows that carry both labels, or their weight.
    c_i, c_j : array-like of int or float
        Number of rows that carry each label, strictly between 0 and `n`.
    n : int, float or array-like of these
        Number of rows.

    Returns
    -------
    statistic : ndarray of float64
        Equal to ``scipy.stats.chi2_contingency(table, correction=False).statistic``.

    Examples
    --------
    >>> from sklearn_mrmp._graph.chi2 import chi2_p_value, chi2_statistic
    >>> statistic = chi2_statistic([20], [25], [30], 100)
    >>> statistic.round(3), chi2_p_value(statistic).round(6)
    (array([39.683]), array([0.]))
    """
    c_i, c_j = _numbers(c_i), _numbers(c_j)
    excess = excess_co_occurrence(n11, c_i, c_j, n) / n
    spread_i, spread_j = c_i * ((n - c_i) / n), c_j * ((n - c_j) / n)
    return excess * excess * (n / (spread_i * spread_j))


def chi2_p_value(statistic):
    """p-value of a chi-squared statistic with one degree of freedom."""
    return chdtrc(1, statistic)


def significant_pairs(Y, *, alpha, correction=None, min_count=0, weights=None):
    """All pairs of labels whose independence is rejected at level `alpha`.

    Parameters
    ----------
    Y : csr_array of shape (n_samples, n_labels)
        Canonical 0/1 matrix.
    alpha : float
        Level of the test; a pair is dependent when its (corrected) p-value is at most `alpha`.
    correction : {None, "bonferroni", "fdr_bh"}
        Correction for the number of tested pairs.
    min_count : int
        Labels with fewer rows are not tested; nor are labels carried by no row or by every row.
    weights : ndarray of shape (n_samples,), default=None
        Weights of the rows, above 0; None is 1.

    Returns
    -------
    pairs : LabelPairs
        The dependent pairs.

    Notes
    -----
    A corrected p-value is never below the plain one. Both corrections are therefore exact
    filters of the pairs that pass the plain test, given the number of tested pairs.
    """
    n_samples, counts = n_rows(Y, weights), label_counts(Y, weights)
    n_carriers = label_counts(Y)
    varies = (n_carriers > 0) & (n_carriers < Y.shape[0])
    tested = np.flatnonzero(varies & (counts >= min_count))
    order = tested[np.argsort(-counts[tested], kind="stable")]
    sorted_Y = Y[:, order]
    found = [np.empty((3, 0), dtype=np.int64)]
    found += _plain_test_blocks(sorted_Y, counts[order], n_samples, alpha, weights)
    first, second, n11 = np.concatenate(found, axis=1)
    first, second = (part.astype(np.int64, copy=False) for part in (first, second))
    if correction is not None:
        c, n_tested = counts[order], len(order) * (len(order) - 1) // 2
        p = chi2_p_value(chi2_statistic(n11, c[first], c[second], n_samples))
        keep = corrected(p, n_tested, correction) <= alpha
        first, second, n11 = first[keep], second[keep], n11[keep]
    return LabelPairs(order[first].astype(np.int32), order[second].astype(np.int32), n11)


def label_counts(Y, weights=None):
    """Return the number of rows that carry each label, or their weight, for a CSR 0/1 matrix."""
    if weights is None:
        return np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.int64)
    return whole(Y.T @ weights)


def n_rows(Y, weights=None):
    """Return the number of rows, or their weight, as a plain number."""
    return Y.shape[0] if weights is None else whole(weights.sum()).item()


def corrected(p, n_tested, correction):
    """Corrected p-values of the `p` that pass the plain test, out of `n_tested` p-values.

    Benjamini-Hochberg: adjusted p_(k) = min over j >= k of p_(j) n_tested / j. All p-values not
    in `p` rank behind it and exceed alpha, so do their terms: they cannot turn a rejection.
    """
    if correction == "bonferroni" or not len(p):
        return p * n_tested
    return false_discovery_control(p, method="bh") * (n_tested / len(p))


def _plain_test_blocks(Y, counts, n_samples, alpha, weights):
    """Yield (3, n) arrays first < second, n11 of dependent pairs; columns by falling count."""
    n_labels = Y.shape[1]
    prefix = _never_together_prefix(counts, n_samples, alpha)
    n_partners = np.maximum(prefix - np.arange(1, n_labels + 1), 0)
    transposed = Y.T.tocsr()
    row_sizes = np.diff(Y.indptr).astype(np.int64)
    work = np.minimum(transposed @ row_sizes, n_labels) + n_partners
    dense = (row_sizes**2).sum() > _DENSE_SHARE**2 * Y.shape[0] * n_labels**2
    if weights is not None:
        transposed = sp.csr_array(Y.T.tocsr() * weights)
    for start, stop in pairwise(_block_edges(work, _PAIRS_PER_BLOCK)):
        block = _dense_product(Y, start, stop, weights) if dense else transposed[start:stop] @ Y
        block = sp.coo_array(block)
        first, second = block.coords[0] + start, block.coords[1]
        upper = second > first
        first, second, n11 = first[upper], second[upper], block.data[upper].astype(counts.dtype)
        statistic = chi2_statistic(n11, counts[first], counts[second], n_samples)
        keep = dependent(statistic, alpha)
        yield np.stack([first[keep], second[keep], n11[keep]])
        yield _never_together(first, second, start, n_partners[start:stop])


def _dense_product(Y, start, stop, weights):
    """Co-occurrence counts of labels start … stop with all, by dense products of a few rows."""
    n_samples, n_labels = Y.shape
    together = np.zeros((stop - start, n_labels))
    step = min(max(_DENSE_CELLS // n_labels, 1), 2**24)  # float32 counts exactly up to 2**24
    for row in range(0, n_samples, step):
        part = Y[row : row + step].toarray().astype(np.float32)
        some = part[:, start:stop]
        if weights is not None:  # float64, which counts weights exactly that are whole
            some = some * weights[row : row + step, None]
        together += some.T @ part
    return together


def dependent(statistic, alpha):
    """Mask of p-values of at most alpha; p-values are computed only where it may be close."""
    keep = statistic >= chdtri(1, alpha) * (1 - 1e-6)
    keep[keep] = chi2_p_value(statistic[keep]) <= alpha
    return keep


def _block_edges(work, budget):
    """Boundaries of runs of rows whose total `work` is about `budget`, at least one row each."""
    run = np.cumsum(work) // budget
    inner = np.flatnonzero(np.diff(run)) + 1
    return np.concatenate([[0], inner, [len(work)]]) if len(work) else np.zeros(1, dtype=int)


def _never_together_prefix(counts, n_samples, alpha):
    """How many leading labels would be dependent on each label if they never met it.

    `counts` fall, so the statistic at n11 = 0 falls along them: bisection for all labels at once.
    """
    n_labels = len(counts)
    low, high = np.zeros(n_labels, dtype=np.int64), np.full(n_labels, n_labels)
    while (open_ := low < high).any():
        middle = np.minimum((low + high) // 2, n_labels - 1)
        statistic = chi2_statistic(0, counts, counts[middle], n_samples)
        passes = dependent(statistic, alpha)
        low = np.where(open_ & passes, middle + 1, low)
        high = np.where(open_ & ~passes, middle, high)
    return low


def _never_together(first, second, start, n_partners):
    """Candidates ``first + 1 … first + n_partners`` of each row, less the pairs that co-occur."""
    offsets = np.concatenate([[0], np.cumsum(n_partners)])
    row, distance = first - start, second - first - 1
    inside = distance < n_partners[row]
    absent = np.ones(offsets[-1], dtype=bool)
    absent[offsets[row[inside]] + distance[inside]] = False
    flat = np.flatnonzero(absent)
    row = np.searchsorted(offsets, flat, side="right") - 1
    first = row + start
    return np.stack([first, first + 1 + flat - offsets[row], np.zeros_like(flat)])
