"""Fast tokenizers as data: the JSON of the package `tokenizers`, and two settings beside it.

Such a JSON names the steps of a tokenizer, and holds its vocabulary; it has no code. A stranger's
could still name a pattern that takes years over a text, or steps that make a text a million times
longer. `tokenizer_parts` says which steps files may hold. Knows `tokenizers` and `transformers`
when they are used.
"""

import hashlib
import json

import numpy as np

from sklearn_mrmp._encoders.tokenizer_parts import check_parts
from sklearn_mrmp._encoders.windows import tokenizer_errors
from sklearn_mrmp._host.optional import import_optional
from sklearn_mrmp._model_files import bounded_json
from sklearn_mrmp._model_files.errors import UnsupportedPartError
from sklearn_mrmp._model_files.part import is_count, require

# Bytes of a tokenizer; one of 250,000 tokens in a hundred languages has some 20 million.
_MOST_BYTES = 2**26
# A larger limit of tokens is none.
_MOST_TOKENS = 2**24
_ADVICE = (
    " Save without encoder_weights, so that the file names the encoder and holds no part of it."
)


def tokenizer_data(tokenizer, n_ids, known):
    """Return what a file holds of a tokenizer, or raise UnsupportedPartError.

    Parameters
    ----------
    tokenizer : tokenizer of transformers
        The tokenizer; it stays as it is.
    n_ids : int
        How many ids the encoder has vectors for.
    known : dict of str to ndarray
        What is in the file already; what is new is added.

    Returns
    -------
    data : dict
        ``"json"``, the text as bytes; ``"limit"``, how many tokens the encoder reads at once, or
        None; and ``"side"`` on which longer texts are cut.
    """
    if not getattr(tokenizer, "is_fast", False):
        raise UnsupportedPartError(
            f"The tokenizer is a {type(tokenizer).__name__}, which is written in Python; model "
            "files hold fast tokenizers alone, those of the package tokenizers. Load it with "
            "AutoTokenizer.from_pretrained(name, use_fast=True) if it has such a form." + _ADVICE
        )
    text = _plain_json(tokenizer.backend_tokenizer.to_str()).encode("utf-8")
    limit = int(tokenizer.model_max_length)
    data = {
        "json": known.setdefault(hashlib.sha256(text).hexdigest(), np.frombuffer(text, np.uint8)),
        "limit": limit if limit <= _MOST_TOKENS else None,
        "side": tokenizer.truncation_side,
    }
    try:
        again = tokenizer_of(data, n_ids)
    except ValueError as error:
        raise UnsupportedPartError(f"The tokenizer cannot be saved: {error}{_ADVICE}") from error
    if _plain_json(again.backend_tokenizer.to_str()).encode("utf-8") != text:
        raise UnsupportedPartError(
            "The tokenizer cannot be saved: made of its JSON, it is another one." + _ADVICE
        )
    return data


def _plain_json(text):
    """Leave out what every call sets anew, and the way back from tokens to texts."""
    content = json.loads(text)
    content |= {"truncation": None, "padding": None, "decoder": None}
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def tokenizer_of(data, n_ids):
    """Make a tokenizer of what a file holds.

    Parameters
    ----------
    data : object
        Out of a file; anything is expected.
    n_ids : int
        How many ids the encoder has vectors for.

    Returns
    -------
    tokenizer : transformers.PreTrainedTokenizerFast

    Raises
    ------
    ValueError
        When it is none.
    """
    require(isinstance(data, dict) and data.keys() == {"json", "limit", "side"}, "a tokenizer")
    raw, limit, side = data["json"], data["limit"], data["side"]
    is_text = type(raw) is np.ndarray and raw.dtype == np.uint8 and raw.ndim == 1
    require(is_text and len(raw) <= _MOST_BYTES, "the JSON of a tokenizer")
    require(limit is None or (is_count(limit) and limit <= _MOST_TOKENS), "tokens of an encoder")
    require(side in ("left", "right"), "the side on which texts are cut")
    content = bounded_json.parse(raw.tobytes())
    check_parts(content, n_ids)
    limits = {"truncation_side": side} | ({} if limit is None else {"model_max_length": limit})
    transformers = import_optional("transformers", "text")
    tokenizers = import_optional("tokenizers", "text")
    with tokenizer_errors():
        backend = tokenizers.Tokenizer.from_str(json.dumps(content))
        tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=backend, **limits)
        if content["model"]["type"] == "Unigram":
            # Scores that went through JSON may have another last digit.
            tokenizer.backend_tokenizer.model = _unigram(tokenizers, **content["model"])
        largest = max(tokenizer.get_vocab().values(), default=0)
    require(largest < n_ids, f"token {largest} and an encoder of {n_ids} tokens")
    return tokenizer


def _unigram(tokenizers, vocab, type, **options):
    pairs = [(token, float(score)) for token, score in vocab]
    return tokenizers.models.Unigram(pairs, **options)
