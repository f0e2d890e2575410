"""The modules of `nn.embedding` as nodes: rows as token states, and as sums of tokens.

Shapes are those of the legend in `sklearn_mrmp.nn`. Knows the modules by their attributes, and
numpy.
"""

import numpy as np

from sklearn_mrmp._onnx.layers import as_array, layer_norm, linear

# Scale of positions, that of fresh embeddings; see `nn.embedding`.
_POSITION_SCALE = 0.03


def embedded(op, module, batch, positions=True):
    """Write the embedding of a batch.

    Parameters
    ----------
    op : GraphWriter
        Where to.
    module : Module
        As `make_embedding` makes it, of tokens, states or vectors.
    batch : TokenBatch
        Rows.
    positions : bool, default=True
        Whether the order of tokens counts, where the module knows one.

    Returns
    -------
    name : str
        (B, T, d).
    """
    with op.scope("embedding"):
        if "vectors" in batch.inputs:
            return _vectors(op, module, batch.inputs)
        if "states" in batch.inputs:
            states = layer_norm(op, batch.inputs["states"], module.norm)
            return linear(op, states, module.projection)
        return _tokens(op, module, batch.inputs, positions and module.positions)


def summed(op, module, batch):
    """Write the weighted sum of each row's tokens, (B, d), and how many there are, (B, 1)."""
    weights = batch.present
    if batch.weights is not None:
        weights = op("Mul", weights, op("Exp", batch.weights))
    states = embedded(op, module, batch, positions=False)
    rows = op("MatMul", op("Unsqueeze", weights, [1]), states)
    return op("Squeeze", rows, [1]), op("ReduceSum", batch.present, [1], keepdims=1)


def _tokens(op, module, inputs, positions=False):
    x = op("Gather", as_array(module.presence.weight), inputs["tokens"])
    if module.value is not None:
        slopes = op("Gather", as_array(module.value.weight), inputs["tokens"])
        x = op("Add", x, op("Mul", slopes, op("Unsqueeze", inputs["values"], [2])))
    if positions:
        x = op("Add", x, _positions(op, inputs["tokens"], module.presence.weight.shape[1]))
    return x


def _positions(op, tokens, d_model):
    """Sinusoidal position codes for the tokens of a row, (T, d)."""
    even = np.arange(0, d_model, 2, dtype=np.float32)
    rates = np.exp(even * np.float32(-np.log(10_000.0) / d_model))
    n_tokens = op("Gather", op("Shape", tokens), np.int64(1))
    places = op.cast(op("Range", np.int64(0), n_tokens, np.int64(1)), np.float32)
    angles = op("Mul", op("Unsqueeze", places, [1]), rates)
    codes = op("Concat", *(op("Unsqueeze", op(f, angles), [2]) for f in ("Sin", "Cos")), axis=2)
    codes = op("Slice", op("Reshape", codes, [0, -1]), [0], [d_model], [1])
    return op("Mul", codes, np.float32(_POSITION_SCALE))


def _vectors(op, module, inputs):
    expand, _, _, contract = module.projection
    hidden = gelu(op, linear(op, inputs["vectors"], expand))
    x = op("Unsqueeze", linear(op, hidden, contract), [1])  # (B, 1, d)
    return (
        x if module.tokens is None else op("Concat", x, _tokens(op, module.tokens, inputs), axis=1)
    )


def gelu(op, x):
    """Write ``x Φ(x)``."""
    tail = op("Add", op("Erf", op("Mul", x, np.float32(np.sqrt(0.5)))), np.float32(1))
    return op("Mul", op("Mul", x, tail), np.float32(0.5))
