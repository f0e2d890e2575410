"""Dropout from random bytes."""

import pytest
import torch

from sklearn_mrmp.nn._speed.dropout import ByteDropout, _table


def mask_of(shape, seed=0, rate=0.25):
    torch.manual_seed(seed)
    return ByteDropout(rate)(torch.ones(shape))


def test_masks_depend_on_the_seed_and_not_on_what_was_dropped_before():
    small = mask_of(1000)
    mask_of(1_000_000)
    assert torch.equal(mask_of(1000), small)
    assert not torch.equal(mask_of(1000, seed=1), small)
    assert not torch.equal(mask_of(1000, rate=0.5).bool(), small.bool())


def test_masks_drawn_without_gradients_are_those_of_training():
    with torch.inference_mode():
        without = mask_of(1000)
    torch.manual_seed(0)
    x = torch.ones(1000, requires_grad=True)
    ByteDropout(0.25)(x).sum().backward()
    assert torch.equal(x.grad, without)


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_it_is_torchs_dropout_but_for_the_numbers_drawn(rate):
    """The plain twin: the same share of zeros, the same scale within a byte's rounding."""
    torch.manual_seed(0)
    ours, theirs = (kind(rate)(torch.ones(100_000)) for kind in (ByteDropout, torch.nn.Dropout))
    zeros = [float(out.eq(0).float().mean()) for out in (ours, theirs)]
    assert zeros[0] == pytest.approx(zeros[1], abs=0.01)
    assert float(ours.max()) == pytest.approx(float(theirs.max()), rel=0.01)


def test_masks_of_one_step_are_not_alike():
    torch.manual_seed(0)
    first, second = (ByteDropout(0.5)(torch.ones(100_000)).bool() for _ in range(2))
    # Of two independent masks half the entries agree.
    assert (first == second).float().mean() == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("n_entries", [1_000_001, 2_200_001], ids=["table", "drawn"])
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_drops_at_the_rate_and_keeps_the_expectation(rate, n_entries):
    torch.manual_seed(0)
    out = ByteDropout(rate)(torch.ones(n_entries))
    assert out.eq(0).float().mean() == pytest.approx(rate, abs=0.006)
    assert out.mean() == pytest.approx(1.0, abs=0.02)


def test_masks_of_one_table_differ_from_call_to_call():
    torch.manual_seed(0)
    dropout, x = ByteDropout(0.5), torch.ones(1000)
    assert not torch.equal(dropout(x), dropout(x))


def test_few_tables_are_kept():
    for rate in (0.1, 0.2, 0.3, 0.4):
        ByteDropout(rate)(torch.ones(10))
    assert _table.cache_info().currsize <= 2


def test_every_byte_of_a_draw_is_random():
    torch.manual_seed(0)
    kept = ByteDropout(0.5)(torch.ones(80_000)).view(-1, 8).bool().float().mean(dim=0)
    torch.testing.assert_close(kept, torch.full((8,), 0.5), atol=0.02, rtol=0)


def test_gradient_passes_where_entries_are_kept():
    x = torch.ones(50, requires_grad=True)
    out = ByteDropout(0.5)(x)
    out.sum().backward()
    torch.testing.assert_close(x.grad, out.detach())


@pytest.mark.parametrize("dropout", [ByteDropout(0.0), ByteDropout(0.5).eval()])
def test_nothing_is_drawn_without_need(dropout):
    state = torch.get_rng_state()
    x = torch.ones(5)
    assert dropout(x) is x
    assert torch.equal(torch.get_rng_state(), state)


def test_same_seed_same_mask_in_any_shape():
    torch.manual_seed(1)
    flat = ByteDropout(0.3)(torch.ones(30))
    torch.manual_seed(1)
    torch.testing.assert_close(ByteDropout(0.3)(torch.ones(2, 3, 5)).flatten(), flat)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("dropout", [ByteDropout(0.1), ByteDropout(0.0), ByteDropout(0.5).eval()])
def test_after_relu_is_dropout_of_relu_to_the_bit(dropout, dtype):
    x = torch.randn(7, 11).to(dtype)

    def value_and_gradient(function):
        torch.manual_seed(3)
        leaf = x.clone().requires_grad_()
        out = function(leaf * 2.0)
        (out * torch.arange(11).to(dtype)).sum().backward()
        return out, leaf.grad

    together = value_and_gradient(dropout.after_relu)
    one_by_one = value_and_gradient(lambda x: dropout(torch.relu(x)))
    assert all(map(torch.equal, together, one_by_one))


def test_after_relu_leaves_its_input_alone_while_gradients_are_wanted():
    x = torch.tensor([-1.0, 2.0])
    ByteDropout(0.5).eval().after_relu(x)
    assert x.tolist() == [-1.0, 2.0]


def test_after_relu_has_second_derivatives():
    x = torch.tensor([-1.0, 0.5, 2.0], dtype=torch.float64, requires_grad=True)

    def same_mask(x):
        torch.manual_seed(0)
        return ByteDropout(0.5).after_relu(x) ** 3

    assert torch.autograd.gradcheck(same_mask, x)
    assert torch.autograd.gradgradcheck(same_mask, x)
