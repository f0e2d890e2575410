"""Encoder: every layer kept, positions only for sequences, padding without effect."""

import pytest
import torch

from sklearn_mrmp.nn import Encoder, TokenEmbedding, sinusoidal_positions


def test_keeps_the_output_of_every_layer():
    encoder = Encoder(3, d_model=8, n_heads=2, d_inner=16).eval()
    x = torch.randn(2, 4, 8)
    states = encoder(x)
    assert len(states) == 3
    z = encoder.embedding_norm(x)
    for layer, state in zip(encoder.layers, states, strict=True):
        z = layer(z)
        torch.testing.assert_close(state, z)


def test_without_layers_the_embeddings_are_read():
    encoder = Encoder(0, d_model=8, n_heads=2, d_inner=16).eval()
    x = torch.randn(2, 4, 8)
    (state,) = encoder(x)
    torch.testing.assert_close(state, encoder.embedding_norm(x))


def test_order_matters_only_with_positions():
    tokens, swapped = torch.tensor([[1, 2, 3]]), torch.tensor([[3, 2, 1]])
    bag = TokenEmbedding(3, 8)
    torch.testing.assert_close(bag(tokens), bag(swapped).flip(1))
    sequence = TokenEmbedding(3, 8, positions=True)
    assert not torch.allclose(sequence(tokens), sequence(swapped).flip(1))


def test_positions_are_sines_and_cosines():
    codes = sinusoidal_positions(5, 6)
    torch.testing.assert_close(codes[0], torch.tensor([0.0, 1, 0, 1, 0, 1]))
    torch.testing.assert_close(codes[3, 2], torch.sin(torch.tensor(3 / 10_000 ** (2 / 6))))
    assert sinusoidal_positions(4, 5).shape == (4, 5)


def test_value_zero_is_the_plain_embedding_and_values_act_linearly():
    embedding = TokenEmbedding(4, 8, values=True)
    tokens = torch.tensor([[2, 2]])
    plain = embedding.presence(tokens)
    torch.testing.assert_close(embedding(tokens, torch.zeros(1, 2)), plain)
    shift = embedding(tokens, torch.tensor([[1.0, -2.0]])) - plain
    torch.testing.assert_close(shift[0, 1], -2 * shift[0, 0])


def test_padding_and_untrained_tokens_are_zero():
    embedding = TokenEmbedding(3, 8, values=True, trained=torch.tensor([True, False, True]))
    for table in (embedding.presence, embedding.value):
        assert not table.weight[0].any()
        assert not table.weight[2].any()
        assert table.weight[[1, 3]].abs().sum(dim=1).gt(0).all()


@pytest.mark.parametrize("n_padding", [1, 5])
def test_padding_does_not_change_token_states(n_padding):
    torch.manual_seed(0)
    encoder = Encoder(2, d_model=8, n_heads=2, d_inner=16).eval()
    x = torch.randn(2, 3, 8)
    longer = torch.cat([x, torch.randn(2, n_padding, 8)], dim=1)
    mask = torch.arange(3 + n_padding) < torch.tensor([[3], [3]])
    for state, padded_state in zip(encoder(x), encoder(longer, mask), strict=True):
        torch.testing.assert_close(padded_state[:, :3], state)
