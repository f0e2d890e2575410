"""Batches: every row once, little padding, a new order each epoch."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from sklearn_mrmp._input.tokens import FeatureTokens, SequenceTokens
from sklearn_mrmp._network.batches import (
    TokenBatches,
    TokenDataset,
    bucketed,
    padded,
    prediction_batches,
    threads_pay,
)


@pytest.mark.parametrize("seed", [None, 0])
@pytest.mark.parametrize(("n_samples", "batch_size"), [(1, 8), (100, 8), (5000, 32)])
def test_each_row_is_in_exactly_one_batch(seed, n_samples, batch_size):
    lengths = np.random.default_rng(1).integers(0, 90, n_samples)
    rng = None if seed is None else np.random.default_rng(seed)
    batches = bucketed(lengths, batch_size, rng)
    assert sorted(np.concatenate(batches)) == list(range(n_samples))
    assert len(batches) == -(-n_samples // batch_size)


def test_bucketing_needs_far_less_padding_than_random_batches():
    rng = np.random.default_rng(0)
    lengths = rng.geometric(0.02, 4000)

    def padding(batches):
        return sum(len(b) * lengths[b].max() for b in batches) / lengths.sum() - 1

    at_random = np.array_split(rng.permutation(4000), 125)
    assert padding(bucketed(lengths, 32, rng)) < 0.15 * padding(at_random)


def sequences(lengths):
    X = np.arange(max(lengths)) < np.asarray(lengths)[:, None]
    return SequenceTokens().fit(X.astype(int)).transform(X.astype(int))


@pytest.mark.parametrize("n_decoded", [1, 100, 2**10, 2**20])
def test_prediction_batches_hold_each_row_once_and_fit_the_caches(n_decoded):
    rows = sequences(np.random.default_rng(1).integers(1, 90, 700))
    batches = prediction_batches(rows, n_decoded, 256, "cpu")
    assert sorted(np.concatenate(batches)) == list(range(700))
    for batch in batches:
        widest_layer = max(n_decoded, rows.lengths[batch].max()) * 256
        assert len(batch) <= min(256, max(1, 2**21 // widest_layer))


def test_a_long_row_does_not_pad_hundreds_of_short_ones():
    rows = sequences([1000, 900] + [2] * 200)
    first, second = prediction_batches(rows, 1, 1, "cpu")
    assert sorted(first) == [0, 1]
    assert len(second) == 200


def test_prediction_batches_are_larger_on_other_devices():
    rows = sequences([3] * 200)
    assert len(prediction_batches(rows, 2**12, 2**8, "cpu")) == 100
    assert len(prediction_batches(rows, 2**12, 2**8, "cuda")) == 4


@pytest.mark.parametrize(
    ("n_rows", "sizes"), [(63, [63]), (65, [9] * 7 + [2]), (800, [64] * 12 + [32])]
)
def test_rows_that_fill_more_than_a_batch_are_for_several_threads(n_rows, sizes):
    rows = sequences([5] * n_rows)
    assert [len(batch) for batch in prediction_batches(rows, 2**7, 2**8, "cpu")] == sizes
    assert threads_pay(rows, 2**7, 2**8, "cpu") == (len(sizes) > 1)
    assert not threads_pay(rows, 2**7, 2**8, "cuda")


def test_order_changes_each_epoch_and_repeats_with_the_seed():
    def epochs(seed):
        rng = np.random.default_rng(seed)
        lengths = np.arange(64) % 7
        return [[b.tolist() for b in bucketed(lengths, 8, rng)] for _ in range(2)]

    first, second = epochs(0)
    assert first != second
    assert epochs(0) == [first, second]


def test_padded_batch_has_mask_only_where_padding_is():
    X = np.array([[1, 2, 3], [4, 0, 0], [0, 0, 0]])
    rows = SequenceTokens().fit(X).transform(X)
    batch = padded(rows)
    assert batch["tokens"].tolist() == X.tolist()
    assert batch["mask"].tolist() == (X > 0).tolist()
    assert "values" not in batch
    assert "mask" not in padded(rows.take(np.array([0])))


def test_batch_of_empty_rows_keeps_a_place_for_them():
    rows = SequenceTokens().fit(np.zeros((2, 3), dtype=int)).transform(np.zeros((2, 3), dtype=int))
    batch = padded(rows)
    assert batch["tokens"].shape == (2, 1)
    assert not batch["mask"].any()


def test_batches_carry_values_and_matching_targets():
    X = np.random.default_rng(0).random((10, 3)) + 0.1
    Y = sp.csr_array(np.arange(20).reshape(10, 2) % 2)
    dataset = TokenDataset(FeatureTokens().fit(X).transform(X), Y)
    batches = TokenBatches(dataset, 4, np.random.default_rng(0), feature_dropout=0.5)
    assert len(batches) == 3
    shapes = [(batch["values"].shape == batch["tokens"].shape, len(y[0])) for batch, y in batches]
    assert sum(n for _, n in shapes) == 10
    assert all(same for same, _ in shapes)
    assert next(iter(batches))[1][0].dtype == torch.float32


def test_validation_batches_drop_nothing():
    X = np.ones((6, 20))
    dataset = TokenDataset(FeatureTokens().fit(X).transform(X), sp.csr_array(np.eye(6)))
    ((batch, _),) = TokenBatches(dataset, 8, rng=None, feature_dropout=0.9)
    assert batch["tokens"].shape == (6, 20)


def test_weights_are_the_mask_and_padding_is_minus_infinity():
    X = sp.csr_array([[0, 1.0, 3, 0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0, 0, 0], [0] * 9])
    rows = FeatureTokens(weighted=True).fit(X).transform(X)
    mask = padded(rows)["mask"]
    assert mask.dtype == torch.float32
    assert torch.isfinite(mask).tolist() == [[True, True], [True, False], [False, False]]
    np.testing.assert_array_equal(mask[torch.isfinite(mask)], rows.weights)
