"""The callbacks that training depends on: schedules, stopping, clipping.

Knows skorch and torch's schedulers; nothing of any network.
"""

import torch
from skorch.callbacks import Callback, EarlyStopping, GradientNormClipping, LRScheduler
from torch.optim.lr_scheduler import CosineAnnealingLR, OneCycleLR, StepLR

# Gradients above this norm are scaled down: attention on rare tokens has heavy-tailed gradients.
MAX_GRADIENT_NORM = 1.0


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


def training_callbacks(training, *, n_batches, has_valid):
    """Make the callbacks of a training run.

    Parameters
    ----------
    training : TrainingSettings
        Resolved.
    n_batches : int
        Batches of an epoch.
    has_valid : bool
        Whether there are rows to judge epochs by.

    Returns
    -------
    callbacks : list of (str, Callback)
    """
    n_steps = training.max_epochs * n_batches
    callbacks = [
        ("finite_loss", FiniteLoss()),
        ("clip", GradientNormClipping(MAX_GRADIENT_NORM)),
    ]
    schedule = _schedule(training.rates, training.lr_schedule, n_steps)
    if schedule is not None:
        callbacks.append(("lr_schedule", schedule))
    if training.keeps_best and has_valid:
        options = {"threshold": 0.0, "load_best": True, "sink": _silent}
        best = BestWeights("valid_loss", patience=training.patience, **options)
        callbacks.append(("early_stopping", best))
    return callbacks


def _schedule(rates, name, n_steps):
    if name == "onecycle":
        return LRScheduler(OneCycleLR, max_lr=rates, total_steps=n_steps, step_every="batch")
    if name == "cosine":
        return LRScheduler(CosineAnnealingLR, T_max=n_steps, step_every="batch")
    if name == "step":  # the paper: every 10 epochs, 10 % less
        return LRScheduler(StepLR, step_size=10, gamma=0.9)
    return None


def _silent(message):
    """Swallow a callback's message; `verbose` decides what is printed."""
