"""What the columns and tokens of rows are called, and where in a text they stand.

Linear voters read columns of a bag, the network reads tokens; a reader of an explanation wants the
names of features, or words. Knows the kinds of rows by their fitted attributes.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

_UNKNOWN = "unknown token"
_WORD = re.compile(r"\w+|[^\w\s]")


def item_names(encoder, rows, feature_names=None, texts=None):
    """Return what names the items of rows.

    Parameters
    ----------
    encoder : input kind
        Fitted.
    rows : EncodedRows
        Rows.
    feature_names : sequence of str, or mapping of str to int, default=None
        Names of the columns, or the column of each name; for sequences the id of each word. None
        makes names up.
    texts : sequence of str, default=None
        Texts that the rows were made of, in which names are looked for.

    Returns
    -------
    names : ColumnNames, SequenceNames, StateNames or TextNames
    """
    if encoder.name == "text":
        return TextNames(encoder, rows)
    kinds = {"sequence": SequenceNames, "states": StateNames}
    return kinds.get(encoder.name, ColumnNames)(encoder, rows, feature_names, texts)


class ColumnNames:
    """Names of rows whose tokens are columns: features, and vectors with features beside them."""

    kind = "features"

    def __init__(self, encoder, rows, feature_names=None, texts=None):
        self.encoder, self.rows, self.texts = encoder, rows, texts
        self.names = self._named(feature_names)

    def _named(self, feature_names):
        n = self.encoder.n_tokens_
        names = np.array([f"x{column}" for column in range(n)], dtype=object)
        if isinstance(feature_names, Mapping):
            for name, column in feature_names.items():
                if not 0 <= column < n:
                    raise ValueError(
                        f"feature_names says that {name!r} is column {column}, but X has {n} "
                        "columns."
                    )
                names[column] = str(name)
        elif feature_names is not None:
            if len(feature_names) != n:
                raise ValueError(
                    f"feature_names must have a name for each of the {n} columns of X, got "
                    f"{len(feature_names)} names."
                )
            names[:] = [str(name) for name in feature_names]
        return names

    def of_columns(self, row, columns):
        """Names of columns of the bag, and where they stand in the row's text, or None."""
        names = self.names[columns]
        spans = self._found(row, names)
        if self.kind == "words" or sp.issparse(self.rows.X):
            names = _with_absent(names, columns, self.rows.bag, row)
        return names, spans

    def of_tokens(self, row):
        """Names of what the network reads, their places in the text, and each token's item."""
        tokens = self.rows.tokens.take(np.array([row]))
        columns = []
        if hasattr(tokens, "vectors"):
            columns = [np.flatnonzero(self.encoder.columns_)]
            tokens = tokens.others
        if tokens is not None:
            columns.append(tokens.tokens - 1)
        names = self.names[np.concatenate(columns)]
        return names, self._found(row, names), np.arange(len(names))

    def text(self, row):
        """Return the text of a row, or None."""
        return None if self.texts is None else self.texts[row]

    def _found(self, row, names):
        text = self.text(row)
        return None if text is None else tuple(_occurrences(text, name) for name in names)


def _with_absent(names, columns, bag, row):
    """Return names with a word after those of columns that the row does not have.

    Where most rows have most columns, these are standardised, and what is absent counts as well.
    """
    present = np.isin(columns, bag.indices[bag.indptr[row] : bag.indptr[row + 1]])
    shown = [n if is_there else f"{n} (absent)" for n, is_there in zip(names, present, strict=True)]
    return np.array(shown, dtype=object)


def _occurrences(text, name):
    """Where a word, or words in a row, stand in a text, whatever their case."""
    words = r"\W+".join(re.escape(word) for word in name.split())
    if not words:
        return ()
    found = re.finditer(rf"(?<!\w){words}(?!\w)", text, flags=re.IGNORECASE)
    return tuple(match.span() for match in found)


class SequenceNames(ColumnNames):
    """Names of rows of token ids: words, if a vocabulary is known."""

    kind = "words"

    def _named(self, feature_names):
        n = self.encoder.n_tokens_
        names = np.array([f"token {number}" for number in range(1, n + 1)], dtype=object)
        names[-1] = _UNKNOWN  # stands for all ids that training rows do not have
        if feature_names is None:
            return names
        if not isinstance(feature_names, Mapping):
            raise ValueError(
                "For sequences feature_names must be a mapping of words to token ids, such as "
                f"vocabulary_ of TokenSequenceVectorizer, got {type(feature_names).__name__}."
            )
        names[:] = _UNKNOWN
        for word, number in feature_names.items():
            if 0 < number < n:
                names[number - 1] = str(word)
        return names


class StateNames(ColumnNames):
    """Names of rows of vectors: tokens have a place and no name."""

    kind = "tokens"

    def _named(self, feature_names):
        if feature_names is not None:
            raise ValueError("feature_names is of no use here: token states have no names.")
        n = self.encoder.n_tokens_
        return np.array([f"mean of column {column}" for column in range(n)], dtype=object)

    def of_tokens(self, row):
        """Names of a row's tokens, by their place."""
        n = int(self.rows.tokens.lengths[row])
        names = np.array([f"token {place}" for place in range(n)], dtype=object)
        return names, None, np.arange(n)


class TextNames:
    """Words of texts, in lower case, with the characters where they stand."""

    kind = "words"

    def __init__(self, encoder, rows):
        self.encoder, self.rows, self.texts = encoder, rows, rows.canonical.texts
        self.words = encoder.words_.get_feature_names_out()

    def text(self, row):
        """Return the text of a row."""
        return self.texts[row]

    def of_columns(self, row, columns):
        """Words of the bag, and where they stand."""
        places = {}
        for match in _WORD.finditer(self.texts[row]):
            places.setdefault(match.group().lower(), []).append(match.span())
        names = self.words[columns].astype(object)
        spans = tuple(tuple(places.get(name, ())) for name in names)
        return _with_absent(names, columns, self.rows.bag, row), spans

    def of_tokens(self, row):
        """Words that the encoder's tokens belong to; tokens of no word stand for themselves."""
        text = self.texts[row]
        pieces, spans = self.encoder.encoder.token_spans(text, self.encoder.max_tokens)
        words = [match.span() for match in _WORD.finditer(text)]
        ends, items, groups = [end for _, end in words], {}, []
        for piece, span in zip(pieces, spans, strict=True):
            number = len(words) if span is None else bisect_right(ends, span[0])
            word = words[number] if number < len(words) else None
            key = (piece,) if word is None else word
            groups.append(items.setdefault(key, len(items)))
        names = [key[0] if len(key) == 1 else text[slice(*key)].lower() for key in items]
        found = tuple(() if len(key) == 1 else (key,) for key in items)
        return np.array(names, dtype=object), found, np.array(groups, dtype=np.intp)
