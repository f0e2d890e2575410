"""Models that commands use: made for a file, loaded from one, and asked about rows.

A model is a pipeline that begins with a reader of columns, or any model that `save` has written.
"""

from dataclasses import dataclass

from sklearn.pipeline import Pipeline

import sklearn_mrmp
from sklearn_mrmp._base import BaseMultilabelClassifier
from sklearn_mrmp._cli.columns import ColumnError, ColumnReader, MatrixReader
from sklearn_mrmp._cli.console import UsageError
from sklearn_mrmp._cli.formats.choice import open_rows
from sklearn_mrmp._cli.formats.chunks import DataError
from sklearn_mrmp._cli.options import LabelColumns


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model out of a file, taken apart into what reads, what prepares and what decides.

    Attributes
    ----------
    reader : ColumnReader, MatrixReader or None
        What it reads of a table; None is a model of matrices.
    steps : Pipeline or None
        What turns that into rows of the classifier.
    classifier : classifier
        The last step.
    """

    reader: object
    steps: object
    classifier: object

    @classmethod
    def of(cls, path, text=None, features=None):
        """Load a model; columns are for one whose file does not say which it reads."""
        model = sklearn_mrmp.load(path)
        steps = list(model) if isinstance(model, Pipeline) else [model]
        is_told = isinstance(steps[0], (ColumnReader, MatrixReader))
        reader = steps.pop(0) if is_told else None
        if text is not None or features is not None:
            if is_told:
                raise UsageError(
                    f"{path} says itself which columns it reads: leave out --text and --features."
                )
            reader = ColumnReader(text, features)
        classifier = steps.pop()
        if not hasattr(classifier, "label_names_") or not hasattr(classifier, "_target_encoding"):
            raise ValueError(f"{path} holds a {type(classifier).__name__}, which names no labels.")
        if not classifier._target_encoding.is_matrix:
            raise ValueError(f"{path} predicts classes that exclude each other, and not labels.")
        if not hasattr(classifier, "predict_proba"):
            raise ValueError(f"{path} holds a {type(classifier).__name__} without probabilities.")
        return cls(reader, _chained(steps), classifier)

    @property
    def names(self):
        """Names of the labels."""
        return self.classifier.label_names_.tolist()

    @property
    def labels(self):
        """Where labels were when the model was fitted."""
        reader = self.reader
        if not isinstance(reader, ColumnReader):
            return LabelColumns()
        return LabelColumns(reader.label_columns, reader.label_column, reader.separator or ",")

    def open_rows(self, arguments):
        """Return the reader of a file that is like the one the model was fitted on."""
        zero_based = arguments.zero_based
        if zero_based is None:
            zero_based = getattr(self.reader, "zero_based", False)
        rows = open_rows(
            arguments.data,
            arguments.format,
            zero_based=zero_based,
            quotes=arguments.quotes,
            n_features=self._n_features,
        )
        if rows.is_matrix == isinstance(self.reader, ColumnReader):
            kinds = ("a table (CSV, TSV, JSON lines, parquet)", "a matrix (libsvm, ARFF)")
            wanted, found = kinds if rows.is_matrix else kinds[::-1]
            hint = (
                ""
                if self.reader is not None
                else " Say which columns it reads: --text, --features."
            )
            raise UsageError(f"The model reads {wanted}, but {arguments.data} is {found}.{hint}")
        return rows

    @property
    def _n_features(self):
        """How many features the first step after the reader expects, or None."""
        first = self.classifier if self.steps is None else self.steps[0]
        return getattr(first, "n_features_in_", None)

    def rows(self, chunk):
        """Return a chunk as the classifier takes it, and the texts that it was made of, or None."""
        rows, texts = chunk.rows, None
        if self.reader is not None:
            rows = read_columns(self.reader, chunk)
            texts = rows if getattr(self.reader, "text", None) else None
        return rows if self.steps is None else self.steps.transform(rows), texts

    def feature_names(self):
        """Return the names of the classifier's features, or None where they have none."""
        for step in self.steps or ():
            if hasattr(step, "vocabulary_"):
                return step.get_feature_names_out()
        if isinstance(self.reader, ColumnReader) and self.reader.features:
            return self.reader.get_feature_names_out()
        return None


def _chained(steps):
    if not steps:
        return None
    return Pipeline([(str(number), step) for number, step in enumerate(steps)])


def read_columns(reader, chunk, learn=False):
    """Read the columns of a chunk; what is wrong is told with its place in the file."""
    try:
        if learn or (isinstance(reader, ColumnReader) and not hasattr(reader, "widths_")):
            reader.fit(chunk.rows)
        return reader.transform(chunk.rows)
    except ColumnError as error:
        raise DataError(chunk.places[error.row], error.problem, error.column) from error


def labels_and_probabilities(classifier, rows):
    """Predict labels and probabilities of rows, in one pass where the classifier can do that.

    Parameters
    ----------
    classifier : classifier
        A fitted one of this package.
    rows : object
        Few enough rows that all of them fit into memory.

    Returns
    -------
    labels : {ndarray, sparse matrix} of shape (n_samples, n_labels)
    P : ndarray of shape (n_samples, n_labels)
    """
    if not isinstance(classifier, BaseMultilabelClassifier):
        return classifier.predict(rows), classifier.predict_proba(rows)
    encoded = classifier._encoded(classifier._check_rows(rows))
    P = classifier._label_probabilities(encoded)
    return classifier._predict_labels(P, encoded), P
