"""The linear voter: a logistic regression per label, whose penalty held-out rows choose.

It is fitted in seconds, names the labels a row may have, and votes beside the network: the two
make different errors. Knows the solver, encoded rows, numpy and scipy.
"""

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._host.threads import run_on_rows
from sklearn_mrmp._input.presentation import check_representation
from sklearn_mrmp._model_files.part import Part, is_matrix, is_vector, require
from sklearn_mrmp._numerics.rows import row_blocks
from sklearn_mrmp._voters.logistic import (
    TOLERANCE,
    LogisticDesign,
    columns_of,
    frequency_intercepts,
    log_loss,
    solve_logistic,
)

# Strengths tried, for rows of mean squared length 1; from the middle one uphill.
_STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
_FIRST_STRENGTH = 3
# Penalties are compared far from the minimum, where the held-out loss is right to 0.1 %, and on
# this many labels at most.
_SEARCH_TOLERANCE = 1e-2
_SEARCH_LABELS = 64


class LinearVoter:
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
    >>> import scipy.sparse as sp
    >>> from sklearn_mrmp._input.features import FeatureInput
    >>> from sklearn_mrmp._input.rows import EncodedRows
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, _ = make_related_labels(200, 5, n_features=40, random_state=0)
    >>> Y, rows = sp.csr_array(Y), EncodedRows.of(FeatureInput(), X)
    >>> train, valid = rows.take(slice(150)), rows.take(slice(150, None))
    >>> LinearVoter().fit(train, Y[:150], valid, Y[150:]).logits(valid).shape
    (50, 5)
    """

    decodes_candidates = False

    def fit(self, rows, Y, rows_valid, Y_valid, weights=None, weights_valid=None):
        """Fit models of several penalties and keep the one with the smallest held-out log loss.

        Parameters
        ----------
        rows, rows_valid : EncodedRows
            Training rows and held-out rows.
        Y, Y_valid : csr_array of shape (n_samples, n_labels)
            0/1 labels.
        weights, weights_valid : EntryWeights, default=None
            What their entries count.

        Returns
        -------
        self : LinearVoter
        """
        self.features_ = rows.features
        X = rows.presented(self.features_)
        design, held_out = LogisticDesign(X), rows_valid.presented(self.features_)
        self.coef_ = np.zeros((X.shape[1], Y.shape[1]), np.float32)
        self.intercept_ = frequency_intercepts(Y, weights)
        train, valid = (design, Y, _in_loss(weights)), (held_out, Y_valid, _in_loss(weights_valid))
        self._search(train, valid)
        _solve(train, 1.0 / self.strength_, self.coef_, self.intercept_)
        return self

    def _search(self, train, valid):
        """Choose the penalty on some labels, and keep their weights as a start.

        Rows come with their labels and what these count in the loss.
        """
        labels = _spread_labels(train[1])
        train, valid = (
            (rows, Y[:, labels], columns_of(weights, labels)) for rows, Y, weights in (train, valid)
        )
        start = self.coef_[:, labels], self.intercept_[labels]
        best = self._solved(train, _FIRST_STRENGTH, start, valid)
        for direction in (1, -1):
            position, best = self._walk(direction, train, best, valid)
            if position != _FIRST_STRENGTH:
                break
        _, position, (self.coef_[:, labels], self.intercept_[labels]) = best
        self.strength_ = _STRENGTHS[position]

    def _walk(self, direction, train, best, valid):
        """Go on in one direction while the held-out loss falls."""
        while 0 <= best[1] + direction < len(_STRENGTHS):
            model = self._solved(train, best[1] + direction, best[2], valid)
            if model[0] >= best[0]:
                break
            best = model
        return best[1], best

    def _solved(self, train, position, start, valid):
        W, b = start[0].copy(), start[1].copy()
        _solve(train, 1.0 / _STRENGTHS[position], W, b, _SEARCH_TOLERANCE)
        return _held_out_loss(*valid, W, b), position, (W, b)

    def refit(self, rows, Y, seen=False, weights=None):
        """Fit anew on other rows, with the penalty that was chosen; returns a new voter.

        If its own rows are among these (`seen`), it starts from its own weights. For rows that
        are to be held out from the new voter that would be a leak, if a small one.
        """
        voter = LinearVoter()
        voter.features_, voter.strength_ = rows.features, self.strength_
        X = rows.presented(voter.features_)
        shape = X.shape[1], Y.shape[1]
        if seen and shape == self.shape:
            voter.coef_, voter.intercept_ = self.coef_.copy(), self.intercept_.copy()
        else:
            start = frequency_intercepts(Y, weights)
            voter.coef_, voter.intercept_ = np.zeros(shape, np.float32), start
        train = LogisticDesign(X), Y, _in_loss(weights)
        _solve(train, 1.0 / voter.strength_, voter.coef_, voter.intercept_)
        return voter

    @property
    def shape(self):
        """Number of features and of labels."""
        return self.coef_.shape

    def logits(self, rows, candidates=None):
        """Logits of all labels, (n_samples, n_labels) float32; a row's depend on it alone."""
        X = rows.presented(self.features_)
        Z = np.empty((X.shape[0], self.coef_.shape[1]), dtype=np.float32)

        def fill(block):
            Z[block] = X[block] @ self.coef_ + self.intercept_

        run_on_rows(fill, X.shape[0], Z.shape[1])
        return Z

    def terms(self, rows, row, label):
        """Terms that a row's logit is the sum of, by column of the bag; see `Voter.terms`."""
        x = rows.presented(self.features_)[[row]]
        values = x.data.astype(np.float64) * self.coef_[x.indices, label]
        return x.indices, values, float(self.intercept_[label])


def _spread_labels(Y):
    """Labels on which penalties are compared: evenly spread in the order of their frequency."""
    order = np.argsort(np.asarray(Y.sum(axis=0)).ravel(), kind="stable")
    n = min(_SEARCH_LABELS, len(order))
    return order[((np.arange(n) + 0.5) * len(order) / n).astype(int)]


def _in_loss(weights):
    return None if weights is None else weights.in_loss()


def _solve(train, penalty, W, b, tolerance=TOLERANCE):
    design, Y, weights = train
    solve_logistic(design, Y, penalty, W, b, tolerance, weights)


def _held_out_loss(X, Y, weights, W, b):
    """Sum over all entries of the log loss, in blocks of rows."""
    total = 0.0
    for rows in row_blocks(X.shape[0], len(b)):
        some = weights if weights is None or len(weights) == 1 else weights[rows]
        total += log_loss(X[rows] @ W + b, sp.csr_array(Y[rows]), some)
    return total


def _complete(voter):
    """Check, in a model file, that weights, intercepts and features fit each other."""
    require(is_matrix(voter.coef_) and voter.coef_.dtype == np.float32, "weights of a linear voter")
    n_features, n_labels = voter.coef_.shape
    require(is_vector(voter.intercept_, n_labels, "f"), "intercepts of a linear voter")
    check_representation(voter.features_, n_features)


LinearVoter._model_part = Part(
    {
        "features_": "LinearFeatures|MixedFeatures",
        "strength_": "float",
        "coef_": "ndarray",
        "intercept_": "ndarray",
    },
    complete=_complete,
)
