"""Hierarchies: scores and labels in which whoever has a label has its ancestors."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp import LabelGraph, add_ancestors, hierarchy_relation
from sklearn_mrmp._graph.hierarchy import Hierarchy, make_hierarchy


def random_parents(n_labels, seed, n_roots=4):
    """Parent of each label in a tree such as RCV1's topics: labels in any order."""
    rng = np.random.default_rng(seed)
    names = rng.permutation(n_labels)
    parents = np.full(n_labels, -1)
    for k in range(n_roots, n_labels):
        parents[names[k]] = names[rng.integers(0, k)]
    return parents.tolist()


def random_pairs(n_labels, seed):
    """Edges of a hierarchy in which labels have several parents."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n_labels)
    pairs = [(i, j) for i in range(n_labels) for j in range(i + 1, n_labels)]
    return [(int(order[i]), int(order[j])) for i, j in pairs if rng.random() < 0.3]


def descendants(adjacency):
    """Bool (n_labels, n_labels): whether a label is the other one or below it, by powers."""
    step = np.eye(adjacency.shape[0]) + adjacency.toarray()
    return np.linalg.matrix_power(step, adjacency.shape[0]) > 0


HIERARCHIES = {
    **{f"tree {seed}": (random_parents(103, seed), 103) for seed in range(3)},
    **{f"several parents {seed}": (random_pairs(9, seed), 9) for seed in range(3)},
    "chain, leaves first": ([1, 2, 3, -1], 4),
    "no edge": ([-1, -1, -1], 3),
}
each_hierarchy = pytest.mark.parametrize(
    ("hierarchy", "n_labels"), HIERARCHIES.values(), ids=HIERARCHIES
)


@each_hierarchy
def test_scores_are_the_highest_among_descendants(hierarchy, n_labels):
    tree = make_hierarchy(hierarchy, n_labels)
    scores = np.random.default_rng(0).normal(size=(7, n_labels)).astype(np.float32)
    before = scores.copy()
    below = descendants(tree.adjacency)
    expected = [[row[below[label]].max() for label in range(n_labels)] for row in scores]
    lifted = tree.lifted(scores)
    np.testing.assert_array_equal(lifted, expected)
    assert lifted.dtype == np.float32
    np.testing.assert_array_equal(scores, before)
    np.testing.assert_array_equal(tree.lifted(lifted), lifted)
    for cut in (-1.0, 0.0, 1.0):  # cutting and adding ancestors can change places
        np.testing.assert_array_equal(lifted >= cut, tree.lifted(scores >= cut))


@each_hierarchy
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_all_ancestors_are_added_and_nothing_else(hierarchy, n_labels, container):
    Y = (np.random.default_rng(1).random((6, n_labels)) < 0.1).astype(np.int16)
    below = descendants(make_hierarchy(hierarchy, n_labels).adjacency)
    closed = add_ancestors(container(Y), hierarchy)
    assert closed.dtype == Y.dtype
    assert sp.issparse(closed) == sp.issparse(container(Y))
    closed = closed.toarray() if sp.issparse(closed) else closed
    np.testing.assert_array_equal(closed, (Y @ below.T) > 0)


def test_hierarchies_may_come_as_relations_of_a_graph_or_by_name():
    pd = pytest.importorskip("pandas")
    names, Y = ["cat", "animal", "thing"], np.array([[1, 0, 0], [0, 1, 0]])
    by_name = {"cat": "animal", "animal": "thing"}
    expected = [[1, 1, 1], [0, 1, 1]]
    relation = hierarchy_relation(by_name, label_names=names)
    graph = LabelGraph({"parent": relation}, names)
    for hierarchy in (relation, graph.relations["parent"], [1, 2, -1], [(1, 0), (2, 1)]):
        np.testing.assert_array_equal(add_ancestors(Y, hierarchy), expected)
    np.testing.assert_array_equal(add_ancestors(Y, by_name, label_names=names), expected)
    np.testing.assert_array_equal(add_ancestors(pd.DataFrame(Y, columns=names), by_name), expected)


@pytest.mark.parametrize(
    ("hierarchy", "message"),
    [
        ([1, 2, 0], "cycle through the labels"),
        ([(0, 1), (1, 0)], "cycle through the labels"),
        (sp.csr_array(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])), "cycle through the labels"),
        (sp.eye_array(2), r"shape \(2, 2\), but there are 3 labels"),
        ({"x": "y"}, "is a name: pass label_names"),
        ([-1, 0], "2 entries for 3 labels"),
    ],
)
def test_hierarchies_that_are_none_are_refused(hierarchy, message):
    with pytest.raises(ValueError, match=message):
        add_ancestors(np.eye(3), hierarchy)


def test_the_first_violation_is_found_and_all_are_counted():
    tree = Hierarchy(hierarchy_relation([-1, 0, 1]))
    assert tree.first_violation(sp.csr_array([[1, 1, 1], [1, 0, 0], [0, 0, 0]])) is None
    found = tree.first_violation(sp.csr_array([[1, 1, 1], [0, 0, 1], [0, 1, 0]]))
    assert found in {(1, 1, 2, 2), (2, 0, 1, 2)}
