"""Text as sequences of token ids, for input where order matters.

numpy and scikit-learn's text tools only.
"""

import re
import unicodedata
from collections import Counter
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sklearn_mrmp._input.token_marks import TokenSequences
from sklearn_mrmp._model_files.part import OUTPUT, WORDS, Part, check_token_pattern, require
from sklearn_mrmp._sklearn_compat import DocLinkMixin, Interval, _fit_context


class TokenSequenceVectorizer(DocLinkMixin, TransformerMixin, BaseEstimator):
    r"""Turn texts into a matrix of token ids, padded with 0.

    Parameters
    ----------
    max_len : int, default=300
        Keep the first `max_len` tokens of a text.
    max_features : int, default=None
        Keep the most frequent tokens only.
    min_df, max_df : int or float, default=1 and 1.0
        Keep tokens that occur in at least / at most this many texts (int) or this share (float).
    lowercase : bool, default=True
        Lower-case the text first.
    strip_accents : bool, default=False
        Remove accents first.
    tokenizer : callable, default=None
        Function from a text to its tokens; None uses `token_pattern`.
    token_pattern : str, default=r"\w+|[^\w\s]"
        Regular expression of a token: words, and each other sign on its own.
    unknown_token : str or None, default="<unk>"
        Stands for tokens outside the vocabulary, with id 1; None leaves them out.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        Token to id, most frequent first; ids start at 1, or at 2 with an unknown token.
    max_len_ : int
        Number of columns: the longest training text, at most `max_len`.

    Examples
    --------
    >>> from sklearn_mrmp import TokenSequenceVectorizer
    >>> vectorizer = TokenSequenceVectorizer().fit(["the cat sat", "the dog"])
    >>> vectorizer.transform(["the bird sat"]).tolist()
    [[2, 1, 5]]
    """

    _parameter_constraints: dict = {  # noqa: RUF012
        "max_len": [Interval(Integral, 1, None, closed="left")],
        "max_features": [Interval(Integral, 1, None, closed="left"), None],
        "min_df": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="both")],
        "max_df": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="both")],
        "lowercase": ["boolean"],
        "strip_accents": ["boolean"],
        "tokenizer": [callable, None],
        "token_pattern": [str],
        "unknown_token": [str, None],
    }

    def __init__(
        self,
        *,
        max_len=300,
        max_features=None,
        min_df=1,
        max_df=1.0,
        lowercase=True,
        strip_accents=False,
        tokenizer=None,
        token_pattern=r"\w+|[^\w\s]",
        unknown_token="<unk>",
    ):
        self.max_len = max_len
        self.max_features = max_features
        self.min_df = min_df
        self.max_df = max_df
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.tokenizer = tokenizer
        self.token_pattern = token_pattern
        self.unknown_token = unknown_token

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, raw_documents, y=None):
        """Learn the vocabulary.

        Parameters
        ----------
        raw_documents : iterable of str
            Texts.
        y : None
            Ignored.

        Returns
        -------
        self : TokenSequenceVectorizer
        """
        self._learn(self._tokenized(raw_documents))
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, raw_documents, y=None):
        """Learn the vocabulary and return the ids, reading the texts once.

        Parameters
        ----------
        raw_documents : iterable of str
            Texts.
        y : None
            Ignored.

        Returns
        -------
        X : ndarray of int32 of shape (n_samples, max_len)
        """
        texts = self._tokenized(raw_documents)
        self._learn(texts)
        return self._encode(texts)

    def transform(self, raw_documents):
        """Turn texts into token ids.

        Parameters
        ----------
        raw_documents : iterable of str
            Texts.

        Returns
        -------
        X : ndarray of int32 of shape (n_samples, max_len)
            0 fills up short texts.
        """
        check_is_fitted(self)
        return self._encode(self._tokenized(raw_documents))

    def get_feature_names_out(self, input_features=None):
        """Names of the columns, ``token0``, ``token1``, … (positions, not words).

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        return np.array([f"token{i}" for i in range(self.max_len_)], dtype=object)

    def _tokenized(self, raw_documents):
        if isinstance(raw_documents, str):
            raise ValueError("Iterable over raw text documents expected, string object received.")
        tokenize = self.tokenizer or self._pattern().findall
        return [list(tokenize(self._prepared(text))) for text in raw_documents]

    def _pattern(self):
        try:
            pattern = re.compile(self.token_pattern)
        except re.error as error:
            raise ValueError(
                f"token_pattern={self.token_pattern!r} is not a regular expression: {error}."
            ) from error
        if pattern.groups > 1:
            raise ValueError(
                f"token_pattern={self.token_pattern!r} has {pattern.groups} groups; a token is "
                "the whole match, or the only group. Use (?:…) for the others."
            )
        return pattern

    def _prepared(self, text):
        if not isinstance(text, str):
            raise TypeError(f"Each document must be a str, got {type(text).__name__}: {text!r:.50}")
        if self.lowercase:
            text = text.lower()
        if self.strip_accents:
            text = unicodedata.normalize("NFKD", text)
            text = "".join(sign for sign in text if not unicodedata.combining(sign))
        return text

    def _learn(self, texts):
        counts = Counter(token for text in texts for token in text)
        document_counts = Counter(token for text in texts for token in set(text))
        least = self._as_count(self.min_df, len(texts))
        most = self._as_count(self.max_df, len(texts))
        kept = [token for token in counts if least <= document_counts[token] <= most]
        kept.sort(key=lambda token: (-counts[token], token))
        if not kept:
            raise ValueError(
                "Empty vocabulary: no token of the training texts is left. Lower min_df, raise "
                "max_df, or check token_pattern."
            )
        first_id = 1 if self.unknown_token is None else 2
        kept = kept[: self.max_features]
        self.vocabulary_ = {token: first_id + i for i, token in enumerate(kept)}
        self.max_len_ = min(self.max_len, max(len(text) for text in texts))

    @staticmethod
    def _as_count(limit, n_texts):
        return limit if isinstance(limit, Integral) else limit * n_texts

    def _encode(self, texts):
        unknown = 0 if self.unknown_token is None else 1
        X = np.zeros((len(texts), self.max_len_), dtype=np.int32)
        for row, text in zip(X, texts, strict=True):
            ids = [self.vocabulary_.get(token, unknown) for token in text]
            ids = [i for i in ids if i][: self.max_len_]
            row[: len(ids)] = ids
        return X.view(TokenSequences)


def _complete(vectorizer):
    """Check, in a model file, the vocabulary and the pattern of a text vectorizer."""
    check_token_pattern(vectorizer.token_pattern)
    ids = sorted(vectorizer.vocabulary_.values())
    first = 1 if vectorizer.unknown_token is None else 2
    require(ids == list(range(first, first + len(ids))), "token ids of a vocabulary")


TokenSequenceVectorizer._model_part = Part(
    {**OUTPUT, "vocabulary_": "dict", "max_len_": "int"},
    complete=_complete,
    keeps={"vocabulary_": WORDS},
)
