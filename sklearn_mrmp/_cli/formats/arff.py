"""ARFF with an XML file that names the labels: Mulan's format, by the reader of `datasets`."""

from pathlib import Path

from sklearn_mrmp._cli.formats.chunks import Chunk, DataError
from sklearn_mrmp._host.files import user_path
from sklearn_mrmp._numerics.label_lists import LabelTable
from sklearn_mrmp.datasets import load_mulan

_PARTS = ("train", "test")


class ArffFile:
    """A matrix with named labels.

    Parameters
    ----------
    path : str
        The file, ``NAME.arff``, ``NAME-train.arff`` or ``NAME-test.arff``, with ``NAME.xml`` in
        the same folder.
    """

    is_matrix = True
    columns = None

    def __init__(self, path):
        if path == "-":
            raise DataError("standard input", "ARFF is read from files alone.")
        self.path = user_path(path)

    def chunks(self, n_rows):
        """Read all rows, and give `n_rows` at a time."""
        name, subset = self._name()
        if not self.path.is_file():
            raise FileNotFoundError(f"{self.path} does not exist.")
        data = load_mulan(self.path.parent, name, subset=subset)
        for start in range(0, len(data.target), n_rows):
            part = slice(start, start + n_rows)
            labels = LabelTable(data.target[part], data.target_names)
            rows = data.data[part]
            places = [f"{self.path}, row {start + i + 1}" for i in range(rows.shape[0])]
            yield Chunk(rows, places, labels)

    def _name(self):
        """Return the name of the data set, and which part of it the file is."""
        stem = self.path.stem
        for part in _PARTS:
            if stem.endswith(f"-{part}"):
                return stem.removesuffix(f"-{part}"), part
        parts = [Path(self.path.parent, f"{stem}-{part}.arff") for part in _PARTS]
        if all(part.is_file() for part in parts):
            raise DataError(
                str(self.path),
                f"beside it are {parts[0].name} and {parts[1].name}: give one of these.",
            )
        return stem, "all"
