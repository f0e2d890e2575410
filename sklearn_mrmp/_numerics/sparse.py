"""Sparse rows: their canonical form, their length, and the ranks of their entries.

Leaf module: numpy, scipy and scikit-learn's fast loops.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs_fast import inplace_csr_row_normalize_l2


def as_csr(X):
    """`X` as a canonical CSR array (sorted, no duplicates, no explicit zeros); `X` is untouched."""
    X = sp.csr_array(X, copy=sp.issparse(X))
    if not X.has_canonical_format:
        X.sum_duplicates()
        if not np.isfinite(X.data).all():
            raise ValueError("Entries of X that are stored twice add up to infinity.")
    X.eliminate_zeros()
    return X


def canonical_view(X):
    """`X` as `as_csr` returns it, without a copy where it is of that form: not to be changed."""
    if not sp.issparse(X) or X.format != "csr" or not X.has_canonical_format:
        return as_csr(X)
    return sp.csr_array(X) if X.data.all() else as_csr(X)


def unit_rows(X):
    """Divide the rows of a csr_array by their length, in place; rows of zeros stay.

    scikit-learn's `normalize` does the same after checks that take longer than one row does.
    """
    inplace_csr_row_normalize_l2(X)
    return X


def rank_in_row(X):
    """Rank of each entry among its row's absolute values, 0 for the largest."""
    row_of = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    order = np.lexsort((-np.abs(X.data), row_of))
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order)) - X.indptr[row_of[order]]
    return ranks
