"""ML-ARAM: fuzzy ART by hand, a stored reference, sparse and hierarchical forms."""

import json
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import SkipTestWarning
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_estimator,
    check_param_validation,
)

from sklearn_mrmp._baselines import fuzzy_art as _fuzzy_art
from sklearn_mrmp._baselines import hyperboxes as _hyperboxes
from sklearn_mrmp._baselines.fuzzy_art import learn_boxes
from sklearn_mrmp._baselines.hyperboxes import Hyperboxes, activities, extensions
from sklearn_mrmp._baselines.mlaram import MLARAMClassifier
from sklearn_mrmp._baselines.unit_range import UnitRange
from sklearn_mrmp._tuned_decision.classifier import TunedDecisionClassifier

REFERENCE = json.loads((Path(__file__).parents[1] / "reference" / "baselines.json").read_text())
RUNS = [(case, run) for case in REFERENCE for run in case["mlaram"]]


@pytest.fixture(scope="module")
def data():
    X, Y = make_multilabel_classification(n_samples=90, n_features=12, n_classes=4, random_state=0)
    return X, Y


def complement(X):
    return np.hstack([X, 1 - X])


def dense(X):
    return X.toarray() if sp.issparse(X) else X


def naive_boxes(X, vigilance, learning_rate=1.0, n_epochs=1):
    """Fuzzy ART as its papers write it: complement coding, fuzzy AND, one input at a time."""
    weights = []
    for _ in range(n_epochs):
        for A in complement(X):
            ands = [np.minimum(A, w).sum() for w in weights]
            passing = [j for j, a in enumerate(ands) if a >= vigilance * A.sum() - 1e-9]
            if not passing:
                weights.append(A.copy())
                continue
            winner = max(passing, key=lambda j: ands[j] / (1e-13 + weights[j].sum()))
            w = weights[winner]
            weights[winner] = w + learning_rate * (np.minimum(A, w) - w)
    return np.array(weights)


@pytest.mark.parametrize("settings", [{}, {"cluster_vigilance": 0.5}], ids=["flat", "hierarchical"])
def test_common_checks_pass_without_exception(settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        check_estimator(MLARAMClassifier(**settings))
    check_param_validation("MLARAMClassifier", MLARAMClassifier(**settings))
    check_dataframe_column_names_consistency("MLARAMClassifier", MLARAMClassifier(**settings))


def test_prototypes_and_votes_follow_the_algorithm_computed_by_hand():
    # Two features, vigilance 0.75: a box may extend over 2 * 0.25 = 0.5 in sum.
    X = np.array([[0.0, 0.0], [0.2, 0.2], [0.4, 0.2], [1.0, 1.0], [0.8, 1.0]])
    Y = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1]])
    clf = MLARAMClassifier(vigilance=0.75, threshold=1.0).fit(X, Y)
    # The third row would make the first box 0.6 wide, so it founds a box of its own.
    np.testing.assert_allclose(clf._prototypes.low, [[0, 0], [0.4, 0.2], [0.8, 1.0]])
    np.testing.assert_allclose(clf._prototypes.high, [[0.2, 0.2], [0.4, 0.2], [1.0, 1.0]])
    np.testing.assert_array_equal(clf.prototype_sizes_, [2, 1, 2])
    # |w| = 1.6, 2, 1.8. The row (0.4, 0.4) is 0.4, 0.2 and 1.0 away from the boxes.
    activity = np.array([1.2 / 1.6, 1.8 / 2, 0.8 / 1.8])
    # (0.9 - 0.75) / 0.9 is within 1.0 * (0.9 - 0.444), (0.9 - 0.444) / 0.9 is not.
    row = clf._range.scale(np.array([[0.4, 0.4]]))
    np.testing.assert_allclose(activities(Hyperboxes.points(row), clf._prototypes, 0)[0], activity)
    np.testing.assert_allclose(clf.predict_proba([[0.4, 0.4]]), [[1, 0]], atol=1e-6)
    everyone = clone(clf).set_params(threshold=2.0).fit(X, Y)
    weights = activity * [2, 1, 2]
    np.testing.assert_allclose(
        everyone.predict_proba([[0.4, 0.4]])[0],
        [weights[:2].sum() / weights.sum(), weights[2] / weights.sum()],
    )


@pytest.mark.parametrize(("case", "run"), RUNS)
@pytest.mark.parametrize("container", [np.array, sp.csr_array], ids=["dense", "sparse"])
def test_neurons_and_decisions_equal_the_reference_package(case, run, container):
    X, X_test = container(case["X"]), container(case["X_test"])
    clf = MLARAMClassifier(run["vigilance"], run["threshold"]).fit(X, np.array(case["Y"]))
    low, high = dense(clf._prototypes.low), dense(clf._prototypes.high)
    np.testing.assert_allclose(np.hstack([low, 1 - high]), run["neurons"], atol=1e-12)
    np.testing.assert_array_equal(clf.label_counts_.toarray(), run["label_counts"])
    P, ranks = clf.predict_proba(X_test), np.array(run["ranks"])
    share = np.divide(ranks, ranks.max(axis=1, keepdims=True))
    np.testing.assert_allclose(P / P.max(axis=1, keepdims=True), share, atol=1e-6)
    # Of equal gaps the reference takes one by rounding; here it is always the upper one.
    gaps = -np.diff(-np.sort(-ranks, axis=1), axis=1)
    is_clear = np.isclose(gaps, gaps.max(axis=1, keepdims=True)).sum(axis=1) == 1
    assert is_clear.mean() > 0.9
    np.testing.assert_array_equal(
        clf.predict(X_test)[is_clear], np.array(run["predicted"])[is_clear]
    )


@pytest.mark.parametrize("vigilance", [0.5, 0.8, 0.95])
@pytest.mark.parametrize(("learning_rate", "n_epochs"), [(1.0, 1), (0.4, 3)])
@pytest.mark.parametrize("container", [np.array, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("buffer_cells", [2**20, 1], ids=["one block", "many blocks"])
def test_learned_boxes_equal_textbook_fuzzy_art(
    vigilance, learning_rate, n_epochs, container, buffer_cells, monkeypatch
):
    monkeypatch.setattr(_fuzzy_art, "_BUFFER_CELLS", buffer_cells)
    rng = np.random.default_rng(1)
    X = rng.random((100, 7)) * (rng.random((100, 7)) < 0.5)
    rows = np.arange(100)
    found = learn_boxes(
        Hyperboxes.points(container(X)), rows, vigilance, learning_rate, n_epochs
    ).boxes
    expected = naive_boxes(X, vigilance, learning_rate, n_epochs)
    np.testing.assert_allclose(
        np.hstack([dense(found.low), 1 - dense(found.high)]), expected, atol=1e-9
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.booleans())
def test_extension_is_what_complement_coding_says(seed, points, is_binary, is_signed):
    rng = np.random.default_rng(seed)
    corners = rng.random((2, 9, 6)) * (rng.random((2, 9, 6)) < 0.5)
    if is_binary:
        corners = (corners > 0).astype(float)
    if is_signed:
        corners -= corners.mean(axis=1, keepdims=True) * (rng.random(6) < 0.5)
    low, high = corners.min(axis=0), corners.max(axis=0)
    if points:
        high = low
    # In complement coding: |w| - |input ∧ w|; it may be moved, so signs do not matter.
    w = np.hstack([low, 1 - high])
    expected = w.sum(axis=1) - np.minimum(w[:4, None], w).sum(axis=2)
    for convert in (np.asarray, sp.csr_array):
        A = convert(low)
        boxes = Hyperboxes.points(A) if points else Hyperboxes(A, convert(high))
        np.testing.assert_allclose(extensions(boxes.take(slice(4)), boxes), expected, atol=1e-12)


def test_sparse_comparison_does_not_depend_on_chunks(monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.random((30, 8)) * (rng.random((30, 8)) < 0.4))
    boxes = Hyperboxes.points(X)
    whole = extensions(boxes, boxes)
    monkeypatch.setattr(_hyperboxes, "CACHE_NUMBERS", 64)
    np.testing.assert_allclose(extensions(boxes, boxes), whole)


def test_sparse_and_dense_rows_give_the_same_classifier(data):
    X, Y = data
    X = X.copy()
    X[:, 0] -= 3  # negative values
    X[:, 1] += 2  # never zero in training
    X_test = np.vstack([X[:20] * 1.7, np.zeros(12)])  # partly out of range
    expected = MLARAMClassifier(0.85).fit(X, Y).predict_proba(X_test)
    for fitted_on in (np.asarray, sp.csr_matrix, sp.csr_array):
        for asked_with in (np.asarray, sp.csr_matrix):
            clf = MLARAMClassifier(0.85).fit(fitted_on(X), Y)
            np.testing.assert_allclose(clf.predict_proba(asked_with(X_test)), expected)


def test_test_rows_are_scaled_as_training_rows_were(data):
    X, Y = data
    clf = MLARAMClassifier().fit(X * 1000 - 5, Y)
    together = clf.predict_proba(X * 1000 - 5)
    one_by_one = np.vstack([clf.predict_proba(row[None] * 1000 - 5) for row in X])
    np.testing.assert_allclose(one_by_one, together)
    np.testing.assert_allclose(together, MLARAMClassifier().fit(X, Y).predict_proba(X), atol=1e-6)


def test_global_scaling_keeps_the_relative_weight_of_features():
    X = np.array([[0.0, 0.0], [10.0, 1.0]])
    np.testing.assert_allclose(UnitRange.of(X).scale(X), [[0, 0], [1, 1]])
    np.testing.assert_allclose(UnitRange.of(X, per_feature=False).scale(X), [[0, 0], [1, 0.1]])
    Y = np.array([[1, 0], [0, 1]])
    P = [
        MLARAMClassifier(scaling=s, threshold=1).fit(X, Y).predict_proba([[4.0, 1.0]])
        for s in ("feature", "global")
    ]
    assert P[0][0, 1] > P[1][0, 1]


def test_sparse_rows_never_become_dense():
    n, d = 600, 20_000
    X = sp.random_array((n, d), density=20 / d, random_state=np.random.default_rng(0), format="csr")
    Y = np.tile([[1, 0], [0, 1], [1, 1]], (n // 3, 1))
    clf = MLARAMClassifier(vigilance=0.9999)
    tracemalloc.start()
    clf.fit(X, Y).predict(X[:50])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert clf.n_prototypes_ > n / 2
    assert peak < 0.4 * n * 2 * d * 8


@pytest.mark.parametrize(("vigilance", "n_prototypes"), [(0.0, 2), (1.0, 5)])
def test_extreme_vigilance_gives_one_prototype_per_label_set_or_per_distinct_row(
    vigilance, n_prototypes
):
    X = np.array([[0.0, 0.0], [1.0, 0.5], [0.3, 1.0], [0.3, 1.0], [0.7, 0.1], [0.2, 0.2]])
    Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [1, 0]])
    for container in (np.asarray, sp.csr_array):
        clf = MLARAMClassifier(vigilance).fit(container(X), Y)
        assert clf.n_prototypes_ == n_prototypes
        assert clf.prototype_sizes_.sum() == 6
        assert np.isfinite(clf.predict_proba(container(X))).all()


def test_labels_above_the_largest_gap_are_predicted():
    clf = MLARAMClassifier()
    P = np.array(
        [
            [0.9, 0.8, 0.2, 0.1],
            [0.9, 0.3, 0.2, 0.1],
            [0.5, 0.5, 0.5, 0.5],  # no gap: equal labels go together
            [1e-7, 1e-7, 1e-7, 1e-7],  # no label at all
            [0.75, 0.5, 0.25, 1e-7],  # equal gaps: the upper one
        ]
    )
    expected = [[1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0], [1, 0, 0, 0]]
    np.testing.assert_array_equal(clf._predict_labels(P, X=None), np.array(expected, dtype=bool))


def test_threshold_changes_predictions_without_a_new_fit(data):
    X, Y = data
    clf = MLARAMClassifier(vigilance=0.95, threshold=0.0).fit(X, Y)
    np.testing.assert_array_equal(clf.predict(X), Y)  # every row wins its own prototype
    prior = clf.set_params(threshold=100.0).predict_proba(X)
    assert np.ptp(prior, axis=0).max() < 0.1  # everybody votes


def test_second_layer_searching_every_cluster_changes_nothing(data):
    X, Y = data
    flat = MLARAMClassifier(threshold=0.1).fit(X, Y)
    for container in (np.asarray, sp.csr_array):
        clf = MLARAMClassifier(threshold=0.1, cluster_vigilance=0.6, n_search_clusters=10_000)
        clf.fit(container(X), Y)
        assert 1 < clf.n_clusters_ < clf.n_prototypes_
        np.testing.assert_allclose(clf.predict_proba(container(X)), flat.predict_proba(X))


def test_second_layer_asks_only_prototypes_of_the_best_clusters(data):
    X, Y = data
    clf = MLARAMClassifier(cluster_vigilance=0.6, n_search_clusters=1).fit(X, Y)
    asked = clf._cluster_activities(Hyperboxes.points(clf._range.scale(X[:5])))
    sizes = {len(members) for members in clf._members}
    assert set(np.diff(asked.indptr).tolist()) <= sizes
    assert clf.predict(X).shape == Y.shape


def test_slow_learning_takes_several_epochs_and_fast_learning_one(data):
    X, Y = data
    slow = MLARAMClassifier(0.7, n_epochs=5, learning_rate=0.3).fit(X, Y)
    assert slow.n_iter_ == 5
    fast = MLARAMClassifier(0.7, n_epochs=5).fit(X, Y)
    assert fast.n_iter_ == 2  # the second one found nothing to change
    assert fast.n_prototypes_ == MLARAMClassifier(0.7).fit(X, Y).n_prototypes_
    assert slow.prototype_sizes_.sum() == fast.prototype_sizes_.sum() == len(X)


def test_sparse_target_gives_sparse_predictions_and_is_not_changed(data):
    X, Y = data
    before = Y.copy()
    predicted = MLARAMClassifier().fit(X, sp.csr_array(Y)).predict(X)
    assert sp.issparse(predicted)
    np.testing.assert_array_equal(predicted.toarray(), MLARAMClassifier().fit(X, Y).predict(X))
    np.testing.assert_array_equal(Y, before)


def test_grid_search_over_the_parameters_works(data):
    X, Y = data
    grid = {"vigilance": [0.7, 0.9], "threshold": [0.02, 0.2]}
    search = GridSearchCV(MLARAMClassifier(), grid, scoring="f1_micro", cv=2).fit(X, Y)
    assert search.best_score_ > 0.3


@pytest.mark.parametrize("metric", ["accuracy", "f1_micro"])
def test_tuned_decisions_work_around_it(data, metric):
    X, Y = data
    clf = TunedDecisionClassifier(MLARAMClassifier(), metric=metric).fit(X, Y)
    assert clf.predict(X).shape == Y.shape
