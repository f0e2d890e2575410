"""The representation a linear model reads: bags weighted by rarity, measurements standardised.

Whatever comes in, rows leave with a mean squared length of 1, so that one range of penalties suits
all data. Many rows are looked at a part at a time. Knows rows in parts, numpy and scipy.
"""

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._model_files.part import Part, is_vector, require
from sklearn_mrmp._numerics.sparse import RowParts, column_sums, unit_rows

# From this share of non-zeros on, the columns are measurements rather than a bag.
MEASUREMENTS_FROM = 0.25
# Rows whose lengths differ by less than this were normalised by the caller.
_SAME_LENGTH = 1e-3
# Measurements are squashed smoothly into ± this many standard deviations.
_BOUND = 10.0
# Values this many times the largest of training say no more; their squares and sums are finite.
_HUGE = 1e15
# Two parts of mean squared length 1/2 make rows of mean squared length 1.
_SHARE = np.float32(np.sqrt(0.5))


class LinearFeatures:
    """Learn from the training rows how to present rows to a linear model.

    A matrix with many non-zeros is standardised column by column. A bag of non-negative values
    gets scikit-learn's tf-idf weights (of logarithmic counts) and unit rows, unless its rows have
    one length already, as tf-idf rows have. Anything else is only rescaled.

    Attributes
    ----------
    kind_ : {"measurements", "bag", "as_is"}
        What the rows were taken for.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> X = sp.csr_array([[0, 0, 0, 0, 2.0], [1.0, 1.0, 0, 0, 0], [0, 0, 0, 0, 0]])
    >>> features = LinearFeatures().fit(X)
    >>> features.kind_, features.transform(X).shape
    ('bag', (3, 5))
    """

    def fit(self, X, kind=None, weights=None):
        """Look at training rows `X`, canonical sparse rows, of the given kind if it is known.

        `weights` of the rows, or None, count them: one of weight 2 is looked at like two rows.
        """
        X = RowParts.of(X)
        self.kind_ = _kind(X) if kind is None else kind
        self.largest_ = _largest(X, per_column=self.kind_ == "measurements")
        if self.kind_ == "measurements":
            dense = X.whole().toarray() / self.largest_
            self.mean_, spread = _mean_and_spread(dense, weights)
            self.spread_ = np.where(spread > 1e-9, spread, 1.0)
        elif self.kind_ == "bag":
            # Logarithms are for counts, not for fractions.
            self.is_count_ = bool(_smallest(X) >= 1.0)
            self.idf_ = _idf(X, weights)
        self.length_ = 1.0
        self.length_ = float(np.sqrt(self._energy(X, weights))) or 1.0
        return self

    def _energy(self, X, weights):
        """Mean squared length of the rows."""
        squares = ((place, self._of_part(part).power(2)) for place, part in X.parts())
        if weights is None:
            return sum(part.sum() for _, part in squares) / X.shape[0]
        lengths = np.concatenate([part.sum(axis=1) for _, part in squares])
        return np.average(lengths, weights=weights)

    def transform(self, X):
        """Present rows `X`, a canonical csr_array or `RowParts`, as a float32 csr_array.

        Where entries stay where they are, the outcome shares their places with `X`.
        """
        X = RowParts.of(X)
        if self.kind_ == "measurements":
            return self._of_part(X.whole())
        values = [self._values(part) for _, part in X.parts()]
        values = values[0] if len(values) == 1 else np.concatenate(values)
        rows = X.whole()
        return sp.csr_array((values, rows.indices, rows.indptr), rows.shape)

    def _of_part(self, X):
        """Present all rows of a canonical csr_array at once."""
        if self.kind_ != "measurements":
            return sp.csr_array((self._values(X), X.indices, X.indptr), X.shape)
        dense = _times(X.toarray(), self.largest_)
        dense = np.clip((dense - self.mean_) / self.spread_, -_HUGE, _HUGE)
        out = sp.csr_array(dense / np.hypot(1.0, dense / _BOUND))
        out.data /= self.length_
        return out.astype(np.float32)

    def _values(self, X):
        """Return what the entries of a canonical csr_array become, float32."""
        if self.kind_ == "bag":
            out = X.astype(np.float64, copy=True)
            out.data = self._weights(out.data) * self.idf_[out.indices]
            values = unit_rows(out).data
        else:
            values = _times(X.data, self.largest_)
        values /= self.length_
        return values.astype(np.float32, copy=False)

    def _weights(self, values):
        """Logarithmic counts, or shares of the largest value."""
        if not self.is_count_:
            return _times(values, self.largest_)
        # What is no count, which training rows do not have, is taken as it is.
        return np.where(values >= 1, 1 + np.log(np.maximum(values, 1)), np.maximum(values, -1))


def _mean_and_spread(dense, weights):
    if weights is None:
        return dense.mean(axis=0), dense.std(axis=0)
    mean = np.average(dense, axis=0, weights=weights)
    return mean, np.sqrt(np.average((dense - mean) ** 2, axis=0, weights=weights))


def _idf(X, weights):
    """Return the weights of features by rarity, as scikit-learn's tf-idf, of weighted rows."""
    if weights is None:
        n_samples, n_rows = X.dtype.type(X.shape[0]), X.column_counts().astype(X.dtype)
    else:
        n_samples, n_rows = weights.sum(), column_sums(_rows_of_columns(X, weights), X.shape[1])
    return np.log((1 + n_samples) / (1 + n_rows)) + 1


def _rows_of_columns(X, weights):
    """Yield columns of entries, and what the rows that have them count."""
    for place, part in X.parts():
        counts = np.repeat(weights[place], np.diff(part.indptr))
        yield part.indices, counts * (part.data != 0)


def _times(values, largest):
    """How many times the largest training value, within bounds."""
    with np.errstate(over="ignore"):
        return np.clip(values / largest, -_HUGE, _HUGE)


def _kind(X):
    n_samples, n_features = X.shape
    if X.nnz > MEASUREMENTS_FROM * n_samples * n_features:
        return "measurements"
    if X.nnz == 0 or _smallest(X) < 0:
        return "as_is"
    largest = max(part.data.max(initial=-np.inf) for _, part in X.parts())
    lengths = [np.sqrt((part / largest).power(2).sum(axis=1)) for _, part in X.parts()]
    lengths = np.concatenate(lengths)
    lengths = lengths[lengths > 0]
    return "as_is" if np.ptp(lengths) <= _SAME_LENGTH * lengths.max() else "bag"


def _smallest(X):
    return min(part.data.min(initial=np.inf) for _, part in X.parts())


def _largest(X, per_column):
    """Largest absolute value, by which squares of huge values are kept from overflowing."""
    if per_column:
        largest = np.zeros(X.shape[1])
        for _, part in X.parts():
            np.maximum.at(largest, part.indices, np.abs(part.data))
        return np.where(largest > 0, largest, 1.0)
    return float(max(np.abs(part.data).max(initial=0.0) for _, part in X.parts())) or 1.0


def check_representation(features, n_features):
    """Check, in a model file, that every feature has its statistics."""
    for name in ("largest_", "mean_", "spread_", "idf_"):
        part = getattr(features, name, None)
        if isinstance(part, np.ndarray):
            require(is_vector(part, n_features, "f"), "features of linear voters")
    columns = getattr(features, "columns_", None)
    require(columns is None or len(columns) == n_features, "features of linear voters")


def _complete(features):
    """Check, in a model file, that what a kind of rows needs is there."""
    needs = {"measurements": ("mean_", "spread_"), "bag": ("is_count_", "idf_"), "as_is": ()}
    require(features.kind_ in needs, "kind of rows")
    require(all(hasattr(features, name) for name in needs[features.kind_]), "kind of rows")
    is_scalar = isinstance(features.largest_, float)
    require(is_scalar != (features.kind_ == "measurements"), "scale of rows")


LinearFeatures._model_part = Part(
    {
        "kind_": "str",
        "largest_": "ndarray|float",
        "length_": "float",
        "mean_": "ndarray?",
        "spread_": "ndarray?",
        "is_count_": "bool?",
        "idf_": "ndarray?",
    },
    complete=_complete,
)


class MixedFeatures:
    """Dense columns standardised, the others as they would be without them.

    Attributes
    ----------
    columns_ : ndarray of shape (n_features,), bool
        Which columns are dense.
    dense_, others_ : LinearFeatures
        Present the two parts.

    Examples
    --------
    >>> X = sp.csr_array([[0, 2.0, 0], [0, 1.0, 1.0], [1.0, 3.0, 0]])
    >>> columns = np.array([False, True, False])
    >>> dense = LinearFeatures().fit(X[:, columns], kind="measurements")
    >>> mixed = MixedFeatures.of(columns, dense, LinearFeatures().fit(split_columns(X, columns)[1]))
    >>> float(mixed.transform(X).power(2).sum().round(5))
    3.0
    """

    kind_ = "mixed"

    @classmethod
    def of(cls, columns, dense, others):
        """Put two fitted representations together."""
        mixed = cls()
        mixed.columns_, mixed.dense_, mixed.others_ = columns, dense, others
        return mixed

    def transform(self, X):
        """Present rows `X`, a canonical csr_array, as a float32 csr_array."""
        dense, others = split_columns(X, self.columns_)
        dense = self.dense_.transform(sp.csr_array(dense))
        places = np.flatnonzero(self.columns_)[dense.indices]
        dense = sp.csr_array((dense.data, places, dense.indptr), X.shape)
        return (_SHARE * (dense + self.others_.transform(others))).astype(np.float32)


def split_columns(X, columns):
    """Divide a canonical csr_array by a mask of columns.

    Returns
    -------
    dense : ndarray of shape (n_samples, n_chosen), float64
        The chosen columns.
    others : csr_array of shape (n_samples, n_features)
        `X` with zeros in their place.
    """
    keep = ~columns[X.indices]
    counts = np.concatenate([[0], np.cumsum(keep)])
    others = sp.csr_array((X.data[keep], X.indices[keep], counts[X.indptr]), X.shape)
    return X[:, columns].toarray().astype(np.float64), others


def _complete_mixed(features):
    """Check, in a model file, that both parts have their columns."""
    require(is_vector(features.columns_, None, "b"), "columns of a mixed representation")
    check_representation(features.dense_, int(np.count_nonzero(features.columns_)))
    check_representation(features.others_, len(features.columns_))


MixedFeatures._model_part = Part(
    {"columns_": "ndarray", "dense_": "LinearFeatures", "others_": "LinearFeatures"},
    complete=_complete_mixed,
)
