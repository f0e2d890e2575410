"""Attention of a few queries, the same for all rows, on many tokens, without projecting tokens.

Six labels that read the 300 columns of a row need no key and no value of each column: since
``q (z W_k)ᵀ = (q W_kᵀ) zᵀ`` and ``P (z W_v) = (P z) W_v``, the projections can be applied to the
queries and to the weighted means. The function is that of `MultiHeadAttention` within rounding.
Shapes are those of the legend in `sklearn_mrmp.nn`. Knows torch, and what a mask adds to scores.
"""

import torch
from torch.nn import functional as F

from sklearn_mrmp.nn._speed.folding import NEVER, added_to_scores

# It saves this many times what it costs in operations before it is worth its copies.
_GAIN = 1.5


def are_few(queries, tokens, n_heads):
    """Whether shared queries (Q, d) are so few that projecting tokens (B, T, d) costs more."""
    if queries.dim() != 2 or not len(tokens):
        return False
    n_queries, (n_tokens, d_model) = len(queries), tokens.shape[1:]
    projecting = n_tokens * (d_model + n_queries)
    return projecting > _GAIN * n_queries * (n_tokens * n_heads + d_model / 2)


def attention_of_few(qkv, output, n_heads, queries, tokens, mask=None):
    """Attend from shared `queries` to `tokens`.

    Parameters
    ----------
    qkv, output : nn.Linear
        Fused projection of queries, keys and values, (3 d, d), and that of the output, (d, d).
    n_heads : int
        Number of heads.
    queries : Tensor of shape (Q, d)
        The same for all rows.
    tokens : Tensor of shape (B, T, d)
        What keys and values are made of.
    mask : bool or float Tensor of shape (B, T), default=None
        As for `MultiHeadAttention`.

    Returns
    -------
    Tensor of shape (B, Q, d)
    """
    (n_queries, d_model), by_head = queries.shape, (n_heads, -1)
    # A key's bias adds the same to the scores of all tokens, which the softmax does not see.
    q = F.linear(queries, qkv.weight[:d_model], qkv.bias[:d_model]).unflatten(-1, by_head)
    W_k = qkv.weight[d_model : 2 * d_model].unflatten(0, by_head)  # (H, d/H, d)
    q = torch.bmm(q.transpose(0, 1), W_k).flatten(0, 1)  # (H Q, d)
    scores = F.linear(tokens, q * (d_model // n_heads) ** -0.5).transpose(1, 2)  # (B, H Q, T)
    added = added_to_scores(mask, tokens)
    if added is not None:
        scores = scores + added[:, None]
    weights = torch.softmax(scores, dim=-1)
    means = torch.bmm(weights, tokens).unflatten(1, (n_heads, n_queries))  # (B, H, Q, d)
    W_v = qkv.weight[2 * d_model :].unflatten(0, by_head)  # (H, d/H, d)
    values = torch.einsum("bhqd,hed->bqhe", means, W_v).flatten(2)  # (B, Q, d)
    values = values + qkv.bias[2 * d_model :]
    if added is not None:  # a row without tokens attends to nothing
        values = values * (added > NEVER).any(dim=1)[:, None, None]
    return output(values)
