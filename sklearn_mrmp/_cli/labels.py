"""Labels of rows: columns of 0 and 1, one column with all of them, or those of the file itself.

Knows chunks of files and tables of labels.
"""

import warnings
from fnmatch import fnmatchcase

import numpy as np

from sklearn_mrmp._cli.columns import shown_names
from sklearn_mrmp._cli.console import UsageError
from sklearn_mrmp._cli.formats.chunks import DataError, shown_name
from sklearn_mrmp._numerics.label_lists import LabelTable, label_table

_VALUES = {
    **dict.fromkeys(("0", "0.0", "false", "no", 0, False), 0.0),
    **dict.fromkeys(("1", "1.0", "true", "yes", 1, True), 1.0),
    **dict.fromkeys(("", "na", None), np.nan),
}


def columns_of(chunk, reader):
    """Return the names of a table's columns: those it declares, or those of the first row."""
    return list(chunk.rows[0]) if reader.columns is None else reader.columns


def label_names(where, columns, place):
    """Return the columns that are labels, in the order of the file where a pattern names them."""
    found = []
    for name in where.columns:
        if any(sign in name for sign in "*?[") and name not in columns:
            matches = [column for column in columns if fnmatchcase(column, name)]
        else:
            matches = [name] if name in columns else []
        if not matches:
            raise DataError(
                place, f"there is no column {name!r}; the columns are {shown_names(columns)}."
            )
        found += [column for column in matches if column not in found]
    return found


class LabelReader:
    """Reads the labels of chunk after chunk.

    Parameters
    ----------
    where : LabelColumns
        Where they are.
    reader : object
        The reader of the file.
    """

    def __init__(self, where, reader):
        self.where = where
        self.reader = reader
        self.names = None  # of columns of 0 and 1, once the first chunk is read
        self._parts = []
        if reader.is_matrix and where.given:
            raise UsageError(
                "--labels and --label-column are for tables; libsvm and ARFF say themselves which "
                "the labels are."
            )
        if not reader.is_matrix and not where.given:
            raise UsageError("Say where the labels are: --labels A,B,... or --label-column NAME.")

    @property
    def columns(self):
        """Columns that hold labels, once the first chunk is read."""
        if self.where.listed is not None:
            return [self.where.listed]
        return self.names or []

    def read(self, chunk):
        """Take the labels of some rows."""
        if self.reader.is_matrix:
            self._parts.append(chunk.labels)
            return
        if self.names is None and self.where.columns is not None:
            columns = columns_of(chunk, self.reader)
            self.names = label_names(self.where, columns, chunk.places[0])
        read = self._listed if self.where.listed is not None else self._indicated
        self._parts.append([read(*item) for item in zip(chunk.rows, chunk.places, strict=True)])

    def table(self, names=None):
        """Return the labels of all rows that were read.

        Parameters
        ----------
        names : sequence of str, default=None
            The labels of a model, in its order; None is those that were found.

        Returns
        -------
        table : LabelTable
        """
        if not self._parts:
            raise DataError(shown_name(self.reader.path), "there are no rows.")
        if isinstance(self._parts[0], LabelTable):
            values = np.vstack([part.values for part in self._parts])
            return _in_order(LabelTable(values, self._parts[0].columns), names)
        rows = [row for part in self._parts for row in part]
        if self.names is not None:
            values = np.array(rows, dtype=np.float64)
            is_known = not np.isnan(values).any()
            table = LabelTable(values.astype(np.uint8) if is_known else values, self.names)
            return _in_order(table, names)
        return label_table(rows if names is None else _known(rows, names), names, "The file")

    def _listed(self, row, place):
        column = self.where.listed
        value = _cell(row, place, column)
        if value is None:
            return []
        if isinstance(value, str):
            return [name for part in value.split(self.where.separator) if (name := part.strip())]
        if not isinstance(value, list):
            raise DataError(place, f"{value!r:.40} is neither a text nor a list of names.", column)
        for name in value:
            if isinstance(name, bool) or not isinstance(name, (str, int)):
                raise DataError(place, f"{name!r:.40} is no name of a label.", column)
        return [str(name) for name in value]

    def _indicated(self, row, place):
        return [_zero_or_one(_cell(row, place, column), place, column) for column in self.names]


def _cell(row, place, column):
    if column not in row:
        raise DataError(place, f"there is no column {column!r}; there are {shown_names(row)}.")
    return row[column]


def _zero_or_one(value, place, column):
    key = value.strip().lower() if isinstance(value, str) else value
    try:
        return _VALUES[key]
    except (KeyError, TypeError):
        raise DataError(
            place,
            f"{value!r:.40} is neither 0 nor 1, nor empty for an unknown label. A column with the "
            "names of labels is given as --label-column.",
            column,
        ) from None


def _in_order(table, names):
    """Return a table with the columns of a model; all of them have to be there."""
    if names is None:
        return table
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise ValueError(f"The file lacks labels of the model: {shown_names(missing)}.")
    _warn_of_new([name for name in table.columns if name not in set(names)])
    positions = [table.columns.index(name) for name in names]
    return LabelTable(table.values[:, positions], names)


def _known(rows, names):
    """Return lists of labels without those that a model does not know."""
    known = set(names)
    _warn_of_new(sorted({name for row in rows for name in row} - known))
    return [[name for name in row if name in known] for row in rows]


def _warn_of_new(new):
    if new:
        warnings.warn(
            f"The model does not know {len(new)} of the labels in the file, which are left out: "
            f"{shown_names(new)}.",
            stacklevel=4,
        )
