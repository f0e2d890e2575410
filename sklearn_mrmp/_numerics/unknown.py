"""Label matrices with unknown entries: what is known of them, apart from the 0/1 matrix.

Unknown are NaN in an array, a data frame or the stored entries of a sparse matrix, and pandas' NA.
Knows numpy, scipy and data frames of labels.
"""

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._numerics.label_frames import plain_labels


def split_unknown(Y):
    """Take a label matrix apart into labels and what is known of them.

    Parameters
    ----------
    Y : object
        Labels as a caller passes them. Only matrices of numbers with NaN are touched.

    Returns
    -------
    Y : object
        The same, as an array if it was a data frame, with 0 in the place of NaN.
    known : bool ndarray of shape (n_samples, n_labels), or None
        Which entries are known; None where all are.

    Examples
    --------
    >>> Y, known = split_unknown([[1, float("nan")], [0, 1]])
    >>> Y.tolist(), known.tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [[True, False], [True, True]])
    >>> split_unknown([[1, 0]])
    ([[1, 0]], None)
    """
    if sp.issparse(Y):
        return _split_sparse(Y)
    values = plain_labels(Y)
    array = values if hasattr(values, "dtype") else _as_array(values)
    if array is None or array.dtype.kind != "f" or array.ndim != 2:
        return values, None
    known = ~np.isnan(array)
    if known.all():
        return values, None
    return np.where(known, array, array.dtype.type(0)), known


def _as_array(values):
    """Return a list as an array; None where it is none of numbers, which others will refuse."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _split_sparse(Y):
    if Y.dtype.kind != "f" or not np.isnan(Y.tocsr().data).any():
        return Y, None
    Y = Y.tocsr(copy=True)
    Y.sum_duplicates()
    unknown = np.isnan(Y.data)
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    known = np.ones(Y.shape, dtype=bool)
    known[rows[unknown], Y.indices[unknown]] = False
    Y.data[unknown] = 0
    return Y, known


def without_unknown(Y, known):
    """Return a 0/1 csr_array with 0 in the place of unknown entries."""
    Y = Y.copy()
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    Y.data[~known[rows, Y.indices]] = 0
    Y.eliminate_zeros()
    return Y
