"""One training run: from encoded rows and a label graph to a fitted skorch net.

Reads the flat hyperparameters of `MrMPClassifier` and builds everything torch needs of them. Knows
the net, the batches and the modules; nothing of validation, targets or thresholds.
"""

import numpy as np
import torch
from skorch.helper import predefined_split

from sklearn_mrmp._checkpoints.callback import TrainingCheckpoint
from sklearn_mrmp._host.allocator import kept_memory
from sklearn_mrmp._host.torch_state import resolve_device, seeded_torch
from sklearn_mrmp._network.batches import TokenBatches
from sklearn_mrmp._network.interrupt import StopAfterBatch
from sklearn_mrmp._network.memory import TrainingSizes, enough_memory
from sklearn_mrmp._network.net import MrMPNet, training_callbacks
from sklearn_mrmp._parameters import stops_early
from sklearn_mrmp.nn import EagerAdamW, MrMPLoss, MrMPModule


def train_network(params, encoder, train, valid, graph, *, n_epochs, n_stop, seed, checkpoint=None):
    """Train a network.

    Parameters
    ----------
    params : dict
        Parameters of `MrMPClassifier`, by name.
    encoder : FeatureTokens or SequenceTokens
        Fitted; says what the tokens are.
    train, valid : TokenDataset; valid may be None
        Rows, 0/1 targets and shortlists.
    graph : LabelGraph or None
        Label relations.
    n_epochs : int
        Length of the learning-rate schedule.
    n_stop : int
        Stop after this many epochs (`n_epochs` unless an earlier run told better).
    seed : int
        Seed of initialisation, order and dropout.
    checkpoint : TrainingCheckpoint, default=None
        Where to keep the state of training, and where to take it up; each training of a fit needs
        one of its own.

    Returns
    -------
    net : MrMPNet
        Fitted, with the weights to use; ``interrupted_`` says whether the user stopped it.

    Raises
    ------
    KeyboardInterrupt
        When the user insisted.
    """
    checkpoint, interrupt = checkpoint or TrainingCheckpoint(), StopAfterBatch()
    device = resolve_device(params["device"])
    sizes = TrainingSizes.of(params, encoder, train)
    with enough_memory(sizes, device), seeded_torch(seed, device):
        net = MrMPNet(
            **_module_arguments(params, encoder, train, graph),
            **_optimizer_arguments(params, train, n_epochs, valid),
            **_iterator_arguments(params, seed, checkpoint.n_batches_done),
            train_split=None if valid is None else predefined_split(valid),
            max_epochs=n_stop,
            device=device,
            verbose=params["verbose"],
        )
        # Last, so that they see what the other callbacks made of a batch or an epoch.
        net.callbacks += [("checkpoint", checkpoint), ("interrupt", interrupt)]
        net.initialize()
        with interrupt, kept_memory(sizes.activation_bytes, torch.device(device).type):
            net.partial_fit(train, y=None, epochs=checkpoint.epochs_left(n_stop))
            del net.callbacks[-2:]  # the model that is kept and pickled knows no folder
            net.forget_training()
    if interrupt.n_asked > 1:
        raise KeyboardInterrupt  # skorch has swallowed it
    net.interrupted_ |= interrupt.n_asked > 0
    return net


def _module_arguments(params, encoder, train, graph):
    Y = train.Y
    relations = None if graph is None else relation_tensors(graph)
    same_names = (
        "d_model",
        "n_heads",
        "n_encoder_layers",
        "n_relation_layers",
        "n_decoder_layers",
        "dropout",
        "composition",
        "architecture",
    )
    arguments = {name: params[name] for name in same_names}
    arguments |= {
        "n_tokens": encoder.n_tokens_,
        "n_labels": Y.shape[1],
        "relations": relations,
        "values": encoder.has_values_,
        "positions": encoder.positions,
        "d_inner": params["d_inner"] or 2 * params["d_model"],
        "prior": torch.from_numpy(np.asarray(Y.mean(axis=0), dtype=np.float32)),
        # Of the rows at hand: in cross-fitting the encoder has seen more of them.
        "trained_tokens": torch.from_numpy(train.rows.contained(encoder.n_tokens_)),
    }
    return {
        "module": MrMPModule,
        **{f"module__{name}": value for name, value in arguments.items()},
        "criterion": MrMPLoss,
        "criterion__relations": relations,
        "criterion__weight": params["relation_loss"],
    }


def _optimizer_arguments(params, train, n_epochs, valid):
    n_batches = -(-len(train) // params["batch_size"])
    callbacks = training_callbacks(
        lr=params["lr"],
        lr_schedule=params["lr_schedule"],
        n_epochs=n_epochs,
        n_batches=n_batches,
        keeps_best=bool(params["early_stopping"]) and valid is not None,
        patience=params["patience"] if stops_early(params) else None,
        progress_bar=params["progress_bar"],
    )
    return {
        # Decoupled decay: without decay it is Adam itself.
        "optimizer": EagerAdamW,
        "optimizer__weight_decay": params["weight_decay"],
        "optimizer__fused": True,
        "lr": params["lr"],
        "callbacks": callbacks + list(params["callbacks"] or []),
    }


def _iterator_arguments(params, seed, n_skip):
    return {
        "batch_size": params["batch_size"],
        "iterator_train": TokenBatches,
        "iterator_train__rng": np.random.default_rng(seed),
        "iterator_train__feature_dropout": params["feature_dropout"],
        "iterator_train__n_skip": n_skip,
        "iterator_valid": TokenBatches,
    }


def relation_tensors(graph):
    """Relations of a `LabelGraph` as sparse float32 tensors (L, L), by name."""
    tensors = {}
    for name, adjacency in graph.relations.items():
        coo = adjacency.tocoo()
        places = torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64))
        weights = torch.from_numpy(coo.data.astype(np.float32))
        tensors[name] = torch.sparse_coo_tensor(
            places, weights, coo.shape, check_invariants=False
        ).coalesce()
    return tensors
