"""libsvm: labels, then the features of a row that are not 0, read as it is needed.

``3,7 1:0.5 40:1`` has the labels 3 and 7, and features 1 and 40. scikit-learn's
`load_svmlight_file` reads lines; it decides from a whole file whether features are counted from 0,
which a file that is read in parts has to be told.
"""

from io import BytesIO

from sklearn.datasets import load_svmlight_file

from sklearn_mrmp._cli.formats.chunks import Chunk, DataError, grouped, opened, shown_name


class LibsvmFile:
    """A sparse matrix with labels.

    Parameters
    ----------
    path : str
        The file, or ``-``.
    zero_based : bool, default=False
        Whether features are counted from 0.
    n_features : int, default=None
        Number of features; None is as many as there are.
    """

    is_matrix = True
    columns = None

    def __init__(self, path, zero_based=False, n_features=None):
        self.path = path
        self.zero_based = zero_based
        self.n_features = n_features

    def chunks(self, n_rows):
        """Read rows of a csr_array, `n_rows` at a time; all at once while `n_features` is None."""
        with opened(self.path, "rb") as file:
            lines = self._lines(file)
            if self.n_features is None:
                everything = list(lines)
                groups = [everything] if everything else []
            else:
                groups = grouped(lines, n_rows)
            for group in groups:
                yield self._chunk(group)

    def _lines(self, file):
        """Give the lines that are rows, with their numbers.

        An empty line is a row without labels and features, unless nothing follows it.
        """
        empty = []
        for number, line in enumerate(file, 1):
            content = line.split(b"#")[0].strip()
            if content:
                yield from empty
                yield number, line
                empty = []
            elif not line.strip():  # and no comment
                # A stored 0 says nothing, but scikit-learn's reader would skip an empty line.
                empty.append((number, b"0:0" if self.zero_based else b"1:0"))

    def _chunk(self, group):
        places = [f"{shown_name(self.path)}, line {number}" for number, _ in group]
        try:
            rows, labels = self._parsed(line for _, line in group)
        except ValueError:
            for place, (_, line) in zip(places, group, strict=True):
                self._explain(place, line)
            raise
        return Chunk(rows, places, labels)

    def _parsed(self, lines):
        rows, labels = load_svmlight_file(
            BytesIO(b"".join(line.rstrip(b"\r\n") + b"\n" for line in lines)),
            n_features=self.n_features,
            multilabel=True,
            zero_based=self.zero_based,
        )
        return rows, [[_name(label) for label in row] for row in labels]

    def _explain(self, place, line):
        """Raise DataError if it is this line that cannot be read."""
        try:
            self._parsed([line])
        except ValueError as error:
            raise DataError(place, f"not readable as libsvm: {self._advice(error)}") from error

    def _advice(self, error):
        text = str(error).rstrip(".")
        if "index 0" in text:
            return f"{text}. Give --zero-based if features are counted from 0."
        if "n_features" in text:
            return f"{text}. The model knows {self.n_features} features."
        return f"{text}."


def _name(label):
    """Name a label, which is a number to libsvm."""
    return str(int(label)) if float(label).is_integer() else str(label)
