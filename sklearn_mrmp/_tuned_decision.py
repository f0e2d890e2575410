"""TunedDecisionClassifier: the best decisions for a metric around any multi-label classifier.

The multi-label sibling of scikit-learn's `TunedThresholdClassifierCV`, and shaped like it. Composes
a classifier, scores rows it was not fitted on, and leaves the deciding to `OperatingPoints`.
"""

import warnings
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import (
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    check_cv,
)
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from sklearn_mrmp._base import (
    FITTED,
    TunedDecisionsMixin,
    checked_target,
    checked_weights,
    fitted_or_not,
)
from sklearn_mrmp._decisions.choice import CANDIDATES
from sklearn_mrmp._decisions.operating_points import OperatingPoints
from sklearn_mrmp._decisions.responses import (
    RESPONSE_METHODS,
    choose_response_method,
    fold_scores,
    label_scores,
    last_step,
    training_part,
)
from sklearn_mrmp._decisions.sweep import METRICS
from sklearn_mrmp._host.chunks import predict_in_chunks
from sklearn_mrmp._model_files.api import ModelFileMixin
from sklearn_mrmp._model_files.part import Part, nothing
from sklearn_mrmp._numerics.entry_weights import EntryWeights
from sklearn_mrmp._sklearn_compat import (
    HasMethods,
    Interval,
    StrOptions,
    _fit_context,
    _raise_for_params,
    _routing_enabled,
)
from sklearn_mrmp._targets import in_known_order


def _estimator_has(name):
    def check(self):
        estimator = getattr(self, "estimator_", self.estimator)
        getattr(estimator, name)  # raises the estimator's own AttributeError
        return True

    return check


class TunedDecisionClassifier(
    TunedDecisionsMixin, ModelFileMixin, ClassifierMixin, MetaEstimatorMixin, BaseEstimator
):
    """Any multi-label classifier, with the decisions that are best for a metric.

    The classifier's scores on rows it was not fitted on tell how to turn scores into label sets:
    by the best threshold, or by a rule made for the metric. All four metrics are prepared in
    ``fit``; `metric` and `decision` may be changed afterwards, without fitting again.

    Parameters
    ----------
    estimator : estimator instance
        A classifier of label matrices with ``predict_proba`` (of either shape) or
        ``decision_function``.
    metric : {"accuracy", "f1_samples", "f1_micro", "f1_macro"}, default="f1_micro"
        What predictions are to maximise. ``score`` follows it, and so does a search with
        ``scoring=None``.
    decision : {"optimal", "threshold", "label_sets", "top_k", "at_least_one"}, rule or float, \
default="optimal"
        How: by the rule made for the metric, by one of the others of `fit_decision_rules`, or by
        a rule object such as ``TopKRule(3)``. A number from 0 to 1 is a cut: labels whose score
        reaches it are predicted, whatever the metric. Names and cuts can be changed after every
        ``fit``; a rule object has to be given before.
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
        The best global cut of the scores for each metric.
    decision_rules_ : dict of str to dict of str to rule
        The rules by decision and metric.
    best_score_ : float
        The metric on the rows used for tuning, for the present `metric` and `decision`; unknown
        for a cut, which was not tuned.
    n_features_in_ : int
        Number of features, if `estimator` knows it.
    feature_names_in_ : ndarray of str
        Names of the features, if `estimator` knows them.

    Notes
    -----
    For a vector of classes ``decision="optimal"`` predicts as `estimator` does alone, which is what
    scikit-learn expects of a classifier of two classes. The other decisions take two classes for
    one label, the second class, and metrics for those of that label: ``"f1_micro"`` and
    ``"f1_macro"`` are its F1. For more classes there is nothing to tune.

    Rows that `estimator` was fitted on tell nothing about its errors, least of all with neighbours,
    which find the rows themselves: with ``cv="prefit"`` pass other rows to ``fit``.

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
            HasMethods(["fit", "decide"]),
            Interval(Real, 0.0, 1.0, closed="both"),
        ],
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
        cv=None,
        refit=True,
        response_method="auto",
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.metric = metric
        self.decision = decision
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
            0/1 label matrix, or a vector of classes. With ``cv="prefit"`` the columns of a data
            frame are matched with the labels that `estimator` knows by name. NaN is an unknown
            label, which no decision is tuned on, for an `estimator` that takes it.
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

    def _routed(self, rows, params):
        """Return what is passed on to the estimator and the splitter."""
        if rows is not None:
            params = {**params, "sample_weight": rows}
        if rows is None or _routing_enabled():
            return process_routing(self, "fit", **params)
        if not has_fit_parameter(self.estimator, "sample_weight"):
            params.pop("sample_weight")
            if not self._is_prefit():
                warnings.warn(
                    f"{type(self.estimator).__name__} takes no sample_weight in fit, so that only "
                    "the decisions are tuned on weighted rows. Weights reach a classifier inside "
                    "it by metadata routing.",
                    UserWarning,
                    stacklevel=4,
                )
        return Bunch(estimator=Bunch(fit=params), splitter=Bunch(split={}))

    def _fit(self, X, y, rows, routed):
        if self._is_prefit():
            _check_prefit(self.estimator)
            y = in_known_order(y, last_step(self.estimator))
        X, y, Y, known, encoding = checked_target(self, X, y)
        self._target_encoding, self.label_names_ = encoding, encoding.label_names
        train_positions = None
        if encoding.kind != "multiclass":
            scores, tested, train_positions = self._fit_and_score(X, y, routed)
            self._tune(Y, scores, tested, EntryWeights.of(known, rows))
        self._fit_final(X, y, routed, train_positions)
        self._copy_input_attributes()

    def _fit_and_score(self, X, y, routed):
        """Scores of rows the classifier does not know: scores, their positions, training rows."""
        response = self._response(self.estimator)
        if self._is_prefit():
            return label_scores(self.estimator, X, **response), np.arange(y.shape[0]), None
        splits = list(self._splitter(y).split(X, y, **routed.splitter.split))
        if not self.refit and len(splits) > 1:
            raise ValueError(f"refit=False needs a single split, but cv gives {len(splits)}.")
        scores = Parallel(n_jobs=self.n_jobs)(
            delayed(fold_scores)(
                clone(self.estimator), X, y, train, test, routed.estimator.fit, **response
            )
            for train, test in splits
        )
        return np.vstack(scores), np.concatenate([test for _, test in splits]), splits[0][0]

    def _is_plain(self):
        """Whether the decision about two classes is left to `estimator`."""
        return isinstance(self.decision, str) and self.decision == "optimal"

    def _response(self, estimator):
        """Arguments of `label_scores` for this target."""
        return {
            "n_labels": self._target_encoding.n_labels,
            "response_method": choose_response_method(estimator, self.response_method),
            "positive": self._target_encoding.positive,
        }

    def _is_prefit(self):
        return isinstance(self.cv, str) and self.cv == "prefit"

    def _splitter(self, y):
        n_samples = y.shape[0]
        # Rows may be sorted by label. Classes can be stratified, label sets cannot.
        is_matrix = self._target_encoding.is_matrix
        if isinstance(self.cv, Real) and not isinstance(self.cv, Integral):
            one_part = ShuffleSplit if is_matrix else StratifiedShuffleSplit
            return one_part(1, test_size=self.cv, random_state=self.random_state)
        if self.cv is None or isinstance(self.cv, Integral):
            n_splits = max(2, min(5 if self.cv is None else self.cv, n_samples))
            folds = KFold if is_matrix else StratifiedKFold
            return folds(n_splits, shuffle=True, random_state=self.random_state)
        return check_cv(self.cv)

    def _tune(self, Y, scores, tested, weights):
        """Fit the rules on the tested rows; the others count as training rows."""
        others = np.setdiff1d(np.arange(Y.shape[0]), tested)
        if weights is not None:
            others = others if weights.known is None else others[weights.known[others].all(axis=1)]
            if weights.rows is not None:
                repeated = weights.take(tested).repetitions()
                tested, scores = tested[repeated], scores[repeated]
                others = others[weights.take(others).repetitions()]
        from_logits = (
            choose_response_method(self.estimator, self.response_method) == "decision_function"
        )
        own = () if isinstance(self.decision, (str, Real)) else (self.decision,)
        points = OperatingPoints.tune(
            Y[tested],
            scores,
            Y[others] if others.size else None,
            decisions=(*CANDIDATES, *own),
            from_logits=from_logits,
            known=None if weights is None or weights.known is None else weights.known[tested],
        )
        self.thresholds_, self.decision_rules_ = points.thresholds, points.rules

    def _fit_final(self, X, y, routed, train_positions):
        """Fit `estimator_` on all rows, on those of the only split, or take the fitted one."""
        if self._is_prefit():
            self.estimator_ = self.estimator
            return
        self.estimator_ = clone(self.estimator)
        fit_params = routed.estimator.fit
        if not self.refit and train_positions is not None:
            X, y, fit_params = training_part(self.estimator_, X, y, train_positions, fit_params)
        self.estimator_.fit(X, y, **fit_params)

    def _copy_input_attributes(self):
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))

    @property
    def classes_(self):
        """Classes of each label, or of the vector target."""
        return self._target_encoding.classes

    @property
    def best_score_(self):
        """The metric on the rows used for tuning."""
        if isinstance(self.decision, Real):
            raise AttributeError(
                f"decision={self.decision!r} is a cut that was not tuned, so there is no "
                f"best_score_; there is one for {', '.join(map(repr, self.decision_rules_))}."
            )
        return self._points.rule(self.metric, self.decision).validation_score

    @property
    def _metric(self):
        return self.metric

    @property
    def _points(self):
        return OperatingPoints(self.decision_rules_)

    def _tunes_on_all_rows(self):
        if self._is_prefit() or (isinstance(self.cv, Real) and not isinstance(self.cv, Integral)):
            return False
        # comparisons ask for probabilities; cuts of margins would be of no use for them
        method = choose_response_method(self.estimator, self.response_method)
        return method == "predict_proba"

    def _labels_at(self, P, X, metric, decision):
        return self._points.predict(P, metric, decision)

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
        if encoding.kind == "multiclass" or (not encoding.is_matrix and self._is_plain()):
            return self.estimator_.predict(X)
        points, response = self._points, self._response(self.estimator_)

        def predict(rows):
            scores = label_scores(self.estimator_, rows, **response)
            return encoding.decode_labels(points.predict(scores, self.metric, self.decision))

        return predict_in_chunks(predict, X, encoding.n_labels)

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X):
        """Probabilities of the labels, from the fitted classifier.

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
            P = label_scores(self.estimator_, rows, n_labels, "predict_proba")
            limits = np.finfo(P.dtype)  # probabilities are expected strictly inside (0, 1)
            return np.clip(P, limits.tiny, 1 - limits.epsneg)

        return predict_in_chunks(predict, X, n_labels)

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X):
        """Scores of the labels, from the fitted classifier.

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
        return self.estimator_.decision_function(X)

    def get_metadata_routing(self):
        """Say who takes which metadata.

        Returns
        -------
        routing : MetadataRouter
            Routing to `estimator` and `cv`.
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        splitter = self.cv if hasattr(self.cv, "split") else KFold()
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(estimator=self.estimator, method_mapping=mapping)
            .add(
                splitter=splitter,
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.classifier_tags.multi_label = True
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
            tags.classifier_tags.poor_score = inner.classifier_tags.poor_score
        return tags


def _check_prefit(estimator):
    try:
        check_is_fitted(estimator)
    except NotFittedError as error:
        raise NotFittedError("cv='prefit' needs an estimator that is fitted.") from error


TunedDecisionClassifier._model_part = Part(
    {
        **FITTED,
        "label_names_": "ndarray",
        "estimator_": "any",
        "thresholds_": "dict?",
        "decision_rules_": "dict?",
    },
    fit_only={"cv": nothing, "random_state": nothing},
)
