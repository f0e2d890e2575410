"""What a model card says of a model, read from the fitted model.

Knows pipelines, and fitted attributes of classifiers by their names.
"""

import inspect
import os
import re
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from sklearn.pipeline import Pipeline

from sklearn_mrmp._decisions.responses import last_step
from sklearn_mrmp._model_files.objects import part_of

# First steps of pipelines that read texts.
_TEXT_STEPS = {
    "CountVectorizer",
    "HashingVectorizer",
    "TextEncoder",
    "TfidfVectorizer",
    "TokenSequenceVectorizer",
}
# Reads columns of files for the command line, by the names that are its parameters.
_READER = "ColumnReader"
# Parameters that are lists of other estimators, each of which has lines of its own.
_STEPS = {"steps", "transformers", "transformer_list", "estimators"}
REPO_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)


@dataclass(frozen=True)
class ModelFacts:
    """What a model is.

    Attributes
    ----------
    names : tuple of str
        Classes of the model and of the classifier that it ends in; one where they are the same.
    labels : tuple of str
        Names of the labels, or of the classes of a target that is no label matrix.
    is_multilabel : bool
        Whether a row can have any number of labels.
    reads_texts : bool
        Whether rows are texts, or have columns of texts alone.
    reads_records : bool
        Whether rows are dicts, as those of models that the command line has fitted.
    n_features : int or None
        Number of columns of the rows, where they are known.
    columns : tuple of str
        Names of the columns, where the model was fitted on a data frame or on a file.
    has_label_lists : bool
        Whether the model has ``predict_labels``.
    voters : dict of str to float
        Weights of the voters, where there are any.
    parameters : dict of str to str
        Parameters that are not at their default, as text.
    encoders : tuple of str
        Names of pretrained text encoders.
    """

    names: tuple
    labels: tuple
    is_multilabel: bool
    reads_texts: bool
    reads_records: bool
    n_features: int | None
    columns: tuple
    has_label_lists: bool
    voters: dict
    parameters: dict
    encoders: tuple

    @classmethod
    def of(cls, model):
        """Read them from a fitted model."""
        classifier, first = last_step(model), _first_step(model)
        labels, is_multilabel = _labels(classifier)
        everything = model.get_params(deep=True)
        return cls(
            names=tuple(dict.fromkeys((type(model).__name__, type(classifier).__name__))),
            labels=labels,
            is_multilabel=is_multilabel,
            reads_texts=_reads_texts(first),
            reads_records=type(first).__name__ == _READER,
            n_features=getattr(first, "n_features_in_", None),
            columns=_columns(first),
            has_label_lists=hasattr(model, "predict_labels"),
            voters=_voters(classifier),
            parameters=changed_parameters(model),
            encoders=_encoders(everything),
        )


def _first_step(model):
    while isinstance(model, Pipeline):
        model = model[0]
    return model


def _reads_texts(first):
    name, layers = type(first).__name__, _layers(first)
    by_kind = any(getattr(layer, "input_type_", None) == "text" for layer in layers)
    return by_kind or name in _TEXT_STEPS or (name == _READER and bool(first.text))


def _columns(first):
    names = getattr(first, "feature_names_in_", ())
    if type(first).__name__ == _READER:
        names = first.text or first.features
    return tuple(map(str, names))


def _layers(classifier):
    """Return a classifier and those inside it, as inside one that tunes decisions."""
    layers = []
    while classifier is not None:
        layers.append(classifier)
        classifier = getattr(classifier, "estimator_", None)
    return layers


def _labels(classifier):
    """Names of labels or classes, and whether they are labels."""
    encoding, classes = (getattr(classifier, a, None) for a in ("_target_encoding", "classes_"))
    if encoding is not None:
        named = encoding.label_names if encoding.is_matrix else encoding.classes
        return tuple(map(str, named)), encoding.is_matrix
    if classes is None:
        raise ValueError(
            f"A model card is for a classifier; {type(classifier).__name__} predicts no labels."
        )
    is_list = isinstance(classes, list)
    named = range(len(classes)) if is_list else classes
    return tuple(map(str, named)), is_list or bool(getattr(classifier, "multilabel_", False))


def _voters(classifier):
    for layer in _layers(classifier):
        if hasattr(layer, "vote_weights_"):
            return {name: float(weight) for name, weight in layer.vote_weights_.items()}
    return {}


def _encoders(parameters):
    """Names of pretrained encoders; a folder of one machine says nothing to others."""
    texts = [v for name, v in parameters.items() if name.rpartition("__")[2] == "encoder"]
    named = [v for v in texts if isinstance(v, str) and REPO_ID.fullmatch(v)]
    return tuple(dict.fromkeys(name for name in named if not os.path.exists(name)))


def changed_parameters(model):
    """Return parameters that are not at their default, of a model and of the estimators in it.

    Parameters
    ----------
    model : estimator
        A model that can be saved.

    Returns
    -------
    parameters : dict of str to str
        By the names that ``set_params`` knows. Folders of one machine are left out.

    Examples
    --------
    >>> from sklearn_mrmp import MLKNNClassifier
    >>> from sklearn_mrmp._hub.facts import changed_parameters
    >>> changed_parameters(MLKNNClassifier(5))
    {'n_neighbors': '5'}
    """
    everything = {"": model, **model.get_params(deep=True)}
    changed = {}
    for name, value in sorted(everything.items(), key=itemgetter(0)):
        owner, _, own = name.rpartition("__")
        if not name or own in _STEPS or not hasattr(everything.get(owner), "get_params"):
            continue
        default = inspect.signature(type(everything[owner])).parameters.get(own)
        if own in part_of(everything[owner]).local:
            continue
        text = _shown(value)
        if default is None or text != _shown(default.default):
            changed[name] = text
    return changed


def _shown(value):
    """Text of a plain value; of anything else its class or name."""
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, str):
        # A path says where somebody keeps files.
        return repr(os.path.basename(value) if os.path.isabs(value) else value)
    if value is None or isinstance(value, (bool, int, float, complex)):
        return repr(value)
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, type) or inspect.isroutine(value):
        return value.__name__
    return type(value).__name__
