"""From probabilities to label sets: the rule that is best for each metric, fitted in one call.

The rules live in `_threshold_rules`, `_expected_cut_rules`, `_expected_f1_rule`, `_label_set_rule`
and `_seen_rows`; this module knows which of them serves which metric, and nothing of any
classifier.
"""

import numpy as np

from sklearn_mrmp._decisions.cut_rules import AtLeastOneRule, GlobalThresholdRule, TopKRule
from sklearn_mrmp._decisions.expected_cut_rules import MacroF1Rule, MicroF1Rule
from sklearn_mrmp._decisions.expected_f1_rule import ExpectedF1Rule
from sklearn_mrmp._decisions.label_set_rules import (
    LabelSetF1Rule,
    LabelSetMarginalRule,
    LabelSetRule,
)
from sklearn_mrmp._decisions.seen_rows import SeenRowRule
from sklearn_mrmp._decisions.sweep import METRICS
from sklearn_mrmp._decisions.thresholds import check_labels, check_labels_and_scores, check_metrics

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

DECISIONS = {
    "optimal": _OPTIMAL,
    "label_sets": _LABEL_SETS,
    "threshold": dict.fromkeys(METRICS, (GlobalThresholdRule,)),
    "top_k": dict.fromkeys(METRICS, (TopKRule,)),
    "at_least_one": dict.fromkeys(METRICS, (AtLeastOneRule,)),
}

_NEED_LOGITS = (
    ExpectedF1Rule,
    LabelSetF1Rule,
    LabelSetMarginalRule,
    LabelSetRule,
    MacroF1Rule,
    MicroF1Rule,
)


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
          set seen in training (one cut where new sets are so common that it clearly wins);
          ``"f1_samples"``: the highest expected F1 of each row; ``"f1_micro"``: one cut, chosen
          for labels that are drawn towards calibrated probabilities (for the labels alone where
          that clearly wins); ``"f1_macro"``: one cut for each label, drawn towards one for all
          and towards that of highest expected F1.
        - ``"threshold"``: the best single cut for the metric.
        - ``"label_sets"``: all metrics from the distribution over the label sets seen in
          training; for ``"f1_micro"`` and ``"f1_macro"`` a cut of the labels' probabilities
          under it.
        - ``"top_k"``: the best fixed number of labels.
        - ``"at_least_one"``: the best single cut when the best label of each row is predicted
          in any case.
    metrics : str or sequence of str, default=("accuracy", "f1_samples", "f1_micro", "f1_macro")
        Names of the metrics.
    from_logits : bool, default=False
        Whether scores are logits or margins (of `decision_function`) instead of probabilities.

    Returns
    -------
    rules : dict of str to rule
        By metric. ``rule.decide(P)`` returns a bool ndarray of the shape of ``P``;
        ``rule.validation_score`` is the metric on the validation rows, a little optimistic since
        the rule was tuned on them.

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
    if decision not in DECISIONS:
        raise ValueError(
            f"Unknown decision {decision!r}; the known ones are {', '.join(DECISIONS)}."
        )
    Y, P = check_labels_and_scores(Y_valid, P_valid)
    Y_train = None if Y_train is None else check_labels(Y_train, "Y_train")
    return {
        name: _best_rule(DECISIONS[decision][name], name, from_logits, (Y, P, Y_train))[0]
        for name in metrics
    }


def fit_accuracy_rule(Y, P, Y_train, similar):
    """Fit the optimal rule for subset accuracy where rows similar to the validation rows are known.

    Parameters
    ----------
    Y : bool ndarray of shape (n_valid, n_labels)
        Labels of the validation rows.
    P : ndarray of shape (n_valid, n_labels)
        Their probabilities.
    Y_train : bool ndarray of shape (n_train, n_labels) or None
        Labels of the other training rows.
    similar : SimilarRows
        Training rows similar to the validation rows.

    Returns
    -------
    rule : SeenRowRule, whose ``decide(P, similar)`` wants similar rows, or one without that need
    """
    rule, decided = _best_rule(_OPTIMAL["accuracy"], "accuracy", False, (Y, P, Y_train))
    decided = rule.decide(P) if decided is None else decided
    return SeenRowRule.around(rule, decided, Y, P, similar)


def _best_rule(candidates, metric, from_logits, data):
    """Fit the candidates and keep the best; a later one has to win by a standard error.

    Returns the rule and, where it knows its validation rows, what it decides about them without
    that knowledge.
    """
    best = best_decided = None
    margin = 0.25 / np.sqrt(len(data[0]))  # of the mean difference of two rules on these rows
    for candidate in candidates:
        options = {"from_logits": from_logits} if candidate in _NEED_LOGITS else {}
        rule = candidate(metric=metric, **options)
        decided = rule.fit_decide(*data) if hasattr(rule, "fit_decide") else None
        if decided is None:
            rule.fit(*data)
        if best is None or rule.validation_score > best.validation_score + margin:
            best, best_decided = rule, decided
    return best, best_decided
