"""What the neighbour voter remembers of rows, put together from two groups of them.

Knows numpy and scipy.
"""

import numpy as np
import scipy.sparse as sp


def joined(old, chosen, new):
    """Remembered rows of two voters, by the names of their attributes.

    Parameters
    ----------
    old : NeighborVoter
        Of whose rows some are chosen.
    chosen : ndarray of int
        Which.
    new : NeighborVoter
        All of whose rows follow.

    Returns
    -------
    attributes : dict of str to object
        ``columns_``, ``labels_``, ``unknown_`` and ``counts_``.
    """
    labels = [old.labels_[chosen], new.labels_]
    return {
        "columns_": _beside(old.columns_[:, chosen], new.columns_),
        "labels_": sp.csr_array(sp.vstack(labels)),
        "unknown_": _unknown(old.unknown_, chosen, new.unknown_, labels),
        "counts_": _counts(old.counts_, chosen, new.counts_, labels),
    }


def _beside(left, right):
    """Put columns beside each other, dense or sparse as they are."""
    if sp.issparse(left):
        return sp.csr_array(sp.hstack([left, right]))
    return np.hstack([left, right])


def _unknown(old, chosen, new, labels):
    """Ones where a label is not known; None where all are."""
    if old is None and new is None:
        return None
    nothing = [sp.csr_array(part.shape, dtype=np.float32) for part in labels]
    found = [None if old is None else old[chosen], new]
    pairs = zip(found, nothing, strict=True)
    return sp.csr_array(sp.vstack([zeros if part is None else part for part, zeros in pairs]))


def _counts(old, chosen, new, labels):
    """Weights of rows; None where all are 1."""
    if old is None and new is None:
        return None
    ones = [np.ones(part.shape[0], dtype=np.float32) for part in labels]
    found = [None if old is None else old[chosen], new]
    pairs = zip(found, ones, strict=True)
    return np.concatenate([one if part is None else part for part, one in pairs])
