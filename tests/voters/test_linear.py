"""The linear voter: held-out rows choose the penalty, and a row's votes depend on it alone."""

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import average_precision_score

from sklearn_mrmp._voters.linear import LinearVoter
from tests.tiny import feature_rows


def test_held_out_rows_choose_the_penalty(split):
    rows, _, rows_valid, Y_valid = split
    voter = LinearVoter().fit(*split)
    assert average_precision_score(Y_valid.toarray(), voter.logits(rows_valid)) > 0.6
    noise = sp.csr_array(np.random.default_rng(0).integers(2, size=(300, 6)))
    cautious = LinearVoter().fit(rows, noise[:200], rows_valid, noise[200:])
    assert cautious.strength_ == 0.1 < voter.strength_


def test_labels_beside_those_of_the_search_are_fitted_as_well(split, monkeypatch):
    rows_valid = split[2]
    whole = LinearVoter().fit(*split)
    monkeypatch.setattr("sklearn_mrmp._voters.linear._SEARCH_LABELS", 2)
    part = LinearVoter().fit(*split)
    again = part.refit(split[0], split[1])
    assert part.shape == whole.shape
    np.testing.assert_allclose(part.logits(rows_valid), again.logits(rows_valid), atol=0.05)


def test_refit_keeps_the_penalty_and_uses_the_new_rows(matrices, split):
    X, Y = matrices
    voter = LinearVoter().fit(*split)
    again = voter.refit(feature_rows(X), Y)
    assert again is not voter
    assert again.strength_ == voter.strength_
    assert not np.allclose(again.coef_, voter.coef_)


def test_refit_ends_at_the_same_minimum_wherever_it_starts(matrices, split):
    X, Y = matrices
    voter, rows = LinearVoter().fit(*split), feature_rows(X)
    warm, cold = voter.refit(rows, Y, seen=True), voter.refit(rows, Y)
    assert not np.array_equal(warm.coef_, cold.coef_)
    np.testing.assert_allclose(warm.logits(rows), cold.logits(rows), atol=0.05)


def test_refit_starts_anew_where_there_are_other_features(matrices, split):
    X, Y = matrices
    voter, rows = LinearVoter().fit(*split), feature_rows(X[:, :40])
    np.testing.assert_array_equal(voter.refit(rows, Y, seen=True).coef_, voter.refit(rows, Y).coef_)


def test_logits_of_a_row_do_not_depend_on_other_rows(matrices, split):
    X, _ = matrices
    voter = LinearVoter().fit(*split)
    together = voter.logits(feature_rows(X))
    np.testing.assert_array_equal(together[[7]], voter.logits(feature_rows(X[[7]])))
