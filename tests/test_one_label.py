"""A matrix of one label is a label matrix: what goes in as a column comes out as one."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, get_scorer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB

from sklearn_mrmp import (
    MLARAMClassifier,
    MLKNNClassifier,
    SoftVotingMultilabelClassifier,
    TunedDecisionClassifier,
    compare_classifiers,
    load,
    save,
)
from tests.tiny import tiny

CLASSIFIERS = {
    "mrmp": tiny(),
    "mrmp, folds": tiny(cv=2, voters=("linear", "neighbors")),
    "ML-KNN": MLKNNClassifier(),
    "ML-ARAM": MLARAMClassifier(),
    "tuned": TunedDecisionClassifier(OneVsRestClassifier(LogisticRegression()), cv=3),
    "voting": SoftVotingMultilabelClassifier([("a", MLKNNClassifier()), ("b", GaussianNB())]),
}
ours = pytest.mark.parametrize("name", CLASSIFIERS)
pytestmark = pytest.mark.filterwarnings("ignore:A column-vector y")


@pytest.fixture(scope="module")
def rows():
    """Rows, and a label that half of them carry."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    return X, (X[:, [0]] + 0.3 * X[:, [1]] > 0).astype(int)


@ours
def test_a_column_comes_back_as_a_column(rows, name):
    X, Y = rows
    clf = CLASSIFIERS[name].fit(X, Y)
    assert clf.predict(X).shape == clf.predict_proba(X).shape == (80, 1)
    assert clf.predict(X).dtype == Y.dtype
    assert [values.tolist() for values in clf.classes_] == [[0, 1]]
    # The probability is that of the label: high where it is.
    P = clf.predict_proba(X)
    assert P[Y == 1].mean() > P[Y == 0].mean()


@ours
def test_a_sparse_column_comes_back_sparse(rows, name):
    X, Y = rows
    predicted = CLASSIFIERS[name].fit(X, sp.csr_array(Y)).predict(X)
    assert sp.issparse(predicted)
    assert predicted.shape == (80, 1)


@ours
def test_a_frame_of_one_column_keeps_its_name(rows, name):
    X, Y = rows
    clf = CLASSIFIERS[name].fit(X, pd.DataFrame(Y, columns=["spam"]))
    assert clf.label_names_.tolist() == ["spam"]


@ours
@pytest.mark.parametrize("value", [0, 1])
def test_a_label_that_is_always_the_same_is_expected_to_stay_so(rows, name, value):
    if name == "tuned":
        pytest.skip("logistic regression refuses a constant target")
    X, _ = rows
    clf = CLASSIFIERS[name].fit(X, np.full((80, 1), value))
    assert (np.abs(clf.predict_proba(X) - value) < 0.5).all()
    assert value or not clf.predict(X).any()


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        OneVsRestClassifier(LogisticRegression()),
        MultiOutputClassifier(GaussianNB()),
        RandomForestClassifier(5, random_state=0),
        MLKNNClassifier(),
    ],
)
def test_every_classifier_can_be_asked_about_one_label(rows, estimator):
    X, Y = rows
    clf = TunedDecisionClassifier(estimator, cv=2, random_state=0).fit(X, Y)
    assert clf.predict(X).shape == (80, 1)
    P = clf.predict_proba(X)
    assert P[Y == 1].mean() > P[Y == 0].mean()


@ours
@pytest.mark.parametrize("scoring", ["accuracy", "f1", "roc_auc", "average_precision"])
def test_scorers_know_what_a_column_means(rows, name, scoring):
    X, Y = rows
    assert 0 <= get_scorer(scoring)(CLASSIFIERS[name].fit(X, Y), X, Y) <= 1


@pytest.mark.parametrize("as_vector", [False, True], ids=["column", "vector"])
@pytest.mark.parametrize("cut", [0.01, 0.3, 0.99])
def test_a_cut_is_a_cut(rows, as_vector, cut):
    X, Y = rows
    clf = tiny(decision=cut).fit(X, Y.ravel() if as_vector else Y)
    P = clf.predict_proba(X)[:, [-1]]
    np.testing.assert_array_equal(clf.predict(X).reshape(-1, 1), cut <= P)


@pytest.mark.parametrize("as_vector", [False, True], ids=["column", "vector"])
def test_thresholds_are_tuned_for_one_label(rows, as_vector):
    X, Y = rows
    clf = tiny(cv=0.4).fit(X, Y.ravel() if as_vector else Y)
    assert set(clf.thresholds_) == {"accuracy", "f1_samples", "f1_micro", "f1_macro"}
    P = clf.predict_proba(X)[:, [-1]]
    for metric, cut in clf.thresholds_.items():
        clf.set_params(metric=metric, decision="threshold")
        np.testing.assert_array_equal(clf.predict(X).reshape(-1, 1), cut <= P)


def test_two_classes_are_decided_as_scikit_learn_wants_it_by_default(rows):
    X, Y = rows
    y = np.array(["ham", "spam"])[Y.ravel()]
    clf = tiny().fit(X, y)
    expected = clf.classes_[clf.predict_proba(X).argmax(axis=1)]
    np.testing.assert_array_equal(clf.predict(X), expected)
    assert set(clf.set_params(decision="threshold").predict(X)) <= {"ham", "spam"}


def test_a_cut_has_no_meaning_for_classes_that_exclude_each_other(rows):
    X, _ = rows
    clf = tiny(decision=0.9).fit(X, np.arange(80) % 3)
    with pytest.raises(ValueError, match=r"decision=0.9 .* 3 classes that exclude each other"):
        clf.predict(X)
    assert clf.thresholds_ == {}


def test_one_label_survives_a_model_file(rows, tmp_path):
    X, Y = rows
    for number, target in enumerate((Y, sp.csr_matrix(Y), Y.ravel())):
        clf = tiny(decision=0.3).fit(X, target)
        save(clf, tmp_path / f"{number}.mrmp")
        loaded = load(tmp_path / f"{number}.mrmp")
        expected, found = clf.predict(X), loaded.predict(X)
        assert type(found) is type(expected)
        assert (found != expected).sum() == 0


@pytest.mark.parametrize("metric", ["accuracy", "f1_samples", "f1_micro", "f1_macro"])
def test_the_score_of_one_label_is_that_of_the_metric(rows, metric):
    X, Y = rows
    clf = tiny(metric=metric).fit(X, Y)
    predicted, truth = clf.predict(X).ravel(), Y.ravel()
    expected = {
        "accuracy": (predicted == truth).mean(),
        "f1_samples": (predicted & truth).mean(),
    }.get(metric, f1_score(truth, predicted))
    assert clf.score(X, Y) == pytest.approx(expected)
    for same in (sp.csr_array(Y), Y.tolist(), Y.ravel(), pd.Series(Y.ravel())):
        assert clf.score(X, same) == pytest.approx(expected)


def test_held_out_rows_may_come_without_the_column(rows):
    X, Y = rows
    one, other = (
        tiny(cv=0.4).fit(X[:50], Y[:50], X_val=X[50:], y_val=y_val) for y_val in (Y[50:], Y[50:, 0])
    )
    assert one.thresholds_ == other.thresholds_


def test_classifiers_can_be_compared_on_one_label(rows):
    X, Y = rows
    metrics = ("accuracy", "f1_samples", "f1_micro", "f1_macro")
    compared = {"knn": MLKNNClassifier(), "logistic": LogisticRegression()}
    result = compare_classifiers(compared, X[:60], Y[:60], X[60:], Y[60:], isolate=False)
    assert not result.errors
    for run in result.runs:
        assert set(run.scores["threshold"]) == set(metrics)
        assert run.scores["threshold"]["f1_micro"] == run.scores["threshold"]["f1_macro"] > 0
