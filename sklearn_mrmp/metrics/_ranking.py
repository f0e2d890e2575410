"""precision@k, recall@k, nDCG@k, and how many of the labels are ever found among the first k.

Knows numpy and the top of a ranking.
"""

import numpy as np

from sklearn_mrmp.metrics._top import (
    checked_ranking,
    checked_row_weights,
    row_average,
    top_labels,
)


def precision_at_k(y_true, y_score, *, k=5, sample_weight=None):
    """Share of the k labels with the highest scores that are true, averaged over rows.

    Parameters
    ----------
    y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
        0/1 label matrix.
    y_score : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Probabilities or any scores that are higher for more probable labels; entries that a sparse
        matrix does not store are 0. Labels of data frames are matched by name.
    k : int, default=5
        How many labels of each row are looked at, from 1 to the number of labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    score : float
        Between 0 and 1.

    See Also
    --------
    recall_at_k : Share of the true labels that are among the first k.
    ndcg_at_k : The same with more weight on the first places.

    Notes
    -----
    Of labels with equal scores the first column comes first. A row with fewer than `k` labels
    cannot reach 1, and a row without labels counts as 0, as in the other measures at k; leave such
    rows out with ``sample_weight=Y.sum(axis=1) > 0``. The measure equals scikit-learn's
    ``precision_score(..., average="samples")`` of predictions that are the first `k` labels.

    Examples
    --------
    >>> from sklearn_mrmp.metrics import precision_at_k
    >>> precision_at_k([[1, 0, 1], [0, 1, 0]], [[0.9, 0.5, 0.2], [0.1, 0.8, 0.3]], k=2)
    0.5
    """
    return row_average(_hit_counts(y_true, y_score, k)[0] / k, sample_weight)


def recall_at_k(y_true, y_score, *, k=5, sample_weight=None):
    """Share of the true labels that are among the k with the highest scores, averaged over rows.

    Parameters
    ----------
    y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
        0/1 label matrix.
    y_score : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Probabilities or other scores, as for `precision_at_k`.
    k : int, default=5
        How many labels of each row are looked at, from 1 to the number of labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    score : float
        Between 0 and 1.

    See Also
    --------
    precision_at_k : Share of the first k labels that are true.

    Notes
    -----
    Ties and rows without labels are treated as in `precision_at_k`: such rows count as 0, as in
    scikit-learn's ``recall_score(..., average="samples", zero_division=0)``.

    Examples
    --------
    >>> from sklearn_mrmp.metrics import recall_at_k
    >>> recall_at_k([[1, 0, 1], [0, 1, 0]], [[0.9, 0.5, 0.2], [0.1, 0.8, 0.3]], k=2)
    0.75
    """
    found, n_true = _hit_counts(y_true, y_score, k)
    return row_average(found / np.maximum(n_true, 1), sample_weight)


def ndcg_at_k(y_true, y_score, *, k=5, sample_weight=None):
    """Normalised discounted cumulative gain of the k labels with the highest scores.

    Parameters
    ----------
    y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
        0/1 label matrix.
    y_score : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Probabilities or other scores, as for `precision_at_k`.
    k : int, default=5
        How many labels of each row are looked at, from 1 to the number of labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    score : float
        Between 0 and 1; 1 if the true labels, or the first `k` of them, are on top of every row.

    See Also
    --------
    sklearn.metrics.ndcg_score : The same for graded relevance, with the mean over orders of ties.

    Notes
    -----
    The gain of a true label at place r, counted from 1, is ``1 / log2(r + 1)``, divided by the
    largest sum that the row allows. Without ties the measure equals scikit-learn's ``ndcg_score``,
    which takes dense matrices alone. Ties and rows without labels are treated as in
    `precision_at_k`.

    Examples
    --------
    >>> from sklearn_mrmp.metrics import ndcg_at_k
    >>> ndcg_at_k([[0, 1, 0]], [[0.9, 0.5, 0.2]], k=2)
    0.63...
    """
    Y, S = checked_ranking(y_true, y_score, k)
    discounts = 1 / np.log2(np.arange(2, k + 2))
    gains = np.empty(Y.shape[0])
    for rows, _, hits in top_labels(Y, S, k):
        gains[rows] = hits @ discounts
    best = np.append(0.0, np.cumsum(discounts))[np.minimum(np.diff(Y.indptr), k)]
    return row_average(gains / np.where(best > 0, best, 1.0), sample_weight)


def label_coverage_at_k(y_true, y_score, *, k=5, sample_weight=None):
    """Share of the labels that are found at least once among the first k of a row that has them.

    High precision is possible with a few frequent labels alone. This measure says whether the other
    labels are predicted for at least one row that has them.

    Parameters
    ----------
    y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
        0/1 label matrix.
    y_score : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Probabilities or other scores, as for `precision_at_k`.
    k : int, default=5
        How many labels of each row are looked at, from 1 to the number of labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows: those of weight 0 are left out, other weights make no difference.

    Returns
    -------
    score : float
        Between 0 and 1, of the labels that at least one row has; 0 if no row has any.

    See Also
    --------
    sklearn.metrics.coverage_error : How far one has to go down to find all labels of a row.

    Examples
    --------
    >>> from sklearn_mrmp.metrics import label_coverage_at_k
    >>> label_coverage_at_k([[1, 0, 1], [0, 1, 0]], [[0.9, 0.5, 0.2], [0.1, 0.8, 0.3]], k=1)
    0.66...
    """
    Y, S = checked_ranking(y_true, y_score, k)
    if sample_weight is not None:
        kept = np.flatnonzero(checked_row_weights(sample_weight, Y))
        Y, S = Y[kept], S[kept]
    is_found = np.zeros(Y.shape[1], dtype=bool)
    for _, columns, hits in top_labels(Y, S, k):
        is_found[columns[hits]] = True
    exists = np.bincount(Y.indices, minlength=Y.shape[1]) > 0
    return float(is_found.sum() / max(exists.sum(), 1))


def _hit_counts(y_true, y_score, k):
    """Return how many of the first `k` labels of each row are true, and how many labels are."""
    Y, S = checked_ranking(y_true, y_score, k)
    found = np.empty(Y.shape[0])
    for rows, _, hits in top_labels(Y, S, k):
        found[rows] = hits.sum(axis=1)
    return found, np.diff(Y.indptr)
