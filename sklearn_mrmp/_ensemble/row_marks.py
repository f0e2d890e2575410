"""Rows that are known again by checksums of their content, and what became of them in a fit.

A fit that goes on from the weights of an earlier one should hold out rows that the network has not
been trained on: these it knows by heart. Knows numpy, scipy and hashing.
"""

import hashlib
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._model_files.part import CHECKSUMS, Part, is_vector, require

# Of rows that were trained on and never held out, and of rows that were not there.
TRAINED, NEW = -1, -2
_BYTES = 8


@dataclass(frozen=True, eq=False)
class RowMarks:
    """What became of the rows of a fit.

    Attributes
    ----------
    marks : uint64 ndarray of shape (n_rows,)
        Checksums of the rows, rising.
    parts : int32 ndarray of shape (n_rows,)
        Number of the part, such as a fold, that each was held out in, or `TRAINED`.

    Examples
    --------
    >>> X = np.arange(6).reshape(3, 2)
    >>> RowMarks.of(row_checksums(X), [0, TRAINED, 1]).parts_of(row_checksums(X[::-1])).tolist()
    [1, -1, 0]
    """

    marks: np.ndarray
    parts: np.ndarray

    @classmethod
    def of(cls, marks, parts, earlier=None):
        """Return the marks of some rows, and of the rows of an earlier fit that are not there."""
        parts = np.asarray(parts, dtype=np.int32)
        if earlier is not None:
            marks = np.concatenate([marks, earlier.marks])
            parts = np.concatenate([parts, earlier.parts])
        marks, first = np.unique(marks, return_index=True)
        return cls(marks, parts[first])

    def parts_of(self, marks):
        """Parts of rows with these checksums; `NEW` for rows that were not there."""
        places = np.minimum(np.searchsorted(self.marks, marks), len(self.marks) - 1)
        return np.where(self.marks[places] == marks, self.parts[places], NEW)


def row_checksums(X):
    """Return a checksum of the content of each row, uint64.

    Parameters
    ----------
    X : csr_array, ndarray, or rows of another kind
        Rows as an input kind makes them canonical; others have ``texts`` or ``fingerprints``.

    Returns
    -------
    marks : ndarray of shape (n_samples,)
    """
    if hasattr(X, "texts"):  # whose states may differ in their last bits
        return _checksums(text.encode("utf-8", "surrogatepass") for text in X.texts)
    if hasattr(X, "fingerprints"):
        return X.fingerprints()
    if not sp.issparse(X):
        return _checksums(np.ascontiguousarray(row, np.float64).tobytes() for row in X)
    ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    return _checksums(_content(X.indices[i:j], X.data[i:j]) for i, j in ends)


def _content(columns, values):
    """Bytes of a sparse row, whatever the types of its arrays; a row at a time, as on disk."""
    return columns.astype(np.int64).tobytes() + values.astype(np.float64).tobytes()


def _checksums(contents):
    digests = [hashlib.blake2b(content, digest_size=_BYTES).digest() for content in contents]
    return np.frombuffer(b"".join(digests), dtype=np.uint64)


def _complete(marks):
    """Check, in a model file, that there is a part for each checksum."""
    is_marked = is_vector(marks.marks, kinds="u") and len(marks.marks) > 0
    require(is_marked and is_vector(marks.parts, len(marks.marks), "i"), "checksums of rows")


RowMarks._model_part = Part(complete=_complete, keeps={"marks": CHECKSUMS})
