"""Voters: weights of rows equal repeated rows, and nothing is learned from unknown entries."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from sklearn_mrmp._input.features import FeatureInput
from sklearn_mrmp._input.rows import EncodedRows
from sklearn_mrmp._numerics.entry_weights import EntryWeights
from sklearn_mrmp._numerics.unknown import without_unknown
from sklearn_mrmp._voters.centroids import CentroidVoter
from sklearn_mrmp._voters.estimator import EstimatorVoter
from sklearn_mrmp._voters.linear import LinearVoter
from sklearn_mrmp._voters.logistic import LogisticDesign, log_loss, solve_logistic
from sklearn_mrmp._voters.neighbors import NeighborVoter


def encoded(problem, chosen, features):
    """Return some training rows in a representation that does not depend on which."""
    rows = EncodedRows.of(FeatureInput(), problem[0].X[chosen])
    rows.features = features
    return rows


@pytest.fixture
def problem(split):
    return split


@pytest.mark.parametrize("make", [LinearVoter, NeighborVoter, CentroidVoter])
def test_whole_weights_equal_repeated_rows(problem, make):
    rows, Y, rows_valid, Y_valid = problem
    counts = np.random.default_rng(0).integers(1, 4, len(rows)).astype(float)
    repeated = np.repeat(np.arange(len(rows)), counts.astype(int))
    weighted = make().fit(rows, Y, rows_valid, Y_valid, EntryWeights.of(rows=counts))
    again = encoded(problem, repeated, rows.features)
    expected = make().fit(again, Y[repeated], rows_valid, Y_valid)
    difference = np.abs(weighted.logits(rows_valid) - expected.logits(rows_valid))
    assert difference.max() < (0.02 if make is LinearVoter else 1e-3)


@pytest.mark.parametrize("make", [LinearVoter, NeighborVoter, CentroidVoter])
def test_unknown_entries_do_not_count_as_absent_labels(problem, make):
    rows, Y, rows_valid, Y_valid = problem
    rng = np.random.default_rng(0)
    known = [rng.random(part.shape) < 0.7 for part in (Y, Y_valid)]
    weights = [EntryWeights.of(part) for part in known]
    hidden = [without_unknown(*pair) for pair in zip((Y, Y_valid), known, strict=True)]
    full = make().fit(rows, Y, rows_valid, Y_valid).logits(rows_valid)
    partly = make().fit(rows, hidden[0], rows_valid, hidden[1], *weights).logits(rows_valid)
    as_zero = make().fit(rows, hidden[0], rows_valid, hidden[1]).logits(rows_valid)
    assert np.abs(partly - full).mean() < np.abs(as_zero - full).mean()
    assert as_zero.mean() < partly.mean() - 0.1


def test_a_label_is_solved_on_the_rows_in_which_it_is_known():
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.normal(size=(60, 4)).astype(np.float32))
    Y = sp.csr_array((rng.random((60, 3)) < 0.4).astype(np.int32))
    known = rng.random(Y.shape) < 0.7
    W, b = np.zeros((4, 3), np.float32), np.zeros(3, np.float32)
    weights = known.astype(np.float32)
    solve_logistic(LogisticDesign(X), without_unknown(Y, known), 1.0, W, b, 1e-5, weights)
    for label in range(3):
        some = np.flatnonzero(known[:, label])
        w, c = np.zeros((4, 1), np.float32), np.zeros(1, np.float32)
        solve_logistic(LogisticDesign(X[some]), Y[some][:, [label]], 1.0, w, c, 1e-5)
        np.testing.assert_allclose(W[:, label], w[:, 0], atol=1e-3)
        np.testing.assert_allclose(b[label], c[0], atol=1e-3)


def test_the_weighted_solution_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.random(80) < 0.4
    weights = rng.random(80) * 3
    W, b = np.zeros((3, 1), np.float32), np.zeros(1, np.float32)
    design, Y = LogisticDesign(sp.csr_array(X)), sp.csr_array(y[:, None].astype(int))
    solve_logistic(design, Y, 0.5, W, b, 1e-5, weights[:, None].astype(np.float32))
    expected = LogisticRegression(C=2.0, tol=1e-8).fit(X, y, weights)
    np.testing.assert_allclose(W[:, 0], expected.coef_[0], atol=1e-3)
    np.testing.assert_allclose(b, expected.intercept_, atol=1e-3)


def test_the_loss_of_weighted_entries_is_that_of_repeated_ones():
    rng = np.random.default_rng(0)
    Z, Y = rng.normal(size=(5, 3)), sp.csr_array(rng.integers(0, 2, (5, 3)))
    counts = np.array([1, 2, 3, 1, 2])
    repeated = np.repeat(np.arange(5), counts)
    assert log_loss(Z, Y, counts[:, None]) == pytest.approx(log_loss(Z[repeated], Y[repeated]))


def test_labels_of_larger_weight_are_penalised_less(problem):
    rows, Y, rows_valid, Y_valid = problem
    labels = np.ones(Y.shape[1])
    labels[0] = 10.0
    plain = LinearVoter().fit(rows, Y, rows_valid, Y_valid)
    weights = EntryWeights.of(labels=labels)
    weighted = plain.refit(rows, Y, weights=weights)
    norms = [np.linalg.norm(voter.coef_, axis=0) for voter in (plain, weighted)]
    assert norms[1][0] > 1.1 * norms[0][0]
    np.testing.assert_allclose(norms[1][1:], norms[0][1:], rtol=0.02)


def test_a_neighbour_whose_label_is_unknown_counts_neither_for_nor_against_it():
    X = np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]])
    Y = sp.csr_array([[1], [0], [0]])
    rows = EncodedRows.of(FeatureInput(), X).fit_encoder()
    known = np.array([[True], [False], [True]])
    voter = NeighborVoter()
    voter._remember(rows, Y, EntryWeights.of(known))
    nearest, similarities = np.array([[0, 1, 2]]), np.ones((1, 3), dtype=np.float32)
    without = voter._vote(similarities[:, [0, 2]], nearest[:, [0, 2]], 2.0)
    np.testing.assert_allclose(voter._vote(similarities, nearest, 2.0), without, rtol=1e-5)
    assert voter.similar_rows(rows) is None


def test_estimators_that_cannot_bear_it_are_refused(problem):
    forest = EstimatorVoter(OneVsRestClassifier(LogisticRegression()))
    known = np.ones(problem[1].shape, dtype=bool)
    known[0, 0] = False
    with pytest.raises(ValueError, match="cannot learn from unknown labels"):
        forest.fit(*problem, EntryWeights.of(known))
    with pytest.raises(ValueError, match="takes no sample_weight"):
        forest.fit(*problem, EntryWeights.of(rows=np.full(len(known), 2.0)))
