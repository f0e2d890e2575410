"""The neighbour voter: who votes, how much, and that a row's votes depend on it alone."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit

from sklearn_mrmp._host import threads as _threads
from sklearn_mrmp._input.rows import EncodedRows
from sklearn_mrmp._numerics.entry_weights import EntryWeights
from sklearn_mrmp._voters import neighbors as _neighbors
from sklearn_mrmp._voters.neighbors import NeighborVoter
from tests.tiny import feature_rows, tiny


def bags(rng, n_samples, n_features=60):
    return sp.csr_array((rng.random((n_samples, n_features)) < 0.1) * 1.0)


def measurements(rng, n_samples, n_features=7):
    return sp.csr_array(rng.normal(size=(n_samples, n_features)))


@pytest.fixture(params=[bags, measurements])
def problem(request):
    rng = np.random.default_rng(0)
    X = request.param(rng, 120)
    Y = sp.csr_array((rng.random((120, 5)) < 0.3) * 1.0)
    return feature_rows(X[:90]), Y[:90], feature_rows(X[90:]), Y[90:]


def test_a_row_seen_before_gets_its_labels(problem):
    rows, Y, _, _ = problem
    voter = NeighborVoter().fit(*problem)
    voter.power_ = 64.0
    np.testing.assert_array_equal(voter.logits(rows) > 0, Y.toarray() > 0)


def test_a_row_depends_on_itself_alone(problem):
    voter = NeighborVoter().fit(*problem)
    together = voter.logits(problem[2])
    alone = np.vstack([voter.logits(problem[2].take([i])) for i in range(len(problem[2]))])
    np.testing.assert_array_equal(together, alone)


def test_a_voter_fitted_again_knows_its_new_rows_alone(problem):
    rows, Y, rows_valid, Y_valid = problem
    voter = NeighborVoter().fit(*problem)
    voter.logits(rows_valid)
    some = rows.take(slice(40))
    again = voter.refit(some, Y[:40])
    fresh = NeighborVoter().fit(some, Y[:40], rows_valid, Y_valid)
    fresh.power_ = again.power_
    np.testing.assert_array_equal(again.logits(rows_valid), fresh.logits(rows_valid))


def test_blocks_change_nothing(problem, monkeypatch):
    whole = NeighborVoter().fit(*problem)
    monkeypatch.setattr(_threads, "_BLOCK_NUMBERS", 4 * 90)
    monkeypatch.setattr(_threads, "_FEWEST_ROWS", 1)
    parts = NeighborVoter().fit(*problem)
    assert parts.power_ == whole.power_
    np.testing.assert_array_equal(parts.logits(problem[2]), whole.logits(problem[2]))


def test_a_row_without_features_gets_the_frequencies():
    rows = feature_rows(sp.csr_array([[1.0, 0, 0, 0, 0, 0, 0, 0, 2.0]] * 4))
    Y = sp.csr_array([[1.0, 0]] * 4)
    voter = NeighborVoter().fit(rows, Y, rows, Y)
    P = expit(voter.logits(feature_rows(sp.csr_array((1, 9)))))
    np.testing.assert_allclose(P, [[4.5 / 5, 0.5 / 5]], rtol=1e-6)


def test_the_power_with_the_smallest_held_out_loss_is_kept():
    rng = np.random.default_rng(0)
    X = bags(rng, 200, 30)
    # Labels of a row are its first features: near rows know more than far ones.
    Y = sp.csr_array(X.toarray()[:, :6])
    held_out = feature_rows(X[150:])
    voter = NeighborVoter().fit(feature_rows(X[:150]), Y[:150], held_out, Y[150:])
    losses = {}
    for power in _neighbors._POWERS:
        voter.power_, chosen = power, voter.power_
        Z, truth = voter.logits(held_out), Y[150:].toarray()
        losses[power] = np.logaddexp(0, Z).sum() - (Z * truth).sum()
        voter.power_ = chosen
    assert voter.power_ == min(losses, key=losses.get)


def test_refitting_keeps_the_power_and_takes_the_rows(problem):
    _, Y, rows_valid, Y_valid = problem
    voter = NeighborVoter().fit(*problem)
    voter.power_ = 16.0
    new = voter.refit(rows_valid, Y_valid)
    assert new.power_ == 16.0
    assert new.labels_.shape == Y_valid.shape
    assert voter.labels_.shape == Y.shape


@pytest.mark.parametrize("limit", ["_MOST_ROWS", "_MOST_DENSE_VALUES"])
def test_of_very_many_rows_a_part_is_remembered(limit, monkeypatch):
    rng = np.random.default_rng(0)
    rows = feature_rows(measurements(rng, 50, 4))
    Y = sp.csr_array(rng.integers(2, size=(50, 3)) * 1.0)
    monkeypatch.setattr(_neighbors, limit, 40 if limit == "_MOST_DENSE_VALUES" else 10)
    voter = NeighborVoter().fit(rows, Y, rows, Y)
    assert voter.labels_.shape == (10, 3)
    assert voter.logits(rows).shape == (50, 3)


@pytest.mark.parametrize("cv", [0.2, 2])
def test_a_fitted_classifier_remembers_no_more_rows_than_that(related, cv, monkeypatch):
    """Its neighbours are fitted anew on all rows, and there are more of these."""
    monkeypatch.setattr(_neighbors, "_MOST_ROWS", 100)
    clf = tiny(max_epochs=1, voters=("linear", "neighbors"), cv=cv).fit(*related)
    voter = clf.voters_.neighbors.model
    assert voter.labels_.shape[0] == voter.columns_.shape[1] == 100
    assert clf.predict(related[0]).shape == related[1].shape


def test_at_most_50000_rows_are_remembered():
    rows = feature_rows(sp.csr_array(np.eye(2)[np.arange(50_010) % 2]))
    Y = sp.csr_array(np.eye(2)[np.arange(50_010) % 2])
    voter = NeighborVoter()
    voter.power_ = 2.0
    assert voter.refit(rows, Y).labels_.shape[0] == 50_000


def test_huge_values_give_finite_logits(problem):
    voter = NeighborVoter().fit(*problem)
    huge = problem[2].X * 1e300
    assert np.isfinite(voter.logits(feature_rows(huge))).all()


def test_neighbours_can_be_left_out(related):
    clf = tiny(max_epochs=1, voters=("network", "linear")).fit(*related)
    assert list(clf.voters_) == ["network", "linear"]
    assert list(clf.vote_weights_) == ["network", "linear", "frequency"]


def test_neighbours_learn_from_the_held_out_rows_in_the_end(related):
    clf = tiny(max_epochs=1).fit(*related)
    assert clf.voters_.neighbors.model.labels_.shape[0] == related[0].shape[0]


def test_a_label_that_all_rows_have_gets_finite_logits():
    """Sums of weights are rounded in different orders: shares must not pass 1."""
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.random((20_000, 3)) * (rng.random((20_000, 3)) < 0.2))
    Y = sp.csr_array(np.ones((20_000, 1)))
    rows = feature_rows(X)
    voter = NeighborVoter().fit(rows, Y, rows.take(slice(50)), Y[:50])
    assert np.isfinite(voter.logits(rows.take(slice(2000)))).all()


def test_training_rows_find_themselves_so_their_scores_tell_nothing():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(300, 8)), rng.integers(0, 2, size=(300, 3))  # nothing to learn
    clf = tiny(voters=("neighbors",), label_sets=False, decision=0.5).fit(X[:200], Y[:200])
    right = clf.predict(X) == Y
    assert right[:200].mean() > right[200:].mean() + 0.1


def rows_of(part, X):
    """More rows for an encoder that was fitted on others."""
    return EncodedRows.of(part.encoder, X)


def test_more_rows_are_remembered_as_if_they_had_been_there(problem):
    rows, Y, rows_valid, Y_valid = problem
    voter = NeighborVoter().fit(*problem)
    more = voter.remembering(rows_of(rows, rows_valid.X), Y_valid)
    assert more.columns_.shape[1] == more.n_rows_ == 120
    together = EncodedRows.of(rows.encoder, sp.csr_array(sp.vstack([rows.X, rows_valid.X])))
    together.features = voter.features_
    expected = voter.refit(together, sp.csr_array(sp.vstack([Y, Y_valid])))
    expected.log_odds_ = voter.log_odds_  # frequencies stay those of the fit
    some = together.take(slice(80, 100))
    np.testing.assert_allclose(more.logits(some), expected.logits(some), rtol=1e-5, atol=1e-5)
    assert voter.columns_.shape[1] == 90  # the first one is as it was


def test_of_too_many_rows_old_and_new_ones_stay_in_proportion(problem, monkeypatch):
    rows, _, rows_valid, Y_valid = problem
    monkeypatch.setattr(_neighbors, "_MOST_ROWS", 40)
    voter = NeighborVoter().fit(*problem)
    for n_rows, n_new in ((120, 10), (150, 8)):
        voter = voter.remembering(rows_of(rows, rows_valid.X), Y_valid)
        assert voter.n_rows_ == n_rows
        assert voter.labels_.shape[0] == 40
        assert np.count_nonzero(voter._numbers >= n_rows - 30) == n_new
    assert len(np.unique(voter._numbers)) == 40


def test_weights_and_unknown_labels_of_more_rows_are_kept(problem):
    rows, _, rows_valid, Y_valid = problem
    voter = NeighborVoter().fit(*problem)
    known = np.ones(Y_valid.shape, dtype=bool)
    known[3, 1] = False
    weights = EntryWeights.of(known, np.arange(1.0, 31.0))
    more = voter.remembering(rows_of(rows, rows_valid.X), Y_valid, weights)
    assert more.counts_.tolist() == [1.0] * 90 + list(range(1, 31))
    assert np.argwhere(more.unknown_.toarray()).tolist() == [[93, 1]]
    again = more.remembering(rows_of(rows, rows_valid.X), Y_valid)
    assert again.counts_.tolist() == more.counts_.tolist() + [1.0] * 30
    assert again.unknown_.shape == (150, 5)
