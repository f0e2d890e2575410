"""Rows at equal distances, and rows a block at a time. Leaf module: numpy alone."""

import numpy as np

# Numbers of a block of rows: 64 MB of float32, and 8 MB, which caches bear.
BLOCK_NUMBERS = 2**24
CACHE_NUMBERS = 2**21
# Weights and decisions are tuned on dense arrays of at most this many entries.
DENSE_ENTRIES = 2**25


def evenly_spaced(n_samples, n_most):
    """Row numbers: all, or `n_most` of them at equal distances.

    Examples
    --------
    >>> evenly_spaced(10, 4).tolist()
    [0, 3, 6, 9]
    """
    if n_samples <= n_most:
        return np.arange(n_samples)
    return np.linspace(0, n_samples - 1, n_most).astype(np.intp)


def row_blocks(n_samples, width, numbers=BLOCK_NUMBERS):
    """Slices of rows whose `width` numbers each are at most so many numbers together.

    Examples
    --------
    >>> list(row_blocks(3, BLOCK_NUMBERS // 2))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    size = max(1, numbers // max(width, 1))
    # Not by scikit-learn's `gen_batches`, whose checks take as long as some of the work on a row.
    return (slice(start, min(start + size, n_samples)) for start in range(0, n_samples, size))
