"""The encoder: tokens with values or positions, and self-attention that keeps every layer.

PAPER section 1, "Encoder". Knows attention and torch.
"""

import math

import torch
from torch import nn

from sklearn_mrmp.nn.attention import MultiHeadAttention, PositionwiseFeedForward
from sklearn_mrmp.nn.dropout import ByteDropout

# Standard deviation of fresh token embeddings. A layer norm follows, so the scale matters only
# relative to the optimiser's steps: a rare token takes few of them, and at unit scale it would
# stay what it was drawn as (Bibtex, width 64, 8 epochs, held-out micro-averaged average
# precision: .386 at 1, .456 at 0.1, .477 at 0.03).
_EMBEDDING_SCALE = 0.03


def sinusoidal_positions(n_positions, d_model, device=None):
    """Sinusoidal position codes of Vaswani et al. (2017).

    Parameters
    ----------
    n_positions : int
        Number of positions.
    d_model : int
        Width.
    device : torch.device, default=None
        Where to make them.

    Returns
    -------
    Tensor of shape (n_positions, d_model)
        Sines in the even columns, cosines in the odd ones.
    """
    position = torch.arange(n_positions, device=device, dtype=torch.float32)[:, None]
    even = torch.arange(0, d_model, 2, device=device, dtype=torch.float32)
    angle = position * torch.exp(even * (-math.log(10_000.0) / d_model))
    codes = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
    return codes[:, :d_model]


class TokenEmbedding(nn.Module):
    """Token ids, and what their values say, as vectors.

    A token ``j`` with standardised value ``t`` becomes ``E_j + t D_j``: a feature that is only
    present or absent has ``t = 0`` and is its plain embedding. Sequences carry no values but
    positions.

    Parameters
    ----------
    n_tokens : int
        Number of distinct tokens; ids run from 1 to `n_tokens`, 0 is padding.
    d_model : int
        Width.
    values : bool, default=False
        Whether tokens carry values.
    positions : bool, default=False
        Whether the order of the tokens means something.
    trained : bool Tensor of shape (n_tokens,), default=None
        False for tokens that training rows do not contain: they stay at zero instead of adding
        noise to rows that have them later.
    """

    def __init__(self, n_tokens, d_model, *, values=False, positions=False, trained=None):
        super().__init__()
        self.presence = nn.Embedding(n_tokens + 1, d_model, padding_idx=0)
        self.value = nn.Embedding(n_tokens + 1, d_model, padding_idx=0) if values else None
        self.positions = positions
        for table in (self.presence, self.value):
            if table is not None:
                _init_table(table.weight, trained)

    def forward(self, tokens, values=None):
        """Embed ids (B, T) and standardised values (B, T) as (B, T, d)."""
        x = self.presence(tokens)
        if self.value is not None:
            x = x + self.value(tokens) * values[..., None]
        if self.positions:
            # As large as fresh embeddings, so that neither drowns the other.
            x = x + _EMBEDDING_SCALE * sinusoidal_positions(x.shape[1], x.shape[2], x.device)
        return x


def _init_table(weight, trained):
    """Start an embedding table; padding and tokens that training never sees are zero."""
    nn.init.normal_(weight, std=_EMBEDDING_SCALE)
    with torch.no_grad():
        weight[0] = 0.0  # an initialiser overwrites padding_idx's zero row
        if trained is not None:
            weight[1:][~trained] = 0.0


class EncoderLayer(nn.Module):
    """Self-attention and feed-forward, each with residual, dropout and layer norm.

    Parameters
    ----------
    d_model, n_heads, d_inner : int
        Width, heads, inner width.
    dropout : float, default=0.0
        Dropout on the two residual branches.
    """

    def __init__(self, d_model, n_heads, d_inner, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.feed_forward = PositionwiseFeedForward(d_model, d_inner, dropout)
        self.attention_norm = nn.LayerNorm(d_model)
        self.feed_forward_norm = nn.LayerNorm(d_model)
        self.dropout = ByteDropout(dropout)

    def forward(self, z, mask=None):
        """Map token states (B, T, d) to (B, T, d)."""
        z = self.attention_norm(z + self.dropout(self.attention(z, z, mask)))
        return self.feed_forward_norm(z + self.dropout(self.feed_forward(z)))


class Encoder(nn.Module):
    """A stack of encoder layers that returns what each of them saw.

    Parameters
    ----------
    n_layers : int
        Number of layers; with 0 the decoder reads the embeddings themselves.
    d_model, n_heads, d_inner : int
        Width, heads, inner width.
    dropout : float, default=0.0
        Dropout on embeddings and residual branches.
    """

    def __init__(self, n_layers, d_model, n_heads, d_inner, dropout=0.0):
        super().__init__()
        self.embedding_norm = nn.LayerNorm(d_model)
        self.dropout = ByteDropout(dropout)
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, n_heads, d_inner, dropout) for _ in range(n_layers)
        )

    def forward(self, x, mask=None):
        """Encode embeddings (B, T, d).

        Returns
        -------
        list of Tensor of shape (B, T, d)
            z^1 … z^E, one per layer (the embeddings themselves without layers).
        """
        z = self.dropout(self.embedding_norm(x))
        states = []
        for layer in self.layers:
            z = layer(z, mask)
            states.append(z)
        return states or [z]
