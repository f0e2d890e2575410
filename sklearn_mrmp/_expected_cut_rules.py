"""Decision rules for micro and macro F1: cuts that few validation rows cannot lead astray.

The labels of a few dozen rows are noisy; their probabilities, once calibrated, are less so, and
tell the F1 to expect of every cut. `MicroF1Rule` draws labels towards them, the more the fewer
there are; `MacroF1Rule`, where each label has few positive rows, takes the middle between the cut
tuned on labels and the expected one. Knows numpy, scipy and the cuts of `_label_thresholds`.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.utils import gen_batches

from sklearn_mrmp._label_set_model import to_logits
from sklearn_mrmp._label_thresholds import best_cut, falling_order, own_label_cuts
from sklearn_mrmp._row_choice import evenly_spaced
from sklearn_mrmp._threshold_rules import GlobalThresholdRule, LabelThresholdRule
from sklearn_mrmp._threshold_sweep import f1, metric_value
from sklearn_mrmp._thresholds import check_labels_and_scores

# Positive entries at which labels and calibrated probabilities count the same.
_EQUAL_POSITIVES = 1_000.0
# Scores are held at what they are (slope 1, shift 0) as by this much information.
_PRIOR_INFORMATION = 10.0
# Logits of probabilities beyond this one say no more: forests know zeros that are none.
_LARGEST_LOGIT = 6.0
# Two numbers need no more entries than this.
_MOST_ENTRIES = 2**21
# Entries in work at once, and those that the first search for a cut looks at.
_ENTRIES_AT_ONCE = 2**20
_FEWEST_LOOKED_AT = 2**20


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
    >>> from sklearn_mrmp._expected_cut_rules import MicroF1Rule
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
    >>> from sklearn_mrmp._expected_cut_rules import MacroF1Rule
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
            expected = _expected_label_cuts(P, Calibration.fit(Y, P, self.from_logits))
            self.thresholds = (0.5 * self.thresholds + 0.5 * expected).astype(P.dtype)
        self.validation_score = metric_value(Y, self.decide(P), self.metric)
        return self

    def decide(self, P):
        """Return the predicted labels, bool ndarray of the shape of `P`."""
        return np.asarray(P) >= self.thresholds


def _common_cut(Y, S, calibrate):
    """Return the best cut for micro F1 of labels drawn towards calibrated probabilities."""
    n_positives = np.count_nonzero(Y)
    share = _EQUAL_POSITIVES / (_EQUAL_POSITIVES + n_positives)
    total = (1 - share) * n_positives
    total += share * sum(calibrate(S[rows]).sum() for rows in _parts(*S.shape))
    n_looked_at = _FEWEST_LOOKED_AT
    while True:
        is_high = _highest(S, n_looked_at)
        scores = S[is_high]
        drawn = share * calibrate(scores) + (1 - share) * Y[is_high]
        order, values, last = falling_order(scores)
        curve = f1(np.cumsum(drawn[order]), np.arange(1, len(order) + 1), total)
        # Whoever predicts more entries than these can at best have all of the total right.
        if len(order) == S.size or curve.max() >= f1(total, len(order) + 1, total):
            return best_cut(values, last, 0.0, curve, S.dtype.type)[0]
        n_looked_at *= 4


def _highest(S, n):
    """Where the `n` highest scores are, and those that equal the last of them."""
    if n >= S.size:
        return np.ones(S.shape, dtype=bool)
    return np.partition(S, S.size - n, axis=None)[S.size - n] <= S


def _expected_label_cuts(S, calibrate):
    """Return each label's cut of highest expected F1."""
    cuts = np.empty(S.shape[1], dtype=S.dtype)
    for labels in _parts(*S.T.shape):
        some = S[:, labels]
        cuts[labels] = own_label_cuts(calibrate(some), some, 0.0)
    return cuts


def _parts(n, width):
    """Slices of `n` things, each of this width, of which some fit into memory."""
    return gen_batches(n, max(1, _ENTRIES_AT_ONCE // max(width, 1)))


@dataclass(frozen=True)
class Calibration:
    """Probabilities ``expit(slope * logit + shift)``, the same for all labels.

    Attributes
    ----------
    slope, shift : float
        What suits labels best; the slope is not negative.
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
    from_logits: bool = False

    @classmethod
    def fit(cls, Y, S, from_logits=False):
        """Fit on scores (n_samples, n_labels) of rows that were not fitted on, and their labels."""
        rows = evenly_spaced(len(S), max(1, _MOST_ENTRIES // max(S.shape[1], 1)))
        z, y = _steady_logits(S[rows], from_logits).ravel(), Y[rows].ravel()
        # Margins are of any scale; probabilities are believed as they are at first.
        scale = max(np.abs(z).mean(), np.finfo(np.float64).tiny) if from_logits else 1.0
        z /= scale
        start = np.array([1.0, 0.0])

        def loss(parameters):
            logits = parameters[0] * z + parameters[1]
            excess, change = expit(logits) - y, parameters - start
            value = np.logaddexp(0, logits).sum() - logits[y].sum()
            gradient = np.array([excess @ z, excess.sum()]) + _PRIOR_INFORMATION * change
            return (value + 0.5 * _PRIOR_INFORMATION * change @ change) / len(y), gradient / len(y)

        bounds = [(0.0, None), (None, None)]
        slope, shift = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
        return cls(float(slope / scale), float(shift), from_logits)

    def __call__(self, S):
        """Probabilities of scores, float64; they rise with them."""
        return expit(self.slope * _steady_logits(S, self.from_logits) + self.shift)


def _steady_logits(S, from_logits):
    Z = to_logits(S, from_logits).astype(np.float64)
    return Z if from_logits else np.clip(Z, -_LARGEST_LOGIT, _LARGEST_LOGIT, out=Z)
