"""Multi-head attention and the position-wise network, the two blocks of encoder and decoder.

Shapes are those of the legend in `sklearn_mrmp.nn`. Knows torch, dropout and plain products.
"""

import torch
from torch import nn
from torch.nn import functional as F

from sklearn_mrmp.nn.dropout import ByteDropout
from sklearn_mrmp.nn.products import (
    NEVER,
    added_to_scores,
    attend_by_products,
    products_pay,
    weights_on_tokens,
)

# Folding saves this many times what it costs in operations before it is worth its copies.
_FOLDING_GAIN = 1.6


class MultiHeadAttention(nn.Module):
    """Heads of ``softmax(Q Kᵀ / √d_k) V`` over the tokens of each row.

    One fused projection serves self-attention; queries that differ from the tokens use their part
    of it. A row without tokens attends to nothing and receives zeros, not NaN.

    Many queries on few tokens, as labels on a short row, are not projected at all: since
    ``(u W_q)(z W_k)ᵀ = u (z W_k W_qᵀ)ᵀ`` and ``P (z W_v) W_o = P (z W_v W_o)``, both projections
    can be folded into the few tokens. The function is the same within rounding.

    Parameters
    ----------
    d_model : int
        Width of queries, tokens and output.
    n_heads : int
        Number of heads; must divide `d_model`.

    Examples
    --------
    >>> import torch
    >>> attention = MultiHeadAttention(d_model=8, n_heads=2)
    >>> labels, tokens = torch.randn(5, 8), torch.randn(3, 4, 8)
    >>> attention(labels, tokens).shape    # the same 5 queries for each of 3 rows
    torch.Size([3, 5, 8])
    """

    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(
                f"d_model must be a multiple of n_heads, got d_model={d_model} and "
                f"n_heads={n_heads}."
            )
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.output = nn.Linear(d_model, d_model)
        # Three square projections, each initialised as one: a fused Xavier would be too small.
        for weight in self.qkv.weight.chunk(3):
            nn.init.xavier_uniform_(weight)
        nn.init.zeros_(self.qkv.bias)
        nn.init.xavier_uniform_(self.output.weight)
        nn.init.zeros_(self.output.bias)

    def forward(self, queries, tokens, mask=None, pairs=None):
        """Attend from `queries` to `tokens`.

        Parameters
        ----------
        queries : Tensor of shape (B, Q, d) or (Q, d)
            Without a batch dimension the queries are shared by all rows and projected once.
            ``queries is tokens`` is self-attention.
        tokens : Tensor of shape (B, T, d)
            Keys and values.
        mask : bool or float Tensor of shape (B, T), default=None
            True where there is a token, or what is added to the scores of each token, −inf where
            there is none; None when every position holds one.
        pairs : bool Tensor of shape (Q, T), default=None
            Which query may attend to which token, the same for all rows, as edges of a label graph
            say it for label-to-label attention; None is all.

        Returns
        -------
        Tensor of shape (B, Q, d)
        """
        d_model = tokens.shape[-1]
        if pairs is None and self._folding_pays(queries, tokens):
            return self._folded(queries, tokens, mask)
        if queries is tokens:
            own, fused = None, self.qkv(tokens)
            q, k, v = fused.chunk(3, dim=-1)
        else:
            weight, bias = self.qkv.weight, self.qkv.bias
            own = q = F.linear(queries, weight[:d_model], bias[:d_model])
            fused = F.linear(tokens, weight[d_model:], bias[d_model:])
            k, v = fused.chunk(2, dim=-1)
        if q.dim() == 2:
            q = q.expand(len(tokens), -1, -1)
        q, k, v = (self._split_heads(part) for part in (q, k, v))
        if pairs is None and products_pay(q, k):
            return self.output(attend_by_products(own, fused, mask, self.n_heads))
        attend = None if mask is None else _in_type_of(mask, q)[:, None, None, :]
        if pairs is not None:
            attend = _with_pairs(attend, pairs)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=attend)  # (B, H, Q, d/H)
        return self.output(out.transpose(1, 2).flatten(2))

    def _split_heads(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (B, H, ·, d/H)

    def _folding_pays(self, queries, tokens):
        """Compare Q projections and narrow products with T projections and H times wider ones."""
        n_queries, (n_tokens, d_model) = queries.shape[-2], tokens.shape[1:]
        saved = n_queries * (d_model - (self.n_heads - 1) * n_tokens)
        return saved > _FOLDING_GAIN * n_tokens * d_model

    def _folded(self, queries, tokens, mask):
        """Attend with the projections of queries and output folded into the tokens."""
        d_model = tokens.shape[-1]
        weight, bias = self.qkv.weight[d_model:], self.qkv.bias[d_model:]
        k, v = F.linear(tokens, weight, bias).chunk(2, dim=-1)
        k = k * (d_model // self.n_heads) ** -0.5
        score = self._shared_weights if queries.dim() == 2 else self._row_weights
        added = added_to_scores(mask, tokens)
        weights = score(queries, k, added)  # (B, Q, H T)
        if added is not None:
            v = v * (added > NEVER)[..., None]  # a row without tokens weighs its padding: zero
        output = self.output.weight.unflatten(1, (self.n_heads, -1)).permute(1, 2, 0)
        values = self._by_row(torch.bmm(self._by_head(v), output), len(tokens))  # (B, H T, d)
        return torch.baddbmm(self.output.bias, weights, values)

    def _row_weights(self, queries, k, added):
        """Weights of queries (B, Q, d) on scaled keys (B, T, d), as (B, Q, H T)."""
        (n_rows, n_tokens, d_model), k = k.shape, self._by_head(k)
        weight = self.qkv.weight[:d_model].unflatten(0, (self.n_heads, -1))  # (H, d/H, d)
        bias = self.qkv.bias[:d_model].unflatten(0, (self.n_heads, -1))[..., None]
        keys = self._by_row(torch.bmm(k, weight), n_rows)  # (B, H T, d)
        bias = torch.bmm(k, bias).view(self.n_heads, n_rows, n_tokens).transpose(0, 1)
        if added is not None:
            bias = bias + added[:, None]  # (B, H, T)
        return weights_on_tokens(queries, keys, bias.flatten(1), self.n_heads)

    def _shared_weights(self, queries, k, added):
        """Weights of shared queries (Q, d) on scaled keys (B, T, d), as (B, Q, H T)."""
        n_rows, n_tokens, d_model = k.shape
        q = F.linear(queries, self.qkv.weight[:d_model], self.qkv.bias[:d_model])
        q = q.unflatten(-1, (self.n_heads, -1)).permute(1, 2, 0)  # (H, d/H, Q)
        scores = torch.bmm(self._by_head(k), q).unflatten(1, (n_rows, n_tokens))  # (H, B, T, Q)
        if added is not None:
            scores = scores + added[None, ..., None]
        weights = torch.softmax(scores, dim=2).transpose(0, 1)
        return weights.flatten(1, 2).transpose(1, 2)

    def _by_head(self, x):
        """Map (B, T, d) to (H, B T, d/H)."""
        return x.unflatten(-1, (self.n_heads, -1)).permute(2, 0, 1, 3).flatten(1, 2)

    def _by_row(self, x, n_rows):
        """Map (H, B T, ·) to (B, H T, ·)."""
        return x.unflatten(1, (n_rows, -1)).transpose(0, 1).flatten(1, 2)


def _in_type_of(mask, x):
    """Return a bool mask as it is, and a float mask in the dtype of `x`."""
    return mask if mask.dtype == torch.bool else mask.to(x.dtype)


def _with_pairs(attend, pairs):
    """Combine what rows allow, (B, 1, 1, T) or None, with what pairs allow, (Q, T)."""
    if attend is None:
        return pairs
    if attend.dtype == torch.bool:
        return attend & pairs
    return attend.masked_fill(~pairs, float("-inf"))


class PositionwiseFeedForward(nn.Module):
    """``PFF(x) = max(0, x W_1 + b_1) W_2 + b_2``, the same for every position.

    Parameters
    ----------
    d_model : int
        Width of input and output.
    d_inner : int
        Width in between; the paper's d'.
    dropout : float, default=0.0
        Dropout on the inner activations.
    """

    def __init__(self, d_model, d_inner, dropout=0.0):
        super().__init__()
        self.expand = nn.Linear(d_model, d_inner)
        self.contract = nn.Linear(d_inner, d_model)
        self.dropout = ByteDropout(dropout)
        for linear in (self.expand, self.contract):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, x):
        """Map (..., d) to (..., d)."""
        return self.contract(self.dropout.after_relu(self.expand(x)))
