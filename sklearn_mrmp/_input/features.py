"""Rows of features: each feature that is not zero is a token, if it tells rows apart.

`FeatureInput` learns from the training rows how a row becomes tokens and applies the same to new
rows. Knows numpy, token rows and the representation of linear models.
"""

from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._input.presentation import LinearFeatures, check_representation
from sklearn_mrmp._input.token_rows import FeatureRows, TokenRows
from sklearn_mrmp._model_files.part import Part, is_vector, require
from sklearn_mrmp._numerics.sparse import (
    LARGE,
    RowParts,
    canonical_view,
    column_sums,
    rank_in_row,
    unit_rows,
)

# Standardised values are squashed smoothly into (-5, 5), so that an outlier cannot explode a row.
_VALUE_BOUND = 5.0
# Standardised values are cut here before they are squashed, so that quotients of them are numbers.
_HUGE = 1e30
# A spread this small relative to the mean is rounding noise: the feature is a plain indicator.
_CONSTANT_SPREAD = 1e-6

# Tokens of a smaller share of their row are weighed like this one.
_SMALLEST_SHARE = 1e-2


class FeatureInput:
    """Features as tokens: one per non-zero entry, with its value standardised per feature.

    The value ``t = (x − mean_j) / std_j`` uses mean and deviation of feature j over the training
    rows where it is not zero, then a smooth bound of ±5. Binary bags have no deviation, so t = 0
    and a token is its plain embedding; counts, tf-idf weights and dense measurements of any unit
    all arrive on one scale. A feature that is equal in all training rows is no token: it says
    nothing of any of them, and would be a token of each.

    Parameters
    ----------
    max_tokens : int or None
        Keep at most this many tokens of a row: those with the largest absolute values.
    weighted : bool, default=False
        Give the tokens of a bag with values weights: the logarithms of what a linear model reads
        (tf-idf), so that attention starts with the words that count. Bags that only say which
        features are there did not gain by it.
    """

    name = "features"
    # How `validate_data` looks at the caller's rows.
    checks: ClassVar = {}
    # Rows may come as `RowParts`.
    reads_parts = True

    def __init__(self, max_tokens=None, weighted=False):
        self.max_tokens = max_tokens
        self.weighted = weighted

    def fresh(self):
        """Return the same without what it has learned."""
        return FeatureInput(self.max_tokens, self.weighted)

    def fit(self, X):
        """Learn which features tell rows apart, and mean and deviation where they occur.

        `X` is a canonical csr_array, or `RowParts`.
        """
        X = RowParts.of(X, np.float64)
        n_features = X.shape[1]
        self.n_tokens_ = n_features
        counts = X.column_counts()
        # Statistics of values divided by the largest: squares of huge values would overflow.
        largest = np.ones(n_features)
        for _, part in X.parts():
            np.maximum.at(largest, part.indices, np.abs(part.data))
        mean, spread = _mean_and_spread(X, largest, counts)
        spread[spread <= _CONSTANT_SPREAD * np.abs(mean)] = 0.0
        self.trained_ = (counts > 0) & ~((counts == X.shape[0]) & (spread == 0))
        self.mean_, self.spread_ = mean * largest, spread * largest
        self.has_values_ = bool(spread.any())
        self.features_ = LinearFeatures().fit(X)
        return self

    def go_on(self, earlier, X):
        """Learn the features that an earlier encoder has no tokens for; others are as they are."""
        self.fit(X)
        known = earlier.trained_
        self.mean_ = np.where(known, earlier.mean_, self.mean_)
        self.spread_ = np.where(known, earlier.spread_, self.spread_)
        self.trained_ |= known
        self.has_values_, self.features_ = earlier.has_values_, earlier.features_
        return self

    @staticmethod
    def recognises(X):
        """Whether the caller's rows are of this kind: any matrix may be."""
        return True

    @staticmethod
    def canonical(X):
        """Return checked rows as all methods here take them: a canonical csr_array.

        It may be a view of the caller's rows, which stay where they are, on disk for example.
        """
        return canonical_view(X)

    def tokens(self, X):
        """Turn a feature matrix into token rows of the features that tell training rows apart.

        These are `TokenRows`, or `FeatureRows` where there are too many to make all of them.
        """
        return FeatureRows(self._token_rows, X) if X.nnz > LARGE else self._token_rows(X)

    def _token_rows(self, X):
        keep = self.trained_[X.indices]
        if self.max_tokens is not None:
            # What is no token ranks last and takes no token's place.
            tokens_alone = sp.csr_array((X.data * keep, X.indices, X.indptr), X.shape)
            keep &= rank_in_row(tokens_alone) < self.max_tokens
        rows = TokenRows(
            X.indptr.astype(np.int64),
            X.indices.astype(np.int32) + np.int32(1),  # half the memory; batches have int64
            self._standardised(X) if self.has_values_ else None,
            weights=self._log_weights(X),
        )
        if keep.all():
            return rows
        return rows._filtered(keep, np.repeat(np.arange(len(rows)), rows.lengths))

    def bag(self, rows):
        """Return what linear and neighbour voters read of `EncodedRows`: the rows themselves."""
        return rows.canonical

    def table(self, rows):
        """Return what any scikit-learn estimator reads: the caller's rows as they are."""
        return rows.X.whole() if isinstance(rows.X, RowParts) else rows.X

    def embedding(self):
        """Describe the module that embeds these tokens; see `sklearn_mrmp.nn.make_embedding`."""
        return {"kind": "tokens", "n_tokens": self.n_tokens_, "values": self.has_values_}

    def _log_weights(self, X):
        """Logarithm of each entry's share of its row, 0 for one as large as the mean."""
        is_plain = self.features_.kind_ == "measurements" or not self.has_values_
        if not self.weighted or is_plain:
            return None
        bag = unit_rows(self.features_.transform(X))
        n_tokens = np.diff(X.indptr)
        shares = np.abs(bag.data) * np.sqrt(np.repeat(n_tokens, n_tokens))
        return np.log(np.maximum(shares, _SMALLEST_SHARE)).astype(np.float32)

    def _standardised(self, X):
        spread = self.spread_[X.indices]
        t = np.zeros(len(spread))
        # Halves, exactly: the difference of two huge values would overflow.
        difference = 0.5 * X.data - 0.5 * self.mean_[X.indices]
        with np.errstate(over="ignore"):  # a huge value beside a tiny spread is at the bound
            np.divide(difference, 0.5 * spread, out=t, where=spread > 0)
        t = np.clip(t, -_HUGE, _HUGE)
        # hypot keeps the bound exact where squaring a huge value would overflow.
        return (t / np.hypot(1.0, t / _VALUE_BOUND)).astype(np.float32)


def _mean_and_spread(X, largest, counts):
    """Mean and standard deviation of the entries of each column, divided by the largest."""
    occurs = np.maximum(counts, 1)

    def mean_of(change):
        parts = (
            (part.indices, change(part.data / largest[part.indices], part.indices))
            for _, part in X.parts()
        )
        return column_sums(parts, len(counts)) / occurs

    mean = mean_of(lambda values, columns: values)
    return mean, np.sqrt(mean_of(lambda values, columns: (values - mean[columns]) ** 2))


def _complete(encoder):
    """Check, in a model file, that every feature has its statistics."""
    n = encoder.n_tokens_
    require(is_vector(encoder.trained_, n, "b"), "features and which of them occur")
    require(all(is_vector(v, n, "f") for v in (encoder.mean_, encoder.spread_)), "features")
    check_representation(encoder.features_, n)


FeatureInput._model_part = Part(
    {
        "n_tokens_": "int",
        "trained_": "ndarray",
        "mean_": "ndarray",
        "spread_": "ndarray",
        "has_values_": "bool",
        "features_": "LinearFeatures",
    },
    complete=_complete,
)
