"""Which rules may serve which metric, and which of them does, on validation rows.

`CANDIDATES` names the rules by decision and metric; the rules themselves live in `rules`.
Knows nothing of any classifier.
"""

from dataclasses import fields

import numpy as np

from sklearn_mrmp._decisions.rules.cuts import AtLeastOneRule, GlobalThresholdRule, TopKRule
from sklearn_mrmp._decisions.rules.expected_cuts import MacroF1Rule, MicroF1Rule
from sklearn_mrmp._decisions.rules.expected_f1 import ExpectedF1Rule
from sklearn_mrmp._decisions.rules.label_sets import (
    LabelSetF1Rule,
    LabelSetMarginalRule,
    LabelSetRule,
)
from sklearn_mrmp._decisions.rules.seen_rows import SeenRowRule
from sklearn_mrmp._decisions.sweep import METRICS
from sklearn_mrmp._decisions.thresholds import check_metrics
from sklearn_mrmp._decisions.validation_rows import ValidationRows

# The candidates for each metric; a later one is kept when it clearly wins on validation rows.
_OPTIMAL = {
    "accuracy": (LabelSetRule, GlobalThresholdRule),
    "f1_samples": (LabelSetF1Rule, ExpectedF1Rule),
    "f1_micro": (MicroF1Rule, GlobalThresholdRule),
    "f1_macro": (MacroF1Rule,),
}

_LABEL_SETS = {
    "accuracy": (LabelSetRule,),
    "f1_samples": (LabelSetF1Rule,),
    "f1_micro": (LabelSetMarginalRule,),
    "f1_macro": (LabelSetMarginalRule,),
}

CANDIDATES = {
    "optimal": _OPTIMAL,
    "label_sets": _LABEL_SETS,
    "threshold": dict.fromkeys(METRICS, (GlobalThresholdRule,)),
    "top_k": dict.fromkeys(METRICS, (TopKRule,)),
    "at_least_one": dict.fromkeys(METRICS, (AtLeastOneRule,)),
}


def fit_decision_rules(
    Y_valid, P_valid, *, Y_train=None, decision="optimal", metrics=METRICS, from_logits=False
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
    decision : str, default="optimal"
        - ``"optimal"``: the rule made for the metric. ``"accuracy"``: the most probable label
          set seen in training (or one threshold, if it is clearly better because new sets are
          common). ``"f1_samples"``: the highest expected F1 of each row. ``"f1_micro"``: one
          threshold, tuned on labels that are shrunk towards calibrated probabilities (or on the
          labels alone, if that is clearly better). ``"f1_macro"``: one threshold for each label,
          shrunk towards the common one and the one with the highest expected F1.
        - ``"threshold"``: the best single threshold for the metric.
        - ``"label_sets"``: all metrics from the distribution over the label sets seen in
          training; for ``"f1_micro"`` and ``"f1_macro"``, thresholds on the labels' probabilities
          under it.
        - ``"top_k"``: the best fixed number of labels.
        - ``"at_least_one"``: the best single threshold if the best label of each row is always
          predicted.
    metrics : str or sequence of str, default=("accuracy", "f1_samples", "f1_micro", "f1_macro")
        Names of the metrics.
    from_logits : bool, default=False
        Whether scores are logits or margins (of `decision_function`) instead of probabilities.

    Returns
    -------
    rules : dict of str to rule
        By metric. ``rule.decide(P)`` returns a bool ndarray of the shape of ``P``;
        ``rule.validation_score`` is the metric on the validation rows. It is a little too high,
        since the rule was tuned on them.

    Notes
    -----
    A rule is a small object that can be pickled. Those of label sets hold the distinct sets of
    the training rows, at most the 20,000 most frequent, and their counts.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp import fit_decision_rules
    >>> Y = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> P = np.array([[0.75, 0.5, 0.25], [0.75, 0.5, 0.25], [0.5, 0.25, 0.5]])
    >>> rules = fit_decision_rules(Y, P, Y_train=Y)
    >>> rules["accuracy"].decide(P[:1]).astype(int)
    array([[1, 1, 0]])
    """
    metrics = check_metrics(metrics)
    check_decision(decision)
    rows = ValidationRows.check(Y_valid, P_valid, Y_train, from_logits=from_logits)
    return best_rules(rows, decision, metrics)


def check_decision(decision):
    """Raise ValueError for the name of a decision that there is none of."""
    if decision not in CANDIDATES:
        raise ValueError(
            f"Unknown decision {decision!r}; the known ones are {', '.join(CANDIDATES)}."
        )


def best_rules(rows, decision, metrics):
    """Fit the rule of each metric on rows that were checked before.

    Parameters
    ----------
    rows : ValidationRows
        The rows. Where they know similar ones, a rule may look at these when it decides.
    decision : str
        Which set of rules, a key of `CANDIDATES`.
    metrics : sequence of str
        Names of the metrics.

    Returns
    -------
    rules : dict of str to rule
        By metric.
    """
    rules = {}
    for metric in metrics:
        rules[metric], decided = _best_rule(CANDIDATES[decision][metric], metric, rows)
        if rows.similar is not None and decision == "optimal" and metric == "accuracy":
            rules[metric] = SeenRowRule.wrap_if_better(rules[metric], decided, rows)
    return rules


def _best_rule(candidates, metric, rows):
    """Fit the candidates; return the best, and what it decides about rows it has not seen.

    A later candidate has to win by a standard error of the mean difference of two rules.
    """
    best = best_decided = None
    if not rows.has_label_sets:
        candidates = [rule for rule in candidates if not rule.needs_label_sets]
        candidates = candidates or [GlobalThresholdRule]
    margin = 0.25 / np.sqrt(len(rows.Y))
    for candidate in candidates:
        rule = _make_rule(candidate, metric, rows.from_logits)
        decided = rule._fit_rows(rows)
        if best is None or rule.validation_score > best.validation_score + margin:
            best, best_decided = rule, decided
    return best, best_decided


def _make_rule(candidate, metric, from_logits):
    """Make a rule for a metric; tell it the kind of scores if it has to know."""
    if any(field.name == "from_logits" for field in fields(candidate)):
        return candidate(metric=metric, from_logits=from_logits)
    return candidate(metric=metric)
