"""What a 0/1 label matrix is, dense or sparse, said once for everybody who is given one.

Knows numpy, scipy and data frames of labels.
"""

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._numerics.label_frames import plain_labels

# Values named in an error message: enough to recognise -1/1 labels, counts or scores.
_SHOWN = 5


def check_label_matrix(Y, name="Y"):
    """Return a 0/1 label matrix as an array or as a sparse one; raise ValueError for other things.

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        What the caller says is a label matrix.
    name : str, default="Y"
        What the caller calls it, for error messages.

    Returns
    -------
    Y : ndarray, or csr_array without duplicates
        The same labels, in the dtype they had, as far as it is one of numbers.

    Examples
    --------
    >>> from sklearn_mrmp._numerics.labels import check_label_matrix
    >>> check_label_matrix([[1, 0], [1, 2]])
    Traceback (most recent call last):
        ...
    ValueError: Y must hold only 0 and 1, but it holds 2. Pass a 0/1 indicator matrix.
    """
    Y = without_duplicates(Y) if sp.issparse(Y) else np.asarray(plain_labels(Y))
    if Y.dtype == np.float16:
        Y = Y.astype(np.float32)  # scipy's sparse matrices know no half precision
    if Y.ndim != 2:
        raise ValueError(
            f"{name} must be a matrix (n_samples, n_labels) of 0 and 1, got shape {Y.shape}."
        )
    strange = values_beside_0_and_1(Y)
    if strange.size:
        raise ValueError(
            f"{name} must hold only 0 and 1, but it holds {shown_values(strange)}. "
            "Pass a 0/1 indicator matrix."
        )
    return Y


def without_duplicates(Y):
    """Copy a sparse matrix to a csr_array; entries that are stored twice count twice."""
    Y = sp.csr_array(Y, copy=True)
    Y.sum_duplicates()
    return Y


def values_beside_0_and_1(Y):
    """Return the distinct values of an array or a sparse matrix that are neither 0 nor 1."""
    values = Y.data if sp.issparse(Y) else Y
    if values.dtype == bool:
        return np.empty(0)
    if values.dtype.kind in "OUS":
        return distinct(values)
    return np.unique(values[~((values == 0) | (values == 1))])


def distinct(values):
    """Return the distinct values of an array; objects as text that shows what they are."""
    if values.dtype.kind in "OUS":
        return np.unique([repr(value) for value in values.ravel()])
    return np.unique(values)


def shown_values(values):
    """Return the first few values, as text for an error message."""
    return ", ".join(map(str, values[:_SHOWN])) + (", …" if len(values) > _SHOWN else "")
