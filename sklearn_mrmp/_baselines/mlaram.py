"""ML-ARAM: multi-label fuzzy ARAM, and its hierarchical form HARAM (Benites & Sapozhnikova, 2015).

Prototypes are hyperboxes around training rows with the same set of labels (`_fuzzy_art`), and carry
label counts. The prototypes that match a new row best vote for its labels. HARAM clusters the
prototypes by a second fuzzy ART layer and lets only those of the best clusters compete.
"""

from numbers import Integral, Real
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._base import (
    FITTED,
    FROM_TARGET,
    BaseMultilabelClassifier,
    complete_classifier,
    fitted_or_not,
)
from sklearn_mrmp._baselines.fuzzy_art import ALPHA, learn_boxes
from sklearn_mrmp._baselines.hyperboxes import Hyperboxes, activities, stack
from sklearn_mrmp._baselines.unit_range import UnitRange
from sklearn_mrmp._model_files.part import PROTOTYPES, Part, is_vector, require
from sklearn_mrmp._numerics.entry_weights import rows_that_count
from sklearn_mrmp._numerics.rows import CACHE_NUMBERS, row_blocks
from sklearn_mrmp._numerics.sparse import as_csr
from sklearn_mrmp._sklearn_compat import Interval, StrOptions, _fit_context

# Scores of labels that differ by less, relatively, differ by rounding only.
_ROUNDING = 1e-9

# Shares of 0 and 1 are reported as this far inside (0, 1), as every classifier of the package does.
_MARGIN = 1e-7


class MLARAMClassifier(BaseMultilabelClassifier):
    """Multi-label ARAM: prototypes of label sets by adaptive resonance, optionally hierarchical.

    Training rows with the same label set are summarised by hyperboxes, whose size is limited by
    `vigilance`. For a new row, the prototypes that are activated nearly as much as the best one are
    used. The scores of labels are their shares among these prototypes, and the labels above the
    largest gap in the scores are predicted.

    Read more in :doc:`/baselines`.

    Parameters
    ----------
    vigilance : float in [0, 1], default=0.9
        How alike rows in one prototype must be: a box may extend over at most the fraction
        ``1 - vigilance`` of the feature space, summed over features. 0 makes one prototype of
        each label set, 1 one of each distinct row.

    threshold : float, default=0.02
        How much less than the best one a prototype may be activated, relative to the spread of
        activations, to be used. It is read at prediction, so that changing it needs no new fit.

    n_epochs : int, default=1
        How many times at most the rows are presented. With ``learning_rate=1`` boxes do not change
        after the first time. Learning stops early when nothing changes.

    learning_rate : float in (0, 1], default=1.0
        How far a prototype moves towards a row that is assigned to it; 1 is fast learning, as in
        the paper.

    scaling : {"feature", "global"}, default="feature"
        ``"feature"`` scales each feature by its own range in the training rows, and ``"global"``
        all features by the common range. Use the first for features without a common unit. The
        second may be better for weights such as tf-idf.

    cluster_vigilance : float in [0, 1], default=None
        Vigilance of the second layer, which clusters prototypes; smaller means fewer clusters.
        None means no second layer.

    n_search_clusters : int, default=3
        With a second layer, the number of best clusters whose prototypes compete for a row. Read
        at prediction.

    Attributes
    ----------
    classes_ : list of ndarray, or ndarray
        ``array([0, 1])`` for each label; the classes for a binary or multiclass target.

    label_names_ : ndarray of str of shape (n_labels,)
        Names of the labels.

    n_prototypes_ : int
        Number of prototypes.

    label_counts_ : csr_array of int or float of shape (n_prototypes, n_labels)
        Training rows with each label in each prototype, or their weight.

    prototype_sizes_ : ndarray of int or float of shape (n_prototypes,)
        Training rows in each prototype, or their weight.

    n_clusters_ : int
        Number of clusters in the second layer, 0 without it.

    n_iter_ : int
        How many times the rows were presented.

    n_features_in_ : int
        Number of features seen in `fit`.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when all of them are strings.

    See Also
    --------
    MLKNNClassifier : The other classical baseline, with neighbours instead of prototypes.

    Notes
    -----
    The probability of a label is its share among the training rows of the voting prototypes,
    weighted by activation. It orders labels well but is not calibrated, and `predict` uses the
    largest gap between scores and not 1/2. Labels with equal scores are predicted together, and a
    label that no voting prototype has is never predicted. For a binary or multiclass vector the
    most probable class is taken.

    Equal choice values are decided for the older prototype, and a match equal to the vigilance
    passes. Result and prototypes depend on the order of the training rows.

    References
    ----------
    .. [1] Fernando Benites, Elena Sapozhnikova: "HARAM: a hierarchical ARAM neural network for
       large-scale text classification", IEEE ICDM Workshops 2015, 847-854.
    .. [2] Elena Sapozhnikova: "ART-based neural networks for multi-label classification",
       Advances in Intelligent Data Analysis VIII, 2009, 167-177.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp import MLARAMClassifier
    >>> X = np.array([[0.0, 0.0], [0.1, 0.0], [1.0, 0.9], [0.9, 1.0], [0.0, 1.0]])
    >>> Y = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 1], [0, 1, 1], [0, 0, 1]])
    >>> clf = MLARAMClassifier().fit(X, Y)
    >>> clf.n_prototypes_
    3
    >>> clf.predict([[0.05, 0.1], [0.9, 0.8]])
    array([[1, 0, 0],
           [0, 1, 1]])
    """

    _parameter_constraints: ClassVar = {
        "vigilance": [Interval(Real, 0, 1, closed="both")],
        "threshold": [Interval(Real, 0, None, closed="left")],
        "n_epochs": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, 1, closed="right")],
        "scaling": [StrOptions({"feature", "global"})],
        "cluster_vigilance": [Interval(Real, 0, 1, closed="both"), None],
        "n_search_clusters": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        vigilance=0.9,
        threshold=0.02,
        *,
        n_epochs=1,
        learning_rate=1.0,
        scaling="feature",
        cluster_vigilance=None,
        n_search_clusters=3,
    ):
        self.vigilance = vigilance
        self.threshold = threshold
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.scaling = scaling
        self.cluster_vigilance = cluster_vigilance
        self.n_search_clusters = n_search_clusters

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Learn prototypes from the training rows, in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows. They are scaled to [0, 1] here, and new rows in the same way.

        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            0/1 label matrix, a list of label names for each row, or a vector of classes.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows where prototypes count them. Where prototypes are does not depend
            on weights, except that rows of weight 0 make none.

        Returns
        -------
        self : MLARAMClassifier
            The fitted classifier.
        """
        with fitted_or_not(self):
            X, Y = self._validate_fit(X, y)
            X, Y, weights = rows_that_count(X, Y, sample_weight)
            self._is_sparse = sp.issparse(X)
            X = as_csr(X) if self._is_sparse else X
            self._range = UnitRange.of(X, per_feature=self.scaling == "feature")
            self._learn_prototypes(Hyperboxes.points(self._range.scale(X)), Y, weights)
            self._learn_clusters()
        return self

    def _learn_prototypes(self, inputs, Y, weights):
        """First layer: fuzzy ART among the rows of each label set."""
        alone, groups = _label_set_groups(Y)
        learned = [self._learn(inputs, rows) for rows in groups]
        boxes = stack([inputs.take(alone), *(part.boxes for part in learned)])
        founders = np.concatenate([alone, *(part.founders for part in learned)])
        if weights is None:
            weights = np.ones(Y.shape[0], dtype=np.intp)
        sizes = [_sums(part, weights[rows]) for part, rows in zip(learned, groups, strict=True)]
        sizes = np.concatenate([weights[alone], *sizes])
        # By age, and without boxes whose rows all moved to others in a later epoch.
        order = np.argsort(founders)
        order = order[sizes[order] > 0]
        self._prototypes = boxes.take(order)
        self.prototype_sizes_ = sizes[order]
        self.label_counts_ = as_csr(Y[founders[order]].multiply(sizes[order][:, None]))
        self.n_prototypes_ = len(order)
        self.n_iter_ = max([1, *(part.n_epochs for part in learned)])

    def _learn(self, inputs, rows):
        return learn_boxes(inputs, rows, self.vigilance, self.learning_rate, self.n_epochs)

    def _learn_clusters(self):
        """Second layer (HARAM): fuzzy ART with the prototypes as inputs."""
        self.n_clusters_ = 0
        if self.cluster_vigilance is None:
            return
        every = np.arange(self.n_prototypes_)
        learned = learn_boxes(self._prototypes, every, self.cluster_vigilance)
        self._clusters = learned.boxes
        self.n_clusters_ = len(learned.boxes)
        by_cluster = np.argsort(learned.winners, kind="stable")
        ends = np.cumsum(np.bincount(learned.winners, minlength=self.n_clusters_))
        self._members = np.split(by_cluster, ends[:-1])
        self._member_boxes = [self._prototypes.take(members) for members in self._members]

    def _label_probabilities(self, X):
        if self._is_sparse:
            X = as_csr(X)
        elif sp.issparse(X):
            X = X.toarray()
        inputs = Hyperboxes.points(self._range.scale(X))
        blocks = row_blocks(len(inputs), self._max_competitors(), CACHE_NUMBERS)
        return np.concatenate([self._vote(inputs.take(rows)) for rows in blocks])

    def _max_competitors(self):
        if not self.n_clusters_:
            return self.n_prototypes_
        return self.n_search_clusters * max(len(members) for members in self._members)

    def _vote(self, inputs):
        """Label shares among the rows of the activated prototypes, weighted by activation."""
        activity = self._cluster_activities(inputs) if self.n_clusters_ else self._every(inputs)
        starts, lengths = activity.indptr[:-1], np.diff(activity.indptr)
        best = np.maximum.reduceat(activity.data, starts)
        spread = best - np.minimum.reduceat(activity.data, starts)
        least = np.repeat(best - self.threshold * spread * best, lengths)
        # A tiny weight keeps the shares defined when even the best activity is 0.
        weights = np.maximum(activity.data, np.finfo(float).tiny)
        weights[activity.data < least] = 0.0
        weights = as_csr(sp.csr_array((weights, activity.indices, activity.indptr), activity.shape))
        shares = (weights @ self.label_counts_).toarray()
        shares /= (weights @ self.prototype_sizes_)[:, None]
        return np.clip(shares, _MARGIN, 1 - _MARGIN)

    def _every(self, inputs):
        """Activity of every prototype, CSR array (n_inputs, n_prototypes_) with all entries."""
        values = np.maximum(activities(inputs, self._prototypes, ALPHA), 0)
        columns = np.tile(np.arange(self.n_prototypes_), len(inputs))
        ends = np.arange(len(inputs) + 1) * self.n_prototypes_
        return sp.csr_array((values.ravel(), columns, ends), values.shape)

    def _cluster_activities(self, inputs):
        """Activity of the prototypes of each input's best clusters, as a CSR array."""
        n_search = min(self.n_search_clusters, self.n_clusters_)
        order = np.argsort(-activities(inputs, self._clusters, ALPHA), axis=1, kind="stable")
        searched, rows = order[:, :n_search].ravel(), np.repeat(np.arange(len(inputs)), n_search)
        by_cluster = np.argsort(searched, kind="stable")
        clusters, starts = np.unique(searched[by_cluster], return_index=True)
        found = []
        for cluster, asking in zip(clusters, np.split(rows[by_cluster], starts[1:]), strict=True):
            members = self._members[cluster]
            values = activities(inputs.take(asking), self._member_boxes[cluster], ALPHA)
            places = np.repeat(asking, len(members)), np.tile(members, len(asking))
            found.append((np.maximum(values, 0).ravel(), *places))
        values, rows, columns = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return sp.csr_array((values, (rows, columns)), (len(inputs), self.n_prototypes_))

    def _predict_labels(self, P, X):
        """Labels above the largest gap between scores; of equal gaps, the upper one."""
        if P.shape[1] == 1:
            return P >= 0.5  # between the scores of a single label there is no gap
        ordered = -np.sort(-P, axis=1)
        gaps = ordered[:, :-1] - ordered[:, 1:]
        largest = gaps.max(axis=1, keepdims=True)
        cut = np.argmax(gaps >= largest * (1 - _ROUNDING), axis=1)
        lowest = np.take_along_axis(ordered, cut[:, None], axis=1)
        return (P >= lowest * (1 - _ROUNDING)) & (P > _MARGIN)


def _sums(learned, weights):
    """Weight of the rows in each box, in the dtype of the weights."""
    sums = np.bincount(learned.winners, weights, minlength=len(learned.boxes))
    return sums.astype(weights.dtype)


def _label_set_groups(Y):
    """Rows by label set: those alone with theirs, and a list of arrays of rows that share one."""
    groups = {}
    for row, (start, stop) in enumerate(zip(Y.indptr[:-1], Y.indptr[1:], strict=True)):
        groups.setdefault(Y.indices[start:stop].tobytes(), []).append(row)
    alone = [rows[0] for rows in groups.values() if len(rows) == 1]
    shared = [np.array(rows) for rows in groups.values() if len(rows) > 1]
    return np.array(alone, dtype=np.intp), shared


def _complete(classifier):
    """Check prototypes and clusters of a model file, and collect each cluster's boxes."""
    complete_classifier(classifier)
    n, n_labels = classifier.n_prototypes_, classifier._target_encoding.n_labels
    boxes, counts = classifier._prototypes, classifier.label_counts_
    require(n > 0 and len(boxes) == n, "prototypes")
    require(boxes.n_features == classifier.n_features_in_, "prototypes and features")
    require(type(counts) is sp.csr_array and counts.shape == (n, n_labels), "labels of prototypes")
    require(is_vector(classifier.prototype_sizes_, n), "sizes of prototypes")
    if not classifier.n_clusters_:
        return
    members, clusters = classifier._members, classifier._clusters
    require(len(clusters) == len(members) == classifier.n_clusters_, "clusters")
    require(all(is_vector(some, kinds="i") for some in members), "members of clusters")
    belongs = np.sort(np.concatenate(members))
    require(np.array_equal(belongs, np.arange(n)), "members of clusters and prototypes")
    classifier._member_boxes = [boxes.take(some) for some in members]


MLARAMClassifier._model_part = Part(
    {
        **FITTED,
        "n_features_in_": "int",
        "_is_sparse": "bool",
        "_range": "UnitRange",
        "_prototypes": "Hyperboxes",
        "prototype_sizes_": "ndarray",
        "label_counts_": "csr_array",
        "n_prototypes_": "int",
        "n_iter_": "int",
        "n_clusters_": "int",
        "_clusters": "Hyperboxes?",
        "_members": "list?",
    },
    left_out=(*FROM_TARGET, "_member_boxes"),
    complete=_complete,
    keeps={"prototype_sizes_": PROTOTYPES},
)
