"""Labels that a caller tells of rows to predict: read, imposed on answers, and drawn at random.

Inside the package they are a csr_array of shape (n_samples, n_labels): 1 where a row is told to
have a label, -1 where it is told not to, nothing where it is not known. Knows numpy, scipy and data
frames of labels.
"""

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._numerics.label_frames import (
    column_names,
    one_is_anonymous,
    plain_labels,
    positions,
)
from sklearn_mrmp._numerics.labels import shown_values


def read_told(known, label_names):
    """Read what a caller tells of some rows.

    Parameters
    ----------
    known : {array-like, sparse matrix, data frame} of shape (n_samples, n_labels)
        1 for a label that a row has, 0 for one that it has not, NaN for one that is not known.
        What a sparse matrix does not store is not known. A data frame may have some of the labels,
        in any order.
    label_names : sequence of str
        Names of the labels.

    Returns
    -------
    told : csr_array of shape (n_samples, n_labels), float32
        1, -1, and nothing where it is not known.

    Examples
    --------
    >>> read_told([[1, float("nan")], [0, 1]], ["sea", "ship"]).toarray()
    array([[ 1.,  0.],
           [-1.,  1.]], dtype=float32)
    """
    names = column_names(known)
    rows, columns, values, shape = _entries(known)
    if names is not None and list(names) != list(label_names):
        columns, shape = _by_name(names, list(label_names), columns, shape)
    if shape[1] != len(label_names):
        raise ValueError(
            f"known must have a column for each of the {len(label_names)} labels, got shape "
            f"{shape}."
        )
    strange = np.unique(values[(values != 0) & (values != 1)])
    if len(strange):
        raise ValueError(
            f"known must hold 1 (the row has the label), 0 (it has not) or NaN (not known), but "
            f"it holds {shown_values(strange)}."
        )
    signs = np.where(values == 1, np.float32(1), np.float32(-1))
    return sp.csr_array((signs, (rows, columns)), shape=shape)


def _entries(known):
    """Rows, columns and values of all entries that are not NaN, and the shape."""
    if sp.issparse(known):
        known = sp.csr_array(known, copy=True)
        known.sum_duplicates()
        found = known.tocoo()
        rows, columns, values = found.row, found.col, _as_numbers(found.data)
    else:
        known = _as_numbers(plain_labels(known))
        if known.ndim != 2:
            raise ValueError(
                f"known must be a matrix (n_samples, n_labels) of 1, 0 and NaN, got shape "
                f"{known.shape}."
            )
        rows, columns = np.nonzero(~np.isnan(known))
        values = known[rows, columns]
    told = ~np.isnan(values)
    return rows[told], columns[told], values[told], known.shape


def _as_numbers(values):
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"known must be a matrix (n_samples, n_labels) of 1, 0 and NaN: {error}"
        ) from error


def _by_name(found, names, columns, shape):
    """Columns of a data frame as those of the labels; without names they go by position."""
    if one_is_anonymous(found, names) and len(found) == len(names):
        return columns, shape
    unexpected = [name for name in found if name not in set(names)]
    if unexpected:
        raise ValueError(
            f"known has a column {unexpected[0]!r}, which is no label of fit. Rename or leave out "
            "such columns, or pass an array to go by position."
        )
    repeated = [name for name in found if found.count(name) > 1 or names.count(name) > 1]
    if repeated:
        raise ValueError(
            f"{repeated[0]!r} names several columns of known or several labels, so that they "
            "cannot be matched by name. Pass an array to go by position."
        )
    return positions(names, found)[columns], (shape[0], len(names))


def impose(values, told, present, absent):
    """Write `present` and `absent` into an array where labels are told, in place.

    Examples
    --------
    >>> told = sp.csr_array([[1.0, -1.0, 0.0]])
    >>> impose(np.array([[0.3, 0.4, 0.5]]), told, 0.9, 0.1)
    array([[0.9, 0.1, 0.5]])
    """
    found = told.tocoo()
    values[found.row, found.col] = np.where(found.data > 0, present, absent)
    return values


def is_untold(told):
    """Whether each entry is left to predict, a bool ndarray of shape (n_samples, n_labels)."""
    return impose(np.ones(told.shape, dtype=bool), told, False, False)


def random_telling(Y, rate, rng, known=None):
    """Tell a random part of the labels of some rows.

    Each row has a share of its own, between 0 and twice `rate`, of the labels it has that are
    told. To every other row absent labels are told, too: between one and that share of all of
    them, small numbers being as likely as large ones, as in the life of people who reject some
    suggestions.

    Parameters
    ----------
    Y : csr_array of shape (n_samples, n_labels)
        0/1 labels.
    rate : float
        Mean share of the labels that are told, above 0 and below 1.
    rng : numpy.random.Generator
        Where chance comes from.
    known : bool ndarray of shape (n_samples, n_labels), default=None
        Which labels are known and can be told; None is all.

    Returns
    -------
    told : csr_array of shape (n_samples, n_labels), float32
        1, -1, and nothing where it is not told.
    """
    n_samples, n_labels = Y.shape
    shares = np.minimum(rng.uniform(0, 2 * rate, n_samples), 1.0)
    owners = np.repeat(np.arange(n_samples), np.diff(Y.indptr))
    chosen = rng.random(Y.nnz) < shares[owners]
    present = _ones(owners[chosen], Y.indices[chosen], Y.shape)
    rejected = shares * n_labels ** -rng.random(n_samples) * (rng.random(n_samples) < 0.5)
    rows = np.repeat(np.arange(n_samples), rng.binomial(n_labels, rejected))
    absent = _ones(rows, rng.integers(0, n_labels, len(rows)), Y.shape)
    told = present - (absent - absent.multiply(Y))
    told = sp.csr_array(told if known is None else told.multiply(known), dtype=np.float32)
    told.eliminate_zeros()
    told.sort_indices()
    return told


def _ones(rows, columns, shape):
    """Sparse matrix with ones at some places, which may be named several times."""
    matrix = sp.csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix
