"""Prediction sets with a guaranteed coverage for each label: split conformal prediction.

Vovk, Gammerman, Shafer: "Algorithmic learning in a random world", 2005; the label-conditional
("Mondrian") kind, so that the guarantee holds for rows with a label and for rows without it. Knows
numpy and probabilities of labels.
"""

from fractions import Fraction
from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sklearn_mrmp._model_files.part import Part, is_vector, require
from sklearn_mrmp._sklearn_compat import DocLinkMixin, Interval, _fit_context
from sklearn_mrmp._trust.entries import checked_entries, checked_probabilities


class LabelConformal(DocLinkMixin, BaseEstimator):
    """Prediction sets for each label (yes, no, or cannot tell) with a guaranteed coverage.

    On calibration rows, bounds are found: how low the probability of a label can be if a row has
    the label, and how high if it does not. A new row gets a set of answers for each label. Among
    the rows that have a label, the set contains 1 for a share of at least ``1 - alpha``. Among the
    rows that do not have it, the set contains 0 for at least this share.

    Parameters
    ----------
    alpha : float, default=0.1
        Share of wrong sets that is allowed, above 0 and below 1.

    Attributes
    ----------
    lowest_present_ : ndarray of shape (n_labels,)
        1 is in the set of a label if its probability is at least this one.
    highest_absent_ : ndarray of shape (n_labels,)
        0 is in the set of a label if its probability is at most this one.
    n_calibration_ : int ndarray of shape (n_labels, 2)
        Calibration rows without and with each label.
    always_included_ : bool ndarray of shape (n_labels, 2)
        Whether 0, and whether 1, is in every set of a label, because there are fewer than ``1 /
        alpha - 1`` such calibration rows, which is too few for a guarantee.

    See Also
    --------
    LabelCalibrator : Calibrated probabilities.

    Notes
    -----
    The guarantee needs calibration rows and new rows that are exchangeable, as draws from the same
    distribution are, and probabilities of a classifier that was not fitted on the calibration rows.
    It holds for any classifier and any number of rows, on average over draws of the calibration
    rows. A better classifier gives smaller sets. The guarantee is about each label, not about all
    labels of a row at the same time. You can use out-of-fold probabilities (`oof_proba_`) of all
    rows. The guarantee is then approximate, because the final classifier was fitted on more rows.

    Unknown entries (NaN) of the calibration labels, and rows without probabilities, are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp import LabelConformal
    >>> P = np.linspace(0, 1, 101)[:, None]
    >>> Y = P > 0.4
    >>> sets = LabelConformal(alpha=0.1).fit(P, Y).predict([[0.1], [0.42], [0.9]])
    >>> sets[:, 0]    # whether 0, and whether 1, is possible
    array([[ True, False],
           [False, False],
           [False,  True]])
    """

    _parameter_constraints: ClassVar[dict] = {"alpha": [Interval(Real, 0, 1, closed="neither")]}

    def __init__(self, *, alpha=0.1):
        self.alpha = alpha

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, P, Y):
        """Find the bounds of the probabilities on calibration rows.

        Parameters
        ----------
        P : array-like of shape (n_samples, n_labels)
            Probabilities of rows that the classifier was not fitted on; rows of NaN are left out.
        Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Their 0/1 labels; NaN is unknown. Rows without labels are as good as others.

        Returns
        -------
        self : LabelConformal
        """
        Y, P, known = checked_entries(Y, P)
        self.n_calibration_ = np.stack([(~Y & known).sum(axis=0), (Y & known).sum(axis=0)], axis=1)
        highest = [_bound(-P[~y & k, j], self.alpha) for j, (y, k) in enumerate(_columns(Y, known))]
        lowest = [_bound(P[y & k, j], self.alpha) for j, (y, k) in enumerate(_columns(Y, known))]
        self.highest_absent_, self.lowest_present_ = -np.array(highest), np.array(lowest)
        is_free = np.isinf(np.stack([self.highest_absent_, self.lowest_present_], axis=1))
        self.always_included_ = is_free
        self.n_features_in_ = P.shape[1]
        return self

    def predict(self, P):
        """Return the set of answers for each label.

        Parameters
        ----------
        P : array-like of shape (n_samples, n_labels)
            Probabilities of new rows.

        Returns
        -------
        sets : bool ndarray of shape (n_samples, n_labels, 2)
            ``sets[i, j, 0]`` says whether label `j` of row `i` may be absent, ``sets[i, j, 1]``
            whether it may be present. Both are true if one cannot tell, and none if either would be
            unusual.
        """
        check_is_fitted(self)
        P = checked_probabilities(P)
        if P.shape[1] != self.n_features_in_:
            raise ValueError(
                f"P has {P.shape[1]} labels, but LabelConformal was fitted with "
                f"{self.n_features_in_}."
            )
        if np.isnan(P).any():
            raise ValueError("P contains NaN; pass rows that have probabilities.")
        return np.stack([P <= self.highest_absent_, P >= self.lowest_present_], axis=2)


def _columns(Y, known):
    return zip(Y.T, known.T, strict=True)


def _bound(values, alpha):
    """Return the bound that a new value is below with a probability of at most `alpha`.

    The new value is as probable to be the smallest of all n + 1 as any other, so that the k-th
    smallest of the n, with k = floor(alpha * (n + 1)), will do; for k = 0 there is no bound.
    """
    # alpha as it was written: 0.29 * 100 is less than 29 in floating point.
    k = int(Fraction(repr(float(alpha))) * (len(values) + 1))
    return -np.inf if k == 0 else float(np.partition(values, k - 1)[k - 1])


def _complete(conformal):
    """Check, in a model file, that there are bounds for each label."""
    n_labels = conformal.n_features_in_
    for bounds in (conformal.lowest_present_, conformal.highest_absent_):
        require(is_vector(bounds, n_labels, "f"), "bounds of labels")
    for counts in (conformal.n_calibration_, conformal.always_included_):
        require(counts.shape == (n_labels, 2), "calibration rows of labels")


LabelConformal._model_part = Part(
    {
        "lowest_present_": "ndarray",
        "highest_absent_": "ndarray",
        "n_calibration_": "ndarray",
        "always_included_": "ndarray",
        "n_features_in_": "int",
    },
    complete=_complete,
)
