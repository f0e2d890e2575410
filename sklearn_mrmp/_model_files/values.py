"""Values as a tree of JSON and array names, and back: plain Python, numpy and scipy.sparse.

None, bool, int, float, str and list are themselves in JSON. Everything else is an object with one
key, its kind: ``{"tuple": [...]}``, ``{"dict": {...}}``, ``{"array": "coef_"}`` and so on. Objects
of classes are ``{"object": {"class", "params", "fitted"}}``; what may be there is the business of
`objects`, which hands in the two functions for it. Knows numpy and scipy, nothing of models.
"""

import math
import re
from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._model_files.bounded_json import MAX_DEPTH
from sklearn_mrmp._model_files.container import are_sizes, can_hold
from sklearn_mrmp._model_files.errors import ModelFileError, UnsupportedPartError

# An array may stand in several places of a model; a file that multiplies its size by naming the
# same array in millions of places is refused.
_MAX_USES = 8
# numpy stores strings at the width of the longest: one long name makes all of them long.
_MAX_STRING_BYTES = 2**28
_MAX_STRING_WIDTH = 2**16
_MAX_INT = 2**64
_MAX_COLUMNS = 2**40

_SPARSE = {
    "csr_array": sp.csr_array,
    "csr_matrix": sp.csr_matrix,
    "csc_array": sp.csc_array,
    "csc_matrix": sp.csc_matrix,
}
_SCALARS = {
    kind.__name__: kind
    for kind in (
        *(np.bool_, np.str_, np.float16, np.float32, np.float64),
        *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
    )
}
# Types that are values themselves: the dtype of a vectorizer, the container of a target, the
# dtypes of a selection of columns.
_TYPES = {**_SPARSE, **_SCALARS, "float": float, "int": int, "bool": bool, "object": object}
_TYPES |= {"str": str, "number": np.number, "integer": np.integer, "floating": np.floating}
_TYPE_NAMES = {kind: name for name, kind in _TYPES.items()}
_DTYPE = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248]|O|U\d{1,5})")


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

    Attributes
    ----------
    arrays : dict of str to ndarray
        The arrays met, by the name the tree has for them.
    notes : list of str
        What was left out.
    """

    def __init__(self, encode_object):
        self.encode_object = encode_object
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
        if isinstance(value, type) and value in _TYPE_NAMES:
            return {"type": _TYPE_NAMES[value]}
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
        if abs(value) >= _MAX_INT:
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
        if _SCALARS.get(name) is not type(value):
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
        name, uses = self._names.get(id(value), (None, _MAX_USES))
        if uses == _MAX_USES:
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
        if not all(_may_be_item(item) for item in items):
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
    **dict.fromkeys(_SPARSE.values(), Encoder._sparse),
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
        if type(value) is int and abs(value) >= _MAX_INT:
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
        if not isinstance(dtype, str) or dtype not in _SCALARS:
            raise ModelFileError(f"A number has dtype {dtype!r:.50}.")
        item, kind = self.decode(item), _SCALARS[dtype]
        if type(item) is not type(kind().item()):
            raise ModelFileError(f"A {dtype} is given as {type(item).__name__}.")
        return kind(item)  # out of range raises OverflowError

    def _array(self, name):
        if name not in self.arrays:
            raise ModelFileError(f"The file has no array {name!r:.100}.")
        self._uses[name] += 1
        if self._uses[name] > _MAX_USES:
            raise ModelFileError(f"Array {name!r:.100} is used in more than {_MAX_USES} places.")
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
            if not _may_be_item(item):
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
        if name not in _TYPES:
            raise ModelFileError(f"A type is given as {name!r:.50}.")
        return _TYPES[name]

    def _sparse(self, content):
        names = ("kind", "shape", "data", "indices", "indptr")
        kind, shape, *parts = fields(content, "sparse matrix", *names)
        if not isinstance(kind, str) or kind not in _SPARSE:
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
        return _SPARSE[kind]((data, indices, indptr), shape=tuple(shape))

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


def _may_be_item(item):
    """Whether a value may stand in an array of objects: plain values, and arrays such as edges."""
    if isinstance(item, np.ndarray):
        return item.dtype != object
    return item is None or type(item) in (bool, int, float, str) or isinstance(item, np.generic)


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
