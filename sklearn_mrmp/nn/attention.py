"""Multi-head attention and the position-wise network, the two blocks of encoder and decoder.

Shapes are those of the legend in `sklearn_mrmp.nn`. Knows torch and dropout.
"""

import torch
from torch import nn
from torch.nn import functional as F

from sklearn_mrmp.nn.dropout import ByteDropout


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

    def forward(self, queries, tokens, mask=None):
        """Attend from `queries` to `tokens`.

        Parameters
        ----------
        queries : Tensor of shape (B, Q, d) or (Q, d)
            Without a batch dimension the queries are shared by all rows and projected once.
            ``queries is tokens`` is self-attention.
        tokens : Tensor of shape (B, T, d)
            Keys and values.
        mask : bool Tensor of shape (B, T), default=None
            True where there is a token; None when every position holds one.

        Returns
        -------
        Tensor of shape (B, Q, d)
        """
        d_model = tokens.shape[-1]
        if queries is tokens:
            q, k, v = self.qkv(tokens).chunk(3, dim=-1)
        else:
            weight, bias = self.qkv.weight, self.qkv.bias
            q = F.linear(queries, weight[:d_model], bias[:d_model])
            k, v = F.linear(tokens, weight[d_model:], bias[d_model:]).chunk(2, dim=-1)
        if q.dim() == 2:
            q = q.expand(len(tokens), -1, -1)
        q, k, v = (self._split_heads(part) for part in (q, k, v))
        attend = None if mask is None else mask[:, None, None, :]
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=attend)  # (B, H, Q, d/H)
        return self.output(out.transpose(1, 2).flatten(2))

    def _split_heads(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (B, H, ·, d/H)


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
        return self.contract(self.dropout(torch.relu(self.expand(x))))
