"""LabelChainClassifier: each label given those before it, also where some never occur.

scikit-learn's `ClassifierChain` stops at a label that is constant in the training rows, and takes
no weights of rows without metadata routing; both are mended here.
"""

from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from sklearn_mrmp._base import (
    FITTED,
    FROM_TARGET,
    BaseMultilabelClassifier,
    complete_classifier,
    fitted_or_not,
)
from sklearn_mrmp._baselines.single_labels import (
    CLASSIFIER,
    fitted_on_label,
    given_or_regression,
    label_decision,
    label_probability,
    takes_sparse,
    weight_params,
)
from sklearn_mrmp._model_files.part import Part, is_vector, nothing, require
from sklearn_mrmp._numerics.entry_weights import rows_that_count
from sklearn_mrmp._sklearn_compat import StrOptions, _fit_context


class LabelChainClassifier(BaseMultilabelClassifier):
    """A chain of classifiers, each of which reads the labels of those before it.

    The first classifier predicts a label from the row alone. Each next one reads the labels before
    it as further features: the true ones in ``fit``, the predicted ones in ``predict``. The chain
    thus uses relations of labels, in one direction. Labels that all training rows have, or none,
    are predicted as constants.

    Read more in :doc:`/baselines`.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, default=None
        Predicts one label; None is `~sklearn.linear_model.LogisticRegression`.

    order : "random", array-like of shape (n_labels,) or None, default=None
        Order of the labels, as numbers of columns; None is that of the columns.

    random_state : int, RandomState instance or None, default=None
        Draws the order if it is random.

    Attributes
    ----------
    estimators_ : list
        The fitted classifiers in the order of the chain; 0.0 or 1.0 in the place of one for a
        label that is constant.

    order_ : ndarray of int of shape (n_labels,)
        Order of the labels.

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
    LabelPowersetClassifier : Predicts whole label sets.
    sklearn.multioutput.ClassifierChain : The same for labels that are never constant.

    Notes
    -----
    The probability of a label is given the *predicted* labels before it, as in scikit-learn. An
    error early in the chain is passed on, so the order matters; averaging several chains of random
    order with `SoftVotingMultilabelClassifier` helps.

    References
    ----------
    .. [1] Jesse Read, Bernhard Pfahringer, Geoff Holmes, Eibe Frank: "Classifier chains for
       multi-label classification", Machine Learning 85 (2011), 333-359.

    Examples
    --------
    >>> from sklearn_mrmp import LabelChainClassifier
    >>> X = [[0.0], [0.1], [1.0], [1.1]]
    >>> Y = [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]]  # no row has the last label
    >>> LabelChainClassifier().fit(X, Y).predict([[0.1], [1.0]])
    array([[1, 0, 0],
           [0, 1, 0]])
    """

    _parameter_constraints: ClassVar = {
        "estimator": CLASSIFIER,
        "order": [StrOptions({"random"}), "array-like", None],
        "random_state": ["random_state"],
    }

    def __init__(self, estimator=None, *, order=None, random_state=None):
        self.estimator = estimator
        self.order = order
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = takes_sparse(self.estimator)
        return tags

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, sample_weight=None):
        """Fit one classifier after the other.

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
        self : LabelChainClassifier
            The fitted classifier.
        """
        with fitted_or_not(self):
            X, Y = self._validate_fit(X, y)
            X, Y, weights = rows_that_count(X, Y, sample_weight)
            estimator = given_or_regression(self.estimator)
            params = weight_params(estimator, weights)
            self.order_ = self._checked_order(Y.shape[1])
            chained = Y.toarray()[:, self.order_]
            self.estimators_ = [
                fitted_on_label(estimator, _beside(X, chained[:, :place]), y_label, params)
                for place, y_label in enumerate(chained.T)
            ]
        return self

    def _checked_order(self, n_labels):
        if self.order is None:
            return np.arange(n_labels)
        if isinstance(self.order, str):
            return check_random_state(self.random_state).permutation(n_labels)
        order = np.asarray(self.order)
        if order.shape != (n_labels,) or sorted(order.tolist()) != list(range(n_labels)):
            raise ValueError(
                f"order must have each of the numbers 0 to {n_labels - 1} of the labels once, got "
                f"{self.order!r:.100}."
            )
        return order.astype(np.intp)

    def _label_probabilities(self, X):
        n_labels = len(self.order_)
        P, chained = (np.zeros((X.shape[0], n_labels)) for _ in range(2))
        for place, (label, fitted) in enumerate(zip(self.order_, self.estimators_, strict=True)):
            rows = _beside(X, chained[:, :place])
            P[:, label] = label_probability(fitted, rows)
            if place + 1 < n_labels:
                chained[:, place] = label_decision(fitted, rows)
        return P


def _beside(X, labels):
    """Rows with the labels before one as further columns."""
    if not labels.shape[1]:
        return X
    if sp.issparse(X):
        return sp.hstack([X, sp.csr_array(labels)], format="csr", dtype=X.dtype)
    return np.hstack([X, labels], dtype=X.dtype)


def _complete(classifier):
    """Check, in a model file, that the chain has each label once."""
    complete_classifier(classifier)
    n_labels, order = classifier._target_encoding.n_labels, classifier.order_
    require(is_vector(order, n_labels, "i"), "order of the labels")
    require(sorted(order.tolist()) == list(range(n_labels)), "order of the labels")
    require(len(classifier.estimators_) == n_labels, "classifiers and labels")


LabelChainClassifier._model_part = Part(
    {**FITTED, "n_features_in_": "int", "order_": "ndarray", "estimators_": "list"},
    fit_only={"random_state": nothing},
    left_out=FROM_TARGET,
    complete=_complete,
)
