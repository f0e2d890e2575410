"""What is kept of the rows that decisions were tuned on, so that more decisions can be tuned later.

Labels as bits and scores as they were, without the rows themselves: 4.1 bytes for each entry of
float32 scores. Knows numpy and `ValidationRows`.
"""

from dataclasses import dataclass

import numpy as np

from sklearn_mrmp._decisions.validation_rows import ValidationRows
from sklearn_mrmp._model_files.part import HELD_OUT, Part, is_matrix, require
from sklearn_mrmp._numerics.rows import evenly_spaced

# Entries (rows times labels) kept at most: 17 MB of float32 scores and bits.
MAX_ENTRIES = 2**22


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """Labels and scores of rows that a classifier was not fitted on.

    Attributes
    ----------
    packed : uint8 ndarray of shape (n_samples, ceil(n_labels / 8))
        The labels, eight in a byte.
    P : float ndarray of shape (n_samples, n_labels)
        The scores.
    from_logits : bool
        Whether scores are logits or margins instead of probabilities.
    known : uint8 ndarray of the shape of `packed`, or None
        Which labels are known, eight in a byte; None is all. Scores of the others are the lowest.

    Examples
    --------
    >>> rows = ValidationRows.check([[1, 0], [1, 1]], [[0.75, 0.25], [0.75, 0.5]])
    >>> kept = HeldOutScores.of(rows)
    >>> kept.packed.nbytes
    2
    >>> kept.rows().Y
    array([[ True, False],
           [ True,  True]])
    """

    packed: np.ndarray
    P: np.ndarray
    from_logits: bool = False
    known: np.ndarray | None = None

    @classmethod
    def of(cls, rows, max_entries=MAX_ENTRIES):
        """Keep `ValidationRows`: all, or as many as have `max_entries`, evenly spaced."""
        n_samples, n_labels = rows.P.shape
        P, Y, known = rows.cut_scores, rows.Y, rows.known
        if n_samples * n_labels > max_entries:
            kept = evenly_spaced(n_samples, max(1, max_entries // n_labels))
            P, Y, known = P[kept], Y[kept], None if known is None else known[kept]
        known = None if known is None else np.packbits(known, axis=1)
        return cls(np.packbits(Y, axis=1), P, rows.from_logits, known)

    def rows(self):
        """Return the rows as `ValidationRows`, with labels as they were."""
        known = None if self.known is None else self._unpacked(self.known)
        Y = self._unpacked(self.packed)
        return ValidationRows(Y, self.P, from_logits=self.from_logits, known=known)

    def _unpacked(self, packed):
        return np.unpackbits(packed, axis=1, count=self.P.shape[1]).view(bool)


def _complete(kept):
    """Check, in a model file, that labels and scores belong together."""
    require(is_matrix(kept.P) and kept.P.dtype.kind == "f", "scores of held-out rows")
    width = -(-kept.P.shape[1] // 8)
    for bits in (kept.packed, kept.packed if kept.known is None else kept.known):
        right = is_matrix(bits, len(kept.P), width) and bits.dtype == np.uint8
        require(right and isinstance(bits, np.ndarray), "labels of held-out rows")
    require(isinstance(kept.P, np.ndarray) and len(kept.P) > 0, "scores of held-out rows")
    require(bool(np.isfinite(kept.P).all()), "finite scores of held-out rows")
    require(isinstance(kept.from_logits, bool), "the kind of scores")


HeldOutScores._model_part = Part(complete=_complete, keeps={"P": HELD_OUT})
