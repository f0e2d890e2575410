"""A small reader of Weka's attribute-relation files (ARFF), sparse and dense.

scipy's reader knows no sparse rows, and the one inside scikit-learn is private. This one reads
numeric and nominal attributes, quoted and escaped names, comments and missing values, and reports
a malformed file with its name and line. It knows numpy and scipy, and nothing of labels.
"""

import re
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._host.files import user_path

_QUOTED = r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\""""
_DECLARATION = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{'\"][^\s{{]*)\s*(.+)$", re.IGNORECASE)
_CELL = re.compile(rf"\s*((?:{_QUOTED}|[^,'\"])*)(?:,|$)")
_PAIR = re.compile(rf"\s*(\d++)\s++({_QUOTED}|[^\s,'\"]++)\s*+(?:,|$)")
_INDEX = re.compile(r"-?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?", re.ASCII | re.IGNORECASE)
_NUMERIC_TYPES = {"numeric", "real", "integer"}


class ArffError(ValueError):
    """A malformed ARFF file; the message names the file and the line."""

    def __init__(self, path, line, problem):
        super().__init__(f"{path}, line {line}: {problem}")


@dataclass(frozen=True)
class Attribute:
    """One column: its name, and its categories (as written) when it is nominal."""

    name: str
    categories: tuple[str, ...] | None = None

    @property
    def codes(self):
        """Value of each category as a dict: the number it spells, or else its position."""
        if self.is_symbolic:
            return {category: float(code) for code, category in enumerate(self.categories)}
        return {category: float(category) for category in self.categories}

    @property
    def is_symbolic(self):
        """Whether the column holds positions of categories instead of numbers."""
        if self.categories is None:
            return False
        return not all(_is_number(category) for category in self.categories)


@dataclass(frozen=True, eq=False)
class ArffTable:
    """Contents of an ARFF file.

    Attributes
    ----------
    path : Path
        The file.
    attributes : list of Attribute
        The columns.
    values : ndarray or csr_array of shape (n_rows, n_attributes), float64
        Sparse exactly when the file is; missing values are NaN.
    lines : ndarray of int of shape (n_rows,)
        The line of the file each row stands on, for error messages.
    """

    path: Path
    attributes: list
    values: object
    lines: np.ndarray


def read_arff(path):
    r"""Read an ARFF file of numeric and nominal attributes.

    Parameters
    ----------
    path : str or path-like
        The file, in UTF-8 or Latin-1.

    Returns
    -------
    table : ArffTable
        Attributes and values. A nominal value is the number it spells when all categories of its
        attribute are numbers, and the position of its category otherwise.

    Raises
    ------
    ArffError
        When the file is malformed, with the file and the line. It is a `ValueError`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.arff")
    >>> text = "@relation t\n@attribute x numeric\n@attribute 'a b' {0,1}\n@data\n{0 2.5}\n{1 1}\n"
    >>> _ = path.write_text(text)
    >>> table = read_arff(path)
    >>> [attribute.name for attribute in table.attributes]
    ['x', 'a b']
    >>> table.values.toarray()
    array([[2.5, 0. ],
           [0. , 1. ]])
    """
    path = user_path(path)
    lines = _read_text(path).splitlines()
    attributes, start = _parse_header(path, lines)
    rows = [
        (number, text)
        for number, line in enumerate(lines[start:], start + 1)
        if (text := line.strip()) and not text.startswith("%")
    ]
    parse = _parse_sparse if rows and rows[0][1].startswith("{") else _parse_dense
    values = parse(path, attributes, rows)
    return ArffTable(path, attributes, values, np.array([n for n, _ in rows], dtype=int))


def unquote(text):
    """`text` without surrounding quotes, and without the escapes inside those."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _read_text(path):
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _is_number(text):
    """Whether `text` spells a finite number; Python itself also takes "nan" and "1_000"."""
    return _NUMBER.fullmatch(text) is not None and isfinite(float(text))


def _is_plain(text, values):
    """Whether the numbers that Python made of a row are certainly those that it spells."""
    return text.isascii() and "_" not in text and isfinite(sum(values))


def _parse_header(path, lines):
    """Return the attributes and the number of lines up to ``@data``."""
    attributes = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        keyword = text.split(None, 1)[0].lower()
        if keyword == "@data":
            if not attributes:
                raise ArffError(path, number, "@data comes before any @attribute.")
            return attributes, number
        if keyword == "@attribute":
            attributes.append(_parse_attribute(path, number, text))
        elif keyword != "@relation":  # whose name nobody needs
            raise ArffError(
                path, number, f"expected @relation, @attribute or @data, found {text[:60]!r}."
            )
    raise ArffError(path, len(lines), "the file ends without an @data line.")


def _parse_attribute(path, number, text):
    match = _DECLARATION.match(text)
    if match is None:
        raise ArffError(path, number, f"cannot read the attribute declaration {text[:60]!r}.")
    name, kind = unquote(match[1]), match[2].strip()
    if kind.startswith("{") and kind.endswith("}"):
        categories = _split_cells(kind[1:-1])
        if not categories or not all(categories):
            raise ArffError(path, number, f"attribute {name!r} has an unreadable category.")
        return Attribute(name, tuple(unquote(category) for category in categories))
    if kind.lower() in _NUMERIC_TYPES:
        return Attribute(name)
    raise ArffError(
        path,
        number,
        f"attribute {name!r} has the type {kind[:40]!r}; only numeric, real, integer and nominal "
        "({a, b, …}) attributes can be read.",
    )


def _split_cells(text):
    """Split at commas outside quotes; None when a quote is not closed."""
    if "'" not in text and '"' not in text:
        return [cell.strip() for cell in text.split(",")]
    cells, position = [], 0
    while position <= len(text):
        match = _CELL.match(text, position)
        if match is None:
            return None
        cells.append(match[1].strip())
        if match.end() == len(text) and not match[0].endswith(","):
            break
        position = match.end()
    return cells


def _converters(attributes):
    """One function per attribute that turns the text of a value into a float."""
    converters, shared = [], {None: float}
    for attribute in attributes:
        # Thousands of attributes share a few category lists such as {0,1}.
        key = attribute.categories
        if key not in shared:
            shared[key] = attribute.codes.__getitem__
        converters.append(shared[key])
    return converters


def _convert(path, number, attribute, converter, text):
    """Return the value of a cell whose plain conversion failed: quoted, missing, or an error."""
    if text == "?":
        return np.nan
    content = unquote(text)
    try:
        if attribute.categories is None and not _is_number(content):
            raise ValueError
        return converter(content)
    except (ValueError, KeyError):
        if attribute.categories is None:
            expected = "a number"
        else:
            expected = f"one of {{{','.join(attribute.categories[:10])}}}"
        raise ArffError(
            path, number, f"attribute {attribute.name!r} must be {expected}, found {text[:40]!r}."
        ) from None


def _parse_dense(path, attributes, rows):
    """Rows of comma-separated values as an ndarray."""
    converters = _converters(attributes)
    values = np.empty((len(rows), len(attributes)))
    for i, (number, text) in enumerate(rows):
        cells = _split_cells(text)
        if cells is None or len(cells) != len(attributes):
            found = "an unclosed quote" if cells is None else f"{len(cells)} values"
            raise ArffError(path, number, f"expected {len(attributes)} values, found {found}.")
        try:
            row = [convert(cell) for convert, cell in zip(converters, cells, strict=True)]
            certain = _is_plain(text, row)
        except (ValueError, KeyError):
            certain = False
        if not certain:
            row = [
                _convert(path, number, *column)
                for column in zip(attributes, converters, cells, strict=True)
            ]
        values[i] = row
    return values


def _split_pairs(path, number, text):
    """Split one sparse row into (index, value) texts."""
    if not (text.startswith("{") and text.endswith("}")):
        raise ArffError(path, number, "expected a sparse row in braces, as the first row was.")
    text = text[1:-1].strip()
    if not text:
        return []
    if "'" not in text and '"' not in text:
        pairs = [pair.split() for pair in text.split(",")]
    else:
        pairs, position = [], 0
        while position < len(text):
            match = _PAIR.match(text, position)
            pairs.append(() if match is None else match.groups())
            position = len(text) if match is None else match.end()
    if any(len(pair) != 2 for pair in pairs):
        raise ArffError(path, number, "a sparse row must be {index value, index value, …}.")
    return pairs


def _parse_sparse(path, attributes, rows):
    """Rows of index-value pairs as a CSR array."""
    converters = _converters(attributes)
    indptr, indices, values = [0], [], []
    for number, text in rows:
        pairs = _split_pairs(path, number, text)
        if not all(_INDEX.fullmatch(index) for index, _ in pairs):
            raise ArffError(path, number, "an index is not a whole number.")
        row_indices = [int(index) for index, _ in pairs]
        if row_indices and not 0 <= min(row_indices) <= max(row_indices) < len(attributes):
            raise ArffError(
                path, number, f"an index is outside 0 … {len(attributes) - 1}, the attributes."
            )
        if len(set(row_indices)) != len(row_indices):
            raise ArffError(path, number, "an index occurs twice in one sparse row.")
        try:
            row = [converters[i](pair[1]) for i, pair in zip(row_indices, pairs, strict=True)]
            certain = _is_plain(text, row)
        except (ValueError, KeyError):
            certain = False
        if not certain:
            row = [
                _convert(path, number, attributes[i], converters[i], pair[1])
                for i, pair in zip(row_indices, pairs, strict=True)
            ]
        values += row
        indices += row_indices
        indptr.append(len(indices))
    shape = (len(rows), len(attributes))
    # 32-bit indices where they suffice: some solvers (liblinear) take no others.
    index_type = np.int32 if len(indices) <= np.iinfo(np.int32).max else np.int64
    indices, indptr = (np.array(part, dtype=index_type) for part in (indices, indptr))
    matrix = sp.csr_array((np.array(values, dtype=float), indices, indptr), shape=shape)
    return _fill_omitted(matrix, attributes)


def _fill_omitted(matrix, attributes):
    """Give omitted values of nominal attributes their first category, as Weka defines it."""
    for j, attribute in enumerate(attributes):
        first = attribute.codes[attribute.categories[0]] if attribute.categories else 0.0
        if first != 0:
            stored = matrix[:, [j]].tocoo()
            column = np.full((matrix.shape[0], 1), first)
            column[stored.row, 0] = stored.data
            matrix = sp.hstack([matrix[:, :j], column, matrix[:, j + 1 :]], format="csr")
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix
