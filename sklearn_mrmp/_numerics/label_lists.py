"""Labels as lists of names, one list for each row: what is one, and the 0/1 table that it says.

Wherever a classifier takes labels, they may come as ``[["sea", "ship"], [], ["sea"]]``. Knows numpy
and scikit-learn's `MultiLabelBinarizer`.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import MultiLabelBinarizer

from sklearn_mrmp._numerics.label_frames import is_frame

_ROWS = (list, tuple, set, frozenset, np.ndarray)
_ADVICE = (
    "Labels are either a 0/1 matrix, in which every row has one entry for each label, or lists of "
    "names of type str, such as [['sea', 'ship'], []]"
)


class LabelTable:
    """A 0/1 label matrix with names, which goes wherever a data frame of labels goes.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_labels)
        0 and 1, and NaN where a label is unknown.
    names : sequence of str
        Names of the labels.

    Examples
    --------
    >>> table = label_table([["sea", "ship"], []])
    >>> table.columns, table.to_numpy().tolist()
    (['sea', 'ship'], [[1, 1], [0, 0]])
    """

    def __init__(self, values, names):
        self.values = values
        self.columns = [str(name) for name in names]

    def __len__(self):
        return len(self.values)

    def to_numpy(self):
        """Return the matrix."""
        return self.values


def listed_labels(y, what="y"):
    """Return labels as lists of names if they are such, and None for any other target.

    Parameters
    ----------
    y : object
        What a caller passes as a target.
    what : str, default="y"
        What the caller calls it, for error messages.

    Returns
    -------
    rows : list of list of str, or None

    Raises
    ------
    ValueError
        If some rows are lists and others are not, if their lengths differ though they are not
        names, or if only some of their entries are names.

    Examples
    --------
    >>> listed_labels([("sea", "ship"), set()])
    [['sea', 'ship'], []]
    >>> listed_labels(["sea", "ship"]) is None, listed_labels([[1, 0], [0, 1]]) is None
    (True, True)
    """
    rows = _plain_rows(y)
    if rows is None or not any(isinstance(row, _ROWS) for row in rows):
        return None
    for number, row in enumerate(rows):
        if not isinstance(row, _ROWS) or getattr(row, "ndim", 1) != 1:
            raise ValueError(
                f"Row {number} of {what} is {row!r:.50}, while other rows are lists. {_ADVICE}; a "
                "row without labels is an empty list."
            )
    if not _are_names(rows) and _is_matrix(rows):
        return None
    return [_names(row, number, what) for number, row in enumerate(rows)]


def _plain_rows(y):
    """Return the rows of a sequence of any library as a list; None for matrices and others."""
    if sp.issparse(y) or is_frame(y) or getattr(y, "ndim", 1) != 1:
        return None
    for name in ("to_list", "tolist"):  # of pandas and polars, and of numpy
        if hasattr(y, name):
            return getattr(y, name)()
    return y if isinstance(y, (list, tuple)) else None


def _are_names(rows):
    return any(isinstance(value, str) for row in rows for value in row)


def _is_matrix(rows):
    """Whether rows without a name are those of a matrix; rows without any entry are no matrix."""
    is_ordered = not any(isinstance(row, (set, frozenset)) for row in rows)
    return is_ordered and len({len(row) for row in rows}) == 1 and len(rows[0]) > 0


def _names(row, number, what):
    """Return the names of one row, or raise ValueError."""
    strange = [value for value in row if not isinstance(value, str)]
    if strange:
        raise ValueError(
            f"Rows of {what} are lists that are neither all of names nor all of one length: row "
            f"{number} contains {strange[0]!r:.50}, of type {type(strange[0]).__name__}. "
            f"{_ADVICE}. If these are numbers of labels, turn them into names: "
            f"[[str(label) for label in row] for row in {what}]."
        )
    return [str(value) for value in row]  # numpy's strings are none of Python's own


def label_table(rows, names=None, what="y"):
    """Return lists of names as a table of 0 and 1.

    Parameters
    ----------
    rows : list of list of str
        The labels of each row, as `listed_labels` returns them.
    names : sequence of str, default=None
        Labels, in the order of the columns; None is all that occur, sorted.
    what : str, default="y"
        What the caller calls the lists, for error messages.

    Returns
    -------
    table : LabelTable
        Its values are int64.
    """
    present = sorted({name for row in rows for name in row})
    if names is None and not present:
        raise ValueError(f"{what} holds empty lists alone; at least one label is needed.")
    unknown = [] if names is None else sorted(set(present) - set(names))
    if unknown:
        shown = ", ".join(map(repr, unknown[:5])) + (", …" if len(unknown) > 5 else "")
        raise ValueError(
            f"{what} contains {len(unknown)} labels that were not seen in training: {shown}. "
            "Leave them out of the lists."
        )
    names = present if names is None else list(names)
    values = MultiLabelBinarizer(classes=names).fit_transform(rows)
    return LabelTable(values.astype(np.int64, copy=False), names)


def table_if_listed(y, names=None, what="y"):
    """Return lists of label names as a `LabelTable`, and anything else as it is."""
    rows = listed_labels(y, what)
    return y if rows is None else label_table(rows, names, what)


def names_of_rows(Y, names):
    """Return the names of the labels of each row of a 0/1 matrix.

    Parameters
    ----------
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        0/1 labels.
    names : sequence of str
        Names of the labels.

    Returns
    -------
    rows : list of list of str
        In the order of the columns.

    Examples
    --------
    >>> names_of_rows(np.array([[1, 1], [0, 0]]), ["sea", "ship"])
    [['sea', 'ship'], []]
    """
    Y = sp.csr_array(Y if sp.issparse(Y) else np.asarray(Y) != 0)
    Y.eliminate_zeros()
    Y.sort_indices()
    found = [str(names[label]) for label in Y.indices]
    return [found[start:stop] for start, stop in zip(Y.indptr, Y.indptr[1:], strict=False)]
