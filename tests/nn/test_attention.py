"""Attention: shared queries, masks, empty rows."""

import pytest
import torch

from sklearn_mrmp.nn import MultiHeadAttention, PositionwiseFeedForward
from sklearn_mrmp.nn import attention as attention_module
from sklearn_mrmp.nn._speed import folding
from sklearn_mrmp.nn._speed.few_queries import are_few
from sklearn_mrmp.nn._speed.folding import should_fold


@pytest.fixture(params=["kernel", "folded for short rows", "folded for long rows", "few queries"])
def attention(request, monkeypatch):
    """Attention by torch's kernel, or with projections folded into the tokens or the queries."""
    folds, few = "folded" in request.param, "few" in request.param
    monkeypatch.setattr(attention_module, "should_fold", lambda *arguments: folds)
    monkeypatch.setattr(attention_module, "are_few", lambda x, *arguments: few and x.dim() == 2)
    monkeypatch.setattr(folding, "_SHORT", 0 if "long" in request.param else 16)
    torch.manual_seed(0)
    return MultiHeadAttention(d_model=8, n_heads=2)


def output_and_gradients(attention, queries, tokens, mask):
    inputs = [x.clone().requires_grad_() for x in (queries, tokens)]
    out = attention(*inputs, mask)
    attention.zero_grad()
    out.square().sum().backward()
    gradients = [x.grad for x in (*inputs, *attention.parameters())]
    return [out.detach(), *(gradient.clone() for gradient in gradients)]


@pytest.mark.parametrize("n_queries", [2, 50])
def test_equals_torchs_multihead_attention(attention, n_queries):
    reference = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    with torch.no_grad():
        reference.in_proj_weight.copy_(attention.qkv.weight)
        reference.in_proj_bias.copy_(attention.qkv.bias)
        reference.out_proj.weight.copy_(attention.output.weight)
        reference.out_proj.bias.copy_(attention.output.bias)
    queries, tokens = torch.randn(3, n_queries, 8), torch.randn(3, 2, 8)
    mask = torch.tensor([[1, 1], [1, 1], [1, 0]], dtype=torch.bool)
    expected, _ = reference(queries, tokens, tokens, key_padding_mask=~mask)
    torch.testing.assert_close(attention(queries, tokens, mask), expected)


def test_self_attention_equals_queries_given_apart(attention):
    tokens = torch.randn(2, 4, 8)
    torch.testing.assert_close(attention(tokens, tokens), attention(tokens.clone(), tokens))


def test_shared_queries_equal_queries_repeated_per_row(attention):
    queries, tokens = torch.randn(5, 8), torch.randn(3, 4, 8)
    repeated = queries.expand(3, 5, 8).clone()
    torch.testing.assert_close(attention(queries, tokens), attention(repeated, tokens))


def test_row_without_tokens_has_finite_output_and_gradient(attention):
    tokens = torch.randn(2, 3, 8, requires_grad=True)
    mask = torch.tensor([[True, True, False], [False, False, False]])
    out = attention(torch.randn(4, 8), tokens, mask)
    out.square().sum().backward()
    assert torch.isfinite(out).all()
    assert torch.isfinite(tokens.grad).all()
    # Attending to nothing yields zeros before the output projection.
    torch.testing.assert_close(out[1], attention.output.bias.expand(4, 8))


@pytest.mark.parametrize("shape", [(40, 8), (3, 40, 8)], ids=["shared queries", "row queries"])
@pytest.mark.parametrize(
    "mask",
    [
        None,
        torch.tensor([[1, 1], [1, 0], [0, 0]]).bool(),
        torch.tensor([[0.5, -2.0], [1.0, -torch.inf], [-torch.inf, -torch.inf]]),
    ],
)
def test_folded_projections_are_the_same_function_with_the_same_gradient(
    attention, monkeypatch, shape, mask
):
    torch.nn.init.normal_(attention.qkv.bias)
    queries, tokens = torch.randn(shape), torch.randn(3, 2, 8)
    assert should_fold(queries, tokens, 2)
    results = []
    for folds in (True, False):
        monkeypatch.setattr(attention_module, "should_fold", lambda *_, folds=folds: folds)
        results.append(output_and_gradients(attention, queries, tokens, mask))
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("mask", [None, torch.arange(24).reshape(3, 8) % 3 > 0])
def test_few_queries_are_the_same_function_with_the_same_gradient(monkeypatch, mask):
    torch.manual_seed(0)
    attention, results = MultiHeadAttention(d_model=8, n_heads=2), []
    torch.nn.init.normal_(attention.qkv.bias)
    queries, tokens = torch.randn(2, 8), torch.randn(3, 8, 8)
    assert are_few(queries, tokens, 2)
    for few in (True, False):
        monkeypatch.setattr(attention_module, "are_few", lambda *_, few=few: few)
        results.append(output_and_gradients(attention, queries, tokens, mask))
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-4)


def test_queries_of_each_row_or_many_of_them_are_not_few():
    tokens = torch.randn(3, 20, 8)
    assert are_few(torch.randn(2, 8), tokens, 2)
    assert not are_few(torch.randn(3, 2, 8), tokens, 2)
    assert not are_few(torch.randn(20, 8), tokens, 2)
    assert not are_few(torch.randn(2, 8), tokens[:0], 2)


def test_weights_multiply_what_attention_gives_a_token(attention):
    queries, tokens = torch.randn(3, 8), torch.randn(1, 2, 8)
    twice = attention(queries, torch.cat([tokens, tokens[:, :1]], dim=1))
    weighted = attention(queries, tokens, torch.tensor([[2.0, 1.0]]).log())
    torch.testing.assert_close(weighted, twice)


def test_a_float_mask_of_zeros_is_a_bool_mask(attention):
    queries, tokens = torch.randn(4, 8), torch.randn(2, 3, 8)
    mask = torch.tensor([[True, True, False], [False, False, False]])
    added = torch.zeros(2, 3).masked_fill(~mask, -torch.inf)
    torch.testing.assert_close(attention(queries, tokens, added), attention(queries, tokens, mask))


def test_masks_go_with_any_precision(attention):
    attention.double()
    queries, tokens = torch.randn(4, 8).double(), torch.randn(2, 3, 8).double()
    mask = torch.tensor([[True, True, False], [False, False, False]])
    added = torch.zeros(2, 3).masked_fill(~mask, -torch.inf)
    torch.testing.assert_close(attention(queries, tokens, added), attention(queries, tokens, mask))


@pytest.mark.parametrize("shape", [(5, 8), (3, 5, 8)], ids=["shared", "row"])
@pytest.mark.parametrize("is_masked", [False, True])
def test_gradients_are_those_of_numbers(attention, shape, is_masked):
    attention.double()
    queries, tokens = (
        torch.randn(size, dtype=torch.float64, requires_grad=True) for size in (shape, (3, 4, 8))
    )
    mask = torch.tensor([[1, 1, 1, 1], [1, 0, 1, 0], [0, 0, 0, 0]]).bool() if is_masked else None
    assert torch.autograd.gradcheck(lambda *x: attention(*x, mask), (queries, tokens))


def test_weights_of_tokens_get_a_gradient(attention):
    attention.double()
    queries, tokens = torch.randn(5, 8).double(), torch.randn(3, 4, 8).double()
    added = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda added: attention(queries, tokens, added), (added,))


@pytest.mark.parametrize("n_queries", [5, 50])
def test_no_rows_give_no_output(n_queries):
    attention = MultiHeadAttention(d_model=8, n_heads=2)
    for shape in ((n_queries, 8), (0, n_queries, 8)):
        assert attention(torch.randn(shape), torch.empty(0, 2, 8)).shape == (0, n_queries, 8)


def test_many_tokens_or_few_queries_are_not_folded():
    tokens = torch.randn(3, 4, 8)
    assert not should_fold(tokens, tokens, 2)
    assert not should_fold(torch.randn(5, 8), tokens, 2)
    assert should_fold(torch.randn(50, 8), tokens[:, :2], 2)


def test_folding_is_asked_for_where_it_saves_and_no_pairs_are_given(monkeypatch):
    calls, attention = [], MultiHeadAttention(d_model=8, n_heads=2)
    original = attention_module.folded_attention
    monkeypatch.setattr(
        attention_module, "folded_attention", lambda *x: calls.append(1) or original(*x)
    )
    many, tokens = torch.randn(50, 8), torch.randn(3, 2, 8)
    attention(many[:2], tokens)
    attention(many, tokens, pairs=torch.ones(50, 2, dtype=torch.bool))
    assert not calls
    attention(many, tokens)
    assert calls


def test_width_must_be_a_multiple_of_heads():
    with pytest.raises(ValueError, match="d_model=10 and n_heads=4"):
        MultiHeadAttention(10, 4)


def test_feed_forward_is_the_papers_formula():
    block = PositionwiseFeedForward(3, 5)
    x = torch.randn(2, 4, 3)
    hidden = (x @ block.expand.weight.T + block.expand.bias).clamp(min=0)
    torch.testing.assert_close(block(x), hidden @ block.contract.weight.T + block.contract.bias)


@pytest.mark.parametrize("n_queries", [3, 50])
def test_queries_attend_to_the_pairs_they_may(attention, n_queries):
    torch.manual_seed(0)
    queries, tokens = torch.randn(n_queries, 8), torch.randn(2, 4, 8)
    everything = torch.ones(n_queries, 4, dtype=torch.bool)
    torch.testing.assert_close(
        attention(queries, tokens, pairs=everything), attention(queries, tokens)
    )
    some = everything.clone()
    some[:, 2:] = False
    torch.testing.assert_close(
        attention(queries, tokens, pairs=some), attention(queries, tokens[:, :2])
    )


def test_pairs_and_padding_go_together(attention):
    torch.manual_seed(0)
    queries, tokens = torch.randn(3, 8), torch.randn(2, 4, 8)
    mask, pairs = torch.tensor([[True, True, True, False]] * 2), torch.ones(3, 4, dtype=torch.bool)
    pairs[:, 0] = False
    both = attention(queries, tokens, mask, pairs=pairs)
    torch.testing.assert_close(both, attention(queries, tokens[:, 1:3]))
