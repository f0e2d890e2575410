"""What the readers of raw texts share: lines of a file, a row, and what a loader returns.

Knows UTF-8 and lines; what a line means is its reader's business.
"""

from collections import namedtuple

import numpy as np
from sklearn.utils import Bunch

TextRow = namedtuple("TextRow", "id text labels")
TextRow.__doc__ = "One row: its id (or None), the text, and the set of its labels."


def read_text(path):
    r"""Return the characters of a UTF-8 file; lines end with ``\n`` or ``\r\n``.

    Parameters
    ----------
    path : Path
        The file; a byte order mark at its beginning is left out.

    Returns
    -------
    text : str
        With ``\n`` at the end of lines.
    """
    try:
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = 1 + error.object.count(b"\n", 0, error.start)
        raise ValueError(
            f"{path}, line {line}: not UTF-8 ({error.reason}); convert the file to UTF-8."
        ) from error


def read_lines(path):
    """Return the lines of a UTF-8 file that are not empty, each with its place for errors.

    Only the ends of lines that editors count are ends: comments hold other characters that
    `str.splitlines` would split at.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    lines : list of (str, str)
        The place (file and number of the line), and the line.
    """
    lines = [
        (f"{path}, line {number}", line)
        for number, line in enumerate(read_text(path).split("\n"), 1)
        if line
    ]
    if not lines:
        raise ValueError(f"{path}: the file is empty, and must hold a row a line.")
    return lines


def make_bunch(title, parts, names):
    """Return what the loaders of raw texts return.

    Parameters
    ----------
    title : str
        First line of the description.
    parts : dict of str to list of TextRow
        The rows of each file, by its name.
    names : list of str
        The labels that have a column; other labels of a row are left out.

    Returns
    -------
    dataset : Bunch
        With ``data``, ``target``, ``target_names``, ``DESCR`` and, if rows have ids,
        ``document_ids``.
    """
    rows = [row for part in parts.values() for row in part]
    Y = _label_matrix([row.labels for row in rows], names)
    files = ", ".join(f"{file} ({len(part)} rows)" for file, part in parts.items())
    dataset = Bunch(
        data=[row.text for row in rows],
        target=Y,
        target_names=names,
        DESCR=(
            f"{title}\n{Y.shape[0]} texts, {Y.shape[1]} labels, "
            f"{Y.sum() / max(1, len(Y)):.2f} labels per text.\nRead from {files}."
        ),
    )
    if any(row.id is not None for row in rows):
        # As objects: in numpy's own strings one long id would make all of them long.
        dataset.document_ids = np.array([row.id for row in rows], dtype=object)
    return dataset


def _label_matrix(label_sets, names):
    columns = {name: j for j, name in enumerate(names)}
    Y = np.zeros((len(label_sets), len(names)), dtype=np.int32)
    for i, labels in enumerate(label_sets):
        Y[i, [columns[label] for label in labels if label in columns]] = 1
    return Y
