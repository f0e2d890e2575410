"""One classifier for one label: fitted as usual, or a constant where there is nothing to learn.

Labels that no training row has, or that all have, are common in multi-label data, and classifiers
of scikit-learn refuse a target of one class. Knows scikit-learn's interface of classifiers.
"""

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from sklearn_mrmp._decisions.responses import positive_column
from sklearn_mrmp._sklearn_compat import HasMethods

# What stands for a classifier that a user may give, in constraints of parameters.
CLASSIFIER = [HasMethods(["fit", "predict_proba"]), None]


def given_or_regression(estimator):
    """Return the classifier that a user gave, or a logistic regression in the place of None."""
    return LogisticRegression(max_iter=1000) if estimator is None else estimator


def takes_sparse(estimator):
    """Whether a user's classifier, or the default one, takes sparse rows."""
    return get_tags(given_or_regression(estimator)).input_tags.sparse


def weight_params(estimator, weights):
    """Return the arguments of ``fit`` for weights of rows, or raise ValueError if it takes none."""
    if weights is None:
        return {}
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"{type(estimator).__name__} takes no sample_weight in fit; use another estimator, or "
            "fit without weights."
        )
    return {"sample_weight": weights}


def fitted_on_label(estimator, X, y, params):
    """Return a fitted clone, or the label's only value, 0.0 or 1.0, where it is constant."""
    if y.min() == y.max():
        return float(y[0])
    return clone(estimator).fit(X, y, **params)


def label_probability(fitted, X):
    """Return the probability of the label, (n_samples,), by what `fitted_on_label` returned."""
    if isinstance(fitted, float):
        return np.full(X.shape[0], fitted)
    return positive_column(fitted.predict_proba(X), fitted.classes_)


def label_decision(fitted, X):
    """Return the 0/1 decision about the label, (n_samples,)."""
    if isinstance(fitted, float):
        return np.full(X.shape[0], fitted)
    return np.asarray(fitted.predict(X), dtype=float)
