"""Told labels: read alike from every container, and drawn at random."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from sklearn_mrmp._numerics.told import impose, is_untold, random_telling, read_told

NAMES = ["sea", "ship", "sand"]
DENSE = np.array([[1, np.nan, 0], [np.nan, np.nan, np.nan], [0, 1, np.nan]])
SIGNS = [[1, 0, -1], [0, 0, 0], [-1, 1, 0]]


def as_sparse(values):
    rows, columns = np.nonzero(~np.isnan(values))
    return sp.csr_array((values[rows, columns], (rows, columns)), shape=values.shape)


@pytest.mark.parametrize(
    "known",
    [
        DENSE,
        DENSE.tolist(),
        np.where(np.isnan(DENSE), None, DENSE),
        as_sparse(DENSE),
        sp.csc_matrix(as_sparse(DENSE)),
        sp.csr_array((DENSE.ravel(), np.tile(range(3), 3), range(0, 10, 3)), shape=(3, 3)),
        pd.DataFrame(DENSE, columns=NAMES),
        pd.DataFrame(DENSE, columns=NAMES)[["sand", "sea", "ship"]],
        pd.DataFrame(DENSE, columns=NAMES).astype("Int64"),
        pd.DataFrame(DENSE),
    ],
)
def test_all_containers_are_read_alike(known):
    assert read_told(known, NAMES).toarray().tolist() == SIGNS


def test_labels_without_a_column_of_the_frame_are_not_known():
    told = read_told(pd.DataFrame({"sand": [0, 1], "sea": [1, np.nan]}), NAMES)
    assert told.toarray().tolist() == [[1, 0, -1], [0, 0, 1]]


def test_an_array_without_nan_tells_everything():
    assert read_told(np.eye(3, dtype=bool), NAMES).nnz == 9


def test_a_stored_zero_is_told_and_others_are_not():
    known = sp.csr_array((np.array([0.0]), ([0], [1])), shape=(1, 3))
    assert read_told(known, NAMES).toarray().tolist() == [[0, -1, 0]]


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ([[1, 0]], "each of the 3 labels"),
        ([1, 0, 1], "must be a matrix"),
        ([[1, 2, np.nan]], "holds 2"),
        ([[1, -1, 0.5]], "holds -1.0, 0.5"),
        ([["yes", "no", ""]], "must be a matrix"),
        (sp.csr_array([[3.0, 0, 0]]), "holds 3"),
        (pd.DataFrame({"sea": [1], "lake": [0]}), "'lake', which is no label"),
        (pd.DataFrame([[1, 0]], columns=["sea", "sea"]), "'sea' names several"),
    ],
)
def test_what_cannot_be_told_is_refused(known, message):
    with pytest.raises(ValueError, match=message):
        read_told(known, NAMES)


def test_imposed_are_the_told_entries_and_no_others():
    told = read_told(DENSE, NAMES)
    P = impose(np.full((3, 3), 0.5), told, 1, 0)
    assert P.tolist() == [[1, 0.5, 0], [0.5, 0.5, 0.5], [0, 1, 0.5]]
    assert (is_untold(told) == (P == 0.5)).all()


def test_a_random_telling_tells_the_truth_about_known_entries():
    rng = np.random.default_rng(0)
    Y, known = rng.random((400, 20)) < 0.3, rng.random((400, 20)) < 0.7
    told = random_telling(sp.csr_array(Y & known, dtype=np.int32), 0.5, rng, known).toarray()
    assert (Y[told > 0]).all()
    assert not Y[told < 0].any()
    assert not told[~known].any()
    share = np.count_nonzero(told > 0) / np.count_nonzero(Y & known)
    assert 0.4 < share < 0.6
    assert np.count_nonzero(told < 0) > 0


def test_tellings_depend_on_the_generator_alone():
    Y = sp.csr_array(np.random.default_rng(0).random((50, 6)) < 0.3, dtype=np.int32)
    first, again, other = (
        random_telling(Y, 0.5, np.random.default_rng(seed)).toarray() for seed in (1, 1, 2)
    )
    assert (first == again).all()
    assert (first != other).any()
