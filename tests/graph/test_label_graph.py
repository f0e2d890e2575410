"""The label graph as a value, and how it is learned from label matrices of all kinds."""

import copy
import io
import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import chi2_contingency

from sklearn_mrmp._graph.learning import LabelGraph, label_graph
from sklearn_mrmp._host import optional as _optional
from sklearn_mrmp.datasets import make_related_labels

NAMES = ["sea", "ship", "beach", "desert", "never", "always"]


@pytest.fixture(scope="module")
def Y():
    rng = np.random.default_rng(0)
    sea = rng.random(200) < 0.4
    ship = sea & (rng.random(200) < 0.3)
    beach = sea & (rng.random(200) < 0.6)
    desert = ~sea & (rng.random(200) < 0.5)
    columns = [sea, ship, beach, desert, np.zeros(200, bool), np.ones(200, bool)]
    return np.column_stack(columns).astype(int)


@pytest.fixture(scope="module")
def graph(Y):
    return label_graph(Y, edge_weight="conditional", label_names=NAMES)


def edges(graph, relation):
    source, target = graph.relations[relation].nonzero()
    names = graph.label_names
    return {(names[i], names[j]) for i, j in zip(source, target, strict=True)}


def test_related_labels_pull_and_excluding_labels_push(graph):
    pulling, pushing = edges(graph, "pulling"), edges(graph, "pushing")
    assert {("sea", "ship"), ("ship", "sea"), ("sea", "beach")} <= pulling
    assert {("sea", "desert"), ("desert", "ship")} <= pushing
    assert not pulling & pushing


def test_constant_labels_have_no_edges_and_no_label_links_to_itself(graph):
    degree = graph.degree()
    assert degree[4] == degree[5] == 0
    for adjacency in graph.relations.values():
        assert not adjacency.diagonal().any()


def test_conditional_weight_is_the_change_of_probability_given_the_source(Y, graph):
    i, j = 1, 0  # ship → sea
    expected = abs(Y[Y[:, i] == 1, j].mean() - Y[:, j].mean())
    assert graph.relations["pulling"][i, j] == pytest.approx(expected)
    assert graph.relations["pulling"][i, j] != pytest.approx(graph.relations["pulling"][j, i])


def test_binary_and_conditional_graphs_have_the_same_edges(Y, graph):
    binary = label_graph(Y, label_names=NAMES)
    for name in ("pulling", "pushing"):
        assert edges(binary, name) == edges(graph, name)
        assert set(binary.relations[name].data) == {1.0}


def test_statistics_per_edge_equal_scipy(Y, graph):
    for name, adjacency in graph.relations.items():
        for i, j in zip(*adjacency.nonzero(), strict=True):
            expected = chi2_contingency(np.histogram2d(Y[:, i], Y[:, j], 2)[0], correction=False)
            assert graph.statistic[name][i, j] == pytest.approx(expected.statistic)
            assert graph.p_value[name][i, j] == pytest.approx(expected.pvalue)
            assert graph.co_occurrence[name][i, j] == Y[:, i] @ Y[:, j]


CONTAINERS = {
    "list": lambda Y: Y.tolist(),
    "bool": lambda Y: Y.astype(bool),
    "float": lambda Y: Y.astype(float),
    "csr_array": sp.csr_array,
    "csr_matrix": sp.csr_matrix,
    "csc_array": sp.csc_array,
    "lil_array": sp.lil_array,
    "int32 csr": lambda Y: sp.csr_array(Y.astype(np.int32)),
    "DataFrame": pd.DataFrame,
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_the_same_graph(Y, container):
    assert label_graph(CONTAINERS[container](Y)) == label_graph(Y)


def test_stored_zeros_and_caller_arrays_are_left_alone(Y):
    stored = sp.csr_array(np.ones_like(Y))
    stored.data[:] = Y.ravel()
    before = stored.copy()
    assert label_graph(stored) == label_graph(Y)
    assert stored.nnz == before.nnz


def test_columns_of_a_data_frame_name_the_labels(Y):
    assert label_graph(pd.DataFrame(Y, columns=NAMES)).label_names.tolist() == NAMES


def test_no_warning_and_no_nan_for_constant_tiny_or_empty_targets():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for Y in (np.zeros((4, 3)), np.ones((4, 3)), np.zeros((0, 2)), [[1]], np.eye(3)):
            graph = label_graph(Y, edge_weight="conditional", correction="fdr_bh")
            assert sum(A.nnz for A in graph.relations.values()) == 0
            assert len(graph.to_frame()) == 0


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([[1, -1], [0, 1]], "only 0 and 1, but it holds .*-1"),
        ([[1.0, np.inf]], "inf"),
        ([[0.5, 1.0]], "0.5"),
        (sp.csr_array([[2, 0]]), "2"),
        ([1, 0, 1], r"shape \(3,\)"),
        (sp.coo_array(([1, 1], ([0, 0], [0, 0])), shape=(2, 2)), "2"),
    ],
)
def test_a_matrix_that_is_not_0_1_is_refused_by_name(Y, message):
    with pytest.raises(ValueError, match=message):
        label_graph(Y)


@pytest.mark.parametrize(
    "option",
    [
        {"alpha": 0},
        {"alpha": 1.5},
        {"alpha": "a"},
        {"correction": "holm"},
        {"edge_weight": "lift"},
        {"min_count": -1},
        {"min_count": 1.5},
        {"label_names": ["a"]},
    ],
)
def test_bad_options_are_named_in_the_error(Y, option):
    value = next(iter(option.values()))
    with pytest.raises(
        ValueError,
        match=r"1 label names for 6"
        if option == {"label_names": ["a"]}
        else f"{next(iter(option))} must be .*{value}",
    ):
        label_graph(Y, **option)


@pytest.mark.parametrize("seed", range(3))
def test_planted_relations_are_recovered(seed):
    _, Y, planted = make_related_labels(random_state=seed)
    recovery = planted.recovery(label_graph(Y, correction="fdr_bh"))
    assert recovery.precision >= 0.85
    assert recovery.recall >= 0.95


# --- the value object


def test_frame_has_one_row_per_edge_strongest_first(Y, graph):
    frame = graph.to_frame()
    assert frame.columns.tolist() == [
        "source", "target", "relation", "weight", "lift", "chi2", "p_value", "co_occurrence",
    ]  # fmt: skip
    assert len(frame) == sum(A.nnz for A in graph.relations.values())
    assert frame["weight"].is_monotonic_decreasing
    row = frame.query("source == 'ship' and target == 'sea'").iloc[0]
    ship, sea = Y[:, 1], Y[:, 0]
    assert row["co_occurrence"] == ship @ sea
    assert row["lift"] == pytest.approx((ship @ sea) / 200 / (ship.mean() * sea.mean()))
    assert row["relation"] == "pulling"


def test_frame_of_binary_weights_is_ordered_by_chi2(Y):
    assert label_graph(Y).to_frame()["chi2"].is_monotonic_decreasing


def test_frame_of_given_relations_leaves_statistics_missing():
    frame = LabelGraph({"near": [[0, 1], [2, 0]]}, ["a", "b"]).to_frame()
    assert frame[["source", "target", "weight"]].values.tolist() == [["b", "a", 2], ["a", "b", 1]]
    assert frame[["lift", "chi2", "p_value", "co_occurrence"]].isna().all(axis=None)


def test_networkx_keeps_nodes_edges_directions_and_attributes(graph):
    multigraph = graph.to_networkx()
    assert list(multigraph) == NAMES
    assert multigraph.nodes["sea"]["count"] == graph.counts[0]
    assert {(a, b) for a, b, key in multigraph.edges(keys=True) if key == "pulling"} == edges(
        graph, "pulling"
    )
    attributes = multigraph.edges["ship", "sea", "pulling"]
    assert attributes["weight"] == graph.relations["pulling"][1, 0]
    assert attributes["chi2"] == pytest.approx(graph.statistic["pulling"][1, 0])


def test_networkx_needs_distinct_names():
    with pytest.raises(ValueError, match="distinct"):
        LabelGraph({"near": np.eye(2)}, ["a", "a"]).to_networkx()


def test_degree_is_the_number_of_neighbors(graph):
    for relation in ("pulling", "pushing", None):
        counted = [len(graph.neighbors(name, relation)) for name in NAMES]
        assert graph.degree(relation).tolist() == counted


def test_neighbors_follow_both_directions_strongest_first():
    graph = LabelGraph({"to": [[0, 0.5, 0], [0, 0, 0], [0.9, 0, 0]], "other": np.zeros((3, 3))})
    assert graph.neighbors("0", "to") == ["2", "1"]
    assert graph.neighbors(0, "other") == []
    assert graph.neighbors(1) == ["0"]


def test_unknown_labels_and_relations_are_named(graph):
    with pytest.raises(ValueError, match="'lake' is not in the graph"):
        graph.neighbors("lake")
    with pytest.raises(ValueError, match=r"index 6 is outside 0 … 5"):
        graph.neighbors(6)
    with pytest.raises(ValueError, match=r"'pull'.*'pulling', 'pushing'"):
        graph.degree("pull")
    with pytest.raises(ValueError, match="'a' names 2 labels"):
        LabelGraph({"near": np.eye(2)}, ["a", "a"]).index("a")


def test_subgraph_keeps_weights_counts_and_statistics_in_the_given_order(graph):
    part = graph.subgraph(["desert", 0, "ship"])
    assert part.label_names.tolist() == ["desert", "sea", "ship"]
    assert part.counts.tolist() == graph.counts[[3, 0, 1]].tolist()
    keep = np.ix_([3, 0, 1], [3, 0, 1])
    for name in ("pulling", "pushing"):
        for whole, cut in (
            (graph.relations, part.relations),
            (graph.statistic, part.statistic),
            (graph.co_occurrence, part.co_occurrence),
        ):
            np.testing.assert_array_equal(cut[name].toarray(), whole[name].toarray()[keep])


def test_subgraph_refuses_repeated_labels(graph):
    with pytest.raises(ValueError, match="distinct"):
        graph.subgraph(["sea", 0])


def test_repr_says_how_many_labels_samples_and_edges(graph):
    n_pulling, n_pushing = (graph.relations[name].nnz for name in ("pulling", "pushing"))
    assert repr(graph) == (
        f"LabelGraph(6 labels, 200 samples; pulling: {n_pulling} edges, pushing: {n_pushing} edges)"
    )


def test_graphs_with_equal_content_are_equal_and_hash_alike(Y, graph):
    again = label_graph(sp.csr_array(Y), edge_weight="conditional", label_names=NAMES)
    assert again == graph
    assert hash(again) == hash(graph)
    assert graph != label_graph(Y, label_names=NAMES)
    assert graph != graph.rename(reversed(NAMES))
    assert graph != "graph"
    plain = LabelGraph({"a": np.zeros((2, 2)), "b": np.ones((2, 2))})
    assert plain == LabelGraph({"b": np.ones((2, 2)), "a": np.zeros((2, 2))})
    assert plain != LabelGraph({"a": np.zeros((2, 2)), "b": np.ones((2, 2))}, counts=[1, 2])


def test_nothing_of_a_graph_can_be_changed(graph):
    before = copy.deepcopy(graph)
    with pytest.raises(AttributeError):
        graph.n_samples = 3
    with pytest.raises(AttributeError):
        graph.note = "mine"
    with pytest.raises(TypeError):
        graph.relations["pulling"] = None
    for array in (graph.counts, graph.label_names, graph.relations["pulling"].data):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    shell = graph.relations["pulling"]
    shell.data = np.zeros(shell.nnz)  # changes the caller's matrix object, not the graph
    assert graph == before


def test_a_graph_does_not_share_memory_with_what_it_was_made_of():
    adjacency = sp.csr_array([[0.0, 1.0], [1.0, 0.0]])
    graph = LabelGraph({"near": adjacency})
    adjacency.data[:] = 7
    assert graph.relations["near"].max() == 1


def test_pickle_joblib_and_deepcopy_give_an_equal_read_only_graph(graph):
    buffer = io.BytesIO()
    joblib.dump(graph, buffer)
    buffer.seek(0)
    for again in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph), joblib.load(buffer)):
        assert again == graph
        assert again.statistic["pulling"].nnz == graph.statistic["pulling"].nnz
        assert not again.counts.flags.writeable
        assert not again.relations["pulling"].data.flags.writeable


@pytest.mark.parametrize(
    ("relations", "message"),
    [
        ({"near": np.ones((2, 3))}, r"'near' has shape \(2, 3\); expected a square"),
        ({"near": [1, 2]}, r"'near' has shape \(2,\)"),
        ({"a": np.eye(2), "near": np.eye(3)}, r"'near' has shape \(3, 3\); expected \(2, 2\)"),
        ({"near": [[0, np.nan], [0, 0]]}, "'near' has 1 weights .* nan"),
        ({"near": [[0, np.inf], [0, 0]]}, "'near' .* inf"),
        ({"near": [[0, -1], [0, 0]]}, "'near' .* -1"),
        ({"near": [["a", "b"], ["c", "d"]]}, "'near' does not hold numbers"),
        ({}, "empty"),
    ],
)
def test_impossible_relations_are_named_with_what_was_seen(relations, message):
    with pytest.raises(ValueError, match=message):
        LabelGraph(relations)


@pytest.mark.parametrize("relations", [[np.eye(2)], np.eye(2), {1: np.eye(2)}])
def test_relations_must_map_strings(relations):
    with pytest.raises(TypeError, match=r"[rR]elation"):
        LabelGraph(relations)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"counts": [1]}, "counts must hold 2"),
        ({"counts": [1, 9], "n_samples": 5}, "between 0 and n_samples=5"),
        ({"co_occurrence": {"near": sp.csr_array((2, 2))}}, "needs counts and n_samples"),
        (
            {"counts": [1, 1], "n_samples": 5, "co_occurrence": {"far": sp.csr_array((2, 2))}},
            "'far', which is not a relation",
        ),
        (
            {"counts": [1, 1], "n_samples": 5, "co_occurrence": {"near": sp.csr_array((2, 2))}},
            "must store the edges",
        ),
    ],
)
def test_counts_that_do_not_fit_are_refused(extra, message):
    with pytest.raises(ValueError, match=message):
        LabelGraph({"near": [[0, 1], [1, 0]]}, **extra)


@pytest.mark.parametrize(
    "container", [np.asarray, sp.csr_matrix, sp.coo_array, sp.dok_array, pd.DataFrame]
)
def test_any_container_of_weights_is_accepted_and_the_diagonal_dropped(container):
    weights = np.array([[3.0, 0.25], [0.0, 1.0]])
    graph = LabelGraph({"near": container(weights)})
    assert graph.relations["near"].toarray().tolist() == [[0, 0.25], [0, 0]]
    assert graph.statistic is graph.p_value is graph.co_occurrence is graph.counts is None


def test_without_pandas_the_frame_says_what_to_install(graph, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(_optional, "import_module", missing)
    with pytest.raises(ImportError, match=r"pandas.*sklearn-mrmp\[data\]"):
        graph.to_frame()
    with pytest.raises(ImportError, match=r"networkx.*sklearn-mrmp\[plot\]"):
        graph.to_networkx()
