"""Which rows are held out: one part of them, given rows, or each of several folds in turn.

Always at random where we choose: label sets are too many to stratify. numpy and scikit-learn.
"""

from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import KFold, check_cv


def is_share(cv):
    """Whether `cv` is the share of rows to hold out once."""
    return isinstance(cv, Real) and not isinstance(cv, Integral)


def split_rows(X, Y, cv, random_state, is_vector=False):
    """Row numbers to train on and row numbers held out, for each split.

    Parameters
    ----------
    X, Y : {ndarray, csr_array}
        Rows and their labels; only splitters look at them.
    cv : float, int or cross-validation splitter
        A share of the rows, held out once; a number of folds; or what scikit-learn's `check_cv`
        takes.
    random_state : RandomState instance
        Source of the draw.
    is_vector : bool, default=False
        Whether the caller's target is a vector of classes, which splitters then see.

    Returns
    -------
    splits : list of (ndarray, ndarray) of int

    Examples
    --------
    >>> X = np.zeros((10, 1))
    >>> [(train, held_out)] = split_rows(X, X, 0.2, np.random.RandomState(0))
    >>> len(train), len(held_out)
    (8, 2)
    """
    n_samples = X.shape[0]
    if is_share(cv):
        return [_one_part(n_samples, cv, random_state)]
    if isinstance(cv, Integral):
        if n_samples < cv:
            raise ValueError(f"cv={cv} folds need as many rows; got n_samples={n_samples}.")
        cv = KFold(cv, shuffle=True, random_state=random_state)
    target = None if isinstance(cv, KFold) else _for_splitters(Y, is_vector)
    parts = check_cv(cv).split(X, target)
    splits = [(np.asarray(train), np.asarray(held_out)) for train, held_out in parts]
    if not splits or any(not len(part) for split in splits for part in split):
        raise ValueError(
            f"cv={cv!r} must give at least one split with rows to train on and rows held out."
        )
    return splits


def _for_splitters(Y, is_vector):
    """Labels as an array, or the classes of a vector target."""
    Y = Y.toarray() if sp.issparse(Y) else np.asarray(Y)
    if not is_vector:
        return Y
    return Y[:, 0] if Y.shape[1] == 1 else Y.argmax(axis=1)


def _one_part(n_samples, share, random_state):
    """Both parts, rising; at least one row in each."""
    if n_samples < 2:
        raise ValueError(
            "Rows are held out to weigh the voters and to tune decisions, so at least 2 are "
            f"needed; got n_samples={n_samples}."
        )
    n_held_out = min(max(1, round(share * n_samples)), n_samples - 1)
    order = random_state.permutation(n_samples)
    return np.sort(order[n_held_out:]), np.sort(order[:n_held_out])


def check_held_out(X_val, y_val, cv, refit):
    """Refuse held-out rows without labels, and whatever has no place beside folds."""
    if (X_val is None) != (y_val is None):
        raise ValueError("X_val and y_val must be given together.")
    if is_share(cv):
        return
    for name, is_set in (("X_val", X_val is not None), ("refit=True", refit)):
        if is_set:
            raise ValueError(
                f"{name} has no place beside cv={cv}: with folds, rows that one of them holds out "
                "train the others. Leave one of them out."
            )
