"""Decisions by what mistakes cost. Knows numpy, scipy's logit and calibrations."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit

from sklearn_mrmp._decisions.goals.base import Decision, in_label_order, plain_values
from sklearn_mrmp._decisions.goals.given import CutsRule
from sklearn_mrmp._model_files.part import Part


@dataclass(frozen=True)
class LabelCosts(Decision):
    """Decide for the lowest expected cost of mistakes.

    A label of probability p is predicted when ``(1 - p) * fp <= p * fn``, that is when p reaches
    ``fp / (fp + fn)``. Before that, the probabilities are calibrated on the rows used for tuning,
    by a slope and a shift of their logits that are the same for all labels. Margins of a
    ``decision_function`` can therefore be used as well.

    Parameters
    ----------
    fp : float, sequence of float or mapping of str to float, default=1.0
        What it costs to predict a label that is not there: a number for all labels, one for each in
        order, or by label name. Labels that a mapping leaves out cost 1.
    fn : float, sequence of float or mapping of str to float, default=1.0
        What it costs to miss a label that is there.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp import LabelCosts
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1]] * 50)
    >>> P = np.array([[0.9, 0.4], [0.3, 0.1], [0.2, 0.8], [0.5, 0.7]] * 50)
    >>> cheap, dear = LabelCosts(fn=1, fp=[1, 9]).tune(Y, P).thresholds
    >>> bool(cheap < dear)
    True
    """

    fp: object = 1.0
    fn: object = 1.0

    def __post_init__(self):
        for name in ("fp", "fn"):
            object.__setattr__(self, name, plain_values(getattr(self, name), name, 0))

    def _for_labels(self, names):
        fp, fn = (in_label_order(getattr(self, name), names, name, 1.0) for name in ("fp", "fn"))
        free = [name for name, *costs in zip(names, fp, fn, strict=True) if not any(costs)]
        if free:
            raise ValueError(f"Both mistakes cost nothing for label {free[0]}: set fp or fn.")
        return replace(self, fp=fp, fn=fn)

    def _rule(self, rows, names):
        fp, fn = np.array(self.fp), np.array(self.fn)
        cuts = _cuts_of(fp / (fp + fn), rows.calibration, rows.from_logits)
        decided = rows.P >= cuts
        wrong, missed = decided & ~rows.Y, rows.Y & ~decided
        cost = float((wrong @ fp + missed @ fn).mean())
        return CutsRule(cuts, validation_score=-cost)


def _cuts_of(probabilities, calibration, from_logits):
    """Cuts of scores at which the calibrated probabilities are these."""
    z = logit(probabilities)
    if calibration is not None:
        if calibration.slope > 0:
            z = (z - calibration.shift) / calibration.slope
        else:  # scores say nothing: all or none
            z = np.where(z <= calibration.shift, -np.inf, np.inf)
        z = z * calibration.scale + calibration.centre
    # A score of 1 must not reach the cut of labels that are never to be predicted.
    return z if from_logits else np.where(z == np.inf, np.inf, expit(z))


LabelCosts._model_part = Part()
