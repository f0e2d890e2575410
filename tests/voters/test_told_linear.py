"""Voters that look at told labels: the regression that reads them, and neighbours that doubt."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp._numerics.entry_weights import EntryWeights
from sklearn_mrmp._numerics.told import random_telling
from sklearn_mrmp._voters.linear import LinearVoter
from sklearn_mrmp._voters.logistic import LogisticDesign, solve_logistic
from sklearn_mrmp._voters.neighbors import NeighborVoter
from sklearn_mrmp._voters.told_linear import ToldLinearVoter
from tests.tiny import feature_rows


@pytest.fixture(scope="module")
def twins():
    """Rows that say nothing, and two labels that always come together, with a third alone."""
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.random((300, 8)) * (rng.random((300, 8)) < 0.5))
    first, third = rng.random(300) < 0.4, rng.random(300) < 0.4
    return feature_rows(X), sp.csr_array(np.column_stack([first, first, third]), dtype=np.int32)


@pytest.fixture(scope="module")
def reader(twins):
    rows, Y = twins
    plain = LinearVoter().fit(rows, Y, rows, Y)
    return ToldLinearVoter().fit(plain, rows, Y, 0.5, np.random.default_rng(0))


def telling(*signs):
    return sp.csr_array(np.float32([signs]))


def test_a_regression_learns_what_a_told_label_says(twins, reader):
    rows, _ = twins
    row = np.array([0])
    up, down, nothing = (reader.logits(rows, telling(sign, 0, 0), row)[0] for sign in (1, -1, 0))
    assert up[1] > nothing[1] + 2
    assert down[1] < nothing[1] - 0.5
    assert abs(up[2] - nothing[2]) < 0.5


def test_no_label_reads_what_is_told_of_itself(twins, reader):
    rows, _ = twins
    up, down = (reader.logits(rows, telling(sign, 0, 0), np.array([5]))[0] for sign in (1, -1))
    assert up[0] == down[0]


def test_fixed_weights_stay_what_they_are():
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.normal(size=(60, 4)), dtype=np.float32)
    Y = sp.csr_array(X.toarray()[:, :2] > 0, dtype=np.int32)
    fixed = np.zeros((4, 2), dtype=bool)
    fixed[0, 0] = True
    W, b = np.zeros((4, 2), np.float32), np.zeros(2, np.float32)
    solve_logistic(LogisticDesign(X), Y, 1.0, W, b, fixed=fixed)
    assert W[0, 0] == 0
    others = np.zeros((3, 1), np.float32), np.zeros(1, np.float32)
    solve_logistic(LogisticDesign(X[:, 1:]), Y[:, :1], 1.0, *others)
    np.testing.assert_allclose(W[1:, :1], others[0], atol=1e-3)
    assert W[1, 1] > 0


def test_unknown_labels_and_weights_are_taken_into_the_regression(twins):
    rows, Y = twins
    known = np.random.default_rng(2).random(Y.shape) < 0.8
    weights = EntryWeights.of(known=known, rows=np.linspace(0.5, 2, 300))
    Y = sp.csr_array(Y.toarray() * known)
    plain = LinearVoter().fit(rows, Y, rows, Y, weights, weights)
    voter = ToldLinearVoter().fit(plain, rows, Y, 0.5, np.random.default_rng(0), weights)
    up, nothing = (voter.logits(rows, telling(s, 0, 0), np.array([0]))[0] for s in (1, 0))
    assert up[1] > nothing[1] + 2


@pytest.fixture
def neighbors(split):
    return NeighborVoter().fit(*split), split[2], split[3]


def test_neighbours_that_agree_or_are_not_doubted_vote_as_ever(neighbors):
    voter, rows, Y = neighbors
    told = random_telling(Y, 0.5, np.random.default_rng(0))
    chosen = np.arange(len(rows))
    plain = voter.logits(rows)
    np.testing.assert_array_equal(voter.told_logits(rows, told, [1.0], chosen)[0], plain)
    nothing = sp.csr_array(Y.shape, dtype=np.float32)
    np.testing.assert_array_equal(voter.told_logits(rows, nothing, [0.1], chosen)[0], plain)


def test_contradictions_are_counted(neighbors):
    voter, _, _ = neighbors
    told = np.float32([[1, -1, 0, 0, 1, 0]])
    found = voter._contradictions(sp.csr_array(told), np.array([[3, 5, 7]]))
    theirs = voter.labels_.toarray()[[3, 5, 7]]
    expected = (theirs[:, [0, 4]] == 0).sum(axis=1) + theirs[:, 1]
    assert found.tolist() == [expected.tolist()]


def test_an_unknown_label_of_a_neighbour_contradicts_nothing(split):
    rows, Y, *_ = split
    known = np.ones(Y.shape, dtype=bool)
    known[4, 2] = False
    Y = sp.csr_array(Y.toarray() * known)
    voter = NeighborVoter()
    voter._remember(rows, Y, EntryWeights.of(known=known))
    told = np.zeros((1, 6), np.float32)
    told[0, 2] = 1
    assert voter._contradictions(sp.csr_array(told), np.array([[4]])) == [[0]]


def test_neighbours_with_a_told_label_count_more(neighbors):
    voter, rows, Y = neighbors
    told = np.zeros(Y.shape, np.float32)
    told[:, 0] = 1
    (doubted,) = voter.told_logits(rows, sp.csr_array(told), [0.1], np.arange(len(rows)))
    assert (doubted[:, 0] >= voter.logits(rows)[:, 0] - 1e-5).all()
    assert doubted[:, 0].mean() > voter.logits(rows)[:, 0].mean()
