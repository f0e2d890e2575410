"""LaMP's network: who hears whom, and what its loss counts."""

import pytest
import torch
from torch.nn import functional as F

from sklearn_mrmp.nn import LaMPLoss, LaMPModule, MultiHeadAttention, NetworkOutput
from sklearn_mrmp.nn.lamp import MessageLayer

N_LABELS = 5
TOKENS = {"tokens": torch.tensor([[1, 2, 3], [4, 5, 0]])}
MASK = torch.tensor([[True, True, True], [True, True, False]])


def make(relations=None, **options):
    torch.manual_seed(0)
    sizes = {"d_model": 8, "n_heads": 2, "d_inner": 12, "n_encoder_layers": 1}
    embedding = {"kind": "tokens", "n_tokens": 9}
    return LaMPModule(embedding, N_LABELS, relations, **{**sizes, **options}).eval()


def logits(module, **options):
    with torch.no_grad():
        return module(**TOKENS, mask=MASK, **options).logits


def links(*pairs):
    adjacency = torch.zeros(N_LABELS, N_LABELS)
    for i, j in pairs:
        adjacency[i, j] = 1.0
    return {"link": adjacency.to_sparse()}


def changed_by(module, label):
    """Labels whose logits change when the embedding of one of them does."""
    before = logits(module)
    with torch.no_grad():
        module.labels[label] += 1.0
    return set((logits(module) != before).any(dim=0).nonzero().ravel().tolist())


def copied(source, target):
    target.load_state_dict(source.state_dict(), strict=False)
    return target


@pytest.mark.parametrize("architecture", ["default", "paper"])
@pytest.mark.parametrize("graph", ["edgeless", "full", "linked"])
def test_permuting_labels_permutes_logits(graph, architecture):
    order = torch.tensor([3, 0, 4, 1, 2])
    relations, permuted = None, None
    if graph == "linked":
        relations = links((0, 1), (1, 4), (2, 3))
        permuted = {"link": relations["link"].to_dense()[order][:, order].to_sparse()}
    options = {"all_pairs": graph == "full", "architecture": architecture}
    module, other = make(relations, **options), make(permuted, **options)
    with torch.no_grad():
        for name in ("labels", "output", "bias"):
            if getattr(module, name) is not None:
                getattr(other, name).copy_(getattr(module, name)[order])
    torch.testing.assert_close(logits(other), logits(module)[:, order])


def test_without_edges_a_logit_ignores_other_labels():
    assert changed_by(make(), 2) == {2}


def test_one_round_carries_messages_along_edges_in_both_directions_and_no_further():
    module = make(links((0, 1), (1, 2)), n_decoder_layers=1)
    assert changed_by(module, 1) == {0, 1, 2}
    assert changed_by(module, 0) == {0, 1}


def test_a_second_round_carries_them_on():
    assert changed_by(make(links((0, 1), (1, 2))), 0) == {0, 1, 2}


def test_all_pairs_is_a_graph_of_all_pairs():
    every = links(*((i, j) for i in range(N_LABELS) for j in range(N_LABELS)))
    full, linked = make(all_pairs=True), make(every)
    assert full.pairs is None
    torch.testing.assert_close(logits(copied(full, linked)), logits(full))


def test_attention_to_oneself_alone_is_a_linear_map():
    torch.manual_seed(0)
    attention, u = MultiHeadAttention(8, 2), torch.randn(3, N_LABELS, 8)
    layer = MessageLayer(8, 2, 12, alone=True)
    value, bias = attention.qkv.weight[16:], attention.qkv.bias[16:]
    with torch.no_grad():
        layer.attention.weight.copy_(attention.output.weight @ value)
        layer.attention.bias.copy_(attention.output.weight @ bias + attention.output.bias)
    alone = torch.eye(N_LABELS, dtype=torch.bool)
    torch.testing.assert_close(layer.attention(u, u), attention(u, u, pairs=alone))


@pytest.mark.parametrize("relations", [None, links((0, 1), (1, 2))])
def test_all_labels_as_candidates_in_any_order_have_their_logits(relations):
    module, order = make(relations), torch.tensor([[3, 0, 4, 1, 2], [2, 1, 0, 3, 4]])
    expected = logits(module).gather(1, order)
    torch.testing.assert_close(logits(module, candidates=order), expected)


def test_candidates_hear_candidates_alone():
    module = make(links((0, 1), (1, 2)))
    chosen = torch.tensor([[0, 2], [0, 2]])
    before = logits(module, candidates=chosen)
    with torch.no_grad():
        module.labels[1] += 1.0
    torch.testing.assert_close(logits(module, candidates=chosen), before)


@pytest.mark.parametrize("relations", [None, links((0, 1))])
def test_rows_without_tokens_have_finite_logits_and_gradients(relations):
    module = make(relations).train()
    mask = torch.tensor([[False, False, False], [True, False, False]])
    output = module(**TOKENS, mask=mask)
    LaMPLoss()(output, torch.zeros(2, N_LABELS)).backward()
    assert torch.isfinite(output.logits).all()
    assert all(torch.isfinite(weight.grad).all() for weight in module.parameters())


def test_the_bias_starts_at_the_log_odds_of_the_labels():
    prior = torch.tensor([0.5, 0.1, 0.9, 0.2, 0.3])
    torch.testing.assert_close(make(prior=prior).bias.detach(), torch.logit(prior))
    assert make(prior=prior, architecture="paper").bias is None


def test_training_returns_the_rounds_before_the_last():
    module = make(n_decoder_layers=3, dropout=0.0)
    assert module(**TOKENS).extras is None
    assert len(module.train()(**TOKENS).extras) == 2


def test_the_loss_is_the_mean_over_rounds():
    first, last = torch.randn(2, 2, N_LABELS)
    y = (torch.rand(2, N_LABELS) < 0.5).float()
    expected = [F.binary_cross_entropy_with_logits(z, y) for z in (first, last)]
    loss = LaMPLoss()
    torch.testing.assert_close(loss(NetworkOutput(last, [first]), y), sum(expected) / 2)
    torch.testing.assert_close(loss(NetworkOutput(last), y), expected[1])


def test_weights_of_the_loss_say_how_many_labels_an_entry_stands_for():
    z, y = torch.tensor([[0.3, -1.0]]), torch.tensor([[1.0, 0.0]])
    repeated = F.binary_cross_entropy_with_logits(z[:, [0, 1, 1, 1]], y[:, [0, 1, 1, 1]])
    weights = torch.tensor([[1.0, 3.0]])
    torch.testing.assert_close(LaMPLoss()(NetworkOutput(z), y, weights), repeated)
