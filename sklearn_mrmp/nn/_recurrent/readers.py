"""What a recurrent decoder reads of rows: their mean, or the token that matters at each step.

A reader is called with the embedding, the mask and the inputs of a batch and returns the decoder's
first state (B, d_inner) and a memory; of that, `context` takes what the decoder sees in a step.
Shapes are those of the legend in `sklearn_mrmp.nn`; besides, N is a number of sequences.
Knows the other modules of `sklearn_mrmp.nn` and torch.
"""

import torch
from torch import nn

from sklearn_mrmp.nn._speed.dropout import ByteDropout
from sklearn_mrmp.nn.embedding import summed_tokens


class MeanReader(nn.Module):
    """The mean of a row's tokens, the same in all steps.

    Parameters
    ----------
    d_model, d_inner : int
        Width of tokens, and of the decoder's state.
    literal : bool
        Whether means are read as they are; else they are normalised.
    """

    attends = False

    def __init__(self, d_model, d_inner, literal):
        super().__init__()
        self.d_context = d_model
        self.norm = None if literal else nn.LayerNorm(d_model)
        self.start = nn.Linear(d_model, d_inner)

    def forward(self, embedding, mask, inputs):
        """Return the first state (B, d_inner) and the mean (B, d)."""
        rows, sizes = summed_tokens(embedding, mask, inputs)
        sizes = sizes.clamp(min=1.0)[:, None]
        # A layer norm makes the same of both, unless long rows have means close to zero.
        mean = rows / sizes if self.norm is None else self.norm(rows * sizes.rsqrt())
        return torch.tanh(self.start(mean)), mean

    def context(self, memory, states, rows=None):
        """Return the means (N, d) of the sequences' rows (N,), whatever the states are."""
        return memory if rows is None else memory[rows]


class AttendingReader(nn.Module):
    """Token states of two recurrent layers, one per direction, which the decoder attends to.

    Parameters
    ----------
    d_model, d_inner : int
        Width of tokens and of each direction's states, and of the decoder's state.
    dropout : float
        Dropout of the token states.
    """

    attends = True

    def __init__(self, d_model, d_inner, dropout):
        super().__init__()
        self.d_context = 2 * d_model
        self.forth, self.back = (
            start_recurrent(nn.GRU(d_model, d_model, batch_first=True)) for _ in range(2)
        )
        self.start = nn.Linear(2 * d_model, d_inner)
        self.keys = nn.Linear(2 * d_model, d_inner)
        self.query = nn.Linear(d_inner, d_inner, bias=False)
        self.score = nn.Linear(d_inner, 1, bias=False)
        self.dropout = ByteDropout(dropout)

    def forward(self, embedding, mask, inputs):
        """Return the first state (B, d_inner); token states, their keys and the mask."""
        x = embedding(**inputs)  # (B, T, d)
        n_tokens = torch.arange(x.shape[1], device=x.device)
        if mask is None:
            mask = x.new_zeros(x.shape[:2])
        elif mask.dtype == torch.bool:
            mask = x.new_zeros(mask.shape).masked_fill(~mask, -torch.inf)
        real = mask > -torch.inf
        lengths = real.sum(dim=1, keepdim=True)  # (B, 1)
        # Padding stays behind the tokens in both directions, so that no state has seen it.
        turned = torch.where(real, lengths - 1 - n_tokens, n_tokens)[:, :, None]
        forth, _ = self.forth(x)
        back, _ = self.back(torch.take_along_dim(x, turned, dim=1))
        last = (lengths - 1).clamp(min=0)[:, :, None]
        ends = [torch.take_along_dim(states, last, dim=1)[:, 0] for states in (forth, back)]
        ends = torch.cat(ends, dim=1) * (lengths > 0)
        states = torch.cat([forth, torch.take_along_dim(back, turned, dim=1)], dim=2)
        states = self.dropout(states * real[:, :, None])
        # In a row without tokens all places count alike, and are zero.
        mask = mask.masked_fill(lengths == 0, 0.0)
        return torch.tanh(self.start(ends)), (states, self.keys(states), mask)

    def context(self, memory, states, rows=None):
        """Return what states (N, d_inner) attend to in their rows (N,), (N, 2 d)."""
        values, keys, mask = memory if rows is None else (part[rows] for part in memory)
        sums = torch.tanh(self.query(states)[:, None] + keys)  # (N, T, d_inner)
        scores = self.score(sums)[:, :, 0] + mask
        return torch.bmm(torch.softmax(scores, dim=1)[:, None], values)[:, 0]


def start_recurrent(gru):
    """Start a recurrent layer as the publication does, and return it.

    Parameters
    ----------
    gru : nn.GRU
        Of one layer: Xavier's scale for the input's weights, an orthogonal map for each gate.
    """
    nn.init.zeros_(gru.bias_ih_l0)
    nn.init.zeros_(gru.bias_hh_l0)
    with torch.no_grad():
        for gate in gru.weight_ih_l0.chunk(3):
            nn.init.xavier_uniform_(gate)
        for gate in gru.weight_hh_l0.chunk(3):
            nn.init.orthogonal_(gate)
    return gru
