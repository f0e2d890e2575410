"""Token states of texts that lie in one matrix or in several, put together as rows.

A text is known by a digest of it, so that one that occurs twice is there once. Knows state rows
and numpy.
"""

import hashlib
import tempfile
from dataclasses import dataclass

import numpy as np

from sklearn_mrmp._input.state_rows import StateRows
from sklearn_mrmp._input.token_rows import TokenRows

KEY_BYTES = 16
# States beyond this many bytes are kept in a file, which the system removes with the last user.
_MOST_BYTES = 2**31


@dataclass(frozen=True, eq=False)
class Piece:
    """A matrix of token states, and where in it the texts are.

    The rows of a text are the states of its tokens and, as the last one, a vector for the whole
    text, as wide as a single layer and followed by zeros.

    Attributes
    ----------
    states : ndarray of float16 of shape (n_rows, width)
        In memory or mapped from a file.
    places : dict of bytes to (int, int)
        For the key of each text its first row, and how many it has.
    """

    states: np.ndarray
    places: dict


def text_key(text):
    """Return what a text is known by."""
    content = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=KEY_BYTES).digest()


def room_for(n_tokens, width):
    """Return an array to be filled, in memory or, if it is large, in a file without a name."""
    shape = (max(n_tokens, 1), width)
    if 2 * shape[0] * width <= _MOST_BYTES:
        return np.zeros(shape, dtype=np.float16)
    with tempfile.TemporaryFile() as file:  # the map keeps it until it is let go
        return np.memmap(file, dtype=np.float16, mode="w+", shape=shape)


def rows_of(pieces, keys, width, whole_width):
    """Return the token states of texts, and a vector for each; one piece is left where it is.

    Parameters
    ----------
    pieces : list of Piece
        They hold each text once.
    keys : list of bytes
        The texts, in the order of the rows.
    width, whole_width : int
        Widths of the states, and of the vectors of whole texts.

    Returns
    -------
    rows : StateRows
    wholes : ndarray of shape (n_texts, whole_width), float32
    """
    all_texts = pieces[0] if len(pieces) == 1 else _gathered(pieces, width)
    places = np.array([all_texts.places[key] for key in keys], dtype=np.int64).reshape(-1, 2)
    first, lengths = places[:, 0], places[:, 1] - 1
    wholes = all_texts.states[first + lengths, :whole_width].astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    tokens = np.repeat(first - starts[:-1], lengths) + np.arange(1, starts[-1] + 1)
    return StateRows(TokenRows(starts, tokens), all_texts.states), wholes


def _gathered(pieces, width):
    """Copy the texts of several pieces into one."""
    n_tokens = sum(n for piece in pieces for _, n in piece.places.values())
    states, places, end = room_for(n_tokens, width), {}, 0
    for piece in pieces:
        for key, (first, n) in piece.places.items():
            states[end : end + n] = piece.states[first : first + n]
            places[key] = (end, n)
            end += n
    return Piece(states, places)
