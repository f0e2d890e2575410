"""Objects of known classes as parameters and fitted attributes, and back.

A file names classes, but only those that `admitted` lists; the class's `Part` says which attributes
belong to it and of which types they are. Nothing else can be set, so a file can neither bring a
class along nor replace a method. The types are names joined by ``|``; ``"any"`` is any value a file
can hold, and a final ``?`` marks attributes that need not be there.
"""

import inspect
import os
import re
from functools import cache

from sklearn_mrmp._model_files.admitted import class_of, function_of, name_of
from sklearn_mrmp._model_files.encoding import unsupported, where
from sklearn_mrmp._model_files.errors import ModelFileError, UnsupportedPartError
from sklearn_mrmp._model_files.part import OUTPUT
from sklearn_mrmp._model_files.sklearn_parts import SKLEARN_PARTS
from sklearn_mrmp._sklearn_compat import CALLBACKS_ATTRIBUTE

# scikit-learn's convention for what fit learns.
_LEARNED = re.compile(r"[a-zA-Z](\w*[a-zA-Z0-9])?_", re.ASCII)
# About a process and not about a model: never more than the machine that loads it has.
_WORKERS = ("n_jobs", "n_threads")


def _part_of_class(cls, name):
    """Part of an admitted class: its own, or ours for a class of scikit-learn."""
    return SKLEARN_PARTS[name] if name in SKLEARN_PARTS else cls.__dict__["_model_part"]


def admitted_name(value, path):
    """Name in files of an object's class, exactly: a subclass may hold anything."""
    name = name_of(type(value))
    if name is not None:
        return name
    if callable(value) and not hasattr(value, "get_params"):
        raise unsupported(value, path, f"a function or class ({value!r:.60})")
    hint = ""
    if hasattr(value, "best_estimator_"):
        hint = " Save its best_estimator_ instead."
    elif hasattr(value, "get_params"):
        hint = " To keep it on your own machine, use joblib; never load such a file of a stranger."
    error = unsupported(value, path)
    raise UnsupportedPartError(f"{error}{hint}")


def part_of(value):
    """Return the `Part` of an object of an admitted class."""
    return _part_of_class(type(value), admitted_name(value, ()))


def encode_object(encoder, value, path):
    """Content of the ``"object"`` node of a value."""
    name = admitted_name(value, path)
    part = _part_of_class(type(value), name)
    if part.take_for is not None:
        params, fitted = part.take_for(value, encoder.request)
    else:
        params, fitted = (part.take or _take(part, type(value), path))(value)
    nodes = {}
    for key, item in params.items():
        nodes[key] = _encode_param(encoder, part, value, key, item, (*path, key))
    return {
        "class": name,
        "params": nodes,
        "fitted": {key: encoder.encode(item, (*path, key)) for key, item in fitted.items()},
    }


def _encode_param(encoder, part, value, name, item, path):
    if name in part.local:
        return None
    if name in part.functions and callable(item):
        known = [text for text in part.functions[name] if function_of(text) is item]
        if known:
            return known[0]
    if name not in part.fit_only:
        return encoder.encode(item, path)
    try:
        return encoder.attempt(item, path)
    except UnsupportedPartError:
        encoder.notes.append(f"{where(path)} ({type(item).__name__})")
        return encoder.encode(part.fit_only[name](value), path)


def _take(part, cls, path):
    """Return a function that splits an object into parameters and fitted attributes."""

    def take(value):
        params = {name: getattr(value, name) for name in _signature(cls)}
        # Callbacks are objects of the running program.
        rest = dict(getattr(value, "__dict__", {}))
        rest.pop(CALLBACKS_ATTRIBUTE, None)
        fitted = {k: v for k, v in rest.items() if k not in params and k not in part.left_out}
        for name in fitted:
            if not _is_known(part, cls, name):
                raise UnsupportedPartError(
                    f"{where((*path, name))} is not an attribute that this version of model files "
                    f"knows of {cls.__name__}; delete it from the object to save the rest."
                )
        fitted |= {name: tidy(fitted[name]) for name, tidy in part.tidy.items() if name in fitted}
        return params, fitted

    return take


@cache
def _signature(cls):
    return [name for name in inspect.signature(cls).parameters if name != "self"]


def _is_known(part, cls, name):
    if name in part.fitted:
        return True
    # What the class itself defines (methods, properties) can never be set.
    return part.conventional and bool(_LEARNED.fullmatch(name)) and not hasattr(cls, name)


def decode_object(name, params, fitted):
    """Object of a class name, parameters and attributes that a file gave."""
    cls = class_of(name)
    if cls is None:
        raise ModelFileError(
            f"The file has an object of {name!r:.100}, which is not a class of model files (or one "
            "of a newer version)."
        )
    part = _part_of_class(cls, name)
    value = (part.make or _make(part, cls))(params, fitted)
    if part.check is not None:
        part.check(value)
    if part.complete is not None and not (part.fitted and _is_unfitted(fitted)):
        part.complete(value)
    return value


def _is_unfitted(fitted):
    """Whether nothing was learned, as by the estimator that a wrapper clones."""
    return fitted.keys() <= OUTPUT.keys()


def _make(part, cls):
    def make(params, fitted):
        _check_names(part, cls, params, fitted)
        _check_types(part, cls, fitted)
        for name in _WORKERS:
            if type(params.get(name)) is int:
                params[name] = min(params[name], os.cpu_count() or 1)
        params |= _functions_of(part, cls, params)
        value = cls(**params)
        if fitted:
            value.__dict__.update(fitted)
        if hasattr(value, "_parameter_constraints"):
            value._validate_params()
        return value

    return make


def _check_names(part, cls, params, fitted):
    strange = [name for name in params if name not in _signature(cls)]
    strange += [name for name in fitted if not _is_known(part, cls, name)]
    if strange:
        raise ModelFileError(f"{cls.__name__} has no attribute {strange[0]!r:.100}.")
    for name in part.local:
        # A folder that a stranger chose: what lies there would be read by the next fit.
        if params.get(name) is not None:
            raise ModelFileError(f"{cls.__name__} comes with {name}, which files must not set.")


def _functions_of(part, cls, params):
    """Functions of the names that a file gave, each on the list of its parameter."""
    given = {name: params[name] for name in part.functions if params.get(name) is not None}
    for name, text in given.items():
        if not isinstance(text, str) or text not in part.functions[name]:
            raise ModelFileError(f"{cls.__name__} comes with {name}={text!r:.50}.")
    return {name: function_of(text) for name, text in given.items()}


def _check_types(part, cls, fitted):
    for name, types in part.fitted.items() if not _is_unfitted(fitted) else ():
        if name not in fitted:
            if not types.endswith("?"):
                raise ModelFileError(f"{cls.__name__} comes without {name}.")
            continue
        types = types.removesuffix("?").split("|")
        kind = type(fitted[name]).__name__
        if types != ["any"] and kind not in types:
            raise ModelFileError(
                f"{cls.__name__}.{name} is of type {kind}; expected {' or '.join(types)}."
            )
