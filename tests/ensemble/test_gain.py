"""What a voter adds to the vote: measured on rows that its weight was not tuned on."""

import numpy as np
import pytest
from scipy.special import expit

from sklearn_mrmp._ensemble.gain import vote_gain
from sklearn_mrmp._ensemble.weights import Votes


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(600, 4)) * 2
    return rng, Z, (rng.random(Z.shape) < expit(Z)).astype(float)


def test_a_voter_that_knows_more_gains_and_noise_gains_nothing(rows):
    rng, Z, Y = rows
    coarse = Z + rng.normal(size=Z.shape) * 2
    knows = vote_gain([(Votes({"network": Z, "linear": coarse}), Y)], "network")
    noise = vote_gain([(Votes({"network": rng.normal(size=Z.shape), "linear": Z}), Y)], "network")
    assert knows.gain > 0.1 > 5 * knows.standard_error
    assert noise.gain < 2 * noise.standard_error


def test_blocks_of_evidence_are_one(rows):
    rng, Z, Y = rows
    votes = {"network": Z, "linear": Z + rng.normal(size=Z.shape)}
    whole = vote_gain([(Votes(votes), Y)], "network")
    parts = [(Votes({n: A[part] for n, A in votes.items()}), Y[part]) for part in halves(Z)]
    assert vote_gain(parts, "network").gain == pytest.approx(whole.gain, abs=1e-4)


def halves(Z):
    return slice(0, 200), slice(200, len(Z))


def test_of_candidates_only_their_entries_count(rows):
    _, Z, Y = rows
    candidates = np.tile([[0, 2]], (len(Z), 1))
    decoded = Votes(
        {"network": Z[:, [0, 2]], "linear": 0 * Z}, np.zeros(4), candidates, frozenset({"network"})
    )
    plain = Votes({"network": Z[:, [0, 2]], "linear": 0 * Z[:, :2]}, np.zeros(2))
    truth = Y[:, [0, 2]]
    found = vote_gain([(decoded, truth)], "network")
    assert found.gain == pytest.approx(vote_gain([(plain, truth)], "network").gain, abs=1e-6)


def test_a_single_row_says_nothing():
    votes = Votes({"network": np.zeros((1, 2)), "linear": np.zeros((1, 2))})
    found = vote_gain([(votes, np.array([[0.0, 1.0]]))], "network")
    assert np.isnan([found.gain, found.standard_error]).all()
