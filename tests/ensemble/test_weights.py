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


def test_voters_that_are_not_there_have_no_weight(truth):
    Z, Y, _ = truth
    weights = vote_weights([(Votes({"neighbors": Z}), Y)])
    assert weights.keys() == {"neighbors"}
    assert weights["neighbors"] == pytest.approx(1, abs=0.1)


def test_a_frequency_that_two_voters_count_is_counted_once(truth):
    _, _, rng = truth
    log_odds = np.array([-3.0, -2.0, -1.0, 0.0, 1.0])
    evidence = rng.normal(size=(2, 4000, 5))
    Y = (rng.random((4000, 5)) < expit(evidence.sum(axis=0) + log_odds)).astype(float)
    logits = {"network": evidence[0] + log_odds, "linear": evidence[1] + log_odds}
    weights = vote_weights([(Votes(logits, log_odds), Y)])
    assert list(weights) == ["network", "linear", "frequency"]
    np.testing.assert_allclose(list(weights.values()), [1, 1, -1], atol=0.12)


def test_no_other_weights_have_a_smaller_loss(truth):
    Z, Y, rng = truth
    votes = Votes({name: Z + rng.normal(size=Z.shape) for name in ("network", "linear")})
    best = np.array(list(vote_weights([(votes, Y)]).values()))

    def loss(weights):
        z = weights[0] * votes.logits["network"] + weights[1] * votes.logits["linear"]
        pull = weights - 0.5
        return np.logaddexp(0, z).sum() - (z * Y).sum() + 10 * (pull @ pull)

    for change in rng.normal(scale=0.05, size=(20, 2)):
        assert loss(best) <= loss(best + change) + 1e-6


def test_blocks_of_evidence_are_one(truth):
    Z, Y, rng = truth
    other = rng.normal(size=Z.shape)
    whole = vote_weights([(Votes({"a": Z, "b": other}), Y)])
    parts = [(Votes({"a": Z[i::2], "b": other[i::2]}), Y[i::2]) for i in range(2)]
    assert vote_weights(parts) == pytest.approx(whole, abs=1e-4)


def test_shortlisted_votes_are_those_of_the_candidates():
    Z = np.arange(6, dtype=np.float32).reshape(2, 3)
    votes = Votes(
        {"network": np.float32([[7], [8]]), "linear": Z},
        np.float32([1, 2, 3]),
        candidates=np.array([[2], [0]]),
        decoded=frozenset({"network"}),
    )
    some = votes.shortlisted()
    np.testing.assert_array_equal(some.logits["linear"], [[2], [3]])
    np.testing.assert_array_equal(some.frequency, [[3], [1]])
    weights = {"network": 1, "linear": 1, "frequency": 1}
    np.testing.assert_array_equal(weighted(some, weights), [[12], [12]])
    assert votes.of_all_labels().logits.keys() == {"linear"}


LINEAR = {"linear": 1.0}


def test_shifts_make_labels_as_likely_as_they_are(truth):
    Z, Y, _ = truth
    wrong = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    shifts = label_shifts([(Votes({"linear": Z + wrong}), Y)], LINEAR, 5)
    np.testing.assert_allclose(shifts, -wrong, atol=0.35)
    assert shifts.dtype == np.float32


def test_shifts_of_labels_that_few_rows_speak_of_stay_small():
    votes = Votes({"linear": np.zeros((4, 2), dtype=np.float32)})
    shifts = label_shifts([(votes, np.ones((4, 2)))], LINEAR, 2)
    assert (shifts > 0).all()
    assert (shifts < 0.6).all()


def test_shifts_of_shortlisted_votes_are_those_of_their_labels(truth):
    Z, Y, rng = truth
    candidates = np.argsort(rng.random(Z.shape), axis=1)[:, :3]
    decoded = np.take_along_axis(Z, candidates, axis=1)
    some = Votes({"network": decoded, "linear": Z}, None, candidates, frozenset({"network"}))
    truth_of_some = np.take_along_axis(Y, candidates, axis=1)
    found = label_shifts([(some, truth_of_some)], {"network": 0.5, "linear": 0.5}, 5)
    kept = np.zeros(Z.shape, dtype=bool)
    np.put_along_axis(kept, candidates, True, axis=1)
    alone = [
        label_shifts([(Votes({"linear": Z[rows, i][:, None]}), Y[rows, i][:, None])], LINEAR, 1)[0]
        for i, rows in enumerate(kept.T)
    ]
    np.testing.assert_allclose(found, alone, atol=1e-3)


def test_extreme_votes_have_finite_shifts():
    votes = Votes({"linear": np.full((50, 1), -1e4, dtype=np.float32)})
    assert np.isfinite(label_shifts([(votes, np.ones((50, 1)))], LINEAR, 1)).all()


def test_weights_do_not_depend_on_the_order_of_the_voters(truth):
    Z, Y, rng = truth
    logits = {"a": Z, "b": Z + rng.normal(size=Z.shape)}
    weights = vote_weights([(Votes(logits), Y)])
    turned = vote_weights([(Votes(dict(reversed(logits.items()))), Y)])
    assert list(turned) == ["b", "a"]
    assert turned == pytest.approx(weights, abs=1e-3)


def test_of_very_many_entries_some_decide(truth, monkeypatch):
    Z, Y, _ = truth
    every_third = vote_weights([(Votes({"a": Z.ravel()[::3][:, None]}), Y.ravel()[::3][:, None])])
    monkeypatch.setattr("sklearn_mrmp._ensemble.weights._MOST_ENTRIES", -(-Z.size // 3))
    assert vote_weights([(Votes({"a": Z}), Y)]) == pytest.approx(every_third)
