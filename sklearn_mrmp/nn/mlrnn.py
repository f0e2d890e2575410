"""ML-RNN: a recurrent network that names the labels of a row one after the other.

Nam, Loza Mencía, Kim, Fürnkranz: Maximizing Subset Accuracy with Recurrent Neural Networks in
Multi-label Classification, NeurIPS 2017. The chain rule over the positive labels in a given order,
with an end, makes the probability of a label set a product of as many factors as it has labels,
plus one. Shapes are those of the legend in `sklearn_mrmp.nn`; besides, S is the number of steps of
the longest sequence and N a number of sequences. In here labels are numbered from 1 in
the network's order, and 0 is the end. Knows the other modules of `sklearn_mrmp.nn` and torch.
"""

from functools import partial
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

from sklearn_mrmp.nn._recurrent.beam import beam_search
from sklearn_mrmp.nn._recurrent.readers import AttendingReader, MeanReader, start_recurrent
from sklearn_mrmp.nn._speed.dropout import ByteDropout
from sklearn_mrmp.nn.embedding import make_embedding
from sklearn_mrmp.nn.loss import weight_factors
from sklearn_mrmp.nn.module import LabelModule, NetworkOutput

# Probabilities of labels that no label set of the search has, and one minus those that all have.
_FLOOR = 1e-7
# Numbers for each label of each sequence in a step of the search.
_PER_LABEL = 4


class Steps(NamedTuple):
    """What the loss of label sequences wants besides their scores.

    Attributes
    ----------
    truth : Tensor of shape (B, S, 1 + L)
        Distribution of what should come next; 0 after the end of a sequence.
    in_order : callable
        Returns entries of labels, in the form of the targets, as (B, L) in the network's order.
    """

    truth: torch.Tensor
    in_order: Any


class MLRNNModule(LabelModule):
    """Recurrent network over label sequences: batches of rows in, label logits out.

    Parameters
    ----------
    embedding : mapping
        What rows consist of, as `make_embedding` takes it. Sequences and token states are read by
        two recurrent layers and attention, EncDec; other rows by the mean of their tokens, RNN^m.
    n_labels : int
        Number of labels.
    label_order : sequence of int, default=None
        All label numbers in the order in which sequences have them. None leaves the order free:
        the network learns from sequences of its own.
    masked : bool, default=True
        Whether what cannot come next is forbidden: labels that are not later in the order, or, if
        that is free, labels that were given. Then the probabilities of all label sets, or of all
        sequences without repetition, sum to 1.
    d_model, d_inner, d_label : int
        Width of tokens (in each direction), of the decoder's state, and of labels.
    beam_width : int, default=16
        Label sets that prediction keeps of each row.
    max_labels : int, default=50
        Labels of a predicted set at most.
    length_penalty : float, default=0.0
        Power of the length of its sequence by which a set's log probability is divided when the
        best set is chosen.
    dropout : float, default=0.2
        Dropout of the states of recurrent layers, and of the layer before the output.
    architecture : {"default", "paper"}, default="default"
        ``"default"`` normalises means of tokens, and starts labels at their frequencies.
    prior : Tensor of shape (L,), default=None
        Share of training rows with each label (``"default"`` only).
    trained_tokens : bool Tensor of shape (n_tokens,), default=None
        Tokens that training rows contain.

    Examples
    --------
    >>> import torch
    >>> from sklearn_mrmp.nn import MLRNNModule
    >>> module = MLRNNModule({"kind": "tokens", "n_tokens": 9}, 5, label_order=range(5)).eval()
    >>> tokens = torch.tensor([[1, 2, 3], [4, 5, 9]])
    >>> module(tokens=tokens).logits.shape, module.predict_sets(tokens=tokens).dtype
    (torch.Size([2, 5]), torch.bool)
    """

    takes_labels = True
    finds_sets = True

    def __init__(
        self,
        embedding,
        n_labels,
        *,
        label_order=None,
        masked=True,
        d_model=128,
        d_inner=256,
        d_label=64,
        beam_width=16,
        max_labels=50,
        length_penalty=0.0,
        dropout=0.2,
        architecture="default",
        prior=None,
        trained_tokens=None,
    ):
        super().__init__()
        literal = architecture == "paper"
        self.n_labels, self.masked, self.is_free = n_labels, masked, label_order is None
        self.beam_width, self.max_labels = beam_width, min(max_labels, n_labels)
        self.length_penalty = length_penalty
        order = range(n_labels) if label_order is None else label_order
        self.register_buffer("order", torch.tensor(list(order), dtype=torch.int64))
        is_sequence = embedding["kind"] in ("states", "transformer") or embedding.get("positions")
        if is_sequence:  # recurrent layers know the positions
            embedding = {name: part for name, part in embedding.items() if name != "positions"}
            self.reader = AttendingReader(d_model, d_inner, dropout)
        else:
            self.reader = MeanReader(d_model, d_inner, literal)
        self.embedding = make_embedding(embedding, d_model, trained_tokens)
        self.labels = nn.Embedding(1 + n_labels, d_label, padding_idx=0)
        nn.init.normal_(self.labels.weight[1:], std=d_label**-0.5)
        d_read = d_label + (self.reader.d_context if self.reader.attends else 0)
        self.decoder = start_recurrent(nn.GRU(d_read, d_inner, batch_first=True))
        self.hidden = _linear(d_inner + d_label + self.reader.d_context, d_label)
        self.output = _linear(d_label, 1 + n_labels)
        self.dropout = ByteDropout(dropout)
        # Prediction batches: each sequence of the search attends to all tokens by itself.
        widest = getattr(self.embedding, "widest", 0)
        self.d_inner = max(widest, beam_width * (d_inner if is_sequence else _PER_LABEL))
        if prior is not None and not literal:
            self._start_at(prior)

    def forward(self, *, mask=None, candidates=None, targets=None, **inputs):
        """Compute the scores of all steps of the true sequences, or label logits by a search.

        Parameters
        ----------
        mask : bool or float Tensor of shape (B, T), default=None
            True where there is a token, or the logarithm of its weight.
        candidates : int64 Tensor of shape (B, k), default=None
            Labels that may occur in each row's sequences; None is all.
        targets : Tensor of shape (B, L) or (B, k), default=None
            True labels of the rows, which training and validation want.
        **inputs : dict of str to Tensor
            What the embedding takes, such as ``tokens`` (B, T) and ``values`` (B, T).

        Returns
        -------
        output : NetworkOutput
            With targets: ``logits`` (B, S, 1 + L) of what comes next in each step, and `Steps`.
            Without: ``logits`` (B, L) or (B, k), log odds of labels over the sets of a search.
        """
        if targets is None:
            P = self._found(mask, candidates, inputs).marginals()[:, self.order.argsort()]
            P = P if candidates is None else P.gather(1, candidates)
            return NetworkOutput(torch.logit(P, eps=_FLOOR))
        start, memory = self.reader(self.embedding, mask, inputs)
        allowed, y = self._allowed(candidates), self._in_order(targets, candidates)
        follow = self._own_sequences if self.is_free else self._true_sequences
        scores, truth = follow(start, memory, allowed, y)
        return NetworkOutput(scores, Steps(truth, partial(self._in_order, candidates=candidates)))

    def predict_sets(self, *, mask=None, candidates=None, **inputs):
        """Most probable label set of each row, bool (B, L)."""
        best = self._found(mask, candidates, inputs).best(self.length_penalty)
        return best[:, self.order.argsort()]

    def label_embeddings(self):
        """Vectors that the decoder reads of labels, (L, d_label)."""
        return self.labels.weight[1:][self.order.argsort()]

    def label_entries(self):
        """Entries of the vectors that the decoder reads of labels, and of the output."""
        places = 1 + self.order.argsort()  # the end comes first
        names = ("labels.weight", "output.weight", "output.bias")
        return dict.fromkeys(names, (0, places))

    def _found(self, mask, candidates, inputs):
        """Search for label sets, whose labels are in the network's order."""
        start, memory = self.reader(self.embedding, mask, inputs)
        allowed = self._allowed(candidates)

        def step(rows, previous, states, given):
            scores, states = self._step(memory, states, previous, rows)
            of_rows = None if allowed is None else allowed[rows]
            scores = self._permitted(scores, previous, given, of_rows)
            return torch.log_softmax(scores, dim=1), states

        return beam_search(step, start, self.n_labels, self.beam_width, self.max_labels)

    def _true_sequences(self, start, memory, allowed, y):
        """Scores of the steps of true sequences (B, S, 1 + L), and what comes next in them."""
        n_steps = _longest(y) + 1
        numbers = torch.arange(1, 1 + self.n_labels, device=y.device)
        # Labels that are not there come last, as ends.
        places = torch.where(y > 0, numbers, 1 + self.n_labels).sort(dim=1).values
        following = F.pad(places % (1 + self.n_labels), (0, 1))[:, :n_steps]
        previous = F.pad(following[:, :-1], (1, 0))
        scores = self._all_steps(memory, start, previous)
        truth = torch.zeros_like(scores).scatter_(2, following[:, :, None], 1.0)
        over = torch.arange(n_steps, device=y.device) > (y > 0).sum(dim=1, keepdim=True)
        truth = truth.masked_fill(over[:, :, None], 0.0)
        allowed = None if allowed is None else allowed[:, None]
        return self._permitted(scores, previous, None, allowed), truth

    def _all_steps(self, memory, start, previous):
        """Scores (B, S, 1 + L) after the given labels (B, S)."""
        if self.reader.attends:  # which takes the state of the step before
            states, scores = start, []
            for label in previous.unbind(dim=1):
                step_scores, states = self._step(memory, states, label)
                scores.append(step_scores)
            return torch.stack(scores, dim=1)
        labels = self.labels(previous)
        states, _ = self.decoder(labels, start[None])
        return self._scores(states, labels, memory[:, None].expand(-1, previous.shape[1], -1))

    def _own_sequences(self, start, memory, allowed, y):
        """Scores of the steps of the network's own sequences, and which labels are still missing.

        Labels are drawn in training, and the most probable ones in evaluation. A sequence is over
        when it has ended, or when nothing was missing.
        """
        states, missing = start, F.pad(y > 0, (1, 0))  # (B, 1 + L)
        previous = torch.zeros_like(y[:, :1], dtype=torch.int64)
        given, over = torch.zeros_like(missing), previous > 0
        all_scores, all_truth = [], []
        for _ in range(_longest(y) + 1):
            scores, states = self._step(memory, states, previous[:, 0])
            scores = self._permitted(scores, previous[:, 0], given, allowed)
            done = ~missing.any(dim=1, keepdim=True)
            truth = missing.to(scores.dtype) / missing.sum(dim=1, keepdim=True).clamp(min=1)
            truth[:, :1] = done.to(truth.dtype)
            all_scores.append(scores)
            all_truth.append(truth.masked_fill(over, 0.0))
            previous = self._chosen(scores.detach())
            missing = missing.scatter(1, previous, False)
            given = given.scatter(1, previous, True)
            over = over | done | (previous == 0)
        return torch.stack(all_scores, dim=1), torch.stack(all_truth, dim=1)

    def _chosen(self, scores):
        """Next labels (B, 1) by their scores (B, 1 + L)."""
        if self.training:
            return torch.multinomial(torch.softmax(scores, dim=1), 1)
        return scores.argmax(dim=1, keepdim=True)

    def _step(self, memory, states, previous, rows=None):
        """Go on by one label: states (N, d_inner) and labels (N,) to scores and states.

        There is one sequence for each row, or those whose rows are given.
        """
        labels = self.labels(previous)
        context = self.reader.context(memory, states, rows)
        read = torch.cat([labels, context], dim=1) if self.reader.attends else labels
        _, states = self.decoder(read[:, None], states[None])
        return self._scores(states[0], labels, context), states[0]

    def _scores(self, states, labels, context):
        """Scores of what comes next, (…, 1 + L)."""
        seen = torch.cat([self.dropout(states), labels, context], dim=-1)
        return self.output(self.dropout(torch.tanh(self.hidden(seen))))

    def _permitted(self, scores, previous, given, allowed):
        """Scores (…, 1 + L) with −inf for what cannot come next; the end always can."""
        numbers, forbidden = torch.arange(1 + self.n_labels, device=scores.device), []
        if self.masked:
            forbidden.append(given if self.is_free else numbers <= previous[..., None])
        if allowed is not None:
            forbidden.append(~allowed)
        for places in forbidden:
            scores = scores.masked_fill(places & (numbers > 0), -torch.inf)
        return scores

    def _allowed(self, candidates):
        """Which of end and labels may occur in each row, bool (B, 1 + L); None is all."""
        if candidates is None:
            return None
        ones = torch.ones_like(candidates, dtype=torch.bool)
        return F.pad(self._in_order(ones, candidates), (1, 0), value=True)

    def _in_order(self, entries, candidates):
        """Entries of labels (B, L), or of candidates (B, k), as (B, L) in the network's order."""
        if candidates is not None:
            entries = entries.new_zeros(len(entries), self.n_labels).scatter(1, candidates, entries)
        return entries[:, self.order]

    def _start_at(self, prior):
        """Let the output start at how often labels, and the end, come next in sequences."""
        with torch.no_grad():
            frequency = prior.to(self.output.bias.device)[self.order]
            self.output.bias[1:] = torch.log(frequency.clamp(min=1e-4))


class MLRNNLoss(nn.Module):
    """Negative log likelihood of label sequences, summed over steps, mean over rows."""

    def forward(self, output, y_true, weights=None, total=None):
        """Loss of a batch, a scalar.

        Labels of a row of which nothing is known are not possible in its sequence. One that stands
        for several has the share of all of them.

        Parameters
        ----------
        output : NetworkOutput
            Scores (B, S, 1 + L), and `Steps`.
        y_true : Tensor of shape (B, L) or (B, k)
            0/1 targets, which the output has turned into sequences.
        weights, total : as of `MrMPLoss`
        """
        scores, (truth, in_order) = output
        of_rows, of_entries = weight_factors(weights)
        if weights is not None:
            shares = F.pad(in_order(of_entries), (1, 0), value=1.0)
            scores = scores + torch.log(shares)[:, None]
        log_p = torch.log_softmax(scores, dim=2).masked_fill(truth == 0, 0.0)
        losses = -(truth * log_p).sum(dim=(1, 2))
        if weights is None:
            return losses.mean()
        n_rows = of_rows.sum().clamp(min=1e-12) if total is None else total / (truth.shape[2] - 1)
        return (of_rows * losses).sum() / n_rows


def _linear(n_in, n_out):
    linear = nn.Linear(n_in, n_out)
    nn.init.xavier_uniform_(linear.weight)
    nn.init.zeros_(linear.bias)
    return linear


def _longest(y):
    """Return the most labels that any row has."""
    return int((y > 0).sum(dim=1).max())
