"""SoftVotingMultilabelClassifier: the mean of several classifiers' probabilities.

scikit-learn's `VotingClassifier` refuses label matrices. Errors of different models differ, so
their mean is often better than the best of them. Composes classifiers; knows nothing of any.
"""

from numbers import Integral
from typing import ClassVar

import numpy as np
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils import Bunch, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from sklearn_mrmp._base import (
    FITTED,
    FROM_TARGET,
    BaseMultilabelClassifier,
    checked_target,
    complete_classifier,
    fitted_or_not,
)
from sklearn_mrmp._decisions.responses import class_probabilities
from sklearn_mrmp._decisions.unseen import fold_probabilities
from sklearn_mrmp._model_files.part import Part, is_vector, nothing, require
from sklearn_mrmp._numerics.entry_weights import EntryWeights, checked_weights
from sklearn_mrmp._sklearn_compat import (
    Interval,
    StrOptions,
    _BaseComposition,
    _fit_context,
)

# Probabilities of exactly 0 or 1 would make one certain member veto all others in the log loss.
_MARGIN = 1e-6


class SoftVotingMultilabelClassifier(BaseMultilabelClassifier, _BaseComposition):
    """Average the probabilities of multi-label classifiers.

    Parameters
    ----------
    estimators : list of (str, estimator)
        Names and classifiers with ``predict_proba``, of either of scikit-learn's shapes.
    weights : "auto", array-like of shape (n_estimators,) or None, default=None
        Weight of each classifier. None gives equal weights, and ``"auto"`` finds the weights with
        the smallest log loss of out-of-fold probabilities.
    cv : int, default=5
        Number of folds for ``weights="auto"``.
    n_jobs : int, default=None
        Number of fits at once.
    random_state : int, RandomState instance or None, default=None
        Shuffles the rows into folds.

    Attributes
    ----------
    estimators_ : list of estimator
        The fitted classifiers.
    named_estimators_ : Bunch
        The same by name.
    weights_ : ndarray of shape (n_estimators,)
        The weights used; they sum to 1.
    classes_ : list of ndarray, or ndarray
        ``array([0, 1])`` for each label; the classes of a vector target.
    label_names_ : ndarray of str
        Column names of the target, or numbers.

    See Also
    --------
    TunedDecisionClassifier : Put it around the vote to tune its decisions for a metric.

    Notes
    -----
    ``predict`` uses a threshold of 1/2. To tune thresholds for a metric, use
    ``TunedDecisionClassifier(SoftVotingMultilabelClassifier(...), metric=...)``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> from sklearn_mrmp import MLKNNClassifier, SoftVotingMultilabelClassifier
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, _ = make_related_labels(200, 5, n_features=40, random_state=0)
    >>> vote = SoftVotingMultilabelClassifier([
    ...     ("linear", OneVsRestClassifier(LogisticRegression())),
    ...     ("knn", MLKNNClassifier()),
    ... ]).fit(X, Y)
    >>> vote.predict_proba(X).shape
    (200, 5)
    """

    _parameter_constraints: ClassVar[dict] = {
        "estimators": [list],
        "weights": [StrOptions({"auto"}), "array-like", None],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(self, estimators, *, weights=None, cv=5, n_jobs=None, random_state=None):
        self.estimators = estimators
        self.weights = weights
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def get_params(self, deep=True):
        """Get the parameters, those of the members as ``name__parameter``.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the members'.

        Returns
        -------
        params : dict
        """
        return self._get_params("estimators", deep=deep)

    def set_params(self, **params):
        """Set parameters, those of the members as ``name__parameter``.

        Parameters
        ----------
        **params : dict
            Parameters, or ``name=estimator`` to replace a member.

        Returns
        -------
        self : SoftVotingMultilabelClassifier
        """
        return self._set_params("estimators", **params)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        members = [get_tags(member) for _, member in self.estimators]
        tags.input_tags.sparse = all(member.input_tags.sparse for member in members)
        return tags

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, sample_weight=None):
        """Fit every classifier, and find the weights when asked to.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Input rows, in whatever form all classifiers take.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            0/1 label matrix, a list of label names for each row, or a vector of classes. NaN is an
            unknown label, for classifiers that take it.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, for classifiers that all take them.

        Returns
        -------
        self : SoftVotingMultilabelClassifier
        """
        with fitted_or_not(self):
            self._fit(X, y, sample_weight, self._check_estimators())
        return self

    def _fit(self, X, y, sample_weight, names):
        X, y, Y, known, self._target_encoding = checked_target(self, X, y)
        rows = self._checked_weights(sample_weight, X)
        self.classes_ = self._target_encoding.classes
        self.label_names_ = self._target_encoding.label_names
        self.weights_ = self._resolve_weights(X, y, Y, EntryWeights.of(known, rows), rows)
        params = {} if rows is None else {"sample_weight": rows}
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fitted)(clone(estimator), X, y, params) for _, estimator in self.estimators
        )
        self.named_estimators_ = Bunch(**dict(zip(names, self.estimators_, strict=True)))
        for attribute in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimators_[0], attribute):
                setattr(self, attribute, getattr(self.estimators_[0], attribute))

    def _checked_weights(self, sample_weight, X):
        """Check weights of rows, and that every classifier takes them; None stays None."""
        rows = checked_weights(sample_weight, X)
        for name, estimator in self.estimators if rows is not None else ():
            if not has_fit_parameter(estimator, "sample_weight"):
                raise ValueError(
                    f"{name} ({type(estimator).__name__}) takes no sample_weight in fit; leave it "
                    "out of the vote, or fit without weights."
                )
        return rows

    def _check_estimators(self):
        if not self.estimators:
            raise ValueError("estimators is empty; give at least one (name, classifier) pair.")
        names = [name for name, _ in self.estimators]
        self._validate_names(names)
        for name, estimator in self.estimators:
            if not hasattr(estimator, "predict_proba"):
                raise ValueError(
                    f"{name} ({type(estimator).__name__}) has no predict_proba to average; wrap it "
                    "in a CalibratedClassifierCV or leave it out."
                )
        return names

    def _resolve_weights(self, X, y, Y, entries, rows):
        n_members = len(self.estimators)
        if self.weights is None:
            return np.full(n_members, 1 / n_members)
        if isinstance(self.weights, str):
            return self._out_of_fold_weights(X, y, Y, entries, rows)
        weights = np.asarray(self.weights, dtype=float)
        if weights.shape != (n_members,) or (weights < 0).any() or not weights.sum() > 0:
            raise ValueError(
                f"weights must be {n_members} non-negative numbers, not all zero, got "
                f"{self.weights}."
            )
        return weights / weights.sum()

    def _out_of_fold_weights(self, X, y, Y, entries, rows):
        n_splits = min(self.cv, y.shape[0])
        if n_splits < 2:
            raise ValueError("weights='auto' needs at least 2 rows for its folds; got n_samples=1.")
        folds = KFold(n_splits, shuffle=True, random_state=self.random_state)
        splits, encoding = list(folds.split(np.zeros(y.shape[0]))), self._target_encoding
        parts = Parallel(n_jobs=self.n_jobs)(
            delayed(fold_probabilities)(clone(estimator), X, y, train, test, encoding, rows)
            for _, estimator in self.estimators
            for train, test in splits
        )
        per_member = [parts[i : i + n_splits] for i in range(0, len(parts), n_splits)]
        P = np.stack([np.vstack(member) for member in per_member])  # (members, n, labels)
        tested = np.concatenate([test for _, test in splits])
        counts = None if entries is None else entries.take(tested).entries()
        return best_weights(P, Y[tested].toarray(), counts)

    def _check_rows(self, X):
        return X  # the members check it, each in its own way

    def _label_probabilities(self, X):
        members = (
            class_probabilities(member, X, self._target_encoding) for member in self.estimators_
        )
        return sum(weight * P for weight, P in zip(self.weights_, members, strict=True))


def best_weights(P, Y, counts=None):
    """Weights of the mean whose log loss is smallest; a convex problem on the simplex.

    Parameters
    ----------
    P : ndarray of shape (n_members, n_samples, n_labels)
        Probabilities of each member on rows it was not fitted on.
    Y : ndarray of shape (n_samples, n_labels)
        0/1 labels.
    counts : ndarray that can be broadcast to `Y`, default=None
        How much each entry counts; None is 1.

    Returns
    -------
    weights : ndarray of shape (n_members,)
        Non-negative, summing to 1.
    """
    # Probability each member gave to what happened; the log loss needs nothing else.
    given = np.clip(np.where(Y == 1, P, 1 - P).reshape(len(P), -1), _MARGIN, 1).astype(float)
    shares = None if counts is None else np.broadcast_to(counts, Y.shape).ravel().astype(float)

    def average(values):
        return np.average(values, axis=-1, weights=shares)

    def loss(w):
        mean = w @ given
        return -average(np.log(mean)), -average(given / mean)

    start = np.full(len(P), 1 / len(P))
    simplex = {"type": "eq", "fun": lambda w: w.sum() - 1, "jac": lambda w: np.ones_like(w)}
    bounds = [(0, 1)] * len(P)
    found = minimize(loss, start, jac=True, method="SLSQP", bounds=bounds, constraints=simplex)
    weights = np.clip(found.x, 0, None)
    return weights / weights.sum()


def _fitted(estimator, X, y, params):
    return estimator.fit(X, y, **params)


def _complete(classifier):
    """Set, in a model file, members by name, as many as there are weights."""
    complete_classifier(classifier)
    n_members = len(classifier.estimators)
    members = classifier.estimators_
    require(len(members) == n_members, "members of the vote")
    require(is_vector(classifier.weights_, n_members, "f"), "members and weights")
    names = [name for name, _ in classifier.estimators]
    classifier.named_estimators_ = Bunch(**dict(zip(names, members, strict=True)))


SoftVotingMultilabelClassifier._model_part = Part(
    {**FITTED, "weights_": "ndarray", "estimators_": "list"},
    fit_only={"random_state": nothing},
    left_out=(*FROM_TARGET, "named_estimators_"),
    complete=_complete,
)
