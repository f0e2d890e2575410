"""Features as tokens: values on one scale, weights by rarity, nothing invented."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.tiny import feature_input, sequence_input, tokens


def rows_of(rows):
    return [part.tolist() for part in np.split(rows.tokens, rows.starts[1:-1])]


def test_binary_features_are_plain_tokens_without_values():
    X = np.array([[1, 0, 1], [0, 0, 0], [0, 0, 1]])
    encoder = feature_input(X)
    rows = tokens(encoder, X)
    assert not encoder.has_values_
    assert rows.values is None
    assert rows_of(rows) == [[1, 3], [], [3]]


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e6])
def test_values_do_not_depend_on_the_unit(scale):
    X = np.random.default_rng(0).normal(3, 2, (50, 4))
    values = tokens(feature_input(X), X).values
    scaled = tokens(feature_input(X * scale), X * scale).values
    np.testing.assert_allclose(scaled, values, atol=1e-5)
    assert abs(values.mean()) < 0.1


def test_values_are_standardised_over_the_rows_that_have_the_feature():
    X = sp.csr_array([[0, 2.0], [0, 4.0], [0, 0.0], [1.0, 0]])
    rows = tokens(feature_input(X), X)
    bound = 5.0
    expected = 1 / np.hypot(1, 1 / bound)
    np.testing.assert_allclose(rows.values, [-expected, expected, 0.0], rtol=1e-6)


def test_outliers_at_prediction_are_bounded():
    encoder = feature_input(np.array([[1.0], [2.0], [3.0]]))
    values = tokens(encoder, np.array([[1e300], [-1e300]])).values
    np.testing.assert_allclose(values, [5.0, -5.0], rtol=1e-6)


def test_rounding_noise_is_not_a_value():
    noise = 1 + np.random.default_rng(0).normal(size=(20, 1)) * 1e-12
    assert not feature_input(noise).has_values_


def test_features_unknown_to_training_are_left_out():
    encoder = feature_input(np.array([[1, 0], [0, 0]]))
    assert rows_of(tokens(encoder, np.array([[1, 1], [0, 1]]))) == [[1], []]


@pytest.mark.parametrize("value", [1.0, -3.5, 1e300])
def test_features_equal_in_all_rows_are_no_tokens(value):
    X = np.array([[value, 1, 0], [value, 0, 0], [value, 1, 2]])
    encoder = feature_input(X)
    assert rows_of(tokens(encoder, X)) == [[2], [], [2, 3]]
    assert rows_of(tokens(encoder, np.array([[value, 0, 0], [7, 1, 0]]))) == [[], [2]]
    assert encoder.n_tokens_ == 3


def test_rounding_noise_around_one_value_is_that_value():
    X = np.eye(20, 2)
    X[:, 1] = 1 + np.random.default_rng(0).normal(size=20) * 1e-12
    assert tokens(feature_input(X), X).lengths.sum() == 1


def test_a_feature_that_one_row_lacks_is_a_token():
    X = np.array([[1, 1], [1, 0], [0, 1]])
    assert rows_of(tokens(feature_input(X), X)) == [[1, 2], [1], [2]]


def test_what_is_no_token_takes_no_place_of_max_tokens():
    X = np.array([[9.0, 0.0, 1.0, 2.0], [9.0, 0.0, 3.0, 0.0]])
    encoder = feature_input(X, max_tokens=1)
    assert rows_of(tokens(encoder, X + [0, 8.0, 0, 0])) == [[4], [3]]


def test_a_constant_column_changes_no_token(related):
    X = related[0].toarray()
    wide = np.hstack([X, np.full((len(X), 1), 4.0)])
    rows, widened = tokens(feature_input(X), X), tokens(feature_input(wide), wide)
    np.testing.assert_array_equal(widened.tokens, rows.tokens)
    np.testing.assert_array_equal(widened.values, rows.values)
    np.testing.assert_array_equal(widened.starts, rows.starts)


def test_max_tokens_keeps_the_largest_absolute_values():
    X = np.array([[1.0, -5.0, 3.0], [0.0, 2.0, 0.0]])
    rows = tokens(feature_input(X, max_tokens=2), X)
    assert rows_of(rows) == [[2, 3], [2]]


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_sparse_formats_give_the_same_rows_and_stay_untouched(container):
    X = np.array([[0.0, 2.0], [1.0, 4.0]])
    S = container(X)
    expected = tokens(feature_input(X), X)
    rows = tokens(feature_input(S), S)
    np.testing.assert_array_equal(rows.tokens, expected.tokens)
    np.testing.assert_array_equal(rows.values, expected.values)
    np.testing.assert_array_equal(S.toarray(), X)


def test_unsorted_duplicated_and_zero_entries_are_made_canonical():
    data, indices = np.array([1.0, 2.0, 0.0, 1.0]), np.array([1, 0, 2, 0])
    S = sp.csr_array((data, indices, np.array([0, 4])), shape=(1, 3))
    encoder = feature_input(np.array([[1.0, 1, 1], [3, 0, 0]]))
    rows = tokens(encoder, S)
    assert rows_of(rows) == [[1, 2]]
    assert rows.values[0] > 0  # 2 + 1 lies above the mean of 2
    assert S.nnz == 4


def test_rare_features_of_a_bag_weigh_more():
    X = np.zeros((40, 12))
    X[:, 0] = 1  # in every row
    X[np.arange(40), 1 + np.arange(40) % 11] = 1
    encoder = feature_input(np.vstack([X, 2 * np.eye(12)]), weighted=True)
    common, rare = tokens(encoder, X).weights.reshape(40, 2).T
    assert (rare > common).all()


def test_a_row_of_equal_shares_has_no_weights_to_speak_of():
    X = np.kron(np.eye(6), np.ones((3, 6)))
    X = np.pad(X, ((0, 2), (0, 1)))
    X[-2:, -1] = 1, 3  # so that values differ
    rows = tokens(feature_input(X, weighted=True), X[:-2])
    np.testing.assert_allclose(rows.weights, 0.0, atol=1e-6)


def test_measurements_binary_bags_and_the_paper_have_none():
    X = np.random.default_rng(0).normal(size=(20, 5))
    assert tokens(feature_input(X, weighted=True), X).weights is None
    counts = np.eye(9) + np.eye(9, k=1) * 2
    assert tokens(feature_input(counts), counts).weights is None
    assert tokens(feature_input(np.eye(9), weighted=True), np.eye(9)).weights is None
    ids = np.array([[1, 2], [2, 0]])
    assert tokens(sequence_input(ids), ids).weights is None
