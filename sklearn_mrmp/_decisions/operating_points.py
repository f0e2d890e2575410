"""The operating points of a fitted classifier: decision rules of all metrics, tuned once.

What `MrMPClassifier` reads when it predicts, so that the metric can be changed without fitting
again. Knows the decision rules; nothing of networks or of targets.
"""

from numbers import Real

import numpy as np

from sklearn_mrmp._decisions.choice import fit_accuracy_rule, fit_decision_rules
from sklearn_mrmp._decisions.seen_rows import SeenRowRule
from sklearn_mrmp._decisions.thresholds import METRICS
from sklearn_mrmp._numerics.rows import evenly_spaced

DECISIONS = ("optimal", "threshold")

# Decisions are tuned on dense labels, at most this many of them.
DECISION_ENTRIES = 2**25


def rows_to_tune_on(n_samples, n_labels):
    """Row numbers: rules need dense rows, so with very many labels not all of them."""
    return evenly_spaced(n_samples, max(1, DECISION_ENTRIES // n_labels))


def dense_part(Y):
    """Labels of a csr_array, or of as many of its rows as rules can bear, as a bool ndarray."""
    return None if Y is None else Y[rows_to_tune_on(*Y.shape)].toarray() > 0


def tune_operating_points(Y, P, Y_others, similar=None):
    """Fit the rules of all metrics and decisions.

    Parameters
    ----------
    Y : bool ndarray of shape (n_samples, n_labels)
        Labels of rows that the model was not fitted on.
    P : ndarray of shape (n_samples, n_labels)
        Their probabilities.
    Y_others : bool ndarray of shape (n_others, n_labels) or None
        Labels of the other training rows.
    similar : SimilarRows, default=None
        Training rows similar to these, seen by a model that was not fitted on them.

    Returns
    -------
    rules : dict of str to dict of str to rule
        By decision and metric.
    thresholds : dict of str to float
        The best global cut of each metric.
    """
    rules = {}
    for decision in DECISIONS:
        fitted, metrics = {}, METRICS
        if decision == "optimal" and similar is not None:
            fitted["accuracy"] = fit_accuracy_rule(Y, P, Y_others, similar)
            metrics = [metric for metric in METRICS if metric != "accuracy"]
        options = {"Y_train": Y_others, "decision": decision, "metrics": metrics}
        rules[decision] = fitted | fit_decision_rules(Y, P, **options)
    cuts = rules["threshold"]
    return rules, {metric: float(cuts[metric].threshold) for metric in METRICS}


def decide(P, rules, threshold, decision, find_similar=None):
    """Label sets of probabilities at an operating point.

    Parameters
    ----------
    P : ndarray of shape (n_samples, n_labels)
        Probabilities.
    rules : dict
        As tuned.
    threshold : float or str
        A cut, or the metric to be good at.
    decision : str
        Which of the rules of a metric.
    find_similar : callable, default=None
        Returns `SimilarRows`; called when a rule wants them.

    Returns
    -------
    decided : bool ndarray of the shape of `P`
    """
    if isinstance(threshold, Real):
        return np.asarray(P) >= threshold
    if threshold not in METRICS:
        raise ValueError(
            f"threshold={threshold!r} is not a metric; use a probability or one of "
            f"{', '.join(METRICS)}."
        )
    rule = rules[decision][threshold]
    if isinstance(rule, SeenRowRule) and find_similar is not None:
        return rule.decide(P, find_similar())
    return rule.decide(P)


class OperatingPoints:
    def __init__(self, rules):
        self.rules = rules

    @classmethod
    def tune(cls, Y, P, Y_others=None, *, similar=None):
        return cls(tune_operating_points(Y, P, Y_others, similar)[0])

    @property
    def thresholds(self):
        return {m: float(self.rules["threshold"][m].threshold) for m in METRICS}

    def needs_rows(self, metric, decision):
        return not isinstance(decision, Real) and isinstance(
            self.rules[decision][metric], SeenRowRule
        )

    def predict(self, P, metric, decision, similar=None):
        if isinstance(decision, Real):
            return np.asarray(P) >= decision
        return decide(
            P, self.rules, metric, decision, (lambda: similar) if similar is not None else None
        )
