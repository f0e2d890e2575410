"""Rows of token states: ragged rows of vectors, left where they are until a batch is made.

What the input kind `states` makes of rows. The vectors of all tokens are one matrix, often larger
than memory and then on disk; a row is a list of places in it. Picking rows and leaving tokens out
moves places only. Knows token rows and numpy.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sklearn_mrmp._input.token_rows import TokenRows

# Tokens that are read at once when all of them are looked at.
_BLOCK = 2**14
# Odd constants of multiplicative hashing are drawn from this seed.
_SEED = 0x5EED


@dataclass(frozen=True, eq=False)
class StateRows:
    """Rows of different length whose tokens are vectors; `of` makes them.

    Attributes
    ----------
    places : TokenRows
        For each row the numbers of its tokens in `states`, from 1.
    states : ndarray of shape (n_tokens, width)
        Vectors of float16, float32 or float64, in memory or mapped from a file.
    """

    places: TokenRows
    states: np.ndarray

    # What is left out leaves no place behind.
    unknown: ClassVar = None

    def __len__(self):
        return len(self.places)

    def __getitem__(self, rows):
        """Return some rows: an array of numbers or of booleans, or a slice."""
        return self.take(np.arange(len(self))[rows])

    @property
    def shape(self):
        """Number of rows, and width of the vectors."""
        return len(self), self.states.shape[1]

    @property
    def lengths(self):
        """Number of tokens of each row."""
        return self.places.lengths

    @property
    def starts(self):
        """Where each row begins among the tokens of all rows, and where the last one ends."""
        return self.places.starts

    def take(self, rows):
        """Return the given rows, in that order."""
        return StateRows(self.places.take(rows), self.states)

    def drop(self, rate, rng):
        """Leave out each token with probability `rate`, but never all tokens of a row."""
        return StateRows(self.places.drop(rate, rng), self.states)

    def first(self, n_tokens):
        """Keep the first tokens of each row."""
        lengths = self.lengths
        number = np.arange(lengths.sum()) - np.repeat(self.starts[:-1], lengths)
        starts = np.concatenate([[0], np.cumsum(np.minimum(lengths, n_tokens))])
        return StateRows(TokenRows(starts, self.places.tokens[number < n_tokens]), self.states)

    def contained(self, n_tokens):
        """Which of `n_tokens` columns occur: all of them do."""
        return np.ones(n_tokens, dtype=bool)

    def padded(self):
        """Arrays of the rows side by side, as the network's embedding takes them.

        Returns
        -------
        batch : dict of str to ndarray
            ``states`` (B, T, width), of single precision at most, and ``mask`` (B, T) where padding
            was needed. T is at least 1, so that empty rows have a place.
        """
        batch = self.places.padded()
        # Padding reads the first vector, whatever it is: nobody attends to it.
        states = self.states[np.maximum(batch.pop("tokens") - 1, 0)]
        if states.dtype == np.float64:
            states = states.astype(np.float32)
        if not self.lengths.all():  # an empty row is all padding, and its place must be a number
            states = np.where((self.lengths > 0)[:, None, None], states, states.dtype.type(0))
        return {"states": states, **batch}

    def pooled(self):
        """Return the mean vector of each row, float32; zeros for a row without tokens."""
        means = np.zeros((len(self), self.states.shape[1]), dtype=np.float32)
        for rows in self._blocks():
            part = self.take(rows)
            vectors = self.states[part.places.tokens - 1].astype(np.float32)
            filled = part.lengths > 0
            sums = np.add.reduceat(vectors, part.starts[:-1][filled]) if filled.any() else 0
            means[rows[filled]] = sums / part.lengths[filled, None]
        return means

    def fingerprints(self):
        """One number per row that depends on its content alone, to sort rows by."""
        mix = np.random.default_rng(_SEED).integers(
            2**62, size=self.states.shape[1], dtype=np.uint64
        )
        marks = np.zeros(len(self), dtype=np.uint64)
        for rows in self._blocks():
            part = self.take(rows)
            vectors = np.ascontiguousarray(self.states[part.places.tokens - 1])
            bits = vectors.view(f"u{vectors.itemsize}").astype(np.uint64)
            content = TokenRows(part.starts, bits @ (2 * mix + np.uint64(1)))
            marks[rows] = content.fingerprints()
        return marks

    def _blocks(self):
        """Yield row numbers of blocks with a bounded number of tokens."""
        first = 0
        while first < len(self):
            end = np.searchsorted(self.starts, self.starts[first] + _BLOCK, side="right") - 1
            end = min(max(int(end), first + 1), len(self))
            yield np.arange(first, end)
            first = end


def as_state_rows(X):
    """Return the caller's token states as `StateRows`, or say what is wrong with them.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_tokens, width), or sequence of ndarray (n_tokens_i, width)
        Vectors. In an array, tokens of zeros, and masked ones, are padding.

    Returns
    -------
    rows : StateRows

    Examples
    --------
    >>> rows = as_state_rows([np.ones((2, 3)), np.ones((1, 3))])
    >>> rows.shape, rows.lengths.tolist()
    ((2, 3), [2, 1])
    """
    if isinstance(X, StateRows):
        return X
    if hasattr(X, "to_numpy"):  # a Series, or one column of a data frame
        X = X.to_numpy()
    if isinstance(X, np.ndarray) and X.dtype.kind != "O":
        return _of_array(X)
    if isinstance(X, (str, bytes)) or not hasattr(X, "__len__"):
        raise TypeError(f"Token states must be arrays, got {type(X).__name__}.")
    if isinstance(X, np.ndarray):
        X = X.ravel() if X.ndim == 2 and X.shape[1] == 1 else X
    return _of_sequence(list(X))


def _of_array(X):
    _check_floats(X)
    if X.ndim != 3:
        raise ValueError(
            f"Token states must have the shape (n_samples, n_tokens, width), got {X.shape}. One "
            "vector a row is input_type='features'."
        )
    n_rows, n_tokens, width = X.shape
    present = _present(X)
    numbers = np.arange(1, n_rows * n_tokens + 1).reshape(n_rows, n_tokens)[present]
    flat = np.asarray(X).reshape(n_rows * n_tokens, width)
    return _put_together(present.sum(axis=1), numbers, flat)


def _put_together(lengths, numbers, flat):
    starts = np.concatenate([[0], np.cumsum(lengths)])
    if not len(flat):  # padding must have something to read
        flat = np.zeros((1, flat.shape[1]), flat.dtype)
    return StateRows(TokenRows(starts, numbers), flat)


def _present(X):
    """Which tokens of an array are there, and finite; bool (n_samples, n_tokens)."""
    mask = np.ma.getmaskarray(X).any(axis=2) if isinstance(X, np.ma.MaskedArray) else None
    values, present = np.asarray(X), np.zeros(X.shape[:2], dtype=bool)
    size = max(1, _BLOCK // max(X.shape[1], 1))
    for first in range(0, len(values), size):
        rows = slice(first, first + size)
        present[rows] = values[rows].any(axis=2)
        if mask is not None:
            present[rows] &= ~mask[rows]
        _check_finite(values[rows][present[rows]])
    return present


def _of_sequence(X):
    rows = [np.asarray(row) for row in X]
    if not rows:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    first = rows[0].shape
    wrong = [row.shape for row in rows if row.ndim != 2 or row.shape[1:] != first[1:]]
    if wrong:
        raise ValueError(
            "Each row of token states must be an array (n_tokens, width), all of the same width; "
            f"the first has the shape {first}, another {wrong[0]}."
        )
    flat = np.concatenate(rows)
    _check_floats(flat)
    _check_finite(flat)
    return _put_together([len(row) for row in rows], np.arange(1, len(flat) + 1), flat)


def _check_floats(X):
    if X.dtype.kind not in "fiu":
        raise ValueError(f"Token states must be numbers, got an array of {X.dtype}.")
    if X.dtype not in (np.float16, np.float32, np.float64):
        raise ValueError(f"Token states must be floats, got an array of {X.dtype}; cast it.")


def _check_finite(values):
    if not np.isfinite(values).all():
        raise ValueError("Token states contain NaN or infinity.")
