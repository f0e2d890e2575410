"""The k smallest values of each row: order, ties, and types."""

import numpy as np
import pytest

from sklearn_mrmp._numerics.topk import smallest_columns


def sorted_whole(values, k):
    """What a stable sort of all columns says."""
    return np.argsort(values, axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_levels", [2, 10, 10_000])
@pytest.mark.parametrize(("n_columns", "k"), [(1, 1), (7, 7), (40, 3), (300, 20), (2000, 50)])
def test_finds_what_a_stable_sort_finds_with_few_ties_and_with_many(dtype, n_levels, n_columns, k):
    rng = np.random.default_rng(k)
    values = (rng.integers(n_levels, size=(30, n_columns)) - n_levels // 2).astype(dtype) / 3
    np.testing.assert_array_equal(smallest_columns(values, k), sorted_whole(values, k))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_one_value_give_their_first_columns(dtype):
    columns = smallest_columns(np.zeros((3, 500), dtype=dtype), 4)
    np.testing.assert_array_equal(columns, np.tile(np.arange(4), (3, 1)))


def test_zeros_of_both_signs_are_equal():
    values = np.array([[0.0, -0.0, 1.0, -0.0, -1.0]], dtype=np.float32)
    np.testing.assert_array_equal(smallest_columns(values, 4), [[4, 0, 1, 3]])


def test_infinite_values_have_their_place():
    values = np.array([[np.inf, 2.0, -np.inf, 3e38, -3e38]], dtype=np.float32)
    np.testing.assert_array_equal(smallest_columns(values, 5), [[2, 4, 1, 3, 0]])


def test_ties_above_and_below_the_bound_are_told_apart():
    # Most columns share the value of the bound; smaller ones stand anywhere, the last included.
    values = np.ones((2, 1000), dtype=np.float32)
    values[0, [999, 500]] = 0.0, 0.5
    np.testing.assert_array_equal(smallest_columns(values, 4), [[999, 500, 0, 1], [0, 1, 2, 3]])


def test_a_row_does_not_depend_on_the_others():
    values = np.random.default_rng(0).integers(5, size=(20, 400)).astype(np.float32)
    together = smallest_columns(values, 10)
    for row in range(len(values)):
        np.testing.assert_array_equal(smallest_columns(values[row : row + 1], 10)[0], together[row])


def test_no_rows_give_no_columns():
    assert smallest_columns(np.empty((0, 9), dtype=np.float32), 3).shape == (0, 3)


def test_values_that_are_not_contiguous_are_read_right():
    values = np.random.default_rng(0).random((50, 40)).astype(np.float32)
    np.testing.assert_array_equal(smallest_columns(values.T, 5), sorted_whole(values.T, 5))
