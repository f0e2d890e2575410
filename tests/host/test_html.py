"""Tables for notebooks: plain, escaped, and without pandas."""

import builtins
from html.parser import HTMLParser

import numpy as np
import pytest

from sklearn_mrmp import LabelGraph, label_graph, tune_thresholds
from sklearn_mrmp._compare.report import ComparisonResult
from sklearn_mrmp._compare.run import ComparisonRun

ODD = '<b>a & "b"</b>'
Y = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]] * 4)


class Cells(HTMLParser):
    """The texts of a table by tag, and the tags that were opened."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.texts = [], {}
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.setdefault(self.tags[-1], []).append(data)


@pytest.fixture(autouse=True)
def _no_pandas(monkeypatch):
    imported = builtins.__import__

    def refuse(name, *args, **kwargs):
        assert name.partition(".")[0] != "pandas"
        return imported(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)


def comparison():
    scores = {"optimal": {"f1_micro": 0.5}}
    runs = [ComparisonRun(ODD, 0, scores, fit_time=2.0, predict_time=0.1)]
    runs.append(ComparisonRun("worse", 0, {"optimal": {"f1_micro": 0.25}}))
    runs.append(ComparisonRun("<bad>", 0, error="ValueError: <no>"))
    return ComparisonResult(runs, [ODD, "worse", "<bad>"], ["f1_micro"], ["optimal"])


def test_a_comparison_shows_its_table_with_the_best_in_bold_and_the_errors():
    table = Cells(comparison()._repr_html_())
    assert table.texts["th"][:3] == ["method", "decision", "miF1"]
    assert table.texts["b"] == ["0.500"]
    assert {ODD, "worse", "<bad>", "0.250", "error"} <= set(table.texts["td"])
    assert table.texts["p"] == ["<bad> failed: ValueError: <no>"]


def test_a_graph_shows_its_strongest_pairs_once():
    table = Cells(label_graph(Y, label_names=[ODD, "c", "d"])._repr_html_())
    assert "3 labels, 12 samples" in table.texts["caption"][0]
    assert table.tags.count("tr") == 1 + 3
    assert table.texts["td"][:4] == ["pulling", ODD, "c", "1"]
    assert "p" not in table.tags


def test_a_graph_of_many_edges_shows_some_of_each_relation_and_says_so():
    directed = np.triu(np.arange(64.0).reshape(8, 8), 1)
    table = Cells(LabelGraph({"<to>": directed, "near": np.ones((8, 8))})._repr_html_())
    assert table.tags.count("tr") == 1 + 2 * 5
    assert table.texts["td"][:4] == ["<to>", "6", "7", "55"]
    assert table.texts["p"] == ["<to>: the 5 strongest of 28", "near: the 5 strongest of 28"]


def test_thresholds_show_cut_score_and_plateau():
    S = np.where(Y > 0, 0.75, 0.25)
    table = Cells(tune_thresholds(Y, S, metrics="accuracy")._repr_html_())
    assert table.texts["td"] == ["accuracy", "0.5", "1", "(0.25, 0.75]"]
    table = Cells(tune_thresholds(Y, S, metrics="f1_micro", strategy="per_label")._repr_html_())
    assert table.texts["td"][1].endswith("(3 labels)")
