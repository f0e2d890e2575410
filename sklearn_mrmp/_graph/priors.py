"""Relations between labels that a user knows: a label tree, and the similarity of label names.

Both are plain adjacencies; `resolve` mixes them with learned relations. Knows numpy and scipy only.
"""

from collections.abc import Mapping
from numbers import Integral

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

_ROWS_PER_BLOCK = 1024


def hierarchy_relation(hierarchy, *, n_labels=None, label_names=None):
    """Adjacency of a label hierarchy, with an edge from each parent to its children.

    Parameters
    ----------
    hierarchy : sequence or mapping
        A parent list, with the parent of each label in the order of the labels and None or −1 for
        roots; an edge list of pairs ``(parent, child)``, in which a label may have several
        parents; or a mapping of child to parent, such as ``parents`` of `load_mulan`. Labels go
        by index, or by name when `label_names` is given.
    n_labels : int, default=None
        Number of labels; needed for edges and mappings without `label_names`.
    label_names : sequence of str, default=None
        Names of all labels, in order.

    Returns
    -------
    adjacency : csr_array of shape (n_labels, n_labels)
        1 at ``[parent, child]``.

    Examples
    --------
    >>> from sklearn_mrmp import hierarchy_relation
    >>> names = ["animal", "cat", "dog"]
    >>> tree = hierarchy_relation([("animal", "cat"), ("animal", "dog")], label_names=names)
    >>> tree.toarray()
    array([[0., 1., 1.],
           [0., 0., 0.],
           [0., 0., 0.]])
    >>> (hierarchy_relation([-1, 0, 0]) != tree).nnz
    0
    """
    is_mapping = isinstance(hierarchy, Mapping)
    items = [(p, c) for c, p in hierarchy.items() if not _is_root(p)] if is_mapping else hierarchy
    items = list(items)
    if label_names is not None:
        n_labels = len(label_names)
    is_edge_list = is_mapping or (bool(items) and all(np.ndim(item) == 1 for item in items))
    if is_edge_list:
        edges = _checked_pairs(items, n_labels)
    else:
        n_labels = len(items) if n_labels is None else n_labels
        if len(items) != n_labels:
            raise ValueError(f"The parent list has {len(items)} entries for {n_labels} labels.")
        edges = [(parent, child) for child, parent in enumerate(items) if not _is_root(parent)]
    positions = {} if label_names is None else {str(x): k for k, x in enumerate(label_names)}
    parent = [_position(p, positions, n_labels) for p, _ in edges]
    child = [_position(c, positions, n_labels) for _, c in edges]
    return _acyclic(parent, child, n_labels)


def _checked_pairs(items, n_labels):
    if n_labels is None:
        raise ValueError("An edge list needs n_labels or label_names, to know all labels.")
    wrong = [item for item in items if len(item) != 2]
    if wrong:
        raise ValueError(f"An edge must be a pair (parent, child), got {wrong[0]!r}.")
    return items


def _is_root(parent):
    if parent is None:
        return True
    return isinstance(parent, Integral) and parent == -1


def _position(label, positions, n_labels):
    """Index of a label given by index or name."""
    if isinstance(label, Integral):
        if not 0 <= label < n_labels:
            raise ValueError(f"Label index {label} of the hierarchy is outside 0 … {n_labels - 1}.")
        return int(label)
    if str(label) not in positions:
        hint = "is not in label_names" if positions else "is a name: pass label_names too"
        raise ValueError(f"Label {label!r} of the hierarchy {hint}.")
    return positions[str(label)]


def _acyclic(parent, child, n_labels):
    """0/1 CSR adjacency of the edges; an error when labels are their own ancestors."""
    shape = (n_labels, n_labels)
    adjacency = sp.csr_array((np.ones(len(parent)), (parent, child)), shape=shape)
    adjacency.sum_duplicates()
    adjacency.data[:] = 1
    _, component = connected_components(adjacency, connection="strong")
    circular = np.flatnonzero(np.bincount(component, minlength=1)[component] > 1)
    circular = np.union1d(circular, np.flatnonzero(adjacency.diagonal()))
    if circular.size:
        raise ValueError(
            f"The hierarchy has a cycle through the labels with index {circular[:5].tolist()}."
        )
    return adjacency


def similarity_relation(X, *, metric="cosine", cut=None, top_k=None):
    """Adjacency of labels that are similar, weighted by their similarity.

    Parameters
    ----------
    X : {array-like, sparse matrix}
        Label embeddings of shape (n_labels, n_dimensions), such as embedded label names; or, with
        ``metric="precomputed"``, any similarity of shape (n_labels, n_labels).
    metric : {"cosine", "precomputed"}, default="cosine"
        Cosine similarity of embeddings, or `X` itself.
    cut : float, default=None
        Keep similarities of at least `cut`.
    top_k : int, default=None
        Keep for each label (row) its `top_k` most similar labels; ties go to the first. At least
        one of `cut` and `top_k` is needed; with both, an edge must pass both.

    Returns
    -------
    adjacency : csr_array of shape (n_labels, n_labels)
        Similarities that were kept; only positive ones, none on the diagonal.

    Examples
    --------
    >>> from sklearn_mrmp import similarity_relation
    >>> similarity_relation([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]], cut=0.7).toarray()
    array([[0. , 0.8, 0. ],
           [0.8, 0. , 0. ],
           [0. , 0. , 0. ]])
    """
    if cut is None and top_k is None:
        raise ValueError("Pass cut, top_k or both: a relation between all labels says nothing.")
    if top_k is not None and (not isinstance(top_k, Integral) or top_k < 1):
        raise ValueError(f"top_k must be an integer of at least 1, got {top_k!r}.")
    similarity_rows, n_labels = _similarity_rows(X, metric)
    blocks = []
    for start in range(0, n_labels, _ROWS_PER_BLOCK):
        S = similarity_rows(start, min(start + _ROWS_PER_BLOCK, n_labels))
        if not np.isfinite(S).all():
            raise ValueError("The similarity (or the embeddings) holds NaN or infinite values.")
        S[np.arange(len(S)), start + np.arange(len(S))] = 0
        blocks.append(sp.csr_array(_cut_rows(S, cut, top_k)))
    return sp.csr_array(sp.vstack(blocks, format="csr"))


def _similarity_rows(X, metric):
    """Return a function (start, stop) → dense rows of the similarity, and the label count."""
    X = sp.csr_array(X, dtype=np.float64) if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"Expected a matrix with one row per label, got shape {X.shape}.")

    def dense(rows):
        return rows.toarray() if sp.issparse(rows) else np.array(rows)

    if metric == "precomputed":
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"A precomputed similarity must be square, got shape {X.shape}.")
        return (lambda start, stop: dense(X[start:stop])), X.shape[0]
    if metric != "cosine":
        raise ValueError(f"metric must be 'cosine' or 'precomputed', got {metric!r}.")
    unit = _unit_rows(X)
    return (lambda start, stop: dense(unit[start:stop] @ unit.T)), X.shape[0]


def _unit_rows(X):
    """Rows of length 1, whatever their scale; an all-zero row stays, and is similar to nothing."""
    # Divided by a power of two, which is exact, so that squares cannot overflow.
    if sp.issparse(X):
        X = X.copy()
        X.sum_duplicates()
        lengths = np.diff(X.indptr)
        exponents = np.frexp(abs(X).max(axis=1).toarray().ravel())[1]
        X.data = np.ldexp(X.data, -np.repeat(exponents, lengths))
        norms = np.sqrt((X * X).sum(axis=1))
        X.data /= np.repeat(np.where(norms == 0, 1, norms), lengths)
        return X
    X = np.ldexp(X, -np.frexp(np.abs(X).max(axis=1, keepdims=True))[1])
    norms = np.sqrt((X * X).sum(axis=1, keepdims=True))
    return X / np.where(norms == 0, 1, norms)


def _cut_rows(S, cut, top_k):
    """Zero all entries of `S` (in place) that are not positive, below `cut` or not in the top k."""
    lowest = 0 if cut is None else max(cut, 0)
    S[lowest > S] = 0
    if top_k is not None and top_k < S.shape[1]:
        rest = np.argsort(-S, axis=1, kind="stable")[:, top_k:]
        np.put_along_axis(S, rest, 0, axis=1)
    return S
