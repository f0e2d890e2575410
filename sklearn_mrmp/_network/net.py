"""The skorch net around `nn.MrMPModule`: its loss, schedules, stopping, and batched prediction.

Knows skorch, torch and the batches; nothing of targets, graphs or thresholds.
"""

from weakref import WeakKeyDictionary
from zlib import crc32

import numpy as np
import torch
from skorch import NeuralNet
from skorch.callbacks import Callback, EarlyStopping, LRScheduler
from torch.optim.lr_scheduler import CosineAnnealingLR, OneCycleLR, StepLR

from sklearn_mrmp._host.allocator import expect_large_blocks
from sklearn_mrmp._host.torch_state import run_torch_in_threads
from sklearn_mrmp._network.batches import padded, prediction_batches, threads_pay
from sklearn_mrmp._network.interrupt import is_early_stopping
from sklearn_mrmp._numerics.log_odds import to_probabilities

# Gradients above this norm are scaled down: attention on rare tokens has heavy-tailed gradients.
_MAX_GRADIENT_NORM = 1.0


class MrMPNet(NeuralNet):
    """`skorch.NeuralNet` for a module that returns ``(logits, label_embeddings)``."""

    interrupted_ = False
    returned_to_best_ = False

    def get_loss(self, y_pred, y_true, X=None, training=False):
        """Cross entropy, plus the relational loss while training."""
        logits, label_embeddings = y_pred
        y_true, weights = (part if part is None else part.to(logits.device) for part in y_true)
        v = label_embeddings if training else None
        return self.criterion_(logits, y_true, v, weights)

    def _set_training(self, training=True):
        """Switch between training and evaluation; skorch asks for every batch."""
        for root in (self.module_, self.criterion_):
            if any(module.training is not training for module in root.modules()):
                root.train(training)

    def fit_loop(self, X, y=None, epochs=None, **fit_params):
        """Train, and remember whether the user stopped it."""
        try:
            return super().fit_loop(X, y, epochs, **fit_params)
        except StopTraining:
            raise
        except KeyboardInterrupt as error:
            self.interrupted_ = not is_early_stopping(error)
            raise  # skorch ends training in order

    def label_logits(self, rows, candidates=None):
        """Logits of each label for each of the token rows.

        Parameters
        ----------
        rows : TokenRows
            Encoded input.
        candidates : ndarray of shape (n_samples, k), int64, default=None
            Labels to decode for each row; None decodes all.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_labels) or (n_samples, k), float32
        """
        module = self.module_.eval()
        n_decoded = module.n_labels if candidates is None else candidates.shape[1]
        Z = np.empty((len(rows), n_decoded), dtype=np.float32)
        with torch.inference_mode():
            v = label_embeddings(module)

        def predict(chosen):
            batch = padded(rows.take(chosen))
            if candidates is not None:
                batch["candidates"] = torch.from_numpy(candidates[chosen])
            Z[chosen] = self.infer(batch, label_embeddings=v)[0].cpu().numpy()

        predict_batches(predict, rows, n_decoded, module.d_inner, self.device)
        return Z

    def label_probabilities(self, rows):
        """Probability of each label by this network alone, float32 (n_samples, n_labels)."""
        return to_probabilities(self.label_logits(rows))

    def forget_training(self):
        """Drop what only training needs, so that a pickle holds the model and no rows."""
        self.train_split = None
        self.iterator_train__rng = None
        self.callbacks_ = []
        self.optimizer_.state.clear()
        self.optimizer_.zero_grad(set_to_none=True)
        for epoch in self.history:
            epoch.pop("batches", None)


def predict_batches(predict, rows, n_decoded, d_inner, device):
    """Call a function for the row numbers of each prediction batch; on a CPU several at once.

    Parameters
    ----------
    predict : callable
        Predicts a batch, without gradients.
    rows, n_decoded, d_inner, device
        As for `prediction_batches`.
    """

    def without_gradients(chosen):
        with torch.inference_mode():  # each thread has its own mode
            predict(chosen)

    batches = prediction_batches(rows, n_decoded, d_inner, device)
    # Half precision that the user has switched on is for this thread alone.
    if threads_pay(rows, n_decoded, d_inner, device) and not torch.is_autocast_enabled("cpu"):
        expect_large_blocks()
        run_torch_in_threads(without_gradients, batches)
    else:
        for chosen in batches:
            without_gradients(chosen)


# V^T of modules that predict on the CPU, with a fingerprint of the weights it was computed from.
_known_embeddings = WeakKeyDictionary()


def label_embeddings(module):
    """V^T of a module, computed anew only when a weight has changed since.

    Weights are compared by content: fused optimisers write to them without telling torch.

    Parameters
    ----------
    module : MrMPModule
        In evaluation mode.

    Returns
    -------
    Tensor of shape (L, d)
    """
    relations, fingerprint = module.label_relations, 0
    weights = [*relations.parameters(), *relations.buffers()]
    if any(weight.device.type != "cpu" for weight in weights):
        return relations()  # quick there, and comparing would mean copying
    for weight in weights:
        content = weight.detach().contiguous().flatten().view(torch.uint8)
        fingerprint = crc32(content.numpy(), fingerprint)
    known = _known_embeddings.get(module)
    if known is None or known[0] != fingerprint:
        with torch.autocast("cpu", enabled=False):
            known = fingerprint, relations()
        _known_embeddings[module] = known
    return known[1]


class StopTraining(KeyboardInterrupt):
    """Early stopping; skorch ends training in order on any KeyboardInterrupt."""


class BestWeights(EarlyStopping):
    """skorch's early stopping, told apart from a user's Ctrl-C.

    Without patience it never stops, and only a training that somebody else stops (Ctrl-C, a
    callback) returns to the best weights: the others end where their schedule ends.
    """

    def on_epoch_end(self, net, **kwargs):
        """Look at the validation loss of the epoch."""
        try:
            super().on_epoch_end(net, **kwargs)
        except KeyboardInterrupt:
            raise StopTraining from None

    def on_train_end(self, net, **kwargs):
        """Go back to the best weights, and say so."""
        is_whole = len(net.history) >= net.max_epochs and not net.interrupted_
        if self.patience is not None or not is_whole:
            super().on_train_end(net, **kwargs)
            net.returned_to_best_ = True


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


class ShortGradients(Callback):
    """Scale gradients down to a norm, as skorch's `GradientNormClipping` does, in few calls."""

    def __init__(self, max_norm):
        self.max_norm = max_norm

    def on_grad_computed(self, net, **kwargs):
        """Look at the gradients of a step."""
        shorten_gradients(net.optimizer_, self.max_norm)


def shorten_gradients(optimizer, max_norm):
    """Scale the gradients of an optimiser's weights down to a norm.

    The same bits as `torch.nn.utils.clip_grad_norm_`; small networks take as long for the calls as
    for the numbers, and gradients that are short enough are not written again.
    """
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    gradients = [weight.grad for weight in weights if weight.grad is not None]
    if not gradients:
        return
    norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
    factor = torch.clamp(max_norm / (norm + 1e-6), max=1.0)
    if factor.device.type != "cpu":
        torch._foreach_mul_(gradients, factor)  # without waiting for it
    elif not factor >= 1:  # also when it is not a number: the loss will tell
        torch._foreach_mul_(gradients, factor.item())


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


def training_callbacks(*, lr, lr_schedule, n_epochs, n_batches, keeps_best, patience, progress_bar):
    """Make the callbacks of a training run.

    Parameters
    ----------
    lr : float
        Learning rate; the peak of a schedule that rises.
    lr_schedule : {"onecycle", "cosine", "step", "constant"}
        Course of the learning rate.
    n_epochs, n_batches : int
        Planned epochs, and batches in each.
    keeps_best : bool
        Remember the weights of the epoch with the best validation loss, and go back to them when
        training is stopped.
    patience : int or None
        Stop after this many epochs without a better loss; None trains to the end.
    progress_bar : bool
        Whether to show a progress bar.

    Returns
    -------
    callbacks : list of (str, Callback)
    """
    callbacks = [
        ("finite_loss", FiniteLoss()),
        ("clip", ShortGradients(_MAX_GRADIENT_NORM)),
    ]
    schedule = _schedule(lr, lr_schedule, n_epochs * n_batches)
    if schedule is not None:
        callbacks.append(("lr_schedule", schedule))
    if keeps_best:
        best = BestWeights(
            "valid_loss", patience=patience, threshold=0.0, load_best=True, sink=_silent
        )
        callbacks.append(("early_stopping", best))
    if progress_bar:
        callbacks.append(("progress", BatchProgress(n_epochs * n_batches)))
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
