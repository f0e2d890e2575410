"""The callbacks of a training: schedules, stopping, clipping, progress.

Knows skorch and torch's schedulers; nothing of any network.
"""

import torch
from skorch.callbacks import Callback, EarlyStopping, GradientNormClipping, LRScheduler
from torch.optim.lr_scheduler import CosineAnnealingLR, OneCycleLR, StepLR

# Gradients above this norm are scaled down: attention on rare tokens has heavy-tailed gradients.
_MAX_GRADIENT_NORM = 1.0


class StopTraining(KeyboardInterrupt):
    """Early stopping; skorch ends training in order on any KeyboardInterrupt."""


class BestWeights(EarlyStopping):
    """skorch's early stopping, which says whether it has returned to the best weights.

    Without patience it never stops, and only a training that somebody else stops (Ctrl-C, a
    callback) returns to the best weights: the others end where their schedule ends.
    """

    returned_ = False

    def on_train_end(self, net, **kwargs):
        """Go back to the best weights, and say so."""
        is_whole = len(net.history) >= net.max_epochs and not net.interrupted_
        if self.patience is not None or not is_whole:
            super().on_train_end(net, **kwargs)
            self.returned_ = True


class FiniteLoss(Callback):
    """Stop with advice as soon as the loss is not a finite number."""

    def on_batch_end(self, net, batch=None, training=False, loss=None, **kwargs):
        """Check the loss of a batch."""
        if not torch.isfinite(loss):
            raise ValueError(
                f"The {'training' if training else 'validation'} loss became "
                f"{loss.item()} in epoch {len(net.history)}. Lower lr (now {net.lr:g}), or "
                "relation_loss, and check X for extreme values."
            )


class BatchProgress(Callback):
    """One progress bar over all batches of training, in a terminal or a notebook."""

    def __init__(self, n_batches):
        self.n_batches = n_batches

    def on_train_begin(self, net, **kwargs):
        """Open the bar."""
        from tqdm.auto import tqdm  # comes with skorch; importing it costs start-up time

        self.bar_ = tqdm(total=self.n_batches, desc="MrMP", unit="batch", leave=True)

    def on_epoch_begin(self, net, **kwargs):
        """Stand where the epoch starts; a resumed training starts further on."""
        self.bar_.n = sum(epoch["train_batch_count"] for epoch in net.history[:-1])

    def on_batch_end(self, net, batch=None, training=False, **kwargs):
        """Advance by a training batch."""
        if training:
            self.bar_.update()

    def on_epoch_end(self, net, **kwargs):
        """Show the epoch and its losses."""
        epoch = net.history[-1]
        shown = {name: epoch[name] for name in ("train_loss", "valid_loss") if name in epoch}
        self.bar_.set_postfix(epoch=epoch["epoch"], **{k: f"{v:.4f}" for k, v in shown.items()})

    def on_train_end(self, net, **kwargs):
        """Close the bar."""
        self.bar_.close()


def training_callbacks(training, *, n_batches, has_valid, progress_bar):
    """Make the callbacks of a training run.

    Parameters
    ----------
    training : TrainingSettings
        Resolved.
    n_batches : int
        Batches of an epoch.
    has_valid : bool
        Whether there are rows to judge epochs by.
    progress_bar : bool
        Whether to show a progress bar.

    Returns
    -------
    callbacks : list of (str, Callback)
    """
    n_steps = training.max_epochs * n_batches
    callbacks = [
        ("finite_loss", FiniteLoss()),
        ("clip", GradientNormClipping(_MAX_GRADIENT_NORM)),
    ]
    schedule = _schedule(training.lr, training.lr_schedule, n_steps)
    if schedule is not None:
        callbacks.append(("lr_schedule", schedule))
    if training.keeps_best and has_valid:
        options = {"threshold": 0.0, "load_best": True, "sink": _silent}
        best = BestWeights("valid_loss", patience=training.patience, **options)
        callbacks.append(("early_stopping", best))
    if progress_bar:
        callbacks.append(("progress", BatchProgress(n_steps)))
    return callbacks


def _schedule(lr, name, n_steps):
    if name == "onecycle":
        return LRScheduler(OneCycleLR, max_lr=lr, total_steps=n_steps, step_every="batch")
    if name == "cosine":
        return LRScheduler(CosineAnnealingLR, T_max=n_steps, step_every="batch")
    if name == "step":  # the paper: every 10 epochs, 10 % less
        return LRScheduler(StepLR, step_size=10, gamma=0.9)
    return None


def _silent(message):
    """Swallow a callback's message; `verbose` decides what is printed."""
