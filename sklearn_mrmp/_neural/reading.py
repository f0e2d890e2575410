"""What reads the rows of a fit: an input kind, for texts with a pretrained encoder in it.

Knows input kinds, encoders, and the public `TextEncoder` by what it is taken apart into.
"""

from dataclasses import replace

from sklearn_mrmp._encoders.text import PretrainedEncoder
from sklearn_mrmp._encoders.tunable import TunableEncoder
from sklearn_mrmp._input.tuned_text import TunedTextInput
from sklearn_mrmp._text_encoder import taken_apart

_NOTHING_TO_TUNE = (
    "encoder_lr={} fine-tunes a text encoder, but there is none, and X was read as {}. Pass texts "
    "and encoder=..., or leave encoder_lr at 0."
)


def make_encoder(kind, settings):
    """Make what reads rows of a kind.

    Returns
    -------
    encoder : input kind
        Not fitted.
    settings : FitSettings
        Of an encoder of texts they know what it is, wherever it comes from.
    """
    # The paper's attention knows nothing of how rare a word is.
    weighted = getattr(settings.network, "architecture", "default") == "default"
    rate = settings.training.encoder_lr
    if settings.input.encoder is None:
        if rate > 0:
            raise ValueError(_NOTHING_TO_TUNE.format(rate, kind.name))
        return kind(settings.input.max_tokens, weighted=weighted), settings
    source, layers, max_tokens, cache_dir, revision = taken_apart(settings.input.encoder)
    if settings.input.max_tokens is not None:
        max_tokens = settings.input.max_tokens
    if rate > 0:
        kind, encoder = TunedTextInput, TunableEncoder.of(source, revision)
    else:
        encoder = PretrainedEncoder.of(source, layers, revision)
    known = replace(settings.input, encoder=encoder.fingerprint_, max_tokens=max_tokens)
    device = settings.training.device
    rows = kind(max_tokens, encoder=encoder, device=device, cache_dir=cache_dir)
    return rows, replace(settings, input=known)
