"""Pages of reports and comparisons, used as a person would; they must be quiet."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from sklearn_mrmp import LabelReport, compare_classifiers, label_graph
from sklearn_mrmp.datasets import make_related_labels

EVIL = "</script><script>window.bad = 1</script>"
NAMES = ["sea", "ship", "desert", "sand", EVIL, "salt"]


def column(page, table, number):
    cells = page.locator(f"{table} tbody tr:visible td:nth-child({number})")
    return cells.all_inner_texts()


def numbers(texts):
    return [float(text) for text in texts if text != "–"]


@pytest.fixture
def label_page(open_page, tmp_path):
    _, Y, _ = make_related_labels(100, 6, random_state=0)
    Y[:, 3] = 0
    P = np.clip(0.6 * Y + 0.4 * np.random.default_rng(0).random(Y.shape), 0, 1)
    graph = label_graph(Y, label_names=NAMES)
    report = LabelReport.from_predictions(Y, P > 0.5, P, label_names=NAMES, graph=graph)
    report.to_html(tmp_path / "report.html")
    return open_page(tmp_path / "report.html")


def test_the_table_of_labels_sorts_and_what_is_missing_stays_last(label_page):
    table, page = "table.filtered", label_page
    assert page.evaluate("window.bad") is None
    page.locator(f"{table} th", has_text="recall").click()
    falling = column(page, table, 5)
    assert numbers(falling) == sorted(numbers(falling), reverse=True)
    assert falling[-1] == "–"
    page.locator(f"{table} th", has_text="recall").click()
    rising = column(page, table, 5)
    assert numbers(rising) == sorted(numbers(rising))
    assert rising[-1] == "–"
    page.locator(f"{table} th", has_text="label").click()
    assert column(page, table, 1)[1:4] == ["desert", "salt", "sand"]


def test_the_table_of_labels_filters(label_page):
    label_page.fill("input[type=search] >> nth=0", "SA")
    assert sorted(column(label_page, "table.filtered", 1)) == ["salt", "sand"]


def test_the_report_shows_the_graph_and_charts(label_page):
    assert label_page.locator(".label-graph").get_attribute("data-labels") == "6"
    assert label_page.locator("svg circle").count() > 6


@pytest.fixture(scope="module")
def result():
    X, Y, _ = make_related_labels(200, 6, random_state=0)
    estimators = {
        "guess": DummyClassifier(strategy="prior"),
        EVIL: OneVsRestClassifier(LogisticRegression()),
    }
    return compare_classifiers(estimators, X[:150], Y[:150], X[150:], Y[150:], isolate=False)


@pytest.fixture
def page(open_page, tmp_path, result):
    result.to_html(tmp_path / "comparison.html", label_names=NAMES)
    return open_page(tmp_path / "comparison.html")


RESULTS = ".label-results table"


def test_the_table_of_scores_sorts(page):
    assert page.evaluate("window.bad") is None
    table = "section:first-of-type table"
    page.locator(f"{table} th", has_text="miF1").click()
    shown = numbers(column(page, table, 5))
    assert shown == sorted(shown, reverse=True)


def test_results_of_labels_change_with_the_measure_and_the_operating_point(page, result):
    assert column(page, RESULTS, 2) == sorted(column(page, RESULTS, 2), key=int, reverse=True)
    counts = result.runs[1].details["counts"]["threshold"]["f1_micro"]
    page.select_option("select[name=measure]", "recall")
    page.select_option("select[name=decision]", "threshold")
    page.select_option("select[name='tuned for']", "f1_micro")
    label = NAMES.index("ship")
    row = page.locator(f"{RESULTS} tr", has_text="ship")
    expected = counts["hits"][label] / result.setting.support[label]
    assert float(row.locator("td").nth(3).inner_text()) == pytest.approx(expected, abs=6e-4)
    page.select_option("select[name=measure]", "average precision")
    assert page.locator("select[name=decision]").is_disabled()
    expected = result.runs[1].details["average_precision"][label]
    assert float(row.locator("td").nth(3).inner_text()) == pytest.approx(expected, abs=6e-4)


def test_results_of_labels_sort_and_keep_their_filter(page):
    page.locator(f"{RESULTS} th").nth(3).click()
    shown = numbers(column(page, RESULTS, 4))
    assert shown == sorted(shown, reverse=True)
    page.fill(".label-results input[type=search]", "sa")
    assert sorted(column(page, RESULTS, 1)) == ["salt", "sand"]
    page.select_option("select[name=measure]", "precision")
    assert sorted(column(page, RESULTS, 1)) == ["salt", "sand"]


def test_a_label_leads_to_its_neighbours_in_the_graph(page):
    page.locator(f"{RESULTS} .name", has_text="ship").click()
    assert page.locator(".label-graph").get_attribute("data-focus") == "ship"
