"""What entries count in the loss of a network."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from sklearn_mrmp._network.architecture import NetworkData
from sklearn_mrmp._network.batches import TokenBatches, TokenDataset
from sklearn_mrmp._numerics.entry_weights import EntryWeights
from sklearn_mrmp._voters.shortlist import Shortlist
from sklearn_mrmp.nn import MrMPLoss, NetworkOutput
from tests.tiny import feature_input, tokens

N_ROWS, N_LABELS = 12, 5


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.integers(0, 2, (N_ROWS, 7)).astype(float))
    Y = sp.csr_array(rng.integers(0, 2, (N_ROWS, N_LABELS)))
    return X, Y, rng.normal(size=Y.shape).astype(np.float32)


def mean_loss(data, weights, batch_size, shortlist=None, n_passes=1):
    """Mean over all rows of the losses of their batches, by logits that depend on the row alone."""
    X, Y, Z = data
    encoder = feature_input(X)
    dataset = TokenDataset(tokens(encoder, X), Y, shortlist, weights)
    loss, total, rng = MrMPLoss(weight=0.0), 0.0, np.random.default_rng(1)
    for _ in range(n_passes):
        for start in range(0, N_ROWS, batch_size):
            chosen = np.arange(start, start + batch_size)
            places, targets = dataset.targets(chosen, rng)
            logits = torch.from_numpy(Z[chosen])
            if shortlist is not None:
                logits = logits.gather(1, places["candidates"])
            total += float(loss(NetworkOutput(logits), *targets)) * batch_size
    return total / N_ROWS / n_passes


def plain_loss(data, counts):
    """Weighted mean of the cross entropy of all entries."""
    _, Y, Z = data
    losses = np.logaddexp(0, Z) - Y.toarray() * Z
    return (losses * counts).sum() / counts.sum()


@pytest.mark.parametrize("batch_size", [2, 4, 12])
def test_batches_of_any_size_have_the_loss_of_repeated_rows_on_average(data, batch_size):
    rows = np.random.default_rng(2).integers(1, 5, N_ROWS).astype(float)
    counts = np.repeat(rows[:, None], N_LABELS, axis=1)
    found = mean_loss(data, EntryWeights.of(rows=rows), batch_size)
    assert found == pytest.approx(plain_loss(data, counts), rel=1e-5)


def test_unknown_entries_and_weights_of_labels_enter_the_loss(data):
    known = np.random.default_rng(2).random((N_ROWS, N_LABELS)) < 0.5
    known[:2] = False  # a batch of which nothing is known
    labels = np.arange(1.0, N_LABELS + 1)
    found = mean_loss(data, EntryWeights.of(known, labels=labels), 2)
    assert found == pytest.approx(plain_loss(data, known * labels), rel=1e-5)


def test_a_sample_of_labels_has_that_loss_in_expectation(data):
    known = np.random.default_rng(2).random((N_ROWS, N_LABELS)) < 0.5
    candidates = np.tile(np.array([0, 3], dtype=np.int32), (N_ROWS, 1))
    shortlist = Shortlist(candidates, N_LABELS)
    found = mean_loss(data, EntryWeights.of(known), 4, shortlist, n_passes=2000)
    assert found == pytest.approx(plain_loss(data, known), rel=0.05)


def test_networks_start_from_the_shares_of_what_is_known(data):
    X, Y, _ = data
    known = np.random.default_rng(2).random((N_ROWS, N_LABELS)) < 0.5
    encoder = feature_input(X)
    Y = sp.csr_array(Y.toarray() * known)
    dataset = TokenDataset(tokens(encoder, X), Y, None, EntryWeights.of(known))
    prior = NetworkData.of(encoder, dataset, None).prior.numpy()
    np.testing.assert_allclose(prior, Y.sum(axis=0) / known.sum(axis=0), rtol=1e-6)


def test_batches_carry_the_weights(data):
    X, Y, _ = data
    encoder = feature_input(X)
    weights = EntryWeights.of(rows=np.full(N_ROWS, 2.0))
    batches = TokenBatches(TokenDataset(tokens(encoder, X), Y, None, weights), 5)
    for _, (targets, counts, total) in batches:
        assert counts.shape == targets.shape
        assert total == counts.sum()
