"""Attention: shared queries, masks, empty rows."""

import pytest
import torch

from sklearn_mrmp.nn import MultiHeadAttention, PositionwiseFeedForward, products
from sklearn_mrmp.nn import attention as attention_module


@pytest.fixture(params=["kernel", "products of short rows", "products of long rows"])
def attention(request, monkeypatch):
    monkeypatch.setattr(attention_module, "products_pay", lambda q, k: request.param != "kernel")
    monkeypatch.setattr(products, "_SHORT", 0 if "long" in request.param else 16)
    torch.manual_seed(0)
    return MultiHeadAttention(d_model=8, n_heads=2)


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
    assert attention._folding_pays(queries, tokens)
    results = []
    for folds in (True, False):
        monkeypatch.setattr(attention, "_folding_pays", lambda *_, folds=folds: folds)
        inputs = [x.clone().requires_grad_() for x in (queries, tokens)]
        out = attention(*inputs, mask)
        attention.zero_grad()
        out.square().sum().backward()
        gradients = [x.grad for x in (*inputs, *attention.parameters())]
        results.append([out.detach(), *(gradient.clone() for gradient in gradients)])
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-4)


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


def test_products_are_for_short_rows_on_several_threads(monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    short, long = torch.empty(32, 2, 160, 4), torch.empty(32, 2, 2000, 4)
    assert attention_module.products_pay(short, short)
    assert not attention_module.products_pay(long, long)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    assert not attention_module.products_pay(short, short)


def test_products_are_for_rows_of_few_tokens_on_one_thread_as_well(monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    few, many = torch.empty(32, 2, 15, 4), torch.empty(32, 2, 16, 4)
    assert attention_module.products_pay(many, few)
    assert not attention_module.products_pay(few, many)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_mixed_precision_and_other_devices_are_left_to_the_kernel(device):
    few = torch.empty(32, 2, 15, 4, device=device)
    with torch.autocast("cpu", torch.bfloat16, enabled=device == "cpu"):
        assert not attention_module.products_pay(few, few)


@pytest.mark.parametrize("queries", [None, (5, 6), (3, 5, 6)], ids=["self", "shared", "row"])
@pytest.mark.parametrize("is_masked", [False, True])
def test_gradients_of_products_are_those_of_numbers(monkeypatch, queries, is_masked):
    monkeypatch.setattr(products, "_SHORT", 0)
    torch.manual_seed(0)
    fused = torch.randn(3, 4, 12 if queries else 18, dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[1, 1, 1, 1], [1, 0, 1, 0], [0, 0, 0, 0]]).bool() if is_masked else None
    inputs = (fused,)
    if queries is not None:
        inputs += (torch.randn(queries, dtype=torch.float64, requires_grad=True),)

    def attend(fused, queries=None):
        return products.attend_by_products(queries, fused, mask, n_heads=2)

    assert torch.autograd.gradcheck(attend, inputs)


@pytest.mark.parametrize("shortest", [0, 16], ids=["long rows", "short rows"])
def test_weights_of_tokens_get_a_gradient(monkeypatch, shortest):
    monkeypatch.setattr(products, "_SHORT", shortest)
    torch.manual_seed(0)
    fused, added = (torch.randn(shape, dtype=torch.float64) for shape in ((3, 4, 18), (3, 4)))

    def attend(added):
        return products.attend_by_products(None, fused, added, n_heads=2)

    assert torch.autograd.gradcheck(attend, (added.requires_grad_(),))


def test_no_rows_give_no_output(attention):
    assert attention(torch.randn(5, 8), torch.empty(0, 3, 8)).shape == (0, 5, 8)


def test_many_tokens_or_few_queries_are_not_folded(attention):
    tokens = torch.randn(3, 4, 8)
    assert not attention._folding_pays(tokens, tokens)
    assert not attention._folding_pays(torch.randn(5, 8), tokens)


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
