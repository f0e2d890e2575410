"""The first step of a model that was fitted on a file: which columns of a table it reads, and how.

Model files hold these transformers, so that ``predict`` needs to be told nothing. They can be used
from Python as well: a loaded model takes lists of dicts, one for each row.
"""

from math import isinf
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from sklearn_mrmp._model_files.part import learned_part
from sklearn_mrmp._sklearn_compat import _fit_context

# As tables write what is missing; so do NaN and null.
_MISSING = ("", "NA")


class ColumnError(ValueError):
    """A cell of a table that cannot be used: row number, name of the column, what is wrong."""

    def __init__(self, row, column, problem):
        super().__init__(f"row {row}, column {column!r}: {problem}")
        self.row = row
        self.column = column
        self.problem = problem


class ColumnReader(TransformerMixin, BaseEstimator):
    """Read texts or numbers from rows that are dicts.

    Parameters
    ----------
    text : list of str, default=None
        Columns of texts; several are put together line by line.
    features : list of str, default=None
        Columns of numbers, or of lists of numbers, such as embeddings.
    label_columns, label_column, separator : list of str, str and str, default=None
        Where labels were in ``fit``, for commands that need them again.

    Attributes
    ----------
    widths_ : list of int
        How many numbers each of `features` has.

    Examples
    --------
    >>> rows = [{"id": 7, "size": "2.5", "vector": [0, 1]}]
    >>> ColumnReader(features=["size", "vector"]).fit(rows).transform(rows)
    array([[2.5, 0. , 1. ]])
    >>> ColumnReader(text=["title"]).fit_transform([{"title": "Red fish"}])
    ['Red fish']
    """

    _parameter_constraints: ClassVar = {
        "text": [list, None],
        "features": [list, None],
        "label_columns": [list, None],
        "label_column": [str, None],
        "separator": [str, None],
    }

    def __init__(
        self, text=None, features=None, *, label_columns=None, label_column=None, separator=None
    ):
        self.text = text
        self.features = features
        self.label_columns = label_columns
        self.label_column = label_column
        self.separator = separator

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Learn how many numbers each column has.

        Parameters
        ----------
        X : list of dict, or data frame
            Rows by the names of the columns.
        y : object, default=None
            Not used, there for scikit-learn's interface.

        Returns
        -------
        self : ColumnReader
        """
        if bool(self.text) == bool(self.features):
            raise ValueError("ColumnReader reads either columns of text or columns of features.")
        X, self.widths_ = _records(X), []
        for column in self.features or ():
            value = _cell(X[0], 0, column)
            self.widths_.append(len(value) if isinstance(value, list) else 1)
        return self

    def transform(self, X):
        """Read the rows.

        Parameters
        ----------
        X : list of dict, or data frame
            Rows by the names of the columns.

        Returns
        -------
        rows : list of str, or ndarray of shape (n_samples, n_features)
            Texts, or numbers with NaN for what is missing.
        """
        X = _records(X)
        if self.text:
            return [self._joined_text(row, number) for number, row in enumerate(X)]
        values = [self._numbers(row, number) for number, row in enumerate(X)]
        return np.array(values, dtype=np.float64).reshape(len(X), sum(self.widths_))

    def _joined_text(self, row, number):
        parts = [_cell(row, number, column) for column in self.text]
        for column, part in zip(self.text, parts, strict=True):
            if not isinstance(part, str):
                raise ColumnError(number, column, f"{_shown(part)} is no text.")
        return "\n".join(parts)

    def _numbers(self, row, number):
        found = []
        for column, width in zip(self.features, self.widths_, strict=True):
            value = _cell(row, number, column)
            values = value if isinstance(value, list) else [value]
            if len(values) != width:
                problem = f"has {len(values)} numbers, but {width} in the first row of training."
                raise ColumnError(number, column, problem)
            found += [_number(part, number, column) for part in values]
        return found

    def get_feature_names_out(self, input_features=None):
        """Return the names of the numbers.

        Parameters
        ----------
        input_features : object, default=None
            Not used, there for scikit-learn's interface.

        Returns
        -------
        names : ndarray of str
        """
        names = [
            [column] if width == 1 else [f"{column}_{i}" for i in range(width)]
            for column, width in zip(self.features or (), self.widths_, strict=True)
        ]
        return np.array([name for group in names for name in group], dtype=object)


class MatrixReader(TransformerMixin, BaseEstimator):
    """Pass rows of a matrix on, and remember how its file counted features.

    Parameters
    ----------
    zero_based : bool, default=False
        Whether features were counted from 0, for libsvm.

    Examples
    --------
    >>> MatrixReader().fit_transform([[1.0]])
    [[1.0]]
    """

    _parameter_constraints: ClassVar = {"zero_based": ["boolean"]}

    def __init__(self, *, zero_based=False):
        self.zero_based = zero_based

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Do nothing; the next step learns.

        Parameters
        ----------
        X : {ndarray, csr_array} of shape (n_samples, n_features)
            Rows.
        y : object, default=None
            Not used, there for scikit-learn's interface.

        Returns
        -------
        self : MatrixReader
        """
        self.is_fitted_ = True
        return self

    def transform(self, X):
        """Return the rows as they are.

        Parameters
        ----------
        X : {ndarray, csr_array} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X : {ndarray, csr_array} of shape (n_samples, n_features)
        """
        return X


def _records(X):
    """Return rows as dicts, also those of a data frame; raise TypeError for others."""
    if hasattr(X, "to_dicts"):  # of polars
        X = X.to_dicts()
    elif hasattr(X, "to_dict"):  # of pandas
        X = X.to_dict("records")
    if not isinstance(X, list) or not all(isinstance(row, dict) for row in X):
        raise TypeError(
            "This model reads columns by their names: pass a list of dicts, one for each row, or a "
            f"data frame. Got {type(X).__name__}."
        )
    return X


def _cell(row, number, column):
    if column not in row:
        raise ColumnError(number, column, f"missing; this row has {shown_names(row)}.")
    return row[column]


def _number(value, number, column):
    """Read a number; what is missing is NaN."""
    if value is None or (isinstance(value, str) and value.strip() in _MISSING):
        return np.nan
    try:
        if isinstance(value, str) and "_" in value:  # Python's own way to write numbers
            raise ValueError
        read = float(value)
    except (TypeError, ValueError):
        raise ColumnError(number, column, f"{_shown(value)} is no number.") from None
    if isinf(read):
        raise ColumnError(number, column, f"{_shown(value)} is no finite number.")
    return read


def _shown(value):
    return f"{value!r:.40}"


def shown_names(names):
    """Name the first few columns, as text for an error message."""
    names = list(names)
    return ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")


ColumnReader._model_part = learned_part({"widths_": "list"})
MatrixReader._model_part = learned_part({"is_fitted_": "bool"})
