"""The linear path: a logistic regression per label, whose penalty held-out rows choose.

It is fitted in seconds, names the labels a row may have, and votes beside the network: the two
make different errors. Knows the solver, the representation, numpy and scipy.
"""

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._input.presentation import LinearFeatures
from sklearn_mrmp._voters.logistic import (
    LogisticDesign,
    frequency_intercepts,
    log_loss,
    solve_logistic,
)

# Strengths tried, for rows of mean squared length 1; from the middle one uphill.
_STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
_FIRST_STRENGTH = 3
# Logits of this many rows and labels are computed at once.
_BLOCK_FLOATS = 2**24


class LinearPath:
    """One-vs-rest logistic regression with free intercepts, all labels solved together.

    Attributes
    ----------
    strength_ : float
        Inverse penalty, scikit-learn's C, for rows of mean squared length 1.
    coef_ : ndarray of shape (n_features, n_labels), float32
        Weights.
    intercept_ : ndarray of shape (n_labels,), float32
        Intercepts.

    Examples
    --------
    >>> from sklearn_mrmp._numerics.sparse import as_csr
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, _ = make_related_labels(200, 5, n_features=40, random_state=0)
    >>> X, Y = as_csr(X), as_csr(Y)
    >>> path = LinearPath().fit(X[:150], Y[:150], X[150:], Y[150:])
    >>> path.logits(X[150:]).shape
    (50, 5)
    """

    def fit(self, X, Y, X_valid, Y_valid):
        """Fit a path of penalties and keep the model with the smallest held-out log loss.

        Parameters
        ----------
        X, X_valid : csr_array of shape (n_samples, n_features)
            Rows, canonical.
        Y, Y_valid : csr_array of shape (n_samples, n_labels)
            0/1 labels.

        Returns
        -------
        self : LinearPath
        """
        self.features_ = LinearFeatures().fit(X)
        design = LogisticDesign(self.features_.transform(X))
        held_out = self.features_.transform(X_valid)
        start = (np.zeros((X.shape[1], Y.shape[1]), np.float32), frequency_intercepts(Y))
        best = self._solved(design, Y, _FIRST_STRENGTH, start, held_out, Y_valid)
        for direction in (1, -1):
            position, best = self._walk(direction, design, Y, best, held_out, Y_valid)
            if position != _FIRST_STRENGTH:
                break
        _, position, (self.coef_, self.intercept_) = best
        self.strength_ = _STRENGTHS[position]
        return self

    def _walk(self, direction, design, Y, best, held_out, Y_valid):
        """Go on in one direction while the held-out loss falls."""
        while 0 <= best[1] + direction < len(_STRENGTHS):
            model = self._solved(design, Y, best[1] + direction, best[2], held_out, Y_valid)
            if model[0] >= best[0]:
                break
            best = model
        return best[1], best

    def _solved(self, design, Y, position, start, held_out, Y_valid):
        W, b = start[0].copy(), start[1].copy()
        solve_logistic(design, Y, 1.0 / _STRENGTHS[position], W, b)
        return _held_out_loss(held_out, Y_valid, W, b), position, (W, b)

    def refit(self, X, Y):
        """Fit anew on other rows, with the penalty that was chosen.

        Returns
        -------
        path : LinearPath
            A new object.
        """
        path = LinearPath()
        path.features_, path.strength_ = LinearFeatures().fit(X), self.strength_
        path.coef_ = np.zeros((X.shape[1], Y.shape[1]), np.float32)
        path.intercept_ = frequency_intercepts(Y)
        design = LogisticDesign(path.features_.transform(X))
        solve_logistic(design, Y, 1.0 / path.strength_, path.coef_, path.intercept_)
        return path

    @property
    def shape(self):
        """Number of features and of labels."""
        return self.coef_.shape

    def logits(self, X):
        """Logits of all labels, (n_samples, n_labels) float32; a row's depend on it alone."""
        return self.features_.transform(X) @ self.coef_ + self.intercept_


def _held_out_loss(X, Y, W, b):
    """Sum over all entries of the log loss, in blocks of rows."""
    total = 0.0
    size = max(1, _BLOCK_FLOATS // len(b))
    for start in range(0, X.shape[0], size):
        rows = slice(start, start + size)
        total += log_loss(X[rows] @ W + b, sp.csr_array(Y[rows]))
    return total
