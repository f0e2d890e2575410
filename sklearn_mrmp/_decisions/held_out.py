"""What is kept of the rows that decisions were tuned on, so that more decisions can be tuned later.

Labels as bits and scores as they were, without the rows themselves: 4.1 bytes for each entry of
float32 scores. Knows numpy and `ValidationRows`.
"""

from dataclasses import dataclass

import numpy as np

from sklearn_mrmp._decisions.validation_rows import ValidationRows
from sklearn_mrmp._model_files.part import Part, is_matrix, require
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

    @classmethod
    def of(cls, rows, max_entries=MAX_ENTRIES):
        """Keep `ValidationRows`: all, or as many as have `max_entries`, evenly spaced."""
        n_samples, n_labels = rows.P.shape
        P, Y = rows.P, rows.Y
        if n_samples * n_labels > max_entries:
            kept = evenly_spaced(n_samples, max(1, max_entries // n_labels))
            P, Y = P[kept], Y[kept]
        return cls(np.packbits(Y, axis=1), P, rows.from_logits)

    def rows(self):
        """Return the rows as `ValidationRows`, with labels as they were."""
        Y = np.unpackbits(self.packed, axis=1, count=self.P.shape[1]).view(bool)
        return ValidationRows(Y, self.P, from_logits=self.from_logits)


def _complete(kept):
    """Check, in a model file, that labels and scores belong together."""
    require(is_matrix(kept.P) and kept.P.dtype.kind == "f", "scores of held-out rows")
    width = -(-kept.P.shape[1] // 8)
    right = is_matrix(kept.packed, len(kept.P), width) and kept.packed.dtype == np.uint8
    require(right and isinstance(kept.packed, np.ndarray), "labels of held-out rows")
    require(isinstance(kept.P, np.ndarray) and len(kept.P) > 0, "scores of held-out rows")
    require(bool(np.isfinite(kept.P).all()), "finite scores of held-out rows")
    require(isinstance(kept.from_logits, bool), "the kind of scores")


HeldOutScores._model_part = Part(complete=_complete)
