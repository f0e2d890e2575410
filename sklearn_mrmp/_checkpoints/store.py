"""A state on disk that survives kills, full disks and damaged files; no pickle anywhere.

A state is a tree of dicts, lists and tuples with numbers, strings and tensors at its ends. A file
is a line that says what it is, the SHA-256 of the rest, and the rest: an ``.npz`` archive with the
tensors and, as JSON, the tree. `CheckpointStore` keeps the newest file and the one before it.
Knows torch's tensors and nothing of training.
"""

import hashlib
import io
import json
import os
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from sklearn_mrmp._host.files import sync_folder

_MAGIC = b"sklearn-mrmp checkpoint 1\n"
_DIGEST_SIZE = hashlib.sha256().digest_size


class DamagedCheckpoint(ValueError):
    """A file is cut short, altered, or no checkpoint at all."""


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
    >>> import tempfile
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
        """
        # A fixed name: what a killed process left half written is overwritten, not added to.
        temporary = self.newest.with_suffix(".tmp")
        try:
            with temporary.open("wb") as file:
                file.write(to_bytes(state))
                file.flush()
                os.fsync(file.fileno())
            if self.newest.exists() and not self._newest_is_damaged:
                os.replace(self.newest, self.previous)
            os.replace(temporary, self.newest)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        self._newest_is_damaged = False
        sync_folder(self.newest.parent)

    def load(self):
        """Return the newest state that is whole, or None; warns of damaged files."""
        for path in (self.newest, self.previous):
            try:
                return from_bytes(path.read_bytes())
            except FileNotFoundError:
                continue  # also after a kill between the two renames of `save`
            except DamagedCheckpoint as error:
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


def to_bytes(state):
    """Content of a checkpoint file for a state."""
    tensors = []
    tree = encode(state, tensors)
    arrays = {str(i): tensor.detach().cpu().numpy() for i, tensor in enumerate(tensors)}
    payload = io.BytesIO()
    np.savez(payload, tree=np.frombuffer(json.dumps(tree).encode(), dtype=np.uint8), **arrays)
    payload = payload.getvalue()
    return _MAGIC + hashlib.sha256(payload).digest() + payload


def from_bytes(content):
    """State of a checkpoint file's content.

    Raises
    ------
    DamagedCheckpoint
        When the content is not what `to_bytes` made, byte by byte.
    """
    if not content.startswith(_MAGIC):
        raise DamagedCheckpoint("it does not start as a checkpoint of this version does")
    digest, payload = np.split(
        np.frombuffer(content, dtype=np.uint8)[len(_MAGIC) :], [_DIGEST_SIZE]
    )
    if hashlib.sha256(payload).digest() != digest.tobytes():
        raise DamagedCheckpoint("its checksum is wrong")
    with np.load(io.BytesIO(payload.data), allow_pickle=False) as archive:
        tree = json.loads(archive["tree"].tobytes())
        return decode(tree, archive)


def encode(value, tensors):
    """JSON tree of a value; tensors are appended to a list and go by their number in it.

    Raises
    ------
    TypeError
        For anything that is neither a container, a plain value nor a tensor.
    """
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return {"tensor": len(tensors) - 1}
    if isinstance(value, Mapping):
        return {"dict": [[_key(key), encode(item, tensors)] for key, item in value.items()]}
    if isinstance(value, (list, tuple)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [encode(item, tensors) for item in value]}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"cannot be part of a checkpoint: {type(value).__name__}")


def _key(key):
    if isinstance(key, (int, str)):
        return key
    raise TypeError(f"cannot be a key in a checkpoint: {type(key).__name__}")


def decode(tree, arrays):
    """Value of a JSON tree made by `encode`, with the arrays of its tensors."""
    if not isinstance(tree, dict):
        return tree
    ((kind, content),) = tree.items()
    if kind == "tensor":
        return torch.from_numpy(arrays[str(content)])
    if kind == "dict":
        return {key: decode(item, arrays) for key, item in content}
    items = [decode(item, arrays) for item in content]
    return tuple(items) if kind == "tuple" else items
