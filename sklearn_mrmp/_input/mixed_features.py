"""The representation a linear model reads where dense columns stand beside a bag.

Each part is presented as it would be alone, and both count alike. Knows `LinearFeatures`, numpy and
scipy.
"""

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._input.presentation import check_representation
from sklearn_mrmp._model_files.part import Part, is_vector, require

# Two parts of mean squared length 1/2 make rows of mean squared length 1.
_SHARE = np.float32(np.sqrt(0.5))


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


def _complete(features):
    """Check, in a model file, that both parts have their columns."""
    require(is_vector(features.columns_, None, "b"), "columns of a mixed representation")
    check_representation(features.dense_, int(np.count_nonzero(features.columns_)))
    check_representation(features.others_, len(features.columns_))


MixedFeatures._model_part = Part(
    {"columns_": "ndarray", "dense_": "LinearFeatures", "others_": "LinearFeatures"},
    complete=_complete,
)
