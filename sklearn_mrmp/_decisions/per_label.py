"""One threshold for each label: exact for macro F1, coordinate ascent for the other metrics.

Thresholds of single labels see few positives and overfit; for macro F1 they are therefore drawn
towards the global cut. Knows numpy and the sweep's helpers.
"""

import numpy as np

from sklearn_mrmp._decisions.sweep import (
    TOLERANCE,
    PlateauTracker,
    f1,
    last_of_equals,
    metric_value,
)

# Positive validation rows at which a label's own cut and the global one count the same.
SHRINKAGE = 10.0

_MAX_PASSES = 20


def tune_label_cuts(Y, S, metric, global_cut, shrinkage=SHRINKAGE):
    """Return one cut for each label, starting from the best global one.

    Parameters
    ----------
    Y : bool ndarray of shape (n_samples, n_labels)
        True labels.
    S : float ndarray of shape (n_samples, n_labels)
        Scores.
    metric : {"accuracy", "f1_samples", "f1_micro", "f1_macro"}
        What to maximise.
    global_cut : float
        The best single cut.
    shrinkage : float
        Pull towards the global cut, for ``"f1_macro"``.

    Returns
    -------
    cuts : ndarray of shape (n_labels,), in the dtype of `S`
        A label is predicted when its score is at least its cut.
    """
    if metric == "f1_macro":
        own = own_label_cuts(Y, S, global_cut)
        return shrink_cuts(own, global_cut, np.count_nonzero(Y, axis=0), shrinkage)
    return _ascend(Y, S, metric, global_cut)


def own_label_cuts(Y, S, global_cut):
    """Each label's own best cut for F1; the global one for labels without a positive row.

    `Y` may be probabilities instead of labels: the cuts are then those of highest expected F1. So
    may `global_cut` be a cut for each label.
    """
    cuts = np.full(S.shape[1], global_cut, dtype=S.dtype)
    for label in np.flatnonzero(Y.any(axis=0)):
        order, values, last = _falling(S[:, label])
        hits = np.cumsum(Y[order, label])
        curve = f1(hits, np.arange(1, len(hits) + 1), hits[-1])
        cuts[label], _ = _best_cut(values, last, 0.0, curve, S.dtype.type)
    return cuts


def shrink_cuts(own, global_cut, n_positives, shrinkage):
    """Weighted mean of own and global cuts, by the number of positive rows."""
    if shrinkage == 0:
        return own
    weights = n_positives / (n_positives + shrinkage)
    return (weights * own + (1 - weights) * global_cut).astype(own.dtype)


def _ascend(Y, S, metric, global_cut):
    """Best cut of one label after the other, given the rest, until none improves the metric."""
    cuts = np.full(S.shape[1], global_cut, dtype=S.dtype)
    predicted = cuts <= S
    falling = [_falling(S[:, label]) for label in range(S.shape[1])]
    score = metric_value(Y, predicted, metric)
    for _ in range(_MAX_PASSES):
        before = score
        for label, (order, values, last) in enumerate(falling):
            predicted[:, label] = False
            base, curve = _label_curve(Y, predicted, label, order, metric)
            cut, best = _best_cut(values, last, base, curve, S.dtype.type)
            if best > score + TOLERANCE:
                cuts[label], score = cut, best
            predicted[:, label] = S[:, label] >= cuts[label]
        if score <= before + TOLERANCE:
            break
    return cuts


def _label_curve(Y, others, label, order, metric):
    """Metric without the label, and after predicting it for the rows in `order`, one by one."""
    truth = Y[:, label]
    if metric == "f1_micro":
        hits, size, positives = np.count_nonzero(Y & others), np.count_nonzero(others), Y.sum()
        counts = size + np.arange(1, len(order) + 1)
        return f1(hits, size, positives), f1(hits + np.cumsum(truth[order]), counts, positives)
    hits, size = np.count_nonzero(Y & others, axis=1), np.count_nonzero(others, axis=1)
    positives = np.count_nonzero(Y, axis=1)
    if metric == "accuracy":
        without = ((hits == positives) & (size == positives)).astype(float)
        having = ((hits + truth == positives) & (size + 1 == positives)).astype(float)
    else:
        without, having = f1(hits, size, positives), f1(hits + truth, size + 1, positives)
    base = without.mean()
    return base, base + np.cumsum((having - without)[order]) / len(order)


def _falling(scores):
    """Order of falling scores, distinct values, and the last position of each of these."""
    order = np.argsort(-scores, kind="stable")
    values = scores[order]
    last = last_of_equals(values)
    return order, values[last], last


def _best_cut(values, last, base, curve, dtype):
    tracker = PlateauTracker()
    tracker.update(np.append(np.inf, values), np.append(base, curve[last]))
    return tracker.middle(dtype)[0], tracker.best
