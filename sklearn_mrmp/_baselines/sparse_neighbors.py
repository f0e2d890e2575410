"""Exact nearest rows of a sparse matrix, from chunked sparse products.

Euclidean, cosine and Jaccard distance are all functions of the inner products of rows, and a
product of two sparse matrices costs only the non-zeros they share. scikit-learn's brute-force
search walks through both rows of every pair instead. It knows numpy, scipy and joblib.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.utils.parallel import Parallel, delayed

from sklearn_mrmp._model_files.part import ROWS, Part, is_count, is_vector, require
from sklearn_mrmp._numerics.rows import CACHE_NUMBERS, row_blocks
from sklearn_mrmp._numerics.sparse import as_csr
from sklearn_mrmp._numerics.topk import smallest_columns

DISTANCES = ("euclidean", "l2", "sqeuclidean", "cosine", "jaccard")

# Squares of numbers beyond 2**±400 leave the range of a float64; such rows are scaled.
_SAFE_EXPONENT = 400


class SparseNeighbors:
    """Brute-force neighbour search between the rows of sparse matrices.

    Of rows at the same distance the one that comes first in the data is taken, so the result
    depends neither on chunks nor on threads.

    Parameters
    ----------
    n_neighbors : int
        How many neighbours to find; fewer than the rows of the data.

    metric : {"euclidean", "l2", "sqeuclidean", "cosine", "jaccard"}
        The distance. Jaccard compares which columns are non-zero.

    n_jobs : int or None
        Number of threads, as in joblib.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sklearn_mrmp._baselines.sparse_neighbors import SparseNeighbors
    >>> X = sp.csr_array([[0.0, 1.0], [0.0, 3.0], [5.0, 0.0], [0.0, 2.5]])
    >>> SparseNeighbors(1).fit(X).kneighbors()
    array([[3],
           [3],
           [0],
           [1]])
    """

    def __init__(self, n_neighbors, metric="euclidean", n_jobs=None):
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.n_jobs = n_jobs

    def fit(self, X):
        """Store the rows of `X`, a sparse matrix of shape (n_samples, n_features)."""
        self._rows = self._prepare(X)
        self._sizes = _row_sizes(self._rows)
        return self

    def kneighbors(self, X=None):
        """Return the positions of the nearest stored rows, (n_queries, n_neighbors).

        Without `X`, those of each stored row, which is not its own neighbour. Neighbours are
        ordered by distance.
        """
        rows, queries = self._in_range(self._rows if X is None else self._prepare(X))
        sizes = self._sizes if rows is self._rows else _row_sizes(rows)
        columns = rows.T.tocsr()
        found = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._nearest)(queries[part], columns, sizes, part.start if X is None else None)
            for part in row_blocks(queries.shape[0], rows.shape[0], CACHE_NUMBERS)
        )
        return np.concatenate(found)

    def _prepare(self, X):
        X = as_csr(X).astype(np.float64)
        if self.metric == "jaccard":
            X.data[:] = 1.0
        elif self.metric == "cosine":
            lengths = np.diff(X.indptr)
            largest = abs(X).max(axis=1).toarray().ravel() if X.nnz else np.zeros(X.shape[0])
            X.data = np.ldexp(X.data, -np.repeat(np.frexp(largest)[1], lengths))
            norms = np.sqrt(_row_sizes(X))
            norms[norms == 0] = 1.0
            X.data /= np.repeat(norms, lengths)
        return X

    def _in_range(self, queries):
        """Divide stored rows and queries by a power of 2 where their squares would overflow."""
        largest = max(np.abs(A.data).max(initial=0.0) for A in (self._rows, queries))
        exponent = int(np.frexp(largest)[1])
        if abs(exponent) <= _SAFE_EXPONENT:
            return self._rows, queries
        return _scaled(self._rows, exponent), _scaled(queries, exponent)

    def _nearest(self, queries, columns, sizes, own_start):
        distances = self._distances(queries, sizes, (queries @ columns).toarray())
        if own_start is not None:
            own = np.arange(queries.shape[0])
            distances[own, own_start + own] = np.inf
        return smallest_columns(distances, self.n_neighbors)

    def _distances(self, queries, sizes, products):
        """Turn inner products into numbers that order the stored rows as their distances do."""
        if self.metric == "cosine":
            return np.negative(products, out=products)
        if self.metric == "jaccard":
            union = _row_sizes(queries)[:, None] + sizes - products
            # Two empty rows are equal: their distance is 0, a similarity of 1.
            return -np.divide(products, union, out=np.ones_like(products), where=union > 0)
        products *= -2
        products += sizes
        return products


def _scaled(X, exponent):
    return sp.csr_array((np.ldexp(X.data, -exponent), X.indices, X.indptr), shape=X.shape)


def _row_sizes(X):
    """Squared length of each row."""
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()


def can_search(X, metric, algorithm):
    """Whether `SparseNeighbors` finds the neighbours for these settings of a caller."""
    return sp.issparse(X) and metric in DISTANCES and algorithm in ("auto", "brute")


def _complete(search):
    """Check, in a model file, a neighbour search."""
    require(is_count(search.n_neighbors) and search.metric in DISTANCES, "a neighbour search")
    require(is_vector(search._sizes, search._rows.shape[0], "f"), "rows of a neighbour search")


SparseNeighbors._model_part = Part(
    {"_rows": "csr_array", "_sizes": "ndarray"}, complete=_complete, keeps={"_rows": ROWS}
)
