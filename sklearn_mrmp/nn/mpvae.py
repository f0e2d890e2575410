"""MPVAE: a variational autoencoder of label sets whose decoder is a multivariate probit.

Bai, Kong, Gomes: Disentangled Variational Autoencoder based Multi-Label Classification with
Covariance-Aware Multivariate Probit Model, IJCAI 2020. Two encoders, of rows and of rows with their
labels, share a latent space; one decoder gives the mean m of a probit whose covariance I + B Bᵀ
is the same for all rows. Labels are independent given w ~ N(0, I): P(y_j = 1 | w) = Φ(m_j + B_j w).
Shapes are those of the legend in `sklearn_mrmp.nn`; besides, r is the rank of B and M the number
of draws of w. Knows the other modules of `sklearn_mrmp.nn` and torch.
"""

import math
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

from sklearn_mrmp.nn._speed.dropout import ByteDropout
from sklearn_mrmp.nn._speed.probit import log_probit
from sklearn_mrmp.nn.embedding import TokenEmbedding, make_embedding, summed_tokens
from sklearn_mrmp.nn.loss import mean_cross_entropy, weight_factors
from sklearn_mrmp.nn.module import LabelModule, NetworkOutput

# Steepness of the ranking loss.
_STEEP = 5.0
# Numbers per label, or per token, of a row in prediction batches: a bag of tokens takes little, and
# token states are summed up after their first layer.
_BAG_WIDTH, _SHARE_OF_STATES = 8, 8


class Draws(NamedTuple):
    """What the loss of a training step is made of.

    Attributes
    ----------
    means : tuple of two Tensor of shape (B, L) or (B, k)
        m by z drawn from the label branch, and from the feature branch.
    shifts : Tensor of shape (M, 1, L) or (M, B, k)
        B w for each draw of w.
    divergence : Tensor of shape (B,)
        KL divergence of the label branch's latent distribution from the feature branch's.
    """

    means: tuple
    shifts: torch.Tensor
    divergence: torch.Tensor


class MPVAEModule(LabelModule):
    """Multivariate probit variational autoencoder: batches of rows in, label logits out.

    Parameters
    ----------
    embedding : mapping
        What rows consist of, as `make_embedding` takes it. A row is the sum of its tokens.
    n_labels : int
        Number of labels.
    d_model, d_inner, d_latent : int
        Narrow and wide layers of encoders and decoder, and width of the latent space.
    covariance_rank : int, default=None
        Columns of B; None is the number of labels.
    n_samples : int, default=16
        Draws of w in a training step, M.
    dropout : float, default=0.5
        Dropout in the encoders.
    architecture : {"default", "paper"}, default="default"
        ``"paper"`` reads sums of tokens as they are; ``"default"`` normalises them, and starts the
        labels at their frequencies.
    prior : Tensor of shape (L,), default=None
        Share of training rows with each label (``"default"`` only).
    trained_tokens : bool Tensor of shape (n_tokens,), default=None
        Tokens that training rows contain.

    Examples
    --------
    >>> import torch
    >>> from sklearn_mrmp.nn import MPVAEModule
    >>> module = MPVAEModule({"kind": "tokens", "n_tokens": 9}, 5, d_model=8, d_inner=8).eval()
    >>> module(tokens=torch.tensor([[1, 2, 3], [4, 5, 9]])).logits.shape
    torch.Size([2, 5])
    """

    takes_labels = True

    def __init__(
        self,
        embedding,
        n_labels,
        *,
        d_model=256,
        d_inner=512,
        d_latent=50,
        covariance_rank=None,
        n_samples=16,
        dropout=0.5,
        architecture="default",
        prior=None,
        trained_tokens=None,
    ):
        super().__init__()
        self.n_labels, self.n_samples = n_labels, n_samples
        rank = n_labels if covariance_rank is None else min(covariance_rank, n_labels)
        # The first layers of label encoder, feature encoder and decoder read a row together.
        self.widths = [d_inner, d_model, d_model]
        self.embedding = make_embedding(embedding, sum(self.widths), trained_tokens)
        is_bag = isinstance(self.embedding, TokenEmbedding)
        self.d_inner = _BAG_WIDTH
        if not is_bag:
            widest = getattr(self.embedding, "widest", 0)
            self.d_inner = max(sum(self.widths) // _SHARE_OF_STATES, widest, 1)
        literal = architecture == "paper"
        self.bias = nn.Parameter(torch.zeros(sum(self.widths))) if literal else None
        self.norms = None if literal else nn.ModuleList(nn.LayerNorm(w) for w in self.widths)
        self.from_labels = _linear(n_labels, d_inner)
        self.label_encoder = GaussianEncoder([d_inner, d_model], d_latent, dropout)
        self.feature_encoder = GaussianEncoder([d_model, d_inner, d_model], d_latent, dropout)
        self.from_latent = _linear(d_latent, d_model)
        self.decoder = nn.Sequential(nn.ReLU(), _linear(d_model, d_inner), nn.ReLU())
        self.output = _linear(d_inner, n_labels)
        bound = math.sqrt(6.0 / (n_labels + rank))
        self.loadings = nn.Parameter(torch.empty(n_labels, rank).uniform_(-bound, bound))
        if prior is not None and not literal:
            self._start_at(prior)

    def forward(self, *, mask=None, candidates=None, targets=None, **inputs):
        """Compute the logits of all labels, or of each row's candidates, for a batch of rows.

        Parameters
        ----------
        mask : bool or float Tensor of shape (B, T), default=None
            True where there is a token, or the logarithm of its weight.
        candidates : int64 Tensor of shape (B, k), default=None
            Labels to decode for each row; None decodes all.
        targets : Tensor of shape (B, L) or (B, k), default=None
            True labels of the rows, which training wants.
        **inputs : dict of str to Tensor
            What the embedding takes, such as ``tokens`` (B, T) and ``values`` (B, T).

        Returns
        -------
        output : NetworkOutput
            ``logits`` (B, L) or (B, k): log odds of the marginals at the mean of the latent
            distribution. ``extras``: in training the `Draws`.
        """
        of_labels, of_features, of_decoder = self._read(mask, inputs)
        mean_x, log_x = self.feature_encoder(of_features)
        if not self.training or targets is None:
            m = self._decode(of_decoder, mean_x, candidates)
            return NetworkOutput(self._marginal_logits(m, candidates))
        mean_e, log_e = self.label_encoder(of_labels + self._read_labels(targets, candidates))
        z_e, z_x = _drawn(mean_e, log_e), _drawn(mean_x, log_x)
        m_e, m_x = (self._decode(of_decoder, z, candidates) for z in (z_e, z_x))
        divergence = _divergence(mean_e, log_e, mean_x, log_x)
        draws = Draws((m_e, m_x), self._shifts(candidates), divergence)
        return NetworkOutput(self._marginal_logits(m_x, candidates), draws)

    def label_embeddings(self):
        """Vectors by which the decoder decides about labels, (L, d_inner)."""
        return self.output.weight

    def label_covariance(self):
        """Covariance of the labels in the probit, I + B Bᵀ, (L, L)."""
        identity = torch.eye(self.n_labels, device=self.loadings.device)
        return identity + self.loadings @ self.loadings.T

    def label_entries(self):
        """Entries of the label encoder's first layer, of the decoder's last one and of B."""
        places = torch.arange(self.n_labels)
        names = ("output.weight", "output.bias", "loadings")
        return {"from_labels.weight": (1, places)} | dict.fromkeys(names, (0, places))

    def _start_at(self, prior):
        """Let the bias start where the marginals are the frequencies of the labels."""
        with torch.no_grad():
            spread = torch.sqrt(1.0 + self.loadings.square().sum(dim=1))
            start = torch.special.ndtri(prior.clamp(1e-4, 1 - 1e-4))
            self.output.bias.copy_(spread * start.to(spread.device))

    def _read(self, mask, inputs):
        """Return what the three first layers read of rows, (B, width) each."""
        rows, size = summed_tokens(self.embedding, mask, inputs)
        if self.norms is None:
            return (rows + self.bias).split(self.widths, dim=1)
        rows = rows * size.clamp(min=1.0).rsqrt()[:, None]
        parts = rows.split(self.widths, dim=1)
        return [norm(part) for norm, part in zip(self.norms, parts, strict=True)]

    def _read_labels(self, targets, candidates):
        """First layer of the label encoder, of 0/1 labels: (B, d_inner)."""
        if candidates is None:
            return self.from_labels(targets)
        table = self.from_labels.weight.T.contiguous()
        # All labels of training rows are candidates, once, unless they have more than that.
        bag = F.embedding_bag(candidates, table, mode="sum", per_sample_weights=targets)
        return bag + self.from_labels.bias

    def _decode(self, of_decoder, z, candidates):
        """Mean of the probit, m, (B, L) or (B, k)."""
        hidden = self.decoder(of_decoder + self.from_latent(z))
        if candidates is None:
            return self.output(hidden)
        weight = F.embedding(candidates, self.output.weight)  # (B, k, d_inner)
        return torch.bmm(weight, hidden[:, :, None])[:, :, 0] + self.output.bias[candidates]

    def _shifts(self, candidates):
        """B w of each draw of w: (M, 1, L), or (M, B, k)."""
        w = torch.randn(self.n_samples, self.loadings.shape[1], device=self.loadings.device)
        if candidates is None:
            return (w @ self.loadings.T)[:, None]
        return (F.embedding(candidates, self.loadings) @ w.T).permute(2, 0, 1)

    def _marginal_logits(self, m, candidates):
        """Log odds of P(y_j = 1) = Φ(m_j / √(1 + ‖B_j‖²)), the mean over all w."""
        variance = 1.0 + self.loadings.square().sum(dim=1)
        a = m * (variance if candidates is None else variance[candidates]).rsqrt()
        return torch.special.log_ndtr(a) - torch.special.log_ndtr(-a)


class GaussianEncoder(nn.Module):
    """Layers after the first one, and the mean and log variance of a Gaussian.

    Parameters
    ----------
    widths : sequence of int
        Width of the input, before its ReLU, and of each layer.
    d_latent : int
        Width of the latent space.
    dropout : float, default=0.0
        Dropout after each ReLU.
    """

    def __init__(self, widths, d_latent, dropout=0.0):
        super().__init__()
        self.layers = nn.ModuleList(
            _linear(widths[i], widths[i + 1]) for i in range(len(widths) - 1)
        )
        self.heads = _linear(widths[-1], 2 * d_latent)
        self.dropout = ByteDropout(dropout)

    def forward(self, h):
        """Map (B, width) to mean and log variance, (B, d_latent) each."""
        h = self.dropout.after_relu(h)
        for layer in self.layers:
            h = self.dropout.after_relu(layer(h))
        return self.heads(h).chunk(2, dim=1)


class MPVAELoss(nn.Module):
    """Negative log likelihood, ranking loss and KL divergence, divided by the number of labels.

    Parameters
    ----------
    likelihood, ranking, divergence : float
        Weights λ_1, λ_2 and β of the three.
    """

    def __init__(self, likelihood=10.0, ranking=0.1, divergence=1.1):
        super().__init__()
        self.likelihood, self.ranking, self.divergence = likelihood, ranking, divergence

    def forward(self, output, y_true, weights=None, total=None):
        """Loss of a batch, a scalar.

        Of an output without draws, as in evaluation mode, it is the mean cross entropy of the
        marginals, which is what validation compares.

        Parameters
        ----------
        output : NetworkOutput
            Logits (B, L) or (B, k), and `Draws` or None.
        y_true : Tensor of the shape of the logits
            0/1 targets.
        weights, total : as of `MrMPLoss`
        """
        draws = output.extras
        if draws is None:
            return mean_cross_entropy(output.logits, y_true, weights, total)
        of_rows, of_entries = weight_factors(weights)
        losses = self.divergence * draws.divergence
        for m in draws.means:
            nll, ranking = probit_losses(m, draws.shifts, y_true, of_entries)
            losses = losses + self.likelihood * nll + self.ranking * ranking
        if weights is None:
            return losses.mean() / y_true.shape[1]
        return (of_rows * losses).sum() / (weights.sum() if total is None else total)


def probit_losses(m, shifts, y_true, weights=None):
    """Negative log likelihood and ranking loss of each row.

    The sum over all pairs of a positive i and a negative k of exp(−5 (E_i − E_k)) is a product of
    two sums. Since E is the probability p of the truth for positives and 1 − p for negatives, both
    are sums of exp(−5 p).

    Parameters
    ----------
    m : Tensor of shape (B, L)
        Means.
    shifts : Tensor of shape (M, 1, L) or (M, B, L)
        B w for each draw of w.
    y_true : Tensor of shape (B, L)
        0/1 targets.
    weights : Tensor of shape (B, L), default=None
        How many labels each entry stands for; None is one.

    Returns
    -------
    nll, ranking : Tensor of shape (B,)
        The ranking loss is 0 for rows without positives or without negatives.
    """
    signs = 2.0 * y_true - 1.0
    log_p, p = log_probit(signs * (m + shifts))  # (M, B, L)
    if weights is None:
        total, counts = log_p.sum(dim=-1), torch.ones_like(y_true)
    else:
        total, counts = (log_p * weights).sum(dim=-1), weights
    nll = math.log(len(shifts)) - torch.logsumexp(total, dim=0)
    steep, positive = torch.exp(-_STEEP * p), y_true * counts
    of_positives = (steep * positive).sum(dim=-1)
    of_negatives = (steep * (counts - positive)).sum(dim=-1)
    n_positive = positive.sum(dim=1)
    n_pairs = n_positive * (counts.sum(dim=1) - n_positive)
    pairs = math.exp(_STEEP) / _STEEP * (of_positives * of_negatives).mean(dim=0)
    return nll, pairs / n_pairs.clamp(min=1.0)  # without pairs the product is 0


def _linear(n_in, n_out):
    linear = nn.Linear(n_in, n_out)
    nn.init.xavier_uniform_(linear.weight)
    nn.init.zeros_(linear.bias)
    return linear


def _drawn(mean, log_variance):
    return mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)


def _divergence(mean_e, log_e, mean_x, log_x):
    """KL divergence of N(mean_e, e^log_e) from N(mean_x, e^log_x), (B,)."""
    gap = (mean_x - mean_e).square() * torch.exp(-log_x)
    return 0.5 * (log_x - log_e - 1.0 + torch.exp(log_e - log_x) + gap).sum(dim=1)
