"""The base of decision objects: a value that says how to decide, and makes the rule that does.

A decision object is a frozen dataclass, given as ``decision=`` of a classifier. `_for_labels`
brings what it says of single labels into their order; `_rule` makes a rule, an object with
``decide(P)``, of it, by validation rows if `is_tuned`. Knows numpy and `ValidationRows`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from numbers import Real

import numpy as np

from sklearn_mrmp._decisions.validation_rows import ValidationRows

# Labels named in a message.
_SHOWN = 5


class Decision(ABC):
    """How to turn scores into label sets, as a value.

    Attributes
    ----------
    is_tuned : bool
        Whether something is chosen on rows that the classifier was not fitted on.
    needs_all_rows : bool
        Whether it says something of each row, so that rows cannot be decided in parts.
    is_for_sets : bool
        Whether it compares labels of a row, which makes no sense for two classes.
    """

    is_tuned = True
    needs_all_rows = False
    is_for_sets = False

    def tune(self, Y_true, Y_score, *, label_names=None, from_logits=False):
        """Make the rule of this decision for given rows, without any classifier.

        Parameters
        ----------
        Y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
            0/1 labels of rows that the scores' model was not fitted on.
        Y_score : array-like of shape (n_samples, n_labels)
            Their probabilities, or other scores that grow with the belief in the label.
        label_names : sequence of str, default=None
            Names of the labels; None numbers them.
        from_logits : bool, default=False
            Whether scores are logits or margins (of ``decision_function``) instead of
            probabilities.

        Returns
        -------
        rule : object
            ``rule.decide(P)`` returns the predicted labels, a bool ndarray of the shape of ``P``.
        """
        rows = ValidationRows.check(Y_true, Y_score, from_logits=from_logits)
        names = range(rows.P.shape[1]) if label_names is None else label_names
        names = np.array([str(name) for name in names])
        return self._for_labels(names)._rule(rows, names)

    def _for_labels(self, names):
        """Return the same decision with values of labels in the order of `names`; hashable.

        Raises ValueError where it cannot be made for these labels.
        """
        return self

    @abstractmethod
    def _rule(self, rows, names):
        """Return the fitted rule; `rows` are `ValidationRows`, or None unless it is tuned."""


def check_number(value, what, low, high=np.inf):
    """Raise unless `value` is a number from `low` to `high`."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{what} must be a number, got {value!r}.")
    if not low <= value <= high:
        raise ValueError(f"{what} must be a number from {low:g} to {high:g}, got {value!r}.")


def check_average(average, known):
    """Raise ValueError unless `average` is one of the known ones."""
    if average not in known:
        raise ValueError(f"average must be one of {', '.join(known)}, got {average!r}.")


def plain_values(values, what, low):
    """Return values of labels as a number, a tuple of numbers or a dict, as a user gave them."""
    if isinstance(values, Mapping):
        plain = {str(name): value for name, value in values.items()}
        items = plain.values()
    elif isinstance(values, str) or np.ndim(values) > 1:
        raise TypeError(f"{what} must be numbers, a sequence or a mapping, got {values!r}.")
    elif np.ndim(values) == 0:
        plain, items = values, [values]
    else:
        plain = items = tuple(np.asarray(values).tolist())
    for value in items:
        check_number(value, what, low)
    return plain


def in_label_order(values, names, what, default=None):
    """Return values of labels as a tuple in the order of `names`.

    Labels that a mapping leaves out have the default; None is an error that names them.
    """
    if isinstance(values, Real):
        return (float(values),) * len(names)
    if not isinstance(values, Mapping):
        if len(values) != len(names):
            raise ValueError(f"{what} has {len(values)} values, but there are {len(names)} labels.")
        return tuple(float(value) for value in values)
    names = [str(name) for name in names]
    unknown = [name for name in values if name not in set(names)]
    if unknown:
        raise ValueError(f"{what} names labels that are not there: {listed(unknown)}.")
    missing = [name for name in names if name not in values]
    if missing and default is None:
        raise ValueError(f"{what} leaves out labels: {listed(missing)}.")
    return tuple(float(values.get(name, default)) for name in names)


def listed(items):
    """Return the first of some items as text, and how many there are besides."""
    shown = ", ".join(str(item) for item in items[:_SHOWN])
    return shown if len(items) <= _SHOWN else f"{shown} and {len(items) - _SHOWN} more"
