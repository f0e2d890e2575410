"""The target contract: any classification target in, one 0/1 matrix inside, the caller's form out.

Every classifier of the package sees targets as a sparse ``(n_samples, n_labels)`` 0/1 matrix.
`TargetEncoding` remembers what the caller passed (label matrix, binary or multiclass vector, dtype,
sparse container, column names) and turns label probabilities and decisions back into that form.
A column of 0 and 1 is a matrix of one label; lists of label names are a matrix with column names.
It knows numpy, scipy and scikit-learn's target utilities, and nothing of any model.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from sklearn_mrmp._model_files.part import Part, is_vector, require
from sklearn_mrmp._numerics.label_frames import column_names, in_order, plain_labels
from sklearn_mrmp._numerics.label_lists import table_if_listed
from sklearn_mrmp._numerics.labels import (
    check_label_matrix,
    distinct,
    shown_values,
    values_beside_0_and_1,
    without_duplicates,
)


class LabelClasses(list):
    """``classes_`` of a label matrix: a list of ``array([0, 1])``, one per label.

    scikit-learn's scorers read such a list as several labels; `cross_val_predict` asks it for a
    shape, as it would an array.
    """

    @property
    def shape(self):
        """Number of labels, as an array would say it."""
        return (len(self),)


@dataclass(frozen=True, eq=False)
class TargetEncoding:
    """How a caller's target maps to label columns; made by `TargetEncoding.from_target`.

    Attributes
    ----------
    kind : {"multilabel", "binary", "multiclass"}
        What the caller passed.
    classes : ndarray, or list of ndarray
        What the estimator shows as ``classes_``.
    label_names : ndarray of str of shape (n_labels,)
        Column names of a data frame, names in lists, class names, or ``"0"``, ``"1"``, ….
    dtype : numpy dtype
        The dtype predictions are returned in.
    container : type or None
        `scipy.sparse.csr_matrix` or `csr_array` when the target was sparse.
    """

    kind: str
    classes: object
    label_names: np.ndarray
    dtype: np.dtype
    container: type | None = None

    @property
    def n_labels(self):
        """Number of label columns inside the model."""
        return 1 if self.kind == "binary" else len(self.classes)

    @classmethod
    def from_target(cls, y, names=None, classes=None):
        """Learn the encoding of the training target `y`; `names` are its column names, if any.

        `classes` are all classes that a vector may have, if not just those of `y`. Of a label
        matrix they are one for each column.
        """
        kind = _target_kind(y)
        if kind == "multilabel":
            _check_number(classes, y.shape[1])
            names = range(y.shape[1]) if names is None else names
            container = _container(y)
            classes = LabelClasses(np.array([0, 1]) for _ in range(y.shape[1]))
            return cls(kind, classes, _as_names(names), y.dtype, container)
        y = _as_vector(y)
        classes = np.unique(y if classes is None else classes)
        strange = np.setdiff1d(y, classes)
        if strange.size:
            raise ValueError(f"y contains classes that are not among `classes`: {strange}.")
        kind = "binary" if len(classes) == 2 else "multiclass"
        names = classes[1:] if kind == "binary" else classes
        return cls(kind, classes, _as_names(names), classes.dtype)

    def check_classes(self, classes):
        """Raise ValueError unless `classes`, which may be None, are those of the target."""
        if classes is None:
            return
        if self.is_matrix:
            _check_number(classes, self.n_labels)
        elif not np.array_equal(np.unique(classes), self.classes):
            raise ValueError(
                f"`classes={classes!r}` is not the same as in the first call: {self.classes!r}."
            )

    def known_entries(self, known, Y_observed=None, what="y"):
        """Say which entries of a target are known, by what was found in it and by what was told.

        Parameters
        ----------
        known : bool ndarray of shape (n_samples, n_labels), or None
            Which entries were no NaN; None is all.
        Y_observed : {array-like, sparse matrix} of shape (n_samples, n_labels), default=None
            1 or True for known entries; None is all.
        what : str, default="y"
            What the caller calls the target, for error messages.

        Returns
        -------
        known : bool ndarray of shape (n_samples, n_labels), or None
            None where all are known.
        """
        if (known is not None or Y_observed is not None) and not self.is_matrix:
            raise ValueError(
                f"Only entries of a label matrix can be unknown, but {what} is a {self.kind} "
                "target that contains NaN or comes with Y_observed. Leave out rows of unknown "
                "class."
            )
        if Y_observed is None:
            return known
        told = check_label_matrix(
            in_order(Y_observed, self.label_names, "Y_observed"), "Y_observed"
        )
        told = (told.toarray() if sp.issparse(told) else told) != 0
        if told.shape[1] != self.n_labels:
            raise ValueError(
                f"Y_observed must have the shape of {what}, with {self.n_labels} columns; got "
                f"{told.shape}."
            )
        return told if known is None else told & known

    def matched(self, y, what="y"):
        """Return another target with its columns in the order of the training target's names."""
        if not self.is_matrix:
            return plain_labels(y)
        y = table_if_listed(y, self.label_names, what)
        return plain_labels(in_order(y, self.label_names, what))

    @property
    def is_matrix(self):
        """Whether the target is a label matrix."""
        return self.kind == "multilabel"

    @property
    def positive(self):
        """The value of the caller's target that means that a label is there."""
        return self.classes[1] if self.kind == "binary" else 1

    def encode(self, y):
        """Return `y` as a CSR array of shape (n_samples, n_labels) with int32 ones."""
        y = plain_labels(y)
        y = y if hasattr(y, "ndim") else np.asarray(y)
        if self.is_matrix:
            return self._encode_matrix(y)
        if y.ndim == 2 and y.shape[1] > 1:
            raise ValueError(
                f"Expected a vector of {self.kind} targets as in fit, got a label matrix of "
                f"shape {y.shape}."
            )
        y = _as_vector(y)
        unknown = np.setdiff1d(y, self.classes)
        if unknown.size:
            raise ValueError(f"y contains classes that were not seen in training: {unknown}.")
        codes = np.searchsorted(self.classes, y)
        if self.kind == "binary":
            return _binary_csr(codes[:, None] == 1)
        return _binary_csr(codes[:, None] == np.arange(len(self.classes)))

    def _encode_matrix(self, y):
        if self.n_labels == 1 and y.ndim == 1:
            y = np.asarray(y)[:, np.newaxis]  # the only label, without its column
        kind = _target_kind(y)
        if kind != "multilabel" or y.shape[1] != self.n_labels:
            raise ValueError(
                f"Expected a label matrix with {self.n_labels} columns, got a {kind} target of "
                f"shape {y.shape}."
            )
        return _binary_csr(y)

    def shape_probabilities(self, P):
        """Turn label probabilities (n, n_labels) into what `predict_proba` returns."""
        if self.kind == "binary":
            return np.hstack([1 - P, P])
        if self.kind == "multiclass":
            return P / P.sum(axis=1, keepdims=True)
        return P

    def decode_scores(self, P):
        """Predicted classes of a binary or multiclass target from label probabilities."""
        if self.kind == "binary":
            return self.classes[(P[:, 0] > 0.5).astype(int)]
        return self.classes[P.argmax(axis=1)]

    def decode_labels(self, Y):
        """0/1 decisions (n, n_labels) in the form of the training target; not for multiclass."""
        if self.kind == "binary":
            return self.classes[np.asarray(Y)[:, 0].astype(int)]
        if self.container is not None:
            return self.container(Y).astype(self.dtype)
        Y = Y.toarray() if sp.issparse(Y) else np.asarray(Y)
        return Y.astype(self.dtype)


def read_target(y, names=None):
    """Return a training target as an array or sparse matrix, and its column names, or None.

    Lists of label names become a matrix with a column for each of the `names`; None is all that
    occur, in alphabetical order.
    """
    y = table_if_listed(y, names)
    return plain_labels(y), column_names(y)


def in_known_order(y, estimator):
    """Return a target with its columns in the order of the labels that a fitted estimator knows."""
    names = getattr(estimator, "label_names_", None)
    return y if names is None else in_order(table_if_listed(y, names), names)


def _target_kind(y):
    """Return "multilabel" or "vector"; raise ValueError for what is neither."""
    if getattr(y, "ndim", 1) != 2:
        check_classification_targets(y)
        return "vector"
    if y.shape[1] == 0:
        raise ValueError("The label matrix has no columns; at least one label is needed.")
    y = without_duplicates(y) if sp.issparse(y) else y
    if not values_beside_0_and_1(y).size:
        return "multilabel"
    if y.shape[1] == 1:  # a column of classes
        check_classification_targets(y.toarray() if sp.issparse(y) else y)
        return "vector"
    shown = shown_values(distinct(y.data if sp.issparse(y) else y))
    raise ValueError(
        "Unknown label type: a label matrix must hold only 0 and 1, but this "
        f"{_type_of(y)} target holds {shown}. Pass a 0/1 indicator matrix (for -1/1 labels: "
        "(y > 0).astype(int)), or a list that has a list of label names for each row."
    )


def _check_number(classes, n_labels):
    """Refuse classes of a label matrix that are not one for each column."""
    if classes is not None and len(classes) != n_labels:
        raise ValueError(
            f"y is a label matrix with {n_labels} columns, but there are {len(classes)} `classes`. "
            "Leave them out: of a label matrix each column is a label."
        )


def _type_of(y):
    """Say what a target is, in scikit-learn's words; it has none for some objects."""
    try:
        return type_of_target(y)
    except (TypeError, ValueError):
        return f"{y.dtype}"


def _as_vector(y):
    if sp.issparse(y):
        y = y.toarray()
    return column_or_1d(y, warn=True)


def _as_names(names):
    return np.array([str(name) for name in names], dtype=object)


def _container(y):
    if not sp.issparse(y):
        return None
    return sp.csr_array if isinstance(y, sp.sparray) else sp.csr_matrix


def _binary_csr(y):
    """0/1 matrix of any kind as a canonical CSR array of int32, without explicit zeros."""
    if not sp.issparse(y):
        y = np.asarray(y) != 0  # scipy's sparse matrices know no half precision
    Y = sp.csr_array(y, copy=True).astype(np.int32)
    Y.sum_duplicates()
    Y.eliminate_zeros()
    return Y


def _take(encoding):
    """Parameters of an encoding; the classes of a label matrix follow from the names."""
    names = ("kind", "classes", "label_names", "dtype", "container")
    params = {name: getattr(encoding, name) for name in names}
    if encoding.kind == "multilabel":
        params["classes"] = None
    return params, {}


def _make(params, fitted):
    """Make an encoding of what `_take` returned."""
    require(not fitted and len(params) == 5, "a target encoding")
    encoding = TargetEncoding(**params)
    kind, names = encoding.kind, encoding.label_names
    require(kind in ("multilabel", "binary", "multiclass"), f"a target of kind {kind!r:.50}")
    require(is_vector(names, kinds="O") and len(names) > 0, "names of labels")
    require(isinstance(encoding.dtype, np.dtype), "dtype of the target")
    require(encoding.container in (None, sp.csr_array, sp.csr_matrix), "container of the target")
    if kind == "multilabel":
        require(encoding.classes is None, "classes of a label matrix")
        classes = LabelClasses(np.array([0, 1]) for _ in names)
        return TargetEncoding(kind, classes, names, encoding.dtype, encoding.container)
    n_classes = len(names) + (kind == "binary")
    require(is_vector(encoding.classes, n_classes, "biufUO"), "classes and their names")
    return encoding


TargetEncoding._model_part = Part(take=_take, make=_make)
