"""Data sets of the benchmarks by name: training rows and labels, test rows and labels.

Knows the package's public loaders, so that earlier checkouts of the package can be measured with
it, and how the data lie in a folder: Mulan's below ``mulan/``, ``reuters21578/`` and ``npz/``.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

from sklearn_mrmp.datasets import load_mulan, load_reuters21578

_RCV1 = ("train_X", "train_Y", "test_X", "test_Y")


def pairs(n_train=4_000, n_rows=6_000, n_features=120, n_labels=12):
    """Rows of words, and labels that depend on pairs of them."""
    rng = np.random.default_rng(0)
    has = rng.random((n_rows, n_features)) < 0.12
    first = 8 * np.arange(n_labels)
    Y = (has[:, first] ^ has[:, first + 1]) | (has[:, first + 2] & has[:, first + 3])
    Y ^= rng.random(Y.shape) < 0.02
    X, Y = sp.csr_array(has.astype(float)), Y.astype(int)
    return X[:n_train], Y[:n_train], X[n_train:], Y[n_train:]


def reuters(home):
    """Word weights of ModApte's documents."""
    train, test = (load_reuters21578(home / "reuters21578", subset=s) for s in ("train", "test"))
    words = TfidfVectorizer(sublinear_tf=True, min_df=3, stop_words="english").fit(train.data)
    return words.transform(train.data), train.target, words.transform(test.data), test.target


def parts(name, home):
    """Training rows and labels, test rows and labels."""
    if name == "pairs":
        return pairs()
    if name == "reuters":
        return reuters(home)
    if name == "rcv1":
        files = [home / "npz" / f"rcv1_union_{part}.npz" for part in _RCV1]
        return tuple(sp.csr_array(sp.load_npz(file)) for file in files)
    folder = home / "mulan" / name
    train, test = (load_mulan(folder, subset=subset) for subset in ("train", "test"))
    return train.data, train.target, test.data, test.target
