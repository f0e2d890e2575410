"""What the other labels of a row say about a label, by the label graph.

A label that is there raises or lowers the log odds of those it is linked with, and so does one that
is not there: the lifts of `_graph.lifts`, which a hierarchy has, too, since a child never comes
without its parent. How far the sum of lifts is to be believed beside a classifier's probability is
learned from the labels themselves. Knows numpy, label graphs and their lifts.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from sklearn_mrmp._graph.lifts import label_lifts, linked
from sklearn_mrmp._numerics.entry_weights import EntryWeights
from sklearn_mrmp._numerics.log_odds import log_odds
from sklearn_mrmp._numerics.rows import evenly_spaced

_FOLDS = 5
# Logits beyond it come from certainty that classifiers do not have.
_MARGIN = 1e-6
# A few coefficients are known well enough from so many entries.
_MOST_ENTRIES = 2**19


@dataclass(frozen=True, eq=False)
class Evidence:
    """Log odds that the other labels of each row lend to a label, (n_samples, n_labels) each.

    Attributes
    ----------
    present, absent : ndarray
        What labels that are there, and labels that are not, add up to.
    """

    present: np.ndarray
    absent: np.ndarray


def fold_lifts(graph, Y, known):
    """Yield rows, and the lifts of linked labels learned from the other rows.

    A pair of labels that is in one row alone must not speak for itself there. Folds take every
    fifth row, so that the outcome depends on nothing but the rows.
    """
    links, fold_of = linked(graph), np.arange(len(Y)) % _FOLDS
    for fold in range(min(_FOLDS, len(Y))):
        rows, others = np.flatnonzero(fold_of == fold), np.flatnonzero(fold_of != fold)
        weights = EntryWeights.of(known[others])
        yield rows, label_lifts(links, sp.csr_array(Y[others].astype(np.float64)), weights)


def label_evidence(graph, Y, known):
    """Add up what the other labels of each row say.

    Parameters
    ----------
    graph : LabelGraph
        Which labels are linked.
    Y : bool ndarray of shape (n_samples, n_labels)
        Labels, False where they are unknown.
    known : bool ndarray of shape (n_samples, n_labels)
        Which are known; the others say nothing.

    Returns
    -------
    evidence : Evidence
    """
    present, absent = np.zeros(Y.shape), np.zeros(Y.shape)
    for rows, (with_k, without_k) in fold_lifts(graph, Y, known):
        present[rows] = Y[rows].astype(np.float32) @ with_k
        absent[rows] = (~Y[rows] & known[rows]).astype(np.float32) @ without_k
    return Evidence(present, absent)


def informed_probabilities(Y, P, known, evidence=None):
    """Probabilities that also know the other labels of a row.

    Parameters
    ----------
    Y : bool ndarray of shape (n_samples, n_labels)
        Labels.
    P : ndarray of shape (n_samples, n_labels)
        Probabilities by a classifier that was not fitted on the rows.
    known : bool ndarray of shape (n_samples, n_labels)
        Where both are known.
    evidence : Evidence, default=None
        What other labels say; None leaves them out.

    Returns
    -------
    P : ndarray of shape (n_samples, n_labels)
        By a logistic regression of the labels on the log odds and the evidence.
    """
    columns = [log_odds(np.where(known, P, 0.5), _MARGIN)]
    if evidence is not None:
        columns += [evidence.present, evidence.absent]
    rows = evenly_spaced(len(Y), max(1, _MOST_ENTRIES // Y.shape[1]))
    chosen = known[rows]
    y = Y[rows][chosen]
    if y.all() or not y.any():
        return P
    features = np.column_stack([column[rows][chosen] for column in columns])
    model = LogisticRegression(C=1.0).fit(features, y)
    weights = np.maximum(model.coef_[0], 0.0)  # more odds are never less probable
    return expit(model.intercept_[0] + sum(w * c for w, c in zip(weights, columns, strict=True)))
