"""How `TunedDecisionClassifier` is fitted: score rows that the classifier does not know, and tune.

The steps of ``fit``; the public face is `classifier`. Knows operating points, hierarchies and
targets.
"""

import warnings
from numbers import Real

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from sklearn_mrmp._base import checked_target
from sklearn_mrmp._deciding import check_decision
from sklearn_mrmp._decisions.choice import CANDIDATES
from sklearn_mrmp._decisions.goals.base import Decision
from sklearn_mrmp._decisions.operating_points import OperatingPoints
from sklearn_mrmp._decisions.responses import (
    choose_response_method,
    label_scores,
    last_step,
    training_part,
)
from sklearn_mrmp._decisions.unseen import UnseenScores, is_share, make_splitter, unseen_scores
from sklearn_mrmp._graph.hierarchy import check_labels_respect, make_hierarchy
from sklearn_mrmp._numerics.entry_weights import EntryWeights
from sklearn_mrmp._sklearn_compat import _routing_enabled
from sklearn_mrmp._targets import in_known_order


class TuningMixin:
    """The steps of ``fit``; parameters are those of `TunedDecisionClassifier`."""

    def _routed(self, rows, params):
        """Return what is passed on to the estimator and the splitter; `rows` are weights."""
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
        check_decision(self.decision, encoding)
        self._hierarchy, self._points, unseen = self._checked_hierarchy(Y, known), None, None
        if encoding.kind != "multiclass":
            unseen = self._unseen(X, y, routed)
            self._points = self._tuned_points(Y, unseen, EntryWeights.of(known, rows))
        self._fit_final(X, y, routed, None if unseen is None else unseen.train)
        self._copy_input_attributes()
        self._tune_given_decision()

    def _checked_hierarchy(self, Y, known):
        """Return the `Hierarchy` of the labels, or None."""
        if self.hierarchy is None:
            return None
        encoding = self._target_encoding
        if not encoding.is_matrix:
            raise ValueError(
                f"A hierarchy is one of labels, but the target of fit is a vector of "
                f"{len(encoding.classes)} classes. Pass a label matrix, or hierarchy=None."
            )
        tree = make_hierarchy(self.hierarchy, encoding.n_labels, self.label_names_)
        if known is None:  # an unknown parent is no contradiction
            check_labels_respect(tree, Y, self.label_names_)
        return tree

    def _unseen(self, X, y, routed):
        """Scores of rows that the classifier does not know."""
        response = self._response(self.estimator)
        if self._is_prefit():
            scores = label_scores(self.estimator, X, **response)
            return UnseenScores(scores, np.arange(y.shape[0]), None)
        is_matrix = self._target_encoding.is_matrix
        splitter = make_splitter(self.cv, y.shape[0], is_matrix, self.random_state)
        splits = list(splitter.split(X, y, **routed.splitter.split))
        if not self.refit and len(splits) > 1:
            raise ValueError(f"refit=False needs a single split, but cv gives {len(splits)}.")
        fit_params = routed.estimator.fit
        return unseen_scores(
            self.estimator, X, y, splits, fit_params, n_jobs=self.n_jobs, response=response
        )

    def _response(self, estimator):
        """Arguments of `label_scores` for this target."""
        return {
            "n_labels": self._target_encoding.n_labels,
            "response_method": choose_response_method(estimator, self.response_method),
            "positive": self._target_encoding.positive,
        }

    def _is_prefit(self):
        return isinstance(self.cv, str) and self.cv == "prefit"

    def _tuned_points(self, Y, unseen, weights):
        """Fit the rules on the tested rows; the others count as training rows."""
        tested, scores, others = unseen.tested, unseen.scores, unseen.others(Y.shape[0])
        known = None if weights is None else weights.known
        if known is not None:
            others = others[known[others].all(axis=1)]
        if weights is not None and weights.rows is not None:
            repeated = weights.take(tested).repetitions()
            tested, scores = tested[repeated], scores[repeated]
            others = others[weights.take(others).repetitions()]
        from_logits = (
            choose_response_method(self.estimator, self.response_method) == "decision_function"
        )
        own = () if isinstance(self.decision, (str, Real, Decision)) else (self.decision,)
        return OperatingPoints.tune(
            Y[tested],
            self._lifted(scores),
            Y[others] if others.size else None,
            decisions=(*CANDIDATES, *own),
            from_logits=from_logits,
            keep_rows=True,
            known=None if known is None else known[tested],
        )

    def _lifted(self, scores):
        """Scores or labels that respect the hierarchy, if there is one."""
        return scores if self._hierarchy is None else self._hierarchy.lifted(scores)

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

    def _tunes_on_all_rows(self):
        if self._is_prefit() or is_share(self.cv):
            return False
        # comparisons ask for probabilities; cuts of margins would be of no use for them
        method = choose_response_method(self.estimator, self.response_method)
        return method == "predict_proba"

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


def _check_prefit(estimator):
    try:
        check_is_fitted(estimator)
    except NotFittedError as error:
        raise NotFittedError("cv='prefit' needs an estimator that is fitted.") from error
