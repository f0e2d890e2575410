"""A pretrained text encoder of `transformers`, used as it is: texts in, token states out.

It is known by its name and by a fingerprint of its weights, so that a model file can say which one
it needs without holding it; `encoder_file` says what files hold. Code of others is never run:
``trust_remote_code`` is not set. Knows torch, `transformers` when it is used, and state rows.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import torch

from sklearn_mrmp._encoders.cache import StateCache
from sklearn_mrmp._encoders.layers import chosen_layers, layers_of, read_layers
from sklearn_mrmp._encoders.outline import evaluating, weights_of
from sklearn_mrmp._encoders.pieces import Piece, room_for, rows_of, text_key
from sklearn_mrmp._encoders.windows import token_spans, token_windows, windows_by_length
from sklearn_mrmp._host.files import user_path
from sklearn_mrmp._host.optional import import_optional
from sklearn_mrmp._host.torch_state import resolve_device, torch_threads

# How a tokenizer treats capitals, accents and signs shows in what it makes of these words.
_PROBE = "Été DON'T"
# The largest and smallest numbers of half precision.
_LARGEST = float(np.finfo(np.float16).max)


class PretrainedEncoder:
    """A pretrained encoder by its name, or a model and its tokenizer.

    Parameters
    ----------
    name : str or None
        Name or folder that `transformers` understands.
    loaded : (model, tokenizer) or None
        Both, where they are at hand.
    layers : tuple of int, default=()
        Numbers of the layers that are read, as `chosen_layers` makes them; none is the last.
    revision : str or None, default=None
        Branch, tag or commit that the name is loaded at; None is what `transformers` takes.

    Attributes
    ----------
    width_ : int
        Width of its token states: that of all layers that are read.
    fingerprint_ : str
        SHA-256 of weights, vocabulary, and how a tokenizer splits words.
    carried : str or None
        Where model and tokenizer came with a model file: SHA-256 of all that it said of them.
    """

    def __init__(self, name=None, loaded=None, layers=(), revision=None):
        self.name = name
        self._loaded = loaded
        self.layers = layers
        self.revision = revision
        self.carried = None

    @classmethod
    def of(cls, encoder, layers="last", revision=None):
        """Return the encoder that a user means: a name, a folder, or a pair of objects."""
        if isinstance(encoder, (str, Path)):
            folder = user_path(encoder)
            name = str(folder) if folder.is_dir() else str(encoder)
            return cls(name, revision=revision)._identified(layers)
        is_pair = isinstance(encoder, (tuple, list)) and len(encoder) == 2
        if is_pair and isinstance(encoder[0], torch.nn.Module) and callable(encoder[1]):
            if revision is not None:
                raise ValueError(
                    f"revision={revision!r} says which version of a named encoder to load, but the "
                    "encoder was given as (model, tokenizer), which are loaded already. Leave "
                    "revision at None, or give the encoder's name."
                )
            return cls(None, tuple(encoder))._identified(layers)
        raise TypeError(
            "encoder must be the name or folder of a text encoder that transformers understands, "
            f"a pair (model, tokenizer), or a TextEncoder, got {encoder!r:.100}."
        )

    def _identified(self, layers):
        model, tokenizer = self.loaded()
        found = layers_of(model)
        self.layers = chosen_layers(layers, None if found is None else len(found))
        self.width_ = int(model.config.hidden_size) * max(len(self.layers), 1)
        self.fingerprint_ = fingerprint_of(model, tokenizer)
        return self

    def is_like(self, other):
        """Whether both turn the same texts into the same states."""
        mine, theirs = ((e.fingerprint_, e.layers) for e in (self, other))
        return mine == theirs

    @property
    def whole_width(self):
        """Width of the vectors of whole texts."""
        return self.width_ // max(len(self.layers), 1)

    def loaded(self):
        """Return model and tokenizer, which are loaded when they are first asked for."""
        if self._loaded is None:
            if self.name is None:
                raise ValueError(
                    "This model was fitted with an encoder that was given as a model and a "
                    "tokenizer, which its file does not hold. Give them again: "
                    "set_params(encoder=(model, tokenizer)); or save it with encoder_weights=True."
                )
            loaded = load_parts(self.name, "AutoModel", "AutoTokenizer", revision=self.revision)
            known = getattr(self, "fingerprint_", None)
            if known is not None and fingerprint_of(*loaded) != known:
                raise ValueError(
                    f"The encoder {self.name!r} is not the one that this model was fitted "
                    "with: its weights or its vocabulary differ."
                )
            self._loaded = loaded
        return self._loaded

    def hold(self, model, tokenizer, mark):
        """Take model and tokenizer out of a model file; they stay, also in pickles."""
        self._loaded, self.carried = (model, tokenizer), mark

    def given(self, encoder):
        """Return this encoder with a user's objects in it, if they are the same encoder's."""
        if self._loaded is not None or encoder is None or isinstance(encoder, (str, Path)):
            return self
        found = PretrainedEncoder.of(encoder, self.layers or "last")
        if found.fingerprint_ != self.fingerprint_:
            raise ValueError(
                "The encoder given as (model, tokenizer) is not the one that this model was "
                "fitted with: its weights or its vocabulary differ."
            )
        return found

    def __getstate__(self):
        """Leave out what can be loaded again by its name."""
        by_name = self.name is not None and self.carried is None
        return {**self.__dict__, "_loaded": None if by_name else self._loaded}

    def encode(self, texts, max_tokens=None, device="cpu", tell=None, cache_dir=None):
        """Return the token states of texts, in half precision.

        A text that occurs twice is encoded once, and one whose states are kept not at all. The last
        bit of its states may depend on the texts it was encoded with, since padding changes how
        sums are rounded: states that were kept are close to new ones, not always equal.

        Parameters
        ----------
        texts : sequence of str
            The texts.
        max_tokens : int, default=None
            Tokens of a text that are kept, in windows of the encoder's length; None keeps one
            window.
        device : str, default="cpu"
            Where to compute; an encoder given as objects stays where it is.
        tell : callable, default=None
            Hears from time to time which share of the texts is done.
        cache_dir : path-like, default=None
            Folder in which states are kept and found again; None keeps nothing.

        Returns
        -------
        rows : StateRows
            Token states of the layers that are read.
        wholes : ndarray of shape (n_texts, hidden_size), float32
            Mean states of the last layer, zeros for a text without tokens.
        """
        keys = [text_key(text) for text in texts]
        limits = _limits(*self.loaded(), max_tokens)
        cache, pieces = None, []
        if cache_dir is not None:
            mark = (self.carried or self.fingerprint_)[:32]
            name = "-".join([mark, *map(str, limits), *map(str, self.layers)])
            cache = StateCache(cache_dir, name, self.width_)
            pieces = cache.find(keys)
        found = {key for piece in pieces for key in piece.places}
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        tell = _Told(tell, len(found), len(new))
        if new:
            pieces.append(self._encoded(new, limits, device, tell))
            if cache is not None:
                cache.add(pieces[-1])
        tell(1.0)
        return rows_of(pieces, keys, self.width_, self.whole_width)

    def token_spans(self, text, max_tokens=None):
        """Names of a text's tokens, one for each state, and where in the text they stand."""
        model, tokenizer = self.loaded()
        max_tokens, window = _limits(model, tokenizer, max_tokens)
        return token_spans(tokenizer, text, window, max_tokens)

    def _encoded(self, texts, limits, device, tell):
        """Encode texts, which are given by their keys, into a piece."""
        model, tokenizer = self.loaded()
        if self.name is not None or self.carried is not None:
            model = model.to(resolve_device(device))
        max_tokens, window = limits
        windows, rows = token_windows(tokenizer, texts.values(), window, max_tokens)
        lengths = np.array([len(ids) for ids in windows], dtype=np.int64)
        per_text = np.bincount(rows, weights=lengths, minlength=len(texts)).astype(np.int64)
        # Each text before has a row for itself as a whole.
        first = np.cumsum(per_text) - per_text + np.arange(len(texts))
        starts = np.cumsum(lengths) - lengths + rows
        states = room_for(int(lengths.sum()) + len(texts), self.width_)
        sums, n_done = np.zeros((len(texts), self.whole_width), np.float32), 0
        with torch_threads(None), torch.inference_mode(), evaluating(model):
            for chosen in windows_by_length(lengths):
                found, last = _states(model, [windows[i] for i in chosen], self.layers)
                for number, vectors in zip(chosen, found, strict=True):
                    n_tokens = lengths[number]
                    states[starts[number] : starts[number] + n_tokens] = vectors[:n_tokens]
                np.add.at(sums, rows[chosen], last)
                n_done += lengths[chosen].sum()
                tell(n_done / max(lengths.sum(), 1))
        means = sums / np.maximum(per_text, 1)[:, None]
        states[first + per_text, : self.whole_width] = np.clip(means, -_LARGEST, _LARGEST)
        places = zip(first.tolist(), (per_text + 1).tolist(), strict=True)
        return Piece(states, dict(zip(texts, places, strict=True)))


class _Told:
    """Tells a listener, if there is one, which share of all texts is done; some are from before."""

    def __init__(self, tell, n_found, n_new):
        self.tell = tell
        self.n_found = n_found
        self.n_new = n_new

    def __call__(self, share):
        """Hear which share of the new texts is done."""
        if self.tell is not None:
            n_texts = max(self.n_found + self.n_new, 1)
            self.tell((self.n_found + share * self.n_new) / n_texts)


def load_parts(name, *kinds, revision=None):
    """Load parts of an encoder by the names of their classes in `transformers`."""
    pinned = {} if revision is None else {"revision": revision}
    asked = f"{name!r}" if revision is None else f"{name!r} at revision {revision!r}"
    transformers = import_optional("transformers", "text")
    before = transformers.logging.is_progress_bar_enabled()
    transformers.logging.disable_progress_bar()
    try:
        return tuple(getattr(transformers, kind).from_pretrained(name, **pinned) for kind in kinds)
    except (OSError, ValueError) as error:
        raise OSError(
            f"The encoder {asked} could not be loaded. Check its name; without a network give a "
            f"folder with its files, or a pair (model, tokenizer). transformers says: {error}"
        ) from error
    finally:
        if before:
            transformers.logging.enable_progress_bar()


def reading_window(model, tokenizer):
    """Tokens that the encoder reads at once."""
    limits = [getattr(tokenizer, "model_max_length", None)]
    limits.append(getattr(model.config, "max_position_embeddings", None))
    return min(int(limit) for limit in limits if limit)


def _limits(model, tokenizer, max_tokens):
    """Tokens of a text that are kept, and tokens that the encoder reads at once."""
    window = reading_window(model, tokenizer)
    if max_tokens is None or not getattr(tokenizer, "is_fast", False):
        max_tokens = min(window, max_tokens or window)
    return int(max_tokens), window


def fingerprint_of(model, tokenizer):
    """Return the SHA-256 of weights, vocabulary, and how a tokenizer splits words."""
    digest = hashlib.sha256()
    for name, weight in sorted(weights_of(model).items()):
        digest.update(f"{name} {tuple(weight.shape)} {weight.dtype}".encode())
        digest.update(weight.detach().cpu().contiguous().view(torch.uint8).numpy().data)
    digest.update(json.dumps(sorted(tokenizer.get_vocab().items())).encode())
    windows, _ = token_windows(tokenizer, [_PROBE], window=16)
    digest.update(json.dumps(windows).encode())
    return digest.hexdigest()


def probe_states(model, tokenizer, layers):
    """Return the states of some words, by which two encoders can be compared."""
    windows, _ = token_windows(tokenizer, [_PROBE], window=16)
    with torch_threads(None), torch.inference_mode(), evaluating(model):
        return _states(model, windows, layers)[0]


def _states(model, windows, layers):
    """Token states of a batch of windows, float16 (B, T, width), and sums of the last layer's."""
    device = next(model.parameters()).device
    longest = max(len(ids) for ids in windows)
    ids = torch.zeros(len(windows), longest, dtype=torch.long)
    mask = torch.zeros(len(windows), longest, dtype=torch.long)
    for row, window in enumerate(windows):
        ids[row, : len(window)] = torch.tensor(window)
        mask[row, : len(window)] = 1
    ids, mask = ids.to(device), mask.to(device)
    out, last = read_layers(model, layers, input_ids=ids, attention_mask=mask)
    sums = (last.float() * mask[..., None]).sum(dim=1)
    return out.float().clamp(-_LARGEST, _LARGEST).half().cpu().numpy(), sums.cpu().numpy()
