"""Rows of RCV1's shape in any number. Helper of the benchmarks."""

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._numerics.sparse import unit_rows


def generate(n_samples, n_features=47_236, n_words=90, n_labels=103, n_topic_words=60):
    """Rows of RCV1's shape: Zipf's words, nine of them from the topics that its labels are.

    About 75 of the words are distinct. One label of nine is wrong.
    """
    rng = np.random.default_rng(0)
    frequency = 1.0 / np.arange(1, n_labels + 1)
    labels = rng.choice(n_labels, (n_samples, 3), p=frequency / frequency.sum())
    topics = _zipf(rng, n_features, (n_labels, n_topic_words))
    words = _zipf(rng, n_features, (n_samples, n_words))
    chosen = labels[:, np.arange(9) % 3]
    words[:, :9] = topics[chosen, rng.integers(n_topic_words, size=chosen.shape)]
    wrong = rng.random(n_samples) < 1 / 3
    labels[wrong, 0] = rng.choice(n_labels, wrong.sum(), p=frequency / frequency.sum())
    Y = _indicators(labels, n_labels)
    Y.data[:] = 1
    X = _indicators(words, n_features)
    X.data = 1 + np.log(X.data)
    rarity = np.log(n_samples / (1 + np.bincount(X.indices, minlength=n_features))) + 1
    X.data *= rarity[X.indices]
    return unit_rows(X), Y


def _zipf(rng, n, shape):
    """Draw numbers below n, each as often as it is small."""
    return np.floor(n ** rng.random(shape)).astype(np.int64) - 1


def _indicators(columns, n_columns):
    """Count the columns that each row names."""
    n_samples, n_each = columns.shape
    starts = np.arange(0, n_samples * n_each + 1, n_each)
    counts = sp.csr_array((np.ones(columns.size), columns.ravel(), starts), (n_samples, n_columns))
    counts.sum_duplicates()
    return counts
