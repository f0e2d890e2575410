"""Label sets and decisions, tuned on the votes for held-out rows.

Unknown entries take part in nothing, and a row counts as often as it weighs. Knows ensembles,
label sets and operating points.
"""

import numpy as np

from sklearn_mrmp._decisions.choice import CANDIDATES
from sklearn_mrmp._decisions.label_set_model import CollectedLabelSets
from sklearn_mrmp._decisions.operating_points import OperatingPoints, rows_to_tune_on
from sklearn_mrmp._ensemble.label_sets import LabelSetVote


def tune_decisions(fitted, others, wants_sets, forget_held_out, report):
    """Tune label sets and the rules of all metrics.

    Parameters
    ----------
    fitted : FittedEnsemble
        With the votes for held-out rows.
    others : (csr_array, EntryWeights or None), or None
        Labels of the other training rows, and what these count.
    wants_sets : bool
        Whether label sets may be mixed into the probabilities.
    forget_held_out : bool
        Whether the label sets of held-out rows stay out of the model.
    report : Report
        Says how it goes.

    Returns
    -------
    label_sets : LabelSetVote or None
    points : OperatingPoints
    P : ndarray of shape (n_rows, n_labels), float32
        Probabilities of the held-out rows, with label sets.
    """
    Y, known, chosen = _dense(fitted.Y, fitted.weights)
    P, similar = fitted.P, fitted.similar
    if chosen is not None:
        P, similar = P[chosen], None if similar is None else similar.take(chosen)
    Y_others = _others(others)
    label_sets, collected = None, CollectedLabelSets.of(Y, Y_others, known=known)
    if wants_sets and collected is not None:
        with report.stage("label sets: fitted"):
            label_sets, P = LabelSetVote.fit(
                Y, P, collected=collected, forget_held_out=forget_held_out, known=known
            )
    with report.stage("decisions: tuned"):
        points = OperatingPoints.tune(
            Y,
            P,
            Y_others,
            similar=similar,
            decisions=tuple(CANDIDATES),
            collected=collected,
            known=known,
            keep_rows=True,
            report=report,
        )
    return label_sets, points, _of_each_row(fitted.P, P, chosen, label_sets)


def _of_each_row(P, P_mixed, chosen, label_sets):
    """Return mixed probabilities of all rows once, of which some were `chosen` several times."""
    if chosen is None:
        return P_mixed
    # Rows that weigh too little to be chosen have no part in the label sets.
    P_all = P.copy() if label_sets is None else label_sets.mix(P)
    P_all[chosen] = P_mixed
    return P_all


def _dense(Y, weights):
    """Labels as a bool ndarray, what is known of them, and which rows they are; None is all."""
    known, chosen = (None, None) if weights is None else (weights.known, None)
    if weights is not None and weights.rows is not None:
        chosen = weights.repetitions()
        Y, known = Y[chosen], None if known is None else known[chosen]
    return Y.toarray() > 0, known, chosen


def _others(others):
    """Labels of the other rows that are known in all entries, as far as rules can bear them."""
    if others is None:
        return None
    Y, weights = others
    if weights is not None and weights.known is not None:
        complete = np.flatnonzero(weights.is_complete())
        Y, weights = Y[complete], weights.take(complete)
    if weights is not None and weights.rows is not None and Y.shape[0]:
        Y = Y[weights.repetitions()]
    return Y[rows_to_tune_on(*Y.shape)].toarray() > 0
