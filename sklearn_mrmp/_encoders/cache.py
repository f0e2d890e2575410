"""Token states kept in a folder, and found again by text.

Whatever is encoded at once becomes a shard: the states as ``<name>.npy``, which can be mapped into
memory, and then ``<name>.index`` with an entry for each text. Both are written whole or not at all,
and never change, so that processes may share a folder and be killed at any time. An entry has a
checksum of itself and of the states of its text, and counts only if that is right: what is damaged
is as good as absent, and is made again in another shard. Knows files, pieces and numpy.
"""

import io
import os
import secrets
import warnings
import zlib
from contextlib import suppress

import numpy as np

from sklearn_mrmp._encoders.pieces import KEY_BYTES, Piece
from sklearn_mrmp._host.files import user_path, write_atomically

_ENTRY = np.dtype(
    [("text", f"V{KEY_BYTES}"), ("first", "<i8"), ("n_rows", "<i8"), ("check", "<u4")]
)
# Tokens that are written at once.
_BLOCK = 2**14


class StateCache:
    """The states of one encoder, in a folder of their own.

    Parameters
    ----------
    cache_dir : path-like
        The user's folder; made if needed.
    name : str
        Says which encoder it is, and how long texts may be.
    width : int
        Width of the states.

    Raises
    ------
    OSError
        When there can be no such folder.
    """

    def __init__(self, cache_dir, name, width):
        self.folder = user_path(cache_dir) / name
        self.width = width
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OSError(
                error.errno,
                f"Nothing can be kept in cache_dir={os.fspath(cache_dir)!r} ({error.strerror}); "
                "choose another folder, or None to encode texts anew every time",
            ) from error

    def find(self, keys):
        """Return the states of those texts that are here.

        Parameters
        ----------
        keys : iterable of bytes
            The texts.

        Returns
        -------
        pieces : list of Piece
            As few as possible; each text is in one of them.
        """
        wanted, shards, pieces = set(keys), [], []
        for path in sorted(self.folder.glob("*.index")):
            entries = _entries(path, wanted)
            if entries:
                shards.append((path.with_suffix(".npy"), entries))
        # Texts that two processes encoded at once are in two shards, and are read from one.
        for path, entries in sorted(shards, key=lambda shard: -len(shard[1])):
            piece = self._piece(path, [entry for entry in entries if entry[0] in wanted])
            if piece is not None and piece.places:
                pieces.append(piece)
                wanted -= piece.places.keys()
        return pieces

    def _piece(self, path, entries):
        """Return the texts of a shard that are in order, or None if its states cannot be read."""
        states = _mapped(path)
        if states is None or states.dtype != np.float16 or not states.flags.c_contiguous:
            return None
        if states.ndim != 2 or states.shape[1] != self.width:
            return None
        places = {}
        for key, first, n_rows, check in entries:
            inside = 0 <= first <= len(states) and 0 < n_rows <= len(states) - first
            if inside and _check(key, states[first : first + n_rows]) == check:
                places[key] = (first, n_rows)
        return Piece(states, places)

    def add(self, piece):
        """Keep states as a new shard; a disk that is full or read-only costs no more than that."""
        entries = np.array(
            [
                (key, first, n, _check(key, piece.states[first : first + n]))
                for key, (first, n) in piece.places.items()
            ],
            dtype=_ENTRY,
        )
        path = self.folder / f"{secrets.token_hex(8)}.npy"
        try:
            write_atomically(path, _as_npy(piece.states))
            write_atomically(path.with_suffix(".index"), [entries.tobytes()])
        except OSError as error:
            with suppress(OSError):
                path.unlink(missing_ok=True)
            warnings.warn(
                f"States of {len(entries)} texts could not be kept in {self.folder}: {error}. They "
                "will be encoded again.",
                stacklevel=2,
            )


def _entries(path, wanted):
    """Entries of an index that are about wanted texts; none if it cannot be read."""
    try:
        content = path.read_bytes()
    except OSError:
        return []
    whole = len(content) - len(content) % _ENTRY.itemsize
    entries = np.frombuffer(content[:whole], dtype=_ENTRY).tolist()
    return [entry for entry in entries if entry[0] in wanted]


def _mapped(path):
    """Map an array into memory, or return None if there is none."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception:  # a damaged header makes numpy raise almost anything
        return None


def _check(key, states):
    return zlib.crc32(states.tobytes(), zlib.crc32(f"{key.hex()} {len(states)}".encode()))


def _as_npy(states):
    """Yield the bytes of a file that `numpy.load` reads."""
    header = io.BytesIO()
    described = np.lib.format.header_data_from_array_1_0(states)
    np.lib.format.write_array_header_1_0(header, described)
    yield header.getvalue()
    for first in range(0, len(states), _BLOCK):
        yield states[first : first + _BLOCK].tobytes()
