"""The strata of a target: its distinct label sets, and the labels and pairs that each set has.

Rows with the same label set are interchangeable, so everything is counted per set. Knows numpy,
scipy and what a 0/1 label matrix is.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import type_of_target

from sklearn_mrmp._numerics.label_frames import plain_labels
from sklearn_mrmp._numerics.label_lists import table_if_listed
from sklearn_mrmp._numerics.labels import check_label_matrix
from sklearn_mrmp._numerics.sparse import as_csr


@dataclass(frozen=True, eq=False)
class Strata:
    """Label sets of the rows and what is to be balanced in them.

    Attributes
    ----------
    set_of_row : ndarray of int of shape (n_samples,)
        Number of each row's label set. Sets are numbered in dictionary order, a set's rarest label
        being its first letter, so that neighbouring numbers have rare labels in common.
    features : csr_array of shape (n_sets, n_features)
        Which labels, and with ``order=2`` which pairs of labels, each set has. Those of a
        single row are left out: any part of the rows is as good for them as any other.
    """

    set_of_row: np.ndarray
    features: sp.csr_array


def label_matrix(y):
    """Return a target as a canonical 0/1 csr_array; classes of a vector become its columns.

    Raises
    ------
    ValueError
        If `y` is neither a 0/1 label matrix, nor lists of label names, nor a vector of classes.
    """
    y = plain_labels(table_if_listed(y))
    if not sp.issparse(y):
        y = np.asarray(y)
        if y.ndim == 1 or (y.ndim == 2 and y.shape[1] == 1):
            return _one_hot(y.ravel())
    return as_csr(check_label_matrix(y, "y")).astype(np.int64)


def _one_hot(y):
    """Columns of the classes of a vector."""
    kind = type_of_target(y, input_name="y")
    if kind not in ("binary", "multiclass"):
        raise ValueError(
            f"y must be a 0/1 label matrix or a vector of classes, got a {kind} target of shape "
            f"{y.shape}."
        )
    codes = np.unique(y, return_inverse=True)[1]
    return sp.csr_array((np.ones(len(y), dtype=np.int64), (np.arange(len(y)), codes)))


def strata_of(Y, order, random_state=None):
    """Count the strata of a label matrix.

    Parameters
    ----------
    Y : csr_array of shape (n_samples, n_labels)
        Canonical 0/1 labels.
    order : {1, 2}
        Whether labels, or labels and pairs of labels are balanced.
    random_state : RandomState instance or None
        Where given, labels of similar frequency are ranked at random.

    Returns
    -------
    strata : Strata
    """
    ranked = _columns_by_rarity(Y, random_state)
    set_of_row, example = _dictionary_order(ranked)
    features = ranked[example]
    if order == 2:
        features = sp.hstack([features, pairs_of_labels(features)], format="csr")
    occurrences = features.T @ np.bincount(set_of_row, minlength=len(example))
    return Strata(set_of_row, features[:, occurrences > 1])


def _columns_by_rarity(Y, random_state):
    """Return `Y` with its rarest label in the first column."""
    frequency = np.bincount(Y.indices, minlength=Y.shape[1]).astype(float)
    if random_state is not None:
        frequency *= random_state.uniform(0.5, 2, size=len(frequency))
    rank = np.empty(Y.shape[1], dtype=Y.indices.dtype)
    rank[np.argsort(frequency, kind="stable")] = np.arange(Y.shape[1])
    ranked = sp.csr_array((Y.data, rank[Y.indices], Y.indptr), shape=Y.shape)
    ranked.sort_indices()
    return ranked


def _dictionary_order(Y):
    """Return the number of each row among the distinct ones in order, and a row of each number."""
    lengths = np.diff(Y.indptr)
    number, n_distinct = np.zeros(len(lengths), dtype=np.int64), 1
    for position in range(lengths.max(initial=0)):
        letter = np.zeros(len(lengths), dtype=np.int64)  # 0: the row has ended
        longer = lengths > position
        letter[longer] = Y.indices[Y.indptr[:-1][longer] + position] + 1
        distinct, number = np.unique(number * (Y.shape[1] + 1) + letter, return_inverse=True)
        n_distinct = len(distinct)
        if n_distinct == len(lengths):
            break
    example = np.empty(n_distinct, dtype=np.int64)
    example[number] = np.arange(len(number))
    return number, example


def pairs_of_labels(Y):
    """Return a csr_array with a column for each pair of labels that some row of `Y` has."""
    row_of = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    rows, pairs = [], []
    for distance in range(1, np.diff(Y.indptr).max(initial=0)):
        first = np.flatnonzero(row_of[distance:] == row_of[:-distance])
        rows.append(row_of[first])
        labels = Y.indices[first].astype(np.int64)
        pairs.append(labels * Y.shape[1] + Y.indices[first + distance])
    if not rows:
        return sp.csr_array((Y.shape[0], 0), dtype=Y.dtype)
    distinct, column = np.unique(np.concatenate(pairs), return_inverse=True)
    entries = (np.concatenate(rows), column)
    shape = (Y.shape[0], len(distinct))
    return sp.csr_array((np.ones(len(column), dtype=Y.dtype), entries), shape=shape)
