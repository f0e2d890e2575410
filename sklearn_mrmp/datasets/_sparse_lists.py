"""Sparse rows as two columns of lists, for engines whose tables have no sparse rows.

Data frames of Spark, Ray Data and pandas hold a row's columns and values as lists. Knows numpy and
scipy.
"""

from itertools import pairwise

import numpy as np
import scipy.sparse as sp


def sparse_to_lists(X):
    """Give each row of a sparse matrix as the list of its columns and the list of their values.

    Parameters
    ----------
    X : sparse matrix of shape (n_samples, n_features)
        Rows.

    Returns
    -------
    indices : list of ndarray of int64
        Columns of each row whose values are stored.
    values : list of ndarray
        Their values.

    See Also
    --------
    lists_to_sparse : The way back.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sklearn_mrmp.datasets import sparse_to_lists
    >>> indices, values = sparse_to_lists(csr_array([[0.0, 2.0, 1.0], [0.0, 0.0, 0.0]]))
    >>> [row.tolist() for row in indices], [row.tolist() for row in values]
    ([[1, 2], []], [[2.0, 1.0], []])
    """
    if not sp.issparse(X):
        raise TypeError(
            f"X must be a sparse matrix, got {type(X).__name__}; scipy.sparse.csr_array(X) makes "
            "one of a dense array."
        )
    rows = sp.csr_array(X)
    parts = [slice(*ends) for ends in pairwise(rows.indptr.tolist())]
    columns = rows.indices.astype(np.int64)
    return [columns[part] for part in parts], [rows.data[part] for part in parts]


def lists_to_sparse(indices, values, n_features):
    """Make a sparse matrix of the columns and values of each row.

    Parameters
    ----------
    indices : sequence of sequences of int
        Columns of each row, such as a column of a data frame.
    values : sequence of sequences of float
        Their values.
    n_features : int
        Number of columns of the matrix; a part of the rows does not tell it.

    Returns
    -------
    X : csr_array of shape (n_samples, n_features)

    Raises
    ------
    ValueError
        When a row has more columns than values or the other way round, or a column that is not
        there.

    See Also
    --------
    sparse_to_lists : The way here.

    Examples
    --------
    >>> from sklearn_mrmp.datasets import lists_to_sparse
    >>> lists_to_sparse([[1, 2], []], [[2.0, 1.0], []], n_features=3).toarray()
    array([[0., 2., 1.],
           [0., 0., 0.]])
    """
    counts, n_values = (np.array([len(row) for row in rows]) for rows in (indices, values))
    if not np.array_equal(counts, n_values):
        raise ValueError(_unequal(counts, n_values))
    columns = _joined(indices, np.int64)
    if len(columns) and (columns.min() < 0 or columns.max() >= n_features):
        wrong = columns.min() if columns.min() < 0 else columns.max()
        raise ValueError(f"A row has the column {wrong}, but n_features is {n_features}.")
    starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    return sp.csr_array((_joined(values, None), columns, starts), shape=(len(counts), n_features))


def _unequal(counts, n_values):
    if len(counts) != len(n_values):
        return f"indices has {len(counts)} rows, but values has {len(n_values)}."
    row = np.flatnonzero(counts != n_values)[0]
    return f"Row {row} has {counts[row]} columns, but {n_values[row]} values."


def _joined(rows, dtype):
    parts = [np.asarray(row, dtype=dtype) for row in rows if len(row)]
    return np.concatenate(parts) if parts else np.empty(0, dtype=dtype or np.float64)
