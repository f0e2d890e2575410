"""The architecture of MrMP: the paper's network and its default variant.

Knows `nn.MrMPModule`, its loss, and the parameters of `MrMPClassifier` that shape them.
"""

from dataclasses import dataclass

from sklearn_mrmp._network.architecture import Architecture, register
from sklearn_mrmp._network.settings import SHORT
from sklearn_mrmp._settings import Settings
from sklearn_mrmp.nn import MrMPLoss, MrMPModule

# Vectors of a layer that are kept for the backward pass: of width d_model, and of width d_inner.
_WIDE, _INNER = 12, 2
# Numbers of the table that dropout takes its masks from.
_TABLE = 2**22
# Vectors of a token that are kept before the first layer.
_EMBEDDED = 6

_COUNTS = (
    "n_labels",
    "d_model",
    "n_heads",
    "d_inner",
    "n_encoder_layers",
    "n_relation_layers",
    "n_decoder_layers",
)
# What "auto" stands for. Token states come from an encoder that has done an encoder's work.
_OF_TOKENS = {
    "d_model": 64,
    "n_heads": 2,
    "n_encoder_layers": 2,
    "n_decoder_layers": 2,
    "dropout": 0.1,
}
_OF_STATES = {
    "d_model": 128,
    "n_heads": 4,
    "n_encoder_layers": 0,
    "n_decoder_layers": 1,
    "dropout": 0.2,
    "lr": 1e-3,
    "feature_dropout": 0.1,
    "max_epochs": SHORT,
}
_OF_VECTORS = _OF_STATES | {
    "dropout": 0.3,
    "lr": 3e-3,
    "feature_dropout": 0.2,
    "batch_size": 128,
    "max_epochs": "auto",
}
# Of dense columns, tokens that attend to each other gained nothing and took most of the time.
_OF_MEASUREMENTS = _OF_TOKENS | {
    "n_encoder_layers": 0,
    "n_decoder_layers": 1,
    "lr": 3e-3,
    "batch_size": 64,
}
_AUTOMATIC = {
    "measurements": _OF_MEASUREMENTS,
    "vectors": _OF_VECTORS,
    "states": _OF_STATES,
    "text": _OF_STATES,
}
# Where the encoder learns as well, a few passes suffice, and what is left out would be a word.
_OF_TUNED = {**_OF_STATES, "feature_dropout": 0.0, "max_epochs": 3}
# On bags of words a short cycle at a high rate, without encoder layers, is nearly as good for the
# vote as the whole training, in a third to a seventh of its time (docs/dev/fast_where_it_pays.md).
# Its feed-forward blocks, most of the arithmetic, are a quarter as wide: wider ones gain nothing.
_SHORT = {"n_encoder_layers": 0, "n_decoder_layers": 1, "lr": 4e-3, "max_epochs": SHORT}
_CHOICES = {
    "architecture": ("default", "paper", "paper-repaired"),
    "composition": ("sum", "sub", "mult"),
}


def automatic_sizes(params, input_type):
    """Sizes and rates of networks with attention, by the kind of input.

    Parameters
    ----------
    params, input_type : as of `Architecture.automatic`

    Returns
    -------
    values : dict of str to object
    """
    values = dict(_AUTOMATIC.get(input_type, _OF_TOKENS))
    if input_type == "text" and params.get("encoder_lr", 0) > 0:
        values = dict(_OF_TUNED)
    width = params.get("d_model", "auto")
    if width == "auto":
        width = values["d_model"]
    heads = range(1, values["n_heads"] + 1)
    values["n_heads"] = max(n for n in heads if width % n == 0)
    return values | {"d_inner": 2 * width}


def check_sizes(arguments, counts, choices):
    """Raise ValueError unless counts are whole numbers, dropout a rate, and choices known ones.

    Parameters
    ----------
    arguments : mapping of str to object
        Arguments of a module, out of a stranger's file.
    counts : sequence of str
        Which of them are counts.
    choices : mapping of str to tuple
        Which of them are choices, and of what.
    """
    for name in counts:
        count, least = arguments.get(name), int(name != "n_encoder_layers")
        if type(count) is not int or count < least:
            raise ValueError(f"{name}={count!r:.50}")
    dropout = arguments.get("dropout")
    if type(dropout) not in (int, float) or not 0 <= dropout < 1:
        raise ValueError(f"dropout={dropout!r:.50}")
    for name, known in choices.items():
        if arguments.get(name) not in known:
            raise ValueError(f"{name}={arguments.get(name)!r:.50}")


@dataclass(frozen=True)
class MrMPSettings(Settings):
    """Parameters of the network, as `MrMPClassifier` has them; none is ``"auto"`` in use."""

    d_model: int | str = "auto"
    n_heads: int | str = "auto"
    d_inner: int | str = "auto"
    n_encoder_layers: int | str = "auto"
    n_relation_layers: int = 2
    n_decoder_layers: int | str = "auto"
    dropout: float | str = "auto"
    composition: str = "sum"
    architecture: str = "default"
    relation_loss: float = 0.001


class MrMPArchitecture(Architecture):
    """Multi-relation Message Passing."""

    name = "mrmp"
    title = "MrMP"
    settings = MrMPSettings
    module = MrMPModule
    loss = MrMPLoss

    def automatic(self, params, input_type):
        """Sizes and rates by the kind of input; heads that divide the width."""
        return automatic_sizes(params, input_type)

    def first_try(self, params, input_type):
        """Bags of words get a short cycle first, unless a length of training is asked for."""
        asked = any(params.get(name, "auto") != "auto" for name in ("max_epochs", "early_stopping"))
        is_default = params.get("architecture", "default") == "default"
        is_default = is_default and params.get("lr_schedule") == "onecycle"
        if asked or not is_default or input_type != "features":
            return None
        values = self.automatic(params, input_type)
        return values | _SHORT | {"d_inner": max(1, values["d_inner"] // 4)}

    def module_arguments(self, settings, data):
        """Widths and depths as set; the graph, and where the labels' biases start."""
        arguments = settings.as_dict()
        del arguments["relation_loss"]
        return arguments | {
            "embedding": data.embedding,
            "n_labels": data.n_labels,
            "relations": data.relations,
            "prior": data.prior,
            "trained_tokens": data.trained_tokens,
        }

    def loss_arguments(self, settings, data):
        """Return the graph, and the weight of the relational loss."""
        return {"relations": data.relations, "weight": settings.relation_loss}

    def check_arguments(self, arguments):
        """Refuse counts that are no whole numbers, and unknown choices."""
        check_sizes(arguments, _COUNTS, _CHOICES)
        if type(arguments.get("reads_told", False)) is not bool:
            raise ValueError(f"reads_told={arguments['reads_told']!r:.50}")

    def activation_numbers(self, settings, sizes):
        """Vectors that the layers keep, of tokens and of labels, and dropout's table."""
        d = settings.d_model
        layer = _WIDE * d + _INNER * settings.d_inner
        tokens = settings.n_encoder_layers * layer
        tokens += (_EMBEDDED + 2 * settings.n_decoder_layers) * d
        labels = settings.n_decoder_layers * layer
        kept = sizes.batch_size * (sizes.row_length * tokens + sizes.n_decoded * labels)
        return kept + _TABLE


register(MrMPArchitecture())
