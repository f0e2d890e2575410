"""Results as a CSV file: a line for each fit.

Knows no data set and no method by name: lines of others, which a user may have added, are kept.
"""

import csv
import io
import math
from dataclasses import asdict, dataclass, fields

from sklearn_mrmp._host.files import user_path, write_atomically

_DIGITS = 5
# What every line has, in the order of the tables.
SCORES = ("AP", "accuracy", "f1_samples", "f1_micro", "f1_macro")


@dataclass(frozen=True)
class ResultLine:
    """A fit: seconds of the processor, and scores of the test rows.

    Attributes
    ----------
    dataset, method : str
        Names, as the command takes them.
    seed : int
        Seed of the held-out rows, and of everything random.
    seconds : float
        Seconds to fit and tune, of one thread.
    AP, AP_macro : float
        Average precision, over all entries and as the mean over labels; NaN where not measured.
    accuracy, f1_samples, f1_micro, f1_macro : float
        Each by the decisions made for it.
    AP_network, AP_macro_network : float
        Average precisions of the network alone; NaN where there is none, or it was not measured.
    """

    dataset: str
    method: str
    seed: int
    seconds: float
    AP: float
    accuracy: float
    f1_samples: float
    f1_micro: float
    f1_macro: float
    AP_macro: float = math.nan
    AP_network: float = math.nan
    AP_macro_network: float = math.nan

    @property
    def key(self):
        """What a file has once."""
        return self.dataset, self.method, self.seed

    def shown(self):
        """Return the line as a user reads it while fits are made."""
        scores = "  ".join(f"{name} {getattr(self, name):.3f}" for name in SCORES)
        return f"{self.dataset}, {self.method}, seed {self.seed}: {scores}  ({self.seconds:.1f} s)"


_NUMBERS = [field.name for field in fields(ResultLine) if field.type is float]
_COLUMNS = [field.name for field in fields(ResultLine)]
_OPTIONAL = ("AP_macro", "AP_network", "AP_macro_network")


def read_lines(path):
    """Return the lines of a file; none of one that is not there.

    Parameters
    ----------
    path : path-like
        A CSV file that `add_line` has written.

    Returns
    -------
    lines : list of ResultLine
    """
    path = user_path(path)
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        known = {*(reader.fieldnames or ()), *_OPTIONAL}
        missing = [name for name in _COLUMNS if name not in known]
        if missing:
            raise ValueError(f"{path} is no file of results: it lacks {', '.join(missing)}.")
        return [_line(row, f"{path}, line {reader.line_num}") for row in reader]


def _line(row, place):
    try:
        numbers = {name: float(row.get(name) or "nan") for name in _NUMBERS}
        return ResultLine(row["dataset"], row["method"], int(row["seed"]), **numbers)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{place}: {error}") from None


def add_line(path, line):
    """Write a line to the end of a file, or in the place of that of the same fit.

    The file is read again before: another process may have added lines.
    """
    lines = {known.key: known for known in read_lines(path)} | {line.key: line}
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_row(known) for known in lines.values())
    write_atomically(path, [text.getvalue().encode()])


def _row(line):
    """Return what is written of a line: numbers of few digits, and nothing for NaN."""
    return {
        name: ("" if math.isnan(value) else round(value, _DIGITS))
        if isinstance(value, float)
        else value
        for name, value in asdict(line).items()
    }
