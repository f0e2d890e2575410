"""The neighbour path: who votes, how much, and that a row's votes depend on it alone."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._host import threads as _threads
from sklearn_mrmp._voters import neighbors as _neighbor_path
from sklearn_mrmp._voters.neighbors import NeighborPath


def bags(rng, n_samples, n_features=60):
    return sp.csr_array((rng.random((n_samples, n_features)) < 0.1) * 1.0)


def measurements(rng, n_samples, n_features=7):
    return sp.csr_array(rng.normal(size=(n_samples, n_features)))


@pytest.fixture(params=[bags, measurements])
def problem(request):
    rng = np.random.default_rng(0)
    X = request.param(rng, 120)
    Y = sp.csr_array((rng.random((120, 5)) < 0.3) * 1.0)
    return X[:90], Y[:90], X[90:], Y[90:]


def test_a_row_seen_before_gets_its_labels(problem):
    X, Y, X_valid, Y_valid = problem
    path = NeighborPath().fit(X, Y, X_valid, Y_valid)
    path.power_ = 64.0
    np.testing.assert_array_equal(path.logits(X) > 0, Y.toarray() > 0)


def test_a_row_depends_on_itself_alone(problem):
    path = NeighborPath().fit(*problem)
    together = path.logits(problem[2])
    alone = np.vstack([path.logits(problem[2][[i]]) for i in range(problem[2].shape[0])])
    np.testing.assert_array_equal(together, alone)


def test_a_path_fitted_again_knows_its_new_rows_alone(problem):
    X, Y, X_valid, Y_valid = problem
    path = NeighborPath().fit(*problem)
    path.logits(X_valid)
    path.fit(X[:40], Y[:40], X_valid, Y_valid)
    fresh = NeighborPath().fit(X[:40], Y[:40], X_valid, Y_valid)
    np.testing.assert_array_equal(path.logits(X_valid), fresh.logits(X_valid))


def test_blocks_change_nothing(problem, monkeypatch):
    whole = NeighborPath().fit(*problem)
    monkeypatch.setattr(_threads, "_BLOCK_NUMBERS", 4 * 90)
    monkeypatch.setattr(_threads, "_FEWEST_ROWS", 1)
    parts = NeighborPath().fit(*problem)
    assert parts.power_ == whole.power_
    np.testing.assert_array_equal(parts.logits(problem[2]), whole.logits(problem[2]))


def test_a_row_without_features_gets_the_frequencies():
    X, Y = sp.csr_array([[1.0, 0, 0, 0, 0, 0, 0, 0, 2.0]] * 4), sp.csr_array([[1.0, 0]] * 4)
    path = NeighborPath().fit(X, Y, X, Y)
    P = expit(path.logits(sp.csr_array((1, 9))))
    np.testing.assert_allclose(P, [[4.5 / 5, 0.5 / 5]], rtol=1e-6)


def test_the_power_with_the_smallest_held_out_loss_is_kept():
    rng = np.random.default_rng(0)
    X = bags(rng, 200, 30)
    # Labels of a row are its first features: near rows know more than far ones.
    Y = sp.csr_array(X.toarray()[:, :6])
    path = NeighborPath().fit(X[:150], Y[:150], X[150:], Y[150:])
    losses = {}
    for power in _neighbor_path._POWERS:
        path.power_, chosen = power, path.power_
        Z, truth = path.logits(X[150:]), Y[150:].toarray()
        losses[power] = np.logaddexp(0, Z).sum() - (Z * truth).sum()
        path.power_ = chosen
    assert path.power_ == min(losses, key=losses.get)


def test_refitting_keeps_the_power_and_takes_the_rows(problem):
    _, Y, X_valid, Y_valid = problem
    path = NeighborPath().fit(*problem)
    path.power_ = 16.0
    new = path.refit(X_valid, Y_valid)
    assert new.power_ == 16.0
    assert new.labels_.shape == Y_valid.shape
    assert path.labels_.shape == Y.shape


@pytest.mark.parametrize("limit", ["_MOST_ROWS", "_MOST_DENSE_VALUES"])
def test_of_very_many_rows_a_part_is_remembered(limit, monkeypatch):
    rng = np.random.default_rng(0)
    X, Y = measurements(rng, 50, 4), sp.csr_array(rng.integers(2, size=(50, 3)) * 1.0)
    monkeypatch.setattr(_neighbor_path, limit, 40 if limit == "_MOST_DENSE_VALUES" else 10)
    path = NeighborPath().fit(X, Y, X, Y)
    assert path.labels_.shape == (10, 3)
    assert path.logits(X).shape == (50, 3)


def test_huge_values_give_finite_logits(problem):
    path = NeighborPath().fit(*problem)
    huge = problem[2] * 1e300
    assert np.isfinite(path.logits(huge)).all()


def test_neighbours_can_be_left_out(related):
    clf = MrMPClassifier(d_model=8, max_epochs=1, neighbor_path=False, random_state=0)
    model = clf.fit(*related)._model
    assert model.neighbors is None
    assert model.weights[2] == 0.0


def test_neighbours_learn_from_the_held_out_rows_in_the_end(related):
    model = MrMPClassifier(d_model=8, max_epochs=1, random_state=0).fit(*related)._model
    assert model.neighbors.labels_.shape[0] == related[0].shape[0]


def test_a_label_that_all_rows_have_gets_finite_logits():
    """Sums of weights are rounded in different orders: shares must not pass 1."""
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.random((20_000, 3)) * (rng.random((20_000, 3)) < 0.2))
    Y = sp.csr_array(np.ones((20_000, 1)))
    path = NeighborPath().fit(X, Y, X[:50], Y[:50])
    assert np.isfinite(path.logits(X[:2000])).all()
