"""The k labels with the highest scores of each row, a block of rows at a time.

What all measures at k read: which labels are on top, and which of these are true. Knows numpy,
scipy and label matrices.
"""

from numbers import Integral

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array, check_consistent_length

from sklearn_mrmp._numerics.label_frames import in_order_of
from sklearn_mrmp._numerics.labels import check_label_matrix
from sklearn_mrmp._numerics.rows import row_blocks
from sklearn_mrmp._numerics.topk import smallest_columns
from sklearn_mrmp._sklearn_compat import _check_sample_weight


def checked_ranking(y_true, y_score, k):
    """Check labels, scores and `k`.

    Returns
    -------
    Y : csr_array of shape (n_samples, n_labels), bool
    S : {ndarray, csr_array} of shape (n_samples, n_labels)
        Scores as float32 or float64.
    """
    y_score = in_order_of(y_true, y_score, "y_score")
    floats = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
    S = check_array(y_score, **floats, input_name="y_score")
    Y = sp.csr_array(check_label_matrix(y_true, "y_true")).astype(bool)
    Y.eliminate_zeros()
    check_consistent_length(Y, S)
    if Y.shape != S.shape:
        raise ValueError(
            f"y_true and y_score must have the same shape, got {Y.shape} and {S.shape}."
        )
    is_count = isinstance(k, Integral) and not isinstance(k, bool)
    if not is_count or not 1 <= k <= Y.shape[1]:
        raise ValueError(
            f"k must be a whole number from 1 to the number of labels, {Y.shape[1]}; got {k!r}."
        )
    return Y, S


def top_labels(Y, S, k):
    """Yield, for blocks of rows, the `k` labels with the highest scores and which are true.

    Parameters
    ----------
    Y, S, k
        As `checked_ranking` returns and accepts them.

    Yields
    ------
    rows : slice
        Which rows these are.
    columns : int ndarray of shape (n_rows, k)
        Labels by falling score; of equal scores the first column comes first.
    hits : bool ndarray of shape (n_rows, k)
        Whether these labels are true.
    """
    for rows in row_blocks(*S.shape):
        block = S[rows].toarray() if sp.issparse(S) else S[rows]
        columns = smallest_columns(-block, k)
        yield rows, columns, np.take_along_axis(Y[rows].toarray(), columns, axis=1)


def row_average(values, sample_weight):
    """Return the weighted mean of a value for each row, a float."""
    if sample_weight is not None:
        sample_weight = checked_row_weights(sample_weight, values)
    return float(np.average(values, weights=sample_weight))


def checked_row_weights(sample_weight, rows):
    """Check weights of rows; at least one must be positive."""
    weights = _check_sample_weight(sample_weight, rows, ensure_non_negative=True)
    if not weights.any():  # scikit-learn checks it since 1.8
        raise ValueError("sample_weight must not be 0 for all rows.")
    return weights
