"""Voters together: how votes become probabilities, and who is among them."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp._ensemble.model import Ensemble, inside
from sklearn_mrmp._ensemble.weights import Votes, vote_weights
from tests.tiny import tiny


class Numbers:
    """Rows that are numbers."""

    def __init__(self, numbers):
        self.numbers = numbers

    def __len__(self):
        return len(self.numbers)

    def take(self, chosen):
        return Numbers(self.numbers[chosen])


class Logits:
    """A voter that knows its logits."""

    def __init__(self, Z, decodes_candidates=False):
        self.Z = np.asarray(Z, dtype=np.float32)
        self.decodes_candidates = decodes_candidates

    def logits(self, rows, candidates=None):
        Z = self.Z[rows.numbers].copy()
        return Z if candidates is None else np.take_along_axis(Z, candidates, axis=1)


def ensemble_of(*logits, **options):
    voters = {name: Logits(Z) for name, Z in zip("abc", logits, strict=False)}
    frequency = np.zeros(logits[0].shape[1], dtype=np.float32)
    return Ensemble(None, voters, frequency, **options)


@pytest.fixture
def truth():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(500, 6)) * 2
    return Z, sp.csr_array((rng.random(Z.shape) < 1 / (1 + np.exp(-Z))).astype(int)), rng


ROWS = Numbers(np.arange(500))


def test_the_better_vote_gets_the_weight(truth):
    Z, Y, rng = truth
    weights = vote_weights(ensemble_of(Z, rng.normal(size=Z.shape)).evidence(ROWS, Y))
    assert weights["a"] == pytest.approx(1, abs=0.15)
    assert weights["b"] < 0.1


def test_a_few_rows_leave_the_weights_near_equal(truth):
    Z, Y, rng = truth
    few = ensemble_of(Z, rng.normal(size=Z.shape)).evidence(ROWS.take(slice(2)), Y[:2])
    weights = vote_weights(few)
    np.testing.assert_allclose([weights["a"], weights["b"]], 0.5, atol=0.3)


def test_votes_are_added_up_by_their_weights(truth):
    Z, _, _ = truth
    weights = {"a": 0.75, "b": 0.25, "frequency": 0.0}
    P = ensemble_of(Z, -3 * Z, weights=weights).probabilities(ROWS)
    np.testing.assert_allclose(P, 0.5, atol=1e-5)


def test_votes_stay_as_they_are():
    Z = np.float32([[1.0, -1.0]])
    votes = Votes({"a": Z.copy()})
    ensemble_of(Z).combined(votes)
    np.testing.assert_array_equal(votes.logits["a"], Z)


def test_probabilities_stay_inside_zero_and_one():
    Z = np.full((1, 2), [-1e4, 1e4])
    P = inside(ensemble_of(Z).probabilities(Numbers(np.zeros(1, dtype=int))))
    assert P.min() > 0
    assert P.max() < 1


def test_evidence_in_blocks_is_that_of_all_rows(truth, monkeypatch):
    Z, Y, _ = truth
    ensemble = ensemble_of(Z, -Z)
    ((votes, labels),) = ensemble.evidence(ROWS, Y)
    blocks = [slice(0, 200), slice(200, 500)]
    monkeypatch.setattr("sklearn_mrmp._ensemble.model.row_blocks", lambda *shape: blocks)
    found = ensemble.evidence(ROWS, Y)
    assert len(found) == 2
    np.testing.assert_array_equal(np.vstack([v.logits["b"] for v, _ in found]), votes.logits["b"])
    np.testing.assert_array_equal(np.vstack([part for _, part in found]), labels)


def test_candidates_are_those_that_the_scorers_like_best(truth):
    Z, Y, _ = truth
    ensemble = replace(
        ensemble_of(Z),
        voters={"network": Logits(-Z, decodes_candidates=True), "a": Logits(Z)},
        weights={"network": 1.0, "a": 0.0, "frequency": 0.0},
        n_candidates=2,
        candidate_weights={"a": 1.0, "frequency": 0.0},
    )
    ((votes, labels),) = ensemble.evidence(ROWS, Y)
    best = np.sort(np.argsort(-Z, axis=1)[:, :2], axis=1)
    np.testing.assert_array_equal(votes.candidates, best)
    np.testing.assert_array_equal(labels, np.take_along_axis(Y.toarray(), best, axis=1))
    # The network decides about the candidates, the scorers about all others.
    expected = Z.copy()
    np.put_along_axis(expected, best, -np.take_along_axis(Z, best, axis=1), axis=1)
    np.testing.assert_allclose(ensemble.probabilities(ROWS), 1 / (1 + np.exp(-expected)), rtol=1e-5)


def test_only_voters_that_remember_rows_know_similar_ones(truth):
    assert ensemble_of(truth[0]).similar_rows(ROWS) is None


class TestClassifier:
    def test_members_differ_and_the_first_is_that_of_a_single_fit(self, related):
        alone = tiny().fit(*related)
        both = tiny(n_members=2).fit(*related)
        rows = alone._encoded(related[0]).tokens
        first, second = (net.label_logits(rows) for net in both.voters_.network.model.nets)
        np.testing.assert_array_equal(first, alone.net_.label_logits(rows))
        assert not np.allclose(first, second)

    def test_the_linear_voter_learns_from_the_held_out_rows_in_the_end(self, related):
        X, Y = related
        whole = tiny().fit(X, Y)
        given = tiny().fit(X[:140], Y[:140], X_val=X[140:], y_val=Y[140:])
        voter = whole.voters_.linear.model
        refitted = voter.refit(whole._encoded(X), sp.csr_array(Y))
        # It started from the weights of fewer rows, and ends at the same minimum.
        np.testing.assert_allclose(voter.coef_, refitted.coef_, atol=0.01)
        fitted_on_140 = given.voters_.linear.model
        on_all = fitted_on_140.refit(given._encoded(X), sp.csr_array(Y))
        assert not np.allclose(fitted_on_140.coef_, on_all.coef_)

    @pytest.mark.parametrize("kind", ["binary", "multiclass"])
    def test_vector_targets_have_other_voters_too(self, related, kind):
        X, Y = related
        y = Y[:, 0] if kind == "binary" else Y[:, 0] + 2 * Y[:, 1]
        clf = tiny(max_epochs=4).fit(X, y)
        assert set(clf.vote_weights_) == {"network", "linear", "neighbors", "frequency"}
        assert clf.score(X, y) > max(np.bincount(y)) / len(y)

    def test_probabilities_are_the_weighted_log_odds_of_the_voters(self, related):
        X, Y = related
        clf = tiny(label_sets=False).fit(X, Y)
        Z = sum(voter.weight * voter.decision_function(X) for voter in clf.voters_.values())
        n_rows, n_with = len(Y), Y.sum(axis=0)
        log_odds = np.log((n_with + 0.5) / (n_rows - n_with + 0.5))
        Z = Z + clf.vote_weights_["frequency"] * log_odds
        np.testing.assert_allclose(clf.predict_proba(X), 1 / (1 + np.exp(-Z)), atol=1e-4)
