"""Training that can be killed: what belongs into a checkpoint, and how to go on from it.

A skorch callback writes weights, optimiser, schedule, best weights, history and generators, and
puts them back, so that the outcome is the same bit for bit. Knows skorch and the store; nothing of
the model.
"""

import json
import time
import warnings

import torch
from skorch.callbacks import Callback, PrintLog

from sklearn_mrmp._checkpoints.store import encode
from sklearn_mrmp._host.world import ALONE

# Long epochs are written about in between, too.
_SECONDS_BETWEEN = 300


class TrainingCheckpoint(Callback):
    """Write the state of training after every epoch, and every few minutes; take it up again.

    The last of the callbacks. Attributes of other callbacks that end in an underscore are part of
    the state as far as they are plain values, tensors, or have a ``state_dict``.

    Parameters
    ----------
    store : CheckpointStore, default=None
        Where to; None does nothing.
    run : str, default=None
        Which fit the states belong to.
    world : World, default=ALONE
        The processes that train together; the first one reads and writes.

    Attributes
    ----------
    agreed_due : bool
        Whether several processes have agreed to write now.
    """

    agreed_due = False

    def __init__(self, store=None, run=None, world=ALONE):
        self.store = store
        self.run = run
        self.world = world
        self._state = None if store is None else world.once(self._load)
        self.n_epochs_done = 0 if self._state is None else len(self._state["history"])
        self.n_batches_done = 0 if self._state is None else self._state["n_batches"]
        self._finished = self._state is not None and self._state["finished"]

    def _load(self):
        state = self.store.load()
        if state is None or state["run"] == self.run:
            return state
        warnings.warn(
            f"The checkpoint {self.store.newest} belongs to another fit and is not used; what it "
            "held is computed anew.",
            stacklevel=2,
        )
        return None

    def epochs_left(self, n_epochs):
        """Epochs still to train of `n_epochs`."""
        return 0 if self._finished else n_epochs - self.n_epochs_done

    def on_train_begin(self, net, **kwargs):
        """Take up the state that was found; the other callbacks have started already."""
        self._written = time.monotonic()
        self._rng_at_epoch = None
        if self._state is None:
            return
        net.history[:] = [{"batches": [], **epoch} for epoch in self._state["history"]]
        net.module_.load_state_dict(self._state["module"])
        if self._finished:
            return
        net.optimizer_.load_state_dict(self._state["optimizer"])
        _restore_callbacks(net, self._state["callbacks"])
        net.iterator_train__rng.bit_generator.state = json.loads(self._state["numpy_rng"])
        _set_torch_rng(net.device, self._state["torch_rng"][self.world.rank])

    def on_epoch_begin(self, net, **kwargs):
        """Remember where the order of the batches starts; go on inside an epoch."""
        if self.store is None:
            return
        self._rng_at_epoch = net.iterator_train__rng.bit_generator.state
        if self.n_batches_done and self._state is not None:
            net.history[-1].update(self._state["epoch"][self.world.rank])
            _restore_callbacks(net, self._state["callbacks"])  # they have begun an epoch
        self._state = None

    def is_due(self):
        """Whether the last state is old."""
        return self.store is not None and time.monotonic() - self._written > _SECONDS_BETWEEN

    def on_batch_end(self, net, training=False, **kwargs):
        """Write inside a long epoch."""
        if training and (self.is_due() if self.world.is_alone else self.agreed_due):
            epoch = net.history[-1]
            self._save(
                net,
                history=net.history[:-1],
                n_batches=len(epoch["batches"]),
                epoch=epoch,
                numpy_rng=self._rng_at_epoch,
            )

    def on_epoch_end(self, net, **kwargs):
        """Write the state between two epochs."""
        if self.store is None:
            return
        if self.n_batches_done:  # skorch counted only the batches since the epoch was taken up
            net.history[-1]["train_batch_count"] += self.n_batches_done
            self.n_batches_done = 0
        self._save(net, numpy_rng=net.iterator_train__rng.bit_generator.state)

    def on_train_end(self, net, **kwargs):
        """Write that training is done, unless it was interrupted."""
        self._state = None
        if self.store is None or self._finished or net.interrupted_:
            return
        self._write(
            {
                "run": self.run,
                "finished": True,
                "n_batches": 0,
                "history": _without_batches(net.history[:]),
                "module": net.module_.state_dict(),
            }
        )

    def _save(self, net, *, numpy_rng, history=None, n_batches=0, epoch=None):
        self._write(
            {
                "run": self.run,
                "finished": False,
                "n_batches": n_batches,
                "epoch": self.world.gathered(epoch),
                "history": _without_batches(net.history[:] if history is None else history),
                "module": net.module_.state_dict(),
                "optimizer": net.optimizer_.state_dict(),
                "callbacks": {name: _callback_state(cb) for name, cb in net.callbacks_},
                "numpy_rng": json.dumps(numpy_rng),  # integers of 128 bits
                "torch_rng": self.world.gathered(_get_torch_rng(net.device)),
            }
        )

    def _write(self, state):
        """Write; training is worth more than its checkpoint, so a failure is a warning."""
        self._written = time.monotonic()
        if not self.world.is_first:
            return
        try:
            self.store.save(state)
        except (OSError, TypeError) as error:  # a callback may have put anything into the history
            warnings.warn(
                f"The checkpoint {self.store.newest} could not be written ({error}); training "
                "goes on and the last good checkpoint is kept.",
                stacklevel=2,
            )


def _without_batches(history):
    return [{k: v for k, v in epoch.items() if k != "batches"} for epoch in history]


def _callback_state(callback):
    if isinstance(callback, (PrintLog, TrainingCheckpoint)):  # a new process prints a new table
        return {}
    state = {}
    for name, value in vars(callback).items():
        if name.endswith("_"):
            if hasattr(value, "state_dict") and not isinstance(value, type):
                value = {k: v for k, v in value.state_dict().items() if _is_plain(v)}
            if _is_plain(value):
                state[name] = value
    return state


def _is_plain(value):
    try:
        encode(value)
    except TypeError:
        return False
    return True


def _restore_callbacks(net, states):
    for callback_name, callback in net.callbacks_:
        for name, value in states.get(callback_name, {}).items():
            current = getattr(callback, name, None)
            if hasattr(current, "load_state_dict"):
                current.load_state_dict(value)
            else:
                setattr(callback, name, value)


def _get_torch_rng(device):
    states = {"cpu": torch.get_rng_state()}
    if torch.device(device).type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    elif torch.device(device).type == "mps":
        states["mps"] = torch.mps.get_rng_state()
    return states


def _set_torch_rng(device, states):
    torch.set_rng_state(states["cpu"])
    if "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"], device)
    if "mps" in states:
        torch.mps.set_rng_state(states["mps"])
