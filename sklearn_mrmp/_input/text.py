"""Rows of text: token states of a pretrained encoder for the network, words for other voters.

`TextInput` encodes each text once, when it is checked. Knows state rows, scikit-learn's counts of
words, and an encoder by its ``encode`` and ``width_``.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from sklearn_mrmp._host.report import time_left
from sklearn_mrmp._input.state_rows import StateRows
from sklearn_mrmp._input.token_rows import TokenRows
from sklearn_mrmp._model_files.part import Part, is_count, require

# Words of a single text teach nothing where there are many texts.
_RARE_FROM = 1_000


@dataclass(frozen=True, eq=False)
class TextRows:
    """Texts, the states of their tokens, and a vector for each text as a whole.

    Where the network makes the states, there are tokens in their place, and no such vectors.
    """

    texts: np.ndarray
    states: StateRows | TokenRows
    wholes: np.ndarray | None = None

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, rows):
        chosen = np.arange(len(self))[rows]
        wholes = None if self.wholes is None else self.wholes[chosen]
        return TextRows(self.texts[chosen], self.states.take(chosen), wholes)

    @property
    def shape(self):
        """Number of rows, and of columns of text."""
        return len(self), 1

    @property
    def lengths(self):
        """Number of tokens of each row."""
        return self.states.lengths

    @property
    def starts(self):
        """Where each row begins among the tokens of all rows, and where the last one ends."""
        return self.states.starts

    def fingerprints(self):
        """One number per row that depends on its content alone."""
        return self.states.fingerprints()


class TextInput:
    """Texts that a pretrained encoder reads.

    Parameters
    ----------
    max_tokens : int or None
        Tokens of a text that are kept; None keeps as many as the encoder reads at once.
    weighted : bool, default=False
        Has no meaning here: all tokens start alike.
    encoder : PretrainedEncoder
        Makes token states.
    device : str, default="cpu"
        Where it computes.
    cache_dir : path-like, default=None
        Where it keeps states.

    Attributes
    ----------
    words_ : CountVectorizer
        Counts the words that linear and neighbour voters read.
    n_tokens_ : int
        How many words those are.
    """

    name = "text"
    # Rows are no matrix: they are checked here, and not by `validate_data`.
    checks: ClassVar = None

    def __init__(self, max_tokens=None, weighted=False, encoder=None, device="cpu", cache_dir=None):
        self.max_tokens = max_tokens
        self.weighted = weighted
        self.encoder = encoder
        self.device = device
        self.cache_dir = cache_dir

    def fresh(self):
        """Return the same without what it has learned."""
        return type(self)(self.max_tokens, self.weighted, self.encoder, self.device, self.cache_dir)

    @staticmethod
    def recognises(X):
        """Whether the caller's rows are texts."""
        if sp.issparse(X):
            return False
        values = _column(X)
        if isinstance(values, (str, bytes)) or getattr(values, "ndim", 1) != 1:
            return False
        return hasattr(values, "__len__") and len(values) > 0 and isinstance(values[0], str)

    def checked(self, X, report=None):
        """Return the caller's texts with their token states, or raise ValueError.

        Parameters
        ----------
        X : sequence of str
            The texts.
        report : Report, default=None
            Says how far it has come.

        Returns
        -------
        rows : TextRows
        """
        values = as_texts(X)
        texts = np.empty(len(values), dtype=object)
        texts[:] = values
        tell = None if report is None else Progress(report, len(values))
        encode = self.encoder.encode
        return TextRows(texts, *encode(values, self.max_tokens, self.device, tell, self.cache_dir))

    @staticmethod
    def canonical(X):
        """Return checked rows as all methods here take them."""
        return X

    def fit(self, X):
        """Learn the words of the training texts."""
        counter = CountVectorizer(min_df=2 if len(X) >= _RARE_FROM else 1)
        try:
            self.words_ = counter.fit(X.texts)
        except ValueError:  # no word at all: every text is as good as empty
            self.words_ = CountVectorizer(vocabulary=[""])
        self.n_tokens_ = len(self.words_.get_feature_names_out())
        return self

    def go_on(self, earlier, X):
        """Learn the words, which the network does not read; its encoder has to be the same."""
        if not self.encoder.is_like(earlier.encoder):
            raise ValueError(
                "warm_start=True goes on from a network that reads the states of another text "
                "encoder. Give the same encoder as before, or set warm_start=False to start anew."
            )
        return self.fit(X)

    def tokens(self, X):
        """Return the token states."""
        return X.states

    def bag(self, rows):
        """Return what the linear voter reads: how often each word occurs."""
        return sp.csr_array(self.words_.transform(rows.canonical.texts)).astype(np.float64)

    def table(self, rows):
        """Return what any scikit-learn estimator reads: a vector for each text, an ndarray."""
        return self.wholes(rows)

    def wholes(self, rows):
        """Return what the neighbour voter reads: a vector for each text.

        Words tell that worse: on Cooking, beside the network and words, neighbours by vectors
        brought .006 of average precision, and neighbours by words nothing.
        """
        return rows.canonical.wholes

    @property
    def whole_width(self):
        """Width of these vectors."""
        return self.encoder.whole_width

    def embedding(self):
        """Describe the module that reads the states; see `sklearn_mrmp.nn.make_embedding`."""
        return {"kind": "states", "width": self.encoder.width_}


class Progress:
    """Says at every tenth of the work how far it has come, and how long the rest will take."""

    def __init__(self, report, n_texts):
        self.report = report
        self.n_texts = n_texts
        self.told = 0
        self.start = report.clock()

    def __call__(self, share):
        """Hear which share of the work is done."""
        tenth = int(10 * share)
        if tenth > self.told:
            self.told = tenth
            left = time_left(self.report.clock() - self.start, share, 1.0)
            self.report.say(f"texts: {10 * tenth} % of {self.n_texts} encoded{left}")


def as_texts(X):
    """Return the caller's texts as a list, or raise ValueError.

    Examples
    --------
    >>> as_texts(np.array([["one"], ["two"]], dtype=object))
    ['one', 'two']
    """
    values = _column(X)
    if isinstance(values, (str, bytes)) or getattr(values, "ndim", 1) != 1:
        raise ValueError(
            "Texts must be a list, a vector or a single column of str, got "
            f"{type(X).__name__} of shape {np.shape(values)}."
        )
    values = list(values)
    if not values:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    wrong = next((i for i, value in enumerate(values) if not isinstance(value, str)), None)
    if wrong is not None:
        raise ValueError(f"Row {wrong} is no text but {values[wrong]!r:.50}.")
    return values


def _column(X):
    """Return a Series, or the only column of a data frame, as an array."""
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if getattr(X, "ndim", 1) == 2 and X.shape[1] == 1:
        return X[:, 0]
    return X


def complete_words(encoder):
    """Check, in a model file, that there are words."""
    require(is_count(encoder.n_tokens_), "words of texts")
    words = encoder.words_.get_feature_names_out()
    require(len(words) == encoder.n_tokens_, "words and their number")


TextInput._model_part = Part(
    {"words_": "any", "n_tokens_": "int"}, local=("cache_dir",), complete=complete_words
)
