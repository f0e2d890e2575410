"""Propensities of labels, and precision@k that does not favour frequent labels.

Jain, Prabhu, Varma: "Extreme multi-label loss functions for recommendation, tagging, ranking and
other missing label applications", KDD 2016. Knows numpy and the top of a ranking.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from sklearn_mrmp._numerics.labels import check_label_matrix
from sklearn_mrmp.metrics._top import checked_ranking, checked_row_weights, top_labels


def label_propensities(Y, *, a=0.55, b=1.5):
    """Estimate the probability that a label is written down if it applies to a row.

    Rare labels are forgotten more often than frequent ones. The model is the sigmoid of the
    logarithm of the frequency that Jain et al. (2016) fitted to Wikipedia and Amazon.

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        0/1 label matrix of the training rows.
    a, b : float, default=0.55, 1.5
        Parameters of the model. The paper has ``a=0.5, b=0.4`` for Wikipedia, ``a=0.6, b=2.6`` for
        Amazon, and the defaults, which are in between, for other data.

    Returns
    -------
    propensities : ndarray of shape (n_labels,)
        Above 0, at most 1, higher for more frequent labels.

    See Also
    --------
    propensity_scored_precision_at_k : The measure that uses them.

    Notes
    -----
    With n rows, of which n_l have label l, the propensity is ``1 / (1 + c * (n_l + b) ** -a)``
    with ``c = (log(n) - 1) * (b + 1) ** a``, which must not be negative: with one or two rows all
    propensities are 1.

    Examples
    --------
    >>> from sklearn_mrmp.metrics import label_propensities
    >>> Y = [[1, 1], [1, 0], [1, 0], [1, 0], [1, 0], [1, 0], [1, 0], [1, 0]]
    >>> label_propensities(Y).round(2)
    array([0.66, 0.48])
    """
    if not (a >= 0 and b >= 0):
        raise ValueError(f"a and b must be numbers of at least 0, got a={a!r} and b={b!r}.")
    Y = sp.csr_array(check_label_matrix(Y))
    n_samples = Y.shape[0]
    if n_samples == 0:
        raise ValueError("Y has no rows to count labels in.")
    counts = np.asarray(Y.sum(axis=0), dtype=float).ravel()
    c = max(np.log(n_samples) - 1, 0.0) * (b + 1) ** a
    # With b = 0 a label without a row has a propensity of 0, which nothing can be divided by.
    return 1 / (1 + c * np.maximum(counts + b, np.finfo(float).tiny) ** -a)


def propensity_scored_precision_at_k(
    y_true, y_score, *, propensities, k=5, normalize=True, sample_weight=None
):
    """precision@k in which rare labels, which are often missing in the data, count more.

    Parameters
    ----------
    y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
        0/1 label matrix.
    y_score : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Probabilities or other scores, as for `precision_at_k`.
    propensities : array-like of shape (n_labels,)
        Propensities of the labels, above 0 and at most 1, learned from the labels of training rows
        by `label_propensities`.
    k : int, default=5
        How many labels of each row are looked at, from 1 to the number of labels.
    normalize : bool, default=True
        Whether to divide the sum over rows by the largest one that any ranking could reach, which
        is what publications report. Without it the mean over rows may exceed 1.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    score : float
        Between 0 and 1 if normalised; 0 if no row has a label.

    See Also
    --------
    label_propensities : Learn the propensities.

    Notes
    -----
    With propensities of 1 and ``normalize=False`` this is `precision_at_k`, which also says how
    ties and rows without labels are treated.

    Examples
    --------
    >>> from sklearn_mrmp.metrics import propensity_scored_precision_at_k
    >>> Y, S = [[1, 0], [0, 1]], [[0.9, 0.1], [0.8, 0.2]]
    >>> propensity_scored_precision_at_k(Y, S, propensities=[1.0, 0.5], k=1)
    0.33...
    """
    Y, S = checked_ranking(y_true, y_score, k)
    worth = 1 / _checked_propensities(propensities, Y.shape[1])
    gained = np.empty(Y.shape[0])
    for rows, columns, hits in top_labels(Y, S, k):
        gained[rows] = (worth[columns] * hits).sum(axis=1)
    weights = np.ones(len(gained))
    if sample_weight is not None:
        weights = checked_row_weights(sample_weight, gained)
    if not normalize:
        return float(weights @ gained / weights.sum() / k)
    best = weights @ _largest_sums(Y, worth, k)
    return float(weights @ gained / best) if best > 0 else 0.0


def _checked_propensities(propensities, n_labels):
    values = check_array(propensities, ensure_2d=False, dtype=float, input_name="propensities")
    if values.shape != (n_labels,) or not ((values > 0) & (values <= 1)).all():
        raise ValueError(
            f"propensities must be {n_labels} numbers above 0 and at most 1, one for each label; "
            f"got shape {values.shape} with values from {values.min():.3g} to {values.max():.3g}."
        )
    return values


def _largest_sums(Y, worth, k):
    """Sum of the `k` largest values of the true labels of each row."""
    row_of = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    order = np.lexsort((-worth[Y.indices], row_of))
    place = np.arange(Y.nnz) - Y.indptr[row_of]
    first = place < k
    values = worth[Y.indices][order][first]
    return np.bincount(row_of[first], weights=values, minlength=Y.shape[0])
