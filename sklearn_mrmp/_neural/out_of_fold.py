"""Out-of-fold probabilities of the training rows, which a cross-fitted classifier keeps.

Knows numpy and the target encoding of a fitted classifier.
"""

import numpy as np
from sklearn.utils.validation import check_is_fitted


class OutOfFoldMixin:
    """Keeps what the voters of each fold said about the rows that it held out."""

    def _store_out_of_fold(self, P, keep, n_samples):
        """Keep probabilities, None without folds, of the rows `keep` of ``fit``; None is all."""
        if P is not None:
            self._oof = P if keep is None else in_row_order(P, keep, n_samples)

    @property
    def oof_proba_(self):
        """Probabilities of the training rows by voters of folds that did not see them.

        One row for each row of ``fit``, in the shape of ``predict_proba``; NaN for rows that no
        fold held out.
        """
        check_is_fitted(self)
        if "_oof" not in vars(self):
            raise AttributeError(
                f"This {type(self).__name__} has no oof_proba_: it needs folds, as with cv=5, "
                "instead of a share of the rows that is held out once. Model files leave it out."
            )
        return self._target_encoding.shape_probabilities(self._oof)


def in_row_order(P, numbers, n_samples):
    """Return probabilities of held-out rows in the order of all rows.

    Parameters
    ----------
    P : ndarray of shape (n_held_out, n_labels)
        Their probabilities.
    numbers : ndarray of int of shape (n_held_out,)
        Which rows these are.
    n_samples : int
        Number of all rows.

    Returns
    -------
    P : ndarray of shape (n_samples, n_labels)
        The mean for rows that were held out several times, NaN for others that never were.

    Examples
    --------
    >>> in_row_order(np.array([[0.25], [0.5], [0.75]]), np.array([2, 0, 2]), 3).ravel()
    array([0.5, nan, 0.5])
    """
    counts = np.bincount(numbers, minlength=n_samples)
    if counts.max(initial=0) <= 1:
        ordered = np.full((n_samples, P.shape[1]), np.nan, dtype=P.dtype)
        ordered[numbers] = P
        return ordered
    total = np.zeros((n_samples, P.shape[1]), dtype=np.float64)
    np.add.at(total, numbers, P)
    total[counts == 0] = np.nan
    return (total / np.maximum(counts, 1)[:, None]).astype(P.dtype)
