"""Prediction sets: the guarantee is checked exactly, by letting every row be the new one."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from sklearn_mrmp import LabelConformal


def covered_when_left_out(P, Y, alpha):
    """Whether the set of each row, by the other rows, contains its label; (n, n_labels)."""
    covered = np.empty(Y.shape, dtype=bool)
    for row in range(len(P)):
        others = np.arange(len(P)) != row
        sets = LabelConformal(alpha=alpha).fit(P[others], Y[others]).predict(P[[row]])[0]
        covered[row] = np.take_along_axis(sets, Y[row, :, None], axis=1)[:, 0]
    return covered


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.29, 0.35, 0.5])
@pytest.mark.parametrize("ties", [False, True])
def test_coverage_of_each_label_and_answer_is_guaranteed_and_tight(alpha, ties):
    """Exchangeable rows are equally probable to be the new one: coverage is a mean over rows."""
    rng = np.random.RandomState(0)
    Y = (rng.rand(60, 3) < [0.5, 0.2, 0.05]).astype(int)
    P = rng.permutation(180).reshape(60, 3) / 180
    P = P.round(1) if ties else P
    covered = covered_when_left_out(P, Y, alpha)
    for answer in (0, 1):
        for label in range(3):
            rows = covered[Y[:, label] == answer, label]
            most = np.floor(alpha * len(rows))
            missed = np.count_nonzero(~rows)
            assert missed <= most
            assert ties or missed == most  # no more is covered than has to be


def test_better_probabilities_give_smaller_sets():
    Y = np.arange(40)[:, None] % 2
    good, bad = np.where(Y, 0.9, 0.1), np.full((40, 1), 0.5)
    sizes = [LabelConformal().fit(P, Y).predict(P).sum() for P in (good, bad)]
    assert sizes == [40, 80]


def test_labels_with_too_few_rows_are_always_possible_and_say_so():
    Y = np.zeros((30, 2), dtype=int)
    Y[:8, 0], Y[:9, 1] = 1, 1
    P = np.linspace(1, 0, 60).reshape(30, 2)
    conformal = LabelConformal(alpha=0.1).fit(P, Y)
    assert conformal.always_included_.tolist() == [[False, True], [False, False]]
    assert conformal.n_calibration_.tolist() == [[22, 8], [21, 9]]
    assert conformal.predict(np.zeros((1, 2)))[0, :, 1].tolist() == [True, False]


def test_rows_without_labels_take_part():
    P = np.linspace(0, 1, 40).reshape(20, 2)
    conformal = LabelConformal(alpha=0.2).fit(P, np.zeros((20, 2), dtype=int))
    assert conformal.always_included_[:, 1].all()
    assert conformal.predict(P)[..., 0].sum(axis=0).tolist() == [17, 17]  # up to the fourth highest


def test_unknown_labels_and_rows_without_probabilities_are_left_out():
    rng = np.random.RandomState(0)
    Y, P = (rng.rand(40, 2) < 0.5).astype(float), rng.rand(40, 2)
    expected = LabelConformal().fit(P[:30], Y[:30])
    Y[30:35], P[35:] = np.nan, np.nan
    found = LabelConformal().fit(P, Y)
    np.testing.assert_array_equal(found.lowest_present_, expected.lowest_present_)
    np.testing.assert_array_equal(found.highest_absent_, expected.highest_absent_)


def test_sparse_labels_give_the_same():
    rng = np.random.RandomState(0)
    Y, P = (rng.rand(40, 2) < 0.5).astype(int), rng.rand(40, 2)
    sets = LabelConformal().fit(P, Y).predict(P)
    np.testing.assert_array_equal(LabelConformal().fit(P, sp.csr_array(Y)).predict(P), sets)


def test_what_cannot_be_used_is_refused():
    P, Y = np.full((4, 2), 0.5), np.eye(4, 2, dtype=int)
    with pytest.raises(ValueError, match="probabilities from 0 to 1"):
        LabelConformal().fit(P - 3, Y)
    with pytest.raises(ValueError, match="same shape"):
        LabelConformal().fit(P, Y[:, :1])
    with pytest.raises(ValueError, match="alpha"):
        LabelConformal(alpha=1.0).fit(P, Y)
    fitted = LabelConformal().fit(P, Y)
    with pytest.raises(ValueError, match="fitted with 2"):
        fitted.predict(P[:, :1])
    with pytest.raises(ValueError, match="NaN"):
        fitted.predict(P * np.nan)
    with pytest.raises(ValueError, match="both a label and a probability"):
        LabelConformal().fit(P * np.nan, Y)
    assert clone(fitted).alpha == 0.1
