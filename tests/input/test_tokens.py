"""Rows as tokens: values on one scale, sequences in order, nothing invented."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp._input.tokens import FeatureTokens, SequenceTokens


def rows_of(tokens):
    return [part.tolist() for part in np.split(tokens.tokens, tokens.starts[1:-1])]


def test_binary_features_are_plain_tokens_without_values():
    X = np.array([[1, 0, 1], [0, 0, 0], [0, 0, 1]])
    encoder = FeatureTokens().fit(X)
    rows = encoder.transform(X)
    assert not encoder.has_values_
    assert rows.values is None
    assert rows_of(rows) == [[1, 3], [], [3]]


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e6])
def test_values_do_not_depend_on_the_unit(scale):
    X = np.random.default_rng(0).normal(3, 2, (50, 4))
    values = FeatureTokens().fit(X).transform(X).values
    scaled = FeatureTokens().fit(X * scale).transform(X * scale).values
    np.testing.assert_allclose(scaled, values, atol=1e-5)
    assert abs(values.mean()) < 0.1


def test_values_are_standardised_over_the_rows_that_have_the_feature():
    X = sp.csr_array([[0, 2.0], [0, 4.0], [0, 0.0], [1.0, 0]])
    rows = FeatureTokens().fit(X).transform(X)
    bound = 5.0
    expected = 1 / np.hypot(1, 1 / bound)
    np.testing.assert_allclose(rows.values, [-expected, expected, 0.0], rtol=1e-6)


def test_outliers_at_prediction_are_bounded():
    encoder = FeatureTokens().fit(np.array([[1.0], [2.0], [3.0]]))
    values = encoder.transform(np.array([[1e300], [-1e300]])).values
    np.testing.assert_allclose(values, [5.0, -5.0], rtol=1e-6)


def test_rounding_noise_is_not_a_value():
    noise = 1 + np.random.default_rng(0).normal(size=(20, 1)) * 1e-12
    assert not FeatureTokens().fit(noise).has_values_


def test_features_unknown_to_training_are_left_out():
    encoder = FeatureTokens().fit(np.array([[1, 0], [1, 0]]))
    assert rows_of(encoder.transform(np.array([[1, 1], [0, 1]]))) == [[1], []]


def test_max_tokens_keeps_the_largest_absolute_values():
    X = np.array([[1.0, -5.0, 3.0], [0.0, 2.0, 0.0]])
    rows = FeatureTokens(max_tokens=2).fit(X).transform(X)
    assert rows_of(rows) == [[2, 3], [2]]


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_sparse_formats_give_the_same_rows_and_stay_untouched(container):
    X = np.array([[0.0, 2.0], [1.0, 4.0]])
    S = container(X)
    expected = FeatureTokens().fit(X).transform(X)
    rows = FeatureTokens().fit(S).transform(S)
    np.testing.assert_array_equal(rows.tokens, expected.tokens)
    np.testing.assert_array_equal(rows.values, expected.values)
    np.testing.assert_array_equal(S.toarray(), X)


def test_unsorted_duplicated_and_zero_entries_are_made_canonical():
    data, indices = np.array([1.0, 2.0, 0.0, 1.0]), np.array([1, 0, 2, 0])
    S = sp.csr_array((data, indices, np.array([0, 4])), shape=(1, 3))
    encoder = FeatureTokens().fit(np.array([[1.0, 1, 1], [3, 1, 1]]))
    rows = encoder.transform(S)
    assert rows_of(rows) == [[1, 2]]
    assert rows.values[0] > 0  # 2 + 1 lies above the mean of 2
    assert S.nnz == 4


def test_sequences_keep_order_and_lose_padding():
    X = np.array([[3, 1, 2, 0], [2, 0, 0, 0], [0, 0, 0, 0]])
    encoder = SequenceTokens().fit(X)
    assert rows_of(encoder.transform(X)) == [[3, 1, 2], [2], []]
    assert rows_of(SequenceTokens(max_tokens=2).fit(X).transform(X)) == [[3, 1], [2], []]


def test_ids_above_those_of_training_share_one_untrained_token():
    encoder = SequenceTokens().fit(np.array([[1, 3]]))
    rows = encoder.transform(np.array([[3, 4, 99]]))
    assert rows_of(rows) == [[3, 4, 4]]
    assert encoder.trained_.tolist() == [True, False, True, False]


def test_sequence_ids_must_be_non_negative_integers():
    with pytest.raises(ValueError, match=r"integer token ids, found 1\.5"):
        SequenceTokens().fit(np.array([[1.5, 0]]))
    with pytest.raises(ValueError, match="found -2"):
        SequenceTokens().fit(np.array([[1, -2]]))


def test_take_returns_rows_in_the_asked_order():
    X = np.array([[1, 2, 3, 0], [4, 0, 0, 0], [0, 0, 0, 0], [5, 6, 0, 0]])
    rows = SequenceTokens().fit(X).transform(X)
    assert rows_of(rows.take(np.array([3, 2, 0]))) == [[5, 6], [], [1, 2, 3]]


def test_drop_leaves_tokens_out_but_never_empties_a_row():
    X = np.random.default_rng(0).random((200, 30))
    X[3] = 0
    rows = FeatureTokens().fit(X).transform(X)
    dropped = rows.drop(0.9, np.random.default_rng(1))
    assert 0.08 < len(dropped.tokens) / len(rows.tokens) < 0.14
    assert (dropped.lengths[rows.lengths > 0] >= 1).all()
    assert dropped.lengths[3] == 0
    assert len(dropped.values) == len(dropped.tokens)


def test_drop_keeps_the_positions_of_a_sequence():
    X = np.tile(np.arange(1, 31), (50, 1))
    rows = SequenceTokens().fit(X).transform(X)
    dropped = rows.take(np.arange(50)).drop(0.5, np.random.default_rng(0))
    np.testing.assert_array_equal(dropped.lengths, rows.lengths)
    replaced = dropped.tokens != rows.tokens
    assert 0.4 < replaced.mean() < 0.6
    assert (dropped.tokens[replaced] == 31).all()


def test_fingerprints_depend_on_content_alone():
    X = np.array([[1, 2, 3], [2, 1, 3], [1, 2, 3], [0, 0, 0], [1, 2, 0]])
    prints = SequenceTokens().fit(X).transform(X).fingerprints()
    assert prints[0] == prints[2]
    assert len(set(prints.tolist())) == 4
    values = FeatureTokens().fit(X[:2]).transform(X[:2]).fingerprints()
    assert values[0] != values[1]


class TestWeights:
    def test_rare_features_of_a_bag_weigh_more(self):
        X = np.zeros((40, 12))
        X[:, 0] = 1  # in every row
        X[np.arange(40), 1 + np.arange(40) % 11] = 1
        encoder = FeatureTokens(weighted=True).fit(np.vstack([X, 2 * np.eye(12)]))
        common, rare = encoder.transform(X).weights.reshape(40, 2).T
        assert (rare > common).all()

    def test_a_row_of_equal_shares_has_no_weights_to_speak_of(self):
        X = np.kron(np.eye(6), np.ones((3, 6)))
        X = np.pad(X, ((0, 2), (0, 1)))
        X[-2:, -1] = 1, 3  # so that values differ
        rows = FeatureTokens(weighted=True).fit(X).transform(X[:-2])
        np.testing.assert_allclose(rows.weights, 0.0, atol=1e-6)

    def test_measurements_binary_bags_and_the_paper_have_none(self):
        X = np.random.default_rng(0).normal(size=(20, 5))
        assert FeatureTokens(weighted=True).fit(X).transform(X).weights is None
        counts = np.eye(9) + np.eye(9, k=1) * 2
        assert FeatureTokens().fit(counts).transform(counts).weights is None
        assert FeatureTokens(weighted=True).fit(np.eye(9)).transform(np.eye(9)).weights is None
        ids = np.array([[1, 2], [2, 0]])
        assert SequenceTokens().fit(ids).transform(ids).weights is None

    def test_they_stay_with_their_tokens(self):
        rng = np.random.default_rng(0)
        X = sp.csr_array((rng.random((30, 25)) < 0.2) * rng.integers(1, 5, (30, 25)))
        rows = FeatureTokens(weighted=True).fit(X).transform(X)
        some = rows.take(np.array([7, 3])).drop(0.5, rng)
        for number, row in enumerate((7, 3)):
            whole = slice(rows.starts[row], rows.starts[row + 1])
            known = dict(zip(rows.tokens[whole], rows.weights[whole], strict=True))
            part = slice(some.starts[number], some.starts[number + 1])
            assert [known[t] for t in some.tokens[part]] == some.weights[part].tolist()

    def test_words_that_are_left_out_weigh_nothing(self):
        ids = np.array([[1, 2, 3, 4], [1, 5, 0, 0], [1, 6, 7, 0]])
        rows = SequenceTokens(weighted=True).fit(ids).transform(ids)
        dropped = rows.drop(0.6, np.random.default_rng(0))
        is_unknown = dropped.tokens == dropped.unknown
        assert is_unknown.any()
        assert (dropped.weights[is_unknown] == 0).all()
        np.testing.assert_array_equal(dropped.weights[~is_unknown], rows.weights[~is_unknown])

    def test_rare_words_of_a_sequence_weigh_more_and_unknown_ones_nothing(self):
        ids = np.array([[1, 2, 0], [1, 3, 1], [1, 0, 0]])
        encoder = SequenceTokens(weighted=True).fit(ids)
        weights = encoder.transform(np.array([[1, 2, 9]])).weights
        expected = np.log(1 + np.log([4 / 4, 4 / 2]))
        np.testing.assert_allclose(weights, [*expected, 0.0], rtol=1e-6)
