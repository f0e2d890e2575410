"""The label-feature decoder: labels attend to each encoder layer and vote.

PAPER section 1, "Decoder, label-feature module". Knows attention and torch.
"""

from torch import nn

from sklearn_mrmp.nn._speed.dropout import ByteDropout
from sklearn_mrmp.nn.attention import MultiHeadAttention, PositionwiseFeedForward


class DecoderLayer(nn.Module):
    """``m = u + MHA(u, z)``, ``u' = m + PFF(m)``.

    Parameters
    ----------
    d_model, n_heads, d_inner : int
        Width, heads, inner width.
    dropout : float, default=0.0
        Dropout on the two residual branches.
    norm : bool, default=False
        Layer norm on the input of each branch. The paper has none.
    """

    def __init__(self, d_model, n_heads, d_inner, dropout=0.0, norm=False):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.feed_forward = PositionwiseFeedForward(d_model, d_inner, dropout)
        self.attention_norm = nn.LayerNorm(d_model) if norm else nn.Identity()
        self.feed_forward_norm = nn.LayerNorm(d_model) if norm else nn.Identity()
        self.dropout = ByteDropout(dropout)

    def forward(self, u, z, mask=None):
        """Update label states.

        Parameters
        ----------
        u : Tensor of shape (B, L, d) or (L, d)
            Label states; without a batch dimension they are the same for every row.
        z : Tensor of shape (B, T, d)
            Token states of one encoder layer.
        mask : bool or float Tensor of shape (B, T), default=None
            True where there is a token, or what attention adds to its scores.

        Returns
        -------
        Tensor of shape (B, L, d)
        """
        m = u + self.dropout(self.attention(self.attention_norm(u), z, mask))
        return m + self.dropout(self.feed_forward(self.feed_forward_norm(m)))


class LabelFeatureDecoder(nn.Module):
    """Decoder layers that read the encoder's layers one after another.

    Layer l of D reads encoder layer l of E when D = E, as in the paper; with fewer decoder layers
    the deepest D encoder layers are read, with more the deepest one is read again.

    Parameters
    ----------
    n_layers : int
        Number of decoder layers, D.
    d_model, n_heads, d_inner : int
        Width, heads, inner width.
    dropout : float, default=0.0
        Dropout on the residual branches.
    norm : bool, default=False
        Layer norm on the input of each branch.
    """

    def __init__(self, n_layers, d_model, n_heads, d_inner, dropout=0.0, norm=False):
        super().__init__()
        self.layers = nn.ModuleList(
            DecoderLayer(d_model, n_heads, d_inner, dropout, norm) for _ in range(n_layers)
        )

    def forward(self, u, encoder_states, mask=None):
        """Decode labels against the encoder's layers.

        Parameters
        ----------
        u : Tensor of shape (L, d)
            Label embeddings, u^0.
        encoder_states : list of Tensor of shape (B, T, d)
            z^1 … z^E.
        mask : bool or float Tensor of shape (B, T), default=None
            True where there is a token, or what attention adds to its scores.

        Returns
        -------
        list of Tensor of shape (B, L, d)
            U^1 … U^D.
        """
        states = []
        for layer, z in zip(self.layers, self._sources(encoder_states), strict=True):
            u = layer(u, z, mask)
            states.append(u)
        return states

    def _sources(self, encoder_states):
        missing = len(self.layers) - len(encoder_states)
        if missing > 0:
            return encoder_states + encoder_states[-1:] * missing
        return encoder_states[-len(self.layers) :]
