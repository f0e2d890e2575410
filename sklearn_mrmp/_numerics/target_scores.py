"""Scores of predictions in the caller's form, by scikit-learn's functions.

Says once what unknown labels, labels by name and a matrix of one label mean for a score. Knows
targets and scikit-learn's metrics, and nothing of any model.
"""

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics import accuracy_score, f1_score

from sklearn_mrmp._numerics.unknown import split_unknown, without_unknown


def target_score(encoding, y, predicted, metric, sample_weight):
    """Value of a metric for predictions in the caller's form; classes have accuracy alone.

    Entries of a label matrix that are unknown count neither as right nor as wrong.
    """
    y = encoding.matched(y)
    if not encoding.is_matrix:
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))
    y, known = split_unknown(y)
    Y, predicted = encoding.encode(y), encoding.encode(predicted)
    if known is not None:
        predicted = without_unknown(predicted, known)
    return label_score(Y, predicted, metric, sample_weight)


def label_score(Y_true, Y_pred, metric, sample_weight=None):
    """Value of a metric of label matrices, by scikit-learn's functions; undefined F1 count as 0.

    Parameters
    ----------
    Y_true, Y_pred : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        0/1 labels.
    metric : {"accuracy", "f1_samples", "f1_micro", "f1_macro"}
        Its name.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    value : float
    """
    if Y_true.shape[1] == 1:
        # To scikit-learn a column is a vector of two classes, whose F1 is that of both.
        Y_true, Y_pred = (Y.toarray() if issparse(Y) else Y for Y in (Y_true, Y_pred))
        if metric == "f1_samples":
            return float(np.average((Y_true & Y_pred)[:, 0], weights=sample_weight))
        metric = metric if metric == "accuracy" else "f1_binary"
    if metric == "accuracy":
        return float(accuracy_score(Y_true, Y_pred, sample_weight=sample_weight))
    average = metric.removeprefix("f1_")
    weights = {"sample_weight": sample_weight, "zero_division": 0}
    return float(f1_score(Y_true, Y_pred, average=average, **weights))
