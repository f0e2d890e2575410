"""Useful floating-point operations of a training step and of a prediction.

Helper of the benchmarks. Only what the equations need is counted: matrix products of the real
tokens (no padding), one score per label and row (not L×L), and the queries of the first decoder
layer once per batch, since they are the same for every row. Element-wise work (dropout, norms,
softmax, the optimiser) counts nothing, so a share of 100 % of the machine's rate is out of reach.
"""

import numpy as np


def encoder_layer(lengths, d, d_inner):
    """Operations of self-attention and feed-forward on rows of the given lengths."""
    tokens, pairs = lengths.sum(), np.square(lengths).sum()
    projections = 8 * tokens * d * d  # queries, keys, values, output
    return projections + 4 * pairs * d + 4 * tokens * d * d_inner


def decoder_layer(lengths, n_labels, d, d_inner, *, shared_queries):
    """Operations of label attention and feed-forward; shared queries are projected once."""
    states = len(lengths) * n_labels
    projections = 4 * lengths.sum() * d * d + 2 * states * d * d  # keys and values, output
    projections += 2 * (n_labels if shared_queries else states) * d * d
    return projections + 4 * lengths.sum() * n_labels * d + 4 * states * d * d_inner


def relation_module(relations, n_labels, d, n_layers=2):
    """Operations of message passing over the edges of the graphs and the self loops."""
    edges = sum(adjacency._nnz() + n_labels for adjacency in relations.values())
    return n_layers * (2 * edges * d + len(relations) * 2 * n_labels * d * d)


def prediction(lengths, n_labels, d, d_inner, n_layers=2):
    """Operations of one prediction batch, label embeddings known."""
    lengths = np.asarray(lengths, dtype=np.float64)
    total = n_layers * encoder_layer(lengths, d, d_inner)
    for layer in range(n_layers):
        total += decoder_layer(lengths, n_labels, d, d_inner, shared_queries=layer == 0)
    return total + n_layers * 2 * len(lengths) * n_labels * d  # the votes


def training(lengths, relations, n_labels, d, d_inner, n_layers=2):
    """Operations of one training step: forward, and twice that backward."""
    forward = prediction(lengths, n_labels, d, d_inner, n_layers)
    return 3 * (forward + relation_module(relations, n_labels, d, n_layers))
