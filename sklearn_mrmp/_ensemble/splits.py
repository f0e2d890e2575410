"""Which rows are held out: one part of them, or each of several folds in turn.

Always at random: label sets are too many to stratify. numpy and scikit-learn's folds.
"""

import numpy as np
from sklearn.model_selection import KFold


def split_rows(n_samples, fraction, random_state):
    """Row numbers to train on and row numbers held out, both rising; at least one of each.

    Examples
    --------
    >>> import numpy as np
    >>> rest, held_out = split_rows(10, 0.2, np.random.RandomState(0))
    >>> len(rest), len(held_out)
    (8, 2)
    """
    if n_samples < 2:
        raise ValueError(
            "MrMPClassifier holds out rows to stop and to tune thresholds, so it needs at least 2 "
            f"rows; got n_samples={n_samples}."
        )
    n_held_out = min(max(1, round(fraction * n_samples)), n_samples - 1)
    order = random_state.permutation(n_samples)
    return np.sort(order[n_held_out:]), np.sort(order[:n_held_out])


def fold_rows(n_samples, n_folds, random_state):
    """Row numbers to train on and row numbers held out, both rising, for each fold."""
    if n_samples < n_folds:
        raise ValueError(f"cv={n_folds} folds need as many rows; got n_samples={n_samples}.")
    folds = KFold(n_folds, shuffle=True, random_state=random_state)
    return list(folds.split(np.zeros(n_samples)))


def check_held_out(X_val, y_val, cv, refit):
    """Refuse held-out rows without labels, and whatever has no place beside folds."""
    if (X_val is None) != (y_val is None):
        raise ValueError("X_val and y_val must be given together.")
    if cv is None:
        return
    for name, is_set in (("X_val", X_val is not None), ("refit=True", refit)):
        if is_set:
            raise ValueError(
                f"{name} has no place beside cv={cv}: every row is held out once and trained on "
                "otherwise. Leave one of them out."
            )
