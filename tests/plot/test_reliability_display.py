"""Reliability diagrams: what the curves are, and of which labels."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from sklearn_mrmp import MLKNNClassifier, ReliabilityDisplay
from sklearn_mrmp.datasets import make_related_labels

plt = pytest.importorskip("matplotlib.pyplot")
plt.switch_backend("Agg")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.fixture
def drawn():
    rng = np.random.RandomState(0)
    P = rng.rand(300, 4) * [0.05, 0.3, 0.6, 1.0]
    return (rng.rand(300, 4) < P).astype(int), P


def test_bins_of_equal_width_are_those_of_scikit_learn(drawn):
    Y, P = drawn
    display = ReliabilityDisplay.from_predictions(Y, P, n_bins=5, strategy="uniform")
    true, predicted = calibration_curve(Y.ravel(), P.ravel(), n_bins=5, strategy="uniform")
    found = display.curves["all labels"]
    np.testing.assert_allclose(found[0], predicted)
    np.testing.assert_allclose(found[1], true)
    assert found[2].sum() == Y.size


def test_bins_are_expected_to_hold_equally_many_true_entries(drawn):
    Y, P = drawn
    predicted, _, counts = ReliabilityDisplay.from_predictions(Y, P).curves["all labels"]
    np.testing.assert_allclose(predicted * counts, P.sum() / 10, rtol=0.05)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_the_error_is_the_distance_from_the_diagonal(strategy):
    Y = np.arange(100)[:, None] % 10 < [2, 8]
    exact = ReliabilityDisplay.from_predictions(Y, np.tile([0.2, 0.8], (100, 1)), strategy=strategy)
    assert exact.calibration_errors["all labels"] == pytest.approx(0)
    far = ReliabilityDisplay.from_predictions(Y, np.tile([0.8, 0.2], (100, 1)), strategy=strategy)
    assert far.calibration_errors["all labels"] == pytest.approx(0.6)


def test_groups_go_from_rare_to_frequent_labels(drawn):
    Y, P = drawn
    display = ReliabilityDisplay.from_predictions(Y, P, n_groups=2)
    assert list(display.lines_) == ["all labels", "rare (2 labels)", "frequent (2 labels)"]
    rare, frequent = (display.curves[name][0].max() for name in list(display.curves)[1:])
    assert rare <= 0.3 < frequent
    assert display.ax_.figure is display.figure_


@pytest.mark.parametrize("inner", [MLKNNClassifier(), RandomForestClassifier(5, random_state=0)])
def test_classifiers_of_both_shapes_and_pipelines_are_drawn(inner):
    pd = pytest.importorskip("pandas")
    X, Y, _ = make_related_labels(60, 3, n_features=10, random_state=0)
    clf = make_pipeline(MaxAbsScaler(), inner).fit(X, Y)
    _, ax = plt.subplots()
    display = ReliabilityDisplay.from_estimator(clf, X, Y, n_groups=3, ax=ax)
    assert display.ax_ is ax
    frame = pd.DataFrame(np.asarray(Y), columns=list("abc"))
    named = MLKNNClassifier().fit(X, frame)
    turned = ReliabilityDisplay.from_estimator(named, X, frame[["c", "a", "b"]])
    same = ReliabilityDisplay.from_estimator(named, X, frame)
    assert turned.calibration_errors == same.calibration_errors


def test_unknown_entries_are_left_out(drawn):
    Y, P = drawn
    known = ReliabilityDisplay.from_predictions(Y[:200], P[:200]).calibration_errors
    Y, P = Y.astype(float), P.copy()
    Y[200:250], P[250:] = np.nan, np.nan
    assert ReliabilityDisplay.from_predictions(Y, P).calibration_errors == pytest.approx(known)


@pytest.mark.parametrize("option", [{"n_bins": 0}, {"strategy": "equal"}, {"n_groups": 4}])
def test_other_options_are_refused(drawn, option):
    with pytest.raises(ValueError, match=next(iter(option))):
        ReliabilityDisplay.from_predictions(*drawn, **option)
