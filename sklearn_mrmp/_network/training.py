"""One training run: from encoded rows and a label graph to a fitted skorch net.

Builds everything torch needs of frozen settings. Knows the net, the batches and architectures by
their seam; nothing of validation, targets or decisions.
"""

from dataclasses import dataclass

import numpy as np
import torch
from skorch.helper import predefined_split

from sklearn_mrmp._checkpoints.callback import TrainingCheckpoint
from sklearn_mrmp._host.interrupts import InsistedInterrupt
from sklearn_mrmp._host.report import SILENT
from sklearn_mrmp._host.torch_state import load_compiler, resolve_device, seeded_torch
from sklearn_mrmp._host.world import ALONE
from sklearn_mrmp._model_files.part import Part, require
from sklearn_mrmp._network.architecture import Architecture, NetworkData
from sklearn_mrmp._network.batches import TokenBatches, n_batches
from sklearn_mrmp._network.distributed.shared_training import SharedTraining
from sklearn_mrmp._network.loop.callbacks import BestWeights, training_callbacks
from sklearn_mrmp._network.loop.interrupt import StopAfterBatch
from sklearn_mrmp._network.loop.progress import closing_bars, progress_callbacks
from sklearn_mrmp._network.memory import TrainingNeeds, enough_memory
from sklearn_mrmp._network.net import MultilabelNet
from sklearn_mrmp._network.settings import TrainingSettings
from sklearn_mrmp._settings import RunSettings, Settings

# Decoupled decay: without decay it is Adam itself.
OPTIMIZER = torch.optim.AdamW
# Names of the weights of an encoder that learns as well; see `TransformerEmbedding`.
_ENCODER = "embedding.transformer.*"


@dataclass(frozen=True)
class NetworkRecipe:
    """How networks of a fit are made and trained.

    Attributes
    ----------
    architecture : Architecture
        The network and its loss.
    network : Settings
        The parameters that the architecture reads.
    training : TrainingSettings
        How it is trained.
    run : RunSettings
        What does not change the outcome.
    """

    architecture: Architecture
    network: Settings
    training: TrainingSettings
    run: RunSettings


@dataclass(frozen=True, eq=False)
class TrainedNetwork:
    """A fitted net, and how its training ended.

    Attributes
    ----------
    net : MultilabelNet
        With the weights to use.
    returned_to_best : bool
        Whether they are those of the best epoch; else of the last.
    interrupted : bool
        Whether the user stopped the training.
    """

    net: MultilabelNet
    returned_to_best: bool = False
    interrupted: bool = False

    @property
    def best_epoch(self):
        """Epoch whose weights are used, from 1."""
        losses = [epoch["valid_loss"] for epoch in self.net.history if "valid_loss" in epoch]
        if self.returned_to_best and losses:
            return int(np.argmin(losses)) + 1
        return len(self.net.history)


def train_network(
    recipe,
    encoder,
    train,
    valid,
    graph,
    *,
    seed,
    n_stop=None,
    checkpoint=None,
    report=SILENT,
    warns_if_slow=False,
    world=ALONE,
    start=None,
):
    """Train a network.

    Parameters
    ----------
    recipe : NetworkRecipe
        What to train, and how.
    encoder : input kind
        Fitted; says what the tokens are.
    train, valid : TokenDataset; valid may be None
        Rows, 0/1 targets and shortlists.
    graph : LabelGraph or None
        Label relations.
    seed : int
        Seed of initialisation, order and dropout.
    n_stop : int, default=None
        Stop after this many epochs of the schedule, where an earlier run told better.
    checkpoint : TrainingCheckpoint, default=None
        Where to keep the state of training, and where to take it up; each training of a fit needs
        one of its own.
    report : Report, default=SILENT
        Says how it goes.
    warns_if_slow : bool, default=False
        Whether to warn of long rows that take long; one training of a fit says it for all.
    world : World, default=ALONE
        The processes that train it together, all with the same arguments but `report`.
    start : Start, default=None
        The trained network from whose weights it starts; None draws them.

    Returns
    -------
    trained : TrainedNetwork

    Raises
    ------
    InsistedInterrupt
        When the user pressed Ctrl-C twice.
    """
    checkpoint, interrupt = checkpoint or TrainingCheckpoint(), StopAfterBatch(world)
    training = recipe.training.resolved(train.rows)
    n_stop = min(n_stop or training.max_epochs, training.max_epochs)
    device = resolve_device(training.device)
    load_compiler()
    data = NetworkData.of(encoder, train, graph)
    n_batches_of_epoch = n_batches(len(train), training.batch_size, world.size)
    needs = TrainingNeeds.of(recipe, training, data, train)
    shown = progress_callbacks(
        recipe.run,
        report,
        training,
        train.rows,
        n_batches=n_batches_of_epoch,
        warns_if_slow=warns_if_slow and world.is_first,
        title=recipe.architecture.title,
    )
    shared = [] if world.is_alone else [SharedTraining(world, interrupt, checkpoint)]
    callbacks = [
        *[("shared_training", callback) for callback in shared],
        *training_callbacks(training, n_batches=n_batches_of_epoch, has_valid=valid is not None),
        *shown,
        *(recipe.run.callbacks or ()),
    ]
    with enough_memory(needs, device), seeded_torch(seed, device):
        net = MultilabelNet(
            **_network_arguments(recipe, data, start),
            **_optimizer_arguments(training, callbacks),
            **_iterator_arguments(recipe, training, seed, checkpoint.n_batches_done, world),
            train_split=None if valid is None else predefined_split(valid),
            max_epochs=n_stop,
            device=device,
            verbose=recipe.run.verbose,
            callbacks__print_log=None,  # the report has a table of its own
        )
        # Last, so that they see what the other callbacks made of a batch or an epoch.
        net.callbacks += [("checkpoint", checkpoint), ("interrupt", interrupt)]
        net.initialize()
        if start is not None:
            start.begin(net)
        for callback in shared:
            callback.start(net, seed)
        how = "trains" if start is None else "goes on from the earlier fit and trains"
        report.say(f"network: {how} on {len(train)} rows for up to {n_stop} epochs on {device}")
        with report.stage("network: trained"), interrupt, closing_bars(shown):
            net.partial_fit(train, y=None, epochs=checkpoint.epochs_left(n_stop))
            trained = _ended(net, _is_interrupted(net, interrupt, world))
            net.forget_training()
    if interrupt.n_asked > 1:
        raise InsistedInterrupt  # skorch has swallowed it
    return trained


def _ended(net, interrupted):
    """Say how training ended, as the callbacks know it."""
    returned = any(isinstance(cb, BestWeights) and cb.returned_ for _, cb in net.callbacks_)
    return TrainedNetwork(net, returned, interrupted)


def _is_interrupted(net, interrupt, world):
    """Whether the user has stopped a training: in any of the processes, unless insisting on it."""
    asked = net.interrupted_ or interrupt.n_asked > 0
    return asked if interrupt.n_asked > 1 else world.any(asked)


def _network_arguments(recipe, data, start):
    architecture = recipe.architecture
    module = architecture.module_arguments(recipe.network, data)
    if start is not None:
        module = start.continued(architecture, recipe.network, module)
    loss = architecture.loss_arguments(recipe.network, data)
    return {
        "architecture": architecture.name,
        "module": architecture.module,
        **{f"module__{name}": value for name, value in module.items()},
        "criterion": architecture.loss,
        **{f"criterion__{name}": value for name, value in loss.items()},
    }


def _optimizer_arguments(training, callbacks):
    return {
        "optimizer": OPTIMIZER,
        "optimizer__weight_decay": training.weight_decay,
        "optimizer__fused": True,
        "optimizer__param_groups": _groups(training),
        "lr": training.lr,
        "callbacks": callbacks,
    }


def _groups(training):
    """Weights with a learning rate of their own, as skorch takes them; the rest comes last."""
    return [(_ENCODER, {"lr": training.encoder_lr})] if training.encoder_lr else []


def weight_groups(module, lr, encoder_lr):
    """Weights of a module that learn, with their rates, as optimizers take them.

    Parameters
    ----------
    module : LabelModule
        The network.
    lr, encoder_lr : float
        Rate of all weights but those of an encoder inside it, and rate of these.

    Returns
    -------
    groups : list of dict
    """
    beginning, rates = _ENCODER.removesuffix("*"), {True: encoder_lr, False: lr}
    learning = [(name, w) for name, w in module.named_parameters() if w.requires_grad]
    groups = [
        {"params": [w for name, w in learning if name.startswith(beginning) is of_encoder], "lr": r}
        for of_encoder, r in rates.items()
    ]
    return [group for group in groups if group["params"]]


def _iterator_arguments(recipe, training, seed, n_skip, world):
    takes_labels = recipe.architecture.module.takes_labels
    share = world.rank, world.size
    return {
        "batch_size": training.batch_size,
        "iterator_train": TokenBatches,
        "iterator_train__rng": np.random.default_rng(seed),
        "iterator_train__feature_dropout": training.feature_dropout,
        "iterator_train__n_skip": n_skip,
        "iterator_train__takes_labels": takes_labels,
        "iterator_train__share": share,
        "iterator_valid": TokenBatches,
        "iterator_valid__takes_labels": takes_labels,
        "iterator_valid__share": share,
    }


def _complete(trained):
    """Check, in a model file, what a trained network consists of."""
    require(isinstance(trained.net, MultilabelNet), "a network")
    flags = trained.returned_to_best, trained.interrupted
    require(all(isinstance(flag, bool) for flag in flags), "how training ended")


TrainedNetwork._model_part = Part(complete=_complete)
