"""Values as a tree of JSON and array names: plain Python, numpy and scipy.sparse.

None, bool, int, float, str and list are themselves in JSON. Everything else is an object with one
key, its kind: ``{"tuple": [...]}``, ``{"dict": {...}}``, ``{"array": "coef_"}`` and so on. Objects
of classes are ``{"object": {"class", "params", "fitted"}}``; what may be there is the business of
`objects`, which hands in the function for it. `decoding` is the way back. Knows numpy and scipy,
nothing of models.
"""

import math
import re
from collections.abc import Mapping

import numpy as np

from sklearn_mrmp._model_files.bounded_json import MAX_DEPTH
from sklearn_mrmp._model_files.container import can_hold
from sklearn_mrmp._model_files.errors import UnsupportedPartError
from sklearn_mrmp._model_files.kinds_of_values import (
    MAX_INT,
    MAX_USES,
    SCALARS,
    SPARSE,
    TYPE_NAMES,
    may_be_item,
)


def _is_by_column(array):
    """Whether the numbers of a column lie closer together than those of a row."""
    if array.flags.forc:
        return array.flags.fnc
    return array.ndim == 2 and 0 < abs(array.strides[0]) < abs(array.strides[1])


class Encoder:
    """Turn values into a tree, collecting their arrays.

    Parameters
    ----------
    encode_object : callable
        Turns an object of a class into the content of its ``"object"`` node; called with the
        encoder, the object and the path to it.
    request : object, default=None
        What was asked for, for `encode_object` to know.

    Attributes
    ----------
    arrays : dict of str to ndarray
        The arrays met, by the name the tree has for them.
    notes : list of str
        What was left out.
    """

    def __init__(self, encode_object, request=None):
        self.encode_object = encode_object
        self.request = request
        self.arrays = {}
        self.notes = []
        self._names = {}  # by identity: name of an array's last copy, and how often it is used
        self._objects = {}  # by identity: number of an object, in the order they were finished
        self._alive = []  # an identity means something only while its owner lives

    def encode(self, value, path=()):
        """Tree of a value; `path` says where in the model it is, for names and messages."""
        if len(path) > MAX_DEPTH:
            raise UnsupportedPartError(
                f"{where(path[:6])} … is nested deeper than {MAX_DEPTH} levels, or contains itself."
            )
        kind = type(value)
        if value is None or kind in (bool, str):
            return value
        if kind in _KINDS:
            return _KINDS[kind](self, value, path)
        if isinstance(value, np.generic):
            return self._scalar(value, path)
        if isinstance(value, np.dtype):
            return {"dtype": value.str}
        if isinstance(value, type) and value in TYPE_NAMES:
            return {"type": TYPE_NAMES[value]}
        if isinstance(value, Mapping):
            return self._dict(value, path)
        return self._object(value, path)

    def attempt(self, value, path):
        """Encode, or leave everything as it was and raise UnsupportedPartError."""
        before = dict(self.arrays), dict(self._names), dict(self._objects)
        try:
            return self.encode(value, path)
        except UnsupportedPartError:
            self.arrays, self._names, self._objects = before
            raise

    def _object(self, value, path):
        """Node of an object, or of a reference to the same one in an earlier place."""
        if id(value) in self._objects:
            return {"same": self._objects[id(value)]}
        node = {"object": self.encode_object(self, value, path)}
        self._objects[id(value)] = len(self._objects)
        self._alive.append(value)
        return node

    def _int(self, value, path):
        if abs(value) >= MAX_INT:
            raise UnsupportedPartError(f"{where(path)} is a whole number of more than 64 bits.")
        return value

    def _float(self, value, path):
        return value if math.isfinite(value) else {"float": repr(value)}

    def _list(self, value, path):
        return [self.encode(item, (*path, str(i))) for i, item in enumerate(value)]

    def _tuple(self, value, path):
        return {"tuple": self._list(value, path)}

    def _dict(self, value, path):
        if all(type(key) is str for key in value):
            return {"dict": {key: self.encode(item, (*path, key)) for key, item in value.items()}}
        return {
            "pairs": [
                [self.encode(key, path), self.encode(item, (*path, str(key)))]
                for key, item in value.items()
            ]
        }

    def _scalar(self, value, path):
        name = type(value).__name__
        if SCALARS.get(name) is not type(value):
            raise unsupported(value, path)
        return {"scalar": {"dtype": name, "value": self.encode(value.item(), path)}}

    def _array(self, value, path):
        if value.dtype.kind in "UO":
            return self._strings(value, path)
        if not can_hold(value.dtype):
            raise unsupported(value, path, f"an array of dtype {value.dtype}")
        # The layout is kept, also that of a part of an array: sums over rows and over columns round
        # differently.
        if _is_by_column(value):
            return {"array_f": self._name(value, value.T, path)}
        return {"array": self._name(value, value, path)}

    def _name(self, value, stored, path):
        name, uses = self._names.get(id(value), (None, MAX_USES))
        if uses == MAX_USES:
            name, uses = self._free_name(path), 0
            self.arrays[name] = stored
            self._alive.append(value)
        self._names[id(value)] = (name, uses + 1)
        return name

    def _free_name(self, path):
        base = re.sub(r"[^\w.~/-]", "_", "/".join(path), flags=re.ASCII)[:200] or "array"
        name, n = base, 1
        while name in self.arrays:
            n += 1
            name = f"{base}~{n}"
        return name

    def _slice(self, value, path):
        borders = [value.start, value.stop, value.step]
        return {"slice": self._list(borders, path)}

    def _strings(self, value, path):
        items = value.ravel().tolist()
        if not all(type(item) is str for item in items):
            return self._object_array(value, items, path)
        dtype = "O" if value.dtype == object else f"U{value.dtype.itemsize // 4}"
        return {"strings": {"dtype": dtype, "shape": list(value.shape), "items": items}}

    def _object_array(self, value, items, path):
        """Node of an array of plain values of several types, such as categories and None."""
        if not all(may_be_item(item) for item in items):
            raise unsupported(value, path, "an array of Python objects other than plain values")
        return {"objects": {"shape": list(value.shape), "items": self._list(items, path)}}

    def _sparse(self, value, path):
        parts = {
            name: self.encode(getattr(value, name), (*path, name))
            for name in ("data", "indices", "indptr")
        }
        return {
            "sparse": {"kind": type(value).__name__, "shape": [int(n) for n in value.shape]} | parts
        }


_KINDS = {
    int: Encoder._int,
    float: Encoder._float,
    list: Encoder._list,
    tuple: Encoder._tuple,
    dict: Encoder._dict,
    slice: Encoder._slice,
    np.ndarray: Encoder._array,
    **dict.fromkeys(SPARSE.values(), Encoder._sparse),
}


def where(path):
    """Name of a place in a model, as one would write it."""
    return ".".join(path) if path else "The model"


def unsupported(value, path, what=None):
    """Error for a value that has no place in a file."""
    what = what or f"an object of {type(value).__module__}.{type(value).__qualname__}"
    return UnsupportedPartError(
        f"{where(path)} is {what}, which a model file has no place for: files hold numbers, text "
        "and the classes listed in the documentation, and never code."
    )
