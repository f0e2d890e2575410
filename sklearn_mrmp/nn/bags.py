"""Rows as sums of their tokens, without a vector for each token where tokens have a table.

For networks that read a row as one vector. Knows the embeddings of `sklearn_mrmp.nn` and torch.
"""

import torch
from torch.nn import functional as F

from sklearn_mrmp.nn.embedding import TokenEmbedding


def summed_tokens(embedding, mask, inputs):
    """Sum of each row's tokens, and how many there are.

    Parameters
    ----------
    embedding : Module
        As `make_embedding` makes it.
    mask : bool or float Tensor of shape (B, T), or None
        True where there is a token, or the logarithm of its weight.
    inputs : dict of str to Tensor
        What the embedding takes.

    Returns
    -------
    rows : Tensor of shape (B, d)
        Zeros for rows without a token.
    sizes : Tensor of shape (B,)
        Number of tokens.
    """
    weights = _weights(mask)
    if isinstance(embedding, TokenEmbedding):
        return _bag(embedding, weights, **inputs)
    return _sum(embedding(**inputs), weights)


def _weights(mask):
    """Weights of tokens (B, T), 0 for padding, or None if all count alike."""
    if mask is None:
        return None
    return mask.to(torch.float32) if mask.dtype == torch.bool else torch.exp(mask)


def _bag(embedding, weights, tokens, values=None):
    """Sum of each row's tokens, (B, d), without a vector for each, and how many there are."""
    table, size = embedding.presence.weight, (tokens > 0).sum(dim=1)
    options = {"mode": "sum", "padding_idx": 0}
    rows = F.embedding_bag(tokens, table, per_sample_weights=weights, **options)
    if embedding.value is not None:
        values = values if weights is None else values * weights
        table = embedding.value.weight
        rows = rows + F.embedding_bag(tokens, table, per_sample_weights=values, **options)
    return rows, size.to(rows.dtype)


def _sum(states, weights):
    """Sum of each row's token states (B, T, d), (B, d), and how many there are."""
    if weights is None:
        return states.sum(dim=1), states.new_full((len(states),), states.shape[1])
    weights = weights.to(states.dtype)
    rows = torch.bmm(weights[:, None], states)[:, 0]
    return rows, (weights > 0).sum(dim=1).to(states.dtype)
