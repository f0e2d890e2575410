"""Probabilities that fit the labels: one slope and one shift for the logits of all labels.

Cuts are chosen by the F1 to expect, which scores tell once they are calibrated. Knows numpy, scipy
and the logits of scores.
"""

from dataclasses import dataclass, fields

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from sklearn_mrmp._decisions.label_set_model import to_logits
from sklearn_mrmp._model_files.part import Part, require
from sklearn_mrmp._numerics.rows import evenly_spaced

# Scores are held at what they are (slope 1, shift 0) as by this much information, so that a few
# dozen labels cannot bend them far.
_PRIOR_INFORMATION = 10.0
# Forests say 0 and 1 of labels that are neither certain nor impossible: a logit beyond this one
# would outweigh all others, and says no more.
_LARGEST_LOGIT = 6.0
# A slope and a shift are known well enough from so many entries.
_MOST_ENTRIES = 2**21


@dataclass(frozen=True)
class Calibration:
    """Probabilities ``expit(slope * z + shift)``, the same for all labels.

    z are the logits of probabilities, or margins in units of their spread around their middle;
    both are limited, since sure predictions and outliers say little about the others.

    Attributes
    ----------
    slope, shift : float
        What suits labels best; the slope is not negative.
    centre, scale : float
        Middle and spread of margins; 0 and 1 for probabilities.
    from_logits : bool
        Whether scores are logits or margins instead of probabilities.
    limit : float
        Logits beyond it count as it.

    Examples
    --------
    >>> Y = np.arange(200)[:, None] % 4 == 0
    >>> S = np.full((200, 1), 0.5)
    >>> Calibration.fit(Y, S)(S[0]).round(1)    # a quarter is true
    array([0.3])
    """

    slope: float
    shift: float
    centre: float = 0.0
    scale: float = 1.0
    from_logits: bool = False
    limit: float = _LARGEST_LOGIT

    @classmethod
    def fit(cls, Y, S, from_logits=False, known=None, *, towards=(1.0, 0.0), limit=_LARGEST_LOGIT):
        """Fit on scores (n_samples, n_labels) of rows that were not fitted on, and their labels.

        At least one label is true. `known` says which are known; None is all. `towards` has the
        slope and the shift that the outcome is held at.
        """
        rows = evenly_spaced(len(S), max(1, _MOST_ENTRIES // max(S.shape[1], 1)))
        S, y = S[rows], Y[rows].ravel()
        if known is not None:
            S, y = S[known[rows]], y[known[rows].ravel()]
        start, centre, scale = np.array(towards), 0.0, 1.0
        if from_logits:
            centre, scale = _middle_and_spread(to_logits(S, from_logits))
            start[1] = logit(np.clip(y.mean(), 1e-6, 1 - 1e-6))
        z = cls(1.0, 0.0, centre, scale, from_logits, limit)._limited(S).ravel()

        def loss(parameters):
            logits = parameters[0] * z + parameters[1]
            excess, change = expit(logits) - y, parameters - start
            value = np.logaddexp(0, logits).sum() - logits[y].sum()
            gradient = np.array([excess @ z, excess.sum()]) + _PRIOR_INFORMATION * change
            value += 0.5 * _PRIOR_INFORMATION * change @ change
            # Per positive entry: per entry, rare labels would look converged from the start.
            return value / n_positives, gradient / n_positives

        n_positives, bounds = max(np.count_nonzero(y), 1), [(0.0, None), (None, None)]
        slope, shift = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
        return cls(float(slope), float(shift), centre, scale, from_logits, limit)

    def __call__(self, S):
        """Probabilities of scores, float64; they rise with them."""
        return expit(self.slope * self._limited(S) + self.shift)

    def _limited(self, S):
        Z = to_logits(S, self.from_logits).astype(np.float64)
        Z -= self.centre
        Z /= self.scale
        return np.clip(Z, -self.limit, self.limit, out=Z)


def _middle_and_spread(margins):
    """Median, and median distance from it of the margins that differ from it."""
    centre = float(np.median(margins))
    distances = np.abs(margins - centre)
    distances = distances[distances > 0]
    return centre, float(np.median(distances)) if len(distances) else 1.0


def _complete(calibration):
    """Check, in a model file, that there are numbers."""
    values = [getattr(calibration, field.name) for field in fields(calibration)]
    require(all(isinstance(v, (bool, float)) and np.isfinite(v) for v in values), "a calibration")


Calibration._model_part = Part(complete=_complete)
