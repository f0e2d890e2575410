"""LaMP, MPVAE and ML-RNN as their authors formulate them, written plainly.

Helper of the benchmarks. LaMP repeats the label embeddings for every row, holds the scores of every
label for every other, with dropout on them, and scores every label state with every output vector
to keep the diagonal. MPVAE reads dense rows, compares all pairs of labels for every draw in its
ranking loss, and averages 10,000 draws to predict. ML-RNN takes a step of the recurrent layer for
each label, and searches for the sets of one row after the other, with lists of hypotheses. All
compute what the package computes, but for dropout on scores; tests compare them.
"""

import math

import torch
from torch import nn

N_DRAWS_OF_PREDICTION = 10_000


class DenseAttention(nn.Module):
    """Attention whose scores are held, (B, H, Q, T), with dropout on them."""

    def __init__(self, d_model, n_heads, dropout):
        super().__init__()
        self.n_heads = n_heads
        self.query, self.key, self.value, self.output = (
            nn.Linear(d_model, d_model, bias=False) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, z, forbidden):
        """Attend from x (B, Q, d) to z (B, T, d), except where it is forbidden, (·, ·, T)."""
        q, k, v = (
            linear(y).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for linear, y in ((self.query, x), (self.key, z), (self.value, z))
        )
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
        scores = scores.masked_fill(forbidden[:, None], -1e30)
        weights = self.dropout(torch.softmax(scores, dim=-1))
        return self.output((weights @ v).transpose(1, 2).flatten(2))


class ReferenceLayer(nn.Module):
    """Attention and feed-forward, each with dropout, residual and layer norm."""

    def __init__(self, d_model, n_heads, d_inner, dropout):
        super().__init__()
        self.attention = DenseAttention(d_model, n_heads, dropout)
        self.expand, self.contract = nn.Linear(d_model, d_inner), nn.Linear(d_inner, d_model)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, z, forbidden):
        """Map (B, Q, d) to (B, Q, d)."""
        x = self.norm_1(x + self.dropout(self.attention(x, z, forbidden)))
        hidden = self.dropout(torch.relu(self.expand(x)))
        return self.norm_2(x + self.dropout(self.contract(hidden)))


class ReferenceLaMP(nn.Module):
    """The network of `LaMPModule` with ``architecture="paper"``, for bags without values."""

    def __init__(self, n_tokens, n_labels, linked, *, d_model, n_heads, d_inner, dropout):
        super().__init__()
        self.tokens = nn.Embedding(n_tokens + 1, d_model, padding_idx=0)
        self.norm, self.dropout = nn.LayerNorm(d_model), nn.Dropout(dropout)
        sizes = (d_model, n_heads, d_inner, dropout)
        self.encoder, self.from_input, self.from_labels = (
            nn.ModuleList(ReferenceLayer(*sizes) for _ in range(2)) for _ in range(3)
        )
        self.labels = nn.Embedding(n_labels, d_model)
        self.output = nn.Linear(d_model, n_labels, bias=False)
        self.register_buffer("unlinked", ~linked[None])

    def forward(self, tokens):
        """Map ids (B, T), 0 = padding, to the logits of each round, (B, L) each."""
        padding = (tokens == 0)[:, None]
        z = self.dropout(self.norm(self.tokens(tokens)))
        for layer in self.encoder:
            z = layer(z, z, padding)
        u = self.labels.weight.repeat(len(tokens), 1, 1)  # (B, L, d)
        logits = []
        for from_input, from_labels in zip(self.from_input, self.from_labels, strict=True):
            u = from_input(u, z, padding)
            u = from_labels(u, u, self.unlinked)
            logits.append(torch.diagonal(self.output(u), dim1=1, dim2=2))  # of (B, L, L)
        return logits


@torch.no_grad()
def copy_lamp(module, reference):
    """Give the reference the weights of a `LaMPModule`, whose biases of attention are zero."""
    reference.tokens.weight.copy_(module.embedding.presence.weight)
    reference.norm.load_state_dict(module.encoder.embedding_norm.state_dict())
    reference.labels.weight.copy_(module.labels)
    reference.output.weight.copy_(module.output)
    for theirs, ours in (
        (reference.encoder, module.encoder.layers),
        (reference.from_input, module.from_input),
        (reference.from_labels, module.from_labels),
    ):
        for layer, source in zip(theirs, ours, strict=True):
            attention = layer.attention
            parts = source.attention.qkv.weight.chunk(3)
            projections = attention.query, attention.key, attention.value
            for linear, weight in zip(projections, parts, strict=True):
                linear.weight.copy_(weight)
            attention.output.weight.copy_(source.attention.output.weight)
            layer.expand.load_state_dict(source.feed_forward.expand.state_dict())
            layer.contract.load_state_dict(source.feed_forward.contract.state_dict())
            layer.norm_1.load_state_dict(source.attention_norm.state_dict())
            layer.norm_2.load_state_dict(source.feed_forward_norm.state_dict())


class ReferenceMPVAE(nn.Module):
    """The network of `MPVAEModule` with ``architecture="paper"``, of dense rows."""

    def __init__(self, n_features, n_labels, *, d_model=256, d_inner=512, d_latent=50, dropout=0.5):
        super().__init__()
        self.label_encoder = _layers([n_features + n_labels, d_inner, d_model], dropout)
        self.feature_encoder = _layers([n_features, d_model, d_inner, d_model], dropout)
        self.decoder = _layers([n_features + d_latent, d_model, d_inner], 0.0)
        self.label_heads, self.feature_heads = (nn.Linear(d_model, 2 * d_latent) for _ in range(2))
        self.output = nn.Linear(d_inner, n_labels)
        bound = math.sqrt(6.0 / (2 * n_labels))
        self.loadings = nn.Parameter(torch.empty(n_labels, n_labels).uniform_(-bound, bound))

    def forward(self, X, Y):
        """Return the means of both branches, (B, L) each, and the mean KL divergence."""
        mean_e, log_e = self.label_heads(self.label_encoder(torch.cat([X, Y], 1))).chunk(2, 1)
        mean_x, log_x = self.feature_heads(self.feature_encoder(X)).chunk(2, 1)
        means = [self._decode(X, m, s) for m, s in ((mean_e, log_e), (mean_x, log_x))]
        gap = (mean_x - mean_e) ** 2 * torch.exp(-log_x)
        divergence = 0.5 * (log_x - log_e - 1 + torch.exp(log_e - log_x) + gap).sum(1)
        return means, divergence.mean()

    def _decode(self, X, mean, log_variance):
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)
        return self.output(self.decoder(torch.cat([X, z], 1)))

    def loss(self, X, Y, n_draws):
        """Loss of a batch."""
        means, divergence = self(X, Y)
        shifts = torch.randn(n_draws, self.loadings.shape[1]) @ self.loadings.T
        total = 1.1 * divergence
        for m in means:
            nll, ranking = pairwise_losses(m, shifts[:, None], Y)
            total = total + 10.0 * nll.mean() + 0.1 * ranking.mean()
        return total

    def predict(self, X, n_draws=N_DRAWS_OF_PREDICTION):
        """Marginal probabilities as means over draws, (B, L)."""
        mean, log_variance = self.feature_heads(self.feature_encoder(X)).chunk(2, 1)
        m = self._decode(X, mean, log_variance)
        shifts = torch.randn(n_draws, self.loadings.shape[1]) @ self.loadings.T
        return torch.special.ndtr(m + shifts[:, None]).mean(0)


def pairwise_losses(m, shifts, Y):
    """Negative log likelihood and ranking loss of each row, over all pairs of its labels."""
    E = torch.special.ndtr(m + shifts) * (1 - 1e-6) + 5e-7  # (M, B, L)
    log_likelihood = (Y * torch.log(E) + (1 - Y) * torch.log(1 - E)).sum(-1)
    nll = math.log(len(shifts)) - torch.logsumexp(log_likelihood, 0)
    is_pair = Y[:, :, None] * (1 - Y)[:, None]  # (B, L, L)
    gaps = torch.exp(-5.0 * (E[..., :, None] - E[..., None, :]))  # (M, B, L, L)
    ranking = (gaps * is_pair).sum((-1, -2)) / (5.0 * is_pair.sum((-1, -2)).clamp(min=1.0))
    return nll, ranking.mean(0)


def stepwise_scores(module, start, memory, previous):
    """Scores (B, S, 1 + L) of an `MLRNNModule` after the given labels (B, S), step by step."""
    states, scores = start, []
    for label in previous.unbind(dim=1):
        step_scores, states = module._step(memory, states, label)
        scores.append(step_scores)
    return torch.stack(scores, dim=1)


def beam_of_row(module, inputs, width):
    """Label sets that an `MLRNNModule` finds for one row: pairs of log probability and labels.

    Hypotheses are tuples in a list, (log probability, labels, state, whether it has ended), and
    labels are in the network's order, from 1.
    """
    start, memory = module.reader(module.embedding, None, inputs)
    beam = [(0.0, (), start[0], False)]
    for _ in range(module.max_labels):
        live = [hypothesis for hypothesis in beam if not hypothesis[3]]
        if not live:
            break
        states = torch.stack([state for _, _, state, _ in live])
        previous = torch.tensor([labels[-1] if labels else 0 for _, labels, _, _ in live])
        rows = torch.zeros(len(live), dtype=torch.int64)
        scores, states = module._step(memory, states, previous, rows)
        scores = module._permitted(scores, previous, None, None)
        log_next = torch.log_softmax(scores, dim=1).tolist()
        grown = [hypothesis for hypothesis in beam if hypothesis[3]]
        for (log_p, labels, _, _), state, following in zip(live, states, log_next, strict=True):
            for label, value in enumerate(following):
                if value > -math.inf:
                    longer = labels if label == 0 else (*labels, label)
                    grown.append((log_p + value, longer, state, label == 0))
        beam = sorted(grown, key=lambda hypothesis: -hypothesis[0])[:width]
    return [(log_p, labels) for log_p, labels, _, _ in beam]


def _layers(widths, dropout):
    layers = []
    for i in range(len(widths) - 1):
        layers += [nn.Linear(widths[i], widths[i + 1]), nn.ReLU(), nn.Dropout(dropout)]
    return nn.Sequential(*layers)
