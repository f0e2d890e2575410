"""The whole network: encoder, label-relation module, label-feature decoder and vote.

PAPER section 1. Knows the other modules of `sklearn_mrmp.nn` and torch.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

from sklearn_mrmp.nn.compgcn import LabelPart, LabelRelationModule, ToldMessages
from sklearn_mrmp.nn.decoder import LabelFeatureDecoder
from sklearn_mrmp.nn.embedding import make_embedding
from sklearn_mrmp.nn.encoder import Encoder
from sklearn_mrmp.nn.module import LabelModule, NetworkOutput, log_odds

# From this many labels on, a batch that decodes some of them computes no other label embeddings.
_PARTS_FROM = 4_096


class MrMPModule(LabelModule):
    """Multi-relation Message Passing: token batches in, label logits out.

    Parameters
    ----------
    embedding : mapping
        What rows consist of, as `make_embedding` takes it.
    n_labels : int
        Number of labels.
    relations : mapping of str to Tensor of shape (L, L), default=None
        Label relation graphs; None leaves the relation module out.
    d_model, n_heads, d_inner : int
        Width, heads, inner width of the feed-forward blocks; None is twice the width.
    n_encoder_layers, n_relation_layers, n_decoder_layers : int, default=2
        Depths.
    dropout : float, default=0.1
        Dropout rate.
    composition : {"sum", "sub", "mult"}, default="sum"
        CompGCN's composition.
    architecture : {"default", "paper", "paper-repaired"}, default="default"
        ``"paper"`` is the paper to the letter: messages are summed, nothing is normalised in the
        decoder, and labels vote with the relation module's own output V^T. ``"paper-repaired"``
        adds V^0 to that output. ``"default"`` also averages messages, normalises the decoder's
        branches, and lets labels vote with an output vector and a bias of their own.
    prior : Tensor of shape (L,), default=None
        Share of training rows with each label; where the bias starts (``"default"`` only).
    trained_tokens : bool Tensor of shape (n_tokens,), default=None
        Tokens that training rows contain.
    reads_told : bool, default=False
        Whether it can read known labels of a row; see `read_told`.
    """

    can_read_told = True

    def __init__(
        self,
        embedding,
        n_labels,
        relations=None,
        *,
        d_model=64,
        n_heads=2,
        d_inner=None,
        n_encoder_layers=2,
        n_relation_layers=2,
        n_decoder_layers=2,
        dropout=0.1,
        composition="sum",
        architecture="default",
        prior=None,
        trained_tokens=None,
        reads_told=False,
    ):
        super().__init__()
        is_default = architecture == "default"
        self.n_labels, self.d_inner = n_labels, d_inner or 2 * d_model
        d_inner = self.d_inner
        self.embedding = make_embedding(embedding, d_model, trained_tokens)
        # Prediction batches are cut by the widest layer, which may be the embedding's own.
        self.d_inner = max(d_inner, getattr(self.embedding, "widest", 0))
        self.encoder = Encoder(n_encoder_layers, d_model, n_heads, d_inner, dropout)
        self.label_relations = LabelRelationModule(
            n_labels,
            d_model,
            relations,
            n_layers=n_relation_layers,
            composition=composition,
            aggregation="mean" if is_default else "sum",
            residual=architecture != "paper",
        )
        self.decoder = LabelFeatureDecoder(
            n_decoder_layers, d_model, n_heads, d_inner, dropout, norm=is_default
        )
        self.output = self.bias = None
        if is_default:
            scale = 1.0 / math.sqrt(d_model)
            self.output = nn.Parameter(scale * torch.randn(n_labels, d_model))
            self.bias = nn.Parameter(log_odds(prior, n_labels))
        self.told_messages = None
        if reads_told:
            self.read_told(relations)

    def forward(self, *, mask=None, candidates=None, label_embeddings=None, told=None, **inputs):
        """Compute the logits of all labels, or of each row's candidates, for a batch of rows.

        Parameters
        ----------
        mask : bool or float Tensor of shape (B, T), default=None
            True where there is a token, or what attention adds to its scores, −inf where there is
            none; None when there is no padding.
        candidates : int64 Tensor of shape (B, k), default=None
            Labels to decode for each row; None decodes all of them.
        label_embeddings : Tensor of shape (L, d), default=None
            V^T if it is known already, as in prediction.
        told : Tensor of shape (B, L), default=None
            1 for a label that a row is known to have, -1 for one that it is known not to have, else
            0; only after `read_told`, and with `label_embeddings` where there are candidates. No
            label's logit depends on what is told of that label.
        **inputs : dict of str to Tensor
            What the embedding takes, such as ``tokens`` (B, T) and ``values`` (B, T).

        Returns
        -------
        output : NetworkOutput
            ``logits`` (B, L) or (B, k): Σ_l f̂^l, the sum of the layers' votes. ``extras``: V^T,
            (L, d); of very many labels a `LabelPart` of those that the candidates name.
        """
        states = self.encoder(self.embedding(**inputs), mask)  # E × (B, T, d)
        v, u = self._embedded(candidates, label_embeddings)
        queries = u if told is None else u + self.told_messages(v, told, candidates)
        decoded = self.decoder(queries, states, mask)  # D × (B, L, d), or D × (B, k, d)
        logits = sum(self.votes(u, decoded, candidates))
        if self.bias is not None:
            logits = logits + (self.bias if candidates is None else self.bias[candidates])
        return NetworkOutput(logits, v)

    def read_told(self, relations):
        """Add what reads told labels, with new weights; the logits of other rows do not change.

        Parameters
        ----------
        relations : mapping of str to Tensor of shape (L, L), or None
            The label graph, along which told labels send messages to the queries of their row.
        """
        n_labels, d_model = self.label_relations.label_embedding.shape
        messages = ToldMessages(n_labels, d_model, relations)
        self.told_messages = messages.to(self.label_relations.label_embedding.device)

    def prepared(self):
        """Compute V^T once: it is the same for all rows."""
        return {"label_embeddings": self.label_embeddings()}

    def prepared_from(self):
        """Return the weights of the label-relation module."""
        return list(self.label_relations.parameters())

    def label_embeddings(self):
        """V^T, (L, d)."""
        return self.label_relations()

    def _embedded(self, candidates, v):
        """V^T as far as it is computed, and u^0: V^T of the labels to decode."""
        if v is None and candidates is not None and self.n_labels >= _PARTS_FROM:
            labels, places = candidates.unique(return_inverse=True)
            v = LabelPart(labels, self.label_relations(labels))
            return v, F.embedding(places, v.vectors)
        v = self.label_relations() if v is None else v
        return v, (v if candidates is None else F.embedding(candidates, v))

    def votes(self, v, decoded, candidates=None):
        """Vote of each decoder layer, f̂^l = rowwise Σ (U^l ⊙ V^T), or with an own output vector.

        Parameters
        ----------
        v : Tensor of shape (L, d) or (B, k, d)
            V^T of the decoded labels.
        decoded : list of Tensor of shape (B, L, d) or (B, k, d)
            U^1 … U^D.
        candidates : int64 Tensor of shape (B, k), default=None
            The labels that were decoded; None is all.

        Returns
        -------
        list of Tensor of shape (B, L) or (B, k)
        """
        weight = v
        if self.output is not None:
            weight = self.output if candidates is None else F.embedding(candidates, self.output)
        return [(u * weight).sum(dim=-1) for u in decoded]
