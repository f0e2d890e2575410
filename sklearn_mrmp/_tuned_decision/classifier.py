"""TunedDecisionClassifier: the best decisions for a metric around any multi-label classifier.

The multi-label sibling of scikit-learn's `TunedThresholdClassifierCV`, and shaped like it: the
parameters, and prediction. `fitting` has the steps of ``fit``; `OperatingPoints` decide.
"""

from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_mrmp._base import FITTED, PredictLabelsMixin, fitted_or_not
from sklearn_mrmp._deciding import TunedDecisionsMixin, check_decision
from sklearn_mrmp._decisions.choice import CANDIDATES
from sklearn_mrmp._decisions.goals.base import Decision
from sklearn_mrmp._decisions.responses import (
    RESPONSE_METHODS,
    label_scores,
)
from sklearn_mrmp._decisions.sweep import METRICS
from sklearn_mrmp._host.chunks import predict_in_chunks
from sklearn_mrmp._model_files.api import ModelFileMixin
from sklearn_mrmp._model_files.part import Part, nothing, require
from sklearn_mrmp._numerics.entry_weights import checked_weights
from sklearn_mrmp._sklearn_compat import (
    DocLinkMixin,
    HasMethods,
    Interval,
    StrOptions,
    _fit_context,
    _raise_for_params,
)
from sklearn_mrmp._tuned_decision.fitting import TuningMixin


def _estimator_has(name):
    def check(self):
        estimator = getattr(self, "estimator_", self.estimator)
        getattr(estimator, name)  # raises the estimator's own AttributeError
        return True

    return check


class TunedDecisionClassifier(
    TuningMixin,
    TunedDecisionsMixin,
    PredictLabelsMixin,
    ModelFileMixin,
    DocLinkMixin,
    ClassifierMixin,
    MetaEstimatorMixin,
    BaseEstimator,
):
    """Any multi-label classifier, with the decisions that are best for a metric.

    The classifier's scores on rows that it was not fitted on are used to find how to turn scores
    into label sets: by the best threshold, or by a rule that is made for the metric. Decisions for
    all four metrics are tuned in ``fit``. `metric` and `decision` can be changed afterwards,
    without fitting again.

    Parameters
    ----------
    estimator : estimator instance
        A classifier of label matrices with ``predict_proba`` (of either shape) or
        ``decision_function``.
    metric : {"accuracy", "f1_samples", "f1_micro", "f1_macro"}, default="f1_micro"
        The metric that predictions are tuned for. ``score`` computes it, and therefore also a
        search with ``scoring=None``.
    decision : {"optimal", "threshold", "label_sets", "top_k", "at_least_one"}, decision object, \
rule or float, default="optimal"
        How label sets are predicted: by the rule that is made for the metric, or by another rule of
        `fit_decision_rules`; by a decision object such as ``PrecisionFloor(0.9)``, whatever the
        metric is; or by a threshold of your own, a number from 0 to 1. All of these can be changed
        after ``fit``. A rule of your own, with ``fit(Y, P, Y_train)`` and ``decide(P)``, must be
        set before.
    hierarchy : sequence, mapping or sparse matrix, default=None
        A hierarchy of the labels, as `hierarchy_relation` takes it or returns it. Before decisions
        are tuned, the score of each label is raised to the highest score of the labels below it,
        and the ancestors of every predicted label are predicted, too. Labels of ``fit`` must be
        consistent with the hierarchy; see `add_ancestors`.
    cv : int, float, "prefit", cross-validation generator or iterable, default=None
        Which rows the decisions are tuned on:

        - None or an integer: all of them, by out-of-fold scores of 5 or that many folds;
        - a float in (0, 1): this fraction of the rows, held out;
        - ``"prefit"``: the rows given to ``fit``, which a fitted `estimator` has not seen;
        - a splitter or an iterable of (train, test) positions: the test rows.
    refit : bool, default=True
        Whether `estimator` is fitted on all rows in the end. False keeps the one of a single
        split; irrelevant for ``"prefit"``.
    response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
        Source of the scores.
    n_jobs : int, default=None
        Number of folds fitted at once.
    random_state : int, RandomState instance or None, default=None
        Shuffles the rows when `cv` is None or a number.

    Attributes
    ----------
    estimator_ : estimator
        The fitted classifier.
    classes_ : list of ndarray, or ndarray
        ``[0, 1]`` for each label; the classes when the target was a vector.
    label_names_ : ndarray of str
        Column names of the target, or numbers.
    thresholds_ : dict of str to float
        The best global threshold of the scores for each metric.
    decision_rules_ : dict of str to dict of str to rule
        The rules of decisions that have a name, by decision and metric.
    decision_rule_ : rule
        The rule of the present `metric` and `decision`; its attributes say what was chosen.
    best_score_ : float
        The score on the rows used for tuning, for the present `metric` and `decision`. A decision
        object has the score that it maximises. If nothing was tuned, as for a threshold of your
        own, there is no such attribute.
    n_features_in_ : int
        Number of features, if `estimator` knows it.
    feature_names_in_ : ndarray of str
        Names of the features, if `estimator` knows them.

    Notes
    -----
    For a vector of classes ``decision="optimal"`` predicts as `estimator` does alone, which is what
    scikit-learn expects of a classifier of two classes. For two classes, the other decisions treat
    the second class as a single label, and metrics are those of this label: ``"f1_micro"`` and
    ``"f1_macro"`` are its F1. For more classes there is nothing to tune.

    With ``cv="prefit"``, pass only rows to ``fit`` that `estimator` was not fitted on. Its
    probabilities for training rows are far too confident, above all with nearest neighbours, where
    each row finds itself.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> from sklearn_mrmp import TunedDecisionClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, n_labels=2, random_state=0)
    >>> clf = TunedDecisionClassifier(
    ...     OneVsRestClassifier(LogisticRegression()), metric="accuracy", random_state=0
    ... ).fit(X, Y)
    >>> clf.predict(X).shape
    (100, 6)
    >>> clf.set_params(metric="f1_samples").predict(X[:1])
    array([[...]])
    """

    _parameter_constraints: ClassVar[dict] = {
        "estimator": [
            HasMethods(["fit", "predict_proba"]),
            HasMethods(["fit", "decision_function"]),
        ],
        "metric": [StrOptions(set(METRICS))],
        "decision": [
            StrOptions(set(CANDIDATES)),
            Decision,
            HasMethods(["fit", "decide"]),
            Interval(Real, 0.0, 1.0, closed="both"),
        ],
        "hierarchy": [list, tuple, dict, np.ndarray, "sparse matrix", None],
        "cv": [
            "cv_object",
            StrOptions({"prefit"}),
            Interval(Real, 0.0, 1.0, closed="neither"),
        ],
        "refit": ["boolean"],
        "response_method": [StrOptions({"auto", *RESPONSE_METHODS})],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator,
        *,
        metric="f1_micro",
        decision="optimal",
        hierarchy=None,
        cv=None,
        refit=True,
        response_method="auto",
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.metric = metric
        self.decision = decision
        self.hierarchy = hierarchy
        self.cv = cv
        self.refit = refit
        self.response_method = response_method
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, sample_weight=None, **params):
        """Fit the classifier and tune the decisions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Input rows, in whatever form `estimator` takes.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            0/1 label matrix, a list of label names for each row, or a vector of classes. With
            ``cv="prefit"`` the columns of a data frame, or names in lists, are matched with the
            labels that `estimator` knows by name. NaN is an unknown label, which no decision is
            tuned on, for an `estimator` that takes it.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, for the decisions and for `estimator`; one that takes none is
            fitted without, after a warning. When metadata routing is enabled, `estimator` gets
            them if it requests them.
        **params : dict
            Metadata for `estimator` and `cv`, when metadata routing is enabled.

        Returns
        -------
        self : TunedDecisionClassifier
            The fitted classifier.
        """
        _raise_for_params(params, self, None)
        with fitted_or_not(self):
            rows = checked_weights(sample_weight, X)
            self._fit(X, y, rows, self._routed(rows, params))
        return self

    @property
    def classes_(self):
        """Classes of each label, or of the vector target."""
        return self._target_encoding.classes

    @property
    def best_score_(self):
        """The metric on the rows used for tuning."""
        score = getattr(self.decision_rule_, "validation_score", None)
        if score is None:
            raise AttributeError(
                f"decision={self.decision!r} was not tuned, so there is no best_score_."
            )
        return score

    @property
    def _operating_point(self):
        return self.metric, self.decision

    def _labels_at(self, P, X, metric, decision):
        names = self.label_names_
        return self._lifted(self._points.predict(P, metric, decision, label_names=names))

    def _is_plain(self):
        """Whether the decision about two classes is left to `estimator`."""
        return isinstance(self.decision, str) and self.decision == "optimal"

    def predict(self, X):
        """Predict label sets, as is best for `metric`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Input rows.

        Returns
        -------
        y : {ndarray, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            0/1 labels in the dtype of the training target, sparse when that was sparse.
        """
        check_is_fitted(self, "estimator_")
        encoding = self._target_encoding
        check_decision(self.decision, encoding)
        if encoding.kind == "multiclass" or (not encoding.is_matrix and self._is_plain()):
            return self.estimator_.predict(X)
        response = self._response(self.estimator_)

        def scores(rows):
            return self._lifted(label_scores(self.estimator_, rows, **response))

        def predict(rows):
            return encoding.decode_labels(self._labels_at(scores(rows), rows, *point))

        point = self._operating_point
        if getattr(self.decision, "needs_all_rows", False):
            P = predict_in_chunks(scores, X, encoding.n_labels)
            return encoding.decode_labels(self._labels_at(P, X, *point))
        return predict_in_chunks(predict, X, encoding.n_labels)

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X):
        """Probabilities of the labels, from the fitted classifier; lifted by the hierarchy.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Input rows.

        Returns
        -------
        P : ndarray of shape (n_samples, n_labels) or (n_samples, n_classes)
            One column for each label, whatever the classifier's own shape; for a vector target
            one column for each class.
        """
        check_is_fitted(self, "estimator_")
        if not self._target_encoding.is_matrix:
            return self.estimator_.predict_proba(X)
        n_labels = self._target_encoding.n_labels

        def predict(rows):
            P = self._lifted(label_scores(self.estimator_, rows, n_labels, "predict_proba"))
            limits = np.finfo(P.dtype)  # probabilities are expected strictly inside (0, 1)
            return np.clip(P, limits.tiny, 1 - limits.epsneg)

        return predict_in_chunks(predict, X, n_labels)

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X):
        """Scores of the labels, from the fitted classifier; lifted by the hierarchy.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Input rows.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels), or as the classifier's for a vector target
            The scores.
        """
        check_is_fitted(self, "estimator_")
        return self._lifted(self.estimator_.decision_function(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.classifier_tags.multi_label = True
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
            tags.classifier_tags.poor_score = inner.classifier_tags.poor_score
        return tags


def _complete(classifier):
    """Check, in a model file, that decisions, hierarchy and labels belong together."""
    encoding, tree = classifier._target_encoding, classifier._hierarchy
    require((encoding.kind == "multiclass") == (classifier._points is None), "decisions")
    require(tree is None or tree.n_labels == encoding.n_labels, "hierarchy and labels")


TunedDecisionClassifier._model_part = Part(
    {
        **FITTED,
        "label_names_": "ndarray",
        "estimator_": "any",
        "_points": "OperatingPoints|NoneType",
        "_hierarchy": "Hierarchy|NoneType",
    },
    fit_only={
        "cv": nothing,
        "random_state": nothing,
        "hierarchy": lambda classifier: classifier._hierarchy.adjacency,
    },
    complete=_complete,
)
