"""Strict JSON of bounded size: what a stranger's file may make the parser do.

The nesting and the number of values are counted on the raw bytes, before a parser builds anything.
Leaf module.
"""

import json

import numpy as np

from sklearn_mrmp._model_files.errors import ModelFileError

# The limit of the safetensors library, so that every file written can be opened by it.
MAX_BYTES = 100_000_000
MAX_DEPTH = 100
# A parsed value takes up to some hundred bytes; a vocabulary of a million words is two million.
MAX_VALUES = 4_000_000

_STEPS = np.zeros(256, dtype=np.int8)
_STEPS[[ord("["), ord("{")]] = 1
_STEPS[[ord("]"), ord("}")]] = -1
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def dump(value):
    """Text of a JSON value, ASCII only, within the limits that `parse` sets."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    check_limits(text.encode("ascii"))
    return text


def parse(raw):
    """Value of JSON text.

    Parameters
    ----------
    raw : bytes
        The text, UTF-8.

    Returns
    -------
    value : None, bool, int, float, str, list or dict

    Examples
    --------
    >>> parse(b'{"a": [1, 2]}')
    {'a': [1, 2]}
    """
    check_limits(raw)
    try:
        return json.loads(
            raw.decode("utf-8"), object_pairs_hook=_without_duplicates, parse_constant=_refuse
        )
    except ModelFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"The file's description is not JSON: {error}.") from error


def check_limits(raw):
    """Raise when the text is too large, too deep or has too many values."""
    if len(raw) > MAX_BYTES:
        raise ModelFileError(
            f"The description of the model takes {len(raw)} bytes; at most {MAX_BYTES} are allowed."
        )
    if raw.count(b'"') > 4 * MAX_VALUES:
        raise ModelFileError("The description of the model has too many strings.")
    # JSON has backslashes inside strings only; without the escaped ones every quote is a border.
    plain = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    outside = b"".join(plain.split(b'"')[::2])
    n_values = sum(outside.count(sign) for sign in (b",", b"[", b"{")) + 1
    if n_values > MAX_VALUES:
        raise ModelFileError(
            f"The description of the model has {n_values} values; at most {MAX_VALUES} are allowed."
        )
    brackets = np.frombuffer(outside.translate(None, _NOT_BRACKETS), dtype=np.uint8)
    depth = int(np.cumsum(_STEPS[brackets], dtype=np.int32).max(initial=0))
    if depth > MAX_DEPTH:
        raise ModelFileError(
            f"The description of the model is nested {depth} levels deep; at most {MAX_DEPTH} are "
            "allowed."
        )


def _without_duplicates(pairs):
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ModelFileError("The file's description has the same key twice.")
    return value


def _refuse(constant):
    raise ModelFileError(f"The file's description holds {constant}, which is not JSON.")
