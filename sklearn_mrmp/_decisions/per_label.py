"""One threshold for each label: exact for macro averages, coordinate ascent for other metrics.

Thresholds of single labels see few positives and overfit; for macro averages they are therefore
drawn towards the global cut. Knows numpy and the sweep's helpers.
"""

import numpy as np

from sklearn_mrmp._decisions.sweep import (
    TOLERANCE,
    PlateauTracker,
    f1,
    last_of_equals,
    metric_value,
    parts_of,
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
    metric : {"accuracy", "f1_samples", "f1_micro", "f1_macro"} or object
        What to maximise.
    global_cut : float
        The best single cut.
    shrinkage : float
        Pull towards the global cut, for macro averages.

    Returns
    -------
    cuts : ndarray of shape (n_labels,), in the dtype of `S`
        A label is predicted when its score is at least its cut.
    """
    average, of_counts = parts_of(metric)
    if average == "macro":
        own = own_label_cuts(Y, S, global_cut, of_counts)
        return shrink_cuts(own, global_cut, np.count_nonzero(Y, axis=0), shrinkage)
    return _ascend(Y, S, metric, global_cut)


def own_label_cuts(Y, S, global_cut, of_counts=f1):
    """Each label's own best cut for F1, or for another function of counts.

    Labels without a positive row keep the global cut.

    `Y` may be probabilities instead of labels: the cuts are then those of highest expected F1. So
    may `global_cut` be a cut for each label.
    """
    cuts = np.full(S.shape[1], global_cut, dtype=S.dtype)
    for label in np.flatnonzero(Y.any(axis=0)):
        order, values, last = _falling(S[:, label])
        hits = np.cumsum(Y[order, label])
        curve = of_counts(hits, np.arange(1, len(hits) + 1), hits[-1])
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
    truth, (average, of_counts) = Y[:, label], parts_of(metric)
    if average == "micro":
        hits, size, positives = np.count_nonzero(Y & others), np.count_nonzero(others), Y.sum()
        counts = size + np.arange(1, len(order) + 1)
        curve = of_counts(hits + np.cumsum(truth[order]), counts, positives)
        return of_counts(hits, size, positives), curve
    hits, size = np.count_nonzero(Y & others, axis=1), np.count_nonzero(others, axis=1)
    positives = np.count_nonzero(Y, axis=1)
    if average == "exact":
        without = ((hits == positives) & (size == positives)).astype(float)
        having = ((hits + truth == positives) & (size + 1 == positives)).astype(float)
    else:
        without = of_counts(hits, size, positives)
        having = of_counts(hits + truth, size + 1, positives)
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
