"""Decoder: the paper's update, and which encoder layer each decoder layer reads."""

import pytest
import torch

from sklearn_mrmp.nn import DecoderLayer, LabelFeatureDecoder


def test_layer_is_the_papers_update():
    torch.manual_seed(0)
    layer = DecoderLayer(8, 2, 16).eval()
    u, z = torch.randn(5, 8), torch.randn(3, 4, 8)
    m = u + layer.attention(u, z)
    torch.testing.assert_close(layer(u, z), m + layer.feed_forward(m))


@pytest.mark.parametrize(
    ("n_layers", "n_states", "read"),
    [(2, 2, [0, 1]), (1, 3, [2]), (2, 3, [1, 2]), (3, 1, [0, 0, 0]), (3, 2, [0, 1, 1])],
)
def test_each_layer_reads_its_encoder_layer(n_layers, n_states, read):
    torch.manual_seed(0)
    decoder = LabelFeatureDecoder(n_layers, 8, 2, 16).eval()
    states = [torch.randn(3, 4, 8) for _ in range(n_states)]
    u = torch.randn(5, 8)
    decoded = decoder(u, states)
    assert len(decoded) == n_layers
    for layer, index, out in zip(decoder.layers, read, decoded, strict=True):
        u = layer(u, states[index])
        torch.testing.assert_close(out, u)
