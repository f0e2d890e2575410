"""Sparse rows: their canonical form, their length, and the ranks of their entries.

Of many rows a part at a time, so that rows on disk are not copied into memory. Leaf module: numpy,
scipy and scikit-learn's fast loops.
"""

from functools import cached_property

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs_fast import inplace_csr_row_normalize_l2

# Rows with more entries than this are read in parts of about so many. What is computed of a part
# takes a hundred bytes for each entry, at most.
LARGE = 2**22
_PART = 2**19


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


class RowParts:
    """Rows of a csr_array, or some of them, which are read a part at a time.

    Parameters
    ----------
    X : {csr_array, csr_matrix} of shape (n_all, n_features)
        Rows, which stay where they are.
    chosen : ndarray of int, default=None
        Numbers of the rows; None is all.
    dtype : dtype, default=None
        What their values become in a part; None leaves them alone.

    Examples
    --------
    >>> rows = RowParts(sp.csr_array([[1.0, 0.0], [2.0, 3.0], [0.0, 0.0]]), np.array([1, 0]))
    >>> rows.shape, rows.nnz, [part.data.tolist() for _, part in rows.parts()]
    ((2, 2), 3, [[2.0, 3.0, 1.0]])
    """

    def __init__(self, X, chosen=None, dtype=None):
        self.X = X
        self.chosen = chosen
        self.dtype = X.dtype if dtype is None else np.dtype(dtype)

    @classmethod
    def of(cls, X, dtype=None):
        """Return rows that may be such already, with values of another type if it is given."""
        if not isinstance(X, cls):
            return cls(X, dtype=dtype)
        return X if dtype is None else cls(X.X, X.chosen, dtype)

    def __len__(self):
        return self.shape[0]

    @property
    def shape(self):
        """Number of rows and of columns."""
        return (self.X.shape[0] if self.chosen is None else len(self.chosen)), self.X.shape[1]

    @cached_property
    def nnz(self):
        """Number of entries."""
        if self.chosen is None:
            return self.X.nnz
        return int((self.X.indptr[self.chosen + 1] - self.X.indptr[self.chosen]).sum())

    def __getitem__(self, rows):
        """Return a matrix of some rows: a slice, or an array of numbers."""
        part = self.X[rows if self.chosen is None else self.chosen[rows]]
        return part.astype(self.dtype, copy=False)

    def take(self, rows):
        """Return some rows without reading them: a slice, or an array of numbers or booleans."""
        chosen = np.arange(len(self))[rows]
        return RowParts(self.X, chosen if self.chosen is None else self.chosen[chosen], self.dtype)

    def whole(self):
        """Return a matrix of all rows: `X` itself, or a copy of what is chosen."""
        X = self.X if self.chosen is None else self.X[self.chosen]
        return X.astype(self.dtype, copy=False)

    def parts(self):
        """Yield slices of rows, and the matrices of them; a single one where there are few."""
        if self.nnz <= LARGE:
            yield slice(0, len(self)), self._few
            return
        size = max(1, _PART * len(self) // self.nnz)
        for start in range(0, len(self), size):
            part = slice(start, min(start + size, len(self)))
            yield part, self[part]

    @cached_property
    def _few(self):
        return self.whole()

    def column_counts(self):
        """Count the entries of each column."""
        counts = (np.bincount(part.indices, minlength=part.shape[1]) for _, part in self.parts())
        return sum(counts)


def column_sums(columns_and_values, n_columns):
    """Add up values by column in their order, as `numpy.bincount` would all of them at once.

    Examples
    --------
    >>> column_sums([([0, 1], [1.0, 2.0]), ([1], [3.0])], 3).tolist()
    [1.0, 5.0, 0.0]
    """
    sums = None
    for columns, values in columns_and_values:
        if sums is None:
            sums = np.bincount(columns, values, n_columns)
        else:
            np.add.at(sums, columns, values)
    return np.zeros(n_columns) if sums is None else sums
