"""The scikit-learn face shared by every classifier: validation and the target contract.

A subclass implements ``fit`` (calling `_validate_fit`) and `_label_probabilities`, which sees
chunks of validated rows; it may override `_check_rows` and `_predict_labels`. Everything a caller
sees of targets and predictions is decided here and in `_targets`, once, so all classifiers agree.
`fitted_or_not` is around every ``fit``.
"""

from abc import abstractmethod
from contextlib import contextmanager

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import indexable
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from sklearn_mrmp._host.chunks import predict_in_chunks
from sklearn_mrmp._model_files.api import ModelFileMixin
from sklearn_mrmp._numerics.label_frames import is_frame
from sklearn_mrmp._numerics.label_lists import LabelTable, names_of_rows
from sklearn_mrmp._numerics.target_scores import target_score
from sklearn_mrmp._numerics.unknown import split_unknown, without_unknown
from sklearn_mrmp._sklearn_compat import DocLinkMixin, _check_y
from sklearn_mrmp._targets import TargetEncoding, read_target


@contextmanager
def fitted_or_not(estimator, keeps=False):
    """Make ``fit`` a matter of all or nothing: an earlier fit is forgotten, and one that fails too.

    Parameters
    ----------
    estimator : estimator
        What is being fitted. Its learned attributes are those that its model files know, so that a
        subclass keeps what it has learned itself before it calls this ``fit``; of a class that
        files do not know, all that end in an underscore.
    keeps : bool, default=False
        Whether a fit that fails leaves an earlier one as it was, which it goes on from.
    """
    before = _forget(estimator)
    try:
        yield
    except BaseException:
        _forget(estimator)
        if keeps:
            vars(estimator).update(before)
        raise


def _forget(estimator):
    """Take the learned attributes from an estimator, and return them."""
    part, names = getattr(estimator, "_model_part", None), list(vars(estimator))
    learned = FITTED if part is None else {*part.fitted, *part.left_out}
    found = {}
    for name in names:
        is_public = name.endswith("_") and not name.startswith("_")
        if name in learned or (part is None and is_public):
            found[name] = vars(estimator).pop(name)
    return found


class PredictLabelsMixin:
    """``predict_labels``: predictions as lists of names, for classifiers of label matrices."""

    def predict_labels(self, X):
        """Predict the names of the labels of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Input rows.

        Returns
        -------
        names : list of list of str
            For each row the names of what `predict` predicts, in the order of `label_names_`:
            ``"0"``, ``"1"``, … where the training labels had no names. Not for a vector target,
            whose classes `predict` returns.
        """
        return self._named(self.predict(X))

    def _named(self, Y):
        """Return predictions as lists of names, or raise ValueError for those of a vector."""
        encoding = self._target_encoding
        if not encoding.is_matrix:
            raise ValueError(
                f"predict_labels names the labels of a label matrix, but the target of fit was a "
                f"{encoding.kind} vector. Use predict, which returns its classes."
            )
        return names_of_rows(Y, self.label_names_)


class BaseMultilabelClassifier(
    PredictLabelsMixin, ModelFileMixin, DocLinkMixin, ClassifierMixin, BaseEstimator
):
    """Base of the multi-label classifiers: one target contract for all of them.

    After ``fit`` a subclass has ``classes_`` (a list of ``array([0, 1])`` for a label matrix, the
    array of classes otherwise) and ``label_names_``.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self):
        return "_target_encoding" in vars(self)

    def _validate_fit(self, X, y, **check_params):
        """Validate training data and learn the target encoding.

        Returns
        -------
        X : ndarray or csr_array of shape (n_samples, n_features)
        Y : csr_array of shape (n_samples, n_labels), int32
        """
        X, Y, known = self._validate_partly_known(X, y, **check_params)
        refuse_unknown(self, known)
        return X, Y

    def _validate_partly_known(self, X, y, Y_observed=None, classes=None, **check_params):
        """Validate training data of which some entries may be unknown.

        `classes` are all labels or classes that the target may have; None is those it has.

        Returns
        -------
        X, Y
            As of `_validate_fit`; unknown entries are 0.
        known : bool ndarray of shape (n_samples, n_labels), or None
            Which entries are known; None is all.
        """
        y, names = read_target(y, classes)
        y, known = split_unknown(y)
        X, y = validate_data(
            self, X, y, **self._input_checks(check_params), multi_output=True, y_numeric=False
        )
        return X, *self._learn_partly_known(y, names, known, Y_observed, classes)

    def _learn_partly_known(self, y, names, known, Y_observed, classes=None):
        """Learn the encoding of a checked training target; return it encoded, and what is known."""
        Y = self._learn_target(y, names, classes)
        known = self._target_encoding.known_entries(known, Y_observed)
        if known is None:
            return Y, None
        check_consistent_length(Y, known)
        if not known.any(axis=0).all():
            names = self.label_names_[~known.any(axis=0)]
            shown = ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
            raise ValueError(
                f"Nothing is known of {len(names)} labels: {shown}. A label needs at least one "
                "row in which it is known; leave such columns out."
            )
        Y = without_unknown(Y, known)
        if Y.nnz == np.count_nonzero(known):
            raise ValueError(
                "Every known entry of y is 1, so that nothing can be told from it. Where only "
                "positive labels are known, pass 0 for the others, or for some of them; the user "
                "guide says more under 'Partly known labels'."
            )
        return Y, known

    def _learn_target(self, y, names, classes=None):
        """Learn the encoding of a checked training target, and return it encoded."""
        self._target_encoding = TargetEncoding.from_target(y, names, classes)
        self.classes_ = self._target_encoding.classes
        self.label_names_ = self._target_encoding.label_names
        return self._target_encoding.encode(y)

    def _validate_holdout(self, X, y, **check_params):
        """Validate rows given besides the training rows; targets are encoded alike."""
        X, Y, known = self._with_target(self._validate_input(X, **check_params), y)
        refuse_unknown(self, known)
        return X, Y

    def _with_target(self, X, y, what="y_val"):
        """Return checked held-out rows with their encoded targets, and what is known of these."""
        y, known = split_unknown(self._target_encoding.matched(y, what))
        known = self._target_encoding.known_entries(known, what=what)
        y = _check_y(y, multi_output=True, estimator=self)
        check_consistent_length(X, y)
        return X, self._target_encoding.encode(y), known

    def _validate_input(self, X, **check_params):
        return validate_data(self, X, reset=False, **self._input_checks(check_params))

    @staticmethod
    def _input_checks(check_params):
        return {"accept_sparse": "csr", "dtype": [np.float64, np.float32], **check_params}

    def _check_rows(self, X):
        """Validate the caller's `X` before prediction."""
        return self._validate_input(X)

    def _encoded(self, X):
        """Return checked rows as `_label_probabilities` and `_predict_labels` want them."""
        return X

    @abstractmethod
    def _label_probabilities(self, rows):
        """Return the probability of each label, (n_rows, n_labels), for some encoded rows."""

    def _predict_labels(self, P, rows):
        """0/1 decisions about encoded rows of probabilities `P`; dense or sparse."""
        return P >= 0.5

    def _predict_classes(self, P, rows):
        """Classes of encoded rows of probabilities `P`, for a vector target."""
        return self._target_encoding.decode_scores(P)

    def predict_proba(self, X):
        """Probability of each label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Input rows.

        Returns
        -------
        P : ndarray of shape (n_samples, n_labels)
            One independent probability per label for a label matrix target; for a vector target
            one column per class, with rows that sum to 1.
        """
        check_is_fitted(self)
        encoding = self._target_encoding

        def predict(X):
            return encoding.shape_probabilities(self._label_probabilities(self._encoded(X)))

        return predict_in_chunks(predict, self._check_rows(X), encoding.n_labels)

    def predict(self, X):
        """Predict the labels of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Input rows.

        Returns
        -------
        y : {ndarray, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            0/1 labels in the dtype of the training target, sparse when that was sparse; for a
            vector target the predicted classes.
        """
        check_is_fitted(self)
        return predict_in_chunks(
            self._predict_chunk, self._check_rows(X), self._target_encoding.n_labels
        )

    def _predict_chunk(self, X):
        rows, encoding = self._encoded(X), self._target_encoding
        P = self._label_probabilities(rows)
        if not encoding.is_matrix:
            return self._predict_classes(P, rows)
        return encoding.decode_labels(self._predict_labels(P, rows))

    def score(self, X, y, sample_weight=None):
        """Accuracy; for a label matrix the share of rows whose labels are all right.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Input rows.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            True labels; those of a data frame, or of lists of names, are matched by name.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        score : float
        """
        check_is_fitted(self)
        return target_score(self._target_encoding, y, self.predict(X), "accuracy", sample_weight)


def refuse_unknown(estimator, known):
    """Raise ValueError if some entries are unknown, for estimators that cannot learn from such."""
    if known is not None:
        raise ValueError(
            f"{type(estimator).__name__} cannot learn from unknown labels: y contains NaN. Leave "
            "out such rows, or use MrMPClassifier, which takes them."
        )


def checked_target(estimator, X, y):
    """Check the target of an estimator that hands rows and targets on to others.

    Parameters
    ----------
    estimator : estimator
        Who asks, for error messages.
    X, y : array-like or sparse matrix
        What ``fit`` was given.

    Returns
    -------
    X : {array-like, sparse matrix}
        Rows that can be indexed.
    y : {ndarray, sparse matrix, data frame}
        The target; a data frame stays one, so that its names are not lost, with types of numpy.
        Lists of label names become a matrix, since the folds of others may lack some names.
        Unknown entries are NaN, which the others may refuse.
    Y : csr_array of shape (n_samples, n_labels)
        The target encoded, 0 where it is unknown.
    known : bool ndarray of shape (n_samples, n_labels), or None
        Which entries are known; None is all.
    encoding : TargetEncoding
    """
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    plain, names = read_target(y)
    plain, known = split_unknown(plain)
    plain = _check_y(plain, multi_output=True, estimator=estimator)
    encoding = TargetEncoding.from_target(plain, names)
    known, Y = encoding.known_entries(known), encoding.encode(plain)
    if known is not None:
        plain = np.where(known, Y.toarray(), np.nan)
    elif encoding.is_matrix and encoding.n_labels == 1 and encoding.container is not None:
        plain = plain.toarray()  # to scikit-learn's classifiers it is a vector of two classes
    if encoding.is_matrix and is_frame(y) and not isinstance(y, LabelTable):
        plain = _as_frame(y, plain)
    return *indexable(X, plain), Y, known, encoding


def _as_frame(y, plain):
    """Return a data frame of the type of `plain`, its values; or these if it cannot be cast."""
    if y.to_numpy().dtype == plain.dtype:
        return y
    return y.astype(plain.dtype) if hasattr(y, "astype") else plain


# What files hold of any classifier; classes and names of labels follow from the target encoding.
FITTED = {
    "_target_encoding": "TargetEncoding",
    "n_features_in_": "int?",
    "feature_names_in_": "ndarray?",
}
FROM_TARGET = ("classes_", "label_names_")


def complete_classifier(classifier):
    """Set, in a model file, the attributes that repeat the target encoding."""
    classifier.classes_ = classifier._target_encoding.classes
    classifier.label_names_ = classifier._target_encoding.label_names
