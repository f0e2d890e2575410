"""Messages of told labels: who sends what to whom, for all labels and for candidates."""

import pytest
import torch

from sklearn_mrmp.nn import MrMPModule, ToldMessages, relations

PULLING = torch.tensor([[0.0, 1, 0, 0], [1, 0, 2, 0], [0, 2, 0, 0], [0, 0, 0, 0]])
DIRECTED = torch.tensor([[0.0, 0, 0, 1], [0, 0, 0, 0], [0, 3, 0, 0], [0, 0, 0, 0]])
GRAPH = {"pulling": PULLING, "parent": DIRECTED}
TOLD = torch.tensor([[1.0, -1, 0, 0], [0, 0, 0, 0], [-1, 1, 1, -1]])


@pytest.fixture
def messages():
    torch.manual_seed(0)
    made = ToldMessages(4, 6, GRAPH)
    torch.nn.init.normal_(made.output.weight)  # as if it had been trained
    return made


@pytest.fixture
def v():
    return torch.randn(4, 6, generator=torch.Generator().manual_seed(1))


def by_hand(messages, v, told):
    """The formula of the docstring, entry by entry."""
    towards = [PULLING, DIRECTED.T, DIRECTED]  # row = receiver; a symmetric one is used once
    added = torch.zeros(len(told), 4, 6)
    for b, row in enumerate(told):
        for i in range(4):
            total = torch.zeros(messages.gates.shape[1])
            for A, transform in zip(towards, messages.transforms, strict=True):
                for j in range(4):
                    both = (transform(v[j]) + messages.states[j]).chunk(2)
                    if row[j] and i != j:
                        total = total + A[i, j] * both[0 if row[j] > 0 else 1]
            added[b, i] = messages.output(messages.gates[i] * total)
    return added


@pytest.mark.parametrize("always_dense_below", [256, 0], ids=["dense", "sparse"])
def test_messages_are_those_of_the_formula(v, monkeypatch, always_dense_below):
    monkeypatch.setattr(relations, "_ALWAYS_DENSE_BELOW", always_dense_below)
    monkeypatch.setattr(relations, "_DENSE_FROM_DENSITY", 2 * (always_dense_below == 0))
    torch.manual_seed(0)
    messages = ToldMessages(4, 6, GRAPH)
    torch.nn.init.normal_(messages.output.weight)
    torch.testing.assert_close(messages(v, TOLD), by_hand(messages, v, TOLD))


def test_candidates_receive_what_all_labels_would(messages, v):
    candidates = torch.tensor([[2, 1], [0, 3], [3, 0]])
    everybody = messages(v, TOLD)
    chosen = everybody.gather(1, candidates[..., None].expand(-1, -1, 6))
    torch.testing.assert_close(messages(v, TOLD, candidates), chosen)


def test_a_row_of_which_nothing_is_told_receives_nothing(messages, v):
    assert not messages(v, TOLD)[1].any()
    assert not messages(v, TOLD, torch.tensor([[0, 1]] * 3))[1].any()


def test_nobody_reads_what_is_told_of_itself(messages, v):
    other = TOLD.clone()
    other[0, 1] = 1.0
    changed = (messages(v, other) != messages(v, TOLD)).any(dim=2)
    assert changed[0].tolist() == [True, False, True, False]  # the neighbours of label 1
    assert not changed[1:].any()


def test_without_relations_nothing_is_said(v):
    assert not ToldMessages(4, 6)(v, TOLD).any()


def test_a_network_starts_to_read_where_it_was(v):
    torch.manual_seed(0)
    embedding = {"kind": "tokens", "n_tokens": 6, "values": False, "positions": False}
    module = MrMPModule(embedding, 4, GRAPH, d_model=8, n_heads=2).eval()
    tokens = torch.tensor([[1, 2], [3, 4], [5, 6]])
    before = module(tokens=tokens).logits
    assert not module.reads_told
    module.read_told(GRAPH)
    assert module.reads_told
    torch.testing.assert_close(module(tokens=tokens, told=TOLD).logits, before)
    torch.nn.init.normal_(module.told_messages.output.weight)
    torch.testing.assert_close(module(tokens=tokens).logits, before)
    assert not torch.allclose(module(tokens=tokens, told=TOLD).logits, before)
