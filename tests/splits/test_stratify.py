"""How balanced the parts are, and the steps that make them so."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp._splits.strata import label_matrix, strata_of
from sklearn_mrmp._splits.stratify import stratified_parts
from sklearn_mrmp._splits.swaps import _choose_swaps, _pairs_of_parts, exchange_rows


def sparse_labels(n_samples=400, n_labels=20, share=0.1):
    rng = np.random.default_rng(1)
    return (rng.random((n_samples, n_labels)) < share).astype(int)


def pair_labels(Y):
    first, second = np.triu_indices(Y.shape[1], 1)
    return Y[:, first] * Y[:, second]


def squares(features, part, sizes):
    """The sum that exchanges make smaller, written out."""
    features = np.asarray(features, dtype=float)
    counts = np.array([features[part == number].sum(axis=0) for number in range(len(sizes))])
    return np.sum((counts - np.outer(sizes, features.mean(axis=0))) ** 2)


@pytest.mark.parametrize("seed", [None, 0, 1, 2])
@pytest.mark.parametrize("sizes", [[80] * 5, [40, 360], [100, 200, 100]])
def test_each_part_has_its_share_of_each_label(sizes, seed):
    Y = sparse_labels()
    draw = None if seed is None else np.random.RandomState(seed)
    part = stratified_parts(Y, sizes, random_state=draw)
    assert np.bincount(part).tolist() == sizes
    for number, size in enumerate(sizes):
        desired = Y.sum(axis=0) * size / 400
        assert np.abs(Y[part == number].sum(axis=0) - desired).max() <= 1


def test_the_second_order_balances_pairs_better():
    Y = sparse_labels(share=0.2)
    pairs, sizes = pair_labels(Y), [80] * 5
    first, second = (squares(pairs, stratified_parts(Y, sizes, order), sizes) for order in (1, 2))
    assert second < 0.8 * first


def test_rows_of_a_label_with_few_of_them_are_in_different_folds():
    Y = sparse_labels()
    Y[:, 0] = 0
    Y[[3, 5, 7, 300], 0] = 1
    assert len(set(stratified_parts(Y, [80] * 5)[[3, 5, 7, 300]])) == 4


def test_rows_with_the_same_rare_label_have_neighbouring_sets():
    Y = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1], [0, 0, 0], [1, 1, 0], [1, 0, 0]])
    strata = strata_of(label_matrix(Y), order=1)  # rarest first: the last, the middle, the first
    assert strata.set_of_row.tolist() == [3, 2, 1, 0, 2, 3]
    assert strata.features.toarray().tolist() == [[0, 0], [0, 1], [1, 1], [0, 1]]


def test_pairs_are_strata_of_the_second_order():
    Y = sparse_labels(share=0.3)
    strata = strata_of(label_matrix(Y), order=2)
    counts = strata.features[strata.set_of_row].sum(axis=0)
    expected = np.concatenate([Y.sum(axis=0), pair_labels(Y).sum(axis=0)])
    assert sorted(counts) == sorted(expected[expected > 1])


@pytest.mark.parametrize("n_columns", [30, 1000])
def test_exchanges_keep_the_sizes_and_lower_the_sum(n_columns):
    features = sparse_labels(300, n_columns)  # the larger one is kept sparse
    part, sizes = np.repeat([0, 1, 2], [50, 100, 150]), [50, 100, 150]
    after = exchange_rows(sp.csr_array(features), part, sizes)
    assert np.bincount(after).tolist() == sizes
    assert squares(features, after, sizes) < squares(features, part, sizes)


def test_the_gain_of_an_exchange_is_what_the_sum_loses():
    features = sparse_labels(12, 5, 0.5).astype(float)
    part, sizes = np.repeat([0, 1], 6), [6, 6]
    excess = features[:6].sum(axis=0) - features[6:].sum(axis=0)
    pull = features @ excess * np.repeat([1, -1], 6)
    gain, overlap = pull - features.sum(axis=1), features @ features.T
    losses = np.empty((6, 6))
    for i, j in np.ndindex(6, 6):
        other = part.copy()
        other[[i, 6 + j]] = [1, 0]
        losses[i, j] = squares(features, part, sizes) - squares(features, other, sizes)
    expected = gain[:6, None] + gain[6:] + 2 * overlap[:6, 6:]
    np.testing.assert_allclose(losses / 2, expected)
    i, j = _choose_swaps(gain, overlap, 6)[0]
    assert losses[i, j] == pytest.approx(losses.max())


@pytest.mark.parametrize("n_parts", [2, 3, 6, 7])
def test_each_two_parts_meet_once(n_parts):
    met = [frozenset(pair) for pair in _pairs_of_parts(n_parts)]
    assert len(set(met)) == len(met) == n_parts * (n_parts - 1) // 2
