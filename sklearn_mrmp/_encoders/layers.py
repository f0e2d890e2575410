"""Which layers of an encoder's states are read.

The last layer of an encoder serves the task it was trained for, such as comparing whole texts; what
single words mean is clearer below it. Leaf module.
"""

from numbers import Integral

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
