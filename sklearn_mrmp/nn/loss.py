"""The training loss: binary cross entropy plus the relational loss of the label embeddings.

PAPER section 1, "Loss". Knows relation operators and torch.
"""

import torch
from torch import nn
from torch.nn import functional as F

from sklearn_mrmp.nn.compgcn import PULLING, PUSHING, LabelPart
from sklearn_mrmp.nn.relations import RelationOperator, RelationPart, edges


class RelationalLoss(nn.Module):
    """Pull the embeddings of pulling labels together and push those of pushing labels apart.

    The mean over labels of ``− mean_{j∈N⁺(i)} cos(v_i, v_j) + mean_{j∈N⁻(i)} cos(v_i, v_j)``; a
    label without neighbours of a kind adds nothing for it. Other relations than pulling and
    pushing have no place in this loss: what they should do to cosines is not known.

    Parameters
    ----------
    relations : mapping of str to Tensor of shape (L, L), default=None
        Adjacency of each named relation, dense or sparse.

    Examples
    --------
    >>> import torch
    >>> loss = RelationalLoss({"pulling": torch.tensor([[0.0, 1.0], [1.0, 0.0]])})
    >>> loss(torch.tensor([[1.0, 0.0], [3.0, 0.0]]))    # parallel, as they should be
    tensor(-1.)
    """

    def __init__(self, relations=None):
        super().__init__()
        relations = relations or {}
        self.neighbour_means = nn.ModuleDict(
            {
                name: _neighbour_mean(relations[name])
                for name in (PULLING, PUSHING)
                if name in relations and edges(relations[name])[0].numel()
            }
        )

    def forward(self, v):
        """Loss of label embeddings, a scalar.

        Parameters
        ----------
        v : Tensor of shape (L, d), or LabelPart
            All labels; or some, and it is the loss of the graph between these.
        """
        labels, v = (v.labels, v.vectors) if isinstance(v, LabelPart) else (None, v)
        v = F.normalize(v, dim=1)
        loss = v.new_zeros(())
        for name, neighbour_mean in self.neighbour_means.items():
            if labels is not None:
                neighbour_mean = _mean_among(neighbour_mean, labels)
            cosine = (v * neighbour_mean(v)).sum(dim=1).mean()
            loss = loss - cosine if name == PULLING else loss + cosine
        return loss


class MrMPLoss(nn.Module):
    """Mean binary cross entropy plus `weight` times the relational loss.

    Parameters
    ----------
    relations : mapping of str to Tensor of shape (L, L), default=None
        Adjacency of each named relation.
    weight : float, default=1.0
        Weight of the relational loss; 0 turns it off.
    """

    def __init__(self, relations=None, weight=1.0):
        super().__init__()
        self.weight = weight
        self.relational = RelationalLoss(relations if weight else None)

    def forward(self, output, y_true, weights=None, total=None):
        """Loss of a batch, a scalar.

        In evaluation mode it is the cross entropy alone, which is what validation compares.

        Parameters
        ----------
        output : NetworkOutput
            Logits (B, L) or (B, k), and label embeddings (L, d) or a `LabelPart` of them.
        y_true : Tensor of the shape of the logits
            0/1 targets.
        weights : Tensor that can be broadcast to the logits, default=None
            How many labels each entry stands for when a row decodes k of them; how much it counts.
        total : float, default=None
            What the weights of such a batch sum to on average; None is what these sum to. Batches
            whose weights sum to more than others then count for more, as they should.
        """
        logits, label_embeddings = output
        loss = mean_cross_entropy(logits, y_true, weights, total)
        if not self.training or label_embeddings is None or not self.relational.neighbour_means:
            return loss
        return loss + self.weight * self.relational(label_embeddings)


def mean_cross_entropy(logits, y_true, weights=None, total=None):
    """Mean binary cross entropy of logits; arguments as of `MrMPLoss.forward`."""
    if weights is None:
        return F.binary_cross_entropy_with_logits(logits, y_true)
    loss = F.binary_cross_entropy_with_logits(logits, y_true, weights, reduction="sum")
    return loss / (weights.sum() if total is None else total)


def weight_factors(weights):
    """Split weights of entries into those of rows, (B,), and of entries, of which the least is 1.

    For losses in which half of a row's likelihood is not that of half its entries. Unknown entries
    have the weight 0.
    """
    if weights is None:
        return None, None
    of_rows = weights.masked_fill(weights <= 0, torch.inf).amin(dim=1)
    of_rows = of_rows.masked_fill(of_rows.isinf(), 0.0)  # nothing is known of such a row
    return of_rows, weights / of_rows.clamp(min=torch.finfo(weights.dtype).tiny)[:, None]


def _neighbour_mean(adjacency):
    """Operator that averages over the neighbours of each label, over edges of either direction."""
    size = adjacency.shape[0]
    sources, targets, _ = edges(adjacency)
    places = torch.cat([sources * size + targets, targets * size + sources]).unique()
    rows, columns = places // size, places % size
    rows, columns = rows[rows != columns], columns[rows != columns]
    counts = torch.bincount(rows, minlength=size)
    return RelationOperator(rows, columns, 1.0 / counts[rows], size)


def _mean_among(neighbour_mean, labels):
    """Means over those neighbours of the labels that are among them; none gives zero."""
    part = neighbour_mean.rows(labels)
    places = torch.searchsorted(labels, part.columns).clamp(max=len(labels) - 1)
    is_among = labels[places] == part.columns
    receivers = torch.arange(len(labels), device=labels.device).repeat_interleave(part.counts)
    receivers = receivers[is_among]
    counts = torch.bincount(receivers, minlength=len(labels))
    return RelationPart(counts, places[is_among], 1.0 / counts[receivers])
