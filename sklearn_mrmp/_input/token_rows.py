"""Token rows: a ragged array of token ids, with their values and weights.

What the input kinds `features` and `sequence` make of rows, and what batches are cut from. A
container for another kind of row has the same methods. Knows sparse rows and numpy.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sklearn_mrmp._numerics.sparse import RowParts

# Odd constants of multiplicative hashing (from the golden ratio, √3 and √5).
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX_VALUES = np.uint64(0xBB67AE8584CAA73B)
_MIX_WEIGHTS = np.uint64(0x3C6EF372FE94F82B)


@dataclass(frozen=True, eq=False)
class TokenRows:
    """Rows of different length: token ids (1 and up) and, for features, standardised values.

    `weights` are what attention adds to a token's scores before it has learned anything. For
    sequences `unknown` is the id that stands for a word that is not known.
    """

    starts: np.ndarray
    tokens: np.ndarray
    values: np.ndarray | None = None
    unknown: int | None = None
    weights: np.ndarray | None = None

    def __len__(self):
        return len(self.starts) - 1

    @property
    def lengths(self):
        """Number of tokens of each row."""
        return np.diff(self.starts)

    def fingerprints(self):
        """One number per row that depends on its content alone, to sort rows by.

        Prediction sorts rows by length and fingerprint, so that their order does not matter: a
        row's place in a batch can change the last bit of its probabilities.
        """
        mixed = self.tokens.astype(np.uint64) * _MIX
        if self.values is not None:
            mixed ^= self.values.view(np.uint32).astype(np.uint64) * _MIX_VALUES
        if self.weights is not None:
            mixed ^= self.weights.view(np.uint32).astype(np.uint64) * _MIX_WEIGHTS
        place = np.arange(len(mixed)) - np.repeat(self.starts[:-1], self.lengths)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * (2 * place.astype(np.uint64) + np.uint64(1))
        totals = np.zeros(len(mixed) + 1, dtype=np.uint64)
        np.cumsum(mixed, out=totals[1:])  # differences stay exact where the sum wraps around
        return totals[self.starts[1:]] - totals[self.starts[:-1]]

    def contained(self, n_tokens):
        """Which of `n_tokens` tokens occur, bool (n_tokens,)."""
        return np.bincount(self.tokens, minlength=n_tokens + 1)[1:] > 0

    def take(self, rows):
        """Return the given rows, in that order."""
        lengths = self.lengths[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(self.starts[rows] - starts[:-1], lengths) + np.arange(starts[-1])
        return self._picked(places, starts)

    def drop(self, rate, rng):
        """Leave out each token with probability `rate`, but never all tokens of a row.

        In a sequence the others keep their positions: what is left out becomes unknown.
        """
        row_of = np.repeat(np.arange(len(self)), self.lengths)
        draws = rng.random(len(self.tokens))
        keep = draws >= rate
        filled = self.lengths > 0
        highest = np.zeros(len(self))
        highest[filled] = np.maximum.reduceat(draws, self.starts[:-1][filled])
        keep |= draws == highest[row_of]
        if self.unknown is not None:
            weights = None if self.weights is None else np.where(keep, self.weights, np.float32(0))
            return replace(self, tokens=np.where(keep, self.tokens, self.unknown), weights=weights)
        return self._filtered(keep, row_of)

    def _filtered(self, keep, row_of):
        counts = np.bincount(row_of[keep], minlength=len(self))
        return self._picked(keep, np.concatenate([[0], np.cumsum(counts)]))

    def _picked(self, places, starts):
        values, weights = (
            None if part is None else part[places] for part in (self.values, self.weights)
        )
        return TokenRows(starts, self.tokens[places], values, self.unknown, weights)

    def padded(self):
        """Arrays of the rows side by side, as the network's embedding takes them.

        Returns
        -------
        batch : dict of str to ndarray
            ``tokens`` (B, T) int64, ``values`` (B, T) float32 if there are any, and ``mask``
            (B, T): bool where padding was needed, or the weights of tokens, float32, −inf at
            padding. T is at least 1, so that empty rows have a place.
        """
        lengths = self.lengths
        width = max(int(lengths.max(initial=0)), 1)
        mask = np.arange(width) < lengths[:, None]
        batch = {"tokens": _filled(mask, self.tokens.astype(np.int64, copy=False))}
        if self.values is not None:
            batch["values"] = _filled(mask, self.values)
        if self.weights is not None:
            batch["mask"] = _filled(mask, self.weights, padding=-np.inf)
        elif not mask.all():
            batch["mask"] = mask
        return batch


class FeatureRows:
    """Rows of a sparse matrix whose tokens are made when a batch is cut: for too many to keep.

    A row's tokens are the same in whatever company they are made.

    Parameters
    ----------
    encode : callable
        Makes `TokenRows` of a csr_array.
    X : csr_array or RowParts
        Rows.
    """

    # What is left out leaves no place behind.
    unknown: ClassVar = None

    def __init__(self, encode, X):
        self.encode = encode
        self.X = RowParts.of(X)
        lengths, self._occurs = [], np.zeros(self.X.shape[1], dtype=bool)
        for part in self._encoded():
            lengths.append(part.lengths)
            self._occurs |= part.contained(len(self._occurs))
        self.lengths = np.concatenate(lengths)

    def _encoded(self):
        return (self.encode(part) for _, part in self.X.parts())

    def __len__(self):
        return len(self.lengths)

    def take(self, rows):
        """Return the given rows, in that order, as `TokenRows`."""
        return self.encode(self.X[rows])

    def contained(self, n_tokens):
        """Which of the `n_tokens` tokens, one for each column, occur; bool (n_tokens,)."""
        return self._occurs

    def fingerprints(self):
        """One number per row that depends on its content alone, to sort rows by."""
        return np.concatenate([part.fingerprints() for part in self._encoded()])


def _filled(mask, entries, padding=0):
    out = np.full(mask.shape, padding, dtype=entries.dtype)
    out[mask] = entries
    return out
