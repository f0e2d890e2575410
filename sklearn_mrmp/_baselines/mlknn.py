"""ML-KNN: multi-label k nearest neighbours with Bayesian decisions (Zhang & Zhou, 2007).

Per label, the number of neighbours that have it is the evidence; prior and likelihoods are
counted on the training rows. The neighbour search is scikit-learn's, or `_sparse_neighbors`;
everything after it is sparse products and table look-ups over all labels at once.
"""

from numbers import Integral, Real
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import VALID_METRICS, NearestNeighbors

from sklearn_mrmp._base import (
    FITTED,
    FROM_TARGET,
    BaseMultilabelClassifier,
    complete_classifier,
    fitted_or_not,
)
from sklearn_mrmp._baselines import sparse_neighbors
from sklearn_mrmp._host.fork import openmp_after_fork
from sklearn_mrmp._model_files.part import Part, is_matrix, require
from sklearn_mrmp._numerics.entry_weights import rows_that_count
from sklearn_mrmp._sklearn_compat import Interval, StrOptions, _fit_context

_METRIC_NAMES = set().union(*VALID_METRICS.values()) - {"precomputed"}


class MLKNNClassifier(BaseMultilabelClassifier):
    """Multi-label k nearest neighbours, ML-KNN.

    For each label, the number of a row's `n_neighbors` nearest training rows that have the label
    is turned into the posterior probability that the row has it too (Bayes' rule, with prior and
    likelihoods counted on the training rows). Labels are treated independently of each other.

    Read more in :doc:`/baselines`.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbours. When there are not that many other training rows, all of them are
        used; `n_neighbors_` is the number in use.

    smoothing : float, default=1.0
        Added to every count before it becomes a frequency; 1 is Laplace smoothing.

    metric : str or callable, default="euclidean"
        The distance: any metric of :class:`~sklearn.neighbors.NearestNeighbors` except
        "precomputed". For sparse data "euclidean", "sqeuclidean", "cosine" and "jaccard"
        (on which features are non-zero) are searched by sparse products, the fastest way.

    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        The search algorithm, as in :class:`~sklearn.neighbors.NearestNeighbors`.

    n_jobs : int, default=None
        Number of parallel jobs of the neighbour search.

    Attributes
    ----------
    classes_ : list of ndarray, or ndarray
        ``array([0, 1])`` for each label; the classes for a binary or multiclass target.

    label_names_ : ndarray of str of shape (n_labels,)
        Names of the labels.

    n_neighbors_ : int
        Number of neighbours in use.

    prior_ : ndarray of shape (n_labels,)
        Probability of each label before looking at neighbours, P(H=1).

    likelihood_ : ndarray of shape (2, n_labels, n_neighbors + 1)
        ``likelihood_[b, l, j]`` is the probability that exactly j neighbours have label l, for
        rows that do not have it (b = 0) and rows that have it (b = 1).

    posterior_ : ndarray of shape (n_labels, n_neighbors + 1)
        Probability of each label given the number of neighbours that have it.

    n_features_in_ : int
        Number of features seen in `fit`.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when all of them are strings.

    See Also
    --------
    MLARAMClassifier : The other classical baseline, with prototypes instead of neighbours.
    sklearn.neighbors.KNeighborsClassifier : Decides labels by majority of the neighbours.

    Notes
    -----
    A training row is not its own neighbour, as in the paper. `predict` is the MAP decision: a
    label is predicted when its posterior is at least 1/2, so a tie means yes, as in the authors'
    program. When several training rows are at the same distance, the product search for sparse
    data prefers those that come first; scikit-learn's algorithms leave the choice open.

    References
    ----------
    .. [1] Min-Ling Zhang, Zhi-Hua Zhou: "ML-KNN: A lazy learning approach to multi-label
       learning", Pattern Recognition 40 (2007), 2038-2048.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp import MLKNNClassifier
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> Y = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [1, 1], [0, 1]])
    >>> clf = MLKNNClassifier(n_neighbors=2).fit(X, Y)
    >>> clf.predict([[0.05], [5.05]])
    array([[1, 0],
           [0, 1]])
    >>> clf.predict_proba([[0.05], [5.05]]).round(2)
    array([[0.83, 0.2 ],
           [0.28, 0.8 ]])
    """

    _parameter_constraints: ClassVar = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "smoothing": [Interval(Real, 0, None, closed="neither")],
        "metric": [StrOptions(_METRIC_NAMES), callable],
        "algorithm": [StrOptions({"auto", "ball_tree", "kd_tree", "brute"})],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self, n_neighbors=10, smoothing=1.0, *, metric="euclidean", algorithm="auto", n_jobs=None
    ):
        self.n_neighbors = n_neighbors
        self.smoothing = smoothing
        self.metric = metric
        self.algorithm = algorithm
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Count priors and likelihoods on the training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows, at least two.

        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            0/1 label matrix, a list of label names for each row, or a vector of classes.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows where they are counted, in priors and likelihoods. A row of weight
            2 is still one neighbour, and one of weight 0 is none.

        Returns
        -------
        self : MLKNNClassifier
            The fitted classifier.
        """
        with fitted_or_not(self):
            X, Y = self._validate_fit(X, y, ensure_min_samples=2)
            X, Y, weights = rows_that_count(X, Y, sample_weight)
            self.n_neighbors_ = min(self.n_neighbors, X.shape[0] - 1)
            self._neighbors = self._make_search(X).fit(X)
            self._Y = Y
            counts, total = Y.sum(axis=0), Y.shape[0]
            if weights is not None:
                counts, total = Y.T @ weights, weights.sum()
            self.prior_ = self._frequency(counts, total, n_values=2)
            tables = self._count_neighbor_labels(), counts, total, weights
            self.likelihood_ = self._likelihood(*tables)
            yes = self.prior_[:, None] * self.likelihood_[1]
            no = (1 - self.prior_[:, None]) * self.likelihood_[0]
            self.posterior_ = yes / (yes + no)
        return self

    def _make_search(self, X):
        self._is_sparse = sp.issparse(X)
        settings = {
            "n_neighbors": self.n_neighbors_,
            "metric": self.metric,
            "n_jobs": self.n_jobs,
        }
        if sparse_neighbors.can_search(X, self.metric, self.algorithm):
            return sparse_neighbors.SparseNeighbors(**settings)
        return NearestNeighbors(algorithm=self.algorithm, **settings)

    def _count_neighbor_labels(self, X=None):
        """Return how many neighbours have each label: CSR array (n_rows, n_labels)."""
        if isinstance(self._neighbors, NearestNeighbors):
            with openmp_after_fork():
                neighbors = self._neighbors.kneighbors(X, return_distance=False)
        else:
            neighbors = self._neighbors.kneighbors(X)
        n_rows, k = neighbors.shape
        ones = np.ones(neighbors.size, dtype=np.int32)
        row_ends = np.arange(0, neighbors.size + 1, k)
        chosen = sp.csr_array((ones, neighbors.ravel(), row_ends), (n_rows, self._Y.shape[0]))
        return chosen @ self._Y

    def _likelihood(self, counts, n_present, n_rows, weights):
        """P(number of neighbours with the label | label absent, present); (2, n_labels, k + 1)."""
        present = self._tabulate(counts.multiply(self._Y), weights)
        every = self._tabulate(counts, weights)
        # What the sparse counts leave out are rows of which no neighbour has the label.
        present[:, 0] = n_present - present.sum(axis=1)
        every[:, 0] = n_rows - every.sum(axis=1)
        tables = np.stack([every - present, present])
        totals = np.stack([n_rows - n_present, n_present])[:, :, None]
        return self._frequency(tables, totals, n_values=self.n_neighbors_ + 1)

    def _tabulate(self, counts, weights):
        """Histogram of the non-zero counts of each label, (n_labels, k + 1)."""
        n_labels, n_values = counts.shape[1], self.n_neighbors_ + 1
        counts = counts.tocoo()
        cells = counts.col.astype(np.intp) * n_values + counts.data
        weights = None if weights is None else weights[counts.row]
        table = np.bincount(cells, weights, minlength=n_labels * n_values)
        return table.reshape(n_labels, n_values)

    def _frequency(self, counts, totals, n_values):
        return (self.smoothing + counts) / (self.smoothing * n_values + totals)

    def _label_probabilities(self, X):
        if sp.issparse(X) and not self._is_sparse:
            X = X.toarray()
        elif self._is_sparse:
            X = sp.csr_array(X)
        counts = self._count_neighbor_labels(X).tocoo()
        P = np.tile(self.posterior_[:, 0], (X.shape[0], 1))
        P[counts.row, counts.col] = self.posterior_[counts.col, counts.data]
        return P


def _complete(classifier):
    """Check, in a model file, that neighbours, labels and the posterior fit each other."""
    complete_classifier(classifier)
    n_labels, k = classifier._target_encoding.n_labels, classifier.n_neighbors_
    search, Y = classifier._neighbors, classifier._Y
    require(type(Y) is sp.csr_array and Y.shape[1] == n_labels, "labels of the neighbours")
    require(is_matrix(classifier.posterior_, n_labels, k + 1), "posterior and labels")
    rows = search._rows if isinstance(search, sparse_neighbors.SparseNeighbors) else search._fit_X
    require(is_matrix(rows, Y.shape[0], classifier.n_features_in_), "rows and their labels")
    require(search.n_neighbors == k <= Y.shape[0], "number of neighbours")


MLKNNClassifier._model_part = Part(
    {
        **FITTED,
        "n_features_in_": "int",
        "n_neighbors_": "int",
        "_neighbors": "SparseNeighbors|NearestNeighbors",
        "_Y": "csr_array",
        "_is_sparse": "bool",
        "prior_": "ndarray",
        "likelihood_": "ndarray",
        "posterior_": "ndarray",
    },
    left_out=FROM_TARGET,
    complete=_complete,
)
