"""Decision rules for micro and macro F1: cuts that few validation rows cannot lead astray.

The labels of a few dozen rows are noisy; their probabilities, once calibrated, are less so, and
tell the F1 to expect of every cut. `MicroF1Rule` draws labels towards them, the more the fewer
there are; `MacroF1Rule`, where each label has few positive rows, takes the middle between the cut
tuned on labels and the expected one. Knows numpy and the cuts of `per_label`.
"""

from dataclasses import dataclass

import numpy as np

from sklearn_mrmp._decisions.per_label import own_label_cuts, tune_label_cuts
from sklearn_mrmp._decisions.rules.base import Rule
from sklearn_mrmp._decisions.sweep import (
    PlateauTracker,
    chunks_of_falling_scores,
    f1,
    last_of_equals,
)
from sklearn_mrmp._model_files.part import NUMBER, Part
from sklearn_mrmp._numerics.rows import row_blocks

# Positive entries at which labels and calibrated probabilities count the same.
_EQUAL_POSITIVES = 1_000.0
# Entries calibrated at once, in float64: their copies stay within some megabytes.
_ENTRIES_AT_ONCE = 2**20


@dataclass(eq=False)
class MicroF1Rule(Rule):
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
    >>> from sklearn_mrmp._decisions.rules.expected_cuts import MicroF1Rule
    >>> rule = MicroF1Rule().fit([[1, 0], [1, 1]], [[0.75, 0.25], [0.75, 0.5]])
    >>> rule.decide(np.array([[0.3, 0.45]]))
    array([[False,  True]])
    """

    metric: str = "f1_micro"
    from_logits: bool = False

    def _choose(self, rows):
        if rows.calibration is None:
            self.threshold = rows.global_cut("f1_micro")
        else:
            Y, S = rows.Y, rows.P
            if rows.known is not None:
                Y, S = (part[rows.known][:, np.newaxis] for part in (Y, S))
            self.threshold = _common_cut(Y, S, rows.calibration)

    def decide(self, P):
        """Return the predicted labels, bool ndarray of the shape of `P`."""
        return np.asarray(P) >= self.threshold


MicroF1Rule._model_part = Part({"threshold": NUMBER, "validation_score": NUMBER})


@dataclass(eq=False)
class MacroF1Rule(Rule):
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
    >>> from sklearn_mrmp._decisions.rules.expected_cuts import MacroF1Rule
    >>> rule = MacroF1Rule().fit([[1, 0], [0, 1]], [[0.5, 0.25], [0.25, 0.75]])
    >>> rule.thresholds.round(2)
    array([0.38, 0.44])
    """

    metric: str = "f1_macro"
    from_logits: bool = False

    def _choose(self, rows):
        tuned = tune_label_cuts(rows.Y, rows.cut_scores, "f1_macro", rows.global_cut("f1_macro"))
        self.thresholds = tuned
        if rows.calibration is not None:
            expected = _expected_label_cuts(rows, tuned)
            self.thresholds = (0.5 * tuned + 0.5 * expected).astype(rows.P.dtype)

    def decide(self, P):
        """Return the predicted labels, bool ndarray of the shape of `P`."""
        return np.asarray(P) >= self.thresholds


MacroF1Rule._model_part = Part({"thresholds": "ndarray", "validation_score": NUMBER})


def _common_cut(Y, S, calibrate):
    """Return the best cut for micro F1 of labels drawn towards calibrated probabilities."""
    scores, truth, n_positives = S.ravel(), Y.ravel(), np.count_nonzero(Y)
    share = _EQUAL_POSITIVES / (_EQUAL_POSITIVES + n_positives)
    total = (1 - share) * n_positives
    total += share * sum(
        calibrate(S[rows]).sum() for rows in row_blocks(*S.shape, _ENTRIES_AT_ONCE)
    )
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


def _expected_label_cuts(rows, tuned):
    """Return each label's cut of highest expected F1; the tuned one where no F1 is expected."""
    S = rows.cut_scores
    cuts = np.empty(S.shape[1], dtype=S.dtype)
    for labels in row_blocks(*S.T.shape, _ENTRIES_AT_ONCE):
        some = S[:, labels]
        expected = rows.calibration(some)
        if rows.known is not None:
            expected *= rows.known[:, labels]
        cuts[labels] = own_label_cuts(expected, some, tuned[labels])
    return cuts
