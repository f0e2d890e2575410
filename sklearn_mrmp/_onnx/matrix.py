"""A matrix of rows inside a graph, dense or as entries, and what linear models read of it.

The representations are those of `sklearn_mrmp._input.presentation`. Knows them by their attributes,
and numpy.
"""

from dataclasses import dataclass, replace

import numpy as np

# As in `_input.presentation`: values this many times the largest of training say no more, and
# measurements are squashed smoothly into ± this many standard deviations.
_HUGE, _BOUND = 1e15, 10.0
# The share that each of two parts of a row has.
_SHARE = np.float32(np.sqrt(0.5))


@dataclass(frozen=True)
class MatrixRows:
    """Rows of a matrix.

    Attributes
    ----------
    values : str
        float32 (B, n_features), or (B, n) of the entries.
    n_features : int
        Number of columns.
    columns : str or None
        Columns of the entries, int64 (B, n); a value of 0 is no entry. None if all are there.
    """

    values: str
    n_features: int
    columns: str | None = None

    def of_columns(self, op, array):
        """Numbers of the columns, as they stand beside the values."""
        return array if self.columns is None else op("Gather", array, self.columns)

    def dense(self, op):
        """All columns, float32 (B, n_features)."""
        if self.columns is None:
            return self.values
        return scattered(op, self.columns, self.values, self.n_features)

    def taken(self, op, chosen):
        """Return some columns as a dense matrix (bool mask)."""
        return op("Gather", self.dense(op), np.flatnonzero(chosen), axis=1)

    def without(self, op, chosen):
        """Return the rows with zeros in some columns (bool mask)."""
        keep = self.of_columns(op, (~chosen).astype(np.float32))
        return replace(self, values=op("Mul", self.values, keep))


def scattered(op, columns, values, n_columns):
    """Write a dense matrix (B, n_columns) of entries, which are added up."""
    n_rows = op("Shape", values, start=0, end=1)
    zeros = op.constant_of_shape(op("Concat", n_rows, [n_columns], axis=0), np.float32(0))
    return op("ScatterElements", zeros, columns, values, axis=1, reduction="add")


def linear_logits(op, rows, features, coef):
    """Write the product of presented rows and weights.

    Parameters
    ----------
    op : GraphWriter
        Where to.
    rows : MatrixRows
        The rows.
    features : LinearFeatures or MixedFeatures
        How linear models read them.
    coef : ndarray of shape (n_features, n_labels), float32
        Weights.

    Returns
    -------
    name : str
        (B, n_labels).
    """
    if features.kind_ == "mixed":
        dense = presented(op, _dense(op, rows, features.columns_), features.dense_)
        of_dense = op("MatMul", dense, coef[features.columns_])
        others = rows.without(op, features.columns_)
        of_others = linear_logits(op, others, features.others_, coef)
        return op("Mul", op("Add", of_dense, of_others), _SHARE)
    x = presented(op, rows, features)
    if rows.columns is None or features.kind_ == "measurements":
        return op("MatMul", x, coef)
    of_entries = op("Gather", coef, rows.columns)  # (B, n, L)
    return op("Squeeze", op("MatMul", op("Unsqueeze", x, [1]), of_entries), [1])


def _dense(op, rows, chosen):
    return MatrixRows(rows.taken(op, chosen), int(np.count_nonzero(chosen)))


def presented(op, rows, features):
    """Write `LinearFeatures.transform`: float32, in the shape of the values.

    Of ``"measurements"``, of which an absent entry says something, too, all columns are returned.
    """
    with op.scope("presented"):
        if features.kind_ == "measurements":
            x = _measurements(op, op.cast(rows.dense(op), np.float64), features)
        elif features.kind_ == "bag":
            x = _bag(op, rows, features)
        else:
            x = _times(op, op.cast(rows.values, np.float64), features.largest_)
        return op.cast(op("Div", x, np.float64(features.length_)), np.float32)


def _measurements(op, x, features):
    x = op("Sub", _times(op, x, features.largest_), features.mean_)
    x = _clipped(op, op("Div", x, features.spread_))
    return squashed(op, x, _BOUND)


def squashed(op, x, bound):
    """Write ``x / hypot(1, x / bound)``."""
    ratio = op("Div", x, np.float64(bound))
    return op("Div", x, op("Sqrt", op("Add", op("Mul", ratio, ratio), np.float64(1))))


def _bag(op, rows, features):
    x = op.cast(rows.values, np.float64)
    if features.is_count_:
        logarithms = op("Add", op("Log", op("Max", x, np.float64(1))), np.float64(1))
        is_count = op("GreaterOrEqual", x, np.float64(1))
        x = op("Where", is_count, logarithms, op("Max", x, np.float64(-1)))
    else:
        x = _times(op, x, features.largest_)
    return unit_rows(op, op("Mul", x, rows.of_columns(op, features.idf_)))


def unit_rows(op, x):
    """Write rows (B, n) divided by their length; rows of zeros stay."""
    length = op("Sqrt", op("ReduceSum", op("Mul", x, x), [1], keepdims=1))
    is_zero = op("Equal", length, np.float64(0))
    return op("Div", x, op("Where", is_zero, np.float64(1), length))


def _times(op, x, largest):
    return _clipped(op, op("Div", x, np.asarray(largest, np.float64)))


def _clipped(op, x):
    return op("Clip", x, np.float64(-_HUGE), np.float64(_HUGE))
