"""Token rows and labels in the shapes of Bibtex, Delicious and Reuters, generated or real.

Helper of the benchmarks. Speed depends on how long rows are, how much their lengths differ, and
how many labels there are; that is what is generated here. The content is noise.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp import TokenSequenceVectorizer, label_graph
from sklearn_mrmp._input.features import FeatureInput
from sklearn_mrmp._input.sequence import SequenceInput
from sklearn_mrmp._input.token_rows import TokenRows
from sklearn_mrmp._network.architecture import relation_tensors
from sklearn_mrmp._network.batches import TokenDataset
from sklearn_mrmp.datasets import load_mulan, load_reuters21578


@dataclass(frozen=True)
class Shape:
    """Shape of a data set; lengths are log-normal with this median and spread, then clipped."""

    name: str
    n_tokens: int
    n_labels: int
    median_length: float
    length_spread: float  # standard deviation of the logarithm
    longest: int
    labels_per_row: float
    dropout: float  # the paper's
    sequence: bool = False

    @property
    def embedding(self):
        """Description of the module that embeds the tokens; what they are worth is left out."""
        return {"kind": "tokens", "n_tokens": self.n_tokens, "positions": self.sequence}

    def of_length(self, n):
        """Return the same with every row n tokens long on median, as spread out as before."""
        longest = round(n * self.longest / self.median_length)
        return replace(self, median_length=n, longest=longest, n_tokens=max(self.n_tokens, longest))


BIBTEX = Shape("Bibtex", 1836, 159, 64, 0.6, 271, 2.4, 0.2)
DELICIOUS = Shape("Delicious", 500, 983, 6, 1.36, 315, 19.0, 0.1)
REUTERS = Shape("Reuters", 26_000, 90, 110, 0.85, 300, 1.23, 0.2, sequence=True)
SHAPES = (BIBTEX, DELICIOUS, REUTERS)


@dataclass(frozen=True)
class Problem:
    """Rows with targets, and the label relations as the network takes them."""

    shape: Shape
    dataset: TokenDataset
    relations: dict
    is_real: bool = False


def generate(shape, n_rows=2048, seed=0):
    """Make a problem of a shape."""
    rng = np.random.default_rng(seed)
    lengths = rng.lognormal(np.log(shape.median_length), shape.length_spread, n_rows)
    lengths = np.clip(np.rint(lengths), 1, min(shape.longest, shape.n_tokens)).astype(np.int64)
    draw = _sequence if shape.sequence else _bag
    tokens = np.concatenate([draw(rng, shape.n_tokens, length) for length in lengths])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    rows = TokenRows(starts, tokens, unknown=shape.n_tokens if shape.sequence else None)
    Y = _labels(rng, n_rows, shape.n_labels, shape.labels_per_row)
    return _problem(shape, rows, Y)


def _bag(rng, n_tokens, length):
    return np.sort(rng.choice(n_tokens, length, replace=False)) + 1


def _sequence(rng, n_tokens, length):
    return np.minimum(rng.zipf(1.3, length), n_tokens)


def _labels(rng, n_rows, n_labels, labels_per_row):
    """Labels with frequencies that fall like a power; a row has at least one."""
    weight = 1.0 / np.arange(1, n_labels + 1)
    probability = np.minimum(weight * labels_per_row / weight.sum(), 0.9)
    Y = rng.random((n_rows, n_labels)) < probability
    Y[np.arange(n_rows), rng.integers(n_labels, size=n_rows)] = True
    return sp.csr_array(Y.astype(np.float64))


def _problem(shape, rows, Y, is_real=False):
    return Problem(
        shape, TokenDataset(rows, Y), relation_tensors(label_graph(Y).relations), is_real
    )


def load(shape, data_home):
    """Read the training rows of the real data set; None if its files are not there."""
    if shape is REUTERS:
        folder = Path(data_home) / "reuters21578"
        if not folder.is_dir():
            return None
        bunch = load_reuters21578(folder, subset="train")
        X, encoder = TokenSequenceVectorizer().fit_transform(bunch.data), SequenceInput()
    else:
        folder = Path(data_home) / "mulan" / shape.name.lower()
        if not folder.is_dir():
            return None
        bunch = load_mulan(folder, subset="train")
        X, encoder = bunch.data, FeatureInput()
    canonical = encoder.canonical(X)
    rows = encoder.fit(canonical).tokens(canonical)
    Y = sp.csr_array(bunch.target).astype(np.float64)
    return _problem(replace(shape, n_tokens=encoder.n_tokens_), rows, Y, is_real=True)
