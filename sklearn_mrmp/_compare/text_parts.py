"""Data sets of raw texts that ``python -m sklearn_mrmp compare`` knows by name, in two parts.

Knows where they lie in the data home, and which rows train and which test.
"""

import numpy as np
from sklearn.utils import Bunch

from sklearn_mrmp.datasets import (
    load_goemotions,
    load_ohsumed,
    load_reuters21578,
    load_tagged_texts,
)
from sklearn_mrmp.datasets._fetch import data_home_folder

_FEWEST_ROWS = 10  # of a tag of Cooking, among the training rows


def _reuters(home):
    folder = home / "reuters21578"
    return tuple(load_reuters21578(folder, subset=part) for part in ("train", "test"))


def _goemotions(home):
    folder = home / "text" / "goemotions"
    return tuple(load_goemotions(folder, subset=part) for part in ("train", "test"))


def _ohsumed(home):
    folder = home / "text" / "ohsumed"
    return tuple(load_ohsumed(folder, subset=part) for part in ("train", "test"))


def _cooking(home):
    """Divide the one file: the first 80 % after a permutation that is always the same train."""
    path = home / "text" / "cooking" / "cooking.stackexchange.txt"
    whole = load_tagged_texts(path)
    order = np.random.default_rng(0).permutation(len(whole.data))
    n_train = len(order) * 4 // 5
    # Test rows have no say in which tags there are.
    kept = np.flatnonzero(whole.target[order[:n_train]].sum(axis=0) >= _FEWEST_ROWS)
    if not len(kept):
        raise ValueError(
            f"{path}: no tag has {_FEWEST_ROWS} training rows; the file must hold the titles of "
            "Cooking StackExchange."
        )
    parts = {"train": order[:n_train], "test": order[n_train:]}
    return tuple(_part(whole, name, rows, kept) for name, rows in parts.items())


def _part(whole, name, rows, columns):
    Y = whole.target[np.ix_(rows, columns)]
    return Bunch(
        data=[whole.data[i] for i in rows],
        target=Y,
        target_names=[whole.target_names[j] for j in columns],
        DESCR=(
            f"Cooking StackExchange ({name} rows, tags of {_FEWEST_ROWS} training rows or more).\n"
            f"{Y.shape[0]} texts, {Y.shape[1]} labels, {Y.sum() / max(1, len(Y)):.2f} labels per "
            f"text; {np.count_nonzero(~Y.any(axis=1))} texts have none."
        ),
    )


TEXT_SETS = {
    "reuters": _reuters,
    "goemotions": _goemotions,
    "ohsumed": _ohsumed,
    "cooking": _cooking,
}


def load_text_parts(name, data_home=None):
    """Return the training part and the test part of a data set of raw texts.

    Parameters
    ----------
    name : str
        A key of `TEXT_SETS`.
    data_home : path-like, default=None
        The folder with ``reuters21578`` and ``text/<name>``; scikit-learn's data home when None.

    Returns
    -------
    train, test : Bunch
        Each with ``data``, ``target``, ``target_names`` and ``DESCR``, and with the same labels.
    """
    return TEXT_SETS[name](data_home_folder(data_home))
