"""Exchange of rows between parts as long as their label frequencies come closer to the whole.

What is made small is the sum, over parts and strata, of the squared difference between the rows of
a stratum in the part and its share of them. An exchange leaves the sizes of the parts as they are.
Knows numpy and scipy.
"""

from itertools import islice

import numpy as np
import scipy.sparse as sp

# Rows of each of two parts that are looked at together; exchanges among them are chosen one by one.
_BLOCK = 64
# Two parts are left for a while when a block has fewer exchanges than this.
_FEW = 4
# Sweeps over the pairs of parts, and partners of a part in a sweep: bounds for large data.
_MAX_SWEEPS, _MAX_PARTNERS = 6, 12
# Entries of a matrix up to which dense products are faster than sparse ones.
_DENSE = 200_000


def exchange_rows(features, part, sizes):
    """Exchange rows between parts until hardly anything is gained.

    Parameters
    ----------
    features : csr_array of shape (n_samples, n_strata)
        0/1: the strata of each row.
    part : ndarray of int of shape (n_samples,)
        The part that each row is in.
    sizes : ndarray of int of shape (n_parts,)
        Rows of each part.

    Returns
    -------
    part : ndarray of int of shape (n_samples,)
        The parts after the exchanges, of the same sizes.

    Examples
    --------
    >>> exchange_rows(sp.csr_array([[1], [1], [0], [0]]), np.array([0, 0, 1, 1]), [2, 2])
    array([1, 0, 0, 1])
    """
    part, share = part.copy(), np.asarray(sizes) / len(part)
    features = features.astype(float)
    features = features.toarray() if np.prod(features.shape) <= _DENSE else features
    total = features.sum(axis=0)
    for _ in range(_MAX_SWEEPS):
        n_changed = 0
        for a, b in islice(_pairs_of_parts(len(share)), len(share) * _MAX_PARTNERS // 2):
            rows = np.flatnonzero((part == a) | (part == b))
            pair = _Pair(features[rows], part[rows] == a, total * (share[a] - share[b]))
            n_changed += pair.improve()
            part[rows] = np.where(pair.is_first, a, b)
        if not n_changed:
            break
    return part


def _pairs_of_parts(n_parts):
    """All pairs, in rounds in which each part has at most one partner."""
    n_seats = n_parts + n_parts % 2
    seats = list(range(n_seats))
    for _ in range(n_seats - 1):
        for a, b in zip(seats[: n_seats // 2], reversed(seats[n_seats // 2 :]), strict=True):
            if max(a, b) < n_parts:
                yield a, b
        seats = [seats[0], seats[-1], *seats[1:-1]]


class _Pair:
    """The rows of two parts, and how much more of each stratum the first has than it should.

    Parameters
    ----------
    features : {ndarray, csr_array} of shape (n_rows, n_strata)
        The strata of the rows of both parts.
    is_first : ndarray of bool of shape (n_rows,)
        Which rows are in the first part; changed in place.
    desired : ndarray of shape (n_strata,)
        How much more of each stratum the first part should have.
    """

    def __init__(self, features, is_first, desired):
        self.features, self.is_first = features, is_first
        self.length = features.sum(axis=1)
        self.excess = self.features.T @ np.where(is_first, 1.0, -1.0) - desired

    def improve(self):
        """Exchange rows, block by block; return whether any were."""
        n_swaps, found = 0, _FEW
        while found >= _FEW:
            found = self._swap_block()
            n_swaps += found
        return n_swaps > 0

    def _swap_block(self):
        """Exchange rows among those that seem to gain most by it; return how many.

        Half of what the move of a row to the other part takes off the squared differences is its
        `gain`. About half of its strata come back with the row it is exchanged for.
        """
        pull = self.features @ self.excess
        pull[~self.is_first] *= -1
        first, second = (self._highest(pull - self.length / 2, side) for side in (True, False))
        rows = np.concatenate([first, second])
        block = self.features[rows]
        overlap = block @ block.T
        overlap = overlap.toarray() if sp.issparse(overlap) else overlap
        swaps = _choose_swaps((pull - self.length)[rows], overlap, len(first))
        moved = np.array(swaps, dtype=int).reshape(-1, 2) + [0, len(first)]
        self.is_first[rows[moved]] = [False, True]
        change = np.zeros(len(rows))
        change[moved] = [-2, 2]
        self.excess += block.T @ change
        return len(swaps)

    def _highest(self, score, side):
        """Rows of one part with the highest scores."""
        rows = np.flatnonzero(self.is_first == side)
        if len(rows) <= _BLOCK:
            return rows
        return rows[np.argpartition(score[rows], len(rows) - _BLOCK)[-_BLOCK:]]


def _choose_swaps(gain, overlap, n_first):
    """Choose exchanges of rows of a block one by one, always the best.

    Half of what an exchange of rows i and j takes off the squared differences is
    ``gain[i] + gain[j] + 2 * overlap[i, j]``.

    Parameters
    ----------
    gain : ndarray of shape (n_rows,)
        What the move of a row alone would take off; changed in place.
    overlap : ndarray of shape (n_rows, n_rows)
        Strata that two rows have in common.
    n_first : int
        Rows of the first part, which come first.

    Returns
    -------
    swaps : list of (int, int)
        Numbers of rows within each part.
    """
    swaps, common = [], 2 * overlap[:n_first, n_first:]
    for _ in range(min(common.shape)):
        total = common + gain[:n_first, None]
        total += gain[n_first:]
        i, j = divmod(int(total.argmax()), total.shape[1])
        if total[i, j] < 1e-6:  # what is left of rounding
            break
        swaps.append((i, j))
        won = 2 * (overlap[n_first + j] - overlap[i])  # of each row's strata, by the first part
        gain[:n_first] += won[:n_first]
        gain[n_first:] -= won[n_first:]
        gain[i] = gain[n_first + j] = -np.inf
    return swaps
