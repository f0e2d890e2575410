"""`LabelReport` and ``report`` of classifiers: each number, and what is not defined."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    f1_score,
    precision_recall_fscore_support,
)
from sklearn.multiclass import OneVsRestClassifier

from sklearn_mrmp import LabelCuts, LabelReport, TopK, TunedDecisionClassifier
from sklearn_mrmp.datasets import make_related_labels
from tests.pages.reading import block

RNG = np.random.default_rng(0)
Y = (RNG.random((60, 4)) < [0.5, 0.3, 0.2, 0.1]).astype(int)
P = np.clip(0.5 * Y + RNG.random(Y.shape) * 0.6, 0.01, 0.99)
PREDICTED = (P > 0.5).astype(int)
MEASURES = ("precision", "recall", "f1", "average_precision", "brier", "calibration_error")


def test_measures_are_those_of_scikit_learn():
    report = LabelReport.from_predictions(Y, PREDICTED, P)
    expected = precision_recall_fscore_support(Y, PREDICTED, average=None)
    for name, values in zip(("precision", "recall", "f1", "support"), expected, strict=True):
        np.testing.assert_allclose(getattr(report, name), values)
    ranked = average_precision_score(Y, P, average=None)
    np.testing.assert_allclose(report.average_precision, ranked)
    briers = [brier_score_loss(Y[:, j], P[:, j]) for j in range(4)]
    np.testing.assert_allclose(report.brier, briers)
    assert report.scores["f1_macro"] == pytest.approx(f1_score(Y, PREDICTED, average="macro"))


def test_calibration_error_is_the_weighted_distance_from_the_diagonal():
    report = LabelReport.from_predictions(Y, PREDICTED, P)
    for j in range(4):
        true, mean = calibration_curve(Y[:, j], P[:, j], n_bins=10)
        sizes = np.bincount((P[:, j] * 10).astype(int), minlength=10)
        error = np.abs(true - mean) @ sizes[sizes > 0] / len(Y)
        assert report.calibration_error[j] == pytest.approx(error)
    assert report.reliability[:, 0].sum() == Y.size
    assert report.reliability[:, 2].sum() == Y.sum()


def test_sparse_labels_give_the_same_report():
    dense = LabelReport.from_predictions(Y, PREDICTED, P)
    sparse = LabelReport.from_predictions(sp.csr_array(Y), sp.csc_array(PREDICTED), P)
    for name in MEASURES:
        np.testing.assert_array_equal(getattr(dense, name), getattr(sparse, name))
    assert str(dense) == str(sparse)


def test_labels_without_positives_are_nan_and_nobody_is_warned():
    empty, guessed = np.column_stack([Y, 0 * Y[:, :2]]), np.column_stack([PREDICTED, 0 * Y[:, :2]])
    guessed[0, 4] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = LabelReport.from_predictions(empty, guessed, np.column_stack([P, P[:, :2]]))
        text = str(report)
    assert np.isnan(report.recall[4:]).all()
    assert np.isnan(report.average_precision[4:]).all()
    assert (report.precision[4], report.f1[4]) == (0, 0)
    assert np.isnan([report.precision[5], report.f1[5]]).all()
    assert "nan" not in text


def test_unknown_entries_count_neither_as_right_nor_as_wrong():
    partly = Y.astype(float)
    partly[:30, 1] = np.nan
    report = LabelReport.from_predictions(partly, PREDICTED, P)
    known = LabelReport.from_predictions(Y[30:], PREDICTED[30:], P[30:])
    whole = LabelReport.from_predictions(Y, PREDICTED, P)
    for name in MEASURES:
        assert getattr(report, name)[1] == pytest.approx(getattr(known, name)[1])
        assert getattr(report, name)[0] == getattr(whole, name)[0]


def test_without_scores_there_is_no_ranking_and_no_calibration():
    report = LabelReport.from_predictions(Y, PREDICTED)
    assert np.isnan(report.average_precision).all()
    assert np.isnan(report.brier).all()
    np.testing.assert_array_equal(report.f1, LabelReport.from_predictions(Y, PREDICTED, P).f1)


def test_margins_are_ranked_but_not_calibrated():
    report = LabelReport.from_predictions(Y, PREDICTED, 10 * P - 5, probabilities=False)
    np.testing.assert_allclose(
        report.average_precision, average_precision_score(Y, P, average=None)
    )
    assert np.isnan(report.calibration_error).all()


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((Y, PREDICTED[:, :2]), {}, "Y_pred must have the shape of Y_true"),
        ((Y, PREDICTED, P[:10]), {}, "Y_score must have the shape of Y_true"),
        ((Y, PREDICTED, 3 * P), {}, "no probabilities; say probabilities=False"),
        ((Y, PREDICTED, P * np.nan), {}, "finite"),
        ((Y, PREDICTED), {"cuts": [0.5, 0.5]}, "cuts must be a number or 4 numbers"),
        ((Y, PREDICTED), {"label_names": ["a"]}, "1 label names for 4 labels"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        LabelReport.from_predictions(*arguments, **options)


def test_data_frames_are_matched_by_name():
    pd = pytest.importorskip("pandas")
    names = ["a", "b", "c", "d"]
    frame = pd.DataFrame(Y, columns=names)
    predicted = pd.DataFrame(PREDICTED, columns=names)[["d", "b", "a", "c"]]
    report = LabelReport.from_predictions(frame, predicted, P)
    assert report.label_names.tolist() == names
    np.testing.assert_array_equal(report.f1, LabelReport.from_predictions(Y, PREDICTED).f1)


def test_the_frame_has_a_row_for_each_label():
    pytest.importorskip("pandas")
    frame = LabelReport.from_predictions(Y, PREDICTED, P, cuts=0.5).to_frame()
    assert frame["label"].tolist() == ["0", "1", "2", "3"]
    assert (frame["cut"] == 0.5).all()
    assert frame["support"].tolist() == Y.sum(axis=0).tolist()


def test_print_and_notebooks_name_the_most_frequent_labels_and_how_many_are_left():
    wide, rows = (RNG.random((30, 25)) < np.linspace(0.1, 0.9, 25)).astype(int), range(25)
    report = LabelReport.from_predictions(wide, wide, label_names=[f"label{k}" for k in rows])
    for text in (str(report), report._repr_html_()):
        assert "label24" in text
        assert "and 5 labels with fewer rows" in text
        assert text.count("label") < 40
    assert len(str(report).splitlines()) == 1 + 1 + 20 + 1
    assert repr(report).startswith("LabelReport(30 rows, 25 labels; accuracy 1.000")


@pytest.fixture(scope="module")
def fitted():
    X, Y, _ = make_related_labels(200, 5, random_state=0)
    base = OneVsRestClassifier(LogisticRegression())
    return TunedDecisionClassifier(base, cv=2, random_state=0).fit(X, Y), X, Y


def test_a_classifier_reports_on_its_own_predictions(fitted):
    clf, X, Y = fitted
    report, same = clf.report(X, Y), LabelReport.from_predictions(Y, clf.predict(X))
    np.testing.assert_array_equal(report.f1, same.f1)
    for metric in ("f1_micro", "accuracy"):
        clf.set_params(metric=metric)
        assert clf.report(X, Y).scores[metric] == pytest.approx(clf.score(X, Y))
    clf.set_params(metric="f1_micro")
    assert "OneVsRestClassifier" in report.settings["classifier"]


@pytest.mark.parametrize(
    ("decision", "cut"),
    [(0.25, [0.25] * 5), (LabelCuts([0.1, 0.2, 0.3, 0.4, 0.5]), [0.1, 0.2, 0.3, 0.4, 0.5])],
)
def test_cuts_are_those_of_the_decision(fitted, decision, cut):
    clf, X, Y = fitted
    clf.set_params(decision=decision)
    report = clf.report(X, Y)
    clf.set_params(decision="optimal")
    np.testing.assert_allclose(report.cut, cut)
    predicted = clf.predict_proba(X) >= cut
    np.testing.assert_array_equal(report.n_predicted, predicted.sum(axis=0))


def test_decisions_without_a_cut_have_none(fitted):
    clf, X, Y = fitted
    clf.set_params(decision=TopK(2))
    report = clf.report(X, Y)
    clf.set_params(decision="optimal")
    assert np.isnan(report.cut).all()
    assert report.n_predicted.sum() == 2 * len(Y)


def test_a_classifier_without_probabilities_has_no_calibration():
    X, Y, _ = make_related_labels(120, 3, random_state=0)
    clf = TunedDecisionClassifier(OneVsRestClassifier(RidgeClassifier()), cv=2, random_state=0)
    report = clf.fit(X, Y).report(X, Y)
    assert np.isnan(report.brier).all()
    assert not np.isnan(report.average_precision).any()


def test_a_vector_of_classes_is_referred_to_scikit_learn(fitted):
    _, X, Y = fitted
    clf = TunedDecisionClassifier(LogisticRegression(), cv=2, random_state=0).fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="classification_report"):
        clf.report(X, Y[:, 0])


def test_a_network_reports_with_its_label_graph(tmp_path):
    from sklearn_mrmp import MrMPClassifier

    X, Y, _ = make_related_labels(80, 4, random_state=0)
    clf = MrMPClassifier(max_epochs=1, d_model=8, n_heads=1, voters=("network",), random_state=0)
    report = clf.fit(X, sp.csr_array(Y)).report(X, sp.csr_array(Y))
    np.testing.assert_array_equal(report.n_predicted, clf.predict(X).toarray().sum(axis=0))
    report.to_html(tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert block(html, "graph-data")["nSamples"] == report.graph.n_samples


def test_the_page_escapes_names_and_says_what_made_it(tmp_path):
    names = ["<b>bold</b>", "</script><script>bad()</script>", "c", "d"]
    settings = {"classifier": "Some(<x>)"}
    report = LabelReport.from_predictions(Y, PREDICTED, P, label_names=names, settings=settings)
    report.to_html(tmp_path / "report.html", title="<i>title</i>")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    for text in ("<b>bold", "<script>bad", "Some(<x>", "<i>title"):
        assert text not in html
    assert "Some(&lt;x&gt;)" in html
    assert "scikit-learn" in html
    assert "label-graph'" not in html  # there is no graph to show
