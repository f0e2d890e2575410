"""Rows as token states: one module for each kind of input; and as sums of tokens.

An input kind describes its module as a mapping with the entry ``"kind"``; to add one, write its
module here or in a file of its own and add it to `EMBEDDINGS`. PAPER section 1, "Encoder". Leaf
module: torch alone.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

from sklearn_mrmp.nn.transformer_embedding import TransformerEmbedding

# Standard deviation of fresh token embeddings. A layer norm follows, so the scale matters only
# relative to the optimiser's steps: a rare token takes few of them, and at unit scale it would
# stay what it was drawn as (Bibtex, width 64, 8 epochs, held-out micro-averaged average
# precision: .386 at 1, .456 at 0.1, .477 at 0.03).
_EMBEDDING_SCALE = 0.03
# Of the hidden layer that reads vectors.
_HIDDEN_DROPOUT = 0.3


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


class StateEmbedding(nn.Module):
    """Vectors of tokens, such as a pretrained encoder's states, in the network's width.

    Parameters
    ----------
    width : int
        Width of the vectors.
    d_model : int
        Width of the network.
    trained : Tensor, default=None
        Has no meaning here.
    """

    def __init__(self, width, d_model, *, trained=None):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.projection = nn.Linear(width, d_model)

    def forward(self, states):
        """Project vectors (B, T, width), of any precision, to (B, T, d)."""
        return self.projection(self.norm(states.to(self.projection.weight.dtype)))


class VectorEmbedding(nn.Module):
    """One vector a row as its first token, with the tokens of other columns behind it.

    The vector goes through one hidden layer. Several tokens made of one vector did not pay: labels
    that attend to 4 or 16 projections overfit (Emotions, network alone, held-out micro-averaged
    average precision .688 and .683 against .706 with one).

    Parameters
    ----------
    width : int
        Width of the vectors.
    d_model : int
        Width of the network.
    tokens : mapping, default=None
        Arguments of the `TokenEmbedding` of the other columns; None if there are none.
    trained : bool Tensor of shape (n_tokens,), default=None
        Other columns that training rows contain.
    """

    def __init__(self, width, d_model, *, tokens=None, trained=None):
        super().__init__()
        self.projection = nn.Sequential(
            nn.Linear(width, 2 * d_model),
            nn.GELU(),
            nn.Dropout(_HIDDEN_DROPOUT),
            nn.Linear(2 * d_model, d_model),
        )
        self.tokens = None
        if tokens is not None:
            self.tokens = TokenEmbedding(d_model=d_model, trained=trained, **tokens)

    def forward(self, vectors, tokens=None, values=None):
        """Embed vectors (B, width) and other tokens (B, T) as (B, 1 + T, d)."""
        x = self.projection(vectors)[:, None]  # (B, 1, d)
        if self.tokens is None:
            return x
        return torch.cat([x, self.tokens(tokens, values)], dim=1)


EMBEDDINGS = {
    "tokens": TokenEmbedding,
    "states": StateEmbedding,
    "vectors": VectorEmbedding,
    "transformer": TransformerEmbedding,
}


def make_embedding(description, d_model, trained=None):
    """Make the module that turns a batch into token states (B, T, d).

    Parameters
    ----------
    description : mapping
        ``"kind"``, a name of `EMBEDDINGS`, and the arguments of that module.
    d_model : int
        Width.
    trained : bool Tensor of shape (n_tokens,), default=None
        Tokens that training rows contain.

    Examples
    --------
    >>> make_embedding({"kind": "tokens", "n_tokens": 5}, d_model=8)(torch.tensor([[1, 5]])).shape
    torch.Size([1, 2, 8])
    """
    arguments = dict(description)
    return EMBEDDINGS[arguments.pop("kind")](d_model=d_model, trained=trained, **arguments)


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
