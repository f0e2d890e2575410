"""The neighbour path: a row's labels as those of the most similar training rows vote for them.

It takes seconds, remembers what a linear model has to smooth away (rows that occur almost twice,
label sets that occur together), and its errors are its own: it votes beside the network and the
linear path. Same methods as `LinearPath`. Knows the representation, numpy, scipy and our threads.
"""

from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from sklearn_mrmp._host.threads import run_on_rows
from sklearn_mrmp._input.presentation import LinearFeatures
from sklearn_mrmp._numerics.dense_product import DenseProduct
from sklearn_mrmp._numerics.log_odds import log_odds
from sklearn_mrmp._numerics.rows import evenly_spaced
from sklearn_mrmp._numerics.similar_rows import SimilarRows
from sklearn_mrmp._numerics.sparse import unit_rows
from sklearn_mrmp._numerics.topk import smallest_columns
from sklearn_mrmp._voters.logistic import frequency_intercepts, log_loss

_N_NEIGHBORS = 50
# Of these so many are told to who asks for similar rows.
_N_SIMILAR = 16
# How much more the nearest rows count; held-out rows choose.
_POWERS = (2.0, 4.0, 8.0, 16.0)
# The frequency of a label counts like one more neighbour of this similarity.
_PRIOR_WEIGHT = 0.3
# Rows remembered, and rows that choose the power: at most so many, at equal distances. Of dense
# rows no more than have this many values.
_MOST_ROWS = 50_000
_MOST_DENSE_VALUES = 2**23
_ROWS_TO_CHOOSE = 2_000
# Shares stay inside (0, 1), so that logits are finite.
_MARGIN = 1e-6


class NeighborPath:
    """Vote of the training rows with the highest cosines, in the representation of linear models.

    A neighbour of similarity s weighs ``s_1 (s / s_1)^power``, s_1 being that of the nearest; the
    probability of a label is the weighted share of neighbours that have it, its frequency counting
    as one more neighbour.

    Attributes
    ----------
    columns_ : csr_array or ndarray of shape (n_features, n_rows), float32
        The remembered rows as columns of length 1.
    labels_ : csr_array of shape (n_rows, n_labels), float32
        Their labels.
    log_odds_ : ndarray of shape (n_labels,), float32
        Smoothed frequencies of the labels.
    power_ : float
        How much more the nearest rows count.

    Examples
    --------
    >>> from sklearn_mrmp._numerics.sparse import as_csr
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, _ = make_related_labels(200, 5, n_features=40, random_state=0)
    >>> X, Y = as_csr(X), as_csr(Y)
    >>> NeighborPath().fit(X[:150], Y[:150], X[150:], Y[150:]).logits(X[150:]).shape
    (50, 5)
    """

    def fit(self, X, Y, X_valid, Y_valid):
        """Remember training rows and let held-out ones choose the power.

        Parameters
        ----------
        X, X_valid : csr_array of shape (n_samples, n_features)
            Rows, canonical.
        Y, Y_valid : csr_array of shape (n_samples, n_labels)
            0/1 labels.

        Returns
        -------
        self : NeighborPath
        """
        self._remember(X, Y)
        chosen = evenly_spaced(X_valid.shape[0], _ROWS_TO_CHOOSE)
        X_valid, Y_valid = X_valid[chosen], Y_valid[chosen]
        losses = {}

        def judge(rows):
            near = self._nearest(X_valid[rows])
            votes = (self._vote(*near, power) for power in _POWERS)
            losses[rows.start] = [log_loss(Z, Y_valid[rows]) for Z in votes]

        run_on_rows(judge, len(chosen), max(self.labels_.shape))
        # Added up in the order of the rows, not of the threads.
        totals = np.sum([losses[start] for start in sorted(losses)], axis=0)
        self.power_ = _POWERS[int(np.argmin(totals))]
        return self

    def refit(self, X, Y):
        """Remember other rows, with the power that was chosen; returns a new object."""
        path = NeighborPath()
        path._remember(X, Y)
        path.power_ = self.power_
        return path

    def _remember(self, X, Y):
        self.features_ = LinearFeatures().fit(X)
        self.log_odds_ = frequency_intercepts(Y)
        is_dense = self.features_.kind_ == "measurements"
        n_most = min(_MOST_ROWS, _MOST_DENSE_VALUES // X.shape[1]) if is_dense else _MOST_ROWS
        chosen = evenly_spaced(X.shape[0], max(n_most, 1))
        self.labels_ = sp.csr_array(Y[chosen]).astype(np.float32)
        columns = self._present(X[chosen]).T
        self.columns_ = columns.toarray(order="C") if is_dense else sp.csr_array(columns)

    def _present(self, X):
        return unit_rows(self.features_.transform(X))

    @property
    def shape(self):
        """Number of features and of labels."""
        return self.columns_.shape[0], self.labels_.shape[1]

    def logits(self, X):
        """Logits of all labels, (n_samples, n_labels) float32; a row's depend on it alone."""
        Z = np.empty((X.shape[0], self.labels_.shape[1]), dtype=np.float32)

        def fill(rows):
            Z[rows] = self._vote(*self._nearest(X[rows]), self.power_)

        run_on_rows(fill, X.shape[0], max(self.labels_.shape))
        return Z

    def similar_rows(self, X):
        """Return the nearest of the remembered rows and their labels."""
        k = min(_N_SIMILAR, self.labels_.shape[0])
        similarities = np.empty((X.shape[0], k), dtype=np.float32)
        nearest = np.empty((X.shape[0], k), dtype=np.int32)

        def fill(rows):
            found = self._nearest(X[rows])
            similarities[rows], nearest[rows] = (part[:, :k] for part in found)

        run_on_rows(fill, X.shape[0], self.labels_.shape[0])
        return SimilarRows(similarities, nearest, self.labels_)

    def _nearest(self, X):
        """Similarities of the nearest rows, falling, and their numbers, both (n_samples, k)."""
        queries = self._present(X)
        if sp.issparse(self.columns_):
            products = _product_with_columns(self)(queries)
        else:
            products = _steady_product(queries.toarray(), self.columns_)
        k = min(_N_NEIGHBORS, products.shape[1])
        nearest = smallest_columns(-products, k)
        return np.take_along_axis(products, nearest, axis=1), nearest

    def _vote(self, similarities, nearest, power):
        weights = np.maximum(similarities, 0.0)
        strongest = weights[:, :1]
        weights = strongest * np.divide(
            weights, strongest, out=np.zeros_like(weights), where=strongest > 0
        ) ** np.float32(power)
        n_samples, k = weights.shape
        starts = np.arange(0, weights.size + 1, k)
        shape = (n_samples, self.labels_.shape[0])
        votes = sp.csr_array((weights.ravel(), nearest.ravel(), starts), shape=shape) @ self.labels_
        shares = votes.toarray() + np.float32(_PRIOR_WEIGHT) * expit(self.log_odds_)
        shares /= weights.sum(axis=1, keepdims=True) + np.float32(_PRIOR_WEIGHT)
        # Both sums are rounded, so the share of a label that all have may come out above 1.
        return log_odds(shares, _MARGIN)


# Products of paths that have been used, with the columns they were made of; models that are saved
# or copied do not carry them along.
_known_products = WeakKeyDictionary()


def _product_with_columns(path):
    """Return the product with the remembered rows of a path, made when first used."""
    known = _known_products.get(path)
    if known is None or known[0] is not path.columns_:
        known = path.columns_, DenseProduct(path.columns_)
        _known_products[path] = known
    return known[1]


def _steady_product(rows, columns):
    """``rows @ columns``, row by row: in a product of matrices a row's place changes its bits."""
    products = np.empty((len(rows), columns.shape[1]), dtype=np.float32)
    for row, out in zip(rows, products, strict=True):
        np.matmul(row, columns, out=out)
    return products
