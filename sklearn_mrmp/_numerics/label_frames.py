"""Data frames of labels: their names, their values as an array, and matching by name.

Wherever a caller passes labels, they may come as a data frame of any library that has ``columns``
and ``to_numpy``, of any type that can hold 0 and 1. Leaf module: numpy.
"""

import numpy as np

# Types of 0 and 1 in an array of objects, besides numpy's.
_NUMBERS = (bool, int, float, np.bool_, np.number)


def is_frame(Y):
    """Whether something is a data frame."""
    return hasattr(Y, "columns") and hasattr(Y, "to_numpy")


def column_names(Y):
    """Return the column names of a data frame as str, or None for anything else."""
    return [str(name) for name in Y.columns] if is_frame(Y) else None


def are_numbers(names):
    """Whether names are just "0", "1", …: what columns without names are called."""
    return list(names) == [str(number) for number in range(len(names))]


def one_is_anonymous(found, names):
    """Whether labels can only go by position, because one side has no names but numbers.

    Examples
    --------
    >>> from sklearn_mrmp._numerics.label_frames import one_is_anonymous
    >>> one_is_anonymous(["a", "b"], ["0", "1"]), one_is_anonymous(["1", "0"], ["0", "1"])
    (True, False)
    """
    if not are_numbers(found) and not are_numbers(names):
        return False
    return sorted(found) != sorted(names)  # the same numbers in another order are names


def plain_labels(Y):
    """Return labels as an array that can be counted with, wherever they are 0 and 1.

    Parameters
    ----------
    Y : object
        Labels; only data frames and arrays of objects or of half precision are touched.

    Returns
    -------
    Y : object
        An array for a data frame. Objects that are all 0 or 1 become bool or int64, as nullable
        and categorical columns do, and float64 with NaN where some are missing; others are left
        for the caller to refuse, missing ones as NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp._numerics.label_frames import plain_labels
    >>> plain_labels(np.array([[True, 0], [1.0, 0]], dtype=object))
    array([[1, 0],
           [1, 0]])
    """
    values = Y.to_numpy() if is_frame(Y) else Y
    is_object = getattr(getattr(values, "dtype", None), "kind", None) == "O"
    if not is_object or values.ndim != 2:
        return values
    values = _with_nan(values)
    kinds = set(map(type, values.ravel()))
    if not all(issubclass(kind, _NUMBERS) for kind in kinds):
        return values
    numbers = values.astype(np.float64)
    missing = np.isnan(numbers)
    if missing.all() or not np.isin(numbers[~missing], (0, 1)).all():
        return values
    if missing.any():
        return numbers
    are_bool = all(issubclass(kind, (bool, np.bool_)) for kind in kinds)
    return numbers.astype(bool if are_bool else np.int64)


def _with_nan(values):
    """Return objects with NaN for pandas' NA, which nobody who looks for NaN can compare."""
    kinds = set(map(type, values.ravel()))
    missing = next((kind for kind in kinds if kind.__name__ == "NAType"), None)
    if missing is None:
        return values
    plain = [np.nan if type(value) is missing else value for value in values.ravel()]
    return np.array(plain, dtype=object).reshape(values.shape)


def in_order(Y, names, what="y"):
    """Return a data frame's columns in the order of the label names; other things as they are.

    Parameters
    ----------
    Y : object
        Labels, or scores of labels; matched by name only if it is a data frame with names.
    names : sequence of str
        The names that were seen first.
    what : str, default="y"
        What the caller calls `Y`, for error messages.

    Returns
    -------
    Y : object
        `Y`, or a data frame with its columns in that order.

    Raises
    ------
    ValueError
        If a data frame has other names.
    """
    found = column_names(Y)
    names = list(names)
    if found is None or found == names or one_is_anonymous(found, names):
        return Y
    check_same_names(found, names, what)
    columns = list(Y.columns)
    return Y[[columns[position] for position in positions(found, names)]]


def in_order_of(first, Y, what):
    """Return `Y` with its columns in the order of those of `first`, if both are data frames."""
    names = column_names(first)
    return Y if names is None else in_order(Y, names, what)


def check_same_names(found, names, what):
    """Raise ValueError unless both are the same names, each once, in any order."""
    unexpected = [name for name in found if name not in set(names)]
    missing = [name for name in names if name not in set(found)]
    if unexpected or missing:
        raise ValueError(
            f"Label names of {what} do not match those seen before: {_several(missing)} missing, "
            f"{_several(unexpected)} unexpected. Rename or choose its columns, or pass an array "
            "to go by position."
        )
    if len(set(names)) < len(names) or len(found) != len(names):
        repeated = next(name for name in found if found.count(name) > 1 or names.count(name) > 1)
        raise ValueError(
            f"Labels of {what} are in another order, and {repeated!r} names several of them, so "
            "they cannot be matched by name. Give each label its own name, or pass an array to "
            "go by position."
        )


def positions(found, names):
    """Return where each of the names is found, an array of positions."""
    where = {name: position for position, name in enumerate(found)}
    return np.array([where[name] for name in names], dtype=np.intp)


def _several(names):
    """Name the first few, as text for an error message."""
    shown = ", ".join(repr(name) for name in names[:5]) or "none"
    return shown + (", …" if len(names) > 5 else "")
