"""The skorch net around any of our networks: its loss, and batched prediction.

Knows skorch, torch and the batches; nothing of targets, graphs or decisions.
"""

import warnings
from contextlib import nullcontext

import numpy as np
import torch
from skorch import NeuralNet
from skorch.exceptions import DeviceWarning

from sklearn_mrmp._host.torch_state import is_present, run_torch_in_threads, torch_threads
from sklearn_mrmp._network.batches import (
    as_tensors,
    prediction_batches,
    should_thread,
    suits_one_thread,
    told_tensor,
)
from sklearn_mrmp._network.distributed.shared_training import SharedTraining
from sklearn_mrmp._network.loop.callbacks import StopTraining
from sklearn_mrmp._numerics.log_odds import to_probabilities


class MultilabelNet(NeuralNet):
    """`skorch.NeuralNet` for a `LabelModule`, which returns a `NetworkOutput`.

    Attributes
    ----------
    architecture : str
        Name of the network's architecture.
    """

    interrupted_ = False
    # Weights, and what the module has prepared with them.
    _kept = None

    def __init__(self, *args, architecture="mrmp", **kwargs):
        self.architecture = architecture
        super().__init__(*args, **kwargs)

    def __setstate__(self, state):
        """Take up a pickled state; on the CPU if the device it was on is not here.

        skorch does so for CUDA as a whole, and neither for the second of two devices nor for MPS.
        """
        device = str(state["device"])
        if not is_present(device):
            warnings.warn(
                f"The network was trained on the device {device!r}, which is not there; it is "
                "loaded to the CPU.",
                DeviceWarning,
                stacklevel=2,
            )
            state = {**state, "device": "cpu"}
        super().__setstate__(state)

    def __getstate__(self):
        """Leave out what is prepared anew."""
        return {name: part for name, part in super().__getstate__().items() if name != "_kept"}

    def get_loss(self, y_pred, y_true, X=None, training=False):
        """Loss of a batch; the criterion knows whether it is in training."""
        device = y_pred.logits.device
        targets, weights, *total = y_true
        weights = None if weights is None else weights.to(device)
        return self.criterion_(y_pred, targets.to(device), weights, *total)

    def notify(self, method_name, **cb_kwargs):
        """Tell the callbacks; a KeyboardInterrupt at the end of an epoch is early stopping.

        That is how skorch's `EarlyStopping` stops. A Ctrl-C waits for the end of a batch; a second
        one may come at any time, and is the user's. Several processes stop together.
        """
        ends_epoch, stopped = method_name == "on_epoch_end", None
        try:
            super().notify(method_name, **cb_kwargs)
        except KeyboardInterrupt as error:
            asked = any(getattr(callback, "n_asked", 0) for _, callback in self.callbacks_)
            if not ends_epoch or asked:
                raise
            stopped = error
        if ends_epoch and self._ends_training(wants_to=stopped is not None):
            raise StopTraining from stopped

    def _ends_training(self, wants_to):
        shared = [cb for _, cb in self.callbacks_ if isinstance(cb, SharedTraining)]
        return shared[0].stops(wants_to) if shared else wants_to

    def fit_loop(self, X, y=None, epochs=None, **fit_params):
        """Train, and remember whether the user stopped it."""
        try:
            return super().fit_loop(X, y, epochs, **fit_params)
        except StopTraining:
            raise
        except KeyboardInterrupt:
            self.interrupted_ = True
            raise  # skorch ends training in order

    @property
    def n_epochs_done(self):
        """Whole epochs it was trained for."""
        return sum("train_loss" in epoch for epoch in self.history)

    def label_logits(self, rows, candidates=None, told=None):
        """Logits of each label for each of the token rows.

        Parameters
        ----------
        rows : TokenRows
            Encoded input.
        candidates : ndarray of shape (n_samples, k), int64, default=None
            Labels to decode for each row; None decodes all.
        told : csr_array of shape (n_samples, n_labels), default=None
            1 and -1 where a label is told to be there or not to be, for a module that reads it.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_labels) or (n_samples, k), float32
        """
        n_decoded = self.module_.n_labels if candidates is None else candidates.shape[1]
        Z = np.empty((len(rows), n_decoded), dtype=np.float32)
        self._predict_into(Z, self.module_.predict_logits, rows, candidates, told)
        return Z

    def most_probable_sets(self, rows):
        """Most probable label set of each of the token rows, bool (n_samples, n_labels)."""
        sets = np.empty((len(rows), self.module_.n_labels), dtype=bool)
        self._predict_into(sets, self.module_.predict_sets, rows)
        return sets

    def _predict_into(self, outcome, predicted, rows, candidates=None, told=None):
        """Write what a method of the module says about rows into an array, batch by batch."""
        module = self.module_.eval()
        prepared = self._prepared(module)

        def predict(chosen):
            batch = as_tensors(rows.take(chosen).padded(), self.device)
            if candidates is not None:
                batch["candidates"] = torch.from_numpy(candidates[chosen]).to(self.device)
            if told is not None:
                batch["told"] = told_tensor(told[chosen]).to(self.device)
            outcome[chosen] = predicted(**batch, **prepared).cpu().numpy()

        predict_batches(predict, rows, outcome.shape[1], module.d_inner, self.device)

    def _prepared(self, module):
        """Return what is the same for all rows; computed anew when weights have changed."""
        weights, kept = module.prepared_from(), self._kept
        if weights is not None and kept is not None and _are_equal(kept[0], weights):
            return kept[1]
        # Half precision that the user has switched on is for batches: this is computed once.
        full_precision = torch.autocast(torch.device(self.device).type, enabled=False)
        with torch.inference_mode(), full_precision:
            prepared = module.prepared()
        if weights is not None:
            self._kept = [weight.detach().clone() for weight in weights], prepared
        return prepared

    def label_probabilities(self, rows):
        """Probability of each label by this network alone, float32 (n_samples, n_labels)."""
        return to_probabilities(self.label_logits(rows))

    def forget_training(self):
        """Drop what only training needs, so that a pickle holds the model and no rows."""
        self.train_split = None
        self.iterator_train__rng = None
        self.iterator_train__share = self.iterator_valid__share = (0, 1)
        self.callbacks = None
        self.callbacks_ = []
        # A pretrained encoder: the weights it started with.
        self.module__embedding = {
            name: part.without_start() if hasattr(part, "without_start") else part
            for name, part in self.module__embedding.items()
        }
        self.interrupted_ = False
        self.optimizer_.state.clear()
        self.optimizer_.zero_grad(set_to_none=True)
        while self.history and "train_loss" not in self.history[-1]:
            self.history.pop()  # broken off
        for epoch in self.history:
            epoch.pop("batches", None)


def _are_equal(kept, weights):
    """Whether weights are what they were, number by number: they may be written to in many ways."""
    return len(kept) == len(weights) and all(
        (a.device, a.dtype) == (b.device, b.dtype) and torch.equal(a, b)
        for a, b in zip(kept, weights, strict=True)
    )


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

    sizes = rows, n_decoded, d_inner, device
    batches = prediction_batches(*sizes)
    # Half precision that the user has switched on is for this thread alone.
    if should_thread(*sizes) and not torch.is_autocast_enabled("cpu"):
        run_torch_in_threads(without_gradients, batches)
        return
    with torch_threads(1) if suits_one_thread(*sizes) else nullcontext():
        for chosen in batches:
            without_gradients(chosen)
