"""A logistic regression per label that reads what is told of a row's other labels beside its words.

It is fitted on random tellings of the training rows. No label reads what is told of itself: the
weight of that is held at 0, so that every entry of a telling teaches, the told ones too. Knows the
linear voter, its solver, tellings, numpy and scipy.
"""

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._host.threads import run_on_rows
from sklearn_mrmp._input.presentation import check_representation
from sklearn_mrmp._model_files.part import Part, is_matrix, is_vector, require
from sklearn_mrmp._numerics.told import random_telling
from sklearn_mrmp._voters.logistic import LogisticDesign, solve_logistic

# Tellings of each training row, as long as they take no more multiplications than this in all.
_TELLINGS = 8
_MOST_PRODUCTS = 2_000_000_000
# How long a told label is, where rows have a mean squared length of 1. Absent labels are many.
_PRESENT, _ABSENT = 0.7, 0.2
# The vote needs no more digits.
_TOLERANCE = 1e-2


class ToldLinearVoter:
    """Regression on features, labels told to be there, and labels told not to be.

    Attributes
    ----------
    strength_ : float
        Inverse penalty, that of the linear voter.
    coef_ : ndarray of shape (n_features + 2 * n_labels, n_labels), float32
        Weights.
    intercept_ : ndarray of shape (n_labels,), float32
        Intercepts.
    """

    def fit(self, linear, rows, Y, rate, rng, weights=None):
        """Fit on random tellings, starting from a regression that was fitted on the same rows.

        Parameters
        ----------
        linear : LinearVoter
            The regression.
        rows : EncodedRows
            Training rows.
        Y : csr_array of shape (n_samples, n_labels)
            0/1 labels.
        rate : float
            Mean share of a row's labels that are told.
        rng : numpy.random.Generator
            Where chance comes from.
        weights : EntryWeights, default=None
            What the entries of `Y` count.

        Returns
        -------
        self : ToldLinearVoter
        """
        n_labels = Y.shape[1]
        self.features_, self.strength_ = linear.features_, linear.strength_
        self.coef_ = np.zeros((len(linear.coef_) + 2 * n_labels, n_labels), dtype=np.float32)
        self.coef_[: len(linear.coef_)] = linear.coef_
        self.intercept_ = linear.intercept_.copy()
        X, known = rows.presented(self.features_), None if weights is None else weights.known
        told = random_telling(Y, rate, rng, known)
        n_products = (X.nnz + told.nnz) * n_labels
        n_tellings = int(np.clip(_MOST_PRODUCTS // max(n_products, 1), 1, _TELLINGS))
        tellings = [told, *(random_telling(Y, rate, rng, known) for _ in range(n_tellings - 1))]
        solve_logistic(
            LogisticDesign(sp.vstack([_beside(X, told) for told in tellings], format="csr")),
            sp.csr_array(sp.vstack([Y] * n_tellings)),
            n_tellings / self.strength_,
            self.coef_,
            self.intercept_,
            _TOLERANCE,
            _repeated(weights, n_tellings),
            _of_itself(*self.coef_.shape),
        )
        return self

    @property
    def shape(self):
        """Number of features, without what is told, and of labels."""
        n_columns, n_labels = self.coef_.shape
        return n_columns - 2 * n_labels, n_labels

    def logits(self, rows, told, chosen):
        """Logits of all labels, (n_chosen, n_labels) float32; a row's depend on it alone.

        Parameters
        ----------
        rows : EncodedRows
            Rows.
        told : csr_array of shape (n_chosen, n_labels)
            What is told of the chosen ones.
        chosen : ndarray of int
            Which of the rows.
        """
        X = _beside(rows.presented(self.features_)[chosen], told)
        Z = np.empty(told.shape, dtype=np.float32)

        def fill(block):
            Z[block] = X[block] @ self.coef_ + self.intercept_

        run_on_rows(fill, *Z.shape)
        return Z


def _beside(X, told):
    """Features, and beside them what is told to be there and what is told not to be."""
    parts = [X, _PRESENT * told.maximum(0), _ABSENT * (-told).maximum(0)]
    return sp.csr_array(sp.hstack(parts), dtype=np.float32)


def _of_itself(n_columns, n_labels):
    """Where the weight stands that a label would give to what is told of itself."""
    fixed, labels = np.zeros((n_columns, n_labels), dtype=bool), np.arange(n_labels)
    fixed[n_columns - 2 * n_labels + labels, labels] = True
    fixed[n_columns - n_labels + labels, labels] = True
    return fixed


def _repeated(weights, n_times):
    """Weights of entries in the loss for rows that are there several times."""
    entries = None if weights is None else weights.in_loss()
    return entries if entries is None or len(entries) == 1 else np.tile(entries, (n_times, 1))


def _complete(voter):
    """Check, in a model file, that weights, intercepts and features fit each other."""
    is_one = is_matrix(voter.coef_) and voter.coef_.dtype == np.float32
    require(is_one, "weights of told labels")
    n_columns, n_labels = voter.coef_.shape
    require(n_columns >= 2 * n_labels, "weights of told labels")
    require(is_vector(voter.intercept_, n_labels, "f"), "intercepts beside told labels")
    check_representation(voter.features_, n_columns - 2 * n_labels)


ToldLinearVoter._model_part = Part(
    {
        "features_": "LinearFeatures|MixedFeatures",
        "strength_": "float",
        "coef_": "ndarray",
        "intercept_": "ndarray",
    },
    complete=_complete,
)
