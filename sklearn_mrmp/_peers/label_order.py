"""Orders of labels: by frequency, or as somebody gives them by number or name.

Knows numpy.
"""

from numbers import Integral

import numpy as np

FREQUENT_FIRST, RARE_FIRST, FREE = "f2r", "r2f", "free"


def label_numbers(label_order, label_names):
    """Numbers of all labels in a given order.

    Parameters
    ----------
    label_order : array-like of int or of str
        Numbers or names of all labels, each once.
    label_names : ndarray of str of shape (n_labels,)
        Names of the labels.

    Returns
    -------
    numbers : tuple of int

    Examples
    --------
    >>> from sklearn_mrmp._peers.label_order import label_numbers
    >>> label_numbers(["sea", "land"], ["land", "sea"])
    (1, 0)
    """
    numbers = {str(name): number for number, name in enumerate(label_names)}
    order = list(label_order)
    named = [label for label in order if not isinstance(label, Integral)]
    unknown = [label for label in named if str(label) not in numbers]
    if unknown:
        raise ValueError(f"label_order has {unknown[0]!r}, which is the name of no label.")
    order = [int(x) if isinstance(x, Integral) else numbers[str(x)] for x in order]
    if sorted(order) != list(range(len(numbers))):
        raise ValueError(
            f"label_order has to have each of the {len(numbers)} labels once, by its number from 0 "
            f"or by its name; it has {len(order)} entries, {len(set(order))} of them different."
        )
    return tuple(order)


def numbers_in_order(label_order, prior):
    """Label numbers in an order that the training rows may decide.

    Parameters
    ----------
    label_order : {"f2r", "r2f", "free"} or sequence of int
        Name of the order, or all label numbers.
    prior : Tensor of shape (n_labels,)
        Share of training rows with each label; of equals the first comes first.

    Returns
    -------
    numbers : list of int, or None if the order is free
    """
    if label_order == FREE:
        return None
    frequency = prior.cpu().numpy()
    if label_order == FREQUENT_FIRST:
        return np.argsort(-frequency, kind="stable").tolist()
    if label_order == RARE_FIRST:
        return np.argsort(frequency, kind="stable").tolist()
    return list(label_order)


def is_order(order, n_labels):
    """Whether it is a list of all label numbers."""
    if not isinstance(order, list) or len(order) != n_labels:
        return False
    return all(type(number) is int for number in order) and sorted(order) == list(range(n_labels))
