"""What a model returns: the probabilities of `predict_proba`, and labels where a cut decides.

Knows decision rules, targets by their attributes, and numpy.
"""

from numbers import Real

import numpy as np

from sklearn_mrmp._decisions.goals.floors import FloorRule
from sklearn_mrmp._decisions.goals.given import BestLabelRule, CutsRule
from sklearn_mrmp._decisions.rules.cuts import (
    AtLeastOneRule,
    GlobalThresholdRule,
    LabelThresholdRule,
)
from sklearn_mrmp._decisions.rules.expected_cuts import MacroF1Rule, MicroF1Rule

# Rules that compare probabilities with numbers, and where the numbers are.
_CUTS = {
    GlobalThresholdRule: "threshold",
    MicroF1Rule: "threshold",
    AtLeastOneRule: "threshold",
    BestLabelRule: "threshold",
    LabelThresholdRule: "thresholds",
    MacroF1Rule: "thresholds",
    CutsRule: "thresholds",
    FloorRule: "thresholds",
}
# Those that predict the best label of a row in any case.
_WITH_BEST = (AtLeastOneRule, BestLabelRule)


def write_probabilities(op, P, encoding):
    """Write what `predict_proba` returns, under the name ``probabilities``."""
    n_columns = len(encoding.classes)
    if encoding.kind == "binary":
        shaped = op("Concat", op("Sub", np.float32(1), P), P, axis=1)
    elif encoding.kind == "multiclass":
        shaped = op("Div", P, op("ReduceSum", P, [1], keepdims=1))
    else:
        shaped = P
    op.output("probabilities", shaped, np.float32, ("n_rows", n_columns))


def write_labels(op, P, encoding, rule):
    """Write what `predict` returns, under the name ``labels``, if the rule can be written.

    Parameters
    ----------
    op : GraphWriter
        Where to.
    P : str
        Probabilities of labels.
    encoding : TargetEncoding
        The target of ``fit``.
    rule : rule, float or None
        What decides; None is the most probable class of a vector.

    Returns
    -------
    is_written : bool
    """
    if encoding.kind == "multiclass":
        return rule is None and _write_classes(op, op("ArgMax", P, axis=1, keepdims=0), encoding)
    if rule is None:
        decided = op("Greater", P, np.float32(0.5))
    else:
        decided = _decided(op, P, rule, encoding.n_labels)
    if decided is None:
        return False
    if encoding.kind == "binary":
        return _write_classes(op, op("Squeeze", op.cast(decided, np.int64), [1]), encoding)
    op.output("labels", op.cast(decided, np.int64), np.int64, ("n_rows", encoding.n_labels))
    return True


def _write_classes(op, numbers, encoding):
    """Write the classes of these numbers; False if ONNX has no type for them."""
    classes = encoding.classes
    if classes.dtype.kind not in "biufUO":
        return False
    if classes.dtype.kind in "UO":
        classes = classes.astype(object)
    op.output("labels", op("Gather", classes, numbers), classes.dtype, ("n_rows",))
    return True


def _decided(op, P, rule, n_labels):
    """Decisions as bool (B, L), or None for a rule that is not made of cuts."""
    if isinstance(rule, Real):
        return op("GreaterOrEqual", P, np.float32(rule))
    if type(rule) not in _CUTS:
        return None
    cuts = np.asarray(getattr(rule, _CUTS[type(rule)]), dtype=np.float32)
    decided = op("GreaterOrEqual", P, cuts)
    if not isinstance(rule, _WITH_BEST):
        return decided
    best = op("ArgMax", P, axis=1, keepdims=1)
    return op("Or", decided, op("Equal", np.arange(n_labels), best))
