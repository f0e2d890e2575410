"""Rows of token states: what a pretrained encoder, or anything else, says of each token.

`StateInput` hands vectors to the network as they are, and their mean to the other voters. Knows
state rows, numpy and scipy.
"""

from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._input.state_rows import StateRows, as_state_rows
from sklearn_mrmp._model_files.part import Part, is_count, require


class StateInput:
    """Vectors in order, one for each token of a row.

    Parameters
    ----------
    max_tokens : int or None
        Keep at most this many tokens of a row: the first ones.
    weighted : bool, default=False
        Has no meaning here: all tokens start alike.
    """

    name = "states"
    # Rows are no matrix: they are checked here, and not by `validate_data`.
    checks: ClassVar = None

    def __init__(self, max_tokens=None, weighted=False):
        self.max_tokens = max_tokens
        self.weighted = weighted

    def fresh(self):
        """Return the same without what it has learned."""
        return StateInput(self.max_tokens, self.weighted)

    def fit(self, X):
        """Learn the width of the vectors."""
        self.n_tokens_ = int(X.shape[1])
        return self

    def go_on(self, earlier, X):
        """Learn nothing: the width is what it was."""
        return self.fit(X)

    @staticmethod
    def recognises(X):
        """Whether the caller's rows are of this kind: three dimensions, or a list of matrices."""
        if isinstance(X, StateRows) or getattr(X, "ndim", None) == 3:
            return True
        is_sequence = isinstance(X, (list, tuple)) or getattr(X, "dtype", "") == "O"
        first = next(iter(X), None) if is_sequence and len(X) else None
        return isinstance(first, np.ndarray) and first.ndim == 2

    @staticmethod
    def checked(X, report=None):
        """Return the caller's rows as `StateRows`, or raise ValueError."""
        return as_state_rows(X)

    @staticmethod
    def canonical(X):
        """Return checked rows as all methods here take them."""
        return X

    def tokens(self, X):
        """Return the rows themselves, as far as `max_tokens` permits."""
        return X if self.max_tokens is None else X.first(self.max_tokens)

    def bag(self, rows):
        """Return what linear and neighbour voters read: the mean vector of each row."""
        return sp.csr_array(rows.table)

    def table(self, rows):
        """Return what any scikit-learn estimator reads: the mean vectors, an ndarray."""
        return rows.tokens.pooled()

    def embedding(self):
        """Describe the module that reads these vectors; see `sklearn_mrmp.nn.make_embedding`."""
        return {"kind": "states", "width": self.n_tokens_}


def _complete(encoder):
    """Check, in a model file, that there is a width."""
    require(is_count(encoder.n_tokens_), "width of token states")


StateInput._model_part = Part({"n_tokens_": "int"}, complete=_complete)
