"""Which rows are held out: a share, folds, or what a splitter says."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, PredefinedSplit, ShuffleSplit

from sklearn_mrmp._ensemble.splits import check_held_out, is_share, split_rows

X = np.zeros((20, 1))


def split(cv, seed=0, X=X):
    return split_rows(X, X, cv, np.random.RandomState(seed))


@pytest.mark.parametrize(("share", "n_held_out"), [(0.1, 2), (0.5, 10), (0.001, 1), (0.999, 19)])
def test_a_share_leaves_rows_on_both_sides(share, n_held_out):
    ((train, held_out),) = split(share)
    assert len(held_out) == n_held_out
    assert sorted([*train, *held_out]) == list(range(20))
    assert (np.diff(train) > 0).all()
    assert (np.diff(held_out) > 0).all()


@pytest.mark.parametrize("cv", [0.3, 4])
def test_the_draw_repeats_with_the_seed_alone(cv):
    first, again, other = (
        [held_out.tolist() for _, held_out in split(cv, seed)] for seed in (0, 0, 1)
    )
    assert first == again != other


def test_folds_hold_out_each_row_once():
    folds = split(3)
    assert len(folds) == 3
    assert sorted(np.concatenate([held_out for _, held_out in folds])) == list(range(20))
    for train, held_out in folds:
        assert not set(train) & set(held_out)


@pytest.mark.parametrize(
    "cv", [KFold(4), ShuffleSplit(2, random_state=0), PredefinedSplit([-1] * 15 + [0] * 5)]
)
def test_splitters_are_asked(cv):
    for (train, held_out), expected in zip(split(cv), cv.split(X, X), strict=True):
        np.testing.assert_array_equal(train, expected[0])
        np.testing.assert_array_equal(held_out, expected[1])


class Nothing:
    """A splitter that has nothing to say, or says nothing is held out."""

    def __init__(self, splits):
        self.splits = splits

    def get_n_splits(self, *arguments):
        return len(self.splits)

    def split(self, X, y=None, groups=None):
        return iter(self.splits)


@pytest.mark.parametrize("splits", [[], [([0, 1], [])], [([], [0, 1])]])
def test_splitters_that_hold_nothing_out_are_refused(splits):
    with pytest.raises(ValueError, match="at least one split with rows to train on and rows held"):
        split(Nothing(splits))


def test_too_few_rows_are_refused():
    with pytest.raises(ValueError, match="at least 2 are needed; got n_samples=1"):
        split(0.1, X=X[:1])
    with pytest.raises(ValueError, match="cv=3 folds need as many rows; got n_samples=2"):
        split(3, X=X[:2])


@pytest.mark.parametrize(("cv", "expected"), [(0.1, True), (np.float32(0.5), True), (2, False)])
def test_numbers_below_one_are_shares(cv, expected):
    assert is_share(cv) == expected


def test_held_out_rows_come_with_their_labels():
    check_held_out(None, None, 0.1, True)
    check_held_out(X, X, 0.1, True)
    for given in ((X, None), (None, X)):
        with pytest.raises(ValueError, match="X_val and y_val must be given together"):
            check_held_out(*given, 0.1, False)
