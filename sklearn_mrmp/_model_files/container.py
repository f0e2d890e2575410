"""The container: named arrays and text in the safetensors layout, checked before it is believed.

A file is 8 bytes with the length of the header (little endian), the header (JSON), and the data of
the arrays, one after another. The header maps each array's name to its dtype, shape and place, and
``"__metadata__"`` to text: what the format is, the model's state, and a checksum over all of it.
Any safetensors reader opens such a file. Knows numpy and bounded JSON; nothing of models.
"""

import hashlib
import json
import math
import os
import stat

import numpy as np

from sklearn_mrmp._host.files import user_path, write_atomically
from sklearn_mrmp._model_files import bounded_json
from sklearn_mrmp._model_files.errors import ModelFileError

MODEL = "sklearn-mrmp model"
CHECKPOINT = "sklearn-mrmp checkpoint"
FORMAT_VERSION = 2

_METADATA = "__metadata__"
_MAX_TENSORS = 2**18
_MAX_NAME = 1024
_MAX_DIMENSIONS = 8
_MAX_DIMENSION = 2**40
_DTYPES = {
    "BOOL": "|b1",
    "U8": "|u1",
    "I8": "|i1",
    "U16": "<u2",
    "I16": "<i2",
    "U32": "<u4",
    "I32": "<i4",
    "U64": "<u8",
    "I64": "<i8",
    "F16": "<f2",
    "F32": "<f4",
    "F64": "<f8",
}
_CODES = {np.dtype(name): code for code, name in _DTYPES.items()}


def can_hold(dtype):
    """Whether arrays of this dtype have a place in a file."""
    return dtype.newbyteorder("<") in _CODES


def write_container(path, metadata, arrays, *, kind=MODEL, keep=None):
    """Write a file whole or not at all.

    Parameters
    ----------
    path : str or path-like
        The file; one that exists is replaced in one step, once the new one is safe on disk.
    metadata : dict of str to str
        Text to keep.
    arrays : dict of str to ndarray
        Arrays to keep, of dtypes that `can_hold` accepts.
    kind : str, default="sklearn-mrmp model"
        What the file is.
    keep : path-like, default=None
        Where to put the file that is replaced; None drops it.
    """
    # By falling item size, so that each array starts at a multiple of its item size.
    arrays = dict(sorted(arrays.items(), key=lambda item: -item[1].dtype.itemsize))
    arrays = {name: np.asarray(A, A.dtype.newbyteorder("<"), "C") for name, A in arrays.items()}
    table, end = {}, 0
    for name, array in arrays.items():
        place = [end, end + array.nbytes]
        table[name] = {
            "dtype": _CODES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": place,
        }
        end = place[1]
    metadata = {"format": kind, "format_version": str(FORMAT_VERSION), **metadata}
    digest = _digest_of_header(metadata, table)
    for array in arrays.values():
        digest.update(_bytes_of(array))
    header = {_METADATA: {**metadata, "sha256": digest.hexdigest()}, **table}
    raw = bounded_json.dump(header).encode("ascii")
    raw += b" " * (-len(raw) % 8)
    chunks = [len(raw).to_bytes(8, "little"), raw, *map(_bytes_of, arrays.values())]
    write_atomically(path, chunks, keep)


def _digest_of_header(metadata, table):
    """SHA-256 of all that the header says, in whatever order and spacing it says it."""
    metadata = {name: text for name, text in metadata.items() if name != "sha256"}
    canonical = json.dumps([metadata, table], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii"))


def _bytes_of(array):
    return memoryview(array.reshape(-1).view(np.uint8))


def read_container(path, *, kind=MODEL):
    """Read a file that anybody may have made.

    Sizes, names, dtypes and places are checked before arrays are made, so memory stays within a
    small multiple of the file's size.

    Parameters
    ----------
    path : str or path-like
        The file.
    kind : str, default="sklearn-mrmp model"
        What the file must be.

    Returns
    -------
    metadata : dict of str to str
    arrays : dict of str to ndarray
    """
    path = user_path(path)
    # Opening a pipe or a device may block or never end.
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ModelFileError(f"{os.fspath(path)!r} is not a regular file.")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        header, n_data = _read_header(file, size)
        metadata = _checked_metadata(header.pop(_METADATA, None), kind)
        places = _checked_table(header, n_data)
        digest = _digest_of_header(metadata, header)
        arrays = {name: _read_array(file, *place, digest) for name, place in places.items()}
    if digest.hexdigest() != metadata["sha256"]:
        raise ModelFileError(
            "The checksum does not match: the file was damaged or changed after it was saved."
        )
    return metadata, arrays


def _read_header(file, size):
    """Header as a dict, and how many bytes follow it."""
    start = file.read(8)
    if len(start) < 8:
        raise ModelFileError(f"The file has {size} bytes; it is no model file, or was cut off.")
    length = int.from_bytes(start, "little")
    if length > min(size - 8, bounded_json.MAX_BYTES):
        raise ModelFileError(
            f"The header is said to take {length} bytes of a file of {size}: it is no model file, "
            "or was cut off."
        )
    raw = file.read(length)
    if len(raw) < length or not raw.startswith(b"{"):
        raise ModelFileError("The file has no header: it is no model file, or was cut off.")
    return bounded_json.parse(raw), size - 8 - length


def _checked_metadata(metadata, kind):
    is_text = isinstance(metadata, dict) and all(isinstance(v, str) for v in metadata.values())
    if not is_text or metadata.get("format") != kind:
        raise ModelFileError(
            f"This is not a file of the kind {kind!r} (files of plain weights are opened by the "
            "safetensors package)."
        )
    version = metadata.get("format_version", "")
    if not (version.isascii() and version.isdigit() and 0 < len(version) < 10):
        raise ModelFileError(f"The file's format version is {version!r:.50}, not a number.")
    maker = f"{metadata.get('package_version', '?')!r:.50}"
    if int(version) > FORMAT_VERSION:
        raise ModelFileError(
            f"The file has format version {version}, made by sklearn-mrmp {maker}; this version "
            f"reads version {FORMAT_VERSION}. Upgrade with: pip install -U sklearn-mrmp"
        )
    if int(version) < FORMAT_VERSION:
        raise ModelFileError(
            f"The file has format version {version}, made by sklearn-mrmp {maker}; this version "
            f"reads version {FORMAT_VERSION}. Fit the model anew, or load it with the version that "
            "made it."
        )
    if "sha256" not in metadata:
        raise ModelFileError("The file has no checksum.")
    return metadata


def _checked_table(table, n_data):
    """Dtype and shape of each array in the order of the data, which they cover exactly."""
    if len(table) > _MAX_TENSORS:
        raise ModelFileError(f"The file has {len(table)} arrays; {_MAX_TENSORS} are allowed.")
    entries = sorted(
        (_checked_entry(name, entry) for name, entry in table.items()), key=lambda e: e[3]
    )
    end = 0
    for name, _, _, place in entries:
        if place[0] != end:
            raise ModelFileError(
                f"The data of array {name!r:.100} starts at {place[0]}, not at {end}, where that "
                "of the one before ends."
            )
        end = place[1]
    if end != n_data:
        raise ModelFileError(
            f"The arrays take {end} bytes but {n_data} follow the header: the file was cut off or "
            "added to."
        )
    return {name: (dtype, shape) for name, dtype, shape, _ in entries}


def _checked_entry(name, entry):
    """Name, dtype, shape and place of an array whose size agrees with its place."""
    shown = f"Array {name!r:.100}"
    if not 0 < len(name) <= _MAX_NAME or not name.isprintable():
        raise ModelFileError(f"{shown} has a name that is empty, too long or not printable.")
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise ModelFileError(f"{shown} is not described by dtype, shape and data_offsets.")
    code, shape, place = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(code, str) or code not in _DTYPES:
        raise ModelFileError(f"{shown} has dtype {code!r:.50}; known are {', '.join(_DTYPES)}.")
    small = are_sizes(shape) and max(shape, default=0) <= _MAX_DIMENSION
    if not small or len(shape) > _MAX_DIMENSIONS:
        raise ModelFileError(f"{shown} has shape {shape!r:.100}.")
    if not are_sizes(place) or len(place) != 2:
        raise ModelFileError(f"{shown} has data_offsets {place!r:.100}.")
    dtype = np.dtype(_DTYPES[code])
    n_bytes = math.prod(shape) * dtype.itemsize  # whole numbers of Python: no overflow
    if place[1] - place[0] != n_bytes:
        raise ModelFileError(
            f"{shown} of shape {shape} and dtype {code} takes {n_bytes} bytes, not "
            f"{place[1] - place[0]}."
        )
    return name, dtype, tuple(shape), tuple(place)


def are_sizes(values):
    """Whether a file gave a list of whole numbers from 0 up."""
    return isinstance(values, list) and all(type(v) is int and v >= 0 for v in values)


def _read_array(file, dtype, shape, digest):
    array = np.empty(shape, dtype)
    raw = _bytes_of(array)
    if file.readinto(raw) != len(raw):
        raise ModelFileError("The file became shorter while it was read.")
    digest.update(raw)
    if dtype.kind == "b" and array.view(np.uint8).max(initial=0) > 1:
        raise ModelFileError("A bool array holds bytes other than 0 and 1.")
    return array.astype(dtype.newbyteorder("="), copy=False)
