"""Measures of each label: counts, average precision, calibration. Functions on arrays.

What cannot be said of a label, such as the recall of one that no row carries, is NaN, without a
warning. Knows numpy, scipy and scikit-learn's average precision.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import average_precision_score

N_BINS = 10


def ratio(numerator, denominator):
    """Quotient of counts; NaN where there is nothing to divide by.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp._reports.measures import ratio
    >>> ratio(np.array([1, 0]), np.array([2, 0]))
    array([0.5, nan])
    """
    result = np.full(np.shape(denominator), np.nan)
    return np.divide(numerator, denominator, out=result, where=np.asarray(denominator) > 0)


def count_measures(hits, predicted, positives):
    """Precision, recall and F1 from counts of each label.

    Parameters
    ----------
    hits, predicted, positives : ndarray
        True positives, predicted entries, true entries.

    Returns
    -------
    measures : dict of str to ndarray
        ``precision``, ``recall`` and ``f1``; NaN where nothing was predicted, nothing is true, or
        neither.
    """
    return {
        "precision": ratio(hits, predicted),
        "recall": ratio(hits, positives),
        "f1": ratio(2 * np.asarray(hits), np.asarray(predicted) + np.asarray(positives)),
    }


def label_counts(Y, predicted, sample_weight=None):
    """Count true positives, predicted entries and true entries of each label.

    Parameters
    ----------
    Y, predicted : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        0/1 labels.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    hits, predicted, positives : ndarray of shape (n_labels,)
    """
    Y, predicted = (sp.csr_array(M).astype(np.int64) for M in (Y, predicted))
    weights = np.ones(Y.shape[0], dtype=np.int64) if sample_weight is None else sample_weight
    return tuple(M.T @ weights for M in (Y.multiply(predicted).tocsr(), predicted, Y))


def average_precisions(Y, scores, known=None, sample_weight=None):
    """Average precision of each label, as scikit-learn computes it; NaN without true entries.

    Parameters
    ----------
    Y : sparse matrix of shape (n_samples, n_labels)
        0/1 labels, 0 where unknown.
    scores : ndarray of shape (n_samples, n_labels)
        Scores.
    known : bool ndarray of shape (n_samples, n_labels), default=None
        Which entries count; None is all.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    values : ndarray of shape (n_labels,)
    """
    values = np.full(Y.shape[1], np.nan)
    for label, truth, score, rows in _columns(Y, scores, known):
        if truth.any():
            weights = None if sample_weight is None else sample_weight[rows]
            values[label] = average_precision_score(truth, score, sample_weight=weights)
    return values


def calibration_measures(Y, P, known=None):
    """How well probabilities fit the labels.

    Parameters
    ----------
    Y, P, known
        As of `average_precisions`; `P` are probabilities.

    Returns
    -------
    brier : ndarray of shape (n_labels,)
        Mean squared difference of probability and label.
    error : ndarray of shape (n_labels,)
        Expected calibration error: the difference between the mean probability and the share of
        true entries in each of ten bins of equal width, weighted by the size of the bin.
    bins : ndarray of shape (10, 3)
        Of all labels together: number of entries, sum of probabilities, true entries of each bin.
    """
    brier, error = np.full((2, Y.shape[1]), np.nan)
    bins = np.zeros((N_BINS, 3))
    for label, truth, p, _ in _columns(Y, P, known):
        if len(p):
            place = np.minimum((p * N_BINS).astype(int), N_BINS - 1)
            columns = [np.bincount(place, w, minlength=N_BINS) for w in (None, p, truth)]
            brier[label] = np.mean((p - truth) ** 2)
            error[label] = np.abs(columns[1] - columns[2]).sum() / len(p)
            bins += np.stack(columns, axis=1)
    return brier, error, bins


def _columns(Y, scores, known):
    """Yield number, true labels, scores and row numbers of each label, of its known entries."""
    by_label = sp.csc_array(Y)
    everyone = np.arange(Y.shape[0])
    for label in range(Y.shape[1]):
        truth = np.zeros(Y.shape[0])
        truth[by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]] = 1
        rows = everyone if known is None else np.flatnonzero(known[:, label])
        yield label, truth[rows], np.asarray(scores[rows, label], dtype=float), rows
