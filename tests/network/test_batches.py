"""Batches: every row once, little padding, a new order each epoch."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from sklearn_mrmp._network.batches import (
    TokenBatches,
    TokenDataset,
    as_tensors,
    bucketed,
    prediction_batches,
    should_thread,
)
from tests.tiny import feature_input, sequence_input, tokens


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
    return tokens(sequence_input(X.astype(int)), X.astype(int))


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
    assert should_thread(rows, 2**7, 2**8, "cpu") == (len(sizes) > 1)
    assert not should_thread(rows, 2**7, 2**8, "cuda")


def test_order_changes_each_epoch_and_repeats_with_the_seed():
    def epochs(seed):
        rng = np.random.default_rng(seed)
        lengths = np.arange(64) % 7
        return [[b.tolist() for b in bucketed(lengths, 8, rng)] for _ in range(2)]

    first, second = epochs(0)
    assert first != second
    assert epochs(0) == [first, second]


def test_batches_carry_values_and_matching_targets():
    X = np.random.default_rng(0).random((10, 3)) + 0.1
    Y = sp.csr_array(np.arange(20).reshape(10, 2) % 2)
    dataset = TokenDataset(tokens(feature_input(X), X), Y)
    batches = TokenBatches(dataset, 4, np.random.default_rng(0), feature_dropout=0.5)
    assert len(batches) == 3
    shapes = [(batch["values"].shape == batch["tokens"].shape, len(y[0])) for batch, y in batches]
    assert sum(n for _, n in shapes) == 10
    assert all(same for same, _ in shapes)
    assert next(iter(batches))[1][0].dtype == torch.float32


def test_validation_batches_drop_nothing():
    X = 1.0 + np.arange(120).reshape(6, 20)
    dataset = TokenDataset(tokens(feature_input(X), X), sp.csr_array(np.eye(6)))
    ((batch, _),) = TokenBatches(dataset, 8, rng=None, feature_dropout=0.9)
    assert batch["tokens"].shape == (6, 20)


def test_tensors_are_the_arrays_of_a_batch():
    X = np.random.default_rng(0).random((4, 3)) + 0.1
    batch = tokens(feature_input(X), X).padded()
    tensors = as_tensors(batch)
    assert tensors.keys() == batch.keys() == {"tokens", "values"}
    assert tensors["tokens"].dtype == torch.int64
    for name, array in batch.items():
        np.testing.assert_array_equal(tensors[name], array)


@pytest.mark.parametrize("takes_labels", [False, True])
def test_networks_that_want_to_see_the_targets_get_them(takes_labels):
    X, Y = 1.0 + np.arange(18).reshape(6, 3), sp.csr_array(np.eye(6))
    dataset = TokenDataset(tokens(feature_input(X), X), Y)
    for batch, (targets, _) in TokenBatches(dataset, 4, takes_labels=takes_labels):
        assert ("targets" in batch) == takes_labels
        assert not takes_labels or batch["targets"] is targets


def test_a_pass_that_is_taken_up_again_has_the_batches_of_a_whole_one():
    X = np.random.default_rng(0).random((10, 3)) + 0.1
    dataset = TokenDataset(tokens(feature_input(X), X), sp.csr_array((10, 2)))

    def batches(n_skip):
        rng = np.random.default_rng(0)
        found = TokenBatches(dataset, 4, rng, feature_dropout=0.5, n_skip=n_skip)
        return [batch["tokens"].tolist() for _ in range(2) for batch, _ in found]

    assert batches(2) == batches(0)[2:]
