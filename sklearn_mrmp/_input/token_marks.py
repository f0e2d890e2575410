"""How token ids are told from other whole numbers: by a mark, or by a look at the numbers.

Both are matrices of whole numbers, and ids that are read as amounts say nothing. So the matrices of
`TokenSequenceVectorizer` have a type of their own, and its columns names of their own. The type
outlives numpy's indexing and stacking; where it is lost, `warn_of_token_ids` looks for ids. Leaf
module: numpy.
"""

import re
import warnings

import numpy as np

_COLUMN = re.compile(r"(.*__)?token\d+")
# Fewer values than this in a column may well be counts.
_MANY_VALUES = 100
# Rows of a table with one column that may be zero have two lengths; texts have many.
_FEW_LENGTHS = 2


class TokenSequences(np.ndarray):
    """A matrix of token ids; the type tells `MrMPClassifier` that order matters."""

    def __array_function__(self, func, types, args, kwargs):
        result = super().__array_function__(func, types, args, kwargs)
        # vstack and hstack end here, and so do ColumnTransformer and FeatureUnion.
        if func is np.concatenate and isinstance(result, np.ndarray):
            return result.view(_type_of_joined(*args, **kwargs))
        return result


class MixedTokenIds(np.ndarray):
    """Token ids beside other numbers, or of several vocabularies: no sequence any more."""


def _type_of_joined(arrays, axis=0, *_, **__):
    """Return the type of arrays put together: more rows are still sequences, more columns not."""
    all_marked = all(isinstance(array, TokenSequences) for array in arrays)
    is_whole = axis == 0 or (axis is not None and len(arrays) == 1)
    return TokenSequences if all_marked and is_whole else MixedTokenIds


def is_token_sequence(X):
    """Whether `X` comes from `TokenSequenceVectorizer`, as an array or a data frame."""
    return isinstance(X, TokenSequences) or len(_prefixes(X)) == 1


def _prefixes(X):
    """Return what stands before the names of token columns; with None for other columns."""
    names = [_COLUMN.fullmatch(str(name)) for name in getattr(X, "columns", ())]
    # A ColumnTransformer puts the name of the step in front.
    prefixes = {(name[1] or "") if name else None for name in names}
    return prefixes if prefixes - {None} else set()


def warn_of_token_ids(X):
    """Warn when rows that will be read as features are token ids, surely or by the look of them."""
    if isinstance(X, MixedTokenIds) or len(_prefixes(X)) > 1:
        what = "X has token ids of TokenSequenceVectorizer beside other columns"
        remedy = (
            "Give the token ids alone, or turn the text into features with TfidfVectorizer beside "
            "the other columns"
        )
    elif looks_like_token_ids(X):
        what = "X looks like token ids padded with 0"
        remedy = "If it is that, say input_type='sequence'"
    else:
        return
    warnings.warn(
        f"{what}, and is read as features, where numbers are amounts and order means nothing. "
        f"{remedy}; input_type='features' reads X as it is, without this warning.",
        stacklevel=5,  # of the caller of fit
    )


def looks_like_token_ids(X):
    """Whether a dense matrix of whole numbers looks like token ids padded with 0.

    Zeros stand at the end of rows alone, rows have at least three different lengths, and a column
    that has zeros has more than a hundred different values.

    Examples
    --------
    >>> looks_like_token_ids(np.array([[3, 1], [2, 0]]))
    False
    """
    X = X.to_numpy() if hasattr(X, "columns") and hasattr(X, "to_numpy") else X
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "iu" or not X.size:
        return False
    is_token = X > 0
    if X.min() < 0 or (is_token[:, 1:] > is_token[:, :-1]).any():
        return False
    if len(np.unique(is_token.sum(axis=1))) <= _FEW_LENGTHS:
        return False
    padded = X.T[~is_token.all(axis=0)]
    return any(len(np.unique(column)) > _MANY_VALUES for column in padded)
