"""What to draw of a label graph: strength of edges, most telling labels and edges, their order.

Pure functions on arrays, so that pictures can be tested without drawing. Knows numpy, scipy and
the public attributes of `LabelGraph`.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import squareform

from sklearn_mrmp._graph.adjacency import endpoints

LEARNED_PAIR = ("pulling", "pushing")
_OPTIMAL_ORDER_LABELS = 200  # beyond that the exact leaf order takes seconds


@dataclass(frozen=True, eq=False)
class DrawnEdges:
    """The edges of one relation that are drawn, weakest first so that strong ones lie on top.

    Attributes
    ----------
    relation : str
        Name of the relation.
    source, target : ndarray of int
        Ends of the edges; each pair once unless `directed`.
    strength : ndarray of float
        What the width of the edges shows: weights or, when all are 1, associations.
    directed : bool
        Whether the relation differs from its transpose.
    n_hidden : int
        How many weaker edges of the relation are left out.
    """

    relation: str
    source: np.ndarray
    target: np.ndarray
    strength: np.ndarray
    directed: bool
    n_hidden: int


def check_drawn_relations(graph, relations):
    """Names of the relations to draw: all of the graph, or those asked for."""
    if relations is None:
        return list(graph.relations)
    names = [relations] if isinstance(relations, str) else list(relations)
    unknown = [name for name in names if name not in graph.relations]
    if unknown or not names:
        known = ", ".join(map(repr, graph.relations))
        raise ValueError(f"relations must be among {known}, got {relations!r}.")
    return names


def association(graph, relation):
    """How strongly the ends of each edge go together or apart, as a CSR array.

    The phi coefficient, sqrt(chi2 / n), where the counts of the edges are known; it does not
    favour rare labels as conditional probabilities do. Else the weight.
    """
    adjacency = graph.relations[relation]
    statistic = (graph.statistic or {}).get(relation)
    data = adjacency.data if statistic is None else np.sqrt(statistic.data / graph.n_samples)
    return sp.csr_array((data, adjacency.indices, adjacency.indptr), shape=adjacency.shape)


def select_labels(graph, relations, labels, max_labels):
    """Return the part of `graph` to draw: given labels, or the most frequent ones with an edge."""
    if labels is not None:
        return graph.subgraph(labels)
    if graph.n_labels <= max_labels:
        return graph
    importance = sum(association(graph, name).sum(axis=1) for name in relations)
    importance = importance + sum(association(graph, name).sum(axis=0) for name in relations)
    if graph.counts is not None:
        importance = np.where(importance > 0, graph.counts, 0)
    chosen = np.argsort(-importance, kind="stable")[:max_labels]
    return graph.subgraph(np.sort(chosen))


def select_edges(graph, relation, max_edges):
    """Return the `max_edges` strongest edges of a relation, as `DrawnEdges`."""
    adjacency, rank = graph.relations[relation], association(graph, relation).data
    directed = (adjacency != adjacency.T).nnz > 0
    source, target = endpoints(adjacency)
    strength = rank if (adjacency.data == 1).all() else adjacency.data
    candidates = np.arange(adjacency.nnz) if directed else np.flatnonzero(source < target)
    order = candidates[np.argsort(-rank[candidates], kind="stable")]
    drawn, n_hidden = order[:max_edges][::-1], max(len(order) - max_edges, 0)
    return DrawnEdges(relation, source[drawn], target[drawn], strength[drawn], directed, n_hidden)


def edge_widths(edges):
    """Width of the edges of each relation, between 0 and 1.

    The learned pair shares a scale, so that a thin edge is a weak one in either relation; other
    relations have weights of their own kind. The root keeps weak edges visible.
    """
    largest = {drawn.relation: drawn.strength.max(initial=0) for drawn in edges}
    shared = max((largest.get(name, 0) for name in LEARNED_PAIR), default=0)
    largest.update({name: shared for name in LEARNED_PAIR if name in largest})
    tiny = np.finfo(float).tiny
    return [np.sqrt(drawn.strength / max(largest[drawn.relation], tiny)) for drawn in edges]


def signed_association(graph, relations):
    """Dense (n_labels, n_labels) matrix: associations, those of ``"pushing"`` negative."""
    total = np.zeros((graph.n_labels, graph.n_labels))
    for name in relations:
        total += association(graph, name).toarray() * (-1 if name == "pushing" else 1)
    return total


def cluster_tree(signed):
    """Hierarchical clustering of labels that pull each other, or None for fewer than 3 labels."""
    if len(signed) < 3:
        return None
    similarity = (signed + signed.T) / 2
    scale = np.abs(similarity).max() or 1
    distance = np.sqrt(np.clip(1 - similarity / scale, 0, 2))
    np.fill_diagonal(distance, 0)
    condensed = squareform(distance, checks=False)
    tree = linkage(condensed, method="average")
    if len(signed) <= _OPTIMAL_ORDER_LABELS:
        tree = optimal_leaf_ordering(tree, condensed)
    return tree


def cluster_order(tree, n_labels):
    """Order of the labels in which related ones are neighbours."""
    return np.arange(n_labels) if tree is None else leaves_list(tree)
