"""Hyperboxes, the geometry behind fuzzy ART with complement coding, for dense and sparse rows.

A complement-coded weight w = (low, 1 - high) is the box from `low` to `high`, a complement-coded
input is a point, or in a second layer a box. With d features and the box size
R = sum(high - low), fuzzy ART's norms are geometry::

    |w| = d - R        |input ∧ w| = d - R - extension

where the extension is how much the box must grow, in sum over the features, to hold the input.
So nothing here ever forms the 2d columns of complement coding, and since sizes and extensions do
not change when everything moves, zeros of sparse rows may stay what they are.
It knows numpy and scipy, and nothing of learning.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from sklearn_mrmp._model_files.part import Part, is_matrix, require
from sklearn_mrmp._numerics.rows import CACHE_NUMBERS


@dataclass(frozen=True, eq=False)
class Hyperboxes:
    """Boxes with sides parallel to the axes; points when `high` is `low`.

    Attributes
    ----------
    low, high : ndarray or csr_array of shape (n_boxes, n_features), float64
        The two extreme corners of each box. Sparse arrays are canonical.
    """

    low: np.ndarray | sp.csr_array
    high: np.ndarray | sp.csr_array

    @classmethod
    def points(cls, X):
        """Each row of `X` as a box without extent."""
        return cls(X, X)

    def __len__(self):
        return self.low.shape[0]

    @property
    def n_features(self):
        """Number of dimensions."""
        return self.low.shape[1]

    @property
    def are_points(self):
        """Whether all boxes are known to be points."""
        return self.high is self.low

    @cached_property
    def sizes(self):
        """Sum of the side lengths of each box, R."""
        if self.are_points:
            return np.zeros(len(self))
        return self.high.sum(axis=1) - self.low.sum(axis=1)

    @cached_property
    def norms(self):
        """Norm of each box as a fuzzy ART weight, |w|."""
        return self.n_features - self.sizes

    @cached_property
    def transposed(self):
        """Transposes of `low` and `high`, sparse only, for products and column look-ups."""
        low = self.low.T.tocsr()
        return (low, low) if self.are_points else (low, self.high.T.tocsr())

    def take(self, rows):
        """Return the boxes at `rows`, a slice or array of positions."""
        low = self.low[rows]
        return Hyperboxes(low, low if self.are_points else self.high[rows])

    def row(self, i):
        """Return the non-zero columns of box `i`, and its low and high values in them."""
        if not sp.issparse(self.low):
            return slice(None), self.low[i], self.high[i]
        columns, low = _csr_row(self.low, i)
        if self.are_points:
            return columns, low, low
        high_columns, high = _csr_row(self.high, i)
        union = np.union1d(columns, high_columns)
        values = np.zeros((2, union.size))
        values[0, np.searchsorted(union, columns)] = low
        values[1, np.searchsorted(union, high_columns)] = high
        return union, values[0], values[1]


def stack(parts):
    """One `Hyperboxes` with the boxes of all `parts`."""
    stack_rows = sp.vstack if sp.issparse(parts[0].low) else np.concatenate
    low = stack_rows([part.low for part in parts])
    if all(part.are_points for part in parts):
        return Hyperboxes.points(low)
    return Hyperboxes(low, stack_rows([part.high for part in parts]))


def csr_from_dense(X):
    """Dense rows as a CSR array, without the detour (and the time) of scipy's constructor."""
    is_stored = X != 0
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(is_stored, axis=1))])
    return sp.csr_array((X[is_stored], np.nonzero(is_stored)[1], indptr), shape=X.shape)


def extensions(inputs, boxes):
    """How much each box must grow to hold each input; ndarray (n_inputs, n_boxes)."""
    total = np.zeros((len(inputs), len(boxes)))
    _add_manhattan(total, inputs, boxes, "low")
    if inputs.are_points and boxes.are_points:
        return np.maximum(total, 0, out=total)
    _add_manhattan(total, inputs, boxes, "high")
    # sum max(low_w - low, 0) = (sum |low_w - low| + sum (low_w - low)) / 2, likewise for high
    total -= boxes.sizes
    total += inputs.sizes[:, None]
    total /= 2
    return np.maximum(total, 0, out=total)


def activities(inputs, boxes, alpha):
    """Fuzzy ART's choice function |input ∧ w| / (alpha + |w|); ndarray (n_inputs, n_boxes)."""
    values = extensions(inputs, boxes)
    np.subtract(boxes.norms, values, out=values)
    values /= alpha + boxes.norms
    return values


def _csr_row(X, i):
    inside = slice(X.indptr[i], X.indptr[i + 1])
    return X.indices[inside], X.data[inside]


def _add_manhattan(total, inputs, boxes, corner):
    """Add to `total` the Manhattan distances between one corner of inputs and boxes."""
    A, B = getattr(inputs, corner), getattr(boxes, corner)
    if not sp.issparse(A):
        total += cdist(A, B, "cityblock")
        return
    B_columns = boxes.transposed[corner == "high"]
    total += abs(A).sum(axis=1)[:, None]
    total += abs(B).sum(axis=1)
    if np.all(A.data == 1) and np.all(B.data == 1):
        # What two 0/1 values share is their product, and products are much faster.
        total -= 2 * (A @ B_columns).toarray()
    else:
        _subtract_shared(total, A, B_columns)


def _subtract_shared(total, A, B_columns):
    """Subtract |a| + |b| - |a - b| summed over the columns where both rows have an entry."""
    lengths = np.diff(B_columns.indptr)[A.indices]
    pairs = np.concatenate([[0], np.cumsum(lengths)])[A.indptr]
    start = 0
    while start < A.shape[0]:
        # At least one row, then as many as keep the arrays of pairs small.
        stop = np.searchsorted(pairs, pairs[start] + CACHE_NUMBERS // 8, side="right") - 1
        stop = max(start + 1, stop)
        total[start:stop] -= _shared(A[start:stop], B_columns)
        start = stop


def _shared(A, B_columns):
    """Sum of |a| + |b| - |a - b| over shared columns, for all pairs of rows of A and B."""
    n_rows, n_boxes = A.shape[0], B_columns.shape[1]
    begins = B_columns.indptr[A.indices]
    lengths = np.diff(B_columns.indptr)[A.indices]
    # Positions in B of every partner of every entry of A, entry after entry.
    ends = np.cumsum(lengths)
    where = np.arange(ends[-1] if ends.size else 0) + np.repeat(begins - ends + lengths, lengths)
    a, b = np.repeat(A.data, lengths), B_columns.data[where]
    shared = np.abs(a) + np.abs(b) - np.abs(a - b)
    rows = np.repeat(np.arange(n_rows), np.diff(A.indptr))
    cells = np.repeat(rows * n_boxes, lengths) + B_columns.indices[where]
    return np.bincount(cells, shared, minlength=n_rows * n_boxes).reshape(n_rows, n_boxes)


def _take(boxes):
    """Corners of boxes; points have one."""
    return {"low": boxes.low, "high": None if boxes.are_points else boxes.high}, {}


def _make(params, fitted):
    """Boxes of corners of a file."""
    require(not fitted and params.keys() == {"low", "high"}, "boxes")
    low, high = params["low"], params["high"]
    high = low if high is None else high
    require(is_matrix(low) and type(high) is type(low) and high.shape == low.shape, "boxes")
    return Hyperboxes(low, high)


Hyperboxes._model_part = Part(take=_take, make=_make)
