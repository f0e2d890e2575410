"""The architecture of MrMP: the paper's network and its default variant.

Knows `nn.MrMPModule`, its loss, and the parameters of `MrMPClassifier` that shape them.
"""

from dataclasses import dataclass

from sklearn_mrmp._network.architecture import Architecture, register
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
_CHOICES = {"architecture": ("default", "paper"), "composition": ("sum", "sub", "mult")}


@dataclass(frozen=True)
class MrMPSettings(Settings):
    """Parameters of the network; its widths and depths here are those of `MrMPClassifier`."""

    d_model: int = 64
    n_heads: int = 2
    d_inner: int | None = None
    n_encoder_layers: int = 2
    n_relation_layers: int = 2
    n_decoder_layers: int = 2
    dropout: float = 0.1
    composition: str = "sum"
    architecture: str = "default"
    relation_loss: float = 0.001

    @property
    def inner_width(self):
        """Width of the feed-forward blocks."""
        return self.d_inner or 2 * self.d_model


class MrMPArchitecture(Architecture):
    """Multi-relation Message Passing."""

    name = "mrmp"
    settings = MrMPSettings
    module = MrMPModule
    loss = MrMPLoss

    def module_arguments(self, settings, data):
        """Widths and depths as set; the graph, and where the labels' biases start."""
        arguments = settings.as_dict() | {"d_inner": settings.inner_width}
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
        for name in _COUNTS:
            count, least = arguments.get(name), int(name != "n_encoder_layers")
            if type(count) is not int or count < least:
                raise ValueError(f"{name}={count!r:.50}")
        dropout = arguments.get("dropout")
        if type(dropout) not in (int, float) or not 0 <= dropout < 1:
            raise ValueError(f"dropout={dropout!r:.50}")
        for name, choices in _CHOICES.items():
            if arguments.get(name) not in choices:
                raise ValueError(f"{name}={arguments.get(name)!r:.50}")

    def activation_numbers(self, settings, sizes):
        """Vectors that the layers keep, of tokens and of labels, and dropout's table."""
        d = settings.d_model
        layer = _WIDE * d + _INNER * settings.inner_width
        tokens = settings.n_encoder_layers * layer
        tokens += (_EMBEDDED + 2 * settings.n_decoder_layers) * d
        labels = settings.n_decoder_layers * layer
        kept = sizes.batch_size * (sizes.row_length * tokens + sizes.n_decoded * labels)
        return kept + _TABLE


register(MrMPArchitecture())
