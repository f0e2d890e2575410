"""Which entries of a label matrix look wrong.

In the spirit of confident learning (Northcutt, Jiang, Chuang 2021): probabilities of a classifier
that did not see a row are held against the labels that the row was given, with a bar of its own for
each label. The other labels of the row are witnesses, too. Knows numpy, label graphs and the
evidence of related labels.
"""

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from scipy.special import expit, logit

from sklearn_mrmp._graph.value import LabelGraph
from sklearn_mrmp._host.html import html_table
from sklearn_mrmp._host.optional import import_optional
from sklearn_mrmp._numerics.label_frames import check_same_names, column_names, one_is_anonymous
from sklearn_mrmp._trust.entries import checked_entries
from sklearn_mrmp._trust.relations import (
    fold_lifts,
    informed_probabilities,
    label_evidence,
)

_MARGIN = 1e-9
_SHOWN_ROWS = 20


@dataclass(frozen=True, eq=False)
class LabelErrors:
    """Entries of a label matrix that look wrong, the most suspicious first.

    `label_errors` makes it; all arrays have one element for each entry.

    Attributes
    ----------
    rows, labels : int ndarray
        Row and column of the entry.
    given, suggested : int ndarray
        The label it has, 0 or 1, and the other one.
    scores : ndarray
        How suspicious it is, between 0 and 1, falling.
    because : int ndarray
        The label of the row that is the strongest evidence against the given value, by the label
        graph; -1 if there is none, or without a graph.
    label_names : ndarray of str
        Names of the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp import label_errors
    >>> Y = np.tile([[1, 0], [0, 1], [1, 1]], (20, 1))
    >>> P = np.where(Y, 0.9, 0.1)
    >>> P[7] = [0.9, 0.9]    # the classifier says otherwise
    >>> found = label_errors(Y, P)
    >>> len(found), found.rows.tolist(), found.labels.tolist(), found.suggested.tolist()
    (1, [7], [0], [1])
    """

    rows: np.ndarray
    labels: np.ndarray
    given: np.ndarray
    suggested: np.ndarray
    scores: np.ndarray
    because: np.ndarray
    label_names: np.ndarray

    def __len__(self):
        return len(self.rows)

    def to_frame(self):
        """Return the entries as a table.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``row``, ``label`` (its name), ``given``, ``suggested``, ``score`` and
            ``because`` (a name, or missing).
        """
        pd = import_optional("pandas", "data")
        names = np.append(self.label_names.astype(object), None)
        return pd.DataFrame(
            {
                "row": self.rows,
                "label": self.label_names[self.labels],
                "given": self.given,
                "suggested": self.suggested,
                "score": self.scores,
                "because": names[self.because],
            }
        )

    def _repr_html_(self):
        names = [*self.label_names.tolist(), ""]
        columns = self.rows, self.labels, self.given, self.suggested, self.scores, self.because
        rows = [
            [str(row), names[label], str(given), str(other), f"{score:.3f}", names[because]]
            for row, label, given, other, score, because in zip(*columns, strict=True)
        ]
        header = ["row", "label", "given", "suggested", "score", "because"]
        return html_table(header, rows[:_SHOWN_ROWS])


def label_errors(Y, P, graph=None, *, min_score=0.5, n_most=None):
    """Rank the entries of a label matrix by how wrong they look.

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        0/1 label matrix; NaN is unknown, and not judged.
    P : array-like of shape (n_samples, n_labels)
        Probabilities of the rows by a classifier that was not fitted on them, such as
        ``MrMPClassifier(cv=5).fit(X, Y).oof_proba_`` or the outcome of scikit-learn's
        ``cross_val_predict``. Rows of NaN are not judged. If both are data frames, labels are
        matched by name.
    graph : LabelGraph, default=None
        Which labels are related: a graph learned by `label_graph`, or a given one, such as a
        hierarchy. The other labels of a row are then used as well. They reveal, for example, a
        child without its parent, two labels that hardly ever occur together, or a label without
        another one that it always occurs with. None uses `P` alone.
    min_score : float, default=0.5
        Entries of at least this score are returned.
    n_most : int, default=None
        Largest number of entries to return; None is all.

    Returns
    -------
    errors : LabelErrors
        The entries by falling score, then by row and column.

    See Also
    --------
    label_graph : Learn which labels are related.
    LabelCalibrator : Calibrate the probabilities.

    Notes
    -----
    The probability of an entry, p, comes from a logistic regression of all labels on the log odds
    of `P` and on what the related labels of the row add to them. What linked labels add is learned
    on the other four fifths of the rows, so that no row is used for itself. The score of a missing
    label is p, which is above 1/2 if the label is more probable than not. The score of a given
    label is ``expit(logit(r) - logit(p))``, where r is its mean probability over all rows. It is
    above 1/2 if the label is less probable than in other rows. Both are the odds of an error, up to
    a common factor, if labels are forgotten, and given by mistake, in proportion to how often they
    are used.

    A high score is no proof. A person should check the entries, beginning with the first.

    References
    ----------
    Northcutt, Jiang, Chuang: Confident learning: estimating uncertainty in dataset labels. Journal
    of Artificial Intelligence Research 70, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp import label_errors, label_graph
    >>> Y = np.tile([[1, 1, 0], [0, 0, 1]], (50, 1))
    >>> P = np.where(Y, 0.8, 0.2)    # by a classifier that cannot tell more
    >>> Y[3] = [1, 0, 1]    # a stone that is an animal, but no cat
    >>> names = np.array(["animal", "cat", "stone"])
    >>> errors = label_errors(Y, P, label_graph(Y, label_names=names), n_most=1)
    >>> errors.rows, names[errors.labels], names[errors.because]
    (array([3]), array(['animal'], dtype='<U6'), array(['cat'], dtype='<U6'))
    """
    names = column_names(Y)
    Y, P, known = checked_entries(Y, P)
    names, graph = _checked_graph(graph, names, Y.shape[1])
    _check_limits(min_score, n_most)
    evidence = None if graph is None else label_evidence(graph, Y, known)
    scores = _suspicion(Y, informed_probabilities(Y, P, known, evidence), known)
    order = np.flatnonzero(known.ravel() & (scores.ravel() >= min_score))
    order = order[np.argsort(-scores.ravel()[order], kind="stable")][:n_most]
    rows, labels = np.unravel_index(order, Y.shape)
    because = np.full(len(rows), -1)
    if graph is not None:
        because = _witnesses(graph, Y, known, rows, labels)
    given = Y[rows, labels].astype(np.int64)
    return LabelErrors(rows, labels, given, 1 - given, scores.ravel()[order], because, names)


def _checked_graph(graph, names, n_labels):
    """Return the names of the labels, and a graph of labels in the order of the columns."""
    plain = np.array([str(number) for number in range(n_labels)])
    if graph is None:
        return plain if names is None else np.array(names), None
    if not isinstance(graph, LabelGraph):
        raise TypeError(
            f"graph must be a LabelGraph or None, got {type(graph).__name__}. label_graph(Y) "
            "learns one."
        )
    if graph.n_labels != n_labels:
        raise ValueError(f"graph has {graph.n_labels} labels, but Y has {n_labels} columns.")
    found = graph.label_names.tolist()
    if names is None or found == names:
        return graph.label_names, graph
    if one_is_anonymous(found, names):
        return np.array(names), graph
    check_same_names(found, names, "graph")
    return np.array(names), graph.subgraph(names)


def _suspicion(Y, P, known):
    """How wrong each entry looks, between 0 and 1."""
    Z = logit(np.clip(P, _MARGIN, 1 - _MARGIN))
    # By the same probabilities and not by the label's frequency, which may differ from their mean.
    mean = np.where(known, expit(Z), 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    usual = logit(np.clip(mean, _MARGIN, 1 - _MARGIN))
    return expit(np.where(Y, usual - Z, Z))


def _witnesses(graph, Y, known, rows, labels):
    """Find the label of each row that speaks most against an entry, or -1."""
    found = np.full(len(rows), -1)
    for fold, (with_k, without_k) in fold_lifts(graph, Y, known):
        entries = np.flatnonzero(np.isin(rows, fold))
        with_k, without_k = with_k.tocsc(), without_k.tocsc()
        for label in np.unique(labels[entries]):
            of_label = entries[labels[entries] == label]
            at = rows[of_label]
            lifts = np.where(Y[at], with_k[:, [label]].T.toarray(), 0.0)
            lifts += np.where(~Y[at] & known[at], without_k[:, [label]].T.toarray(), 0.0)
            against = np.where(Y[at, label], -1.0, 1.0)[:, None] * lifts
            best = against.argmax(axis=1)
            speaks = against[np.arange(len(at)), best] > 0
            found[of_label[speaks]] = best[speaks]
    return found


def _check_limits(min_score, n_most):
    if not isinstance(min_score, Real) or not 0 <= min_score <= 1:
        raise ValueError(f"min_score must be a number from 0 to 1, got {min_score!r}.")
    is_count = isinstance(n_most, Integral) and not isinstance(n_most, bool)
    if n_most is not None and not (is_count and n_most >= 0):
        raise ValueError(f"n_most must be a whole number of at least 0 or None, got {n_most!r}.")
