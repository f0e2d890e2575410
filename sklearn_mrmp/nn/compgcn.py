"""Messages over the label graph: the label-relation module, and what told labels of a row send.

PAPER section 1, "Decoder, label-relation module": messages between all labels, whose outcome V^T is
the same for all rows. The paper has no told labels: of these only the told ones of a row send, and
what they send depends on what is told. Knows relation operators and torch.
"""

from dataclasses import dataclass, replace

import torch
from torch import nn
from torch.nn import functional as F

from sklearn_mrmp.nn.relations import RelationPart, neighbourhoods

PULLING, PUSHING = "pulling", "pushing"

# Width of the messages of told labels, h. Four times as wide ones were worse.
_WIDTH = 16
_COMPOSITIONS = {"sum": torch.add, "sub": torch.sub, "mult": torch.mul}


class CompGCNLayer(nn.Module):
    """One round of messages: ``f(Σ_r Σ_{j ∈ N_r(i)} W_r φ(v_j, z_r))``, f = ReLU.

    Parameters
    ----------
    d_model : int
        Width of labels and relations.
    degrees : sequence of float
        Mean total edge weight of each neighbourhood, which has its own weight W. W starts that
        much smaller, so that a sum over many neighbours starts at the scale of one.
    composition : {"sum", "sub", "mult"}, default="sum"
        The composition φ of the *neighbour's* vector and the relation's.
    """

    def __init__(self, d_model, degrees, composition="sum"):
        super().__init__()
        self.compose = _COMPOSITIONS[composition]
        self.transforms = nn.ModuleList(nn.Linear(d_model, d_model, bias=False) for _ in degrees)
        for transform, degree in zip(self.transforms, degrees, strict=True):
            nn.init.xavier_uniform_(transform.weight, gain=1.0 / max(degree, 1.0))

    def forward(self, v, z, operators):
        """Pass messages.

        Parameters
        ----------
        v : Tensor of shape (L, d)
            Vectors of the labels that send.
        z : list of Tensor of shape (d,)
            The relation vector of each neighbourhood.
        operators : list of RelationOperator or RelationPart
            Row i of an operator sums over the neighbours of label i.

        Returns
        -------
        Tensor of shape (L, d), or (n_rows, d) with parts
        """
        # Σ_j W φ(v_j, z) = W Σ_j φ(v_j, z): summing first transforms each label once.
        parts = zip(self.transforms, operators, z, strict=True)
        return torch.relu(
            sum(transform(gather(self.compose(v, z_r))) for transform, gather, z_r in parts)
        )


@dataclass(frozen=True, eq=False)
class LabelPart:
    """V^T of some labels.

    Attributes
    ----------
    labels : int64 Tensor of shape (n,)
        Their numbers, rising.
    vectors : Tensor of shape (n, d)
        Their embeddings.
    """

    labels: torch.Tensor
    vectors: torch.Tensor

    def to(self, *args, **kwargs):
        """Move both, as `Tensor.to` does."""
        return LabelPart(self.labels.to(*args, **kwargs), self.vectors.to(*args, **kwargs))


class LabelRelationModule(nn.Module):
    """Label embeddings that know their neighbours: V^T from V^0, z and the relation graphs.

    Parameters
    ----------
    n_labels : int
        Number of labels, L.
    d_model : int
        Width.
    relations : mapping of str to Tensor of shape (L, L), default=None
        Adjacency of each named relation, dense or sparse; entry [i, j] is the weight of the edge
        from label i to label j. With both ``"pulling"`` and ``"pushing"`` their vectors are tied,
        z_− = −z_+. None or empty: no message passing, V^T = V^0 (the paper's ablation).
    n_layers : int, default=2
        Rounds of message passing.
    composition : {"sum", "sub", "mult"}, default="sum"
        The composition φ.
    aggregation : {"sum", "mean"}, default="sum"
        ``"sum"`` adds a neighbourhood's messages as the paper prints it; ``"mean"`` divides by its
        total weight, so that hubs do not grow without bound.
    residual : bool, default=False
        Add V^0 to the output. A label with many neighbours is a small part of its own
        neighbourhood; the residual keeps it distinguishable.

    Notes
    -----
    N_r(i) holds the neighbours over original and inverse edges and i itself, under one weight W_r,
    as in the paper. Where a relation is directed (or its two directions differ in strength) the
    inverse edges have a weight of their own, as in CompGCN, or the direction would be lost.
    """

    def __init__(
        self,
        n_labels,
        d_model,
        relations=None,
        *,
        n_layers=2,
        composition="sum",
        aggregation="sum",
        residual=False,
    ):
        super().__init__()
        relations = dict(relations or {})
        self.relation_names = tuple(relations)
        self.residual = residual and bool(relations)
        self.label_embedding = nn.Parameter(torch.empty(n_labels, d_model))
        nn.init.xavier_normal_(self.label_embedding)
        self.operators = nn.ModuleList()
        self.relation_of = []  # index of the relation each operator belongs to
        for index, adjacency in enumerate(relations.values()):
            for operator in neighbourhoods(adjacency, aggregation):
                self.operators.append(operator)
                self.relation_of.append(index)
        degrees = [operator.mean_total for operator in self.operators]
        self.layers = nn.ModuleList(
            CompGCNLayer(d_model, degrees, composition) for _ in range(n_layers if relations else 0)
        )
        self._init_relation_vectors(d_model)

    def _init_relation_vectors(self, d_model):
        """z^0, and one W_rel between each layer and the next (none behind the last)."""
        names = self.relation_names
        self.tied = PULLING in names and PUSHING in names
        self.relation_embedding = None
        if names:
            self.relation_embedding = nn.Parameter(torch.empty(len(names) - self.tied, d_model))
            # Like one more label: same scale, so that φ mixes two vectors of equal weight.
            nn.init.normal_(self.relation_embedding)
            with torch.no_grad():
                self.relation_embedding.mul_(self.label_embedding.std())
        self.relation_transforms = nn.ModuleList(
            nn.Linear(d_model, d_model, bias=False) for _ in self.layers[1:]
        )
        for transform in self.relation_transforms:
            nn.init.xavier_uniform_(transform.weight)

    def relation_states(self):
        """Vectors of the relations at every layer.

        Returns
        -------
        list of Tensor of shape (R, d)
            In the order of `relation_names`; the row of ``"pushing"`` is minus that of
            ``"pulling"`` when both are there.
        """
        if not self.layers:
            return []
        states = [self.relation_embedding]
        for transform in self.relation_transforms:
            states.append(transform(states[-1]))
        return [self._with_tie(z) for z in states]

    def _with_tie(self, z):
        if not self.tied:
            return z
        free = iter(z)
        rows = {name: next(free) for name in self.relation_names if name != PUSHING}
        rows[PUSHING] = -rows[PULLING]
        return torch.stack([rows[name] for name in self.relation_names])

    def forward(self, labels=None):
        """Compute V^T.

        Parameters
        ----------
        labels : int64 Tensor of shape (n,), default=None
            Labels to compute, each once, rising; only they and their neighbourhoods are looked at.
            None is all of them.

        Returns
        -------
        Tensor of shape (L, d), or (n, d)
        """
        if labels is None:
            start, steps, itself = self.label_embedding, [self.operators] * len(self.layers), None
        else:
            senders, steps, itself = self._neighbourhoods_of(labels)
            start = F.embedding(senders, self.label_embedding)
        v = start
        for layer, z, operators in zip(self.layers, self.relation_states(), steps, strict=True):
            v = layer(v, [z[index] for index in self.relation_of], operators)
        if not self.residual:
            return v
        return v + (start if labels is None else F.embedding(itself, start))

    def _neighbourhoods_of(self, labels):
        """Find what some labels depend on.

        Returns
        -------
        senders : int64 Tensor of shape (m,)
            Labels whose V^0 counts; the given ones are among them, as their own neighbours.
        steps : list of list of RelationPart
            The relations of each layer, as far as needed.
        itself : int64 Tensor of shape (n,)
            Places of the given labels among the senders.
        """
        places = torch.empty(len(self.label_embedding), dtype=torch.int64, device=labels.device)
        senders, steps = labels, []
        places[labels] = torch.arange(len(labels), device=labels.device)
        for _ in self.layers:  # from the last to the first
            parts = [operator.rows(senders) for operator in self.operators]
            is_sender = torch.zeros_like(places, dtype=torch.bool)
            for part in parts:
                is_sender[part.columns] = True
            senders = is_sender.nonzero()[:, 0]
            places[senders] = torch.arange(len(senders), device=senders.device)
            steps.insert(0, [replace(part, columns=places[part.columns]) for part in parts])
        return senders, steps, places[labels]


class ToldMessages(nn.Module):
    """What known labels add to the label queries of their row; they are called *told* labels here.

    ``W (g_i ⊙ Σ_r Σ_{j told, j ∈ N_r(i)} A_r[i, j] (W_r^s v_j + e_j^s))``, where s is the state of
    label j, present or absent, e_j^s the embedding of that state, and g_i a gate of label i. A
    label is no neighbour of itself, so that it does not read its own state. If no neighbour is
    told, nothing is added.

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
            1 for a label that is known to be present, -1 for one that is known to be absent, else
            0.
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
