"""Rows to parts of given sizes, so that each part has its share of every label.

Rows are put into the dictionary order of their label sets, the rarest label of a set being its
first letter, and dealt out in turn. Then rows are exchanged. Knows numpy, strata and exchanges.
"""

import numpy as np

from sklearn_mrmp._splits.strata import label_matrix, strata_of
from sklearn_mrmp._splits.swaps import exchange_rows


def stratified_parts(y, sizes, order=1, random_state=None):
    """Part of each row.

    Parameters
    ----------
    y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
        0/1 label matrix, lists of label names, or a vector of classes.
    sizes : sequence of int
        Rows of each part; they add up to n_samples.
    order : {1, 2}, default=1
        Whether labels, or labels and pairs of labels are balanced.
    random_state : RandomState instance or None
        Where given, rows with the same label set are shuffled, and parts are drawn; otherwise the
        first rows of each label set are in the first part.

    Returns
    -------
    part : ndarray of int of shape (n_samples,)

    Examples
    --------
    >>> stratified_parts([0, 0, 0, 0, 1, 1], [3, 3])
    array([0, 0, 1, 1, 0, 1])
    """
    Y, sizes = label_matrix(y), np.asarray(sizes)
    strata = strata_of(Y, order, random_state)
    turns = _turns(sizes)
    if random_state is not None:
        turns = np.roll(turns, random_state.randint(len(turns)))
    part = np.empty(len(turns), dtype=np.int64)
    part[np.argsort(strata.set_of_row, kind="stable")] = turns
    part = exchange_rows(strata.features[strata.set_of_row], part, sizes)
    return _within_sets(strata.set_of_row, part, random_state)


def _turns(sizes):
    """Parts in turn, each as evenly spread as its size allows.

    Examples
    --------
    >>> _turns(np.array([3, 2])), _turns(np.array([1, 4]))
    (array([0, 1, 0, 1, 0]), array([1, 1, 0, 1, 1]))
    """
    part = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(part)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return part[np.argsort((place + 0.5) / sizes[part], kind="stable")]


def _within_sets(set_of_row, part, random_state):
    """Let the parts of a label set's rows rise with the rows, or shuffle them."""
    if random_state is None:
        rows = np.argsort(set_of_row, kind="stable")
    else:
        rows = np.lexsort((random_state.permutation(len(part)), set_of_row))
    result = np.empty_like(part)
    result[rows] = part[np.lexsort((part, set_of_row))]
    return result
