"""Rows that are encoded at most once, however many voters read them.

Knows the face of input kinds (`kinds`), the representation of linear models and scipy.
"""

from functools import cached_property

import scipy.sparse as sp

from sklearn_mrmp._input.features import FeatureInput
from sklearn_mrmp._input.presentation import LinearFeatures
from sklearn_mrmp._numerics.sparse import LARGE, RowParts


class EncodedRows:
    """Some rows, and everything that voters read of them, each computed when first asked for.

    Parameters
    ----------
    encoder : input kind
        Fitted, at the latest when something is read.
    canonical : {ndarray, csr_array, RowParts}
        The rows as ``encoder.canonical`` made them, or some of these, which are not copied.
    X : {ndarray, csr_array, RowParts}
        The same rows as they were validated.
    weights : ndarray of shape (n_samples,), default=None
        What each row counts where columns are scaled by the rows; None is 1.
    """

    def __init__(self, encoder, canonical, X, weights=None):
        self.encoder = encoder
        self.canonical = canonical
        self.X = X
        self.weights = weights
        self._tokens_of_all = None
        self._presented = {}
        self._results = {}

    @classmethod
    def of(cls, encoder, X, weights=None):
        """Return rows `X` for an encoder."""
        return cls(encoder, encoder.canonical(X), X, weights)

    def __len__(self):
        return self.X.shape[0]

    def __getstate__(self):
        """Leave out what goes by the identity of objects: a copy has others."""
        return {**self.__dict__, "_presented": {}, "_results": {}}

    def take(self, chosen):
        """Return the chosen rows; tokens that were computed here are not computed again."""
        weights = None if self.weights is None else self.weights[chosen]
        many = self._many(chosen)
        if many is not None:
            return EncodedRows(self.encoder, *many, weights)
        canonical = self.canonical[chosen]
        is_view = sp.issparse(self.X) and self.X.data is self.canonical.data
        X = type(self.X)(canonical) if is_view else self.X[chosen]
        rows = EncodedRows(self.encoder, canonical, X, weights)
        if "tokens" in self.__dict__:
            rows._tokens_of_all = self.tokens, chosen
        return rows

    def _many(self, chosen):
        """Chosen rows that are not copied, both forms; None where copies are small."""
        if not getattr(self.encoder, "reads_parts", False):
            return None
        rows = RowParts.of(self.canonical).take(chosen)
        if rows.nnz <= LARGE:
            return None
        if isinstance(self.X, RowParts):
            return rows, self.X.take(chosen)
        return rows, RowParts(self.X, rows.chosen)

    def fit_encoder(self, earlier=None):
        """Fit the encoder on these rows; what it learned for linear models serves the voters.

        With an `earlier` one, to which the weights of a network belong, it learns what that has not
        seen; the voters then have a representation of these rows alone.
        """
        if earlier is not None:
            self.encoder.go_on(earlier, self.canonical)
            return self
        self.encoder.fit(self.canonical)
        if hasattr(self.encoder, "features_"):
            if self.weights is not None:
                self.encoder.features_.fit(self.bag, weights=self.weights)
            self.features = self.encoder.features_
        return self

    @cached_property
    def tokens(self):
        """Ragged rows that batches are cut from."""
        if self._tokens_of_all is not None:
            tokens, chosen = self._tokens_of_all
            return tokens.take(chosen)
        return self.encoder.tokens(self.canonical)

    @cached_property
    def bag(self):
        """The matrix that linear and neighbour voters read, a canonical csr_array."""
        return self.encoder.bag(self)

    @cached_property
    def table(self):
        """The matrix that any scikit-learn estimator reads."""
        return self.encoder.table(self)

    @cached_property
    def wholes(self):
        """The rows as the neighbour voter compares them: these, or one vector for each."""
        make = getattr(self.encoder, "wholes", None)
        vectors = None if make is None else make(self)
        return self if vectors is None else EncodedRows.of(FeatureInput(), vectors, self.weights)

    @cached_property
    def features(self):
        """A representation for linear models that was fitted on these rows."""
        make = getattr(self.encoder, "representation", None)
        if make is None:
            return LinearFeatures().fit(self.bag, weights=self.weights)
        return make(self.bag, self.weights)

    def presented(self, features):
        """Return the rows in a representation for linear models, float32 csr_array."""
        if id(features) not in self._presented:
            self._presented[id(features)] = features, features.transform(self.bag)
        return self._presented[id(features)][1]

    def presented_some(self, features, chosen):
        """Return a copy of some rows of the same; the others are not presented for it."""
        if id(features) in self._presented or len(chosen) == len(self):
            return self.presented(features)[chosen]
        return features.transform(self.bag[chosen])

    def result_of(self, voter, compute):
        """Return what a voter computes of these rows, computed once."""
        if id(voter) not in self._results:
            self._results[id(voter)] = voter, compute(self)
        return self._results[id(voter)][1]
