"""Exact threshold search: the cut of the scores that is best for a multi-label metric.

Pure functions over arrays: `tune_thresholds` validates what users pass, `best_thresholds` and
`best_global_cuts` take checked arrays. The metrics at every distinct cut come from `sweep`, the
cuts of single labels from `per_label`. Knows numpy, and sparse matrices as targets.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array, check_consistent_length

from sklearn_mrmp._decisions.per_label import SHRINKAGE, tune_label_cuts
from sklearn_mrmp._decisions.sweep import METRICS, PlateauTracker, metric_value, sweep_cuts
from sklearn_mrmp._host.html import html_table
from sklearn_mrmp._numerics.label_frames import in_order_of
from sklearn_mrmp._numerics.labels import check_label_matrix


@dataclass(frozen=True)
class ThresholdResult:
    """What `tune_thresholds` found.

    Attributes
    ----------
    thresholds : mapping of metric to float, or to ndarray of shape (n_labels,)
        The best threshold of each metric: a label is predicted if ``score >= threshold``.
    scores : mapping of metric to float
        The metric's value on the given rows at this threshold.
    plateaus : mapping of metric to (float, float)
        Lower (exclusive) and upper (inclusive) end of the interval of equally good global
        thresholds from which the global threshold was taken; infinite if no score limits it.
    """

    thresholds: Mapping
    scores: Mapping
    plateaus: Mapping

    def _repr_html_(self):
        header = ["metric", "threshold", "score", "equally good global cuts"]
        rows = [
            [
                str(name),
                _threshold_text(cut),
                f"{self.scores[name]:.4g}",
                _interval(self.plateaus[name]),
            ]
            for name, cut in self.thresholds.items()
        ]
        return html_table(header, rows)


def _threshold_text(cut):
    """Return one cut, or the range of the cuts of several labels, as text."""
    if np.ndim(cut) == 0:
        return f"{cut:.4g}"
    return f"{np.min(cut):.4g} to {np.max(cut):.4g} ({len(cut)} labels)"


def _interval(plateau):
    low, high = plateau
    return f"({low:.4g}, {high:.4g}{']' if np.isfinite(high) else ')'}"


def tune_thresholds(Y_true, Y_score, *, metrics=METRICS, strategy="global", shrinkage=SHRINKAGE):
    """Find the threshold that is best for each metric, exactly.

    All distinct thresholds are considered. If an interval of thresholds is equally good, the middle
    of the widest such interval is used, because it is the safest choice for new rows. If no row has
    any label, every F1 is 0 at every threshold, and nothing is predicted.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
        0/1 label matrix.
    Y_score : array-like of shape (n_samples, n_labels)
        Probabilities, or any scores that are higher for more probable labels. If both are data
        frames, labels are matched by name.
    metrics : str, FBeta, Jaccard or a sequence of these, \
default=("accuracy", "f1_samples", "f1_micro", "f1_macro")
        The metrics; names are those of scikit-learn's scorers. ``zero_division`` is 0: a row or a
        label with neither true nor predicted entries has an F1 of 0.
    strategy : {"global", "per_label"}, default="global"
        One threshold for all labels, or one for each. With ``"per_label"``, ``"f1_macro"`` and
        other macro averages use the best threshold of each label, shrunk towards the global one.
        For the other metrics, thresholds are improved label by label, starting from the global one,
        until no single threshold can be improved.
    shrinkage : float, default=10.0
        Strength of the shrinkage towards the global threshold, for macro averages per label. A
        label with this many positive rows gets the mean of its own and the global threshold. 0 uses
        each label's own threshold, which overfits rare labels.

    Returns
    -------
    result : ThresholdResult
        ``thresholds`` and ``scores``, mappings by metric.

    Notes
    -----
    Thresholds are representable in the dtype of `Y_score`, so that ``Y_score >= threshold`` means
    the same in float32 and in float64. Beside its input the search needs one or two bytes for each
    entry and about 150 MB, unless more than half a million scores are exactly equal.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp import tune_thresholds
    >>> Y = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1]])
    >>> P = np.array([[0.9, 0.2, 0.1], [0.75, 0.5, 0.1], [0.25, 0.1, 0.5]])
    >>> result = tune_thresholds(Y, P, metrics=["accuracy", "f1_micro"])
    >>> result.thresholds["accuracy"]
    0.375
    >>> result.scores["f1_micro"]
    1.0
    """
    metrics = check_measures(metrics)
    if strategy not in ("global", "per_label"):
        raise ValueError(f"strategy must be 'global' or 'per_label', got {strategy!r}.")
    check_shrinkage(shrinkage)
    Y, S = check_labels_and_scores(Y_true, Y_score)
    return best_thresholds(Y, S, metrics, strategy, shrinkage)


def best_thresholds(Y, S, metrics, strategy="global", shrinkage=SHRINKAGE):
    """Return what `tune_thresholds` does, for arrays that were checked before.

    Parameters
    ----------
    Y : bool ndarray of shape (n_samples, n_labels)
        True labels, C-contiguous.
    S : float ndarray of shape (n_samples, n_labels)
        Scores, C-contiguous.
    metrics : sequence of str or object
        The metrics.
    strategy, shrinkage
        As for `tune_thresholds`.

    Returns
    -------
    result : ThresholdResult
    """
    thresholds, plateaus = best_global_cuts(Y, S, metrics)
    if strategy == "per_label":
        thresholds = {
            name: tune_label_cuts(Y, S, name, cut, shrinkage) for name, cut in thresholds.items()
        }
    scores = {name: metric_value(Y, cut <= S, name) for name, cut in thresholds.items()}
    return ThresholdResult(thresholds, scores, plateaus)


def best_global_cuts(Y, S, metrics):
    """Return the best single cut of each metric, and its plateau, as two dicts by metric.

    The arrays are as for `best_thresholds`; all metrics are found in one sweep.
    """
    trackers = {name: PlateauTracker() for name in metrics}
    for values, curves in sweep_cuts(Y, S, metrics):
        for name, tracker in trackers.items():
            tracker.update(values, curves[name])
    middles = {name: tracker.middle(S.dtype.type) for name, tracker in trackers.items()}
    if not Y.any():
        nothing = float(max(np.nextafter(S.max(), S.dtype.type(np.inf)), 1))
        middles = {name: (nothing, plateau) for name, (_, plateau) in middles.items()}
    return (
        {name: cut for name, (cut, _) in middles.items()},
        {name: plateau for name, (_, plateau) in middles.items()},
    )


def check_metrics(metrics):
    """Return metric names as a tuple; raise ValueError for an unknown one."""
    metrics = (metrics,) if isinstance(metrics, str) else tuple(metrics)
    for name in metrics:
        if name not in METRICS:
            raise ValueError(f"Unknown metric {name!r}; the known ones are {', '.join(METRICS)}.")
    return metrics


def check_measures(metrics):
    """Return metrics, by name or as objects such as `FBeta`, as a tuple."""
    metrics = (metrics,) if isinstance(metrics, str) or _is_measure(metrics) else tuple(metrics)
    check_metrics([metric for metric in metrics if not _is_measure(metric)])
    return metrics


def _is_measure(metric):
    """Whether a metric is a function of counts, such as `FBeta`."""
    return hasattr(metric, "of_counts") and not isinstance(metric, type)


def check_shrinkage(shrinkage):
    """Raise ValueError for a pull towards the global cut that is negative or no number."""
    if not shrinkage >= 0:
        raise ValueError(f"shrinkage must be a number of at least 0, got {shrinkage!r}.")


def check_labels_and_scores(Y_true, Y_score):
    """Return a 0/1 label matrix as dense bool and its scores as floats, both C-contiguous."""
    Y_score = in_order_of(Y_true, Y_score, "Y_score")
    S = check_array(
        Y_score, dtype=[np.float64, np.float32], order="C", input_name="Y_score", copy=False
    )
    Y = check_labels(Y_true, "Y_true")
    check_consistent_length(Y, S)
    if Y.shape != S.shape:
        raise ValueError(
            f"Y_true and Y_score must have the same shape, got {Y.shape} and {S.shape}."
        )
    return Y, S


def check_labels(Y, name):
    """Return a dense or sparse 0/1 matrix as a dense, C-contiguous bool array."""
    Y = check_label_matrix(Y, name)
    Y = Y.toarray() if sp.issparse(Y) else Y
    return np.ascontiguousarray(Y, dtype=bool)
