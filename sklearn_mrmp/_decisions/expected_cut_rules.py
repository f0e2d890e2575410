"""Decision rules for micro and macro F1: cuts that few validation rows cannot lead astray.

The labels of a few dozen rows are noisy; their probabilities, once calibrated, are less so, and
tell the F1 to expect of every cut. `MicroF1Rule` draws labels towards them, the more the fewer
there are; `MacroF1Rule`, where each label has few positive rows, takes the middle between the cut
tuned on labels and the expected one. Knows numpy, scipy and the cuts of `_label_thresholds`.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.utils import gen_batches

from sklearn_mrmp._decisions.cut_rules import GlobalThresholdRule, LabelThresholdRule
from sklearn_mrmp._decisions.label_set_model import to_logits
from sklearn_mrmp._decisions.per_label import own_label_cuts
from sklearn_mrmp._decisions.sweep import (
    PlateauTracker,
    chunks_of_falling_scores,
    f1,
    last_of_equals,
    metric_value,
)
from sklearn_mrmp._decisions.thresholds import check_labels_and_scores
from sklearn_mrmp._numerics.rows import evenly_spaced

# Positive entries at which labels and calibrated probabilities count the same.
_EQUAL_POSITIVES = 1_000.0
# Scores are held at what they are (slope 1, shift 0) as by this much information.
_PRIOR_INFORMATION = 10.0
# Logits beyond this one say no more: forests know zeros that are none.
_LARGEST_LOGIT = 6.0
# Two numbers need no more entries than this.
_MOST_ENTRIES = 2**21
# Entries in work at once.
_ENTRIES_AT_ONCE = 2**20


@dataclass(eq=False)
class MicroF1Rule:
    """Predict the labels whose score reaches one cut, for micro F1.

    Parameters
    ----------
    metric : str, default="f1_micro"
        The metric of `validation_score`.
    from_logits : bool, default=False
        Whether scores are logits or margins instead of probabilities.

    Attributes
    ----------
    threshold : float
        The cut.
    validation_score : float
        The metric on the validation rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp._decisions.expected_cut_rules import MicroF1Rule
    >>> rule = MicroF1Rule().fit([[1, 0], [1, 1]], [[0.75, 0.25], [0.75, 0.5]])
    >>> rule.decide(np.array([[0.3, 0.45]]))
    array([[False,  True]])
    """

    metric: str = "f1_micro"
    from_logits: bool = False

    def fit(self, Y_valid, P_valid, Y_train=None):
        """Find the cut; `Y_train` is not used."""
        Y, P = check_labels_and_scores(Y_valid, P_valid)
        if Y.any():
            self.threshold = _common_cut(Y, P, Calibration.fit(Y, P, self.from_logits))
        else:  # nothing to calibrate by
            self.threshold = GlobalThresholdRule("f1_micro").fit(Y, P).threshold
        self.validation_score = metric_value(Y, self.decide(P), self.metric)
        return self

    def decide(self, P):
        """Return the predicted labels, bool ndarray of the shape of `P`."""
        return np.asarray(P) >= self.threshold


@dataclass(eq=False)
class MacroF1Rule:
    """Predict a label when its score reaches the label's own cut, for macro F1.

    The cut lies in the middle between that of `LabelThresholdRule`, tuned on the labels, and the
    one of highest expected F1 under the calibrated probabilities.

    Parameters
    ----------
    metric : str, default="f1_macro"
        The metric of `validation_score`.
    from_logits : bool, default=False
        Whether scores are logits or margins instead of probabilities.

    Attributes
    ----------
    thresholds : ndarray of shape (n_labels,)
        The cuts.
    validation_score : float
        The metric on the validation rows.

    Examples
    --------
    >>> from sklearn_mrmp._decisions.expected_cut_rules import MacroF1Rule
    >>> rule = MacroF1Rule().fit([[1, 0], [0, 1]], [[0.5, 0.25], [0.25, 0.75]])
    >>> rule.thresholds.round(2)
    array([0.38, 0.44])
    """

    metric: str = "f1_macro"
    from_logits: bool = False

    def fit(self, Y_valid, P_valid, Y_train=None):
        """Find the cuts; `Y_train` is not used."""
        Y, P = check_labels_and_scores(Y_valid, P_valid)
        self.thresholds = LabelThresholdRule("f1_macro").fit(Y, P).thresholds
        if Y.any():
            calibrate, tuned = Calibration.fit(Y, P, self.from_logits), self.thresholds
            expected = _expected_label_cuts(P, calibrate, tuned)
            self.thresholds = (0.5 * tuned + 0.5 * expected).astype(P.dtype)
        self.validation_score = metric_value(Y, self.decide(P), self.metric)
        return self

    def decide(self, P):
        """Return the predicted labels, bool ndarray of the shape of `P`."""
        return np.asarray(P) >= self.thresholds


def _common_cut(Y, S, calibrate):
    """Return the best cut for micro F1 of labels drawn towards calibrated probabilities."""
    scores, truth, n_positives = S.ravel(), Y.ravel(), np.count_nonzero(Y)
    share = _EQUAL_POSITIVES / (_EQUAL_POSITIVES + n_positives)
    total = (1 - share) * n_positives
    total += share * sum(calibrate(S[rows]).sum() for rows in _parts(*S.shape))
    tracker, hits, n_predicted = PlateauTracker(), 0.0, 0
    tracker.update(np.array([np.inf]), np.zeros(1))
    for entries in chunks_of_falling_scores(scores):
        values = scores[entries]
        sums = hits + np.cumsum(share * calibrate(values) + (1 - share) * truth[entries])
        curve = f1(sums, n_predicted + np.arange(1, len(values) + 1), total)
        last = last_of_equals(values)
        tracker.update(values[last], curve[last])
        hits, n_predicted = sums[-1], n_predicted + len(values)
        # Whoever predicts more than these can at best have all of the total right.
        if tracker.is_closed and f1(total, n_predicted + 1, total) < tracker.best:
            break
    return tracker.middle(S.dtype.type)[0]


def _expected_label_cuts(S, calibrate, tuned):
    """Return each label's cut of highest expected F1; the tuned one where no F1 is expected."""
    cuts = np.empty(S.shape[1], dtype=S.dtype)
    for labels in _parts(*S.T.shape):
        some = S[:, labels]
        cuts[labels] = own_label_cuts(calibrate(some), some, tuned[labels])
    return cuts


def _parts(n, width):
    """Slices of `n` things, each of this width, of which some fit into memory."""
    return gen_batches(n, max(1, _ENTRIES_AT_ONCE // max(width, 1)))


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

    @classmethod
    def fit(cls, Y, S, from_logits=False):
        """Fit on scores (n_samples, n_labels) of rows that were not fitted on, and their labels.

        At least one label is true.
        """
        rows = evenly_spaced(len(S), max(1, _MOST_ENTRIES // max(S.shape[1], 1)))
        S, y = S[rows], Y[rows].ravel()
        start, centre, scale = np.array([1.0, 0.0]), 0.0, 1.0
        if from_logits:
            centre, scale = _middle_and_spread(to_logits(S, from_logits))
            start[1] = logit(np.clip(y.mean(), 1e-6, 1 - 1e-6))
        z = cls(1.0, 0.0, centre, scale, from_logits)._limited(S).ravel()

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
        return cls(float(slope), float(shift), centre, scale, from_logits)

    def __call__(self, S):
        """Probabilities of scores, float64; they rise with them."""
        return expit(self.slope * self._limited(S) + self.shift)

    def _limited(self, S):
        Z = to_logits(S, self.from_logits).astype(np.float64)
        Z -= self.centre
        Z /= self.scale
        return np.clip(Z, -_LARGEST_LOGIT, _LARGEST_LOGIT, out=Z)


def _middle_and_spread(margins):
    """Median, and median distance from it of the margins that differ from it."""
    centre = float(np.median(margins))
    distances = np.abs(margins - centre)
    distances = distances[distances > 0]
    return centre, float(np.median(distances)) if len(distances) else 1.0
