"""Which rows to look at when all of them are too many. numpy only."""

import numpy as np


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
