"""Encoded rows: everything is computed when first asked for, and once."""

from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp._input.features import FeatureInput
from sklearn_mrmp._input.presentation import LinearFeatures
from sklearn_mrmp._input.rows import EncodedRows
from sklearn_mrmp._input.sequence import SequenceInput
from tests.tiny import feature_rows, tiny


@pytest.fixture
def counted(monkeypatch):
    """Count how often, and for how many rows, encoders and representations are asked."""
    calls = Counter()

    def count(kind, name):
        original = getattr(kind, name)

        def spy(self, X):
            calls[name, X.shape[0]] += 1
            return original(self, X)

        monkeypatch.setattr(kind, name, spy)

    count(FeatureInput, "tokens")
    count(LinearFeatures, "transform")
    return calls


def test_tokens_bags_and_tables_are_computed_once(related, counted):
    rows = feature_rows(related[0])
    counted.clear()
    assert rows.tokens is rows.tokens
    assert rows.bag is rows.bag
    assert rows.table is rows.table
    first = rows.presented(rows.features)
    assert rows.presented(rows.features) is first
    assert counted == {("tokens", 160): 1, ("transform", 160): 1}


def test_a_prediction_encodes_its_rows_once_for_all_voters(related, counted):
    X, Y = related
    clf = tiny(max_epochs=1).fit(X, Y)
    counted.clear()
    clf.predict_proba(X[:50])
    assert counted == {("tokens", 50): 1, ("transform", 50): 1}


def test_a_fit_encodes_its_held_out_rows_once(related, counted):
    X, Y = related
    tiny(max_epochs=1, cv=0.25).fit(X, Y)
    assert counted["tokens", 40] == counted["transform", 40] == 1
    assert counted["tokens", 120] == 1


def test_given_held_out_rows_are_encoded_once(related, counted):
    X, Y = related
    tiny(max_epochs=1).fit(X[:120], Y[:120], X_val=X[120:], y_val=Y[120:])
    assert counted["tokens", 40] == counted["transform", 40] == 1


def test_folds_share_one_encoding(related, counted):
    tiny(max_epochs=1, cv=2).fit(*related)
    assert {key: n for key, n in counted.items() if key[0] == "tokens"} == {("tokens", 160): 1}


@pytest.mark.parametrize("is_encoded", [False, True])
def test_taken_rows_are_those_of_the_whole(related, is_encoded):
    rows = feature_rows(related[0])
    if is_encoded:
        _ = rows.tokens
    chosen = np.array([7, 3, 20])
    some = rows.take(chosen)
    assert len(some) == 3
    whole = rows.tokens.take(chosen)
    np.testing.assert_array_equal(some.tokens.tokens, whole.tokens)
    np.testing.assert_array_equal(some.tokens.starts, whole.starts)
    np.testing.assert_array_equal(some.bag.toarray(), rows.bag[chosen].toarray())
    np.testing.assert_array_equal(some.X.toarray(), related[0][chosen].toarray())


def test_taken_rows_that_were_encoded_are_not_encoded_again(related, counted):
    rows = feature_rows(related[0])
    _ = rows.tokens
    counted.clear()
    _ = rows.take(slice(40)).tokens
    assert not counted


def test_representations_that_were_fitted_on_other_rows_are_told_apart(related):
    rows = feature_rows(related[0])
    other = rows.take(slice(40)).features
    assert other is not rows.features
    first, second = rows.presented(rows.features), rows.presented(other)
    assert abs(first - second).max() > 0
    np.testing.assert_array_equal(second.toarray(), other.transform(rows.bag).toarray())


def test_the_encoders_representation_serves_the_voters(related):
    rows = feature_rows(related[0])
    assert rows.features is rows.encoder.features_


def test_users_estimators_get_the_rows_as_they_came():
    X = np.array([[0.0, 1.0], [2.0, 0.0]])
    assert EncodedRows.of(FeatureInput(), X).table is X


def test_what_a_voter_computes_is_computed_once():
    rows, other, calls = feature_rows(sp.csr_array(np.eye(3))), object(), []

    def compute(found):
        calls.append(found)
        return len(calls)

    voter = object()
    assert rows.result_of(voter, compute) == rows.result_of(voter, compute) == 1
    assert rows.result_of(other, compute) == 2
    assert calls == [rows, rows]


def test_wrong_ids_are_refused_before_anything_is_fitted():
    with pytest.raises(ValueError, match="found -2"):
        EncodedRows.of(SequenceInput(), np.array([[1, -2]]))
