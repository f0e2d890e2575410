"""From probabilities to label sets: the rule that is best for each metric, fitted in one call.

The rules live in `_threshold_rules`, `_expected_f1_rule` and `_label_set_rule`; this module knows
which of them serves which metric, and nothing of any classifier.
"""

from sklearn_mrmp._expected_f1_rule import ExpectedF1Rule
from sklearn_mrmp._label_set_rule import LabelSetRule
from sklearn_mrmp._threshold_rules import (
    AtLeastOneRule,
    GlobalThresholdRule,
    LabelThresholdRule,
    TopKRule,
)
from sklearn_mrmp._threshold_sweep import METRICS
from sklearn_mrmp._thresholds import check_labels_and_scores, check_metrics

_OPTIMAL = {
    "accuracy": LabelSetRule,
    "f1_samples": ExpectedF1Rule,
    "f1_micro": GlobalThresholdRule,
    "f1_macro": LabelThresholdRule,
}

_NAMED = {
    "threshold": GlobalThresholdRule,
    "top_k": TopKRule,
    "at_least_one": AtLeastOneRule,
}


def fit_decision_rules(
    Y_valid, P_valid, *, Y_train=None, label_graph=None, decision="optimal", metrics=METRICS
):
    """Fit the decision rule of each metric on validation rows.

    Parameters
    ----------
    Y_valid : {array-like, sparse matrix} of shape (n_valid, n_labels)
        Labels of the validation rows, 0/1.
    P_valid : array-like of shape (n_valid, n_labels)
        Their probabilities, from a model that did not see these rows.
    Y_train : {array-like, sparse matrix} of shape (n_train, n_labels), default=None
        Labels of the other training rows. None when there are none, as with out-of-fold
        probabilities of all rows.
    label_graph : LabelGraph, default=None
        Relations of the labels, for rules that use them.
    decision : {"optimal", "threshold", "top_k", "at_least_one"}, default="optimal"
        ``"optimal"`` is the rule made for the metric: the best label set seen in training for
        ``"accuracy"``, the highest expected F1 of each row for ``"f1_samples"``, one cut for
        ``"f1_micro"``, shrunk cuts of each label for ``"f1_macro"``. ``"threshold"`` is the best
        single cut, ``"top_k"`` the best fixed number of labels, ``"at_least_one"`` the best
        single cut when the best label of each row is predicted in any case.
    metrics : str or sequence of str, default=("accuracy", "f1_samples", "f1_micro", "f1_macro")
        Names of the metrics.

    Returns
    -------
    rules : dict of str to rule
        By metric. ``rule.decide(P)`` returns a bool ndarray of the shape of ``P``;
        ``rule.validation_score`` is the metric on the validation rows, a little optimistic since
        the rule was tuned on them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp._decision_rules import fit_decision_rules
    >>> Y = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> P = np.array([[0.75, 0.5, 0.25], [0.75, 0.5, 0.25], [0.5, 0.25, 0.5]])
    >>> rules = fit_decision_rules(Y, P, Y_train=Y)
    >>> rules["accuracy"].decide(P[:1]).astype(int)
    array([[1, 1, 0]])
    """
    metrics = check_metrics(metrics)
    if decision != "optimal" and decision not in _NAMED:
        known = ", ".join(["optimal", *_NAMED])
        raise ValueError(f"Unknown decision {decision!r}; the known ones are {known}.")
    Y, P = check_labels_and_scores(Y_valid, P_valid)
    rules = {name: _NAMED.get(decision, _OPTIMAL[name])(metric=name) for name in metrics}
    return {name: rule.fit(Y, P, Y_train) for name, rule in rules.items()}
