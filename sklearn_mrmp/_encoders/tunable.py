"""A pretrained text encoder that learns with the network: its tokens, and its transformer.

The network holds the transformer, whose weights are then its own; what is kept here is where they
start, how texts become token ids, and how to make the transformer again for a model file's weights.
Code of others is never run: ``trust_remote_code`` is not set. Knows torch, `transformers` when it
is used, and token rows.
"""

import copy
import hashlib
import json
from contextlib import suppress
from pathlib import Path

import numpy as np
import torch

from sklearn_mrmp._encoders.encoder_file import no_place, require_revision
from sklearn_mrmp._encoders.outline import (
    outline_of,
    transformer_of,
    vocabulary_size,
    without_pooler,
)
from sklearn_mrmp._encoders.text import PretrainedEncoder, load_parts, reading_window
from sklearn_mrmp._encoders.tokenizer_data import tokenizer_data, tokenizer_of
from sklearn_mrmp._encoders.windows import token_spans, token_windows
from sklearn_mrmp._input.token_rows import TokenRows
from sklearn_mrmp._model_files.part import Part, is_count, require

# What the file says of an encoder, besides its weights.
_SAID = ("name", "outline", "width", "window", "unknown", "vocabulary", "revision")
# Tokens of a window, and of a vocabulary, that a file may speak of.
_MOST = 2**24


class TunableEncoder:
    """Where the encoder inside a network comes from; `of` makes it.

    Parameters
    ----------
    name : str or None
        Name or folder that `transformers` understands; None if it was given as objects.
    outline : dict or None
        How to make the transformer without weights; None where files have no place for it.
    width : int
        Width of its token states.
    window : int
        Tokens that it reads at once.
    unknown : int
        Id of the token that stands for one that is left out.
    vocabulary : str
        SHA-256 of the vocabulary.
    revision : str or None, default=None
        Branch, tag or commit that the name is loaded at.
    pretrained : PretrainedEncoder or None
        The encoder that training starts from; out of a file there is none.
    tokenizer : tokenizer of transformers, or None
        Loaded by the name when it is needed.
    """

    def __init__(
        self,
        name,
        outline,
        width,
        window,
        unknown,
        vocabulary,
        revision=None,
        pretrained=None,
        tokenizer=None,
    ):
        self.name = name
        self.outline = outline
        self.width = width
        self.window = window
        self.unknown = unknown
        self.vocabulary = vocabulary
        self.revision = revision
        self.carried = False  # whether the tokenizer came with a model file
        self._pretrained = pretrained
        self._tokenizer = tokenizer

    @classmethod
    def of(cls, encoder, revision=None):
        """Return the encoder that a user means: a name, a folder, or a pair of objects."""
        pretrained = PretrainedEncoder.of(encoder, revision=revision)
        model, tokenizer = pretrained.loaded()
        return cls(
            pretrained.name,
            outline_of(model),
            pretrained.width_,
            reading_window(model, tokenizer),
            _id_of_unknown(tokenizer),
            _mark(tokenizer),
            revision,
            pretrained,
            tokenizer,
        )

    def __eq__(self, other):
        """Whether both turn the same texts into the same tokens of the same transformer."""
        if not isinstance(other, TunableEncoder):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _SAID)

    __hash__ = None

    def is_like(self, other):
        """Whether both are the same transformer, whatever its weights are."""
        return self == other

    def __getstate__(self):
        """Leave out what can be loaded again by its name."""
        kept = self._tokenizer if self.name is None or self.carried else None
        return {**self.__dict__, "_tokenizer": kept}

    @property
    def fingerprint_(self):
        """SHA-256 of the weights that training starts from, and of the vocabulary."""
        return self._pretrained.fingerprint_

    def encode(self, texts, max_tokens=None, device=None, tell=None, cache_dir=None):
        """Return the token ids of texts, which count from 1.

        Parameters
        ----------
        texts : sequence of str
            The texts.
        max_tokens : int, default=None
            Tokens of a text that are kept; all windows of a text but its last are full, so that
            the network knows where they begin.
        device, tell, cache_dir : object, default=None
            Have no meaning here: there is little to do, and nothing to keep.

        Returns
        -------
        rows : TokenRows
        wholes : None
            There is no vector of a whole text that would stay as it is.
        """
        windows, rows = token_windows(self._loaded_tokenizer(), texts, self.window, max_tokens)
        lengths = np.array([len(ids) for ids in windows], dtype=np.int64)
        per_text = np.bincount(rows, weights=lengths, minlength=len(texts)).astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(per_text)])
        ids = np.fromiter((i for window in windows for i in window), np.int64, starts[-1])
        return TokenRows(starts, ids + 1, unknown=self.unknown + 1), None

    def token_spans(self, text, max_tokens=None):
        """Names of a text's tokens, one for each id, and where in the text they stand."""
        return token_spans(self._loaded_tokenizer(), text, self.window, max_tokens)

    def _loaded_tokenizer(self):
        if self._tokenizer is None:
            if self.name is None:
                raise ValueError(
                    "This classifier was fitted with an encoder that was given as a model and a "
                    "tokenizer, and its file holds the weights but not the tokenizer. Give both "
                    "again: set_params(encoder=(model, tokenizer)); or save it with "
                    "encoder_weights=True."
                )
            (found,) = load_parts(self.name, "AutoTokenizer", revision=self.revision)
            self._tokenizer = self._checked(found)
        return self._tokenizer

    def _checked(self, tokenizer):
        if _mark(tokenizer) != self.vocabulary:
            raise ValueError(
                "The tokenizer of the encoder is not the one that this classifier was fitted with: "
                f"its vocabulary differs (encoder: {self.name or 'given as objects'})."
            )
        return tokenizer

    def given(self, encoder):
        """Return this encoder with a user's tokenizer in it, if it is the same."""
        if self._tokenizer is not None or encoder is None or isinstance(encoder, (str, Path)):
            return self
        found = copy.copy(self)
        found._tokenizer = self._checked(PretrainedEncoder.of(encoder).loaded()[1])
        return found

    def without_start(self):
        """Return the same for a network that has been trained, which has weights of its own."""
        return TrainedEncoder(**{name: getattr(self, name) for name in _SAID})

    def make(self):
        """Make a transformer for one network: as it was pretrained, or for the weights of a file.

        Returns
        -------
        model : torch.nn.Module
        """
        if self._pretrained is None:
            model = transformer_of(self.outline)
            require(model.config.hidden_size == self.width, "an encoder and its width")
            return model
        with torch.device("cpu"):  # also where only an outline of the network is made
            model, _ = self._pretrained.loaded()
        return _ready_to_learn(_copy(model))


class TrainedEncoder(TunableEncoder):
    """The same inside a network that has been trained, which makes no tokens of texts."""


def _copy(model):
    """Copy what is needed of a user's model, in the precision that small steps need."""
    return without_pooler(copy.deepcopy(model)).to(torch.float32)


def _ready_to_learn(model):
    """Let weights learn, but for those that the user has frozen beside others that learn."""
    if not any(weight.requires_grad for weight in model.parameters()):
        model.requires_grad_(True)
    if getattr(model, "supports_gradient_checkpointing", False):
        model.config.use_cache = False  # of no use here, and refused beside what follows
        # Layers are computed twice in training, instead of all of them being kept.
        new_name = getattr(model, "activation_checkpointing_enable", None)
        (new_name or model.gradient_checkpointing_enable)({"use_reentrant": False})
        with suppress(AttributeError):  # a hook that serves the other way only, and is no data
            model.disable_input_require_grads()
    return model


def _id_of_unknown(tokenizer):
    """Id of the token that says least."""
    found = (getattr(tokenizer, f"{name}_token_id", None) for name in ("mask", "unk", "pad"))
    return next((int(number) for number in found if number is not None), 0)


def _mark(tokenizer):
    return hashlib.sha256(json.dumps(sorted(tokenizer.get_vocab().items())).encode()).hexdigest()


def _take(encoder, request):
    """Return what a file holds of an encoder: not its weights, which are the network's."""
    params = _take_said(encoder)[0]
    if request.encoder_weights or encoder.carried:
        found, n_ids = encoder._loaded_tokenizer(), vocabulary_size(encoder.outline)
        params["tokenizer"] = tokenizer_data(found, n_ids, request.known)
    return params, {}


def _take_said(encoder):
    if encoder.outline is None:
        raise no_place("fine-tuned encoder")
    return {name: getattr(encoder, name) for name in _SAID}, {}


def _make(params, fitted):
    """Make an encoder whose tokenizer came along, or is loaded by its name and must be the same."""
    data = params.pop("tokenizer", None)
    encoder = TunableEncoder(**_checked_said(params, fitted))
    if data is not None:
        found = tokenizer_of(data, vocabulary_size(encoder.outline))
        encoder._tokenizer, encoder.carried = encoder._checked(found), True
    return encoder


def _make_trained(params, fitted):
    return TrainedEncoder(**_checked_said(params, fitted))


def _checked_said(params, fitted):
    require(params.keys() == set(_SAID) and not fitted, "an encoder")
    name, vocabulary, unknown = params["name"], params["vocabulary"], params["unknown"]
    require(name is None or isinstance(name, str), "name of an encoder")
    require_revision(params["revision"], name)
    sizes = params["width"], params["window"]
    require(all(is_count(size) and size <= _MOST for size in sizes), "sizes of an encoder")
    require(type(unknown) is int and 0 <= unknown < _MOST, "tokens of an encoder")
    require(isinstance(vocabulary, str), "vocabulary of an encoder")
    return params


TunableEncoder._model_part = Part(take_for=_take, make=_make)
TrainedEncoder._model_part = Part(take=_take_said, make=_make_trained)
