"""Products of sparse rows with one sparse matrix, as arrays.

scipy's product of two sparse matrices takes some 6 ns for each pair of entries that meet, its
product with an array a fiftieth of that for each number. Rows of the matrix that are well filled,
as frequent words are, are therefore kept as an array. Leaf module: numpy and scipy.
"""

import numpy as np
import scipy.sparse as sp

# Rows with more than this share of non-zeros are kept dense, the fullest first, so many numbers.
_FILLED_FROM = 1 / 32
_MOST_NUMBERS = 2**24


class DenseProduct:
    """``A @ B`` as an array, for one sparse B and many sparse A.

    A row of the product depends on that row of A alone.

    Parameters
    ----------
    B : csr_array of shape (n, m)
        The right factor.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> times = DenseProduct(sp.csr_array([[1.0, 2.0], [0.0, 3.0]]))
    >>> times(sp.csr_array([[1.0, 1.0]]))
    array([[1., 5.]])
    """

    def __init__(self, B):
        n_entries = np.diff(B.indptr)
        fullest = np.argsort(-n_entries, kind="stable")[: _MOST_NUMBERS // max(B.shape[1], 1)]
        fullest = fullest[n_entries[fullest] > _FILLED_FROM * B.shape[1]]
        self.is_filled = np.zeros(B.shape[0], dtype=bool)
        self.is_filled[fullest] = True
        self.filled = B[np.flatnonzero(self.is_filled)].toarray()
        self.others = B
        # Number of a filled row among the filled ones.
        self.place = np.cumsum(self.is_filled) - 1

    def __call__(self, A):
        """Multiply a csr_array of shape (k, n); the result is (k, m)."""
        is_filled = self.is_filled[A.indices]
        if not is_filled.any():
            return (A @ self.others).toarray()
        frequent = _entries(A, is_filled, len(self.filled))
        frequent.indices = self.place[frequent.indices].astype(frequent.indices.dtype)
        product = frequent @ self.filled
        if not is_filled.all():
            product += (_entries(A, ~is_filled, A.shape[1]) @ self.others).toarray()
        return product


def _entries(A, keep, n_columns):
    """Return some entries of a csr_array, in the shape (len(A), n_columns)."""
    n_kept = np.append(0, np.cumsum(keep))[A.indptr].astype(A.indptr.dtype)
    out = sp.csr_array((A.shape[0], n_columns), dtype=A.dtype)
    out.data, out.indices, out.indptr = A.data[keep], A.indices[keep], n_kept
    return out
