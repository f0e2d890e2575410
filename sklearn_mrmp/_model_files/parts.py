"""Objects of known classes as parameters and fitted attributes, and back.

A file names classes, but only by the names of the list that is made here; each entry, a `Part`,
says which attributes belong to the class and of which types they are. Nothing else can be set, so a
file can neither bring a class along nor replace a method.

To let another class into model files, add one line to `OWN_PARTS` (or `SKLEARN_PARTS`)::

    Part("sklearn_mrmp._linear_base:LinearBase", {"coef_": "ndarray", "intercept_": "ndarray"}),

Constructor parameters are found by the constructor's signature. A new fitted attribute of a class
that is listed already is one more entry of its mapping; `save` refuses attributes it does not know,
so the tests say when one was forgotten. The types are names joined by ``|``; ``"any"`` is any value
a file can hold, and a final ``?`` marks attributes that need not be there.
"""

import inspect
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

from sklearn_mrmp._model_files.errors import ModelFileError, UnsupportedPartError
from sklearn_mrmp._model_files.values import unsupported, where

# scikit-learn's convention for what fit learns.
_LEARNED = re.compile(r"[a-zA-Z](\w*[a-zA-Z0-9])?_", re.ASCII)
# About a process and not about a model: never more than the machine that loads it has.
_WORKERS = ("n_jobs", "n_threads")


@dataclass(frozen=True)
class Part:
    """What a file may hold of a class.

    Attributes
    ----------
    path : str
        ``"module:Class"``; imported when first needed.
    fitted : mapping of str to str
        Attributes besides the constructor's parameters, and their types.
    fit_only : mapping of str to callable
        Parameters that matter for ``fit`` alone. When one of them is not plain data, what the
        function makes of the object is stored in its place, and `save` says so.
    left_out : tuple of str
        Attributes that are not stored: caches, and what `complete` makes anew.
    local : tuple of str
        Parameters of one machine, such as folders: stored as None, refused otherwise.
    tidy : mapping of str to callable
        For some attributes, what is stored of them.
    conventional : bool
        Whether any attribute that is named by scikit-learn's convention may be set too.
    take : callable or None
        Returns the parameters and the attributes to store of an object, two dicts.
    make : callable or None
        Makes the object of what `take` returned.
    complete : callable or None
        Called with the rebuilt object: makes what was left out, checks what belongs together.
    """

    path: str
    fitted: Mapping[str, str] = field(default_factory=dict)
    fit_only: Mapping[str, Callable] = field(default_factory=dict)
    left_out: tuple = ()
    local: tuple = ()
    tidy: Mapping[str, Callable] = field(default_factory=dict)
    conventional: bool = False
    take: Callable | None = None
    make: Callable | None = None
    complete: Callable | None = None

    @property
    def name(self):
        """Name of the class in files; scikit-learn's with their module."""
        module, _, name = self.path.partition(":")
        return f"{module}.{name}" if module.startswith("sklearn.") else name

    @property
    def cls(self):
        """The class."""
        module, _, name = self.path.partition(":")
        return getattr(import_module(module), name)


@cache
def known_parts():
    """All parts by the name that files use."""
    from sklearn_mrmp._model_files.own_parts import OWN_PARTS
    from sklearn_mrmp._model_files.sklearn_parts import SKLEARN_PARTS

    return {part.name: part for part in (*OWN_PARTS, *SKLEARN_PARTS)}


def part_of(value, path):
    """Part of an object's class, exactly: a subclass may hold anything."""
    for part in known_parts().values():
        if part.path.endswith(f":{type(value).__name__}") and part.cls is type(value):
            return part
    if callable(value) and not hasattr(value, "get_params"):
        raise unsupported(value, path, f"a function or class ({value!r:.60})")
    hint = ""
    if hasattr(value, "best_estimator_"):
        hint = " Save its best_estimator_ instead."
    elif hasattr(value, "get_params"):
        hint = " To keep it on your own machine, use joblib; never load such a file of a stranger."
    error = unsupported(value, path)
    raise UnsupportedPartError(f"{error}{hint}")


def encode_object(encoder, value, path):
    """Content of the ``"object"`` node of a value."""
    part = part_of(value, path)
    params, fitted = (part.take or _take(part, path))(value)
    nodes = {}
    for name, item in params.items():
        nodes[name] = _encode_param(encoder, part, value, name, item, (*path, name))
    return {
        "class": part.name,
        "params": nodes,
        "fitted": {name: encoder.encode(item, (*path, name)) for name, item in fitted.items()},
    }


def _encode_param(encoder, part, value, name, item, path):
    if name in part.local:
        return None
    if name not in part.fit_only:
        return encoder.encode(item, path)
    try:
        return encoder.attempt(item, path)
    except UnsupportedPartError:
        encoder.notes.append(f"{where(path)} ({type(item).__name__})")
        return encoder.encode(part.fit_only[name](value), path)


def _take(part, path):
    """Return a function that splits an object into parameters and fitted attributes."""

    def take(value):
        params = {name: getattr(value, name) for name in _signature(part.cls)}
        rest = getattr(value, "__dict__", {})
        fitted = {k: v for k, v in rest.items() if k not in params and k not in part.left_out}
        for name in fitted:
            if not _is_known(part, name):
                raise UnsupportedPartError(
                    f"{where((*path, name))} is not an attribute that this version of model files "
                    f"knows of {part.name}; delete it from the object to save the rest."
                )
        fitted |= {name: tidy(fitted[name]) for name, tidy in part.tidy.items() if name in fitted}
        return params, fitted

    return take


@cache
def _signature(cls):
    return [name for name in inspect.signature(cls).parameters if name != "self"]


def _is_known(part, name):
    if name in part.fitted:
        return True
    # What the class itself defines (methods, properties) can never be set.
    return part.conventional and bool(_LEARNED.fullmatch(name)) and not hasattr(part.cls, name)


def decode_object(name, params, fitted):
    """Object of a class name, parameters and attributes that a file gave."""
    part = known_parts().get(name)
    if part is None:
        raise ModelFileError(
            f"The file has an object of {name!r:.100}, which is not a class of model files (or one "
            "of a newer version)."
        )
    value = (part.make or _make(part))(params, fitted)
    unfitted = part.fitted and not fitted  # such as the estimator a wrapper clones
    if part.complete is not None and not unfitted:
        part.complete(value)
    return value


def _make(part):
    def make(params, fitted):
        _check_names(part, params, fitted)
        _check_types(part, fitted)
        for name in _WORKERS:
            if type(params.get(name)) is int:
                params[name] = min(params[name], os.cpu_count() or 1)
        value = part.cls(**params)
        if fitted:
            value.__dict__.update(fitted)
        if hasattr(value, "_parameter_constraints"):
            value._validate_params()
        return value

    return make


def _check_names(part, params, fitted):
    strange = [name for name in params if name not in _signature(part.cls)]
    strange += [name for name in fitted if not _is_known(part, name)]
    if strange:
        raise ModelFileError(f"{part.name} has no attribute {strange[0]!r:.100}.")
    for name in part.local:
        # A folder that a stranger chose: what lies there would be read by the next fit.
        if params.get(name) is not None:
            raise ModelFileError(f"{part.name} comes with {name}, which files must not set.")


def _check_types(part, fitted):
    for name, types in part.fitted.items() if fitted else ():
        if name not in fitted:
            if not types.endswith("?"):
                raise ModelFileError(f"{part.name} comes without {name}.")
            continue
        types = types.removesuffix("?").split("|")
        kind = type(fitted[name]).__name__
        if types != ["any"] and kind not in types:
            raise ModelFileError(
                f"{part.name}.{name} is of type {kind}; expected {' or '.join(types)}."
            )
