"""The problem transformations that multi-label papers argue from, for comparisons.

Binary relevance and classifier chains are scikit-learn's. It has no label powerset, and its chains
stop at a label that never occurs in the training rows; both are mended here.
"""

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier

from sklearn_mrmp._base import (
    FITTED,
    FROM_TARGET,
    BaseMultilabelClassifier,
    complete_classifier,
    fitted_or_not,
)
from sklearn_mrmp._decisions.responses import label_scores
from sklearn_mrmp._model_files.part import Part, learned_part


class ConstantTolerantLogisticRegression(LogisticRegression):
    """Logistic regression that also accepts a 0/1 target with one value only.

    Then it predicts that value with a probability of almost 1. Labels that occur in no training
    row are common in multi-label data, and `ClassifierChain` has no place for them otherwise.
    """

    def fit(self, X, y, sample_weight=None):
        """Fit; a constant 0/1 target gives a constant prediction.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            0/1 target.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : ConstantTolerantLogisticRegression
        """
        values = np.unique(y)
        if len(values) > 1:
            return super().fit(X, y, sample_weight)
        self.classes_ = np.array([0, 1])
        self.n_features_in_ = X.shape[1]
        self.coef_ = np.zeros((1, X.shape[1]))
        self.intercept_ = np.array([16.0 if values[0] else -16.0])
        self.n_iter_ = np.array([0])
        return self


class TunedBinaryRelevance(BaseMultilabelClassifier):
    """One logistic regression per label with the penalty that is best on held-out rows.

    Parameters
    ----------
    strengths : tuple of float, default=(0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
        Values of C, rising. From `start` on, those beside the best one so far are tried until
        none is better.
    start : float, default=1.0
        The first value; one of `strengths`.
    refit : bool, default=False
        Whether to fit on all rows in the end.
    random_state : int, RandomState instance or None, default=None
        Draws held-out rows where none are given.

    Attributes
    ----------
    estimator_ : OneVsRestClassifier
        The fitted regressions.
    C_ : float
        The value chosen, by micro-averaged average precision.

    Examples
    --------
    >>> from sklearn_mrmp._baselines.problem_transformation import TunedBinaryRelevance
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, _ = make_related_labels(120, 4, n_features=40, random_state=0)
    >>> TunedBinaryRelevance((0.1, 1.0), random_state=0).fit(X, Y).predict(X).shape
    (120, 4)
    """

    def __init__(
        self,
        strengths=(0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
        start=1.0,
        refit=False,
        random_state=None,
    ):
        self.strengths = strengths
        self.start = start
        self.refit = refit
        self.random_state = random_state

    def fit(self, X, y, *, X_val=None, y_val=None):
        """Fit a few values of C and keep the best.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            0/1 label matrix.
        X_val, y_val : like `X` and `y`, default=None
            Held-out rows; None holds out a tenth of `X`.

        Returns
        -------
        self : TunedBinaryRelevance
        """
        with fitted_or_not(self):
            X, Y = self._validate_fit(X, y)
            train, valid = (X, Y), None
            if X_val is None:
                parts = train_test_split(X, Y, test_size=0.1, random_state=self.random_state)
                train, valid = parts[::2], parts[1::2]
            else:
                valid = self._validate_holdout(X_val, y_val)
            self.C_, self.estimator_ = self._climb(train, valid)
            if self.refit:
                self.estimator_ = clone(self.estimator_).fit(X, Y)
        return self

    def _climb(self, train, valid):
        """Go from the first strength to better neighbours while there are any."""
        truth = valid[1].toarray().ravel()
        models = {}

        def quality(place):
            if not 0 <= place < len(self.strengths):
                return -np.inf
            if place not in models:
                model = LogisticRegression(C=self.strengths[place], max_iter=1000)
                model = OneVsRestClassifier(model).fit(*train)
                P = label_scores(model, valid[0], train[1].shape[1], "predict_proba")
                models[place] = average_precision_score(truth, P.ravel()), model
            return models[place][0]

        place = self.strengths.index(self.start)
        while (beside := max((place - 1, place, place + 1), key=quality)) != place:
            place = beside
        return self.strengths[place], models[place][1]

    def _label_probabilities(self, X):
        return label_scores(self.estimator_, X, len(self.label_names_), "predict_proba")


class LabelPowersetClassifier(BaseMultilabelClassifier):
    """Label powerset: each label set of the training rows is a class of one multiclass problem.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
        Solves the multiclass problem.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier of label sets.
    label_sets_ : ndarray of shape (n_label_sets, n_labels), int32
        The label set of each class.

    Notes
    -----
    The probability of a label is the sum of those of the label sets that contain it. A label set
    that no training row has is never the most probable one, and their number grows with the data:
    what multi-label classifiers that use relations of labels try to avoid.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_mrmp._baselines.problem_transformation import LabelPowersetClassifier
    >>> X, Y = [[0.0], [0.1], [1.0], [1.1]], [[1, 0, 0], [1, 0, 0], [0, 1, 1], [0, 1, 1]]
    >>> LabelPowersetClassifier(LogisticRegression(C=100)).fit(X, Y).predict([[0.2], [0.9]])
    array([[1, 0, 0],
           [0, 1, 1]])
    """

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, y):
        """Fit the multiclass problem.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            0/1 label matrix.

        Returns
        -------
        self : LabelPowersetClassifier
        """
        with fitted_or_not(self):
            X, Y = self._validate_fit(X, y)
            self.label_sets_, codes = np.unique(Y.toarray(), axis=0, return_inverse=True)
            if len(self.label_sets_) > 1:
                self.estimator_ = clone(self.estimator).fit(X, codes.ravel())
        return self

    def _label_probabilities(self, X):
        if len(self.label_sets_) == 1:
            return np.repeat(self.label_sets_.astype(float), X.shape[0], axis=0)
        return np.clip(self.estimator_.predict_proba(X) @ self.label_sets_, 0, 1)


ConstantTolerantLogisticRegression._model_part = learned_part()
LabelPowersetClassifier._model_part = Part(
    {**FITTED, "label_sets_": "ndarray", "estimator_": "any?"},
    left_out=FROM_TARGET,
    complete=complete_classifier,
)
