"""Labels and probabilities of the same rows, of which some entries may be unknown.

Unknown are NaN in the labels, and rows of NaN in the probabilities, as out-of-fold probabilities
have them for rows that no fold held out. Knows numpy and label matrices.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from sklearn_mrmp._numerics.label_frames import in_order_of
from sklearn_mrmp._numerics.labels import check_label_matrix
from sklearn_mrmp._numerics.unknown import split_unknown


def checked_probabilities(P, name="P"):
    """Return probabilities as a float array (n_samples, n_labels); NaN stays, others are refused.

    Examples
    --------
    >>> checked_probabilities([[0.5, 2.0]])
    Traceback (most recent call last):
        ...
    ValueError: P must hold probabilities from 0 to 1, but it holds 2.0. Pass predict_proba's ...
    """
    options = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"}
    P = check_array(P, **options, input_name=name)
    strange = P[~np.isnan(P) & ((P < 0) | (P > 1))]
    if strange.size:
        raise ValueError(
            f"{name} must hold probabilities from 0 to 1, but it holds {strange[0]}. Pass "
            "predict_proba's output, not margins."
        )
    return P


def checked_entries(Y, P, names=("Y", "P")):
    """Check labels and probabilities that belong together.

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        0/1 label matrix; NaN is unknown.
    P : array-like of shape (n_samples, n_labels)
        Probabilities; NaN is unknown. If both are data frames, labels are matched by name.
    names : (str, str), default=("Y", "P")
        What the caller calls them.

    Returns
    -------
    Y : bool ndarray of shape (n_samples, n_labels)
        False where it is unknown.
    P : float ndarray of shape (n_samples, n_labels)
    known : bool ndarray of shape (n_samples, n_labels)
        Where both are known.
    """
    P = checked_probabilities(in_order_of(Y, P, names[1]), names[1])
    Y, known = split_unknown(Y)
    Y = check_label_matrix(Y, names[0])
    Y = (Y.toarray() if sp.issparse(Y) else Y).astype(bool)
    if Y.shape != P.shape:
        raise ValueError(
            f"{names[0]} and {names[1]} must have the same shape, got {Y.shape} and {P.shape}."
        )
    known = ~np.isnan(P) if known is None else known & ~np.isnan(P)
    if not known.any():
        raise ValueError(f"No entry of {names[0]} has both a label and a probability.")
    return Y, P, known
