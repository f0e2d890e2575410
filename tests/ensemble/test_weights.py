"""Weights of votes: a convex problem, and who is not there has none."""

import numpy as np
import pytest
from scipy.special import expit

from sklearn_mrmp._ensemble.weights import Votes, label_shifts, vote_weights, weighted


@pytest.fixture
def truth():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(800, 5)) * 2 - 1
    return Z, (rng.random(Z.shape) < expit(Z)).astype(float), rng


def test_voters_that_are_not_there_weigh_nothing(truth):
    Z, Y, _ = truth
    weights = vote_weights([(Votes(None, neighbors=Z), Y)])
    assert weights[:2] == (0.0, 0.0)
    assert weights[2] == pytest.approx(1, abs=0.1)


def test_a_frequency_that_two_voters_count_is_counted_once(truth):
    _, _, rng = truth
    log_odds = np.array([-3.0, -2.0, -1.0, 0.0, 1.0])
    evidence = rng.normal(size=(2, 4000, 5))
    Y = (rng.random((4000, 5)) < expit(evidence.sum(axis=0) + log_odds)).astype(float)
    votes = Votes(evidence[0] + log_odds, linear=evidence[1] + log_odds, log_odds=log_odds)
    weights = vote_weights([(votes, Y)])
    np.testing.assert_allclose(weights, [1, 1, 0, -1], atol=0.12)


def test_no_other_weights_have_a_smaller_loss(truth):
    Z, Y, rng = truth
    votes = Votes(Z + rng.normal(size=Z.shape), linear=Z + rng.normal(size=Z.shape))
    best = vote_weights([(votes, Y)])

    def loss(weights):
        z = weights[0] * votes.networks + weights[1] * votes.linear
        pull = np.array(weights[:2]) - 0.5
        return np.logaddexp(0, z).sum() - (z * Y).sum() + 10 * (pull @ pull)

    for change in rng.normal(scale=0.05, size=(20, 2)):
        assert loss(best) <= loss([best[0] + change[0], best[1] + change[1]]) + 1e-6


def test_blocks_of_evidence_are_one(truth):
    Z, Y, rng = truth
    other = rng.normal(size=Z.shape)
    whole = vote_weights([(Votes(Z, linear=other), Y)])
    parts = [(Votes(Z[i::2], linear=other[i::2]), Y[i::2]) for i in range(2)]
    np.testing.assert_allclose(vote_weights(parts), whole, atol=1e-4)


def test_shortlisted_votes_are_those_of_the_candidates():
    Z = np.arange(6, dtype=np.float32).reshape(2, 3)
    votes = Votes(
        np.float32([[7], [8]]),
        linear=Z,
        log_odds=np.float32([1, 2, 3]),
        candidates=np.array([[2], [0]]),
    )
    some = votes.shortlisted()
    np.testing.assert_array_equal(some.linear, [[2], [3]])
    np.testing.assert_array_equal(some.log_odds, [[3], [1]])
    np.testing.assert_array_equal(weighted(some, (1, 1, 0, 1)), [[12], [12]])
    assert votes.without_networks().networks is None


LINEAR_ALONE = (0.0, 1.0, 0.0, 0.0)


def test_shifts_make_labels_as_likely_as_they_are(truth):
    Z, Y, _ = truth
    wrong = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    shifts = label_shifts([(Votes(None, linear=Z + wrong), Y)], LINEAR_ALONE, 5)
    np.testing.assert_allclose(shifts, -wrong, atol=0.35)
    assert shifts.dtype == np.float32


def test_shifts_of_labels_that_few_rows_speak_of_stay_small():
    votes = Votes(None, linear=np.zeros((4, 2), dtype=np.float32))
    shifts = label_shifts([(votes, np.ones((4, 2)))], LINEAR_ALONE, 2)
    assert (shifts > 0).all()
    assert (shifts < 0.6).all()


def test_shifts_of_shortlisted_votes_are_those_of_their_labels(truth):
    Z, Y, rng = truth
    candidates = np.argsort(rng.random(Z.shape), axis=1)[:, :3]
    some = Votes(np.take_along_axis(Z, candidates, axis=1), linear=Z, candidates=candidates)
    found = label_shifts(
        [(some, np.take_along_axis(Y, candidates, axis=1))], (0.5, 0.5, 0.0, 0.0), 5
    )
    kept = np.zeros(Z.shape, dtype=bool)
    np.put_along_axis(kept, candidates, True, axis=1)
    alone = [
        label_shifts(
            [(Votes(None, linear=Z[rows, i][:, None]), Y[rows, i][:, None])], LINEAR_ALONE, 1
        )[0]
        for i, rows in enumerate(kept.T)
    ]
    np.testing.assert_allclose(found, alone, atol=1e-3)


def test_extreme_votes_have_finite_shifts():
    votes = Votes(None, linear=np.full((50, 1), -1e4, dtype=np.float32))
    assert np.isfinite(label_shifts([(votes, np.ones((50, 1)))], LINEAR_ALONE, 1)).all()
