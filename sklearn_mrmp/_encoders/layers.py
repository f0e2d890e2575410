"""Which layers of an encoder are read, and reading them.

The last layer of an encoder serves the task it was trained for, such as comparing whole texts; what
single words mean is clearer below it. Layers are listened to with torch's hooks: `transformers`,
when asked for them, leaves things on a user's model that cannot be copied. Knows torch.
"""

from functools import partial
from numbers import Integral

import torch

# Layers that may be read at once.
MOST_LAYERS = 64


def chosen_layers(layers, n_layers):
    """Return the numbers of the layers to read, or nothing for the last one alone.

    Parameters
    ----------
    layers : "auto", "last", int or sequence of int
        ``"auto"`` is the layers at one and two thirds of the depth. Numbers count from 0, the
        embeddings of the tokens, to `n_layers`; negative ones from the end.
    n_layers : int or None
        Depth of the encoder; None if it does not say.

    Returns
    -------
    numbers : tuple of int

    Examples
    --------
    >>> chosen_layers("auto", 6), chosen_layers(-1, 6), chosen_layers([0, -2], 6)
    ((2, 4), (), (0, 5))
    """
    if isinstance(layers, str) and layers == "auto":
        layers = "last" if n_layers is None else sorted({-(-n_layers // 3), -(-2 * n_layers // 3)})
    if isinstance(layers, str) and layers == "last":
        return ()
    numbers = [layers] if isinstance(layers, Integral) else list(layers)
    if not numbers or not all(isinstance(number, Integral) for number in numbers):
        raise ValueError(
            f"layers must be 'auto', 'last', a number or numbers of layers, got {layers!r:.100}."
        )
    if n_layers is None or len(numbers) > MOST_LAYERS:
        raise ValueError(
            f"layers={layers!r:.100} cannot be read: the encoder does not say how many layers it "
            f"has, or these are more than {MOST_LAYERS}. Use layers='last'."
        )
    wrong = [number for number in numbers if not -n_layers - 1 <= number <= n_layers]
    if wrong:
        raise ValueError(
            f"layers names layer {wrong[0]}, but the encoder has layers 0 (the embeddings) to "
            f"{n_layers}."
        )
    found = tuple(int(number) % (n_layers + 1) for number in numbers)
    return () if found == (n_layers,) else found


def layers_of(model):
    """Return the layers of an encoder, or None where they are not there one by one."""
    depth = getattr(model.config, "num_hidden_layers", None)
    lists = (part for part in model.modules() if isinstance(part, torch.nn.ModuleList))
    return next((part for part in lists if len(part) == depth), None)


def read_layers(model, numbers, **inputs):
    """Return the states of some layers side by side, and those of the last layer.

    Parameters
    ----------
    model : torch.nn.Module
        An encoder of `transformers`.
    numbers : tuple of int
        As `chosen_layers` makes them; none is the last layer.
    **inputs : Tensor
        What the encoder takes.

    Returns
    -------
    states : Tensor of shape (B, T, width)
    last : Tensor of shape (B, T, hidden_size)
    """
    if not numbers:
        last = model(**inputs).last_hidden_state
        return last, last
    layers, found = layers_of(model), {}
    hooks = [
        layers[max(number - 1, 0)].register_forward_hook(
            partial(_keep, found, number), with_kwargs=True
        )
        for number in set(numbers) - {len(layers)}
    ]
    try:
        found[len(layers)] = last = model(**inputs).last_hidden_state
    finally:
        for hook in hooks:
            hook.remove()
    return torch.cat([found[number] for number in numbers], dim=-1), last


def _keep(found, number, layer, args, kwargs, output):
    """Keep what a layer gave, or what the first one was given."""
    if number == 0:
        found[0] = args[0] if args else kwargs["hidden_states"]
    else:
        found[number] = output[0] if isinstance(output, tuple) else output
