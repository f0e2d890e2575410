"""Rows that are vectors, with or without tokens beside them.

What the input kind `vectors` makes of rows, and what batches are cut from. A container like
`TokenRows`. Knows token rows and numpy.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sklearn_mrmp._input.token_rows import TokenRows

# Odd constants of multiplicative hashing are drawn from this seed.
_SEED = 0x5EED


@dataclass(frozen=True, eq=False)
class VectorRows:
    """One vector for each row, and the tokens of its other columns if there are any.

    Attributes
    ----------
    vectors : ndarray of shape (n_samples, width), float32
        Standardised values: 0 is the mean of a column.
    others : TokenRows or None
        Columns that are mostly zero, as tokens.
    """

    vectors: np.ndarray
    others: TokenRows | None = None

    # What is left out leaves no place behind.
    unknown: ClassVar = None

    def __len__(self):
        return len(self.vectors)

    @property
    def lengths(self):
        """Number of tokens of each row: the vector is one."""
        lengths = np.ones(len(self), dtype=np.int64)
        return lengths if self.others is None else lengths + self.others.lengths

    def take(self, rows):
        """Return the given rows, in that order."""
        others = None if self.others is None else self.others.take(rows)
        return replace(self, vectors=self.vectors[rows], others=others)

    def drop(self, rate, rng):
        """Put the mean in place of each value with probability `rate`; leave out other tokens."""
        keep = rng.random(self.vectors.shape, dtype=np.float32) >= rate
        others = None if self.others is None else self.others.drop(rate, rng)
        return replace(self, vectors=self.vectors * keep, others=others)

    def contained(self, n_tokens):
        """Which of the `n_tokens` columns occur as tokens beside the vector."""
        if self.others is None:
            return np.zeros(n_tokens, dtype=bool)
        return self.others.contained(n_tokens)

    def fingerprints(self):
        """One number per row that depends on its content alone, to sort rows by."""
        mix = np.random.default_rng(_SEED).integers(
            2**62, size=self.vectors.shape[1], dtype=np.uint64
        )
        bits = np.ascontiguousarray(self.vectors).view(np.uint32)
        marks = np.zeros(len(self), dtype=np.uint64)
        for column, odd in zip(bits.T, 2 * mix + np.uint64(1), strict=True):
            marks += column.astype(np.uint64) * odd
        return marks if self.others is None else marks ^ self.others.fingerprints()

    def padded(self):
        """Arrays of the rows side by side, as the network's embedding takes them.

        Returns
        -------
        batch : dict of str to ndarray
            ``vectors`` (B, width); with other tokens what `TokenRows.padded` returns, whose
            ``mask`` begins with the place of the vector.
        """
        if self.others is None:
            return {"vectors": self.vectors}
        batch = self.others.padded()
        mask = batch.get("mask")
        if mask is not None:
            first = np.full((len(self), 1), mask.dtype == bool, dtype=mask.dtype)
            batch["mask"] = np.concatenate([first, mask], axis=1)
        return {"vectors": self.vectors, **batch}
