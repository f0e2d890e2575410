"""What model files hold of a classifier with a network, and what must fit together in them.

Knows the fitted attributes of such classifiers by name.
"""

from sklearn_mrmp._base import FITTED, FROM_TARGET, complete_classifier
from sklearn_mrmp._ensemble.told import reading_network
from sklearn_mrmp._model_files.part import Part, nothing, require
from sklearn_mrmp._network.net_file import plain_history
from sklearn_mrmp._settings import EnsembleSettings
from sklearn_mrmp._voters.choice import NETWORK


def neural_part():
    """Return what files hold of a classifier with a network."""
    return Part(
        {
            **FITTED,
            "n_features_in_": "int",
            "input_type_": "str",
            "_ensemble": "Ensemble",
            "_label_sets": "LabelSetVote|NoneType",
            "_points": "OperatingPoints|NoneType",
            "_told": "ToldVote|NoneType",
            "_row_marks": "RowMarks?",
            "label_graph_": "LabelGraph|NoneType",
            "network_gain_": "VoteGain|NoneType",
            "history_": "list?",
            "n_iter_": "int?",
            "best_epoch_": "int?",
            "max_epochs_": "int?",
            "feature_dropout_": "float?",
        },
        fit_only={
            "callbacks": nothing,
            "encoder": nothing,
            "relations": lambda classifier: classifier.label_graph_,
            "cv": lambda classifier: EnsembleSettings.cv,
            "random_state": nothing,
        },
        left_out=(*FROM_TARGET, "_oof"),
        local=("checkpoint_dir",),
        tidy={"history_": plain_history},
        complete=_complete,
    )


def _complete(classifier):
    """Check, in a model file, that rows, voters, graph and labels have the sizes of each other."""
    complete_classifier(classifier)
    n_labels, graph = classifier._target_encoding.n_labels, classifier.label_graph_
    ensemble, sets = classifier._ensemble, classifier._label_sets
    encoder = ensemble.encoder
    require(graph is None or graph.n_labels == n_labels, "label graph and labels")
    require(len(ensemble.frequency) == n_labels, "label frequencies and labels")
    require(classifier.input_type_ == encoder.name, "input type")
    is_matrix = encoder.name in ("features", "vectors")
    require(not is_matrix or encoder.n_tokens_ == classifier.n_features_in_, "features")
    for voter in ensemble.voters.values():
        for net in getattr(voter, "nets", ()):
            require(net.module_.n_labels == n_labels, "network and labels")
            require(net.module__embedding == encoder.embedding(), "network and rows")
        width = encoder.n_tokens_
        if getattr(voter, "reads_wholes", False):
            width = getattr(encoder, "whole_width", width)
        shape = getattr(voter, "shape", (width, n_labels))
        require(shape == (width, n_labels), "voters, features and labels")
        require(getattr(voter, "n_labels_", n_labels) == n_labels, "voters and labels")
    _check_told(classifier._told, ensemble, n_labels)
    require(sets is None or sets.model.sets.shape[1] == n_labels, "label sets and labels")
    decides = classifier._target_encoding.kind != "multiclass"
    require(decides == (classifier._points is not None), "decisions")


def _check_told(told, ensemble, n_labels):
    """Check, in a model file, that what told labels say is about these labels and features."""
    if told is None:
        return
    require(told.lifts is None or told.lifts[0].shape[0] == n_labels, "told labels and labels")
    if told.linear is not None:
        shape = (ensemble.encoder.n_tokens_, n_labels)
        require(told.linear.shape == shape, "told labels, features and labels")
    reads = reading_network(ensemble) is not None
    require((NETWORK in told.weights) == reads, "told labels and the network")
