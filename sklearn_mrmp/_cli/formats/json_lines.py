"""JSON lines: one object for each line, read as it is needed."""

import json

from sklearn_mrmp._cli.formats.chunks import DataError, opened, shown_name, table_chunks


class JsonLinesFile:
    """Rows that name their columns themselves.

    Parameters
    ----------
    path : str
        The file, or ``-``.
    """

    is_matrix = False
    columns = None

    def __init__(self, path):
        self.path = path

    def chunks(self, n_rows):
        """Read rows as dicts, `n_rows` at a time."""
        return table_chunks(self._records(), n_rows)

    def _records(self):
        with opened(self.path, "rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    place = f"{shown_name(self.path)}, line {number}"
                    yield place, _record(place, line)


def _record(place, line):
    try:
        record = json.loads(line.decode("utf-8-sig"), parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise DataError(f"{place}, character {error.colno}", f"no JSON: {error.msg}.") from error
    except RecursionError as error:
        raise DataError(place, "no JSON that can be read: it is nested too deeply.") from error
    except ValueError as error:  # bytes that are no text, and numbers that are none
        raise DataError(place, f"not readable: {error}.") from error
    if not isinstance(record, dict):
        raise DataError(
            place,
            f'each line has to be an object, such as {{"text": "...", "labels": ["..."]}}, but '
            f"this is of type {type(record).__name__}.",
        )
    return record


def _refuse(name):
    raise ValueError(f"{name} is no value of JSON; write null for what is missing")
