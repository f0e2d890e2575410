"""The embedding that is a transformer: windows, padding and precision."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from sklearn_mrmp.nn import make_embedding
from sklearn_mrmp.nn.transformer_embedding import half_precision

WIDTH, WINDOW = 6, 4


class Stub(nn.Module):
    """A transformer whose states tell the id, the place, and how many tokens are beside it."""

    config = SimpleNamespace(num_hidden_layers=3)

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(WIDTH, 20)
        self.autocast = []

    def forward(self, input_ids, attention_mask):
        assert attention_mask.any(dim=1).all()
        self.autocast.append(torch.is_autocast_enabled("cpu"))
        place = torch.arange(input_ids.shape[1]).expand_as(input_ids)
        n_beside = attention_mask.sum(dim=1, keepdim=True).expand_as(input_ids)
        states = torch.stack([input_ids, place, n_beside] * 2, dim=-1).float()
        return SimpleNamespace(last_hidden_state=states + 0 * self.inner.weight.sum())


def embedding():
    source = SimpleNamespace(width=WIDTH, window=WINDOW, make=Stub)
    module = make_embedding({"kind": "transformer", "source": source}, d_model=3)
    module.norm = module.projection = nn.Identity()
    module.norm.weight = nn.Parameter(torch.zeros(1))
    return module


def test_ids_are_those_of_the_encoder_and_count_from_zero():
    states = embedding()(torch.tensor([[1, 8, 3]]))
    assert states[0, :, 0].tolist() == [0, 7, 2]


def test_each_window_of_a_row_is_read_on_its_own():
    rows = torch.tensor([[1, 2, 3, 4, 5, 6], [7, 8, 0, 0, 0, 0]])
    states = embedding()(rows)
    assert states.shape == (2, 6, WIDTH)
    assert states[0, :, 1].tolist() == [0, 1, 2, 3, 0, 1]
    assert states[0, :, 2].tolist() == [4, 4, 4, 4, 2, 2]
    assert states[1, :2, 2].tolist() == [2, 2]


def test_rows_without_tokens_have_a_place():
    assert not embedding()(torch.zeros(2, 1, dtype=torch.long)).any()
    assert embedding()(torch.tensor([[0], [3]]))[:, 0, 0].tolist() == [0, 2]


def test_the_transformer_gets_gradients():
    module = embedding()
    module(torch.tensor([[1, 2]])).sum().backward()
    assert module.transformer.inner.weight.grad is not None


def test_it_knows_its_widest_layer_and_what_it_keeps():
    module = embedding()
    assert module.widest == 20
    assert module.activation_numbers(2, 5) == 2 * 5 * (3 * WIDTH + 4 * 20)


@pytest.mark.parametrize(
    ("device", "supported", "expected"),
    [
        ("cuda", True, torch.bfloat16),
        ("cuda", False, None),
        ("cpu", True, None),
        ("mps", True, None),
    ],
)
def test_half_precision_is_for_cuda_that_has_it(monkeypatch, device, supported, expected):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: supported)
    assert half_precision(torch.device(device)) is expected


def test_half_precision_is_used_in_training_alone(monkeypatch):
    name = "sklearn_mrmp.nn.transformer_embedding.half_precision"
    monkeypatch.setattr(name, lambda device: torch.bfloat16)
    module, tokens = embedding(), torch.tensor([[1, 2]])
    module.train()(tokens)
    module.eval()(tokens)
    assert module.transformer.autocast == [True, False]


def test_the_cpu_is_left_as_it_is():
    module, tokens = embedding().train(), torch.tensor([[1, 2]])
    module(tokens)
    with torch.autocast("cpu", dtype=torch.bfloat16):  # the user's own
        module(tokens)
    assert module.transformer.autocast == [False, True]
