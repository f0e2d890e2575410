"""Texts as windows of token ids, and windows in batches of similar length.

A text is cut into windows as long as the encoder reads at once; one window is enough unless more
tokens are asked for. Knows tokenizers of `transformers` by their call, and numpy.
"""

from contextlib import contextmanager

import numpy as np

# Tokens of a batch, padding included, and windows of a batch.
_BATCH_TOKENS = 2**12
_BATCH_WINDOWS = 64


def token_windows(tokenizer, texts, window, max_tokens=None):
    """Cut texts into windows of token ids.

    Parameters
    ----------
    tokenizer : tokenizer of transformers
        Adds its special tokens to each window.
    texts : sequence of str
        The texts.
    window : int
        Tokens that the encoder reads at once.
    max_tokens : int, default=None
        Tokens of a text that are kept, special ones included; None keeps one window.

    Returns
    -------
    windows : list of list of int
        In the order of the texts.
    rows : ndarray of int
        Which text each window belongs to.
    """
    texts, limit = list(texts), window if max_tokens is None else max_tokens
    options = {"truncation": True, "max_length": min(limit, window), "padding": False}
    if limit <= window or not getattr(tokenizer, "is_fast", False):
        with tokenizer_errors():
            return tokenizer(texts, **options)["input_ids"], np.arange(len(texts))
    with tokenizer_errors():
        encoded = tokenizer(texts, **options, return_overflowing_tokens=True)
    rows = np.asarray(encoded["overflow_to_sample_mapping"])
    windows, kept, n_left = [], [], np.full(len(texts), limit)
    for row, ids in zip(rows, encoded["input_ids"], strict=True):
        ids = ids[: n_left[row]]
        n_left[row] -= len(ids)
        if ids:
            windows.append(ids)
            kept.append(row)
    return windows, np.array(kept, dtype=np.int64)


def token_spans(tokenizer, text, window, max_tokens=None):
    """Say what the tokens of a text are called, and where in the text they stand.

    Parameters
    ----------
    tokenizer, window, max_tokens
        As for `token_windows`.
    text : str
        The text.

    Returns
    -------
    names : list of str
        As the tokenizer calls them, in the order of the windows.
    spans : list of ((int, int) or None)
        First character, and the one after the last; None for tokens that the tokenizer has added,
        and for all tokens of one that does not say where they stand.
    """
    windows, _ = token_windows(tokenizer, [text], window, max_tokens)
    names = [name for ids in windows for name in tokenizer.convert_ids_to_tokens(ids)]
    if not getattr(tokenizer, "is_fast", False):
        return names, [None] * len(names)
    options = {"truncation": True, "max_length": min(max_tokens or window, window)}
    with tokenizer_errors():
        encoded = tokenizer(
            [text], **options, return_offsets_mapping=True, return_overflowing_tokens=True
        )
    # Windows are cut at their ends alone, so that the first tokens of all are those that are kept.
    found = [span for offsets in encoded["offset_mapping"] for span in offsets][: len(names)]
    return names, [(int(start), int(end)) if end > start else None for start, end in found]


def windows_by_length(lengths):
    """Yield the numbers of windows in batches, longest first, with little padding.

    Examples
    --------
    >>> [batch.tolist() for batch in windows_by_length(np.array([2, 5, 3]))]
    [[1, 2, 0]]
    """
    order = np.argsort(-lengths, kind="stable")
    while len(order):
        size = max(1, min(_BATCH_WINDOWS, _BATCH_TOKENS // max(int(lengths[order[0]]), 1)))
        yield order[:size]
        order = order[size:]


@contextmanager
def tokenizer_errors():
    """Raise ValueError where compiled code of `tokenizers` raises a bare Exception, or panics."""
    try:
        yield
    except BaseException as error:  # a panic is no Exception
        if type(error) is not Exception and type(error).__name__ != "PanicException":
            raise
        raise ValueError(f"The tokenizer is not in order: {error!s:.200}") from error
