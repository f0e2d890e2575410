"""Transformers as plain values: what a model file says so that one can be made for its weights.

An outline is the transformer's configuration, cut down to what shapes the network. It is made into
a transformer by code of `transformers` alone, of the types listed here, and only if all of it is
known to that type: a stranger's outline can neither bring code along, nor load anything, nor take
more time or memory than its weights do. Knows torch, and `transformers` when it is used.
"""

from contextlib import contextmanager

import torch
from torch.overrides import TorchFunctionMode

from sklearn_mrmp._host.optional import import_optional

# Encoders of texts that files may hold, and arguments of their classes: what nobody reads is not
# made.
_WITHOUT_POOLER = {"add_pooling_layer": False}
TYPES = {
    "albert": _WITHOUT_POOLER,
    "bert": _WITHOUT_POOLER,
    "camembert": _WITHOUT_POOLER,
    "deberta": {},
    "deberta-v2": {},
    "distilbert": {},
    "electra": {},
    "modernbert": {},
    "mpnet": _WITHOUT_POOLER,
    "roberta": _WITHOUT_POOLER,
    "xlm-roberta": _WITHOUT_POOLER,
}
# Settings that say nothing of the encoder's states, or that name code, files or kernels.
_LEFT_OUT = {
    "_name_or_path",
    "architectures",
    "auto_map",
    "dtype",
    "finetuning_task",
    "id2label",
    "label2id",
    "model_type",
    "output_attentions",
    "output_hidden_states",
    "problem_type",
    "pruned_heads",
    "quantization_config",
    "reference_compile",
    "return_dict",
    "sinusoidal_pos_embds",
    "task_specific_params",
    "torch_dtype",
    "torchscript",
    "transformers_version",
}
# Ways to compute attention that need nothing but torch.
_ATTENTION = ("eager", "sdpa")
# Limits of a stranger's numbers: sizes, layers (some types use one layer's weights many times), and
# numbers that are computed of the configuration instead of read.
_MOST, _MOST_LAYERS, _MOST_COMPUTED = 2**24, 2**10, 2**26


def outline_of(model):
    """Return the outline of a transformer, or None where files have no place for it.

    Parameters
    ----------
    model : torch.nn.Module
        A transformer.

    Returns
    -------
    outline : dict or None
        ``"type"``, ``"attention"`` and ``"config"``, of plain values.
    """
    config = model.config
    if getattr(config, "model_type", None) not in TYPES:
        return None
    outline = {
        "type": config.model_type,
        "attention": _attention_of(model),
        "config": {k: v for k, v in config.to_dict().items() if k in _known_settings(config)},
    }
    try:
        with torch.device("meta"):  # shapes without memory
            again = transformer_of(outline)
    except ValueError:
        return None
    return outline if _shapes(again) == _shapes(model) else None


def _attention_of(model):
    """Tell by one token how a transformer computes attention; `transformers` does not say it."""
    listener, device = _SoftmaxListener(), next(model.parameters()).device
    token = torch.zeros(1, 1, dtype=torch.long, device=device)
    with evaluating(model), torch.inference_mode(), listener:
        model(input_ids=token, attention_mask=torch.ones_like(token))
    return "eager" if listener.heard else "sdpa"


class _SoftmaxListener(TorchFunctionMode):
    """Hears whether a softmax is computed by itself, and not as a part of fused attention."""

    heard = False

    def __torch_function__(self, func, types, args=(), kwargs=None):
        """Call the function, as ever."""
        self.heard |= getattr(func, "__name__", "") == "softmax"
        return func(*args, **(kwargs or {}))


@contextmanager
def evaluating(model):
    """Put a model into evaluation mode; afterwards it is as before."""
    was_training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was_training)


def without_pooler(model):
    """Take away the layer behind the states, which is not read and would not learn."""
    if _has_pooler(model):
        model.pooler = None
    return model


def weights_of(model):
    """Return the weights that states depend on, by their names: all but those of the pooler.

    Checkpoints often have no pooler, and `transformers` then draws a new one whenever it loads
    them.
    """
    weights = model.state_dict()
    if not _has_pooler(model):
        return weights
    return {name: weight for name, weight in weights.items() if not name.startswith("pooler.")}


def _has_pooler(model):
    return TYPES.get(getattr(model.config, "model_type", None)) == _WITHOUT_POOLER


def transformer_of(outline):
    """Make a transformer of an outline, with random weights.

    Parameters
    ----------
    outline : object
        Out of a file; anything is expected.

    Returns
    -------
    model : transformers.PreTrainedModel

    Raises
    ------
    ValueError
        When it is none.
    """
    kind, settings, attention = _checked(outline)
    transformers = import_optional("transformers", "text")
    config = transformers.AutoConfig.for_model(kind)
    strange = sorted(settings.keys() - _known_settings(config))
    if strange:
        raise ValueError(
            f"an encoder of type {kind} with the settings {strange!r:.200}, which transformers "
            f"{transformers.__version__} does not have"
        )
    config = transformers.AutoConfig.for_model(kind, **settings)
    model = transformers.AutoModel.from_config(config, attn_implementation=attention, **TYPES[kind])
    if sum(buffer.numel() for buffer in model.buffers()) > _MOST_COMPUTED:
        raise ValueError("an encoder that computes more of its settings than it has learned")
    return model


def vocabulary_size(outline):
    """Return how many tokens an outline has vectors for, or raise ValueError."""
    size = _checked(outline)[1].get("vocab_size")
    if type(size) is not int or size < 1:
        raise ValueError(f"an encoder with vocab_size={size!r:.50}")
    return size


def _checked(outline):
    """Return type, settings and attention of an outline, or raise ValueError."""
    if not isinstance(outline, dict) or outline.keys() != {"type", "attention", "config"}:
        raise ValueError("the outline of an encoder")
    kind, settings, attention = outline["type"], outline["config"], outline["attention"]
    if not isinstance(kind, str) or kind not in TYPES:
        raise ValueError(f"an encoder of type {kind!r:.50}; files hold those of {sorted(TYPES)}")
    if attention not in _ATTENTION or not isinstance(settings, dict):
        raise ValueError("the outline of an encoder")
    for name, value in settings.items():
        limit = _MOST_LAYERS if "layers" in name else _MOST
        if not _is_bounded(value, limit):
            raise ValueError(f"an encoder with {name}={value!r:.50}")
    return kind, settings, attention


def _is_bounded(value, limit, depth=3):
    """Whether a value is plain, small, and of no more than a few levels."""
    if isinstance(value, (list, tuple, dict)):
        items = list(value.values() if isinstance(value, dict) else value)
        small = depth > 0 and len(items) <= _MOST_LAYERS
        return small and all(_is_bounded(item, limit, depth - 1) for item in items)
    if isinstance(value, str):
        return len(value) <= _MOST_LAYERS
    return value is None or (isinstance(value, (bool, int, float)) and abs(value) <= limit)


def _known_settings(config):
    """Names of the settings that a type of encoder has by itself, and that files hold."""
    return type(config)().to_dict().keys() - _LEFT_OUT


def _shapes(model):
    return {name: tuple(weight.shape) for name, weight in weights_of(model).items()}
