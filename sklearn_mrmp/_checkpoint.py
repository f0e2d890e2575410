"""Training that can be killed: what belongs into a checkpoint, and whose checkpoint it is.

`CheckpointRun` is the folder of one fit: it knows which data and parameters it belongs to. Each
training inside the fit (a stage) has a `TrainingCheckpoint`, a skorch callback that writes the
state of training and takes it up again, so that the outcome is the same bit for bit. Knows skorch
and the store; nothing of the model.
"""

import hashlib
import json
import os
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.utils import check_random_state
from skorch.callbacks import Callback, PrintLog

from sklearn_mrmp._checkpoint_store import CheckpointStore, encode
from sklearn_mrmp._runtime import resolve_device

# Long epochs are written about in between, too.
_SECONDS_BETWEEN = 300
# Change nothing in the weights, or are not ours to compare.
_NOT_COMPARED = (
    "callbacks",
    "checkpoint_dir",
    "decision",
    "n_threads",
    "progress_bar",
    "refit",
    "threshold",
    "verbose",
)


class CheckpointRun:
    """The checkpoints of one fit.

    Parameters
    ----------
    folder : path-like or None
        Made if needed; None keeps nothing.

    Raises
    ------
    OSError
        When nothing can be written there.
    """

    def __init__(self, folder):
        self.folder = None if folder is None else Path(folder)
        self._record = None
        if self.folder is not None:
            self._check_writable()
            self._store = CheckpointStore(self.folder, "fit")
            self._record = self._store.load()

    def _check_writable(self):
        probe = self.folder / "writable.tmp"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            probe.write_bytes(b"x")
            probe.unlink()
        except OSError as error:
            raise OSError(
                error.errno,
                f"Nothing can be written to checkpoint_dir={os.fspath(self.folder)!r} "
                f"({error.strerror}); choose another folder, or None to train without",
            ) from error

    def random_state(self, random_state):
        """Return the random state to fit with: that of the first start when it was None.

        Parameters
        ----------
        random_state : int, RandomState instance or None
            The estimator's parameter.

        Returns
        -------
        random_state : RandomState instance
        """
        if self.folder is None:
            return check_random_state(random_state)
        self._seed = None
        self._random_state = _describe_random_state(random_state)
        if random_state is None:
            if self._record is not None and self._record["random_state"] is None:
                self._seed = self._record["seed"]
            else:
                self._seed = int(check_random_state(None).randint(np.iinfo(np.int32).max))
            random_state = self._seed
        return check_random_state(random_state)

    def claim(self, params, data, graph):
        """Say what is being fitted; a folder that belongs to another fit is refused.

        Parameters
        ----------
        params : dict
            Parameters of the estimator, by name.
        data : dict of str to array, sparse array or None
            What is fitted, by the name of the argument of ``fit``.
        graph : LabelGraph or None
            Label relations.

        Raises
        ------
        ValueError
            When the folder belongs to other data, parameters or versions; says which.
        """
        if self.folder is None:
            return
        record = self._describe(params, data, graph)
        if self._record is None:
            self._store.save(record)
            self._store.save(record)  # the spare copy
        else:
            self._compare(self._record, record)
            record = self._record
        self._id = hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()

    def _describe(self, params, data, graph):
        from sklearn_mrmp import __version__

        compared = {name: params[name] for name in params if name not in _NOT_COMPARED}
        compared["device"] = resolve_device(params["device"])
        if not (params["relations"] is None or isinstance(params["relations"], str)):
            compared["relations"] = _graph_fingerprint(graph)
        del compared["random_state"]
        return {
            "data": {name: fingerprint(value) for name, value in data.items()},
            "parameters": {name: _describe(value) for name, value in sorted(compared.items())},
            "random_state": self._random_state,
            "seed": self._seed,
            "sklearn_mrmp": __version__,
            "torch": torch.__version__,
        }

    def _compare(self, old, new):
        parts = [name for name in new["data"] if new["data"][name] != old["data"].get(name)]
        pairs = {name: (old[name], new[name]) for name in ("random_state", "sklearn_mrmp")}
        for name in sorted(set(old["parameters"]) | set(new["parameters"])):
            pairs[name] = (old["parameters"].get(name), new["parameters"].get(name))
        changed = [f"{name} was {a!r}, is {b!r}" for name, (a, b) in pairs.items() if a != b]
        if parts or changed:
            reasons = [f"other data: {', '.join(parts)}"] if parts else []
            reasons += [f"other parameters: {'; '.join(changed)}"] if changed else []
            raise ValueError(
                f"checkpoint_dir={os.fspath(self.folder)!r} belongs to a fit with "
                f"{' and with '.join(reasons)}. Give each fit a folder of its own, or delete this "
                "one to start anew."
            )
        if old["torch"] != new["torch"]:
            warnings.warn(
                f"The checkpoints in {self.folder} were written with torch {old['torch']}, this "
                f"is {new['torch']}: the outcome may differ in its last digits.",
                stacklevel=4,
            )

    def stage(self, name):
        """Return the checkpoint of one of the trainings of the fit, by a name for it."""
        if self.folder is None:
            return TrainingCheckpoint()
        return TrainingCheckpoint(CheckpointStore(self.folder, name), self._id)


def fingerprint(value):
    """SHA-256 of an array or sparse array: type, shape and content; None stays None."""
    if value is None:
        return None
    if sp.issparse(value):
        value = value.tocsr()
        arrays = (np.array(value.shape), value.indptr, value.indices, value.data)
    else:
        arrays = (np.asarray(value),)
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _graph_fingerprint(graph):
    """Describe the outcome: a function may return another graph under the same name."""
    if graph is None:
        return "no relations"
    parts = [f"{name}{fingerprint(adjacency)}" for name, adjacency in graph.relations.items()]
    return f"label graph {hashlib.sha256(''.join(parts).encode()).hexdigest()[:16]}"


def _describe_random_state(random_state):
    if not isinstance(random_state, np.random.RandomState):
        return _describe(random_state)
    _, keys, *rest = random_state.get_state()
    return f"RandomState {fingerprint(keys)[:16]} {rest}"


def _describe(value):
    value = value.item() if isinstance(value, np.generic) else value
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)


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
    """

    def __init__(self, store=None, run=None):
        self.store = store
        self.run = run
        self._state = None if store is None else self._load()
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
        net.iterator_train__rng.bit_generator.state = self._state["numpy_rng"]
        _set_torch_rng(net.device, self._state["torch_rng"])

    def on_epoch_begin(self, net, **kwargs):
        """Remember where the order of the batches starts; go on inside an epoch."""
        if self.store is None:
            return
        self._rng_at_epoch = net.iterator_train__rng.bit_generator.state
        if self.n_batches_done and self._state is not None:
            net.history[-1].update(self._state["epoch"])
            _restore_callbacks(net, self._state["callbacks"])  # they have begun an epoch
        self._state = None

    def on_batch_end(self, net, training=False, **kwargs):
        """Write inside a long epoch."""
        due = time.monotonic() - getattr(self, "_written", 0) > _SECONDS_BETWEEN
        if self.store is not None and training and due:
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
                "epoch": epoch,
                "history": _without_batches(net.history[:] if history is None else history),
                "module": net.module_.state_dict(),
                "optimizer": net.optimizer_.state_dict(),
                "callbacks": {name: _callback_state(cb) for name, cb in net.callbacks_},
                "numpy_rng": numpy_rng,
                "torch_rng": _get_torch_rng(net.device),
            }
        )

    def _write(self, state):
        """Write; training is worth more than its checkpoint, so a failure is a warning."""
        self._written = time.monotonic()
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
        encode(value, [])
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
