"""The encoder: self-attention over token states, of which every layer is kept.

PAPER section 1, "Encoder". Knows attention and torch.
"""

from torch import nn

from sklearn_mrmp.nn._speed.dropout import ByteDropout
from sklearn_mrmp.nn.attention import MultiHeadAttention, PositionwiseFeedForward


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
