"""The page of a comparison, and the details of runs that it shows."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, precision_recall_fscore_support
from sklearn.multiclass import OneVsRestClassifier

from sklearn_mrmp import LabelGraph, TunedDecisionClassifier, compare_classifiers
from sklearn_mrmp._compare.details import CUTS, cut_curves
from sklearn_mrmp._decisions.sweep import METRICS, metric_value
from sklearn_mrmp.datasets import make_related_labels
from tests.pages.reading import block

NAMES = ["sea", "</script><b>ship", "desert", "sand", "salt"]
LOGISTIC = OneVsRestClassifier(LogisticRegression())


class Broken(DummyClassifier):
    def fit(self, X, y, sample_weight=None):
        raise ValueError("<broken>")


def compared(estimators, **options):
    X, Y, _ = make_related_labels(240, 5, random_state=0)
    data = X[:180], Y[:180], X[180:], Y[180:]
    return compare_classifiers(estimators, *data, isolate=False, **options), data


@pytest.fixture(scope="module")
def result():
    estimators = {"guess <1>": DummyClassifier(strategy="prior"), "logistic": LOGISTIC}
    return compared(estimators | {"broken": Broken()}, seeds=[3, 7])[0]


def page_of(result, tmp_path, **options):
    result.to_html(tmp_path / "report.html", **options)
    return (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_page_has_every_part_and_escapes_every_name(result, tmp_path):
    html = page_of(result, tmp_path, title="<i>t</i>", label_names=NAMES)
    parts = [
        "Scores",
        "Charts",
        "Decision curves",
        "Labels",
        "Label graph",
        "Settings and versions",
    ]
    places = [html.index(f"<h2>{part}</h2>") for part in parts]
    assert places == sorted(places)
    for text in ("<i>t", "</script><b>", "guess <1>", "<broken>"):
        assert text not in html
    assert "ValueError: &lt;broken&gt;" in html
    assert "3, 7" in html  # the seeds
    assert "LogisticRegression()" in html
    assert block(html, "graph-data")["names"] == NAMES


def test_results_of_labels_are_means_over_seeds_of_scikit_learn_s(tmp_path):
    seeds = [0, 1]
    result, (X, Y, X_test, Y_test) = compared({"a": LOGISTIC}, seeds=seeds, decisions="threshold")
    data = block(page_of(result, tmp_path), "results-data")
    counted = data["counted"].reshape(1, 4, 1, 3, 5)
    expected, ranked = [], []
    for run in result.runs:
        P, hits = None, run.details["counts"]["threshold"]["f1_macro"]
        rows = _fit_rows(len(Y), run.seed)
        P = LOGISTIC.fit(X[rows], Y[rows]).predict_proba(X_test)
        predicted = (run.details["thresholds"]["f1_macro"] <= P).astype(int)
        assert hits["hits"] == (Y_test * predicted).sum(axis=0).tolist()
        scores = precision_recall_fscore_support(
            Y_test, predicted, average=None, zero_division=np.nan
        )
        expected.append([scores[2], scores[0], scores[1]])
        ranked.append(average_precision_score(Y_test, P, average=None))
    shown = counted[0, data["metrics"].index("f1_macro"), 0]
    np.testing.assert_allclose(shown, np.mean(expected, axis=0), rtol=1e-5)
    np.testing.assert_allclose(data["ranked"], np.mean(ranked, axis=0), rtol=1e-4)
    np.testing.assert_array_equal(data["support"], Y_test.sum(axis=0))


def _fit_rows(n, seed):
    from sklearn.model_selection import train_test_split

    return train_test_split(np.arange(n), test_size=0.1, random_state=seed)[0]


def test_curves_are_the_metrics_at_each_cut():
    rng = np.random.default_rng(0)
    Y, P = rng.random((30, 4)) < 0.3, rng.random((30, 4)).round(1)
    for metric, values in cut_curves(Y, P, METRICS, CUTS).items():
        assert values == pytest.approx([metric_value(Y, cut <= P, metric) for cut in CUTS])


def test_a_classifier_that_tunes_its_own_decisions_has_details_too(tmp_path):
    tuned = TunedDecisionClassifier(LOGISTIC, cv=2, random_state=0)
    result, _ = compared({"tuned": tuned}, metrics=["f1_micro"])
    assert result.runs[0].details["thresholds"].keys() == set(METRICS)
    assert block(page_of(result, tmp_path), "results-data")["methods"] == ["tuned"]


def test_details_survive_the_file_and_runs_without_them_are_still_used(tmp_path):
    options = {"results_path": tmp_path / "runs.jsonl", "metrics": ["f1_micro"]}
    first, _ = compared({"a": LOGISTIC}, **options)
    again, _ = compared({"a": LOGISTIC}, **options)
    assert page_of(again, tmp_path) == page_of(first, tmp_path)
    record = json.loads((tmp_path / "runs.jsonl").read_text())
    del record["details"]
    (tmp_path / "runs.jsonl").write_text(json.dumps(record) + "\n")
    old, _ = compared({"a": LOGISTIC}, **options)
    assert old.to_markdown() == first.to_markdown()
    html = page_of(old, tmp_path)
    assert "Decision curves</h2>" not in html
    assert "label-results'" not in html
    assert "Label graph</h2>" in html


def test_weights_of_test_rows_count_in_the_results_of_labels():
    weights = np.ones(60)
    weights[:10] = 3
    weighted, (_, _, _, Y_test) = compared({"a": LOGISTIC}, sample_weight_test=weights)
    assert weighted.setting.support.tolist() == (weights @ Y_test).tolist()
    for by_metric in weighted.runs[0].details["counts"].values():
        for counts in by_metric.values():
            assert (np.array(counts["hits"]) <= weighted.setting.support).all()


def test_labels_that_no_row_carries_are_shown_without_a_warning(tmp_path, recwarn):
    X, Y, _ = make_related_labels(120, 3, random_state=0)
    Y[90:, 1] = 0
    data = X[:90], sp.csr_array(Y[:90]), X[90:], sp.csr_array(Y[90:])
    result = compare_classifiers({"a": LOGISTIC}, *data, isolate=False, decisions="optimal")
    assert result.runs[0].warnings == []
    data = block(page_of(result, tmp_path), "results-data")
    assert np.isnan(data["ranked"][1])
    assert not [w for w in recwarn if "ndefined" in str(w.message)]


def test_a_graph_can_be_given_or_left_out(result, tmp_path):
    assert "graph-data" not in page_of(result, tmp_path, graph=False)
    graph = LabelGraph({"near": np.ones((5, 5))}, NAMES)
    html = page_of(result, tmp_path, graph=graph, label_names=NAMES)
    assert block(html, "graph-data")["relations"][0]["name"] == "near"


def test_names_of_a_data_frame_are_kept(tmp_path):
    pd = pytest.importorskip("pandas")
    X, Y, _ = make_related_labels(120, 3, random_state=0)
    Y = pd.DataFrame(Y, columns=["x", "y", "z"])
    result = compare_classifiers(
        {"a": LOGISTIC}, X[:90], Y[:90], X[90:], Y[90:], isolate=False, metrics=["f1_micro"]
    )
    assert block(page_of(result, tmp_path), "results-data")["names"] == ["x", "y", "z"]


def test_a_result_made_by_hand_has_a_page_with_what_is_known(result, tmp_path):
    from sklearn_mrmp import ComparisonResult

    runs = [run for run in result.runs if run.error is None]
    plain = ComparisonResult(runs, ["guess <1>", "logistic"], result.metrics, result.decisions)
    html = page_of(plain, tmp_path)
    assert "Charts</h2>" in html
    assert "graph-data" not in html


def test_when_all_classifiers_fail_there_is_a_page_with_the_errors(tmp_path):
    result, _ = compared({"broken": Broken()})
    assert "&lt;broken&gt;" in page_of(result, tmp_path)


def test_wrong_numbers_of_names_are_refused(result, tmp_path):
    with pytest.raises(ValueError, match="2 label names for 5 labels"):
        result.to_html(tmp_path / "report.html", label_names=["a", "b"])
