"""Rows of token ids in order, 0 = padding.

`SequenceInput` learns the vocabulary from the training rows. What `TokenSequenceVectorizer` made is
recognised as such rows. Knows numpy, scipy and token rows.
"""

from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._input.token_marks import is_token_sequence
from sklearn_mrmp._input.token_rows import TokenRows
from sklearn_mrmp._model_files.part import Part, is_vector, require

# Every id up to the largest has a row in the table of embeddings, whether it occurs or not.
_MAX_ID = 2**24


class SequenceInput:
    """Token ids in order, 0 = padding.

    Ids above the largest one seen in training are one unknown token, which feature dropout makes
    of known ones: they take their place in the sequence but say nothing.

    Parameters
    ----------
    max_tokens : int or None
        Keep at most this many tokens of a row: the first ones.
    weighted : bool, default=False
        Weigh tokens by the logarithm of their inverse document frequency, so that attention starts
        with rare words and not with frequent ones.
    """

    name = "sequence"
    # Ids arrive as they are, since a cast would hide fractions.
    checks: ClassVar = {"dtype": "numeric"}

    def __init__(self, max_tokens=None, weighted=False):
        self.max_tokens = max_tokens
        self.weighted = weighted

    def fresh(self):
        """Return the same without what it has learned."""
        return SequenceInput(self.max_tokens, self.weighted)

    def fit(self, X):
        """Learn the vocabulary size and which ids occur."""
        largest = int(X.max(initial=0))
        if largest > _MAX_ID:
            raise ValueError(
                f"input_type='sequence' found the token id {largest}; ids go up to {_MAX_ID}, "
                "since the network has a vector for each id up to the largest. Number the tokens "
                "anew: TokenSequenceVectorizer does so for texts, and np.unique(X, "
                "return_inverse=True) for ids (keep 0 for padding)."
            )
        self.n_tokens_ = largest + 1  # the last one stands for ids not seen here
        self.trained_ = np.bincount(X.ravel(), minlength=self.n_tokens_ + 1)[1:] > 0
        n_rows = self._n_rows_with(X)
        # As in scikit-learn's tf-idf; ids that are not known weigh like those of every row.
        self.log_idf_ = np.log(1 + np.log((1 + len(X)) / (1 + n_rows))).astype(np.float32)
        self.log_idf_[~self.trained_] = 0.0
        return self

    def go_on(self, earlier, X):
        """Learn the ids up to the largest known one that an earlier encoder has not seen.

        There are no vectors for larger ones: they are unknown, as in prediction.
        """
        self.fit(np.where(X < earlier.n_tokens_, X, 0))
        fresh, known = self.trained_, earlier.trained_
        self.n_tokens_, n_fresh = earlier.n_tokens_, len(fresh)
        self.trained_ = known.copy()
        self.trained_[:n_fresh] |= fresh
        log_idf = np.zeros_like(earlier.log_idf_)
        log_idf[:n_fresh] = self.log_idf_
        self.log_idf_ = np.where(known, earlier.log_idf_, log_idf)
        return self

    def _n_rows_with(self, X):
        """Count the rows that contain each id."""
        ordered = np.sort(X, axis=1)
        is_first = np.diff(ordered, axis=1, prepend=0) > 0
        return np.bincount(ordered[is_first], minlength=self.n_tokens_ + 1)[1:]

    @staticmethod
    def recognises(X):
        """Whether the caller's rows come from `TokenSequenceVectorizer`."""
        return is_token_sequence(X)

    @staticmethod
    def canonical(X):
        """Return checked rows as all methods here take them: an int64 matrix of ids."""
        return check_token_ids(X)

    def tokens(self, X):
        """Turn an id matrix into `TokenRows`."""
        X = np.minimum(X, self.n_tokens_)
        present = X > 0
        if self.max_tokens is not None:
            present &= np.cumsum(present, axis=1) <= self.max_tokens
        starts = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
        tokens = X[present]
        weights = self.log_idf_[tokens - 1] if self.weighted else None
        return TokenRows(starts, tokens, unknown=self.n_tokens_, weights=weights)

    def bag(self, rows):
        """Return what linear and neighbour voters read: how often each token occurs."""
        tokens = rows.tokens
        counts = np.ones(len(tokens.tokens))
        shape = (len(tokens), self.n_tokens_)
        # A copy of the starts: adding up the counts of a word changes them in place.
        bag = sp.csr_array((counts, tokens.tokens - 1, tokens.starts.copy()), shape=shape)
        bag.sum_duplicates()
        return bag

    def table(self, rows):
        """Return what any scikit-learn estimator reads: the same counts."""
        return rows.bag

    def embedding(self):
        """Describe the module that embeds these tokens; see `sklearn_mrmp.nn.make_embedding`."""
        return {"kind": "tokens", "n_tokens": self.n_tokens_, "positions": True}


def check_token_ids(X):
    """Return `X` as an int64 matrix of token ids, or say what is wrong with it."""
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    if X.size and not np.issubdtype(X.dtype, np.integer) and not (X == np.floor(X)).all():
        bad = X[X != np.floor(X)][0]
        raise ValueError(
            f"input_type='sequence' expects integer token ids, found {bad}. Make ids with "
            "TokenSequenceVectorizer, or use input_type='features' for real-valued features."
        )
    if X.size and X.min() < 0:
        raise ValueError(
            f"input_type='sequence' expects token ids from 0 (padding) upwards, found {X.min()}."
        )
    with np.errstate(invalid="ignore"):
        ids = X.astype(np.int64)
    # What int64 has no room for becomes negative, and would count as padding.
    return np.where(ids < 0, np.iinfo(np.int64).max, ids)


def _complete(encoder):
    """Check, in a model file, that every token id is known to occur or not."""
    require(is_vector(encoder.trained_, encoder.n_tokens_, "b"), "token ids")
    require(is_vector(encoder.log_idf_, encoder.n_tokens_, "f"), "token ids and how rare they are")


SequenceInput._model_part = Part(
    {"n_tokens_": "int", "trained_": "ndarray", "log_idf_": "ndarray"}, complete=_complete
)
