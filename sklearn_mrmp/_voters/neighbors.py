"""The neighbour voter: a row's labels as those of the most similar training rows vote for them.

It takes seconds, remembers what a linear model has to smooth away (rows that occur almost twice,
label sets that occur together), and its errors are its own: it votes beside the network and the
linear voter. Same methods as `LinearVoter`. Knows encoded rows, numpy, scipy and our threads.
"""

from functools import cached_property, partial

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from sklearn_mrmp._host.threads import run_on_rows
from sklearn_mrmp._input.presentation import check_representation
from sklearn_mrmp._model_files.part import ROWS, Part, is_count, is_matrix, is_vector, require
from sklearn_mrmp._numerics.dense_product import DenseProduct
from sklearn_mrmp._numerics.log_odds import log_odds
from sklearn_mrmp._numerics.rows import evenly_spaced
from sklearn_mrmp._numerics.similar_rows import NearestRows, SimilarRows
from sklearn_mrmp._numerics.sparse import unit_rows
from sklearn_mrmp._numerics.topk import smallest_columns
from sklearn_mrmp._voters.logistic import frequency_intercepts, log_loss
from sklearn_mrmp._voters.remembered import joined

_N_NEIGHBORS = 50
# Rules that look at similar rows see this many of them.
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


class NeighborVoter:
    """Vote of the training rows with the highest cosines, in the representation of linear models.

    A neighbour of similarity s weighs ``s_1 (s / s_1)^power``, s_1 being that of the nearest; the
    probability of a label is the weighted share of neighbours that have it, its frequency counting
    as one more neighbour. A neighbour of which a label is not known counts neither for nor against
    it, and a row of weight 2 is two neighbours.

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
    n_rows_ : int
        Rows that it was fitted on, of which it remembers all or some at equal distances.
    unknown_ : csr_array of shape (n_rows, n_labels), float32, or None
        Ones where the label of a remembered row is not known.
    counts_ : ndarray of shape (n_rows,), float32, or None
        Weights of the remembered rows.
    numbers_ : int ndarray of shape (n_rows,), or None
        Which of the rows they are, where more have come later; None is at equal distances.

    Examples
    --------
    >>> from sklearn_mrmp._input.features import FeatureInput
    >>> from sklearn_mrmp._input.rows import EncodedRows
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, _ = make_related_labels(200, 5, n_features=40, random_state=0)
    >>> Y, rows = sp.csr_array(Y), EncodedRows.of(FeatureInput(), X)
    >>> train, valid = rows.take(slice(150)), rows.take(slice(150, None))
    >>> NeighborVoter().fit(train, Y[:150], valid, Y[150:]).logits(valid).shape
    (50, 5)
    """

    decodes_candidates = False
    # Compares rows by their `wholes`, where an input kind has such.
    reads_wholes = True
    numbers_ = None

    def fit(self, rows, Y, rows_valid, Y_valid, weights=None, weights_valid=None):
        """Remember training rows and let held-out ones choose the power.

        Parameters
        ----------
        rows, rows_valid : EncodedRows
            Training rows and held-out rows.
        Y, Y_valid : csr_array of shape (n_samples, n_labels)
            0/1 labels.
        weights, weights_valid : EntryWeights, default=None
            What their entries count.

        Returns
        -------
        self : NeighborVoter
        """
        self._remember(rows, Y, weights)
        chosen = evenly_spaced(len(rows_valid), _ROWS_TO_CHOOSE)
        # What is looked up of all rows is kept for the vote; of many rows most will not vote.
        judges = rows_valid if len(chosen) == len(rows_valid) else rows_valid.take(chosen)
        found, losses = self._nearest_to(judges), {}

        def judge(block):
            near, truth = [part[block] for part in found], Y_valid[chosen[block]]
            votes = (self._vote(*near, power) for power in _POWERS)
            counts = None if weights_valid is None else weights_valid.take(chosen[block]).entries()
            losses[block.start] = [log_loss(Z, truth, counts) for Z in votes]

        run_on_rows(judge, len(chosen), max(self.labels_.shape))
        # Added up in the order of the rows, not of the threads.
        totals = np.sum([losses[start] for start in sorted(losses)], axis=0)
        self.power_ = _POWERS[int(np.argmin(totals))]
        return self

    def refit(self, rows, Y, seen=False, weights=None):
        """Remember other rows, with the power that was chosen; returns a new voter."""
        voter = NeighborVoter()
        voter._remember(rows, Y, weights)
        voter.power_ = self.power_
        return voter

    def remembering(self, rows, Y, weights=None):
        """Remember more rows besides; returns a new voter.

        The representation of rows, the power and the frequencies of labels stay. Where all rows are
        too many, old and new ones are remembered in the same proportion.

        Parameters
        ----------
        rows : EncodedRows
            More rows.
        Y : csr_array of shape (n_samples, n_labels)
            Their 0/1 labels.
        weights : EntryWeights, default=None
            What their entries count.

        Returns
        -------
        voter : NeighborVoter
        """
        X, n_old = rows.wholes.presented(self.features_), self.n_rows_
        n_most, n_new = self._most_rows(X.shape[1]), X.shape[0]
        n_chosen = max(1, round(n_new * min(1.0, n_most / (n_old + n_new))))
        new = evenly_spaced(n_new, n_chosen)
        old = evenly_spaced(self.labels_.shape[0], max(1, n_most - n_chosen))
        more, voter = NeighborVoter(), NeighborVoter()
        more._keep(X[new], Y[new], None if weights is None else weights.take(new), self.features_)
        voter.features_, voter.log_odds_, voter.power_ = self.features_, self.log_odds_, self.power_
        vars(voter).update(joined(self, old, more))
        voter.n_rows_ = n_old + n_new
        voter.numbers_ = np.append(self._numbers[old], n_old + new)
        return voter

    def _remember(self, rows, Y, weights):
        rows = rows.wholes
        self.features_ = rows.features
        self.log_odds_ = frequency_intercepts(Y, weights)
        n_most = self._most_rows(rows.bag.shape[1])
        self.n_rows_, chosen = len(rows), evenly_spaced(len(rows), n_most)
        weights = None if weights is None else weights.take(chosen)
        self._keep(rows.presented_some(self.features_, chosen), Y[chosen], weights, self.features_)

    def _keep(self, X, Y, weights, features):
        """Keep rows in a representation, their labels, and what these count."""
        self.labels_ = sp.csr_array(Y).astype(np.float32)
        self._remember_weights(weights)
        columns, is_dense = unit_rows(X).T, features.kind_ == "measurements"
        self.columns_ = columns.toarray(order="C") if is_dense else sp.csr_array(columns)

    def _most_rows(self, n_features):
        """Rows that are remembered at most."""
        if self.features_.kind_ != "measurements":
            return _MOST_ROWS
        return max(1, min(_MOST_ROWS, _MOST_DENSE_VALUES // n_features))

    @property
    def _numbers(self):
        """Number of each remembered row among all rows."""
        if self.numbers_ is not None:
            return self.numbers_
        return evenly_spaced(self.n_rows_, self.labels_.shape[0])

    def _remember_weights(self, weights):
        self.unknown_ = self.counts_ = None
        if weights is not None and weights.known is not None:
            self.unknown_ = sp.csr_array(~weights.known).astype(np.float32)
        if weights is not None and weights.rows is not None:
            self.counts_ = weights.rows.astype(np.float32)

    @property
    def shape(self):
        """Number of features and of labels."""
        return self.columns_.shape[0], self.labels_.shape[1]

    def __getstate__(self):
        """Leave out what is made anew of the remembered rows."""
        return {name: value for name, value in self.__dict__.items() if name != "_product"}

    @cached_property
    def _product(self):
        """Product of rows with the remembered ones."""
        if sp.issparse(self.columns_):
            return DenseProduct(self.columns_)
        return partial(_steady_product, columns=self.columns_)

    def logits(self, rows, candidates=None):
        """Logits of all labels, (n_samples, n_labels) float32; a row's depend on it alone."""
        similarities, nearest = self._nearest_to(rows)
        Z = np.empty((len(rows), self.labels_.shape[1]), dtype=np.float32)

        def fill(block):
            Z[block] = self._vote(similarities[block], nearest[block], self.power_)

        run_on_rows(fill, len(rows), max(self.labels_.shape))
        return Z

    def told_logits(self, rows, told, factors, chosen):
        """Logits of all labels where neighbours that contradict what is told count less.

        Parameters
        ----------
        rows : EncodedRows
            Rows.
        told : csr_array of shape (n_chosen, n_labels)
            1 and -1 where a label of the chosen rows is told to be there or not to be.
        factors : sequence of float
            What a neighbour counts for each label in which it contradicts, between 0 and 1.
        chosen : ndarray of int
            Which of the rows.

        Returns
        -------
        Z : ndarray of shape (n_factors, n_chosen, n_labels), float32
            A row's numbers depend on it and on what is told of it alone.
        """
        similarities, nearest = (part[chosen] for part in self._nearest_to(rows))
        Z = np.empty((len(factors), *told.shape), dtype=np.float32)

        def fill(block):
            near = similarities[block], nearest[block], self.power_
            contradictions = self._contradictions(told[block], nearest[block])
            for logits, factor in zip(Z, factors, strict=True):
                logits[block] = self._vote(*near, np.float32(factor) ** contradictions)

        run_on_rows(fill, told.shape[0], max(self.labels_.shape))
        return Z

    def _contradictions(self, told, nearest):
        """Count the told labels in which each neighbour contradicts, float32 (n_samples, k)."""
        n_samples, k = nearest.shape
        told = told[np.repeat(np.arange(n_samples), k)]
        theirs = self.labels_[nearest.ravel()]
        counts = told.maximum(0).sum(axis=1) - told.multiply(theirs).sum(axis=1)
        if self.unknown_ is not None:
            counts -= told.maximum(0).multiply(self.unknown_[nearest.ravel()]).sum(axis=1)
        return counts.reshape(n_samples, k).astype(np.float32)

    def similar_rows(self, rows):
        """Return the nearest of the remembered rows and their labels, if all labels are known."""
        if self.unknown_ is not None:
            return None
        found = self._nearest_to(rows)
        return SimilarRows(*(part[:, :_N_SIMILAR] for part in found), self.labels_)

    def _nearest_to(self, rows):
        """Similarities of the nearest rows, falling, and their numbers, both (n_samples, k).

        Looked up once: the vote and rules about similar rows both want them.
        """
        return rows.wholes.result_of(self, self._look_up)

    def _look_up(self, rows):
        X, k = rows.presented(self.features_), min(_N_NEIGHBORS, self.labels_.shape[0])
        similarities = np.empty((X.shape[0], k), dtype=np.float32)
        nearest = np.empty((X.shape[0], k), dtype=np.int32)

        def fill(block):
            products = self._product(unit_rows(X[block]))
            nearest[block] = smallest_columns(-products, k)
            similarities[block] = np.take_along_axis(products, nearest[block], axis=1)

        run_on_rows(fill, X.shape[0], max(self.labels_.shape))
        if nearest.min(initial=0) < 0:  # products that are no numbers have no order
            raise ValueError(
                "The remembered rows of the neighbours hold values that are no numbers."
            )
        return similarities, nearest

    def nearest_rows(self, rows, row, label, told=None, factor=1.0):
        """Return the rows that vote about a label of one row, a `NearestRows`.

        `told`, a csr_array of shape (1, n_labels), and `factor` are as of `told_logits`.
        """
        similarities, nearest = (part[[row]] for part in self._nearest_to(rows))
        less = None
        if told is not None:
            less = np.float32(factor) ** self._contradictions(told, nearest)
        weights = self._weights(similarities, nearest, self.power_, less)[0].astype(np.float64)
        has_label = _column(self.labels_, nearest[0], label)
        if self.unknown_ is not None:
            has_label[_column(self.unknown_, nearest[0], label) > 0] = np.nan
        weights[np.isnan(has_label)] = 0.0
        total = weights.sum() + _PRIOR_WEIGHT
        numbers = self._numbers[nearest[0]]
        frequency = float(expit(self.log_odds_[label]))
        return NearestRows(numbers, similarities[0], has_label, weights / total, frequency)

    def _weights(self, similarities, nearest, power, less=None):
        """Return what the nearest rows count, float32 (n_samples, k)."""
        weights = np.maximum(similarities, 0.0)
        strongest = weights[:, :1]
        weights = strongest * np.divide(
            weights, strongest, out=np.zeros_like(weights), where=strongest > 0
        ) ** np.float32(power)
        if less is not None:
            weights = weights * less
        if self.counts_ is not None:
            weights = weights * _times_counted(self.counts_[nearest])
        return weights

    def _vote(self, similarities, nearest, power, less=None):
        weights = self._weights(similarities, nearest, power, less)
        n_samples, k = weights.shape
        starts = np.arange(0, weights.size + 1, k)
        shape = (n_samples, self.labels_.shape[0])
        votes = sp.csr_array((weights.ravel(), nearest.ravel(), starts), shape=shape)
        shares = (votes @ self.labels_).toarray() + np.float32(_PRIOR_WEIGHT) * expit(
            self.log_odds_
        )
        totals = weights.sum(axis=1, keepdims=True)
        if self.unknown_ is not None:
            totals = np.maximum(totals - (votes @ self.unknown_).toarray(), 0.0)
        shares /= totals + np.float32(_PRIOR_WEIGHT)
        # Both sums are rounded, so the share of a label that all have may come out above 1.
        return log_odds(shares, _MARGIN)


def _column(matrix, rows, label):
    """Entries of some rows of a csr_array in one column, float64."""
    return matrix[rows][:, [label]].toarray()[:, 0].astype(np.float64)


def _times_counted(counts):
    """How often each neighbour counts, the nearest first, until they are as many as are asked."""
    before = np.cumsum(counts, axis=1) - counts
    return np.clip(np.float32(_N_NEIGHBORS) - before, 0.0, counts)


def _steady_product(rows, columns):
    """``rows @ columns``, row by row: in a product of matrices a row's place changes its bits."""
    products = np.empty((rows.shape[0], columns.shape[1]), dtype=np.float32)
    for row, out in zip(rows.toarray(), products, strict=True):
        np.matmul(row, columns, out=out)
    return products


def _complete(voter):
    """Check, in a model file, that rows, labels, frequencies and features fit each other."""
    require(is_matrix(voter.columns_) and voter.columns_.dtype == np.float32, "remembered rows")
    n_features, n_rows = voter.columns_.shape
    is_sparse = type(voter.labels_) is sp.csr_array and voter.labels_.dtype == np.float32
    require(is_sparse and voter.labels_.shape[0] == n_rows > 0, "labels of remembered rows")
    require(is_vector(voter.log_odds_, voter.labels_.shape[1], "f"), "frequencies of labels")
    require(0 < voter.power_ < np.inf, "power of the nearest rows")
    require(is_count(voter.n_rows_) and voter.n_rows_ >= n_rows, "number of training rows")
    unknown, counts = voter.unknown_, voter.counts_
    is_mask = unknown is None or (unknown.shape, unknown.dtype) == (voter.labels_.shape, np.float32)
    require(is_mask, "unknown labels of remembered rows")
    require(counts is None or is_vector(counts, n_rows, "f"), "weights of remembered rows")
    numbers = voter.numbers_
    require(numbers is None or is_vector(numbers, n_rows, "i"), "numbers of remembered rows")
    check_representation(voter.features_, n_features)


NeighborVoter._model_part = Part(
    {
        "features_": "LinearFeatures|MixedFeatures",
        "columns_": "csr_array|ndarray",
        "labels_": "csr_array",
        "log_odds_": "ndarray",
        "power_": "float",
        "n_rows_": "int",
        "unknown_": "csr_array|NoneType",
        "counts_": "ndarray|NoneType",
        "numbers_": "ndarray?",
    },
    complete=_complete,
    left_out=("_product",),
    keeps={"labels_": ROWS},
)
