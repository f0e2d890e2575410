"""A state on disk that survives kills, full disks and damaged files; no pickle anywhere.

A state is a tree of dicts, lists and tuples with numbers, strings and tensors at its ends, in the
same container as model files, with a checksum over all of it. Knows torch's tensors and that
container; nothing of what the state means.
"""

import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from sklearn_mrmp._model_files.bounded_json import dump, parse
from sklearn_mrmp._model_files.container import CHECKPOINT, read_container, write_container
from sklearn_mrmp._model_files.decoding import Decoder
from sklearn_mrmp._model_files.encoding import Encoder, unsupported
from sklearn_mrmp._model_files.errors import ModelFileError, UnsupportedPartError


class CheckpointStore:
    """The newest and the previous generation of one state.

    Parameters
    ----------
    folder : path-like
        An existing folder.
    name : str
        Start of the file names.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn_mrmp._checkpoints.store import CheckpointStore
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = CheckpointStore(folder, "train")
    ...     store.save({"epoch": 1})
    ...     store.save({"epoch": 2})
    ...     store.load(), sorted(os.listdir(folder))
    ({'epoch': 2}, ['train.checkpoint', 'train.previous.checkpoint'])
    """

    def __init__(self, folder, name):
        folder = Path(folder)
        self.newest = folder / f"{name}.checkpoint"
        self.previous = folder / f"{name}.previous.checkpoint"
        self._newest_is_damaged = False

    def save(self, state):
        """Write a state; whatever happens, the last good state stays on disk.

        Parameters
        ----------
        state : dict
            Tree of plain values and tensors.

        Raises
        ------
        OSError
            When it cannot be written.
        TypeError
            When there is something else in the tree.
        """
        tree, arrays = encode(state)
        keep = None if self._newest_is_damaged else self.previous
        metadata = {"state": dump(tree)}
        write_container(self.newest, metadata, arrays, kind=CHECKPOINT, keep=keep)
        self._newest_is_damaged = False

    def load(self):
        """Return the newest state that is whole, or None; warns of damaged files."""
        for path in (self.newest, self.previous):
            try:
                return _read(path)
            except FileNotFoundError:
                continue  # also after a kill between the two renames of `save`
            except ModelFileError as error:
                self._newest_is_damaged |= path == self.newest
                warnings.warn(
                    f"The checkpoint {path} is damaged ({error}) and is not used; "
                    f"{self._way_out(path)}.",
                    stacklevel=2,
                )
        return None

    def _way_out(self, path):
        if path == self.newest and self.previous.exists():
            return "the one before it is tried"
        return "what it held is computed anew"


def _read(path):
    metadata, arrays = read_container(path, kind=CHECKPOINT)
    tree = parse(metadata.get("state", "").encode("utf-8", "surrogatepass"))
    return _as_tensors(Decoder(arrays, _no_objects).decode(tree))


def encode(state):
    """Tree and arrays of a state.

    Raises
    ------
    TypeError
        For anything that is neither a container, a plain value nor a tensor.
    """
    encoder = Encoder(_no_objects)
    try:
        return encoder.encode(_as_arrays(state)), encoder.arrays
    except UnsupportedPartError as error:
        raise TypeError(f"cannot be part of a checkpoint: {error}") from None


def _as_arrays(value):
    """Replace tensors by arrays."""
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().numpy()
    if isinstance(value, np.ndarray):
        raise TypeError("cannot be part of a checkpoint: an array that is no tensor")
    if isinstance(value, Mapping):
        return {key: _as_arrays(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_as_arrays(item) for item in value)
    if isinstance(value, np.generic):
        return value.item()
    for kind in (bool, int, float, str):  # subclasses, such as torch's version, as what they are
        if isinstance(value, kind):
            return kind(value)
    return value


def _as_tensors(value):
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value)
    if isinstance(value, dict):
        return {key: _as_tensors(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_as_tensors(item) for item in value)
    return value


def _no_objects(*details):
    """Refuse objects of classes, on the way out and on the way in."""
    if len(details) == 3 and not isinstance(details[0], str):
        _, value, path = details
        raise unsupported(value, path)
    raise ModelFileError("A checkpoint holds an object of a class.")
