"""Rows of vectors: the dense columns of a row are one token, however many there are.

`VectorInput` is for embeddings and other wide measurements, alone or beside a bag of words: columns
that are mostly zero stay tokens of their own. Knows features, token rows and the representation
of linear models.
"""

from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._input.features import FeatureInput
from sklearn_mrmp._input.presentation import (
    LinearFeatures,
    MixedFeatures,
    check_representation,
    split_columns,
)
from sklearn_mrmp._input.vector_rows import VectorRows
from sklearn_mrmp._model_files.part import Part, is_vector, require
from sklearn_mrmp._numerics.rows import evenly_spaced
from sklearn_mrmp._numerics.sparse import RowParts, as_csr

# A column of a sparse matrix belongs to the vector if this share of the training rows has it.
_DENSE_FROM = 0.5
# "auto" reads rows as vectors from this many dense columns on; below, a token for each column is
# better and cheap enough.
_WIDE_FROM = 384
# "auto" looks at this many rows to see whether an array is full.
_LOOKED_AT = 1_000


class VectorInput:
    """Dense columns as one token, all others as tokens of their own.

    Parameters
    ----------
    max_tokens : int or None
        Keep at most this many tokens of the columns beside the vector: those with the largest
        absolute values.
    weighted : bool, default=False
        As for `FeatureInput`, of the columns beside the vector.

    Attributes
    ----------
    columns_ : ndarray of shape (n_features,), bool
        Which columns belong to the vector. Of a dense matrix all do, of a sparse one those that at
        least half of the training rows have.
    dense_ : LinearFeatures
        Standardises them.
    others_ : FeatureInput or None
        Makes tokens of the others.
    n_tokens_ : int
        How many columns there are.
    """

    name = "vectors"
    # How `validate_data` looks at the caller's rows.
    checks: ClassVar = {}

    def __init__(self, max_tokens=None, weighted=False):
        self.max_tokens = max_tokens
        self.weighted = weighted

    def fresh(self):
        """Return the same without what it has learned."""
        return VectorInput(self.max_tokens, self.weighted)

    @staticmethod
    def recognises(X):
        """Whether rows are wide vectors: many columns are there in at least half of the rows."""
        shares = column_shares(X)
        return shares is not None and np.count_nonzero(shares >= _DENSE_FROM) >= _WIDE_FROM

    @staticmethod
    def canonical(X):
        """Return checked rows as all methods here take them; dense rows stay dense."""
        return as_csr(X) if sp.issparse(X) else np.asarray(X)

    def fit(self, X):
        """Learn which columns are the vector, their means and deviations, and the others."""
        self.columns_ = np.ones(X.shape[1], dtype=bool)
        if sp.issparse(X):
            self.columns_ = _shares(X) >= _DENSE_FROM
        if not self.columns_.any():
            raise ValueError(
                "input_type='vectors' is for rows with dense columns, but no column of X is "
                "different from zero in half of the rows. Use input_type='features'."
            )
        self.n_tokens_, self.others_ = X.shape[1], None
        vectors, others = self._parts(X)
        self.dense_ = LinearFeatures().fit(sp.csr_array(vectors), kind="measurements")
        if not self.columns_.all():
            self.others_ = FeatureInput(self.max_tokens, self.weighted).fit(others)
        return self

    def go_on(self, earlier, X):
        """Learn what an earlier encoder has no tokens for; the vector is as it is there."""
        self.columns_, self.dense_ = earlier.columns_, earlier.dense_
        self.n_tokens_, self.others_ = earlier.n_tokens_, earlier.others_
        if self.others_ is not None:
            others = FeatureInput(self.max_tokens, self.weighted)
            self.others_ = others.go_on(earlier.others_, self._parts(X)[1])
        return self

    def representation(self, bag, weights=None):
        """Fit what linear models read: both parts present, and alike; rows may have weights."""
        dense, others = split_columns(bag, self.columns_)
        dense = LinearFeatures().fit(sp.csr_array(dense), "measurements", weights)
        if self.others_ is None:
            return dense
        others = LinearFeatures().fit(others, weights=weights)
        return MixedFeatures.of(self.columns_, dense, others)

    def _parts(self, X):
        """Return the vectors, and what is beside them if there is anything."""
        if self.columns_.all() and not sp.issparse(X):
            return X, None
        return split_columns(as_csr(X), self.columns_)  # rows to predict may be dense or sparse

    def tokens(self, X):
        """Turn a matrix into `VectorRows`."""
        vectors, others = self._parts(X)
        vectors = self.dense_.transform(sp.csr_array(vectors)).toarray()
        # Rows of mean squared length 1 become values of mean square 1.
        vectors *= np.float32(np.sqrt(vectors.shape[1]))
        return VectorRows(vectors, self.others_ and self.others_.tokens(others))

    def bag(self, rows):
        """Return what linear and neighbour voters read of `EncodedRows`: the matrix itself."""
        return as_csr(rows.canonical)

    def table(self, rows):
        """Return what any scikit-learn estimator reads: the caller's rows as they are."""
        return rows.X

    def embedding(self):
        """Describe the module that embeds these rows; see `sklearn_mrmp.nn.make_embedding`."""
        tokens = None
        if self.others_ is not None:
            tokens = {"n_tokens": self.n_tokens_, "values": self.others_.has_values_}
        width = int(np.count_nonzero(self.columns_))
        return {"kind": "vectors", "width": width, "tokens": tokens}


def column_shares(X):
    """Share of the rows that have each column, of whatever a caller gave.

    Returns
    -------
    shares : ndarray of shape (n_features,), or None
        None if it is no matrix of numbers; what is wrong with it is said elsewhere.
    """
    if sp.issparse(X):
        X = sp.csr_array(X)
    else:
        try:
            X = X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)
        except ValueError:  # rows of different length
            return None
    if X.ndim != 2 or X.dtype.kind not in "biuf" or not X.shape[0]:
        return None
    # All columns of a dense matrix belong to the vector: a look at some rows is enough.
    return _shares(X if sp.issparse(X) else X[evenly_spaced(len(X), _LOOKED_AT)])


def _shares(X):
    """Share of the rows that have each column."""
    if sp.issparse(X):
        parts = RowParts(X).parts()
        parts = (np.bincount(p.indices[p.data != 0], minlength=p.shape[1]) for _, p in parts)
        return sum(parts) / X.shape[0]
    return (X != 0).mean(axis=0)


def _complete(encoder):
    """Check, in a model file, that every column has its statistics."""
    n, columns = encoder.n_tokens_, encoder.columns_
    require(is_vector(columns, n, "b") and columns.any(), "columns of vectors")
    check_representation(encoder.dense_, int(np.count_nonzero(columns)))
    require((encoder.others_ is None) == columns.all(), "columns beside vectors")
    require(encoder.others_ is None or encoder.others_.n_tokens_ == n, "columns beside vectors")


VectorInput._model_part = Part(
    {
        "n_tokens_": "int",
        "columns_": "ndarray",
        "dense_": "LinearFeatures",
        "others_": "FeatureInput|NoneType",
    },
    complete=_complete,
)
