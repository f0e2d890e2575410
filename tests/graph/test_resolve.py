"""What `relations=` accepts, and the helpers for known relations."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp import hierarchy_relation, similarity_relation
from sklearn_mrmp._graph import priors
from sklearn_mrmp._graph import resolve as _relations
from sklearn_mrmp._graph.learning import LabelGraph, label_graph
from sklearn_mrmp._graph.resolve import resolve_relations

NAMES = ["sea", "ship", "desert"]
TREE = hierarchy_relation([None, 0, None])


@pytest.fixture(scope="module")
def Y():
    return sp.csr_array(np.array([[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1]] * 10, dtype=np.int32))


def test_chi2_learns_the_graph_with_the_given_options(Y):
    graph = resolve_relations("chi2", Y, alpha=0.01, label_names=NAMES)
    assert graph == label_graph(Y, alpha=0.01, label_names=NAMES)


def test_a_partial_of_the_learning_function_has_all_its_options(Y):
    options = {"alpha": 0.01, "correction": "fdr_bh", "edge_weight": "conditional"}
    graph = resolve_relations(partial(label_graph, **options), Y, label_names=NAMES)
    assert graph == label_graph(Y, label_names=NAMES, **options)


def test_none_is_no_graph(Y):
    assert resolve_relations(None, Y) is None
    assert resolve_relations(lambda Y: None, Y) is None


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix, sp.coo_array, np.ndarray.tolist])
def test_a_mapping_keeps_names_order_weights_and_directions(Y, container):
    weights = np.array([[0, 0.5, 0], [2.0, 0, 0], [0, 0, 0]])
    graph = resolve_relations({"b": container(weights), "a": np.ones((3, 3))}, Y, label_names=NAMES)
    assert list(graph.relations) == ["b", "a"]
    np.testing.assert_array_equal(graph.relations["b"].toarray(), weights)
    assert graph.label_names.tolist() == NAMES
    assert graph.statistic is None


def test_learned_relations_mix_with_given_ones(Y):
    learned = label_graph(Y, label_names=NAMES)
    mixed = {"pulling": "chi2", "pushing": "chi2", "parent": TREE}
    graph = resolve_relations(mixed, Y, label_names=NAMES)
    assert list(graph.relations) == ["pulling", "pushing", "parent"]
    for name in ("pulling", "pushing"):
        assert (graph.relations[name] != learned.relations[name]).nnz == 0
        assert (graph.statistic[name] != learned.statistic[name]).nnz == 0
    assert graph.relations["parent"].toarray().tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert "parent" not in graph.statistic
    frame = graph.to_frame()
    assert frame.query("relation == 'parent'")["chi2"].isna().all()
    assert frame.query("relation == 'pulling'")["chi2"].notna().all()


def test_one_learned_relation_can_stand_alone(Y):
    graph = resolve_relations({"pushing": "chi2"}, Y)
    assert list(graph.relations) == ["pushing"]
    assert graph.n_samples == 40


def test_learning_is_skipped_when_nothing_is_learned(Y, monkeypatch):
    monkeypatch.setattr(_relations, "label_graph", None)
    assert resolve_relations({"parent": TREE}, Y).n_labels == 3


@pytest.mark.parametrize(
    "relations", ["chi2", {"parent": TREE}, LabelGraph({"parent": TREE}), {"pulling": "chi2"}]
)
def test_a_callable_may_return_anything_else(Y, relations):
    seen = []

    def build(labels):
        seen.append(labels)
        return relations

    assert resolve_relations(build, Y) == resolve_relations(relations, Y)
    assert seen[0] is Y


def test_a_graph_without_names_takes_those_of_the_labels(Y):
    graph = resolve_relations(LabelGraph({"parent": TREE}), Y, label_names=NAMES)
    assert graph.label_names.tolist() == NAMES


def test_a_graph_with_names_stays_as_it_is_for_labels_without(Y):
    graph = LabelGraph({"parent": TREE}, NAMES)
    assert resolve_relations(graph, Y) is graph
    assert resolve_relations(graph, Y, label_names=NAMES) is graph


def test_a_graph_with_the_same_names_in_another_order_is_matched_by_name(Y):
    graph = LabelGraph({"parent": TREE}, NAMES)
    aligned = resolve_relations(graph, Y, label_names=NAMES[::-1])
    assert aligned.label_names.tolist() == NAMES[::-1]
    assert aligned.relations["parent"].toarray()[2, 1] == 1


def test_a_graph_of_other_labels_is_refused(Y):
    with pytest.raises(ValueError, match="differently; only one of them has: lake, sea"):
        resolve_relations(LabelGraph({"parent": TREE}, ["lake", "ship", "desert"]), Y,
                          label_names=NAMES)  # fmt: skip


@pytest.mark.parametrize(
    "relations",
    [
        {"parent": np.ones((2, 2))},
        {"pulling": "chi2", "parent": np.ones((2, 2))},
        LabelGraph({"parent": np.ones((2, 2))}),
    ],
)
def test_a_wrong_shape_names_relation_shape_seen_and_shape_expected(Y, relations):
    with pytest.raises(ValueError, match=r"'parent'.* \(2, 2\); expected \(3, 3\)"):
        resolve_relations(relations, Y)


@pytest.mark.parametrize("relations", [{"parent": "chi2"}, {"pulling": "learn"}])
def test_text_in_a_mapping_is_only_for_the_learned_pair(Y, relations):
    with pytest.raises(ValueError, match="'chi2', for the names 'pulling' and 'pushing'"):
        resolve_relations(relations, Y)


def test_an_empty_mapping_is_refused(Y):
    with pytest.raises(ValueError, match="empty"):
        resolve_relations({}, Y)


@pytest.mark.parametrize("relations", ["chi", 3, [TREE], lambda Y: lambda Y: None])
def test_other_kinds_of_relations_are_refused(Y, relations):
    with pytest.raises(TypeError, match="callable"):
        resolve_relations(relations, Y)


# --- hierarchies


@pytest.mark.parametrize(
    "parents",
    [[-1, 0, 0, 1], [None, 0, 0, 1], np.array([-1, 0, 0, 1]), [None, "a", "a", "b"]],
)
def test_parent_list_makes_edges_from_parents_to_children(parents):
    tree = hierarchy_relation(parents, label_names=list("abcd"))
    assert sorted(zip(*(k.tolist() for k in tree.nonzero()), strict=True)) == [
        (0, 1),
        (0, 2),
        (1, 3),
    ]


@pytest.mark.parametrize(
    ("edges", "names"),
    [
        ([(0, 1), (2, 1), (0, 1)], None),
        (np.array([[0, 1], [2, 1]]), None),
        ([("a", "b"), ("c", "b")], list("abc")),
        ([["a", 1], [2, "b"]], list("abc")),
    ],
)
def test_edge_list_allows_several_parents_and_ignores_repeats(edges, names):
    graph = hierarchy_relation(edges, n_labels=3, label_names=names)
    assert graph.toarray().tolist() == [[0, 1, 0], [0, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize("parents", [{"b": "a", "c": "a", "a": None}, {1: 0, 2: 0}])
def test_mapping_of_child_to_parent_makes_the_same_edges(parents):
    graph = hierarchy_relation(parents, label_names=list("abc"))
    assert graph.toarray().tolist() == [[0, 1, 1], [0, 0, 0], [0, 0, 0]]


def test_an_empty_hierarchy_has_no_edges():
    assert hierarchy_relation([None, -1]).nnz == 0
    assert hierarchy_relation({}, n_labels=2).shape == (2, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"hierarchy": [(0, 1)]}, "needs n_labels or label_names"),
        ({"hierarchy": [(0, 1, 2)], "n_labels": 3}, r"pair \(parent, child\)"),
        ({"hierarchy": [None, 0], "n_labels": 3}, "2 entries for 3 labels"),
        ({"hierarchy": [None, 5]}, "index 5 .* outside 0 … 1"),
        ({"hierarchy": [None, "x"]}, "'x' .* pass label_names"),
        ({"hierarchy": [None, "x"], "label_names": ["a", "b"]}, "'x' .* not in label_names"),
        ({"hierarchy": [1, 0, None]}, r"cycle through the labels with index \[0, 1\]"),
        ({"hierarchy": [None, 1]}, r"cycle .* \[1\]"),
    ],
)
def test_impossible_hierarchies_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        hierarchy_relation(**arguments)


# --- similarities


SIMILARITY = np.array(
    [[1.0, 0.9, 0.2, -0.8], [0.9, 1.0, 0.5, 0.0], [0.2, 0.5, 1.0, 0.4], [-0.8, 0.0, 0.4, 1.0]]
)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, np.ndarray.tolist])
def test_cut_keeps_similarities_from_there_on(container):
    relation = similarity_relation(container(SIMILARITY), metric="precomputed", cut=0.5)
    expected = np.where(SIMILARITY >= 0.5, SIMILARITY, 0) - np.eye(4)
    np.testing.assert_array_equal(relation.toarray(), expected)


def test_top_k_keeps_the_best_of_each_row_and_no_negative_ones():
    relation = similarity_relation(SIMILARITY, metric="precomputed", top_k=2).toarray()
    assert [np.flatnonzero(row).tolist() for row in relation] == [[1, 2], [0, 2], [1, 3], [2]]
    both = similarity_relation(SIMILARITY, metric="precomputed", top_k=2, cut=0.5).toarray()
    assert [np.flatnonzero(row).tolist() for row in both] == [[1], [0, 2], [1], []]
    everything = similarity_relation(SIMILARITY, metric="precomputed", top_k=10)
    assert everything.nnz == 8


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_embeddings_are_compared_by_cosine_whatever_their_length(container, monkeypatch):
    X = np.random.default_rng(0).normal(size=(7, 3)) * np.arange(7)[:, None]
    unit = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    S = unit @ unit.T
    np.fill_diagonal(S, 0)
    monkeypatch.setattr(priors, "_ROWS_PER_BLOCK", 3)
    relation = similarity_relation(container(X), cut=0.3)
    np.testing.assert_allclose(relation.toarray(), np.where(S >= 0.3, S, 0))


def test_the_caller_keeps_an_unchanged_similarity():
    S = SIMILARITY.copy()
    similarity_relation(S, metric="precomputed", top_k=1)
    np.testing.assert_array_equal(S, SIMILARITY)


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (SIMILARITY, {}, "cut, top_k or both"),
        (SIMILARITY, {"top_k": 0}, "top_k must be .* got 0"),
        (SIMILARITY, {"cut": 0.5, "metric": "dot"}, "metric must be .* got 'dot'"),
        (SIMILARITY[:2], {"cut": 0.5, "metric": "precomputed"}, r"square, got shape \(2, 4\)"),
        ([1.0, 2.0], {"cut": 0.5}, r"shape \(2,\)"),
        (np.full((2, 2), np.nan), {"cut": 0.5}, "NaN"),
    ],
)
def test_impossible_similarities_are_refused(X, options, message):
    with pytest.raises(ValueError, match=message):
        similarity_relation(X, **options)


def test_helpers_fit_into_a_mixed_mapping(Y):
    similar = similarity_relation([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]], top_k=1)
    graph = resolve_relations({"pulling": "chi2", "parent": TREE, "similar": similar}, Y)
    assert [A.nnz for A in graph.relations.values()] == [2, 1, 3]
