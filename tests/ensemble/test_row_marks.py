"""Rows that are known again, and what is held out when a fit goes on from an earlier one."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp._ensemble.row_marks import NEW, TRAINED, RowMarks, row_checksums
from sklearn_mrmp._ensemble.splits import split_rows

N = 40


@pytest.fixture(scope="module")
def X():
    return sp.random_array((N, 12), density=0.4, rng=np.random.default_rng(0), format="csr")


def test_a_row_has_the_same_checksum_whatever_its_types_and_its_place(X):
    marks = row_checksums(X)
    assert len(np.unique(marks)) == N
    other = sp.csr_array(X[::-1].astype(np.float64))
    other.indices = other.indices.astype(np.int64)
    np.testing.assert_array_equal(row_checksums(other), marks[::-1])


def test_rows_that_differ_in_one_value_or_one_place_differ(X):
    changed = X.copy()
    changed.data[0] += 1e-9
    assert (row_checksums(changed) != row_checksums(X)).sum() == 1


def test_what_happened_last_to_a_row_is_what_is_known_of_it(X):
    marks = row_checksums(X)
    first = RowMarks.of(marks[:10], np.arange(10))
    second = RowMarks.of(marks[5:20], np.full(15, TRAINED), first)
    expected = [0, 1, 2, 3, 4, *[TRAINED] * 15, *[NEW] * 20]
    assert second.parts_of(marks).tolist() == expected


def state():
    return np.random.RandomState(0)


def test_rows_that_were_held_out_stay_so_and_trained_ones_are_not(X):
    [(train, held_out)] = split_rows(X, X, 0.2, state())
    known = np.full(N, NEW)
    known[:30] = TRAINED
    known[[2, 7, 11, 13, 17, 23]] = 0
    [(train, held_out)] = split_rows(X, X, 0.2, state(), known_parts=known)
    assert sorted([*train, *held_out]) == list(range(N))
    assert {2, 7, 11, 13, 17, 23} == set(held_out[held_out < 30])
    assert len(held_out) == 6 + 2  # a fifth of the new ones


def test_new_rows_alone_are_split_as_ever(X):
    known = np.full(N, NEW)
    for cv in (0.2, 4):
        plain, marked = (split_rows(X, X, cv, state(), known_parts=k) for k in (None, known))
        for a, b in zip(plain, marked, strict=True):
            np.testing.assert_array_equal(np.concatenate(a), np.concatenate(b))


def test_where_all_rows_were_trained_on_they_have_to_do(X):
    known = np.full(N, TRAINED)
    [(_, held_out)] = split_rows(X, X, 0.2, state(), known_parts=known)
    assert len(held_out) == 8


def test_rows_of_folds_stay_in_their_folds(X):
    first = split_rows(X[:30], X, 3, state())
    known = np.full(N, NEW)
    for fold, (_, held_out) in enumerate(first):
        known[held_out] = fold
    second = split_rows(X, X, 3, np.random.RandomState(1), known_parts=known)
    for (_, before), (train, now) in zip(first, second, strict=True):
        assert set(before) == {row for row in now if row < 30}
        assert not set(train) & set(now)
    assert sorted(np.concatenate([now for _, now in second])) == list(range(N))
