"""What each token of a row adds to the logits of a network: integrated gradients.

Sundararajan, Taly, Yan: Axiomatic Attribution for Deep Networks, ICML 2017. The tokens of a row, as
the network's embedding makes them, grow from nothing to what they are; the gradient of a logit,
integrated on the way and multiplied with a token, is that token's share. The shares of all tokens
add up to the logit minus that of the baseline, up to the error of the integration. Knows torch, the
embeddings of `nn` and the face of networks.
"""

import copy
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from sklearn_mrmp._network.batches import as_tensors
from sklearn_mrmp.nn.embedding import VectorEmbedding

# Steps of the integration: they are doubled until the shares add up within the tolerance, in log
# odds. A network with rectified units has a gradient with jumps, so more steps help slowly.
_FIRST_STEPS, _MOST_STEPS = 64, 1024
TOLERANCE = 0.02
# Layer norms make almost all of the way at its very beginning, where steps are therefore dense:
# they are those of Gauss and Legendre to this power. On token states 64 of them leave an error of
# .026 instead of .109; the powers 2 and 4 are much alike.
_POWER = 3
# Floats of the widest layer that are computed at once.
_MOST_FLOATS = 2**20


@dataclass(frozen=True, eq=False)
class Attribution:
    """Shares of the tokens of one row in the logits of some labels.

    Attributes
    ----------
    values : float64 ndarray of shape (n_labels, n_tokens)
        Share of each token; of rows with a vector those of its columns come first.
    baseline : float64 ndarray of shape (n_labels,)
        Logits where all tokens are zeros, and all columns of a vector at their means.
    """

    values: np.ndarray
    baseline: np.ndarray


class NetworkAttributor:
    """Attributes logits of networks to tokens; it works on copies without their embeddings.

    Parameters
    ----------
    nets : list of MultilabelNet
        Networks whose logits are averaged.
    """

    def __init__(self, nets):
        self._members = [_Member(net) for net in nets]

    def attribute(self, rows, places, candidates=None):
        """Attribute logits of one row.

        Parameters
        ----------
        rows : TokenRows
            The row alone.
        places : sequence of int
            Labels, or where there are candidates their places among these.
        candidates : int64 ndarray of shape (1, k), default=None
            Labels that are decoded; None is all.

        Returns
        -------
        attribution : Attribution
            The mean over the networks.
        """
        found = [member.attribute(rows, list(places), candidates) for member in self._members]
        return Attribution(
            np.mean([attribution.values for attribution in found], axis=0),
            np.mean([attribution.baseline for attribution in found], axis=0),
        )


def can_attribute(module):
    """Whether logits of a network can be attributed: it computes them of embedded tokens.

    A search for label sets has no gradient.
    """
    return not module.finds_sets and isinstance(getattr(module, "embedding", None), nn.Module)


class _Given(nn.Module):
    """Stands for an embedding whose output is given."""

    states = None

    def forward(self, *_, **__):
        """Return the token states (B, T, d), whatever the tokens are."""
        return self.states


class _Member:
    """One network, and a copy of it that reads embedded tokens."""

    def __init__(self, net):
        self.device, self.embedding = net.device, net.module_.eval().embedding
        self.given = _Given()
        # What a deep copy has in its memory it does not copy: the tables of tokens are large.
        memory = {id(self.embedding): self.given}
        self.module = copy.deepcopy(net.module_, memory).eval().requires_grad_(False)
        with torch.no_grad():
            self.prepared = self.module.prepared()

    def attribute(self, rows, places, candidates):
        """Attribute the logits of one row; see `NetworkAttributor.attribute`."""
        path = _Path(self.embedding, as_tensors(rows.padded(), self.device), rows)
        if candidates is not None:
            path.batch["candidates"] = torch.from_numpy(candidates).to(self.device)
        with torch.no_grad():
            ends = path.parts_at(torch.tensor([0.0, 1.0], device=self.device))
            baseline, logits = self._logits(path, ends)[:, places].double().cpu().numpy()
        n_steps, gain = _FIRST_STEPS, logits - baseline
        values = self._integrated(path, places, n_steps)
        while n_steps < _MOST_STEPS and np.abs(values.sum(axis=1) - gain).max() > TOLERANCE:
            n_steps *= 2
            values = self._integrated(path, places, n_steps)
        return Attribution(values, baseline)

    def _logits(self, path, parts):
        """Logits (S, L) or (S, k) at some points of the way."""
        self.given.states = path.states(parts)
        return self.module(**path.repeated(len(parts[0])), **self.prepared).logits

    def _integrated(self, path, places, n_steps):
        """Shares of the tokens by so many steps, (n_places, n_tokens)."""
        points, weights = _steps(n_steps, self.device)
        total, size = 0.0, self._steps_at_once(path)
        for first in range(0, n_steps, size):
            some = slice(first, first + size)
            parts = [part.requires_grad_(True) for part in path.parts_at(points[some])]
            total = total + self._shares(path, parts, weights[some], places)
        return total

    def _shares(self, path, parts, weights, places):
        """Weighted shares of the tokens in the gradients at some points, (n_places, n_tokens)."""
        logits, shares = self._logits(path, parts), []
        for place in places:
            gradients = torch.autograd.grad(logits[:, place].sum(), parts, retain_graph=True)
            means = [torch.tensordot(weights, g, dims=1).double() for g in gradients]
            shares.append(path.shares(means).cpu().numpy())
        return np.stack(shares)

    def _steps_at_once(self, path):
        candidates = path.batch.get("candidates")
        n_decoded = self.module.n_labels if candidates is None else candidates.shape[1]
        length, width = path.parts[-1].shape[1], path.parts[-1].shape[-1]
        widest = max(length, n_decoded) * max(self.module.d_inner, width)
        return max(1, _MOST_FLOATS // widest)


class _Path:
    """The way of one row from its baseline to what it is.

    Attributes
    ----------
    parts : list of Tensor of shape (1, width) or (1, T, d)
        What grows: the vector of a row, if it has one, and its embedded tokens.
    batch : dict of str to Tensor
        What the network reads besides.
    """

    def __init__(self, embedding, batch, rows):
        self.batch = {name: batch.pop(name) for name in ("mask",) if name in batch}
        self.vectors = embedding if isinstance(embedding, VectorEmbedding) else None
        self.n_tokens = int(rows.lengths[0])
        with torch.no_grad():
            if self.vectors is None:
                self.parts = [embedding(**batch)]
                return
            self.n_tokens -= 1  # the vector
            self.parts = [batch.pop("vectors")]
            if embedding.tokens is not None:
                self.parts.append(embedding.tokens(**batch))

    def parts_at(self, points):
        """Return what has grown at some points between 0 and 1, (S, width) or (S, T, d) each."""
        return [torch.tensordot(points[:, None], part, dims=1) for part in self.parts]

    def states(self, parts):
        """Token states (S, T, d) of what has grown."""
        if self.vectors is None:
            return parts[0]
        return torch.cat([self.vectors.projection(parts[0])[:, None], *parts[1:]], dim=1)

    def repeated(self, n_steps):
        """Return what the network reads besides, for so many points."""
        return {name: part.expand(n_steps, *part.shape[1:]) for name, part in self.batch.items()}

    def shares(self, gradients):
        """Shares of columns and tokens in the integrated gradients of the parts, (n_tokens,)."""
        shares = []
        for part, gradient in zip(self.parts, gradients, strict=True):
            products = part[0].double() * gradient
            # A row without tokens has one place of padding.
            shares.append(products if products.dim() == 1 else products.sum(dim=1)[: self.n_tokens])
        return torch.cat(shares)


def _steps(n_steps, device):
    """Points between 0 and 1, and their weights, of Gauss and Legendre to a power of them."""
    nodes, weights = np.polynomial.legendre.leggauss(n_steps)
    t = (nodes + 1) / 2
    points, weights = t**_POWER, weights / 2 * _POWER * t ** (_POWER - 1)
    return (torch.from_numpy(part.astype(np.float32)).to(device) for part in (points, weights))
