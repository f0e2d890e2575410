"""Rows as tokens: features that are not zero, or the ids of a sequence.

`FeatureTokens` and `SequenceTokens` learn from the training rows how a row becomes tokens and apply
the same to new rows. The result, `TokenRows`, is a ragged array. Knows numpy, scipy and the
representation of linear models.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._input.presentation import LinearFeatures
from sklearn_mrmp._numerics.sparse import as_csr, rank_in_row, unit_rows

# Standardised values are squashed smoothly into (-5, 5), so that an outlier cannot explode a row.
_VALUE_BOUND = 5.0
# As good as infinite, but with a quotient.
_HUGE = 1e30
# A spread this small relative to the mean is rounding noise: the feature is a plain indicator.
_CONSTANT_SPREAD = 1e-6

# Tokens of a smaller share of their row are weighed like this one.
_SMALLEST_SHARE = 1e-2

# Odd constants of multiplicative hashing (from the golden ratio, √3 and √5).
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX_VALUES = np.uint64(0xBB67AE8584CAA73B)
_MIX_WEIGHTS = np.uint64(0x3C6EF372FE94F82B)


@dataclass(frozen=True, eq=False)
class TokenRows:
    """Rows of different length: token ids (1 and up) and, for features, standardised values.

    `weights` are what attention adds to a token's scores before it has learned anything. For
    sequences `unknown` is the id that stands for a word that is not known.
    """

    starts: np.ndarray
    tokens: np.ndarray
    values: np.ndarray | None = None
    unknown: int | None = None
    weights: np.ndarray | None = None

    def __len__(self):
        return len(self.starts) - 1

    @property
    def lengths(self):
        """Number of tokens of each row."""
        return np.diff(self.starts)

    def fingerprints(self):
        """One number per row that depends on its content alone, to sort rows by.

        Prediction sorts rows by length and fingerprint, so that their order does not matter: a
        row's place in a batch can change the last bit of its probabilities.
        """
        mixed = self.tokens.astype(np.uint64) * _MIX
        if self.values is not None:
            mixed ^= self.values.view(np.uint32).astype(np.uint64) * _MIX_VALUES
        if self.weights is not None:
            mixed ^= self.weights.view(np.uint32).astype(np.uint64) * _MIX_WEIGHTS
        place = np.arange(len(mixed)) - np.repeat(self.starts[:-1], self.lengths)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * (2 * place.astype(np.uint64) + np.uint64(1))
        totals = np.zeros(len(mixed) + 1, dtype=np.uint64)
        np.cumsum(mixed, out=totals[1:])  # differences stay exact where the sum wraps around
        return totals[self.starts[1:]] - totals[self.starts[:-1]]

    def contained(self, n_tokens):
        """Which of `n_tokens` tokens occur, bool (n_tokens,)."""
        return np.bincount(self.tokens, minlength=n_tokens + 1)[1:] > 0

    def take(self, rows):
        """Return the given rows, in that order."""
        lengths = self.lengths[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(self.starts[rows] - starts[:-1], lengths) + np.arange(starts[-1])
        return self._picked(places, starts)

    def drop(self, rate, rng):
        """Leave out each token with probability `rate`, but never all tokens of a row.

        In a sequence the others keep their positions: what is left out becomes unknown.
        """
        row_of = np.repeat(np.arange(len(self)), self.lengths)
        draws = rng.random(len(self.tokens))
        keep = draws >= rate
        filled = self.lengths > 0
        highest = np.zeros(len(self))
        highest[filled] = np.maximum.reduceat(draws, self.starts[:-1][filled])
        keep |= draws == highest[row_of]
        if self.unknown is not None:
            weights = None if self.weights is None else np.where(keep, self.weights, np.float32(0))
            return replace(self, tokens=np.where(keep, self.tokens, self.unknown), weights=weights)
        return self._filtered(keep, row_of)

    def _filtered(self, keep, row_of):
        counts = np.bincount(row_of[keep], minlength=len(self))
        return self._picked(keep, np.concatenate([[0], np.cumsum(counts)]))

    def _picked(self, places, starts):
        values, weights = (
            None if part is None else part[places] for part in (self.values, self.weights)
        )
        return TokenRows(starts, self.tokens[places], values, self.unknown, weights)


class FeatureTokens:
    """Features as tokens: one per non-zero entry, with its value standardised per feature.

    The value ``t = (x − mean_j) / std_j`` uses mean and deviation of feature j over the training
    rows where it is not zero, then a smooth bound of ±5. Binary bags have no deviation, so t = 0
    and a token is its plain embedding; counts, tf-idf weights and dense measurements of any unit
    all arrive on one scale.

    Parameters
    ----------
    max_tokens : int or None
        Keep at most this many tokens of a row: those with the largest absolute values.
    weighted : bool, default=False
        Give the tokens of a bag with values weights: the logarithms of what a linear model reads
        (tf-idf), so that attention starts with the words that count. Bags that only say which
        features are there did not gain by it.
    """

    positions = False

    def __init__(self, max_tokens=None, weighted=False):
        self.max_tokens = max_tokens
        self.weighted = weighted

    def fit(self, X):
        """Learn which features occur, and their mean and deviation where they do."""
        X = as_csr(X).astype(np.float64)
        n_features = X.shape[1]
        self.n_tokens_ = n_features
        counts = np.bincount(X.indices, minlength=n_features)
        # Statistics of values divided by the largest: squares of huge values would overflow.
        largest = np.ones(n_features)
        np.maximum.at(largest, X.indices, np.abs(X.data))
        mean, spread = _mean_and_spread(X.indices, X.data / largest[X.indices], counts)
        spread[spread <= _CONSTANT_SPREAD * np.abs(mean)] = 0.0
        self.trained_ = counts > 0
        self.mean_, self.spread_ = mean * largest, spread * largest
        self.has_values_ = bool(spread.any())
        self.features_ = LinearFeatures().fit(X)
        return self

    def transform(self, X):
        """Turn a feature matrix into `TokenRows`; features unknown to training are left out."""
        X = as_csr(X)
        keep = self.trained_[X.indices]
        if self.max_tokens is not None:
            keep &= rank_in_row(X) < self.max_tokens
        rows = TokenRows(
            X.indptr.astype(np.int64),
            X.indices.astype(np.int64) + 1,
            self._standardised(X) if self.has_values_ else None,
            weights=self._log_weights(X),
        )
        if keep.all():
            return rows
        return rows._filtered(keep, np.repeat(np.arange(len(rows)), rows.lengths))

    def bag(self, X):
        """Turn a feature matrix into what a linear model reads: the matrix itself."""
        return as_csr(X)

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


def _mean_and_spread(columns, entries, counts):
    """Mean and standard deviation of the entries of each column."""
    occurs = np.maximum(counts, 1)
    mean = np.bincount(columns, entries, len(counts)) / occurs
    squares = np.bincount(columns, (entries - mean[columns]) ** 2, len(counts))
    return mean, np.sqrt(squares / occurs)


class SequenceTokens:
    """Token ids in order, 0 = padding.

    Ids above the largest one seen in training are one unknown token, which feature dropout makes
    of known ones: they take their place in the sequence but say nothing.

    Parameters
    ----------
    max_tokens : int or None
        Keep at most this many tokens of a row: the first ones.
    weighted : bool, default=False
        Weigh tokens by the logarithm of their inverse document frequency, so that attention starts
        with rare words and not with frequent ones.
    """

    positions = True
    has_values_ = False

    def __init__(self, max_tokens=None, weighted=False):
        self.max_tokens = max_tokens
        self.weighted = weighted

    def fit(self, X):
        """Learn the vocabulary size and which ids occur."""
        X = check_token_ids(X)
        self.n_tokens_ = int(X.max(initial=0)) + 1  # the last one stands for ids not seen here
        self.trained_ = np.bincount(X.ravel(), minlength=self.n_tokens_ + 1)[1:] > 0
        n_rows = self._n_rows_with(X)
        # As in scikit-learn's tf-idf; ids that are not known weigh like those of every row.
        self.log_idf_ = np.log(1 + np.log((1 + len(X)) / (1 + n_rows))).astype(np.float32)
        self.log_idf_[~self.trained_] = 0.0
        return self

    def _n_rows_with(self, X):
        """Count the rows that contain each id."""
        ordered = np.sort(X, axis=1)
        is_first = np.diff(ordered, axis=1, prepend=0) > 0
        return np.bincount(ordered[is_first], minlength=self.n_tokens_ + 1)[1:]

    def transform(self, X):
        """Turn an id matrix into `TokenRows`."""
        X = np.minimum(check_token_ids(X), self.n_tokens_)
        present = X > 0
        if self.max_tokens is not None:
            present &= np.cumsum(present, axis=1) <= self.max_tokens
        starts = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
        tokens = X[present]
        weights = self.log_idf_[tokens - 1] if self.weighted else None
        return TokenRows(starts, tokens, unknown=self.n_tokens_, weights=weights)

    def bag(self, X):
        """Turn an id matrix into what a linear model reads: how often each token occurs."""
        rows = self.transform(X)
        counts = np.ones(len(rows.tokens))
        shape = (len(rows), self.n_tokens_)
        bag = sp.csr_array((counts, rows.tokens - 1, rows.starts), shape=shape)
        bag.sum_duplicates()
        return bag


def check_token_ids(X):
    """Return `X` as an int64 matrix of token ids, or say what is wrong with it."""
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    if X.size and not np.issubdtype(X.dtype, np.integer) and not (X == np.floor(X)).all():
        bad = X[X != np.floor(X)][0]
        raise ValueError(
            f"input_type='sequence' expects integer token ids, found {bad}. Make ids with "
            "TokenSequenceVectorizer, or use input_type='features' for real-valued features."
        )
    if X.size and X.min() < 0:
        raise ValueError(
            f"input_type='sequence' expects token ids from 0 (padding) upwards, found {X.min()}."
        )
    return X.astype(np.int64)
