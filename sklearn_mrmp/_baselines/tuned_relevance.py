"""TunedBinaryRelevanceClassifier: one logistic regression for each label, with a tuned penalty.

The plainest strong baseline: on bags of words it is hard to beat. Knows scikit-learn.
"""

from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.utils.parallel import Parallel, delayed

from sklearn_mrmp._base import (
    FITTED,
    FROM_TARGET,
    BaseMultilabelClassifier,
    complete_classifier,
    fitted_or_not,
)
from sklearn_mrmp._baselines.single_labels import fitted_on_label, label_probability
from sklearn_mrmp._model_files.part import NUMBER, Part, nothing, require
from sklearn_mrmp._numerics.entry_weights import rows_that_count
from sklearn_mrmp._sklearn_compat import Interval, _fit_context

_HELD_OUT = 0.1


class TunedBinaryRelevanceClassifier(BaseMultilabelClassifier):
    """One logistic regression for each label, with the penalty that is best on held-out rows.

    Labels are treated independently of each other, so that this is a baseline for classifiers that
    use relations of labels. All labels have the same penalty, which is chosen by micro-averaged
    average precision.

    Read more in :doc:`/baselines`.

    Parameters
    ----------
    strengths : sequence of float, default=(0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
        Values of C, the inverse penalty, rising. From `start` on, those beside the best one so far
        are tried until none is better.

    start : float, default=1.0
        The first value; one of `strengths`.

    refit : bool, default=True
        Whether to fit on all rows in the end. False keeps the held-out rows unseen, so that
        decisions can be tuned on them. Irrelevant with `X_val`.

    n_jobs : int, default=None
        Number of labels fitted at the same time.

    random_state : int, RandomState instance or None, default=None
        Draws held-out rows where none are given.

    Attributes
    ----------
    estimators_ : list
        The fitted regression of each label; 0.0 or 1.0 in the place of one for a label that is
        constant in the training rows.

    C_ : float
        The value that was chosen.

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
    TunedDecisionClassifier : Put it around this classifier to tune its decisions for a metric.
    sklearn.multiclass.OneVsRestClassifier : One classifier for each label, without tuning.

    Examples
    --------
    >>> from sklearn_mrmp import TunedBinaryRelevanceClassifier
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, _ = make_related_labels(120, 4, n_features=40, random_state=0)
    >>> clf = TunedBinaryRelevanceClassifier((0.1, 1.0), random_state=0).fit(X, Y)
    >>> clf.C_, clf.predict(X).shape
    (0.1, (120, 4))
    """

    _parameter_constraints: ClassVar = {
        "strengths": ["array-like"],
        "start": [Interval(Real, 0, None, closed="neither")],
        "refit": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        strengths=(0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
        start=1.0,
        *,
        refit=True,
        n_jobs=None,
        random_state=None,
    ):
        self.strengths = strengths
        self.start = start
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, *, X_val=None, y_val=None):
        """Fit a few values of C and keep the best.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.

        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            0/1 label matrix, a list of label names for each row, or a vector of classes.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        X_val, y_val : like `X` and `y`, default=None
            Held-out rows; None holds out a tenth of `X`.

        Returns
        -------
        self : TunedBinaryRelevanceClassifier
            The fitted classifier.
        """
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val belong together: give both, or none of them.")
        with fitted_or_not(self):
            places = self._checked_strengths()
            X, Y = self._validate_fit(X, y)
            X, Y, weights = rows_that_count(X, Y, sample_weight)
            weights = np.ones(X.shape[0]) if weights is None else weights
            rows = train = X, Y.toarray(), weights
            if X_val is None:
                parts = train_test_split(*rows, test_size=_HELD_OUT, random_state=self.random_state)
                train, valid = parts[::2], parts[1::2]
            else:
                X_val, Y_val = self._validate_holdout(X_val, y_val)
                valid = X_val, Y_val.toarray(), np.ones(X_val.shape[0])
            self.C_, self.estimators_ = self._climb(places, train, valid)
            if self.refit and X_val is None:
                self.estimators_ = self._fitted(self.C_, *rows)
        return self

    def _checked_strengths(self):
        """Return the values of C as a list; raise ValueError for others."""
        strengths = [float(C) for C in self.strengths]
        if not strengths or min(strengths) <= 0 or strengths != sorted(set(strengths)):
            raise ValueError(
                f"strengths must be positive numbers, each above the one before, got "
                f"{self.strengths!r:.100}."
            )
        if self.start not in strengths:
            raise ValueError(f"start={self.start!r} is not one of strengths={self.strengths!r}.")
        return strengths

    def _climb(self, strengths, train, valid):
        """Go from the first strength to better neighbours while there are any."""
        X_valid, Y_valid, weights = valid
        truth, each = Y_valid.ravel(), np.repeat(weights, Y_valid.shape[1])
        models = {}

        def quality(place):
            if not 0 <= place < len(strengths):
                return -np.inf
            if place not in models:
                model = self._fitted(strengths[place], *train)
                P = _probabilities(model, X_valid).ravel()
                value = average_precision_score(truth, P, sample_weight=each) if truth.any() else 0
                models[place] = value, model
            return models[place][0]

        place = strengths.index(self.start)
        while (beside := max((place, place - 1, place + 1), key=quality)) != place:
            place = beside
        return strengths[place], models[place][1]

    def _fitted(self, C, X, Y, weights):
        """Fit a regression, or a constant, for each label."""
        regression, params = LogisticRegression(C=C, max_iter=1000), {"sample_weight": weights}
        return Parallel(n_jobs=self.n_jobs)(
            delayed(fitted_on_label)(regression, X, y, params) for y in Y.T
        )

    def _label_probabilities(self, X):
        return _probabilities(self.estimators_, X)


def _probabilities(estimators, X):
    return np.column_stack([label_probability(fitted, X) for fitted in estimators])


def _complete(classifier):
    """Check, in a model file, that there is a regression for each label."""
    complete_classifier(classifier)
    n_labels = classifier._target_encoding.n_labels
    require(len(classifier.estimators_) == n_labels, "regressions and labels")


TunedBinaryRelevanceClassifier._model_part = Part(
    {**FITTED, "n_features_in_": "int", "estimators_": "list", "C_": NUMBER},
    fit_only={"random_state": nothing},
    left_out=FROM_TARGET,
    complete=_complete,
)
