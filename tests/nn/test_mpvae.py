"""MPVAE's network: exact marginals, a factorised ranking loss, and what its branches read."""

import math

import pytest
import torch
from torch.nn import functional as F

from sklearn_mrmp.nn import MPVAELoss, MPVAEModule, NetworkOutput
from sklearn_mrmp.nn._speed.probit import log_probit
from sklearn_mrmp.nn.mpvae import Draws, probit_losses

N_LABELS = 4
TOKENS = {"tokens": torch.tensor([[1, 2, 3], [4, 5, 0]])}
MASK = torch.tensor([[True, True, True], [True, True, False]])
Y = torch.tensor([[1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])


def make(embedding=None, **options):
    torch.manual_seed(0)
    embedding = embedding or {"kind": "tokens", "n_tokens": 9}
    sizes = {"d_model": 8, "d_inner": 12, "d_latent": 3, "n_samples": 6}
    return MPVAEModule(embedding, N_LABELS, **{**sizes, **options})


def normal(*shape):
    return torch.randn(*shape, dtype=torch.float64)


class TestLogProbit:
    """The plain twin is torch's own function."""

    def test_equals_torchs_functions_and_gradients(self):
        x = torch.linspace(-11.5, 9, 501, dtype=torch.float64, requires_grad=True)
        ours, plain = log_probit(x), (torch.special.log_ndtr(x), torch.special.ndtr(x))
        weights = normal(501), normal(501)
        for mine, its in zip(ours, plain, strict=True):
            torch.testing.assert_close(mine, its, rtol=1e-9, atol=1e-12)
        slopes = [torch.autograd.grad(pair, x, weights)[0] for pair in (ours, plain)]
        torch.testing.assert_close(*slopes, rtol=1e-6, atol=1e-9)

    def test_far_tails_are_finite_and_nearly_exact_in_single_precision(self):
        x = torch.tensor([-1e4, -100.0, -20.0, -12.0, 0.0, 40.0], requires_grad=True)
        log_p, p = log_probit(x)
        torch.testing.assert_close(log_p, torch.special.log_ndtr(x), rtol=1e-5, atol=0.01)
        (log_p.sum() + p.sum()).backward()
        assert torch.isfinite(x.grad).all()
        assert x.grad[1] == pytest.approx(100, rel=0.01)


def test_closed_form_marginals_are_the_mean_over_draws():
    module = make(covariance_rank=2).eval()
    with torch.no_grad():
        module.loadings.mul_(3.0)
        logits = module(**TOKENS, mask=MASK).logits.double()
        _, of_features, of_decoder = module._read(MASK, TOKENS)
        m = module._decode(of_decoder, module.feature_encoder(of_features)[0], None).double()
        module.n_samples = 100_000
        draws = torch.special.ndtr(m + module._shifts(None).double()).mean(dim=0)
    torch.testing.assert_close(torch.sigmoid(logits), draws, rtol=0.0, atol=0.006)


def test_the_likelihood_is_that_of_its_definition():
    torch.manual_seed(1)
    m, shifts, y = normal(2, N_LABELS), normal(5, 1, N_LABELS), Y.double()
    p = torch.special.ndtr(m + shifts)
    expected = -torch.log(torch.where(y > 0, p, 1 - p).prod(dim=-1).mean(dim=0))
    torch.testing.assert_close(probit_losses(m, shifts, y)[0], expected)


def test_the_factorised_ranking_loss_is_the_sum_over_pairs():
    torch.manual_seed(1)
    m, shifts, y = normal(2, N_LABELS), normal(3, 1, N_LABELS), Y.double()
    E, expected = torch.special.ndtr(m + shifts), []
    for row in range(2):
        positives, negatives = y[row].nonzero().ravel(), (1 - y[row]).nonzero().ravel()
        pairs = [
            torch.exp(-5 * (E[:, row, i] - E[:, row, k])) for i in positives for k in negatives
        ]
        expected.append(torch.stack(pairs).mean() / 5)
    torch.testing.assert_close(probit_losses(m, shifts, y)[1], torch.stack(expected))


def test_rows_with_no_label_or_with_all_of_them_have_no_ranking_loss():
    y = torch.stack([torch.zeros(N_LABELS), torch.ones(N_LABELS)])
    m = torch.randn(2, N_LABELS, requires_grad=True)
    nll, ranking = probit_losses(m, torch.randn(3, 1, N_LABELS), y)
    assert ranking.tolist() == [0.0, 0.0]
    (nll + ranking).sum().backward()
    assert torch.isfinite(m.grad).all()


def test_without_loadings_labels_are_independent_probits():
    module = make()
    with torch.no_grad():
        module.loadings.zero_()
    torch.testing.assert_close(module.label_covariance(), torch.eye(N_LABELS))
    output = module(**TOKENS, mask=MASK, targets=Y)
    m = output.extras.means[0].double()
    expected = -torch.special.log_ndtr((2 * Y - 1) * m).sum(dim=1)
    nll, _ = probit_losses(m, output.extras.shifts.double(), Y.double())
    torch.testing.assert_close(nll, expected)


def test_weights_say_how_many_labels_an_entry_stands_for():
    torch.manual_seed(1)
    m, shifts, y = normal(1, 2), normal(3, 1, 2), torch.tensor([[1.0, 0.0]]).double()
    repeat, weights = [0, 1, 1, 1], torch.tensor([[1.0, 3.0]]).double()
    expected = probit_losses(m[:, repeat], shifts[..., repeat], y[:, repeat])
    torch.testing.assert_close(probit_losses(m, shifts, y, weights), expected)


def test_a_row_of_weight_two_counts_like_two_rows():
    torch.manual_seed(1)
    m, shifts = torch.randn(2, 2, N_LABELS), torch.randn(3, 1, N_LABELS)
    divergence, twice = torch.tensor([1.0, 3.0]), [0, 1, 1]
    loss, weights = MPVAELoss(), torch.tensor([[1.0], [2.0]]).expand(2, N_LABELS)
    repeated = Draws((m[0][twice], m[1][twice]), shifts, divergence[twice])
    expected = loss(NetworkOutput(m[1][twice], repeated), Y[twice])
    weighted = loss(NetworkOutput(m[1], Draws((m[0], m[1]), shifts, divergence)), Y, weights)
    torch.testing.assert_close(weighted, expected)


def test_unknown_entries_and_rows_do_not_count():
    torch.manual_seed(1)
    m, shifts = torch.randn(3, N_LABELS), torch.randn(3, 1, N_LABELS)
    y, weights = torch.ones(3, N_LABELS), torch.ones(3, N_LABELS)
    y[0, 0], weights[0, 3], weights[2] = 0.0, 0.0, 0.0

    def loss(y):
        draws = Draws((m, m), shifts, torch.tensor([0.0, 0.0, 9.0]))
        return MPVAELoss()(NetworkOutput(m, draws), y, weights)

    other = y.clone()
    other[0, 3], other[2] = 0.0, 0.0
    assert torch.isfinite(loss(y))
    torch.testing.assert_close(loss(other), loss(y))


def test_the_divergence_is_that_of_two_gaussians():
    module = make(dropout=0.0)
    output = module(**TOKENS, mask=MASK, targets=Y)
    of_labels, of_features, _ = module._read(MASK, TOKENS)
    gaussians = [
        module.label_encoder(of_labels + module.from_labels(Y)),
        module.feature_encoder(of_features),
    ]
    q, p = (torch.distributions.Normal(mean, (0.5 * log).exp()) for mean, log in gaussians)
    expected = torch.distributions.kl_divergence(q, p).sum(dim=1)
    torch.testing.assert_close(output.extras.divergence, expected)


def test_the_loss_adds_both_branches_and_the_divergence_per_label():
    m, shifts = torch.randn(2, 2, N_LABELS), torch.randn(3, 1, N_LABELS)
    draws = Draws((m[0], m[1]), shifts, torch.tensor([1.0, 3.0]))
    parts = [probit_losses(each, shifts, Y) for each in m]
    expected = 1.1 * 2.0 + sum((10 * nll + 0.1 * rank).mean() for nll, rank in parts)
    loss = MPVAELoss(likelihood=10.0, ranking=0.1, divergence=1.1)
    torch.testing.assert_close(loss(NetworkOutput(m[1], draws), Y), expected / N_LABELS)


def test_in_evaluation_the_loss_is_the_cross_entropy_of_the_marginals():
    output = make().eval()(**TOKENS, mask=MASK, targets=Y)
    assert output.extras is None
    expected = F.binary_cross_entropy_with_logits(output.logits, Y)
    torch.testing.assert_close(MPVAELoss()(output, Y), expected)


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize(
    "mask", [None, MASK, torch.tensor([[0.0, 0.5, -1.0], [0.3, 0.1, -math.inf]])]
)
def test_bags_equal_sums_of_token_embeddings(values, mask):
    module = make({"kind": "tokens", "n_tokens": 9, "values": values}, architecture="paper")
    inputs = TOKENS | ({"values": torch.randn(2, 3) * (TOKENS["tokens"] > 0)} if values else {})
    states = module.embedding(**inputs)  # (B, T, d)
    weights = torch.ones(2, 3) if mask is None else mask.float()
    weights = weights if mask is None or mask.dtype == torch.bool else mask.exp()
    expected = (states * weights[..., None]).sum(dim=1)
    torch.testing.assert_close(torch.cat(module._read(mask, inputs), dim=1), expected)


def test_permuting_labels_permutes_logits():
    order = torch.tensor([2, 0, 3, 1])
    module, other = make().eval(), make().eval()
    with torch.no_grad():
        for mine, its in [
            (module.output.weight, other.output.weight),
            (module.output.bias, other.output.bias),
            (module.loadings, other.loadings),
        ]:
            its.copy_(mine[order])
        expected = module(**TOKENS, mask=MASK).logits[:, order]
        torch.testing.assert_close(other(**TOKENS, mask=MASK).logits, expected)


def test_all_labels_as_candidates_in_any_order_are_the_same_network():
    order = torch.tensor([[2, 0, 3, 1], [3, 2, 1, 0]])
    module = make(dropout=0.0)
    with torch.no_grad():
        expected = module.eval()(**TOKENS, mask=MASK).logits.gather(1, order)
        chosen = module(**TOKENS, mask=MASK, candidates=order).logits
        torch.testing.assert_close(chosen, expected)
        module.train()
        torch.manual_seed(3)
        all_labels = module(**TOKENS, mask=MASK, targets=Y).extras
        torch.manual_seed(3)
        chosen = module(**TOKENS, mask=MASK, targets=Y.gather(1, order), candidates=order).extras
    torch.testing.assert_close(chosen.divergence, all_labels.divergence)
    for mine, its in zip(chosen.means, all_labels.means, strict=True):
        torch.testing.assert_close(mine, its.gather(1, order))
    shifts = all_labels.shifts.expand(-1, 2, -1).gather(2, order.expand(6, -1, -1))
    torch.testing.assert_close(chosen.shifts, shifts)


@pytest.mark.parametrize("architecture", ["default", "paper"])
def test_rows_without_tokens_have_finite_logits_and_gradients(architecture):
    module = make(architecture=architecture)
    mask = torch.tensor([[False, False, False], [True, False, False]])
    tokens = torch.tensor([[0, 0, 0], [4, 0, 0]])
    output = module(tokens=tokens, mask=mask, targets=Y)
    MPVAELoss()(output, Y).backward()
    assert torch.isfinite(output.logits).all()
    assert all(torch.isfinite(weight.grad).all() for weight in module.parameters())


def test_labels_start_at_their_frequencies():
    prior = torch.tensor([0.5, 0.1, 0.9, 0.2])
    module = make(prior=prior).eval()
    logits = module._marginal_logits(module.output.bias[None], None)
    torch.testing.assert_close(torch.sigmoid(logits)[0], prior)


def test_a_rank_above_the_number_of_labels_is_that_number():
    assert make(covariance_rank=99).loadings.shape == (N_LABELS, N_LABELS)
    assert make(covariance_rank=2).loadings.shape == (N_LABELS, 2)
