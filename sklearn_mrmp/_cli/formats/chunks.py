"""What every reader gives: some rows of a file, and where each of them stands.

A reader is an object with ``chunks(n_rows)``, an iterator of `Chunk`. Readers of tables also have
``columns``, the names that the file declares, or None where each row has its own; readers of
matrices have ``is_matrix = True``. Leaf module: numpy and scipy.
"""

import sys
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._host.files import user_path


class DataError(ValueError):
    """Something in a file cannot be used; the message names the file, the line and the column."""

    def __init__(self, place, problem, column=None):
        where = place if column is None else f"{place}, column {column!r}"
        super().__init__(f"{where}: {problem}")


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some rows of a file.

    Attributes
    ----------
    rows : list of dict, ndarray or csr_array
        Rows of a table by the names of the columns, or of a matrix.
    places : list of str
        Where each row stands, such as ``"data.csv, line 17"``.
    labels : list of list of str, LabelTable or None
        Labels, for files that say themselves which these are.
    """

    rows: object
    places: list
    labels: object = None

    def __len__(self):
        return len(self.places)


def shown_name(path):
    """Return what messages call a file."""
    return "standard input" if path == "-" else str(path)


@contextmanager
def opened(path, mode="r"):
    """Open a file, or standard input for ``-``, as UTF-8 text or as bytes."""
    if path == "-":
        yield sys.stdin.buffer if "b" in mode else sys.stdin
        return
    text = {} if "b" in mode else {"encoding": "utf-8-sig", "newline": ""}
    with open(user_path(path), mode, **text) as file:
        yield file


def grouped(items, n_rows):
    """Put items into lists of `n_rows`; the last one may be shorter.

    Examples
    --------
    >>> list(grouped("abc", 2))
    [['a', 'b'], ['c']]
    """
    group = []
    for item in items:
        group.append(item)
        if len(group) == n_rows:
            yield group
            group = []
    if group:
        yield group


def table_chunks(records, n_rows):
    """Make chunks of pairs of place and row."""
    for group in grouped(records, n_rows):
        yield Chunk([row for _, row in group], [place for place, _ in group])


def stacked(parts):
    """Put rows together: lists of anything, dense or sparse matrices."""
    if isinstance(parts[0], list):
        return [row for part in parts for row in part]
    if sp.issparse(parts[0]):
        return sp.csr_array(sp.vstack(parts))
    return np.vstack(parts)


def joined(chunks):
    """Put chunks together, without their labels."""
    rows = stacked([chunk.rows for chunk in chunks])
    return Chunk(rows, [place for chunk in chunks for place in chunk.places])
