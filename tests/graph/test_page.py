"""`LabelGraph.to_html`: what the page knows about links, labels and rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp import LabelGraph, label_graph
from sklearn_mrmp.datasets import make_related_labels
from tests.pages.reading import block

Y = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1], [0, 1, 1]] * 6)
NAMES = ["sea", "ship", "desert"]
PRIOR = {"parent": [[0, 1, 0], [0, 0, 0], [0, 0, 0]], "near": [[0, 0, 2], [0, 0, 1], [2, 1, 0]]}


def page_of(graph, tmp_path, *args, **options):
    graph.to_html(tmp_path / "graph.html", *args, **options)
    html = (tmp_path / "graph.html").read_text(encoding="utf-8")
    return html, block(html, "graph-data")


def test_every_link_is_in_the_page_once_with_its_counts_and_p_value(tmp_path):
    _, Y, _ = make_related_labels(300, 8, random_state=0)
    graph = label_graph(Y, alpha=0.2)
    _, data = page_of(graph, tmp_path)
    p_value, together = graph.p_value, graph.co_occurrence
    names = [relation["name"] for relation in data["relations"]]
    found = set()
    for k, (i, j, r) in enumerate(
        zip(data["source"], data["target"], data["relation"], strict=True)
    ):
        assert data["together"][k] == together[names[r]][i, j]
        expected = np.log10(p_value[names[r]][i, j])
        assert data["log10_p"][k] == pytest.approx(expected, rel=1e-4, abs=1e-4)
        correlation = np.corrcoef(Y.T)[i, j]
        assert data["strength"][k] == pytest.approx(abs(correlation), rel=1e-4)
        found.add((names[r], int(i), int(j)))
    edges = {
        (r, i, j)
        for r, A in graph.relations.items()
        for i, j in zip(*sp.triu(A).coords, strict=True)
    }
    assert found == edges
    assert data["counts"].tolist() == Y.sum(axis=0).tolist()
    assert [relation["n_links"] for relation in data["relations"]] == [
        sum(r == name for r, _, _ in edges) for name in names
    ]


def test_links_are_sorted_by_strength_and_the_page_says_how_many_were_left_out(tmp_path):
    graph = label_graph(Y, label_names=NAMES)
    _, whole = page_of(graph, tmp_path)
    assert (np.diff(whole["strength"]) <= 0).all()
    html, part = page_of(graph, tmp_path, max_links=1)
    assert len(part["source"]) == 1
    assert part["strength"][0] == whole["strength"][0]
    assert f"The graph has {len(whole['source'])} links; this page holds the 1 strongest" in html


def test_what_a_prior_does_not_know_is_left_out(tmp_path):
    _, data = page_of(LabelGraph(PRIOR, NAMES), tmp_path)
    for name in ("together", "log10_p", "counts", "nSamples"):
        assert data[name] is None
    assert sorted(data["strength"]) == [0.5, 1.0, 1.0]
    assert "weight" in data["strengthMeaning"]
    assert data["isWeighted"]


def test_a_prior_is_shown_with_the_counts_of_given_labels(tmp_path):
    _, data = page_of(LabelGraph(PRIOR, NAMES), tmp_path, Y)
    assert data["counts"].tolist() == Y.sum(axis=0).tolist()
    both = {
        (int(i), int(j)): n
        for i, j, n in zip(data["source"], data["target"], data["together"], strict=True)
    }
    assert both == {(0, 1): 12, (0, 2): 0, (1, 2): 6}
    learned = label_graph(Y, alpha=0.999).p_value
    expected = {pair: max(A[pair] for A in learned.values()) for pair in both}
    for k, (i, j) in enumerate(zip(data["source"], data["target"], strict=True)):
        assert 10.0 ** data["log10_p"][k] == pytest.approx(expected[i, j], rel=1e-3)


def test_a_link_in_one_direction_keeps_it(tmp_path):
    _, data = page_of(LabelGraph({"parent": PRIOR["parent"]}, NAMES), tmp_path)
    assert (data["out"].tolist(), data["back"].tolist()) == ([1.0], [0.0])
    _, data = page_of(LabelGraph({"parent": np.transpose(PRIOR["parent"])}, NAMES), tmp_path)
    assert (data["out"].tolist(), data["back"].tolist()) == ([0.0], [1.0])


def test_unknown_labels_leave_p_values_of_a_prior_out(tmp_path):
    partly = Y.astype(float)
    partly[0, 0] = np.nan
    _, data = page_of(LabelGraph(PRIOR, NAMES), tmp_path, partly)
    assert data["log10_p"] is None
    assert data["counts"].tolist() == [17, 18, 18]


def test_labels_of_other_rows_do_not_change_the_counts_of_a_graph(tmp_path):
    graph = label_graph(Y, label_names=NAMES)
    _, data = page_of(graph, tmp_path, Y[:6])
    assert data["nSamples"] == len(Y)
    assert data["counts"].tolist() == graph.counts.tolist()


def test_each_label_and_each_linked_pair_has_an_example_row(tmp_path):
    graph = label_graph(Y, label_names=NAMES, alpha=0.9)
    texts = [f"text {k}\n of {'many words ' * 40}" for k in range(len(Y))]
    _, data = page_of(graph, tmp_path, sp.csr_array(Y), texts)
    examples = [set(example["labels"]) for example in data["examples"]]
    for label in range(3):
        assert sum(label in labels for labels in examples) >= 3
    for i, j, n in zip(data["source"], data["target"], data["together"], strict=True):
        assert any({i, j} <= labels for labels in examples) == (n > 0)
    assert all(len(example["text"]) == 300 for example in data["examples"])
    assert data["examples"][0]["text"].startswith("text 0 of many")
    assert data["examples"][0]["text"].endswith("…")


def test_rows_without_texts_go_by_their_numbers(tmp_path):
    _, data = page_of(label_graph(Y), tmp_path, Y)
    assert data["examples"][0]["text"] == "row 0"


def test_columns_of_a_data_frame_are_matched_by_name(tmp_path):
    pd = pytest.importorskip("pandas")
    graph = LabelGraph(PRIOR, NAMES)
    _, data = page_of(graph, tmp_path, pd.DataFrame(Y, columns=NAMES)[NAMES[::-1]])
    assert data["counts"].tolist() == Y.sum(axis=0).tolist()


def test_constant_labels_and_graphs_without_links_are_shown(tmp_path):
    constant = np.column_stack([Y, np.ones(len(Y), dtype=int), np.zeros(len(Y), dtype=int)])
    prior = LabelGraph({"near": np.ones((5, 5))})
    _, data = page_of(prior, tmp_path, constant)
    assert np.isfinite(data["strength"]).all()
    _, data = page_of(LabelGraph({"near": np.zeros((2, 2))}), tmp_path)
    assert len(data["source"]) == 0


def test_many_labels_are_all_found_though_not_all_are_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr("sklearn_mrmp._pages.graph.MOST_DRAWN", 2)
    html, data = page_of(label_graph(Y, label_names=NAMES), tmp_path)
    assert len(data["drawn"]) == 2
    assert {data["source"][0], data["target"][0]} == set(data["drawn"])
    assert "the search finds all 3" in html


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((Y[:, :2],), {}, "2 labels, but the graph has 3"),
        ((None, ["a"]), {}, "give their labels Y"),
        ((Y, ["a"]), {}, "rows has 1 texts, but Y has 36 rows"),
        ((Y, Y), {}, "one text for each row"),
        ((), {"max_links": 0}, "max_links must be at least 1"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, arguments, options, message):
    with pytest.raises(ValueError, match=message):
        label_graph(Y).to_html(tmp_path / "graph.html", *arguments, **options)
    assert not (tmp_path / "graph.html").exists()
