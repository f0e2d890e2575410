"""LaMP: labels receive messages from the input and from each other, in rounds.

Lanchantin, Sekhon, Qi: Neural Message Passing for Multi-label Classification, ECML-PKDD 2019. In a
round every label attends to the input first, and to its neighbours in a label graph then. Shapes
are those of the legend in `sklearn_mrmp.nn`. Knows the other modules of `sklearn_mrmp.nn` and
torch.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

from sklearn_mrmp.nn.embedding import make_embedding
from sklearn_mrmp.nn.encoder import Encoder, EncoderLayer
from sklearn_mrmp.nn.loss import mean_cross_entropy
from sklearn_mrmp.nn.module import LabelModule, NetworkOutput, log_odds


class LaMPModule(LabelModule):
    """Label message passing: token batches in, label logits out.

    Parameters
    ----------
    embedding : mapping
        What rows consist of, as `make_embedding` takes it.
    n_labels : int
        Number of labels.
    relations : mapping of str to Tensor of shape (L, L), default=None
        Label graph: labels that any relation links, in either direction, attend to each other.
        None is a graph without edges.
    all_pairs : bool, default=False
        Whether every label attends to every other, whatever `relations` are.
    d_model, n_heads, d_inner : int
        Width, heads, inner width of the feed-forward blocks; None is twice the width.
    n_encoder_layers : int, default=2
        Depth of the encoder.
    n_decoder_layers : int, default=2
        Rounds of messages.
    dropout : float, default=0.1
        Dropout rate.
    architecture : {"default", "paper"}, default="default"
        ``"paper"`` has no bias and starts label embeddings with a deviation of 1; ``"default"``
        has a bias for each label, which starts at its frequency.
    prior : Tensor of shape (L,), default=None
        Share of training rows with each label (``"default"`` only).
    trained_tokens : bool Tensor of shape (n_tokens,), default=None
        Tokens that training rows contain.

    Examples
    --------
    >>> import torch
    >>> from sklearn_mrmp.nn import LaMPModule
    >>> module = LaMPModule({"kind": "tokens", "n_tokens": 9}, 5, d_model=8).eval()
    >>> module(tokens=torch.tensor([[1, 2, 3], [4, 5, 9]])).logits.shape
    torch.Size([2, 5])
    """

    def __init__(
        self,
        embedding,
        n_labels,
        relations=None,
        *,
        all_pairs=False,
        d_model=64,
        n_heads=2,
        d_inner=None,
        n_encoder_layers=2,
        n_decoder_layers=2,
        dropout=0.1,
        architecture="default",
        prior=None,
        trained_tokens=None,
    ):
        super().__init__()
        d_inner, literal = d_inner or 2 * d_model, architecture == "paper"
        self.n_labels = n_labels
        self.embedding = make_embedding(embedding, d_model, trained_tokens)
        # Prediction batches are cut by the widest layer, which may be the embedding's own.
        self.d_inner = max(d_inner, getattr(self.embedding, "widest", 0))
        self.encoder = Encoder(n_encoder_layers, d_model, n_heads, d_inner, dropout)
        sizes = (d_model, n_heads, d_inner, dropout)
        has_edges = all_pairs or relations is not None
        self.from_input = nn.ModuleList(MessageLayer(*sizes) for _ in range(n_decoder_layers))
        self.from_labels = nn.ModuleList(
            MessageLayer(*sizes, alone=not has_edges) for _ in range(n_decoder_layers)
        )
        pairs = None if all_pairs or relations is None else _linked(relations)
        self.register_buffer("pairs", pairs)
        scale = 1.0 / math.sqrt(d_model)
        self.labels = nn.Parameter(torch.randn(n_labels, d_model) * (1.0 if literal else scale))
        self.output = nn.Parameter(torch.randn(n_labels, d_model) * scale)
        self.bias = None if literal else nn.Parameter(log_odds(prior, n_labels))

    def forward(self, *, mask=None, candidates=None, **inputs):
        """Compute the logits of all labels, or of each row's candidates, for a batch of rows.

        Parameters
        ----------
        mask : bool or float Tensor of shape (B, T), default=None
            True where there is a token, or what attention adds to its scores.
        candidates : int64 Tensor of shape (B, k), default=None
            Labels to decode for each row, which attend to each other alone; None decodes all.
        **inputs : dict of str to Tensor
            What the embedding takes, such as ``tokens`` (B, T) and ``values`` (B, T).

        Returns
        -------
        output : NetworkOutput
            ``logits`` (B, L) or (B, k) after the last round. ``extras``: in training a list of the
            logits after each round before.
        """
        z = self.encoder(self.embedding(**inputs), mask)[-1]  # (B, T, d)
        u, pairs = self.labels, self.pairs
        if candidates is not None:
            u = F.embedding(candidates, u)  # (B, k, d)
            pairs = None if pairs is None else pairs[candidates[:, :, None], candidates[:, None]]
        logits = []
        for from_input, from_labels in zip(self.from_input, self.from_labels, strict=True):
            u = from_input(u, z, mask)  # (B, L, d)
            u = from_labels(u, u, pairs=pairs)
            logits.append(self._read_out(u, candidates))
        return NetworkOutput(logits[-1], logits[:-1] if self.training else None)

    def label_embeddings(self):
        """Vectors that labels start from, (L, d)."""
        return self.labels

    def label_entries(self):
        """Entries of the vectors that labels start from, of output vectors and of biases."""
        names = ["labels", "output"] + ([] if self.bias is None else ["bias"])
        return dict.fromkeys(names, (0, torch.arange(self.n_labels)))

    def strangers(self, other):
        """Attention between labels, if there are edges now or were then, and not both."""
        is_alone = [
            [isinstance(layer.attention, _Own) for layer in network.from_labels]
            for network in (self, other)
        ]
        if is_alone[0] == is_alone[1]:
            return ()
        return tuple(f"from_labels.{i}.attention." for i in range(len(self.from_labels)))

    def _read_out(self, u, candidates):
        """Logits of label states: w_i · u_i, and the bias if there is one."""
        weight, bias = self.output, self.bias
        if candidates is not None:
            weight = F.embedding(candidates, weight)
            bias = None if bias is None else bias[candidates]
        logits = (u * weight).sum(dim=-1)
        return logits if bias is None else logits + bias


class MessageLayer(EncoderLayer):
    """Half a round: ``m = norm(u + MHA(u; senders))``, ``u' = norm(m + PFF(m))``.

    Parameters
    ----------
    d_model, n_heads, d_inner : int
        Width, heads, inner width.
    dropout : float, default=0.0
        Dropout on the two residual branches.
    alone : bool, default=False
        Whether a label hears itself alone. Attention to one sender is a linear map of it, and that
        is how it is computed.
    """

    def __init__(self, d_model, n_heads, d_inner, dropout=0.0, *, alone=False):
        super().__init__(d_model, n_heads, d_inner, dropout)
        if alone:
            self.attention = _Own(d_model)

    def forward(self, u, z, mask=None, pairs=None):
        """Update label states.

        Parameters
        ----------
        u : Tensor of shape (B, L, d) or (L, d)
            Label states; without a batch dimension they are the same for every row.
        z : Tensor of shape (B, T, d)
            Who sends messages: the input, or `u` itself.
        mask : bool or float Tensor of shape (B, T), default=None
            Which senders there are, or what attention adds to their scores.
        pairs : bool Tensor of shape (L, T) or (B, L, T), default=None
            Which label hears which sender; None is all.

        Returns
        -------
        Tensor of shape (B, L, d)
        """
        u = self.attention_norm(u + self.dropout(self.attention(u, z, mask, pairs)))
        return self.feed_forward_norm(u + self.dropout(self.feed_forward(u)))


class _Own(nn.Linear):
    """Attention to oneself alone, called as `MultiHeadAttention` is."""

    def __init__(self, d_model):
        super().__init__(d_model, d_model)
        nn.init.xavier_uniform_(self.weight)
        nn.init.zeros_(self.bias)

    def forward(self, queries, tokens, mask=None, pairs=None):
        """Map (B, L, d) to (B, L, d)."""
        return super().forward(queries)


class LaMPLoss(nn.Module):
    """Mean over the rounds of the mean binary cross entropy of each round's prediction."""

    def forward(self, output, y_true, weights=None, total=None):
        """Loss of a batch, a scalar.

        In evaluation mode it is that of the last round, which is what validation compares.

        Parameters
        ----------
        output : NetworkOutput
            Logits (B, L) or (B, k), and a list of those of earlier rounds, or None.
        y_true : Tensor of the shape of the logits
            0/1 targets.
        weights, total : as of `MrMPLoss`
        """
        rounds = [*(output.extras or ()), output.logits]
        losses = [mean_cross_entropy(logits, y_true, weights, total) for logits in rounds]
        return sum(losses) / len(rounds)


def _linked(relations):
    """Which labels hear which: those that any relation links, and themselves; bool (L, L)."""
    linked = sum(adjacency.to_dense() != 0 for adjacency in relations.values()) > 0
    return (linked | linked.T).fill_diagonal_(True)
