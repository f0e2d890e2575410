"""The operating points of a classifier: decision rules of all metrics, tuned once.

What `MrMPClassifier`, `TunedDecisionClassifier`, comparisons and displays decide by, so that the
metric can be changed without fitting again. Decision objects, of which there are any number, are
tuned when they are first asked for, on what was kept of the held-out rows. Knows the decision rules
and decision objects; nothing of networks or of targets.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from numbers import Real

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._decisions.choice import best_rules, check_decision
from sklearn_mrmp._decisions.goals.base import Decision
from sklearn_mrmp._decisions.held_out import HeldOutScores
from sklearn_mrmp._decisions.sweep import METRICS
from sklearn_mrmp._decisions.thresholds import check_metrics
from sklearn_mrmp._decisions.validation_rows import ValidationRows
from sklearn_mrmp._host.report import SILENT
from sklearn_mrmp._model_files.part import Part, require
from sklearn_mrmp._numerics.rows import DENSE_ENTRIES, evenly_spaced

# The decisions that comparisons ask for: the rule made for the metric, and one global cut.
DECISIONS = ("optimal", "threshold")


@dataclass(frozen=True, eq=False)
class OperatingPoints:
    """Fitted rules by decision and metric, and the label sets that they predict.

    Attributes
    ----------
    rules : mapping of str to mapping of str to rule
        By the name of the decision, then by metric.
    held_out : HeldOutScores, default=None
        What decision objects are tuned on; None if they cannot be.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> P = np.array([[0.75, 0.5, 0.25], [0.75, 0.5, 0.25], [0.5, 0.25, 0.5]])
    >>> points = OperatingPoints.tune(Y, P, Y)
    >>> points.thresholds["f1_micro"]
    0.375
    >>> points.predict(P[:1], "accuracy", "optimal").astype(int)
    array([[1, 1, 0]])
    >>> points.predict(P[:1], "accuracy", 0.6).astype(int)
    array([[1, 0, 0]])
    """

    rules: Mapping
    held_out: HeldOutScores | None = None
    _tuned: dict = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def tune(
        cls,
        Y,
        P,
        Y_others=None,
        *,
        similar=None,
        decisions=DECISIONS,
        metrics=METRICS,
        from_logits=False,
        collected=None,
        known=None,
        keep_rows=False,
        report=SILENT,
    ):
        """Fit the rules of decisions and metrics; the arrays are validated here, once.

        Parameters
        ----------
        Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            0/1 labels of rows that the model was not fitted on.
        P : array-like of shape (n_samples, n_labels)
            Their probabilities.
        Y_others : {array-like, sparse matrix} of shape (n_others, n_labels), default=None
            Labels of the other training rows.
        similar : SimilarRows, default=None
            Training rows similar to these, seen by a model that was not fitted on them.
        decisions : sequence of str or rule, default=("optimal", "threshold")
            What to prepare: names of `fit_decision_rules`, or objects with ``fit`` and ``decide``,
            which are copied and serve every metric.
        metrics : str or sequence of str, default=("accuracy", "f1_samples", "f1_micro", "f1_macro")
            Names of the metrics.
        from_logits : bool, default=False
            Whether `P` are logits or margins instead of probabilities.
        collected : CollectedLabelSets, default=None
            The label sets of `Y` and `Y_others`, where somebody has collected them before.
        known : bool ndarray of shape (n_samples, n_labels), default=None
            Which entries of `Y` are known, the others being 0; None is all.
        keep_rows : bool, default=False
            Whether labels and scores are kept, to tune decision objects on.
        report : Report, default=SILENT
            Says how it goes.

        Returns
        -------
        points : OperatingPoints
        """
        metrics = check_metrics(metrics)
        for decision in decisions:
            if isinstance(decision, str):
                check_decision(decision)
        rows = ValidationRows.check(
            Y,
            P,
            Y_others,
            from_logits=from_logits,
            similar=similar,
            collected=collected,
            known=known,
        )
        steps = report.each(decisions, "decisions")
        rules = {_name(decision): _fit(decision, rows, metrics) for decision in steps}
        return cls(rules, HeldOutScores.of(rows) if keep_rows else None)

    @property
    def thresholds(self):
        """The best global cut of each metric, a dict of floats; empty if it was not prepared."""
        cuts = self.rules.get("threshold", {})
        return {metric: float(rule.threshold) for metric, rule in cuts.items()}

    def rule(self, metric, decision, label_names=None):
        """Return the rule of an operating point.

        Parameters
        ----------
        metric : str
            What predictions are to maximise.
        decision : str, rule or Decision
            How: one of the decisions that were prepared, or a decision object, which needs no
            metric.
        label_names : ndarray of str, default=None
            Names of the labels, for decision objects.

        Returns
        -------
        rule : object
        """
        if isinstance(decision, Decision):
            return self._rule_of(decision, label_names)
        if metric not in METRICS:
            raise ValueError(
                f"{metric!r} is not a metric; the known ones are {', '.join(METRICS)}."
            )
        name = _name(decision)
        if name not in self.rules:
            if isinstance(decision, str):
                check_decision(
                    decision
                )  # a wrong name would not be there after another fit, either
            raise ValueError(
                f"decision={name} was not prepared in fit, only "
                f"{', '.join(sorted(self.rules))}; fit again with it."
            )
        if metric not in self.rules[name]:
            raise ValueError(
                f"metric={metric!r} was not prepared, only {', '.join(self.rules[name])}."
            )
        return self.rules[name][metric]

    def _rule_of(self, decision, label_names):
        """Rule of a decision object, tuned the first time."""
        decision = decision._for_labels(label_names)
        if not decision.is_tuned:
            return decision._rule(None, label_names)
        if decision not in self._tuned:
            if self.held_out is None:
                raise ValueError(
                    f"decision={decision!r} has to be tuned, but nothing was kept of the held-out "
                    "rows; fit again."
                )
            self._tuned[decision] = decision._rule(self.held_out.rows(), label_names)
        return self._tuned[decision]

    def needs_rows(self, metric, decision):
        """Return whether `predict` wants to see similar training rows at an operating point.

        Parameters
        ----------
        metric, decision
            As for `predict`.

        Returns
        -------
        needs_rows : bool
        """
        if isinstance(decision, (Real, Decision)):
            return False
        return getattr(self.rule(metric, decision), "needs_rows", False)

    def predict(self, P, metric, decision, similar=None, label_names=None):
        """Predict label sets from probabilities.

        Parameters
        ----------
        P : ndarray of shape (n_samples, n_labels)
            Probabilities, or the scores that the rules were tuned on.
        metric : str
            What predictions are to maximise.
        decision : str, rule, Decision or float
            How: one of the decisions that were prepared; or a decision object or a cut, which need
            no metric.
        similar : SimilarRows, default=None
            Training rows similar to these, for rules that need rows; without them such a rule
            decides by probabilities alone.
        label_names : ndarray of str, default=None
            Names of the labels, for decision objects.

        Returns
        -------
        predicted : bool ndarray of shape (n_samples, n_labels)
        """
        if isinstance(decision, Real):
            return np.asarray(P) >= decision
        rule = self.rule(metric, decision, label_names)
        if similar is not None and self.needs_rows(metric, decision):
            return rule.decide(P, similar)
        decided = rule.decide(P)  # a user's rule may answer in any form
        return np.asarray(decided.toarray() if sp.issparse(decided) else decided, dtype=bool)


def _name(decision):
    """Return the key of a decision: its name, or the representation of a rule."""
    return decision if isinstance(decision, str) else repr(decision)


def _fit(decision, rows, metrics):
    """Fit the rules of one decision, by metric."""
    if isinstance(decision, str):
        return best_rules(rows, decision, metrics)
    # By `fit`: users' rules have nothing else, and ours know best what kind of scores they take.
    rule = deepcopy(decision).fit(rows.Y, rows.cut_scores, rows.Y_train)
    return dict.fromkeys(metrics, rule)


def rows_to_tune_on(n_samples, n_labels):
    """Row numbers: rules need dense rows, so with very many labels not all of them."""
    return evenly_spaced(n_samples, max(1, DENSE_ENTRIES // n_labels))


def _complete(points):
    """Check, in a model file, that there is a rule for each operating point."""
    require(isinstance(points.rules, dict), "decision rules")
    is_record = points.held_out is None or type(points.held_out) is HeldOutScores
    require(is_record, "scores of held-out rows")
    for rules in points.rules.values():
        is_whole = isinstance(rules, dict) and rules.keys() <= set(METRICS)
        require(is_whole and all(hasattr(rule, "decide") for rule in rules.values()), "a rule")


# Rules of decision objects are tuned anew after loading.
OperatingPoints._model_part = Part(left_out=("_tuned",), complete=_complete)
