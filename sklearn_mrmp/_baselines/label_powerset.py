"""LabelPowersetClassifier: each label set of the training rows is a class.

Knows scikit-learn's interface of classifiers.
"""

from typing import ClassVar

import numpy as np
from sklearn.base import clone

from sklearn_mrmp._base import (
    FITTED,
    FROM_TARGET,
    BaseMultilabelClassifier,
    complete_classifier,
    fitted_or_not,
)
from sklearn_mrmp._baselines.single_labels import (
    CLASSIFIER,
    given_or_regression,
    takes_sparse,
    weight_params,
)
from sklearn_mrmp._model_files.part import LABEL_SETS, Part, is_matrix, require
from sklearn_mrmp._numerics.entry_weights import rows_that_count
from sklearn_mrmp._sklearn_compat import _fit_context


class LabelPowersetClassifier(BaseMultilabelClassifier):
    """Label powerset: each label set of the training rows is a class of one multiclass problem.

    `predict` returns the most probable of these label sets, which is best for subset accuracy if
    the probabilities are right. `predict_proba` has the probability of each label, the sum over the
    sets that contain it.

    Read more in :doc:`/baselines`.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, default=None
        Solves the multiclass problem; None is `~sklearn.linear_model.LogisticRegression`.

    Attributes
    ----------
    estimator_ : classifier or None
        The fitted classifier of label sets; None where all training rows have the same one.

    label_sets_ : ndarray of shape (n_label_sets, n_labels), int32
        The label set of each class.

    classes_ : list of ndarray, or ndarray
        ``array([0, 1])`` for each label; the classes of a vector target.

    label_names_ : ndarray of str of shape (n_labels,)
        Names of the labels.

    n_features_in_ : int
        Number of features seen in `fit`.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when all of them are strings.

    See Also
    --------
    LabelChainClassifier : Predicts one label after the other.
    MLRNNClassifier : Predicts label sets that no training row has.

    Notes
    -----
    A label set that no training row has is never predicted, and the number of classes grows with
    the data: with many labels, most label sets have few training rows, or one.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_mrmp import LabelPowersetClassifier
    >>> X, Y = [[0.0], [0.1], [1.0], [1.1]], [[1, 0, 0], [1, 0, 0], [0, 1, 1], [0, 1, 1]]
    >>> LabelPowersetClassifier(LogisticRegression(C=100)).fit(X, Y).predict([[0.2], [0.9]])
    array([[1, 0, 0],
           [0, 1, 1]])
    """

    _parameter_constraints: ClassVar = {"estimator": CLASSIFIER}

    def __init__(self, estimator=None):
        self.estimator = estimator

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = takes_sparse(self.estimator)
        return tags

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, sample_weight=None):
        """Fit the multiclass problem.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.

        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            0/1 label matrix, a list of label names for each row, or a vector of classes.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, for an `estimator` that takes them.

        Returns
        -------
        self : LabelPowersetClassifier
            The fitted classifier.
        """
        with fitted_or_not(self):
            X, Y = self._validate_fit(X, y)
            X, Y, weights = rows_that_count(X, Y, sample_weight)
            self.label_sets_, codes = np.unique(Y.toarray(), axis=0, return_inverse=True)
            estimator = given_or_regression(self.estimator)
            params = weight_params(estimator, weights)
            self.estimator_ = None
            if len(self.label_sets_) > 1:
                self.estimator_ = clone(estimator).fit(X, codes.ravel(), **params)
        return self

    def _label_probabilities(self, X):
        return np.clip(self._set_probabilities(X) @ self.label_sets_, 0, 1)

    def _predict_labels(self, P, rows):
        return self.label_sets_[self._set_probabilities(rows).argmax(axis=1)] == 1

    def _set_probabilities(self, X):
        """Probability of each label set, (n_samples, n_label_sets)."""
        if self.estimator_ is None:
            return np.ones((X.shape[0], 1))
        return self.estimator_.predict_proba(X)


def _complete(classifier):
    """Check, in a model file, that label sets, labels and classes belong together."""
    complete_classifier(classifier)
    sets, estimator = classifier.label_sets_, classifier.estimator_
    n_sets = 1 if estimator is None else len(estimator.classes_)
    require(is_matrix(sets, n_sets, classifier._target_encoding.n_labels), "label sets and labels")


LabelPowersetClassifier._model_part = Part(
    {**FITTED, "n_features_in_": "int", "label_sets_": "ndarray", "estimator_": "any"},
    left_out=FROM_TARGET,
    complete=_complete,
    keeps={"label_sets_": LABEL_SETS},
)
