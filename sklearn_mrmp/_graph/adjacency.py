"""Adjacency matrices of label graphs: validated, canonical and read-only.

The border of `LabelGraph`: what users pass comes through here once; rows and columns of data frames
are matched by name. Knows numpy, scipy, data frames of labels and what a 0/1 label matrix is.
"""

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._numerics.label_frames import (
    are_numbers,
    check_same_names,
    column_names,
    one_is_anonymous,
    positions,
)
from sklearn_mrmp._numerics.labels import check_label_matrix


def adjacency_names(name, adjacency):
    """Return the labels that the columns of a data frame name, or None where there are no names."""
    names = column_names(adjacency)
    rows = None if names is None else row_names(adjacency)
    if names is None or (are_numbers(names) and sorted(rows) != sorted(names)):
        return None
    check_same_names(rows, names, f"the rows of relation {name!r}")
    return names


def row_names(adjacency):
    """Names of a data frame's rows; without an index they are in the order of the columns."""
    columns, index = column_names(adjacency), getattr(adjacency, "index", None)
    names = columns if index is None else [str(name) for name in index]
    return columns if are_numbers(names) and one_is_anonymous(names, columns) else names


def in_label_order(name, adjacency, names):
    """Return the values of a data frame with rows and columns in the order of the label names.

    Parameters
    ----------
    name : str
        Name of the relation, for error messages.
    adjacency : object
        Whatever is not a data frame with names is returned as it is.
    names : sequence of str or None
        Names of the labels; None, and numbers that the columns do not have, take the order of the
        columns.

    Returns
    -------
    adjacency : object
    """
    found = adjacency_names(name, adjacency)
    if found is None:
        return adjacency
    wanted = found if names is None or one_is_anonymous(found, names) else list(names)
    if found != wanted:
        check_same_names(found, wanted, f"relation {name!r}")
    rows, columns = row_names(adjacency), found
    if rows == columns == wanted:
        return adjacency.to_numpy()
    return adjacency.to_numpy()[np.ix_(positions(rows, wanted), positions(columns, wanted))]


def known_names(relations, label_names):
    """Label names: those given, else those of the first data frame among the relations, or None."""
    given = None if label_names is None else [str(name) for name in label_names]
    if given is not None and not are_numbers(given):
        return given
    for name, adjacency in relations.items():
        names = adjacency_names(name, adjacency)
        if names is None or are_numbers(names):
            continue
        if given is None or one_is_anonymous(names, given):
            return names
    return given


def check_adjacency(name, adjacency, n_labels=None):
    """Return one relation as a canonical, read-only CSR array of float64 with an empty diagonal.

    Parameters
    ----------
    name : str
        Name of the relation, for error messages.
    adjacency : {array-like, sparse matrix} of shape (n_labels, n_labels)
        Weights of the edges, row → column. It is copied.
    n_labels : int, default=None
        The expected number of labels; None takes any square matrix.

    Returns
    -------
    adjacency : csr_array of float64
        Without explicit zeros, sorted, its arrays read-only.

    Examples
    --------
    >>> from sklearn_mrmp._graph.adjacency import check_adjacency
    >>> check_adjacency("near", [[5, 2], [0, 5]]).toarray()
    array([[0., 2.],
           [0., 0.]])
    """
    adjacency = adjacency if sp.issparse(adjacency) else np.asarray(adjacency)
    shape = adjacency.shape
    expected = "a square (n_labels, n_labels)" if n_labels is None else f"({n_labels}, {n_labels})"
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] != (n_labels or shape[0]):
        raise ValueError(f"Relation {name!r} has shape {shape}; expected {expected} adjacency.")
    try:
        matrix = sp.coo_array(adjacency).astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Relation {name!r} does not hold numbers: {error}") from error
    bad = matrix.data[~np.isfinite(matrix.data) | (matrix.data < 0)]
    if bad.size:
        raise ValueError(
            f"Relation {name!r} has {bad.size} weights that are negative or not finite, such as "
            f"{bad[0]}; weights are strengths of edges, so name another relation for the opposite."
        )
    edges = matrix.coords[0] != matrix.coords[1]
    kept = (matrix.data[edges], (matrix.coords[0][edges], matrix.coords[1][edges]))
    return canonical(sp.coo_array(kept, shape=shape))


def canonical(matrix):
    """Sorted CSR array without duplicates or explicit zeros, int32 indices, read-only."""
    matrix = sp.csr_array(matrix)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return freeze(matrix)


def freeze(matrix):
    """Make the arrays of a CSR array, which must be its own, read-only; return it."""
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.flags.writeable = False
    return matrix


def with_data(matrix, data):
    """Return a read-only CSR array with the positions of `matrix` and other values."""
    return freeze(sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape))


def endpoints(matrix):
    """Source and target label of each stored entry of a CSR array, in storage order."""
    source = np.repeat(np.arange(matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr))
    return source, matrix.indices


def joined(relations, n_labels):
    """Symmetric CSR array of links: the stronger direction, and the strongest of the relations."""
    links = sp.csr_array((n_labels, n_labels))
    for adjacency in relations:
        links = links.maximum(adjacency).maximum(adjacency.T)
    links.sort_indices()
    return links


def check_relations(relations, n_labels=None, label_names=None):
    """Validate a mapping of relation names to adjacencies; all get the same labels."""
    if not isinstance(relations, Mapping):
        raise TypeError(
            "relations must be a mapping of name to (n_labels, n_labels) adjacency, got "
            f"{type(relations).__name__}."
        )
    if not relations:
        raise ValueError("relations is empty; pass at least one relation (or None for no graph).")
    for name in relations:
        if not isinstance(name, str):
            raise TypeError(f"Relation names must be strings, got {name!r}.")
    checked, label_names = {}, known_names(relations, label_names)
    for name, adjacency in relations.items():
        adjacency = in_label_order(name, adjacency, label_names)
        checked[name] = check_adjacency(name, adjacency, n_labels)
        n_labels = checked[name].shape[0]
    return checked


def check_label_names(label_names, n_labels):
    """Label names as a read-only object array of `n_labels` str; ``"0"``, ``"1"``, … for None."""
    names = range(n_labels) if label_names is None else list(label_names)
    if len(names) != n_labels:
        raise ValueError(f"Got {len(names)} label names for {n_labels} labels.")
    names = np.array([str(name) for name in names], dtype=object)
    names.flags.writeable = False
    return names


def check_counts(counts, n_labels, n_samples):
    """Label counts as a read-only copy of int64, or of float64 for weighted rows; or None."""
    if counts is None:
        return None
    counts = _whole(np.array(counts))
    most = np.inf if n_samples is None else n_samples
    if counts.shape != (n_labels,) or counts.min(initial=0) < 0 or counts.max(initial=0) > most:
        raise ValueError(
            f"counts must hold {n_labels} numbers between 0 and n_samples={n_samples}, got shape "
            f"{counts.shape}."
        )
    counts.flags.writeable = False
    return counts


def check_co_occurrence(co_occurrence, relations, counts, n_samples):
    """Per-edge co-occurrence counts as CSR arrays that share the relations' positions."""
    if co_occurrence and (counts is None or n_samples is None):
        raise ValueError("co_occurrence needs counts and n_samples.")
    checked = {}
    for name, together in co_occurrence.items():
        if name not in relations:
            raise ValueError(f"co_occurrence names {name!r}, which is not a relation.")
        edges, together = relations[name], sp.csr_array(together, copy=True)
        together.sort_indices()
        if together.shape != edges.shape or not (
            np.array_equal(together.indptr, edges.indptr)
            and np.array_equal(together.indices, edges.indices)
        ):
            raise ValueError(f"co_occurrence of {name!r} must store the edges of that relation.")
        checked[name] = with_data(edges, _whole(together.data))
    return checked


def _whole(counts):
    """Return counts as int64, unless they are sums of weights that are no whole numbers."""
    whole = counts.astype(np.int64)
    return whole if (whole == counts).all() else counts.astype(np.float64)


def equal_arrays(a, b):
    """Whether two arrays, either of which may be None, hold the same."""
    return a is b or (a is not None and b is not None and np.array_equal(a, b))


def equal_matrices(left, right):
    """Equality of mappings of canonical CSR arrays; the order of the names does not matter."""
    return left.keys() == right.keys() and all(
        np.array_equal(getattr(A, part), getattr(right[name], part))
        for name, A in left.items()
        for part in ("indptr", "indices", "data")
    )


def canonical_labels(Y):
    """0/1 matrix of any kind as a canonical CSR array of int32 ones."""
    Y = sp.csr_array(check_label_matrix(Y), dtype=np.int32)
    Y.eliminate_zeros()
    return Y


def symmetric(i, j, values, n_labels, back=None):
    """CSR array with `values` at [i, j] and [j, i], or others `back`; explicit zeros kept."""
    coords = (np.concatenate([i, j]), np.concatenate([j, i]))
    both = np.concatenate([values, values if back is None else back])
    matrix = sp.csr_array((both, coords), shape=(n_labels, n_labels))
    matrix.sum_duplicates()
    return matrix
