"""The pretrained encoder in a model file: its name and a fingerprint or, if asked for, all of it.

All of it is an outline of the transformer, its weights, and its tokenizer as data, so that a
machine that has neither the encoder's folder nor a network can use the file. What a stranger's
file brings along must have the fingerprint that it claims. Knows torch.
"""

import hashlib
import json

import numpy as np
import torch

from sklearn_mrmp._encoders.layers import MOST_LAYERS, layers_of
from sklearn_mrmp._encoders.outline import (
    TYPES,
    outline_of,
    transformer_of,
    vocabulary_size,
    weights_of,
)
from sklearn_mrmp._encoders.text import PretrainedEncoder, fingerprint_of, probe_states
from sklearn_mrmp._encoders.tokenizer_data import tokenizer_data, tokenizer_of
from sklearn_mrmp._host.torch_state import seeded_torch
from sklearn_mrmp._model_files.errors import UnsupportedPartError
from sklearn_mrmp._model_files.part import Part, is_count, require
from sklearn_mrmp._model_files.torch_weights import check_weights, in_outline

# By the dtype of the weights, that of the arrays: numpy has no bfloat16, whose bits are kept.
_STORED = {
    torch.float32: np.dtype(np.float32),
    torch.float16: np.dtype(np.float16),
    torch.bfloat16: np.dtype(np.int16),
    torch.float64: np.dtype(np.float64),
}
_NAMES = {str(dtype).removeprefix("torch."): dtype for dtype in _STORED}


def _take(encoder, request):
    """Return what a file holds of an encoder: its weights if they are asked for, or came along."""
    fitted = {"width_": encoder.width_, "fingerprint_": encoder.fingerprint_}
    params = {"name": encoder.name, "layers": encoder.layers, "revision": encoder.revision}
    if request.encoder_weights or encoder.carried is not None:
        params["carried"] = _carried(encoder, request.known)
    return params, fitted


def _carried(encoder, known):
    """Return an encoder as plain values and arrays, or raise UnsupportedPartError."""
    model, tokenizer = encoder.loaded()
    outline, weights = outline_of(model), weights_of(model)
    dtypes = {weight.dtype for weight in weights.values()}
    if outline is None or len(dtypes) > 1 or not dtypes <= _STORED.keys():
        raise no_place("encoder")
    arrays = {name: _array_of(weight) for name, weight in weights.items()}
    carried = {
        "outline": outline,
        "dtype": str(dtypes.pop()).removeprefix("torch."),
        # Encoders with the same fingerprint have the same weights, which are in the file once.
        "weights": known.setdefault(encoder.fingerprint_, arrays),
        "tokenizer": tokenizer_data(tokenizer, vocabulary_size(outline), known),
    }
    again, tokenizer_again = _loaded_of(carried)
    device = next(model.parameters()).device
    states = probe_states(again.to(device), tokenizer_again, encoder.layers)
    if not np.array_equal(states, probe_states(model, tokenizer, encoder.layers), equal_nan=True):
        raise no_place("encoder")
    return carried


def no_place(what):
    """Error for a transformer that model files do not hold."""
    return UnsupportedPartError(
        f"The {what} has no place in a model file, which holds transformers of the types "
        f"{', '.join(TYPES)}, as transformers makes them of their configuration. Save a frozen "
        "encoder by its name, without encoder_weights. To keep any model on your own machine, use "
        "joblib; never load such a file of a stranger."
    )


def _array_of(weight):
    weight = weight.detach().cpu()
    return (weight.view(torch.int16) if weight.dtype == torch.bfloat16 else weight).numpy()


def _loaded_of(carried):
    """Make model and tokenizer of what a file holds; anything is expected."""
    names = {"outline", "dtype", "weights", "tokenizer"}
    require(isinstance(carried, dict) and carried.keys() == names, "an encoder with weights")
    outline, weights, name = carried["outline"], carried["weights"], carried["dtype"]
    require(isinstance(name, str) and name in _NAMES, "dtype of an encoder")
    dtype = _NAMES[name]
    with in_outline(weights):
        in_shape = transformer_of(outline)
    check_weights(in_shape, weights, _STORED[dtype])
    tokenizer = tokenizer_of(carried["tokenizer"], vocabulary_size(outline))
    with seeded_torch(0, "cpu"):  # initial weights are drawn, and then replaced
        model = transformer_of(outline)
    tensors = {name: torch.from_numpy(weight).view(dtype) for name, weight in weights.items()}
    model.load_state_dict(tensors, assign=True)
    return model.eval(), tokenizer


def _make(params, fitted):
    """Make an encoder, which is loaded by its name when it is needed, or of what came along."""
    known = {"name", "layers", "revision"}
    require(known <= params.keys() <= known | {"carried"}, "an encoder")
    require(fitted.keys() == {"width_", "fingerprint_"}, "an encoder")
    name, layers = params["name"], params["layers"]
    width, mark = fitted["width_"], fitted["fingerprint_"]
    require(name is None or isinstance(name, str), "name of an encoder")
    require_revision(params["revision"], name)
    require(is_count(width) and isinstance(mark, str), "an encoder")
    is_tuple = isinstance(layers, tuple) and len(layers) <= MOST_LAYERS
    require(is_tuple and all(type(number) is int for number in layers), "layers of an encoder")
    require(width % max(len(layers), 1) == 0, "layers of an encoder")
    encoder = PretrainedEncoder(name, None, layers, params["revision"])
    encoder.width_, encoder.fingerprint_ = width, mark
    return encoder if "carried" not in params else _completed(encoder, params["carried"])


def require_revision(revision, name):
    """Check, in a model file, that a revision is text and belongs to a name."""
    fits = revision is None or (isinstance(revision, str) and name is not None)
    require(fits, "revision of an encoder")


def _completed(encoder, carried):
    """Put model and tokenizer of a file into an encoder, if they are what it claims to be."""
    model, tokenizer = _loaded_of(carried)
    width, layers = int(model.config.hidden_size), encoder.layers
    require(encoder.width_ == width * max(len(layers), 1), "an encoder and its width")
    depth = len(layers_of(model) or ())
    require(all(0 <= number <= depth for number in layers), "layers of an encoder")
    require(fingerprint_of(model, tokenizer) == encoder.fingerprint_, "an encoder and its weights")
    encoder.hold(model, tokenizer, _mark(encoder.fingerprint_, carried))
    return encoder


def _mark(fingerprint, carried):
    """Digest of all that a file says of an encoder; a fingerprint says nothing of settings."""
    tokens = carried["tokenizer"]
    said = [fingerprint, carried["outline"], tokens["limit"], tokens["side"]]
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
    digest.update(tokens["json"].tobytes())
    return digest.hexdigest()


PretrainedEncoder._model_part = Part(take_for=_take, make=_make)
