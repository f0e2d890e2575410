"""Values from a tree of JSON and arrays, which a stranger may have made; see `encoding`.

Everything is checked before it is believed: kinds, sizes, places of sparse entries, how often an
array is named. Knows numpy and scipy, nothing of models.
"""

import math
import re

import numpy as np

from sklearn_mrmp._model_files.container import are_sizes
from sklearn_mrmp._model_files.errors import ModelFileError
from sklearn_mrmp._model_files.kinds_of_values import (
    MAX_INT,
    MAX_USES,
    SCALARS,
    SPARSE,
    TYPES,
    may_be_item,
)

# numpy stores strings at the width of the longest: one long name makes all of them long.
_MAX_STRING_BYTES = 2**28
_MAX_STRING_WIDTH = 2**16
_MAX_COLUMNS = 2**40
_DTYPE = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248]|O|U\d{1,5})")


class Decoder:
    """Turn a tree and its arrays into values; trusts neither.

    Parameters
    ----------
    arrays : dict of str to ndarray
        The arrays of the file.
    decode_object : callable
        Turns the class name, parameters and fitted attributes of an object into the object.
    """

    def __init__(self, arrays, decode_object):
        self.arrays = arrays
        self.decode_object = decode_object
        self._uses = dict.fromkeys(arrays, 0)
        self._objects = []

    def decode(self, node):
        """Value of a tree."""
        if isinstance(node, list):
            return [self.decode(item) for item in node]
        if not isinstance(node, dict):
            return self._plain(node)
        if len(node) != 1:
            raise ModelFileError(f"A value has the kinds {sorted(node)!r:.100} instead of one.")
        kind, content = next(iter(node.items()))
        if kind not in _NODES:
            raise ModelFileError(f"A value is of the unknown kind {kind!r:.50}.")
        expected, decode = _NODES[kind]
        if type(content) is not expected:
            raise ModelFileError(f"A {kind} is given as {type(content).__name__}.")
        return decode(self, content)

    def check_all_used(self):
        """Raise when the file has arrays that nothing refers to."""
        unused = [name for name, uses in self._uses.items() if not uses]
        if unused:
            raise ModelFileError(f"Nothing refers to array {unused[0]!r:.100} of the file.")

    def _plain(self, value):
        if type(value) is int and abs(value) >= MAX_INT:
            raise ModelFileError("A whole number has more than 64 bits.")
        return value

    def _float(self, text):
        if text not in ("nan", "inf", "-inf"):
            raise ModelFileError(f"A float is given as {text!r:.50}.")
        return float(text)

    def _tuple(self, items):
        return tuple(self.decode(items))

    def _dict(self, items):
        return {key: self.decode(item) for key, item in items.items()}

    def _pairs(self, pairs):
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise ModelFileError("A dict is not given as pairs.")
        value = {}
        for key, item in pairs:
            key = self.decode(key)
            if not _is_key(key) or key in value:
                raise ModelFileError("A dict has a key that is no plain value, or has it twice.")
            value[key] = self.decode(item)
        return value

    def _scalar(self, content):
        dtype, item = fields(content, "scalar", "dtype", "value")
        if not isinstance(dtype, str) or dtype not in SCALARS:
            raise ModelFileError(f"A number has dtype {dtype!r:.50}.")
        item, kind = self.decode(item), SCALARS[dtype]
        if type(item) is not type(kind().item()):
            raise ModelFileError(f"A {dtype} is given as {type(item).__name__}.")
        return kind(item)  # out of range raises OverflowError

    def _array(self, name):
        if name not in self.arrays:
            raise ModelFileError(f"The file has no array {name!r:.100}.")
        self._uses[name] += 1
        if self._uses[name] > MAX_USES:
            raise ModelFileError(f"Array {name!r:.100} is used in more than {MAX_USES} places.")
        return self.arrays[name]

    def _array_f(self, name):
        return self._array(name).T

    def _strings(self, content):
        dtype, shape, items = fields(content, "string array", "dtype", "shape", "items")
        if not isinstance(items, list) or not all(type(item) is str for item in items):
            raise ModelFileError("A string array holds something other than strings.")
        if not are_sizes(shape) or len(shape) > 8 or math.prod(shape) != len(items):
            raise ModelFileError(f"A string array has shape {shape!r:.50} of {len(items)} items.")
        dtype = self._dtype(dtype)
        if dtype.kind not in "UO" or dtype.itemsize * len(items) > _MAX_STRING_BYTES:
            raise ModelFileError(f"A string array of {len(items)} items has dtype {dtype}.")
        array = np.empty(len(items), dtype)
        array[:] = items
        if array.tolist() != items:
            raise ModelFileError("A string array holds strings longer than its dtype.")
        return array.reshape(shape)

    def _object_array(self, content):
        shape, items = fields(content, "array of objects", "shape", "items")
        if not isinstance(items, list):
            raise ModelFileError("An array of objects has no list of items.")
        if not are_sizes(shape) or len(shape) > 8 or math.prod(shape) != len(items):
            raise ModelFileError(f"An array of {len(items)} objects has shape {shape!r:.50}.")
        array = np.empty(len(items), object)
        for i, item in enumerate(self.decode(items)):
            if not may_be_item(item):
                raise ModelFileError("An array of objects holds something other than plain values.")
            array[i] = item
        return array.reshape(shape)

    def _slice(self, borders):
        borders = self.decode(borders)
        plain = all(b is None or isinstance(b, (int, str, np.integer, np.str_)) for b in borders)
        if len(borders) != 3 or not plain:
            raise ModelFileError("A slice is not given by start, stop and step.")
        return slice(*borders)

    def _dtype(self, text):
        if not isinstance(text, str) or not _DTYPE.fullmatch(text):
            raise ModelFileError(f"A dtype is given as {text!r:.50}.")
        dtype = np.dtype(text)
        if dtype.kind == "U" and dtype.itemsize > 4 * _MAX_STRING_WIDTH:
            raise ModelFileError(f"A dtype has strings of {dtype.itemsize // 4} signs.")
        return dtype

    def _type(self, name):
        if name not in TYPES:
            raise ModelFileError(f"A type is given as {name!r:.50}.")
        return TYPES[name]

    def _sparse(self, content):
        names = ("kind", "shape", "data", "indices", "indptr")
        kind, shape, *parts = fields(content, "sparse matrix", *names)
        if not isinstance(kind, str) or kind not in SPARSE:
            raise ModelFileError(f"A sparse matrix is of kind {kind!r:.50}.")
        if not are_sizes(shape) or len(shape) != 2 or max(shape) > _MAX_COLUMNS:
            raise ModelFileError(f"A sparse matrix has shape {shape!r:.50}.")
        data, indices, indptr = (self.decode(part) for part in parts)
        if not all(type(part) is np.ndarray and part.ndim == 1 for part in (data, indices, indptr)):
            raise ModelFileError("A sparse matrix is not made of three vectors.")
        integral = all(part.dtype in (np.int32, np.int64) for part in (indices, indptr))
        n_major = shape[0] if kind.startswith("csr") else shape[1]
        if not integral or data.dtype.kind not in "biuf" or len(indptr) != n_major + 1:
            raise ModelFileError("A sparse matrix has vectors of the wrong dtype or length.")
        # Products read memory at these places without looking: a wrong one must not pass.
        minor = shape[1] if kind.startswith("csr") else shape[0]
        _check_places(data, indices, indptr, minor)
        return SPARSE[kind]((data, indices, indptr), shape=tuple(shape))

    def _object(self, content):
        name, params, fitted = fields(content, "object", "class", "params", "fitted")
        if not (isinstance(name, str) and isinstance(params, dict) and isinstance(fitted, dict)):
            raise ModelFileError("An object is not given by class, params and fitted.")
        value = self.decode_object(name, self._dict(params), self._dict(fitted))
        self._objects.append(value)
        return value

    def _same(self, number):
        if not 0 <= number < len(self._objects):
            raise ModelFileError(f"There is no object number {number} before it is referred to.")
        return self._objects[number]


_NODES = {
    "float": (str, Decoder._float),
    "tuple": (list, Decoder._tuple),
    "dict": (dict, Decoder._dict),
    "pairs": (list, Decoder._pairs),
    "scalar": (dict, Decoder._scalar),
    "array": (str, Decoder._array),
    "array_f": (str, Decoder._array_f),
    "strings": (dict, Decoder._strings),
    "objects": (dict, Decoder._object_array),
    "slice": (list, Decoder._slice),
    "dtype": (str, Decoder._dtype),
    "type": (str, Decoder._type),
    "sparse": (dict, Decoder._sparse),
    "object": (dict, Decoder._object),
    "same": (int, Decoder._same),
}


def fields(content, what, *names):
    """Values of exactly these keys."""
    if content.keys() != set(names):
        raise ModelFileError(f"A {what} is given by {sorted(content)!r:.100}, not {names}.")
    return [content[name] for name in names]


def _is_key(key):
    if type(key) is tuple:
        return all(_is_key(item) for item in key)
    return key is None or isinstance(key, (bool, int, float, str, np.generic))


def _check_places(data, indices, indptr, n_minor):
    """Raise unless the vectors of a compressed sparse matrix point inside it and each other."""
    ordered = indptr[0] == 0 and (indptr[1:] >= indptr[:-1]).all()
    inside = indices.min(initial=0) >= 0 and indices.max(initial=-1) < n_minor
    if not (ordered and inside and indptr[-1] == len(indices) == len(data)):
        raise ModelFileError("A sparse matrix has entries outside its shape.")
