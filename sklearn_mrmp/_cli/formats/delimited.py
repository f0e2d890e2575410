"""CSV and TSV: a line of column names, then one row for each line, read as it is needed."""

import csv
from contextlib import contextmanager

from sklearn_mrmp._cli.formats.chunks import DataError, opened, shown_name, table_chunks

# Texts may be longer than the 131,072 characters that the standard library takes for a cell.
_LONGEST_CELL = 2**31 - 1


class DelimitedFile:
    """A table of cells between delimiters.

    Parameters
    ----------
    path : str
        The file, or ``-``.
    delimiter : str, default=","
        What stands between cells.
    quotes : bool, default=True
        Whether cells may stand in double quotes; if not, these are ordinary characters.
    """

    is_matrix = False

    def __init__(self, path, delimiter=",", quotes=True):
        self.path = path
        self.delimiter = delimiter
        self.quotes = quotes
        self.columns = None  # known once the first line is read

    def chunks(self, n_rows):
        """Read rows as dicts of str, `n_rows` at a time."""
        return table_chunks(self._records(), n_rows)

    def _records(self):
        with opened(self.path) as file, _long_cells():
            rows = self._rows(file)
            place, header = next(rows, (f"{shown_name(self.path)}, line 1", None))
            self.columns = self._checked_header(place, header)
            for place, cells in rows:
                if not cells:
                    continue  # an empty line
                if len(cells) != len(header):
                    raise DataError(
                        place, f"has {len(cells)} cells, but there are {len(header)} columns."
                    )
                yield place, dict(zip(header, cells, strict=True))

    def _rows(self, file):
        """Give the cells of each row with its place, which is the line that it begins on."""
        quoting = csv.QUOTE_MINIMAL if self.quotes else csv.QUOTE_NONE
        reader = csv.reader(file, delimiter=self.delimiter, quoting=quoting, strict=True)
        line = 1
        while True:
            place = f"{shown_name(self.path)}, line {line}"
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                hint = " Give --no-quotes if double quotes are ordinary characters."
                problem = f"not readable: {error}.{hint if self.quotes else ''}"
                raise DataError(place, problem) from error
            except UnicodeDecodeError as error:
                raise DataError(
                    place, f"this line or one soon after is not UTF-8: {error}."
                ) from error
            yield place, cells
            line = reader.line_num + 1

    def _checked_header(self, place, header):
        if not header:
            raise DataError(place, "the first line has to name the columns, but it is empty.")
        for number, name in enumerate(header):
            if not name.strip():
                raise DataError(place, f"column {number + 1} has no name.")
            if name in header[:number]:
                raise DataError(place, f"two columns are named {name!r}.")
        return header


@contextmanager
def _long_cells():
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)
