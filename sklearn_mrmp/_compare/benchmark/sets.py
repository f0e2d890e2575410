"""The data sets of the table of results, in its order: what they are, and how they are read.

Knows where their files lie in the data home, and what of them the table calls features.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.sparse import issparse
from sklearn.feature_extraction.text import TfidfVectorizer

from sklearn_mrmp._compare.matrix_parts import load_matrix_parts
from sklearn_mrmp._compare.text_parts import load_text_parts
from sklearn_mrmp.datasets import load_mulan
from sklearn_mrmp.datasets._fetch import data_home_folder


@dataclass(frozen=True)
class BenchmarkSet:
    """A public data set.

    Attributes
    ----------
    title : str
        What tables call it.
    rows : str
        Its training rows, in words.
    parts : callable
        Takes the data home; returns the training part and the test part, each with ``data`` and
        ``target``.
    texts : bool
        Whether rows are raw texts.
    family : str
        What regressions know it by: where the search for their penalty starts depends on it.
    same_rows_as : str or None
        A data set of the same rows in another form; only that one is ranked.
    """

    title: str
    rows: str
    parts: Callable
    texts: bool = False
    family: str = ""
    same_rows_as: str | None = None

    def load(self, data_home=None):
        """Return training rows and labels, test rows and labels; the labels are dense 0/1."""
        train, test = self.parts(data_home)
        return train.data, _dense(train.target), test.data, _dense(test.target)


def _dense(Y):
    return (Y.toarray() if issparse(Y) else np.asarray(Y)).astype(np.int32)


def _mulan(name, data_home):
    folder = data_home_folder(data_home) / "mulan" / name
    if not folder.is_dir():
        raise FileNotFoundError(
            f"There is no folder {folder}. Download it with "
            f"sklearn_mrmp.datasets.fetch_mulan({name!r}, data_home=...)."
        )
    return tuple(load_mulan(folder, subset=subset) for subset in ("train", "test"))


def _reuters_words(data_home):
    """Return Reuters' documents as tf-idf rows."""
    train, test = load_text_parts("reuters", data_home)
    words = TfidfVectorizer(sublinear_tf=True, min_df=3, stop_words="english")
    train.data, test.data = words.fit_transform(train.data), words.transform(test.data)
    return train, test


def _features(name, title, rows):
    return BenchmarkSet(title, rows, partial(_mulan, name), family=name)


def _texts(name, title, rows, **options):
    parts = partial(load_text_parts, name)
    return BenchmarkSet(title, rows, parts, texts=True, family=name, **options)


DATASETS = {
    "emotions": _features("emotions", "Emotions", "391 rows, 72 measurements, 6 labels"),
    "birds": _features("birds", "Birds", "322 rows, 260 measurements, 19 labels"),
    "scene": _features("scene", "Scene", "1,211 rows, 294 measurements, 6 labels"),
    "yeast": _features("yeast", "Yeast", "1,500 rows, 103 measurements, 14 labels"),
    "medical": _features("medical", "Medical", "333 rows, 1,449 words, 45 labels"),
    "bibtex": _features("bibtex", "Bibtex", "4,880 rows, 1,836 words, 159 labels"),
    "reuters": BenchmarkSet(
        "Reuters (tf-idf)", "7,770 rows, 11,110 words, 90 labels", _reuters_words, family="reuters"
    ),
    # Tf-idf rows as those of Reuters, and the search for a penalty starts from the same value.
    "rcv1": BenchmarkSet(
        "RCV1 (union)",
        "14,401 rows, 47,236 words, 101 labels",
        partial(load_matrix_parts, "rcv1"),
        family="reuters",
    ),
    "delicious": _features("delicious", "Delicious", "12,920 rows, 500 words, 983 labels"),
    "cooking": _texts("cooking", "Cooking (texts)", "12,323 titles, 447 labels"),
    "goemotions": _texts("goemotions", "GoEmotions (texts)", "43,410 comments, 28 labels"),
    "ohsumed": _texts("ohsumed", "Ohsumed (texts)", "6,286 abstracts, 23 labels"),
    "reuters-texts": _texts(
        "reuters", "Reuters (texts)", "7,770 documents, 90 labels", same_rows_as="reuters"
    ),
}
