"""Scaling to the unit range that leaves the zeros of sparse rows alone.

Fuzzy ART wants features in [0, 1], but only differences of values enter it. So each feature is
divided by its training range and moved only as far as needed for stored zeros to stay zero.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import min_max_axis

from sklearn_mrmp._model_files.part import Part, is_vector, require


@dataclass(frozen=True, eq=False)
class UnitRange:
    """Ranges of the training features, and rows scaled by them.

    Attributes
    ----------
    low, high : ndarray of shape (n_features,)
        Smallest and greatest value of each feature; the same for all after ``per_feature=False``.
    """

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, X, per_feature=True):
        """Learn the ranges of `X`, a dense or CSR matrix; zeros that are not stored count."""
        if sp.issparse(X):
            low, high = min_max_axis(X, axis=0)
        else:
            low, high = X.min(axis=0), X.max(axis=0)
        low, high = low.astype(np.float64), high.astype(np.float64)
        if not per_feature:
            low, high = np.full_like(low, low.min()), np.full_like(high, high.max())
        return cls(low, high)

    def scale(self, X):
        """Rows of `X`, clipped to the ranges, in units of the ranges; float64."""
        span = self.high - self.low
        span[span == 0] = 1.0
        origin = np.clip(0.0, self.low, self.high)  # what a zero is clipped to becomes zero
        if not sp.issparse(X):
            return (np.clip(X, self.low, self.high) - origin) / span
        at = X.indices
        data = (np.clip(X.data, self.low[at], self.high[at]) - origin[at]) / span[at]
        scaled = sp.csr_array((data, at.copy(), X.indptr.copy()), shape=X.shape)
        scaled.eliminate_zeros()
        return scaled


def _complete(unit_range):
    """Check, in a model file, the ranges of features."""
    low, high = unit_range.low, unit_range.high
    require(is_vector(low, kinds="f") and is_vector(high, len(low), "f"), "ranges of features")


UnitRange._model_part = Part(complete=_complete)
