"""What single classes of the package need besides the general rules of `_parts`.

``take_…`` splits an object where the general way would store too much, ``make_…`` makes one in its
own way, ``complete_…`` fills in what was left out and checks that the parts of a model fit each
other: code behind them reads memory by these sizes. Knows the package's classes; no torch.
"""

import re

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import Bunch

from sklearn_mrmp._baselines.hyperboxes import Hyperboxes
from sklearn_mrmp._baselines.sparse_neighbors import METRICS, SparseNeighbors
from sklearn_mrmp._decisions.label_set_model import LabelSetModel
from sklearn_mrmp._model_files.errors import ModelFileError
from sklearn_mrmp._targets import LabelClasses, TargetEncoding

# Without groups no repetition can be repeated, and two of them are at worst quadratic: a pattern
# of a stranger must not take years over a text.
_MAX_REPETITIONS = 2


def require(condition, what):
    """Raise ModelFileError unless the condition holds."""
    if not condition:
        raise ModelFileError(f"Parts of the model do not fit each other: {what}.")


def is_matrix(value, n_rows=None, n_columns=None):
    """Whether `value` is a dense or CSR matrix of numbers of this shape."""
    if not isinstance(value, (np.ndarray, sp.csr_array)) or value.ndim != 2:
        return False
    if value.dtype.kind not in "biuf":
        return False
    return n_rows in (None, value.shape[0]) and n_columns in (None, value.shape[1])


def is_vector(value, length=None, kinds="biuf"):
    """Whether `value` is a vector of this length and these kinds of dtype."""
    is_one = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in kinds
    return is_one and length in (None, len(value))


def is_count(value):
    """Whether `value` is a whole number above 0."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value > 0


def take_target_encoding(encoding):
    """Parameters of an encoding; the classes of a label matrix follow from the names."""
    names = ("kind", "classes", "label_names", "dtype", "container")
    params = {name: getattr(encoding, name) for name in names}
    if encoding.kind == "multilabel":
        params["classes"] = None
    return params, {}


def make_target_encoding(params, fitted):
    """Make an encoding of what `take_target_encoding` returned."""
    require(not fitted and len(params) == 5, "a target encoding")
    encoding = TargetEncoding(**params)
    kind, names = encoding.kind, encoding.label_names
    require(kind in ("multilabel", "binary", "multiclass"), f"a target of kind {kind!r:.50}")
    require(is_vector(names, kinds="O") and len(names) > 0, "names of labels")
    require(isinstance(encoding.dtype, np.dtype), "dtype of the target")
    require(encoding.container in (None, sp.csr_array, sp.csr_matrix), "container of the target")
    if kind == "multilabel":
        require(encoding.classes is None, "classes of a label matrix")
        classes = LabelClasses(np.array([0, 1]) for _ in names)
        return TargetEncoding(kind, classes, names, encoding.dtype, encoding.container)
    n_classes = len(names) + (kind == "binary")
    require(is_vector(encoding.classes, n_classes, "biufUO"), "classes and their names")
    return encoding


def complete_classifier(classifier):
    """Attributes that repeat the target encoding."""
    classifier.classes_ = classifier._target_encoding.classes
    classifier.label_names_ = classifier._target_encoding.label_names


def complete_mrmp(classifier):
    """Check that rows, tokens, networks, graph and labels have the sizes of each other."""
    complete_classifier(classifier)
    n_labels, graph = classifier._target_encoding.n_labels, classifier.label_graph_
    encoder, model = classifier._model.encoder, classifier._model
    require(graph is None or graph.n_labels == n_labels, "label graph and labels")
    for net in model.nets:
        module = net.module_
        require(module.n_labels == n_labels, "network and labels")
        tokens = module.embedding.presence.num_embeddings - 1
        require(encoder.n_tokens_ == tokens, "network and features")
        require(encoder.has_values_ == (module.embedding.value is not None), "network and values")
        require(encoder.positions == module.embedding.positions, "network and positions")
    is_sequence = type(encoder).__name__ == "SequenceTokens"
    require(classifier.input_type_ == ("sequence" if is_sequence else "features"), "input type")
    require(is_sequence or tokens == classifier.n_features_in_, "features and tokens")
    for path in (model.linear, model.neighbors):
        require(path is None or path.shape == (tokens, n_labels), "paths and labels")
    is_odds = model.log_odds is None or is_vector(model.log_odds, n_labels, "f")
    require(is_odds and (not model.has_paths or model.log_odds is not None), "label frequencies")
    is_shifts = model.shifts is None or is_vector(model.shifts, n_labels, "f")
    require(is_shifts, "shifts of labels")
    sets = model.sets
    require(sets is None or sets.model.sets.shape[1] == n_labels, "label sets and labels")
    k = model.n_candidates
    require(k is None or (is_count(k) and k < n_labels), "shortlist and labels")


def complete_label_model(model):
    """Check the parts of a model."""
    parts = (model.encoder, model.linear, model.neighbors, *model.nets)
    kinds = [type(part).__name__ for part in parts]
    require(kinds[0] in ("FeatureTokens", "SequenceTokens"), "an encoder")
    require(kinds[1] in ("LinearPath", "LabelCentroids", "NoneType"), "a linear path")
    require(kinds[2] in ("NeighborPath", "NoneType"), "a neighbour path")
    require(type(model.sets).__name__ in ("LabelSetVote", "NoneType"), "a vote of label sets")
    require(isinstance(model.nets, list) and set(kinds[3:]) == {"MrMPNet"}, "networks")
    require(model.n_candidates is None or model.linear is not None, "shortlist and linear path")
    for weights in (model.weights, model.outside_weights):
        is_four = isinstance(weights, tuple) and len(weights) == 4
        require(is_four and all(isinstance(w, float) for w in weights), "weights of votes")


def complete_linear_path(path):
    """Check that weights, intercepts and features have the sizes of each other."""
    require(is_matrix(path.coef_) and path.coef_.dtype == np.float32, "weights of a linear path")
    n_features, n_labels = path.coef_.shape
    require(is_vector(path.intercept_, n_labels, "f"), "intercepts of a linear path")
    _check_representation(path.features_, n_features)


def complete_label_centroids(path):
    """Check that centroids, frequencies and features have the sizes of each other."""
    require(type(path.centroids_) is sp.csr_array, "centroids of labels")
    n_features, n_labels = path.centroids_.shape
    require(is_vector(path.log_odds_, n_labels, "f"), "frequencies of labels")
    require(is_vector(path.calibration_, 3, "f"), "calibration of labels")
    _check_representation(path.features_, n_features)


def complete_neighbor_path(path):
    """Check that rows, their labels, frequencies and features have the sizes of each other."""
    require(is_matrix(path.columns_) and path.columns_.dtype == np.float32, "remembered rows")
    n_features, n_rows = path.columns_.shape
    is_sparse = type(path.labels_) is sp.csr_array and path.labels_.dtype == np.float32
    require(is_sparse and path.labels_.shape[0] == n_rows > 0, "labels of remembered rows")
    require(is_vector(path.log_odds_, path.labels_.shape[1], "f"), "frequencies of labels")
    require(0 < path.power_ < np.inf, "power of the nearest rows")
    _check_representation(path.features_, n_features)


def _check_representation(features, n_features):
    for name in ("largest_", "mean_", "spread_", "idf_"):
        part = getattr(features, name, None)
        if isinstance(part, np.ndarray):
            require(is_vector(part, n_features, "f"), "features of a linear path")


def complete_linear_features(features):
    """Check that what a kind of rows needs is there."""
    needs = {"measurements": ("mean_", "spread_"), "bag": ("is_count_", "idf_"), "as_is": ()}
    require(features.kind_ in needs, "kind of rows")
    require(all(hasattr(features, name) for name in needs[features.kind_]), "kind of rows")
    is_scalar = isinstance(features.largest_, float)
    require(is_scalar != (features.kind_ == "measurements"), "scale of rows")


def plain_history(history):
    """Numbers and texts of a training history; callbacks may have recorded anything."""
    plain = (bool, int, float, str, np.generic)
    return [
        {name: value for name, value in epoch.items() if isinstance(value, plain)}
        for epoch in history
    ]


def complete_feature_tokens(encoder):
    """Check that every feature has its statistics."""
    n = encoder.n_tokens_
    require(is_vector(encoder.trained_, n, "b"), "features and which of them occur")
    require(all(is_vector(v, n, "f") for v in (encoder.mean_, encoder.spread_)), "features")
    _check_representation(encoder.features_, n)


def complete_sequence_tokens(encoder):
    """Check that every token id is known to occur or not."""
    require(is_vector(encoder.trained_, encoder.n_tokens_, "b"), "token ids")
    require(is_vector(encoder.log_idf_, encoder.n_tokens_, "f"), "token ids and how rare they are")


def complete_label_sets(model):
    """Check that label sets, their counts and the labels' frequencies agree."""
    require(type(model.sets) is sp.csr_array and model.sets.shape[0] > 0, "label sets")
    n_sets, n_labels = model.sets.shape
    require(is_vector(model.counts, n_sets), "label sets and their counts")
    require(is_vector(model.label_prior, n_labels, "f"), "label sets and labels")
    require(is_vector(model.coefficients, 4, "f"), "coefficients of label sets")


def complete_seen_row_rule(rule):
    """Check the parts of a rule for rows seen before."""
    is_rule = type(rule.rule).__name__ in ("LabelSetRule", "GlobalThresholdRule")
    require(is_rule, "a rule for rows not seen before")
    is_cut = isinstance(rule.min_similarity, float) and 0 < rule.min_similarity <= 1
    require(is_cut and isinstance(rule.validation_score, float), "similarity of rows")


def complete_label_set_vote(vote):
    """Check the parts of a vote of label sets."""
    require(type(vote.model) is LabelSetModel, "label sets of a vote")
    require(isinstance(vote.share, float) and 0 < vote.share < 1, "share of label sets")


def complete_mlknn(classifier):
    """Check that neighbours, their labels and the posterior have the sizes of each other."""
    complete_classifier(classifier)
    n_labels, k = classifier._target_encoding.n_labels, classifier.n_neighbors_
    search, Y = classifier._neighbors, classifier._Y
    require(type(Y) is sp.csr_array and Y.shape[1] == n_labels, "labels of the neighbours")
    require(is_matrix(classifier.posterior_, n_labels, k + 1), "posterior and labels")
    rows = search._rows if isinstance(search, SparseNeighbors) else search._fit_X
    require(is_matrix(rows, Y.shape[0], classifier.n_features_in_), "rows and their labels")
    require(search.n_neighbors == k <= Y.shape[0], "number of neighbours")


def complete_sparse_neighbors(search):
    """Check a neighbour search."""
    require(is_count(search.n_neighbors) and search.metric in METRICS, "a neighbour search")
    require(is_vector(search._sizes, search._rows.shape[0], "f"), "rows of a neighbour search")


def take_neighbors(search):
    """Parameters and rows; trees over the rows are code's own structures and are built anew."""
    return search.get_params(deep=False), {"_fit_X": search._fit_X}


def make_neighbors(params, fitted):
    """Neighbour search over rows of a file."""
    require(fitted.keys() == {"_fit_X"} and is_matrix(fitted["_fit_X"]), "rows to search")
    require(isinstance(params.get("metric"), str), "metric of a neighbour search")
    return NearestNeighbors(**params).fit(fitted["_fit_X"])


def complete_mlaram(classifier):
    """Check prototypes and clusters against each other, and collect each cluster's boxes."""
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


def take_hyperboxes(boxes):
    """Corners of boxes; points have one."""
    return {"low": boxes.low, "high": None if boxes.are_points else boxes.high}, {}


def make_hyperboxes(params, fitted):
    """Boxes of corners of a file."""
    require(not fitted and params.keys() == {"low", "high"}, "boxes")
    low, high = params["low"], params["high"]
    high = low if high is None else high
    require(is_matrix(low) and type(high) is type(low) and high.shape == low.shape, "boxes")
    return Hyperboxes(low, high)


def complete_unit_range(unit_range):
    """Check the ranges of features."""
    low, high = unit_range.low, unit_range.high
    require(is_vector(low, kinds="f") and is_vector(high, len(low), "f"), "ranges of features")


def complete_voting(classifier):
    """Members by name, as many as there are weights."""
    complete_classifier(classifier)
    n_members = len(classifier.estimators)
    members = classifier.estimators_
    require(len(members) == n_members, "members of the vote")
    require(is_vector(classifier.weights_, n_members, "f"), "members and weights")
    names = [name for name, _ in classifier.estimators]
    classifier.named_estimators_ = Bunch(**dict(zip(names, members, strict=True)))


def complete_token_vectorizer(vectorizer):
    """Check the vocabulary and the pattern of a text vectorizer."""
    check_token_pattern(vectorizer.token_pattern)
    ids = sorted(vectorizer.vocabulary_.values())
    first = 1 if vectorizer.unknown_token is None else 2
    require(ids == list(range(first, first + len(ids))), "token ids of a vocabulary")


def check_token_pattern(pattern):
    """Refuse regular expressions that could run for years on an innocent text."""
    if pattern is None:
        return
    plain = re.sub(r"\\.", "", pattern.removeprefix("(?u)"))
    n_repetitions = len(re.findall(r"[*+?{]", plain))
    if "(" in plain or n_repetitions > _MAX_REPETITIONS:
        raise ModelFileError(
            f"The token pattern {pattern!r:.100} is not simple enough for a model file: a pattern "
            f"there has no groups and at most {_MAX_REPETITIONS} repetitions, so that nobody's "
            "file can hang on a text. Split texts before the vectorizer instead."
        )
