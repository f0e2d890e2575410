"""The columns of the smallest values of each row, in order, without sorting or partitioning rows.

A bound from the smallest values of groups of columns leaves little more than what is looked for;
only that is sorted. On 2,000 to 30,000 columns it takes a fifth to a twentieth of the time of
`np.partition` and what follows it. Leaf module: numpy alone.
"""

import numpy as np

# Groups of columns for each column that is looked for, and columns that make a group worth it.
_GROUPS_PER_COLUMN = 4
_FEWEST_PER_GROUP = 3
# Rows with more values than this many times what is looked for have ties, most likely.
_MOST_PER_COLUMN = 2

_SIGN = np.uint32(2**31)
_LOWER_HALF = np.uint64(32)


def smallest_columns(values, k):
    """Columns of the `k` smallest values of each row, ordered by value, then by column.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns), float32 or float64
        Numbers, none of them NaN.
    k : int
        How many to find, from 1 to `n_columns`.

    Returns
    -------
    columns : ndarray of shape (n_rows, k), int64

    Examples
    --------
    >>> import numpy as np
    >>> smallest_columns(np.array([[0.5, 0.1, 0.5, 0.0]]), 3)
    array([[3, 1, 0]])
    """
    n_rows, n_columns = values.shape
    if not n_rows:
        return np.empty((0, k), dtype=np.int64)
    bounds = _bounds(values, k)
    places = np.flatnonzero(values <= bounds[:, None])
    rows = places // n_columns
    found = values.ravel()[places]
    counts = np.bincount(rows, minlength=n_rows)
    if counts.max() > _MOST_PER_COLUMN * k:
        kept = _without_late_ties(found == bounds[rows], rows, counts, k)
        places, rows, found = places[kept], rows[kept], found[kept]
        counts = np.bincount(rows, minlength=n_rows)
    columns = places - rows * n_columns
    if values.dtype == np.float32:
        return _first_of_packed(found, columns, rows, counts, k)
    order, starts = np.lexsort((columns, found, rows)), np.cumsum(counts) - counts
    return columns[order][starts[:, None] + np.arange(k)]


def _bounds(values, k):
    """Return a number per row that at least `k` of its values do not exceed; hardly more do."""
    n_rows, n_columns = values.shape
    n_groups = _GROUPS_PER_COLUMN * k
    size = n_columns // n_groups
    if size >= _FEWEST_PER_GROUP:
        groups = values[:, : size * n_groups].reshape(n_rows, size, n_groups)
        values = groups.min(axis=1)
    return np.partition(values, k - 1, axis=1)[:, k - 1]


def _without_late_ties(is_tie, rows, counts, k):
    """Leave out values at a row's bound that come after `k` others: they cannot be wanted."""
    so_far = np.cumsum(is_tie)
    before = np.append(0, so_far)[np.cumsum(counts) - counts]
    return ~is_tie | (so_far - before[rows] <= k)


def _first_of_packed(found, columns, rows, counts, k):
    """Sort value and column of each entry as one integer, row by row."""
    keys = np.full((len(counts), counts.max()), np.iinfo(np.uint64).max)
    starts = np.cumsum(counts) - counts
    packed = _rising_bits(found).astype(np.uint64) << _LOWER_HALF
    keys[rows, np.arange(len(rows)) - starts[rows]] = packed | columns.astype(np.uint64)
    return np.sort(keys, axis=1)[:, :k].astype(np.uint32).astype(np.int64)


def _rising_bits(values):
    """Bits of float32 numbers as integers in the same order; zeros of both signs are equal."""
    bits = (values + np.float32(0)).view(np.uint32)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)
