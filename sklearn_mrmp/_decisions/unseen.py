"""Scores of rows that a classifier was not fitted on, out of fold or of held-out rows.

What `TunedDecisionClassifier` tunes decisions on. Knows scikit-learn's splitters and `responses`.
"""

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import (
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    check_cv,
)
from sklearn.utils.parallel import Parallel, delayed

from sklearn_mrmp._decisions.responses import class_probabilities, label_scores, training_part
from sklearn_mrmp._sklearn_compat import _safe_split


@dataclass(frozen=True, eq=False)
class UnseenScores:
    """Scores of rows that the scoring classifier did not know.

    Attributes
    ----------
    scores : float ndarray of shape (n_tested, n_labels)
        The scores.
    tested : int ndarray of shape (n_tested,)
        Positions of these rows.
    train : int ndarray or None
        Positions of the rows that the first classifier was fitted on; None if it came fitted.
    """

    scores: np.ndarray
    tested: np.ndarray
    train: np.ndarray | None

    def others(self, n_samples):
        """Positions of rows without a score."""
        return np.setdiff1d(np.arange(n_samples), self.tested)


def is_share(cv):
    """Whether `cv` is a share of the rows to hold out."""
    return isinstance(cv, Real) and not isinstance(cv, Integral)


def make_splitter(cv, n_samples, is_matrix, random_state):
    """Return the splitter of a parameter `cv`: None, a number of folds, a share or a splitter."""
    # Rows may be sorted by label. Classes can be stratified, label sets cannot.
    if is_share(cv):
        one_part = ShuffleSplit if is_matrix else StratifiedShuffleSplit
        return one_part(1, test_size=cv, random_state=random_state)
    if cv is None or isinstance(cv, Integral):
        n_splits = max(2, min(5 if cv is None else cv, n_samples))
        folds = KFold if is_matrix else StratifiedKFold
        return folds(n_splits, shuffle=True, random_state=random_state)
    return check_cv(cv)


def unseen_scores(estimator, X, y, splits, fit_params, *, n_jobs, response):
    """Fit copies of a classifier, and score the rows that each of them was not fitted on.

    Parameters
    ----------
    estimator : classifier
        Not fitted.
    X, y : array-like
        Rows and target.
    splits : list of (train, test)
        Positions of rows.
    fit_params : dict
        What ``fit`` gets besides.
    n_jobs : int or None
        Fits at once.
    response : dict
        Arguments of `label_scores`.

    Returns
    -------
    unseen : UnseenScores
    """
    scores = Parallel(n_jobs=n_jobs)(
        delayed(_fold_scores)(clone(estimator), X, y, train, test, fit_params, **response)
        for train, test in splits
    )
    tested = np.concatenate([test for _, test in splits])
    return UnseenScores(np.vstack(scores), tested, splits[0][0])


def _fold_scores(estimator, X, y, train, test, fit_params, **response):
    """Fit on the training rows and return the scores of the test rows, as `label_scores` does."""
    X_train, y_train, fit_params = training_part(estimator, X, y, train, fit_params)
    estimator.fit(X_train, y_train, **fit_params)
    X_test, _ = _safe_split(estimator, X, y, test, train)
    return label_scores(estimator, X_test, **response)


def fold_probabilities(estimator, X, y, train, test, encoding, rows=None):
    """Fit on the training rows and return the probabilities of the test rows.

    Parameters
    ----------
    estimator : classifier
        Not fitted.
    X, y : array-like
        Rows and target.
    train, test : ndarray of int
        Positions of rows.
    encoding : TargetEncoding
        Of the whole target.
    rows : ndarray of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    P : ndarray of shape (n_test, n_labels)
        As of `class_probabilities`.
    """
    X_train, y_train = _safe_split(estimator, X, y, train)
    X_test, _ = _safe_split(estimator, X, y, test, train)
    params = {} if rows is None else {"sample_weight": rows[train]}
    return class_probabilities(estimator.fit(X_train, y_train, **params), X_test, encoding)
