"""What classifiers that tune decisions share: the fitted rules, the score, and a few questions.

`MrMPClassifier` and `TunedDecisionClassifier` are such; comparisons and displays ask them. Knows
operating points, decision objects, targets and label reports.
"""

from abc import ABC, abstractmethod
from numbers import Real

from sklearn.utils.validation import check_is_fitted

from sklearn_mrmp._decisions.goals.base import Decision
from sklearn_mrmp._decisions.responses import choose_response_method, label_scores
from sklearn_mrmp._numerics.target_scores import target_score
from sklearn_mrmp._reports.label_report import LabelReport


class TunedDecisionsMixin(ABC):
    """A classifier that tunes its own decisions.

    After ``fit`` it has `_points`, its `OperatingPoints`, or None for several classes.
    """

    @abstractmethod
    def _tunes_on_all_rows(self):
        """Return whether decisions are tuned on out-of-fold probabilities of all rows.

        A comparison gives such a classifier all training rows and lets it decide; from others it
        sets rows aside, and tunes the decisions on these itself. May be asked before ``fit``.

        Returns
        -------
        tunes_on_all_rows : bool
        """

    @abstractmethod
    def _labels_at(self, P, X, metric, decision):
        """Predict at any operating point, without changing the estimator.

        Parameters
        ----------
        P : ndarray of shape (n_samples, n_labels)
            What the classifier says of the rows, such as its decisions were tuned on:
            probabilities, as far as it has any.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows, as a caller passes them to ``predict``: some rules look at them.
        metric : str
            What predictions are to maximise.
        decision : str, Decision or float
            How: a decision that was prepared in ``fit``, a decision object, or a cut.

        Returns
        -------
        predicted : bool ndarray of shape (n_samples, n_labels)
        """

    @property
    @abstractmethod
    def _operating_point(self):
        """The present metric and decision."""

    @property
    def thresholds_(self):
        """Best global cut per metric on the held-out rows."""
        check_is_fitted(self)
        return {} if self._points is None else self._points.thresholds

    @property
    def decision_rules_(self):
        """For each decision that has a name, the fitted rule per metric."""
        check_is_fitted(self)
        return {} if self._points is None else self._points.rules

    @property
    def decision_rule_(self):
        """The fitted rule of the present `metric` and `decision`; a cut has none."""
        check_is_fitted(self)
        metric, decision = self._operating_point
        if self._points is None or isinstance(decision, Real):
            raise AttributeError(f"There is no rule of decision={decision!r}: nothing was tuned.")
        check_decision(decision, self._target_encoding)
        return self._points.rule(metric, decision, self.label_names_)

    def _tune_given_decision(self):
        """Tune a decision object, so that what is wrong with it comes to light in ``fit``."""
        if isinstance(self._operating_point[1], Decision):
            _ = self.decision_rule_

    def _finds_sets(self, metric, decision):
        """Return whether it finds label sets itself at an operating point, by no rule.

        A comparison then asks for `_labels_at`, also where it tunes the decisions itself.

        Parameters
        ----------
        metric, decision
            As of `_labels_at`.

        Returns
        -------
        finds_sets : bool
        """
        return False

    def score(self, X, y, sample_weight=None):
        """Score the predictions by `metric`, which they were decided for; classes by accuracy.

        A search with ``scoring=None`` asks for this, and so chooses by `metric`, too, whatever the
        decisions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Input rows.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            True labels; those of a data frame, or of lists of names, are matched by name.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        score : float
            ``metric`` of a label matrix, the share of right answers for a vector of classes.
        """
        check_is_fitted(self)
        metric, _ = self._operating_point
        return target_score(self._target_encoding, y, self.predict(X), metric, sample_weight)

    def report(self, X, y):
        """Measure the predictions, label by label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Input rows, best such as were not seen in ``fit``.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            True labels; those of a data frame are matched by name. NaN is an unknown entry, which
            does not count.

        Returns
        -------
        report : LabelReport
            Precision, recall, F1, average precision, support, cut and calibration of each label,
            at the present `metric` and `decision`; as a table, a data frame or a page.
        """
        check_is_fitted(self)
        encoding = self._target_encoding
        if not encoding.is_matrix:
            raise ValueError(
                "A label report is about label matrices, but the target of fit was a vector of "
                "classes. Use sklearn.metrics.classification_report(y, clf.predict(X))."
            )
        method = choose_response_method(self, getattr(self, "response_method", "auto"))
        metric, decision = self._operating_point
        return LabelReport.from_predictions(
            encoding.matched(y),
            self.predict(X),
            label_scores(self, X, encoding.n_labels, method),
            label_names=self.label_names_,
            cuts=self._label_cuts(),
            probabilities=method == "predict_proba",
            graph=getattr(self, "label_graph_", None),
            settings={"classifier": self, "metric": metric, "decision": decision},
        )

    def _label_cuts(self):
        """Return what scores have to reach: a number, one for each label, or None."""
        metric, decision = self._operating_point
        if isinstance(decision, Real):
            return decision
        if self._finds_sets(metric, decision):
            return None
        rule = self.decision_rule_
        return getattr(rule, "thresholds", getattr(rule, "threshold", None))


def check_decision(decision, encoding, label_names=None):
    """Raise ValueError for a decision object that makes no sense for a target.

    Parameters
    ----------
    decision : str, rule, Decision or float
        What a classifier was given; decision objects alone are looked at.
    encoding : TargetEncoding
        The target of ``fit``.
    label_names : sequence of str, default=None
        Names of the labels where they are not those of the target.
    """
    if not isinstance(decision, Decision):
        return
    if encoding.kind == "multiclass":
        raise ValueError(
            f"decision={decision!r} decides about labels, but the target of fit has "
            f"{len(encoding.classes)} classes that exclude each other. Use decision='optimal', "
            "which predicts the most probable one."
        )
    if not encoding.is_matrix and decision.is_for_sets:
        raise ValueError(
            f"decision={decision!r} compares the labels of a row, but the target of fit is a "
            "vector of two classes. Use another decision, or a label matrix."
        )
    decision._for_labels(encoding.label_names if label_names is None else label_names)
