"""Relations between labels that a user knows, and how they mix with the learned ones.

`resolve_relations` turns whatever ``relations=`` accepts into a `LabelGraph`;
`hierarchy_relation` and `similarity_relation` build the two priors people have most often:
a label tree, and the similarity of label names. Knows numpy and scipy only.
"""

from collections.abc import Mapping
from numbers import Integral

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sklearn_mrmp._adjacency import check_label_names, check_relations
from sklearn_mrmp._label_graph import LabelGraph, label_graph

LEARNED = "chi2"
_LEARNED_NAMES = ("pulling", "pushing")
_ROWS_PER_BLOCK = 1024


def resolve_relations(
    relations, Y, *, alpha=0.05, correction=None, edge_weight="binary", label_names=None
):
    """Turn what a user passes as `relations` into a label graph.

    Parameters
    ----------
    relations : "chi2", None, LabelGraph, mapping or callable
        - ``"chi2"``: learn pulling and pushing from `Y`, see `label_graph`.
        - ``None``: no graph.
        - a `LabelGraph`: taken as it is; when both sides have label names, labels are matched by
          name.
        - a mapping of relation name to adjacency of shape (n_labels, n_labels), dense or sparse,
          weighted, directed (row → column). The value ``"chi2"`` under the name ``"pulling"`` or
          ``"pushing"`` stands for the learned relation, so that
          ``{"pulling": "chi2", "pushing": "chi2", "parent": hierarchy}`` mixes both kinds.
        - a callable that takes `Y` and returns one of these.
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        0/1 label matrix of the training rows.
    alpha, correction, edge_weight
        Passed to `label_graph` when something is learned.
    label_names : sequence of str, default=None
        Names of the columns of `Y`.

    Returns
    -------
    graph : LabelGraph or None
        The graph over the columns of `Y`, in their order.

    Examples
    --------
    >>> from sklearn_mrmp._relations import hierarchy_relation, resolve_relations
    >>> Y = [[1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 0]] * 5
    >>> tree = hierarchy_relation([None, 0, 0])
    >>> resolve_relations({"pulling": "chi2", "parent": tree}, Y)
    LabelGraph(3 labels, 20 samples; pulling: 2 edges, parent: 2 edges)
    """
    if callable(relations):
        relations = relations(Y)
        if callable(relations):
            raise TypeError("The callable passed as relations returned another callable.")
    if relations is None:
        return None

    def learn():
        options = {"alpha": alpha, "correction": correction, "edge_weight": edge_weight}
        return label_graph(Y, label_names=label_names, **options)

    if isinstance(relations, str) and relations == LEARNED:
        return learn()
    n_labels = np.shape(Y)[1]
    if isinstance(relations, LabelGraph):
        return _align(relations, n_labels, label_names)
    if isinstance(relations, Mapping):
        return _mix(relations, n_labels, label_names, learn)
    raise TypeError(
        "relations must be 'chi2', None, a LabelGraph, a mapping of name to adjacency or a "
        f"callable that returns one of these, got {relations!r:.80}."
    )


def _align(graph, n_labels, label_names):
    """`graph` over the labels of `Y`: matched by name when both sides have names."""
    if graph.n_labels != n_labels:
        name, adjacency = next(iter(graph.relations.items()))
        raise ValueError(
            f"Relation {name!r} of the LabelGraph has shape {adjacency.shape}; expected "
            f"({n_labels}, {n_labels}), one row and column per label of Y."
        )
    names = check_label_names(label_names, n_labels)
    if np.array_equal(names, graph.label_names):
        return graph
    numbers = check_label_names(None, n_labels)
    if np.array_equal(names, numbers):  # one side is anonymous: columns match by position
        return graph
    if np.array_equal(graph.label_names, numbers):
        return graph.rename(names)
    unknown = sorted(set(names) ^ set(graph.label_names))
    if unknown:
        raise ValueError(
            "The LabelGraph and Y name their labels differently; only one of them has: "
            f"{', '.join(unknown[:5])}{' …' if len(unknown) > 5 else ''}."
        )
    return graph.subgraph(names)


def _mix(relations, n_labels, label_names, learn):
    """Graph of given adjacencies and of learned relations where the value is "chi2"."""
    wanted = [name for name, value in relations.items() if _is_learned(name, value)]
    learned = learn() if wanted else None
    chosen = {
        name: learned.relations[name] if name in wanted else value
        for name, value in relations.items()
    }
    checked = check_relations(chosen, n_labels)
    if learned is None:
        return LabelGraph(checked, label_names)
    return LabelGraph(
        checked,
        learned.label_names,
        n_samples=learned.n_samples,
        counts=learned.counts,
        co_occurrence={name: learned.co_occurrence[name] for name in wanted},
    )


def _is_learned(name, value):
    if not isinstance(value, str):
        return False
    if value == LEARNED and name in _LEARNED_NAMES:
        return True
    raise ValueError(
        f"Relation {name!r} is given as {value!r}; the only text allowed is 'chi2', for the "
        "names 'pulling' and 'pushing'. Pass an (n_labels, n_labels) adjacency instead."
    )


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
    >>> from sklearn_mrmp._relations import hierarchy_relation
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
    >>> from sklearn_mrmp._relations import similarity_relation
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
