"""The seam for networks: what the package asks of a network besides its torch module.

A network is a `LabelModule` in `nn/`, a loss, and an `Architecture` that says how both are made of
an estimator's parameters and of the data. It is found by its name, also by model files, which can
name no other than the registered ones. Knows torch; no particular network.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import import_module

import numpy as np
import torch

from sklearn_mrmp._numerics.entry_weights import label_totals
from sklearn_mrmp._settings import Settings


@dataclass(frozen=True, eq=False)
class NetworkData:
    """What a network is made for.

    Attributes
    ----------
    embedding : dict
        What rows consist of, as the input kind describes it.
    n_labels : int
        Number of labels.
    relations : dict of str to Tensor of shape (L, L), or None
        The label graph.
    prior : Tensor of shape (L,)
        Share of the training rows with each label.
    trained_tokens : bool Tensor of shape (n_tokens,)
        Tokens that the training rows contain.
    """

    embedding: dict
    n_labels: int
    relations: dict | None
    prior: torch.Tensor
    trained_tokens: torch.Tensor

    @classmethod
    def of(cls, encoder, dataset, graph):
        """Describe a fitted encoder, a training data set and a label graph."""
        embedding, Y = encoder.embedding(), dataset.Y
        # Of the rows at hand: in cross-fitting the encoder has seen more of them.
        contained = dataset.rows.contained(encoder.n_tokens_)
        return cls(
            embedding,
            Y.shape[1],
            None if graph is None else relation_tensors(graph.relations),
            torch.from_numpy(_prior(Y, dataset.weights)),
            torch.from_numpy(contained),
        )


def _prior(Y, weights):
    """Share of the rows with each label, of those of which it is known."""
    if weights is None:
        return np.asarray(Y.mean(axis=0), dtype=np.float32)
    counts, totals = label_totals(Y, weights)
    return (counts / np.maximum(totals, np.finfo(np.float32).tiny)).astype(np.float32)


@dataclass(frozen=True)
class StepSizes:
    """Sizes of a training step.

    Attributes
    ----------
    batch_size : int
        Rows of a step.
    row_length : int
        Tokens of the longest row, as far as a step sees them.
    n_decoded : int
        Labels that a row decodes.
    """

    batch_size: int
    row_length: int
    n_decoded: int


class Architecture(ABC):
    """A network, its loss, and how both are made; one instance is registered by its `name`.

    Attributes
    ----------
    name : str
        How model files call it.
    title : str
        How a progress bar calls it.
    settings : type
        A frozen dataclass derived from `Settings`: the estimator's parameters that it reads.
    module, loss : type
        The torch module, a `LabelModule`, and its loss, called with a `NetworkOutput`, 0/1 targets
        weights of the entries and, where these are not all alike, their mean total.
    start_only : tuple of str
        Arguments of the module that only say where training starts: files do not hold them.
    changeable : tuple of str
        Arguments of the module that may be others in a training that goes on from its weights.
    """

    name: str
    title: str = "network"
    settings: type[Settings]
    module: type
    loss: type
    start_only: tuple = ("prior", "trained_tokens")
    changeable: tuple = ("dropout", "relations")

    def automatic(self, params, input_type):
        """Return what parameters that are ``"auto"`` stand for, as far as the architecture knows.

        Parameters
        ----------
        params : mapping of str to object
            All parameters of the estimator.
        input_type : str
            Name of the input kind, or ``"measurements"`` for dense features.

        Returns
        -------
        values : dict of str to object
        """
        return {}

    def first_try(self, params, input_type):
        """Return what ``"auto"`` stands for in a short training that is tried first.

        Parameters
        ----------
        params, input_type : as of `automatic`

        Returns
        -------
        values : dict of str to object, or None
            None where the whole training is wanted at once.
        """
        return None

    @abstractmethod
    def module_arguments(self, settings, data):
        """Arguments of the module; besides tensors of `relations` and `start_only` plain values."""

    def continued(self, settings, arguments, earlier, labels):
        """Return arguments of the module for a training that goes on from an earlier one's weights.

        Parameters
        ----------
        settings : Settings
            The parameters of the network.
        arguments : dict of str to object
            As of `module_arguments`.
        earlier : LabelModule
            The module with the weights.
        labels : int64 ndarray of shape (n_labels,)
            Number of each label there; -1 for a new one.

        Returns
        -------
        arguments : dict of str to object
        """
        return arguments

    def loss_arguments(self, settings, data):
        """Arguments of the loss."""
        return {}

    @abstractmethod
    def check_arguments(self, arguments):
        """Raise ValueError unless plain arguments, which a stranger's file gave, are sound."""

    def activation_numbers(self, settings, sizes):
        """Estimate how many numbers a training step keeps for the backward pass."""
        return 0


# Networks of this package, by the module that registers them.
_SHIPPED = {
    "mrmp": "sklearn_mrmp._network.mrmp",
    "lamp": "sklearn_mrmp._peers.lamp",
    "mlrnn": "sklearn_mrmp._peers.mlrnn",
    "mpvae": "sklearn_mrmp._peers.mpvae",
}
_registered = {}


def register(architecture):
    """Make an architecture known by its name."""
    _registered[architecture.name] = architecture
    return architecture


def find_architecture(name):
    """Return a registered architecture; KeyError if there is none of that name."""
    if name not in _registered and name in _SHIPPED:
        import_module(_SHIPPED[name])
    return _registered[name]


def relation_tensors(relations):
    """Adjacencies of relations, sparse arrays by name, as sparse float32 tensors (L, L)."""
    tensors = {}
    for name, adjacency in relations.items():
        coo = adjacency.tocoo()
        places = torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64))
        weights = torch.from_numpy(coo.data.astype(np.float32))
        tensors[name] = torch.sparse_coo_tensor(
            places, weights, coo.shape, check_invariants=False
        ).coalesce()
    return tensors
