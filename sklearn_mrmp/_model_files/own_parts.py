"""The package's own classes in model files; see `_parts` for how to add one."""

from sklearn_mrmp._model_files import own_hooks as hooks
from sklearn_mrmp._model_files.parts import Part

_NUMBER = "float|int|float32|float64|int32|int64"
_INPUT = {"n_features_in_": "int?", "feature_names_in_": "ndarray?"}
_TARGET = {"_target_encoding": "TargetEncoding"}
# Repeated from the target encoding when a file is loaded.
_FROM_TARGET = ("classes_", "label_names_")
_SCORE = {"validation_score": _NUMBER}


def _nothing(estimator):
    return None


def _learned_graph(classifier):
    return classifier.label_graph_


def _take_net(net):
    from sklearn_mrmp._model_files.net_state import take_net  # torch

    return take_net(net)


def _make_net(params, fitted):
    from sklearn_mrmp._model_files.net_state import make_net  # torch

    return make_net(params, fitted)


_RANDOM = {"random_state": _nothing}

OWN_PARTS = (
    Part(
        "sklearn_mrmp._mrmp:MrMPClassifier",
        {
            **_TARGET,
            **_INPUT,
            "n_features_in_": "int",
            "input_type_": "str",
            "_model": "LabelModel",
            "label_graph_": "LabelGraph|NoneType",
            "history_": "list",
            "n_iter_": "int",
            "best_epoch_": "int",
            "thresholds_": "dict",
            "decision_rules_": "dict",
        },
        fit_only={"callbacks": _nothing, "relations": _learned_graph, **_RANDOM},
        left_out=_FROM_TARGET,
        local=("checkpoint_dir",),
        tidy={"history_": hooks.plain_history},
        complete=hooks.complete_mrmp,
    ),
    Part("sklearn_mrmp._ensemble.model:LabelModel", complete=hooks.complete_label_model),
    Part(
        "sklearn_mrmp._voters.linear:LinearPath",
        {
            "features_": "LinearFeatures",
            "strength_": "float",
            "coef_": "ndarray",
            "intercept_": "ndarray",
        },
        complete=hooks.complete_linear_path,
    ),
    Part(
        "sklearn_mrmp._voters.centroids:LabelCentroids",
        {
            "features_": "LinearFeatures",
            "centroids_": "csr_array",
            "log_odds_": "ndarray",
            "calibration_": "ndarray",
        },
        complete=hooks.complete_label_centroids,
    ),
    Part(
        "sklearn_mrmp._voters.neighbors:NeighborPath",
        {
            "features_": "LinearFeatures",
            "columns_": "csr_array|ndarray",
            "labels_": "csr_array",
            "log_odds_": "ndarray",
            "power_": "float",
        },
        complete=hooks.complete_neighbor_path,
    ),
    Part(
        "sklearn_mrmp._input.presentation:LinearFeatures",
        {
            "kind_": "str",
            "largest_": "ndarray|float",
            "length_": "float",
            "mean_": "ndarray?",
            "spread_": "ndarray?",
            "is_count_": "bool?",
            "idf_": "ndarray?",
        },
        complete=hooks.complete_linear_features,
    ),
    Part("sklearn_mrmp._ensemble.label_sets:LabelSetVote", complete=hooks.complete_label_set_vote),
    Part("sklearn_mrmp._network.net:MrMPNet", take=_take_net, make=_make_net),
    Part(
        "sklearn_mrmp._input.tokens:FeatureTokens",
        {
            "n_tokens_": "int",
            "trained_": "ndarray",
            "mean_": "ndarray",
            "spread_": "ndarray",
            "has_values_": "bool",
            "features_": "LinearFeatures",
        },
        complete=hooks.complete_feature_tokens,
    ),
    Part(
        "sklearn_mrmp._input.tokens:SequenceTokens",
        {"n_tokens_": "int", "trained_": "ndarray", "log_idf_": "ndarray"},
        complete=hooks.complete_sequence_tokens,
    ),
    Part("sklearn_mrmp._graph.learning:LabelGraph"),
    Part(
        "sklearn_mrmp._targets:TargetEncoding",
        take=hooks.take_target_encoding,
        make=hooks.make_target_encoding,
    ),
    # Decision rules
    Part("sklearn_mrmp._decisions.cut_rules:GlobalThresholdRule", {"threshold": _NUMBER, **_SCORE}),
    Part(
        "sklearn_mrmp._decisions.cut_rules:LabelThresholdRule", {"thresholds": "ndarray", **_SCORE}
    ),
    Part(
        "sklearn_mrmp._decisions.expected_cut_rules:MicroF1Rule", {"threshold": _NUMBER, **_SCORE}
    ),
    Part(
        "sklearn_mrmp._decisions.expected_cut_rules:MacroF1Rule",
        {"thresholds": "ndarray", **_SCORE},
    ),
    Part("sklearn_mrmp._decisions.cut_rules:TopKRule", {"k_": "int?", "validation_score": "any?"}),
    Part(
        "sklearn_mrmp._decisions.cut_rules:AtLeastOneRule",
        {"threshold_": f"{_NUMBER}?", "validation_score": "any?"},
    ),
    Part(
        "sklearn_mrmp._decisions.expected_f1_rule:ExpectedF1Rule",
        {"temperature_": _NUMBER, **_SCORE},
    ),
    Part(
        "sklearn_mrmp._decisions.label_set_rules:LabelSetRule",
        {"model_": "LabelSetModel", **_SCORE},
    ),
    Part(
        "sklearn_mrmp._decisions.label_set_rules:LabelSetF1Rule",
        {"model_": "LabelSetModel", **_SCORE},
    ),
    Part(
        "sklearn_mrmp._decisions.label_set_rules:LabelSetMarginalRule",
        {"model_": "LabelSetModel", "threshold": _NUMBER, **_SCORE},
    ),
    Part(
        "sklearn_mrmp._decisions.label_set_model:LabelSetModel", complete=hooks.complete_label_sets
    ),
    Part("sklearn_mrmp._decisions.seen_rows:SeenRowRule", complete=hooks.complete_seen_row_rule),
    # Baselines
    Part(
        "sklearn_mrmp._baselines.mlknn:MLKNNClassifier",
        {
            **_TARGET,
            **_INPUT,
            "n_features_in_": "int",
            "n_neighbors_": "int",
            "_neighbors": "SparseNeighbors|NearestNeighbors",
            "_Y": "csr_array",
            "_is_sparse": "bool",
            "prior_": "ndarray",
            "likelihood_": "ndarray",
            "posterior_": "ndarray",
        },
        left_out=_FROM_TARGET,
        complete=hooks.complete_mlknn,
    ),
    Part(
        "sklearn_mrmp._baselines.sparse_neighbors:SparseNeighbors",
        {"_rows": "csr_array", "_sizes": "ndarray"},
        complete=hooks.complete_sparse_neighbors,
    ),
    Part(
        "sklearn.neighbors:NearestNeighbors",
        take=hooks.take_neighbors,
        make=hooks.make_neighbors,
    ),
    Part(
        "sklearn_mrmp._baselines.mlaram:MLARAMClassifier",
        {
            **_TARGET,
            **_INPUT,
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
        left_out=(*_FROM_TARGET, "_member_boxes"),
        complete=hooks.complete_mlaram,
    ),
    Part(
        "sklearn_mrmp._baselines.hyperboxes:Hyperboxes",
        take=hooks.take_hyperboxes,
        make=hooks.make_hyperboxes,
    ),
    Part("sklearn_mrmp._baselines.unit_range:UnitRange", complete=hooks.complete_unit_range),
    Part(
        "sklearn_mrmp._baselines.problem_transformation:LabelPowersetClassifier",
        {**_TARGET, **_INPUT, "label_sets_": "ndarray", "estimator_": "any?"},
        left_out=_FROM_TARGET,
        complete=hooks.complete_classifier,
    ),
    # Wrappers and text
    Part(
        "sklearn_mrmp._tuned_decision:TunedDecisionClassifier",
        {
            **_TARGET,
            **_INPUT,
            "label_names_": "ndarray",
            "estimator_": "any",
            "thresholds_": "dict?",
            "decision_rules_": "dict?",
        },
        fit_only={"cv": _nothing, **_RANDOM},
    ),
    Part(
        "sklearn_mrmp._voting:SoftVotingMultilabelClassifier",
        {**_TARGET, **_INPUT, "weights_": "ndarray", "estimators_": "list"},
        fit_only=_RANDOM,
        left_out=(*_FROM_TARGET, "named_estimators_"),
        complete=hooks.complete_voting,
    ),
    Part(
        "sklearn_mrmp._text:TokenSequenceVectorizer",
        {"vocabulary_": "dict", "max_len_": "int"},
        complete=hooks.complete_token_vectorizer,
    ),
)
