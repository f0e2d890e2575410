"""ML-KNN: the paper's tables by hand, a stored reference, and the neighbour search."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import SkipTestWarning
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_estimator,
    check_param_validation,
)

from sklearn_mrmp._baselines.mlknn import MLKNNClassifier
from sklearn_mrmp._baselines.sparse_neighbors import SparseNeighbors
from sklearn_mrmp._tuned_decision.classifier import TunedDecisionClassifier

REFERENCE = json.loads((Path(__file__).parents[1] / "reference" / "baselines.json").read_text())
RUNS = [(case, run) for case in REFERENCE for run in case["mlknn"]]


@pytest.fixture(scope="module")
def data():
    X, Y = make_multilabel_classification(n_samples=80, n_features=12, n_classes=5, random_state=0)
    return X, Y


def test_common_checks_pass_without_exception():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        check_estimator(MLKNNClassifier())
    check_param_validation("MLKNNClassifier", MLKNNClassifier())
    check_dataframe_column_names_consistency("MLKNNClassifier", MLKNNClassifier())


def test_tables_and_posterior_follow_the_papers_formulas_computed_by_hand():
    # Rows on a line with one label: 0, 1, 2 have it, 10 and 11 have not; k = 2, s = 1.
    X = np.array([[0.0], [1.0], [2.1], [10.0], [11.1]])
    Y = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1]])
    clf = MLKNNClassifier(n_neighbors=2).fit(X, Y)
    # Neighbours: 0 -> 1, 2; 1 -> 0, 2; 2.1 -> 1, 0; 10 -> 11.1, 2.1; 11.1 -> 10, 2.1.
    # Label 0 is had by 3 of 5 rows, each with 2 such neighbours; the other two rows see 1.
    assert clf.prior_[0] == pytest.approx((1 + 3) / (2 + 5))
    np.testing.assert_allclose(clf.likelihood_[1, 0], [1 / 6, 1 / 6, 4 / 6])
    np.testing.assert_allclose(clf.likelihood_[0, 0], [1 / 5, 3 / 5, 1 / 5])
    yes, no = 4 / 7 * 4 / 6, 3 / 7 * 1 / 5
    P = clf.predict_proba([[0.4]])
    assert P[0, 0] == pytest.approx(yes / (yes + no))
    assert clf.predict([[0.4]])[0, 0] == 1


@pytest.mark.parametrize(("case", "run"), RUNS)
@pytest.mark.parametrize("container", [np.array, sp.csr_array], ids=["dense", "sparse"])
def test_tables_and_decisions_equal_the_reference_package(case, run, container):
    X, X_test = container(case["X"]), container(case["X_test"])
    clf = MLKNNClassifier(n_neighbors=run["k"], smoothing=run["s"]).fit(X, np.array(case["Y"]))
    np.testing.assert_allclose(clf.prior_, run["prior"])
    np.testing.assert_allclose(clf.likelihood_[1], run["conditional_true"])
    np.testing.assert_allclose(clf.likelihood_[0], run["conditional_false"])
    np.testing.assert_allclose(clf.predict_proba(X_test), run["probability"])
    np.testing.assert_array_equal(clf.predict(X_test), run["predicted"])


def test_a_training_row_is_not_its_own_neighbour_even_among_duplicates():
    # Each row has one duplicate with the opposite label: counting itself would give certainty.
    X = np.repeat(np.arange(6.0)[:, None] * 10, 2, axis=0)
    Y = np.tile([[1, 0], [0, 1]], (6, 1))
    for X_any in (X, sp.csr_array(X)):
        clf = MLKNNClassifier(n_neighbors=1).fit(X_any, Y)
        np.testing.assert_allclose(clf.likelihood_[1], [[7 / 8, 1 / 8]] * 2)


def test_tie_of_the_posterior_is_decided_for_the_label():
    X, Y = np.arange(4.0)[:, None], np.array([[1, 0], [0, 1], [1, 0], [0, 1]])
    clf = MLKNNClassifier(n_neighbors=3).fit(X, Y)
    clf.posterior_[:] = 0.5
    np.testing.assert_array_equal(clf.predict([[0.0]]), [[1, 1]])


def test_more_neighbours_than_other_rows_means_all_other_rows(data):
    X, Y = data[0][:6], data[1][:6]
    many, all_others = MLKNNClassifier(n_neighbors=100), MLKNNClassifier(n_neighbors=5)
    np.testing.assert_array_equal(
        many.fit(X, Y).predict_proba(X), all_others.fit(X, Y).predict_proba(X)
    )
    assert many.n_neighbors_ == 5


def test_one_row_is_refused():
    with pytest.raises(ValueError, match="1 sample"):
        MLKNNClassifier().fit([[1.0, 2.0]], [[1, 0]])


def test_probability_is_constant_when_a_label_is_never_or_always_present(data):
    X, Y = data[0], data[1].copy()
    Y[:, 0], Y[:, 1] = 0, 1
    P = MLKNNClassifier(n_neighbors=4).fit(X, Y).predict_proba(X)
    assert np.all(P[:, 0] < 0.02)
    assert np.all(P[:, 1] > 0.98)


@pytest.mark.parametrize("fitted_on", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("asked_with", [np.asarray, sp.csr_matrix])
def test_sparse_and_dense_rows_may_be_mixed(data, fitted_on, asked_with):
    X, Y = data[0] + np.linspace(0, 0.1, 80)[:, None], data[1]  # no equal distances
    expected = MLKNNClassifier(algorithm="kd_tree").fit(X, Y).predict_proba(X)
    clf = MLKNNClassifier().fit(fitted_on(X), Y)
    np.testing.assert_allclose(clf.predict_proba(asked_with(X)), expected)


def test_sparse_target_gives_sparse_predictions_of_the_same_values(data):
    X, Y = data
    dense = MLKNNClassifier().fit(X, Y).predict(X)
    sparse = MLKNNClassifier().fit(X, sp.csr_matrix(Y)).predict(X)
    assert sp.issparse(sparse)
    np.testing.assert_array_equal(sparse.toarray(), dense)


def test_metric_and_algorithm_reach_scikit_learns_search(data):
    X, Y = data
    clf = MLKNNClassifier(metric="manhattan", algorithm="ball_tree").fit(X, Y)
    assert isinstance(clf._neighbors, NearestNeighbors)
    euclidean = MLKNNClassifier(algorithm="ball_tree").fit(X, Y)
    assert not np.allclose(clf.predict_proba(X), euclidean.predict_proba(X))


def test_grid_search_over_the_parameters_works(data):
    X, Y = data
    grid = {"n_neighbors": [3, 9], "smoothing": [0.1, 1.0]}
    search = GridSearchCV(MLKNNClassifier(), grid, scoring="f1_micro", cv=2).fit(X, Y)
    assert search.best_score_ > 0.3


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", "jaccard"])
def test_sparse_search_finds_rows_at_the_smallest_distances(metric):
    rng = np.random.default_rng(0)
    X = rng.random((60, 15)) * (rng.random((60, 15)) < 0.3)
    X[7] = X[8] = 0  # empty rows must work
    queries = np.vstack([X[:10] * 2, np.zeros(15)])
    found = SparseNeighbors(6, metric).fit(sp.csr_array(X)).kneighbors(sp.csr_array(queries))
    A, B = (X > 0, queries > 0) if metric == "jaccard" else (X, queries)
    D = pairwise_distances(B, A, metric=metric)
    np.testing.assert_allclose(
        np.take_along_axis(D, found, axis=1), np.sort(D, axis=1)[:, :6], atol=1e-12
    )


def test_sparse_search_takes_the_first_of_rows_at_the_same_distance():
    X = sp.csr_array(np.eye(8))
    found = SparseNeighbors(3).fit(X).kneighbors()
    np.testing.assert_array_equal(found[0], [1, 2, 3])
    np.testing.assert_array_equal(found[5], [0, 1, 2])


def test_sparse_search_does_not_depend_on_chunks_or_threads(data, monkeypatch):
    X = sp.csr_array(data[0])
    whole = SparseNeighbors(5).fit(X).kneighbors()
    monkeypatch.setattr("sklearn_mrmp._baselines.sparse_neighbors.CACHE_NUMBERS", 200)
    np.testing.assert_array_equal(SparseNeighbors(5, n_jobs=2).fit(X).kneighbors(), whole)


@pytest.mark.parametrize("metric", ["accuracy", "f1_micro"])
def test_tuned_decisions_work_around_it(data, metric):
    X, Y = data
    clf = TunedDecisionClassifier(MLKNNClassifier(), metric=metric).fit(X, Y)
    assert clf.predict(X).shape == Y.shape
