"""Messages from labels that are told of a row to the labels linked with them, row by row.

The label-relation module passes messages between all labels, and its V^T is the same for all rows.
Here only the told labels of a row send, and what they send depends on what is told: a label that is
there sends other messages than one that is not, and a label of which nothing is told sends none.
Not in the paper. Knows the label-relation module, relation operators and torch.
"""

import torch
from torch import nn
from torch.nn import functional as F

from sklearn_mrmp.nn.compgcn import neighbourhoods
from sklearn_mrmp.nn.relations import RelationPart

# Width of messages, h. Four times as wide ones were worse, and L × L products grow with it.
_WIDTH = 16


class ToldMessages(nn.Module):
    """What told labels add to the label queries of their row.

    ``W (g_i ⊙ Σ_r Σ_{j told, j ∈ N_r(i)} A_r[i, j] (W_r^s v_j + e_j^s))``, where s is the state of
    label j, present or absent, e_j^s the embedding of that state, and g_i says what label i listens
    to. Label i is no neighbour of itself: nobody reads what is told of itself. Where no neighbour
    is told, nothing is added.

    Parameters
    ----------
    n_labels, d_model : int
        Number of labels, L, and width, d.
    relations : mapping of str to Tensor of shape (L, L), default=None
        Adjacency of each named relation, dense or sparse. Messages flow along edges of either
        direction; where a relation is directed the inverse edges have a weight of their own.

    Examples
    --------
    >>> import torch
    >>> messages = ToldMessages(3, 4, {"pulling": torch.tensor([[0, 1, 0], [1, 0, 0], [0, 0, 0]])})
    >>> told = torch.tensor([[1.0, 0.0, 0.0]])    # a row is told to have the first label
    >>> messages(torch.randn(3, 4), told).shape
    torch.Size([1, 3, 4])
    """

    def __init__(self, n_labels, d_model, relations=None):
        super().__init__()
        self.operators = nn.ModuleList(
            operator
            for adjacency in (relations or {}).values()
            for operator in neighbourhoods(adjacency, "sum", with_itself=False)
        )
        self.transforms = nn.ModuleList(
            nn.Linear(d_model, 2 * _WIDTH, bias=False) for _ in self.operators
        )
        self.states = nn.Parameter(0.1 * torch.randn(n_labels, 2 * _WIDTH))
        self.gates = nn.Parameter(1.0 + torch.randn(n_labels, _WIDTH))
        self.output = nn.Linear(_WIDTH, d_model, bias=False)
        for transform in self.transforms:
            nn.init.xavier_uniform_(transform.weight)
        nn.init.zeros_(self.output.weight)  # training starts with a network that does not listen

    def forward(self, v, told, candidates=None):
        """Compute what is added to u^0.

        Parameters
        ----------
        v : Tensor of shape (L, d)
            V^T.
        told : Tensor of shape (B, L)
            1 for a label that is told to be there, -1 for one that is told not to be, else 0.
        candidates : int64 Tensor of shape (B, k), default=None
            Labels to decode for each row; None is all.

        Returns
        -------
        Tensor of shape (B, L, d) or (B, k, d)
        """
        gates = self.gates if candidates is None else F.embedding(candidates, self.gates)
        received = torch.zeros_like(gates)  # (L, h) or (B, k, h)
        for operator, transform in zip(self.operators, self.transforms, strict=True):
            present, absent = (transform(v) + self.states).chunk(2, dim=1)  # (L, h) each
            if candidates is None:
                received = received + _to_all(operator, present, absent, told)
            else:
                received = received + _to_some(operator, present, absent, told, candidates)
        return self.output(gates * received)


def _to_all(operator, present, absent, told):
    """Sum over the told neighbours of all labels, (B, L, h): one product for all rows."""
    signs = told.T[:, :, None]  # (L, B, 1)
    sent = signs.clamp(min=0) * present[:, None] - signs.clamp(max=0) * absent[:, None]
    received = operator(sent.flatten(1))  # (L, B · h)
    return received.view(sent.shape).transpose(0, 1)


def _to_some(operator, present, absent, told, candidates):
    """Sum over the told neighbours of candidates, (B, k, h); no other row of A is looked at."""
    n_rows, k = candidates.shape
    part = operator.rows(candidates.flatten())
    places = torch.arange(n_rows * k, device=told.device).repeat_interleave(part.counts)
    signs = told[places // k, part.columns]
    is_told = signs != 0
    senders = part.columns + len(present) * (signs < 0)  # the absent ones are behind the present
    counts = torch.bincount(places[is_told], minlength=n_rows * k)
    part = RelationPart(counts, senders[is_told], part.weights[is_told])
    return part(torch.cat([present, absent])).view(n_rows, k, -1)
