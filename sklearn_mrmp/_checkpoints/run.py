"""Whose checkpoint it is: the folder of one fit, with its data, parameters and seed.

Each training inside the fit (a stage) gets a `TrainingCheckpoint` of its own. Knows arrays and
parameters by their content; nothing of the model or of training.
"""

import hashlib
import json
import os
import tempfile
import warnings
from functools import partial
from numbers import Real

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.utils import check_random_state

from sklearn_mrmp._checkpoints.callback import TrainingCheckpoint
from sklearn_mrmp._checkpoints.store import CheckpointStore
from sklearn_mrmp._host.files import user_path
from sklearn_mrmp._host.torch_state import resolve_device
from sklearn_mrmp._host.world import ALONE


class CheckpointRun:
    """The checkpoints of one fit.

    Parameters
    ----------
    folder : path-like or None
        Made if needed; None keeps nothing.
    version : str, default=""
        Version of the package; a folder of another one is refused.
    world : World, default=ALONE
        The processes of the fit. The first one reads and writes, in the folder that it was given.

    Raises
    ------
    OSError
        When nothing can be written there.
    """

    def __init__(self, folder, version="", world=ALONE):
        self.version = version
        self.world = world
        self.folder = world.agree(None if folder is None else user_path(folder))
        self._record = None
        if self.folder is not None:
            world.once(self._check_writable)
            self._store = CheckpointStore(self.folder, "fit")
            self._record = world.once(self._store.load)

    def _check_writable(self):
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder) as probe:
                probe.write(b"x")
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
        if self.folder is None and self.world.is_alone:
            return check_random_state(random_state)
        self._seed = None
        self._random_state = _describe_random_state(random_state)
        if random_state is None:
            if self._record is not None and self._record["random_state"] is None:
                self._seed = self._record["seed"]
            else:
                drawn = check_random_state(None).randint(np.iinfo(np.int32).max)
                self._seed = self.world.agree(int(drawn))
            random_state = self._seed
        return check_random_state(random_state)

    def claim(self, settings, data, graph):
        """Say what is being fitted; a folder that belongs to another fit is refused.

        Parameters
        ----------
        settings : list of Settings
            All that the weights depend on.
        data : dict of str to array, sparse array or None
            What is fitted, by the name of the argument of ``fit``.
        graph : LabelGraph or None
            Label relations.

        Raises
        ------
        ValueError
            When the folder belongs to other data, parameters or versions, or when the processes
            of a fit have different ones; says which.
        """
        if self.folder is None and self.world.is_alone:
            return
        record = self._describe(settings, data, graph)
        self._check_others(record)
        if self.folder is None:
            return
        record = self.world.once(partial(self._claimed, record))
        self._id = hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()

    def _claimed(self, record):
        if self._record is not None:
            self._compare(self._record, record)
            return self._record
        self._store.save(record)
        self._store.save(record)  # the spare copy
        return record

    def _check_others(self, record):
        """Refuse processes that do not fit the same thing."""
        first, *others = self.world.gathered(record)
        for rank, other in enumerate(others, start=1):
            reasons = _differences(first, other, "{} is {!r} in the first one and {!r} here")
            if reasons:
                raise ValueError(
                    f"Process {rank} of {self.world.size} fits with {' and with '.join(reasons)}. "
                    "All processes must call fit with the same rows, labels and parameters; each "
                    "of them is given its share of every batch."
                )

    def _describe(self, settings, data, graph):
        compared = {"processes": self.world.size}
        for group in settings:
            compared |= group.as_dict()
        compared["device"] = resolve_device(compared["device"])
        if not self.world.is_alone:  # each has its own
            compared["device"] = torch.device(compared["device"]).type
        # A splitter is described by the rows that it holds out, which are part of the data.
        if not isinstance(compared["cv"], Real):
            compared["cv"] = type(compared["cv"]).__name__
        # A function or a mapping is described by the graph that comes of it.
        relations = compared["relations"]
        if not (relations is None or isinstance(relations, str)):
            compared["relations"] = _graph_fingerprint(graph)
        return {
            "data": {name: fingerprint(value) for name, value in data.items()},
            "parameters": {name: _describe(value) for name, value in sorted(compared.items())},
            "random_state": self._random_state,
            "seed": self._seed,
            "sklearn_mrmp": self.version,
            "torch": torch.__version__,
        }

    def _compare(self, old, new):
        reasons = _differences(old, new)
        if reasons:
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
        return TrainingCheckpoint(CheckpointStore(self.folder, name), self._id, self.world)


def _differences(old, new, change="{} was {!r}, is {!r}"):
    """Say what is different between the records of two fits; nothing where they are alike."""
    parts = [name for name in new["data"] if new["data"][name] != old["data"].get(name)]
    if len(parts) > 1:  # other rows are held out differently, which is no news
        parts = [name for name in parts if name != "held-out rows"]
    pairs = {name: (old[name], new[name]) for name in ("random_state", "sklearn_mrmp")}
    for name in sorted(set(old["parameters"]) | set(new["parameters"])):
        pairs[name] = (old["parameters"].get(name), new["parameters"].get(name))
    changed = [change.format(name, a, b) for name, (a, b) in pairs.items() if a != b]
    reasons = [f"other data: {', '.join(parts)}"] if parts else []
    return reasons + ([f"other parameters: {'; '.join(changed)}"] if changed else [])


def fingerprint(value):
    """SHA-256 of an array or sparse array: type, shape and content; None stays None."""
    if value is None:
        return None
    if sp.issparse(value):
        value = value.tocsr()
        arrays = (np.array(value.shape), value.indptr, value.indices, value.data)
    elif hasattr(value, "fingerprints"):  # ragged rows, which may be larger than memory
        arrays = (np.array(value.shape), value.starts, value.fingerprints())
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
