"""The networks as nodes: MrMP, and the neural peers that compute logits.

A network is written by a function that takes the writer, the torch module, a `TokenBatch` and the
candidates of each row, or None, and returns the name of the logits; it is found by the name of its
architecture. Shapes are those of the legend in `sklearn_mrmp.nn`. Knows the modules by their
attributes, and numpy.
"""

import numpy as np

from sklearn_mrmp._onnx.embedding import embedded, summed
from sklearn_mrmp._onnx.layers import as_array, attention, feed_forward, layer_norm, linear, product

# Φ(-x) is by the error function up to here, and by a continued fraction of this depth beyond.
_TAIL_FROM, _DEPTH = 2.5, 16


def write_network(op, name, module, batch, candidates=None):
    """Write a network.

    Parameters
    ----------
    op : GraphWriter
        Where to.
    name : str
        Of its architecture.
    module : LabelModule
        The trained network.
    batch : TokenBatch
        Rows.
    candidates : str, default=None
        Labels to decode for each row, int64 (B, k); None decodes all.

    Returns
    -------
    logits : str
        (B, L) or (B, k).
    """
    if name not in _NETWORKS:
        raise ValueError(
            f"to_onnx knows the networks {', '.join(_NETWORKS)}, but this is {name!r}, which is "
            "not a graph of fixed operations or not one of this package. Keep it in a model file "
            "(sklearn_mrmp.save), or export an MrMPClassifier."
        )
    if candidates is not None and name != "mrmp":
        raise ValueError(
            "to_onnx writes shortlists of labels for MrMPClassifier alone. Fit with "
            "label_shortlist=None, which decodes every label."
        )
    with op.scope(name):
        return _NETWORKS[name](op, module, batch, candidates)


def _mrmp(op, module, batch, candidates):
    states = _encoded(op, module, batch)
    u, weight, bias = as_array(module.label_embeddings()), module.output, module.bias
    weight = u if weight is None else as_array(weight)
    bias = np.zeros(len(u), np.float32) if bias is None else as_array(bias)
    shared = candidates is None
    if not shared:
        u, weight, bias = (op("Gather", part, candidates) for part in (u, weight, bias))
    logits = bias
    for i, layer in enumerate(module.decoder.layers):
        # Layer l reads encoder layer l; of fewer decoder layers the deepest ones, of more the last.
        z = states[min(max(len(states) - len(module.decoder.layers), 0) + i, len(states) - 1)]
        with op.scope(f"decoder_{i}"):
            u = _decoded(op, layer, u, z, batch, shared and i == 0)
            votes = op("ReduceSum", op("Mul", u, weight), [2], keepdims=0)
            logits = op("Add", votes, logits)
    return logits


def _encoded(op, module, batch):
    """Token states of each layer of the encoder, or the embeddings where it has none."""
    with op.scope("encoder"):
        x = embedded(op, module.embedding, batch)
        z, states = layer_norm(op, x, module.encoder.embedding_norm), []
        for layer in module.encoder.layers:
            m = op("Add", z, attention(op, layer.attention, z, z, batch))
            z = _with_feed_forward(op, layer, layer_norm(op, m, layer.attention_norm))
            states.append(z)
    return states or [z]


def _with_feed_forward(op, layer, z):
    z = op("Add", z, feed_forward(op, z, layer.feed_forward))
    return layer_norm(op, z, layer.feed_forward_norm)


def _decoded(op, layer, u, z, batch, shared):
    queries = layer_norm(op, u, layer.attention_norm)
    m = op("Add", u, attention(op, layer.attention, queries, z, batch, shared=shared))
    hidden = layer_norm(op, m, layer.feed_forward_norm)
    return op("Add", m, feed_forward(op, hidden, layer.feed_forward))


def _lamp(op, module, batch, candidates):
    z = _encoded(op, module, batch)[-1]
    u, pairs = as_array(module.labels), module.pairs
    pairs = None if pairs is None else as_array(pairs)
    for i, (reads, hears) in enumerate(zip(module.from_input, module.from_labels, strict=True)):
        with op.scope(f"round_{i}"):
            messages = attention(op, reads.attention, u, z, batch, shared=i == 0)
            u = layer_norm(op, op("Add", u, messages), reads.attention_norm)
            u = _with_feed_forward(op, reads, u)
            if hasattr(hears.attention, "qkv"):
                messages = attention(op, hears.attention, u, u, pairs=pairs)
            else:  # a label that hears itself alone
                messages = linear(op, u, hears.attention)
            u = layer_norm(op, op("Add", u, messages), hears.attention_norm)
            u = _with_feed_forward(op, hears, u)
    logits = op("ReduceSum", op("Mul", u, as_array(module.output)), [2], keepdims=0)
    return logits if module.bias is None else op("Add", logits, as_array(module.bias))


def _mpvae(op, module, batch, candidates):
    rows, size = summed(op, module.embedding, batch)
    if module.norms is None:
        rows = op("Add", rows, as_array(module.bias))
    else:
        rows = op("Div", rows, op("Sqrt", op("Max", size, np.float32(1))))
    _, of_features, of_decoder = op("Split", rows, list(module.widths), n_outputs=3, axis=1)
    if module.norms is not None:
        of_features = layer_norm(op, of_features, module.norms[1])
        of_decoder = layer_norm(op, of_decoder, module.norms[2])
    hidden = op("Relu", of_features)
    for layer in module.feature_encoder.layers:
        hidden = op("Relu", linear(op, hidden, layer))
    heads = module.feature_encoder.heads
    weight, bias = as_array(heads.weight), as_array(heads.bias)
    z = product(op, hidden, weight[: len(weight) // 2], bias[: len(bias) // 2])  # the mean
    hidden = op("Relu", op("Add", of_decoder, linear(op, z, module.from_latent)))
    m = linear(op, op("Relu", linear(op, hidden, module.decoder[1])), module.output)
    variance = 1 + np.square(as_array(module.loadings)).sum(axis=1)
    return _normal_log_odds(op, op("Mul", m, 1 / np.sqrt(variance)))


def _normal_log_odds(op, a):
    """``log Φ(a) − log Φ(−a)``, to the last digits also where one of them is nearly 0."""
    x = op("Abs", a)
    near = op("Erf", op("Mul", x, np.float32(np.sqrt(0.5))))
    near = op("Mul", op("Sub", np.float32(1), near), np.float32(0.5))
    # Beyond, Φ(−x) = φ(x) / (x + 1 / (x + 2 / (x + …))), whose logarithm is taken term by term.
    far = op("Max", x, np.float32(_TAIL_FROM))
    fraction = far
    for k in range(_DEPTH, 0, -1):
        fraction = op("Add", far, op("Div", np.float32(k), fraction))
    exponent = op("Mul", op("Mul", far, far), np.float32(-0.5))
    exponent = op("Sub", exponent, np.float32(0.5 * np.log(2 * np.pi)))
    log_far = op("Sub", exponent, op("Log", fraction))
    tiny = np.float32(1e-30)
    is_near = op("Less", x, np.float32(_TAIL_FROM))
    log_tail = op("Where", is_near, op("Log", op("Max", near, tiny)), log_far)
    log_rest = op("Log", op("Sub", np.float32(1), op("Exp", log_tail)))
    return op("Mul", op("Sign", a), op("Sub", log_rest, log_tail))


_NETWORKS = {"mrmp": _mrmp, "lamp": _lamp, "mpvae": _mpvae}
