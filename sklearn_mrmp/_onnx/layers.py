"""Layers of `sklearn_mrmp.nn` as nodes: each function writes what one module computes.

They are the plain forms, without the tricks of `nn._speed` that look at the sizes of a batch: a
graph serves any number of rows of any length. Shapes are those of the legend in `sklearn_mrmp.nn`.
Knows the modules by their attributes, and numpy.
"""

from dataclasses import dataclass

import numpy as np

# Score of padding: its weight is exactly zero beside any token's.
NEVER = np.float32(-3e4)


@dataclass(frozen=True)
class TokenBatch:
    """Names of the tensors that a network reads of a batch.

    Attributes
    ----------
    inputs : dict of str to str
        What the embedding takes, such as ``tokens`` (B, T).
    present : str
        1 where there is a token, else 0, float32 (B, T).
    weights : str or None
        Logarithms of the weights of tokens, (B, T).
    """

    inputs: dict
    present: str
    weights: str | None = None


def as_array(tensor):
    """Return a tensor of torch as an array."""
    return tensor.detach().cpu().numpy()


def linear(op, x, layer):
    """Write ``nn.Linear``."""
    return product(op, x, as_array(layer.weight), as_array(layer.bias))


def product(op, x, weight, bias):
    """Write ``x weightᵀ + bias`` for the last axis."""
    return op("Add", op("MatMul", x, weight.T.copy()), bias)


def layer_norm(op, x, layer):
    """Write ``nn.LayerNorm``, or ``nn.Identity`` in its place."""
    if not hasattr(layer, "eps"):
        return x
    scale, shift = as_array(layer.weight), as_array(layer.bias)
    return op("LayerNormalization", x, scale, shift, axis=-1, epsilon=layer.eps)


def feed_forward(op, x, layer):
    """Write `PositionwiseFeedForward`."""
    return linear(op, op("Relu", linear(op, x, layer.expand)), layer.contract)


def padding_scores(op, batch):
    """Write what attention adds to scores of tokens: their weights, and `NEVER` for padding."""
    with op.scope("mask"):
        weights = np.float32(0) if batch.weights is None else batch.weights
        return op("Where", op.cast(batch.present, bool), weights, NEVER)


def attention(op, layer, queries, tokens, batch=None, pairs=None, shared=False):
    """Write `MultiHeadAttention`.

    Parameters
    ----------
    op : GraphWriter
        Where to.
    layer : MultiHeadAttention
        Its weights.
    queries : str
        (B, Q, d), or (Q, d) if they are `shared` by all rows.
    tokens : str
        (B, T, d).
    batch : TokenBatch, default=None
        Says which tokens there are; None is all of them.
    pairs : bool ndarray of shape (Q, T), default=None
        Which query may attend to which token; at least one for each query.
    shared : bool, default=False
        Whether the queries are.

    Returns
    -------
    name : str
        (B, Q, d).
    """
    weight, bias = as_array(layer.qkv.weight), as_array(layer.qkv.bias)
    (W_q, W_k, W_v), (b_q, b_k, b_v) = np.split(weight, 3), np.split(bias, 3)
    scale = np.float32((len(W_q) // layer.n_heads) ** -0.5)
    q = op("Mul", product(op, queries, W_q, b_q), scale)
    q = _heads(op, q, layer.n_heads, (1, 0, 2) if shared else (0, 2, 1, 3))
    k = _heads(op, product(op, tokens, W_k, b_k), layer.n_heads, (0, 2, 3, 1))
    v = product(op, tokens, W_v, b_v)
    scores = op("MatMul", q, k)  # (B, H, Q, T)
    if batch is not None:
        scores = op("Add", scores, op("Unsqueeze", padding_scores(op, batch), [1, 2]))
        # A row without tokens weighs its padding: zero.
        v = op("Mul", v, op("Unsqueeze", batch.present, [2]))
    if pairs is not None:
        scores = op("Add", scores, np.where(pairs, np.float32(0), NEVER))
    weights = op("Softmax", scores, axis=-1)
    values = op("MatMul", weights, _heads(op, v, layer.n_heads, (0, 2, 1, 3)))
    values = op("Reshape", op("Transpose", values, perm=(0, 2, 1, 3)), [0, 0, -1])  # (B, Q, d)
    return linear(op, values, layer.output)


def _heads(op, x, n_heads, order):
    """Split the last axis into heads, and order the axes."""
    shape = [*[0] * (len(order) - 2), n_heads, -1]
    return op("Transpose", op("Reshape", x, shape), perm=order)
