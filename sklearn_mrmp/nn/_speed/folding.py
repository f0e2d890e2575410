"""Attention of many queries on few tokens, as labels on a short row, without projecting queries.

Since ``(u W_q)(z W_k)ᵀ = u (z W_k W_qᵀ)ᵀ`` and ``P (z W_v) W_o = P (z W_v W_o)``, the projections
of queries and output can be folded into the few tokens. The function is that of
`MultiHeadAttention` within rounding. Shapes are those of the legend in `sklearn_mrmp.nn`. Leaf
module: torch alone.
"""

import torch
from torch.nn import functional as F

# Folding saves this many times what it costs in operations before it is worth its copies.
_GAIN = 1.6
# Score of padding: its weight is exactly zero beside any token's, in half precision, too.
NEVER = -3e4
# Rows with fewer tokens are short: along so few numbers torch's softmax takes one at a time.
_SHORT = 16


def should_fold(queries, tokens, n_heads):
    """Compare Q projections and narrow products with T projections and H times wider ones."""
    n_queries, (n_tokens, d_model) = queries.shape[-2], tokens.shape[1:]
    saved = n_queries * (d_model - (n_heads - 1) * n_tokens)
    return len(tokens) > 0 and saved > _GAIN * n_tokens * d_model


def folded_attention(qkv, output, n_heads, queries, tokens, mask=None):
    """Attend from `queries` to `tokens`.

    Parameters
    ----------
    qkv, output : nn.Linear
        Fused projection of queries, keys and values, (3 d, d), and that of the output, (d, d).
    n_heads : int
        Number of heads.
    queries : Tensor of shape (B, Q, d) or (Q, d)
        Without a batch dimension they are shared by all rows.
    tokens : Tensor of shape (B, T, d)
        Keys and values.
    mask : bool or float Tensor of shape (B, T), default=None
        As for `MultiHeadAttention`.

    Returns
    -------
    Tensor of shape (B, Q, d)
    """
    d_model = tokens.shape[-1]
    k, v = F.linear(tokens, qkv.weight[d_model:], qkv.bias[d_model:]).chunk(2, dim=-1)
    k = k * (d_model // n_heads) ** -0.5
    weigh = _shared_weights if queries.dim() == 2 else _row_weights
    added = added_to_scores(mask, tokens)
    weights = weigh(qkv, n_heads, queries, k, added)  # (B, Q, H T)
    if added is not None:
        v = v * (added > NEVER)[..., None]  # a row without tokens weighs its padding: zero
    projection = output.weight.unflatten(1, (n_heads, -1)).permute(1, 2, 0)
    values = _by_row(torch.bmm(_by_head(v, n_heads), projection), len(tokens))  # (B, H T, d)
    return torch.baddbmm(output.bias, weights, values)


def added_to_scores(mask, x):
    """Turn a mask into what it adds to scores, finite and in the dtype of `x`, (B, T) or None."""
    if mask is None:
        return None
    if mask.dtype == torch.bool:
        return x.new_zeros(mask.shape).masked_fill_(~mask, NEVER)
    return mask.to(x.dtype).clamp(min=NEVER)


def _row_weights(qkv, n_heads, queries, k, added):
    """Weights of queries (B, Q, d) on scaled keys (B, T, d), as (B, Q, H T)."""
    (n_rows, n_tokens, d_model), k = k.shape, _by_head(k, n_heads)
    weight = qkv.weight[:d_model].unflatten(0, (n_heads, -1))  # (H, d/H, d)
    bias = qkv.bias[:d_model].unflatten(0, (n_heads, -1))[..., None]
    keys = _by_row(torch.bmm(k, weight), n_rows)  # (B, H T, d)
    bias = torch.bmm(k, bias).view(n_heads, n_rows, n_tokens).transpose(0, 1)
    if added is not None:
        bias = bias + added[:, None]  # (B, H, T)
    return _softmax_of_scores(queries, keys, bias.flatten(1), n_heads)


def _softmax_of_scores(queries, keys, added, n_heads):
    """Softmax over each head's T of ``queries keysᵀ + added``: (B, Q, H T).

    Scores of short rows are laid out by token and then by query, so that the softmax works on
    several queries at a time.
    """
    n_tokens = keys.shape[1] // n_heads
    if n_tokens < _SHORT:
        scores = torch.baddbmm(added[:, :, None], keys, queries.transpose(1, 2))
        weights = torch.softmax(scores.unflatten(1, (n_heads, n_tokens)), dim=2)
        return weights.flatten(1, 2).transpose(1, 2)
    scores = torch.baddbmm(added[:, None], queries, keys.transpose(1, 2))
    return torch.softmax(scores.unflatten(-1, (n_heads, n_tokens)), dim=-1).flatten(2)


def _shared_weights(qkv, n_heads, queries, k, added):
    """Weights of shared queries (Q, d) on scaled keys (B, T, d), as (B, Q, H T)."""
    n_rows, n_tokens, d_model = k.shape
    q = F.linear(queries, qkv.weight[:d_model], qkv.bias[:d_model])
    q = q.unflatten(-1, (n_heads, -1)).permute(1, 2, 0)  # (H, d/H, Q)
    scores = torch.bmm(_by_head(k, n_heads), q).unflatten(1, (n_rows, n_tokens))  # (H, B, T, Q)
    if added is not None:
        scores = scores + added[None, ..., None]
    weights = torch.softmax(scores, dim=2).transpose(0, 1)
    return weights.flatten(1, 2).transpose(1, 2)


def _by_head(x, n_heads):
    """Map (B, T, d) to (H, B T, d/H)."""
    return x.unflatten(-1, (n_heads, -1)).permute(2, 0, 1, 3).flatten(1, 2)


def _by_row(x, n_rows):
    """Map (H, B T, ·) to (B, H T, ·)."""
    return x.unflatten(1, (n_rows, -1)).transpose(0, 1).flatten(1, 2)
