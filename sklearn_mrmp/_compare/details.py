"""What a run of a comparison keeps beside its scores: counts of each label, and curves over cuts.

They are for looking at; nothing is chosen by them. Plain lists and numbers, which JSON lines hold.
Knows numpy, the sweep over cuts and measures of labels.
"""

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._decisions.operating_points import rows_to_tune_on
from sklearn_mrmp._decisions.sweep import sweep_cuts
from sklearn_mrmp._numerics.entry_weights import EntryWeights
from sklearn_mrmp._reports.measures import average_precisions, label_counts

CUTS = np.linspace(0.02, 0.98, 49)


def counts_of(Y, predicted, weights):
    """Hits and predicted entries of each label, as lists."""
    hits, n_predicted, _ = label_counts(Y, predicted, weights)
    return {"hits": hits.tolist(), "predicted": n_predicted.tolist()}


def ranking_of(Y, P, weights):
    """Average precision of each label, a list; None for labels without true entries."""
    values = average_precisions(sp.csr_array(Y), P, sample_weight=weights)
    return [None if np.isnan(value) else round(float(value), 6) for value in values]


def curves_of(Y, P, metrics, weights):
    """Metrics at each of `CUTS`, lists by metric; of evenly spaced rows if there are very many."""
    rows = rows_to_tune_on(*Y.shape)
    if weights is not None:
        rows = rows[EntryWeights(rows=weights[rows]).repetitions()]
    curves = cut_curves(Y[rows].astype(bool), np.ascontiguousarray(P[rows]), metrics, CUTS)
    return {name: np.round(values, 6).tolist() for name, values in curves.items()}


def cut_curves(Y, P, metrics, cuts):
    """Metrics when all entries of at least a cut are predicted, exactly.

    Parameters
    ----------
    Y : bool ndarray of shape (n_samples, n_labels)
        True labels.
    P : ndarray of shape (n_samples, n_labels)
        Scores.
    metrics : sequence of str
        The metrics.
    cuts : ndarray of shape (n_cuts,)
        The cuts.

    Returns
    -------
    curves : dict of str to ndarray of shape (n_cuts,)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp._compare.details import cut_curves
    >>> Y, P = np.array([[True, False]]), np.array([[0.75, 0.25]])
    >>> cut_curves(Y, P, ["accuracy"], np.array([0.1, 0.5, 0.9]))["accuracy"].tolist()
    [0.0, 1.0, 0.0]
    """
    curves = {name: np.zeros(len(cuts)) for name in metrics}
    for values, parts in sweep_cuts(Y, P, metrics):
        reached = np.searchsorted(-values, -cuts, side="right")  # values fall
        some = reached > 0
        for name in metrics:
            curves[name][some] = parts[name][reached[some] - 1]
    return curves
