"""What each token of a row adds to the logits of a network: integrated gradients.

Sundararajan, Taly, Yan: Axiomatic Attribution for Deep Networks, ICML 2017. The tokens of a row, as
the network's embedding makes them, grow from nothing to what they are; the gradient of a logit,
integrated on the way and multiplied with a token, is that token's share. The shares of all tokens
add up to the logit minus that of the baseline, up to the error of the integration. Knows torch, the
embeddings of `nn` and the face of networks.
"""

import copy
from dataclasses import dataclass, fields

import numpy as np
import torch
from torch import nn

from sklearn_mrmp._network.batches import as_tensors
from sklearn_mrmp.nn.embedding import VectorEmbedding

# The way is cut into pieces, and the gradient in the middle of a piece stands for all of it. What
# it misses is known, since logits at both ends are; the pieces that miss most are halved, so many
# at a time, until all of them together miss less than the tolerance, in log odds. Networks with
# rectified units have gradients with jumps: rules of a higher order gain nothing, and taking twice
# as many steps everywhere took three times as many gradients.
_FIRST_PIECES, _HALVED, _MOST_GRADIENTS = 32, 32, 1024
TOLERANCE = 0.02
# Layer norms make almost all of the way at its very beginning, where pieces are therefore short:
# they end at equal distances to this power.
_POWER = 3
# Floats of the widest layer that are computed at once, and labels that are looked at together.
_MOST_FLOATS, _LABELS_AT_ONCE = 2**20, 16


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
        found = [
            self._integrated(path, places[first : first + _LABELS_AT_ONCE])
            for first in range(0, len(places), _LABELS_AT_ONCE)
        ]
        values, baseline = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return Attribution(values, baseline)

    def _integrated(self, path, places):
        """Shares of the tokens, (n_places, n_tokens), and logits of the baseline."""
        ends = np.linspace(0, 1, _FIRST_PIECES + 1)
        logits = self._logits_at(path, ends, places)
        baseline, n_gradients = logits[0], _FIRST_PIECES
        pieces = self._pieces(path, places, ends[:-1], ends[1:], logits[:-1], logits[1:])
        while n_gradients < _MOST_GRADIENTS and np.abs(pieces.missed.sum(0)).max() > TOLERANCE:
            order = np.argsort(-np.abs(pieces.missed).max(axis=1), kind="stable")
            worst, others = pieces.take(order[:_HALVED]), pieces.take(order[_HALVED:])
            middles = (worst.starts + worst.ends) / 2
            logits = self._logits_at(path, middles, places)
            halves = (
                np.concatenate([worst.starts, middles]),
                np.concatenate([middles, worst.ends]),
                np.concatenate([worst.first_logits, logits]),
                np.concatenate([logits, worst.last_logits]),
            )
            pieces = others.with_more(self._pieces(path, places, *halves))
            n_gradients += len(halves[0])
        return pieces.shares.sum(axis=0), baseline

    def _pieces(self, path, places, starts, ends, first_logits, last_logits):
        """Return pieces of the way, with the gradient in their middles."""
        lengths = ends**_POWER - starts**_POWER
        shares = self._shares_at(path, starts**_POWER + lengths / 2, places)
        shares *= lengths[:, None, None]
        return _Pieces(starts, ends, first_logits, last_logits, shares)

    def _logits_at(self, path, ends, places):
        """Logits at some points of the way, which are given before the power, float64."""
        found = []
        with torch.no_grad():
            for some in self._chunks(path, ends**_POWER):
                found.append(self._logits(path, path.parts_at(some))[:, places].cpu())
        return torch.cat(found).double().numpy()

    def _shares_at(self, path, points, places):
        """Shares of the tokens by the gradients at some points, (S, n_places, n_tokens)."""
        found = []
        for some in self._chunks(path, points):
            parts = [part.requires_grad_(True) for part in path.parts_at(some)]
            logits, shares = self._logits(path, parts), []
            for place in places:
                gradients = torch.autograd.grad(logits[:, place].sum(), parts, retain_graph=True)
                shares.append(path.shares(gradients))
            found.append(torch.stack(shares, dim=1).cpu())
        return torch.cat(found).double().numpy()

    def _logits(self, path, parts):
        """Logits (S, L) or (S, k) of what has grown so far."""
        self.given.states = path.states(parts)
        return self.module(**path.repeated(len(parts[0])), **self.prepared).logits

    def _chunks(self, path, points):
        """Yield points in as many parts as memory asks for."""
        candidates = path.batch.get("candidates")
        n_decoded = self.module.n_labels if candidates is None else candidates.shape[1]
        length, width = path.parts[-1].shape[1], path.parts[-1].shape[-1]
        widest = max(length, n_decoded) * max(self.module.d_inner, width)
        points = torch.from_numpy(points.astype(np.float32)).to(self.device)
        return points.split(max(1, _MOST_FLOATS // widest))


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Pieces of the way.

    Attributes
    ----------
    starts, ends : ndarray of shape (n,)
        Where they begin and end, before the power.
    first_logits, last_logits : ndarray of shape (n, n_places)
        Logits there.
    shares : ndarray of shape (n, n_places, n_tokens)
        What each token adds on a piece.
    """

    starts: np.ndarray
    ends: np.ndarray
    first_logits: np.ndarray
    last_logits: np.ndarray
    shares: np.ndarray

    @property
    def missed(self):
        """What the shares of a piece miss of the change of each logit, (n, n_places)."""
        return self.last_logits - self.first_logits - self.shares.sum(axis=2)

    def take(self, chosen):
        """Return some pieces."""
        return _Pieces(*(getattr(self, part.name)[chosen] for part in fields(self)))

    def with_more(self, others):
        """Return these pieces and others."""
        names = [part.name for part in fields(self)]
        parts = ((getattr(self, name), getattr(others, name)) for name in names)
        return _Pieces(*map(np.concatenate, parts))


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
        """Return what columns and tokens add by gradients of the parts, (S, n_tokens)."""
        shares = []
        for part, gradient in zip(self.parts, gradients, strict=True):
            products = part * gradient
            # A row without tokens has one place of padding.
            tokens = products if products.dim() == 2 else products.sum(dim=2)[:, : self.n_tokens]
            shares.append(tokens)
        return torch.cat(shares, dim=1)
