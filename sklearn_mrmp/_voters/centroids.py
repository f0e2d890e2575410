"""The linear voter of very many labels: each label is the mean direction of its rows.

A logistic regression per label costs rows × labels; centroids cost one sparse product and keep few
numbers per label, so tens of thousands of labels take seconds. Same methods as `LinearVoter`.
Knows encoded rows, scikit-learn's logistic regression for the calibration, numpy and scipy.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from sklearn_mrmp._host.threads import run_on_rows
from sklearn_mrmp._input.presentation import check_representation
from sklearn_mrmp._model_files.part import MEANS, Part, is_vector, require
from sklearn_mrmp._numerics.sparse import rank_in_row, unit_rows
from sklearn_mrmp._voters.logistic import frequency_intercepts

# Features kept of a label: its largest, which carry almost all of its direction.
_FEATURES_PER_LABEL = 128
# Entries of held-out rows that calibrate the scores.
_ROWS_TO_CALIBRATE = 2_000
_SAMPLED_PER_ROW = 200


class CentroidVoter:
    """Score labels by the cosine of a row and the mean of the label's training rows.

    The logit of a label is a weighted sum of that cosine, the label's log odds and a constant,
    with weights from a logistic regression on held-out rows.

    Attributes
    ----------
    centroids_ : csr_array of shape (n_features, n_labels), float32
        Unit vectors, each cut to its largest entries.
    log_odds_ : ndarray of shape (n_labels,), float32
        Smoothed frequencies of the labels.
    calibration_ : ndarray of shape (3,), float32
        Weight of the cosine and of the log odds, and the constant.

    Examples
    --------
    >>> from sklearn_mrmp._input.features import FeatureInput
    >>> from sklearn_mrmp._input.rows import EncodedRows
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, _ = make_related_labels(200, 5, n_features=40, random_state=0)
    >>> Y, rows = sp.csr_array(Y), EncodedRows.of(FeatureInput(), X)
    >>> train, valid = rows.take(slice(150)), rows.take(slice(150, None))
    >>> CentroidVoter().fit(train, Y[:150], valid, Y[150:]).logits(valid).shape
    (50, 5)
    """

    decodes_candidates = False

    def fit(self, rows, Y, rows_valid, Y_valid, weights=None, weights_valid=None):
        """Fit centroids on training rows and calibrate their scores on held-out ones."""
        self._fit_centroids(rows, Y, weights)
        some = slice(_ROWS_TO_CALIBRATE)
        held_out = rows_valid.presented(self.features_)[some]
        counts = None if weights_valid is None else weights_valid.take(some).entries()
        cosines = self._cosines(held_out)
        self.calibration_ = _calibrated(cosines, Y_valid[some], self.log_odds_, counts)
        return self

    def refit(self, rows, Y, seen=False, weights=None):
        """Fit anew on other rows, with the calibration that was found; returns a new voter."""
        new = CentroidVoter()
        new._fit_centroids(rows, Y, weights)
        new.calibration_ = self.calibration_
        return new

    def _fit_centroids(self, rows, Y, weights):
        self.features_ = rows.features
        X = rows.presented(self.features_)
        if weights is not None and weights.rows is not None:
            X = sp.diags_array(weights.rows.astype(np.float32)) @ X
        sums = sp.csr_array(Y.T.astype(np.float32)) @ X
        self.centroids_ = sp.csr_array(unit_rows(_largest_entries(sums)).T)
        self.log_odds_ = frequency_intercepts(Y, weights)

    def _cosines(self, X):
        return unit_rows(X.copy()) @ self.centroids_

    @property
    def shape(self):
        """Number of features and of labels."""
        return self.centroids_.shape

    def logits(self, rows, candidates=None):
        """Logits of all labels, (n_samples, n_labels) float32; a row's depend on it alone."""
        X = rows.presented(self.features_)
        slope, prior, constant = self.calibration_
        Z = np.empty((X.shape[0], self.centroids_.shape[1]), dtype=np.float32)

        def fill(block):
            Z[block] = slope * self._cosines(X[block]).toarray()
            Z[block] += prior * self.log_odds_ + constant

        run_on_rows(fill, X.shape[0], Z.shape[1])
        return Z

    def terms(self, rows, row, label):
        """Terms that a row's logit is the sum of, by column of the bag; see `Voter.terms`."""
        x = unit_rows(rows.presented(self.features_)[[row]].copy())
        centroid = self.centroids_[:, [label]].toarray()[:, 0]
        slope, prior, constant = (float(weight) for weight in self.calibration_)
        values = slope * x.data.astype(np.float64) * centroid[x.indices]
        return x.indices, values, prior * float(self.log_odds_[label]) + constant


def _largest_entries(rows):
    """Keep the largest entries of each row of a csr_array."""
    rows.sum_duplicates()
    rows.data[rank_in_row(rows) >= _FEATURES_PER_LABEL] = 0.0
    rows.eliminate_zeros()
    return rows


def _calibrated(cosines, Y, log_odds, counts=None):
    """Weights of cosine, log odds and constant: a regression on all true and some other entries."""
    n_samples, n_labels = Y.shape
    true = Y.tocoo()
    rng = np.random.default_rng(0)
    n_others = min(_SAMPLED_PER_ROW, n_labels) * n_samples
    rows = np.concatenate([true.row, rng.integers(n_samples, size=n_others)])
    labels = np.concatenate([true.col, rng.integers(n_labels, size=n_others)])
    truth = np.asarray(Y[rows, labels]).ravel() > 0
    keep = ~truth
    keep[: true.nnz] = True  # every true entry once, as itself
    rows, labels, truth = rows[keep], labels[keep], truth[keep]
    if truth.all() or not truth.any():
        return np.array([1.0, 1.0, 0.0], dtype=np.float32)
    evidence = np.column_stack([np.asarray(cosines[rows, labels]).ravel(), log_odds[labels]])
    n_false = n_samples * n_labels - true.nnz
    weights = np.where(truth, 1.0, n_false / (~truth).sum())
    if counts is not None:  # entries that are not known count 0
        weights *= np.broadcast_to(counts, Y.shape)[rows, labels]
    model = LogisticRegression(C=100.0, max_iter=1000).fit(evidence, truth, weights)
    return np.append(model.coef_, model.intercept_).astype(np.float32)


def _complete(voter):
    """Check, in a model file, that centroids, frequencies and features fit each other."""
    require(type(voter.centroids_) is sp.csr_array, "centroids of labels")
    n_features, n_labels = voter.centroids_.shape
    require(is_vector(voter.log_odds_, n_labels, "f"), "frequencies of labels")
    require(is_vector(voter.calibration_, 3, "f"), "calibration of labels")
    check_representation(voter.features_, n_features)


CentroidVoter._model_part = Part(
    {
        "features_": "LinearFeatures|MixedFeatures",
        "centroids_": "csr_array",
        "log_odds_": "ndarray",
        "calibration_": "ndarray",
    },
    complete=_complete,
    keeps={"log_odds_": MEANS},
)
