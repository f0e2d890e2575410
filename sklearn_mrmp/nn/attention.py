"""Multi-head attention and the position-wise network, the two blocks of encoder and decoder.

Shapes are those of the legend in `sklearn_mrmp.nn`. Knows torch, and the tricks of `_speed`.
"""

import torch
from torch import nn
from torch.nn import functional as F

from sklearn_mrmp.nn._speed.dropout import ByteDropout
from sklearn_mrmp.nn._speed.few_queries import are_few, attention_of_few
from sklearn_mrmp.nn._speed.folding import folded_attention, should_fold


class MultiHeadAttention(nn.Module):
    """Heads of ``softmax(Q Kᵀ / √d_k) V`` over the tokens of each row.

    One fused projection serves self-attention; queries that differ from the tokens use their part
    of it. A row without tokens attends to nothing and receives zeros, not NaN.

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
        if pairs is None and should_fold(queries, tokens, self.n_heads):
            return folded_attention(self.qkv, self.output, self.n_heads, queries, tokens, mask)
        if pairs is None and are_few(queries, tokens, self.n_heads):
            return attention_of_few(self.qkv, self.output, self.n_heads, queries, tokens, mask)
        q, k, v = (self._split_heads(part) for part in self._projected(queries, tokens))
        attend = None if mask is None else _in_type_of(mask, q)[:, None, None, :]
        if pairs is not None:
            attend = _with_pairs(attend, pairs)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=attend)  # (B, H, Q, d/H)
        return self.output(out.transpose(1, 2).flatten(2))

    def _projected(self, queries, tokens):
        """Return queries, keys and values, (B, ·, d); of one product if all are tokens."""
        if queries is tokens:
            return self.qkv(tokens).chunk(3, dim=-1)
        d_model = tokens.shape[-1]
        weight, bias = self.qkv.weight, self.qkv.bias
        q = F.linear(queries, weight[:d_model], bias[:d_model])
        if q.dim() == 2:
            q = q.expand(len(tokens), -1, -1)
        return q, *F.linear(tokens, weight[d_model:], bias[d_model:]).chunk(2, dim=-1)

    def _split_heads(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (B, H, ·, d/H)


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
