"""The label-relation module against hand-computed values, and its invariants."""

import pytest
import torch

from sklearn_mrmp.nn import CompGCNLayer, LabelRelationModule

# Labels 0 and 1 pull each other, 0 and 2 push each other.
PULLING = torch.tensor([[0.0, 1, 0], [1, 0, 0], [0, 0, 0]])
PUSHING = torch.tensor([[0.0, 0, 1], [0, 0, 0], [1, 0, 0]])


def set_parameters(module, v, z, weights):
    with torch.no_grad():
        module.label_embedding.copy_(torch.tensor(v))
        module.relation_embedding.copy_(torch.tensor(z))
        for transform, weight in zip(module.layers[0].transforms, weights, strict=True):
            transform.weight.copy_(torch.tensor(weight))


def test_one_layer_on_three_labels_by_hand():
    module = LabelRelationModule(3, 2, {"pulling": PULLING, "pushing": PUSHING}, n_layers=1)
    v = [[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]]
    z = [[1.0, -1.0]]
    doubling, swapping = [[2.0, 0.0], [0.0, 2.0]], [[0.0, 1.0], [1.0, 0.0]]
    set_parameters(module, v, z, [doubling, swapping])
    # φ(v_j, z_+) = v_j + (1, -1): (2, -1), (1, 0), (3, 1);  W_+ doubles.
    # φ(v_j, z_−) = v_j + (-1, 1): (0, 1), (-1, 2), (1, 3);  W_− swaps.
    # Label 0: N⁺ = {0, 1}: 2·(3, -1) = (6, -2);  N⁻ = {0, 2}: swap(1, 4) = (4, 1).
    # Label 1: N⁺ = {0, 1}: (6, -2);              N⁻ = {1}: swap(-1, 2) = (2, -1).
    # Label 2: N⁺ = {2}: (6, 2);                  N⁻ = {0, 2}: (4, 1).
    expected = torch.tensor([[10.0, 0.0], [8.0, 0.0], [10.0, 3.0]])  # after ReLU
    torch.testing.assert_close(module(), expected)


@pytest.mark.parametrize(
    ("composition", "expected"), [("sum", [4.0, 1.0]), ("sub", [2.0, 3.0]), ("mult", [3.0, 0.0])]
)
def test_message_composes_the_neighbours_vector_with_the_relation(composition, expected):
    layer = CompGCNLayer(2, degrees=[1.0], composition=composition)
    with torch.no_grad():
        layer.transforms[0].weight.copy_(torch.eye(2))
    v, z = torch.tensor([[9.0, 9.0], [3.0, 2.0]]), torch.tensor([1.0, -1.0])
    take_from_label_1 = torch.nn.Linear(1, 1)  # any module: stands for the operator
    take_from_label_1.forward = lambda x: x[[1, 1]]
    out = layer(v, [z], [take_from_label_1])
    torch.testing.assert_close(out[0], torch.tensor(expected))


def test_pushing_vector_is_minus_the_pulling_one_at_every_layer():
    relations = {"pushing": PUSHING, "parent": PULLING, "pulling": PULLING}
    module = LabelRelationModule(3, 4, relations, n_layers=3)
    states = module.relation_states()
    assert len(states) == 3
    for z in states:
        assert z.shape == (3, 4)
        torch.testing.assert_close(z[0], -z[2])
        assert z[2].abs().sum() > 0
    torch.testing.assert_close(
        states[1][1], module.relation_transforms[0].weight @ module.relation_embedding[0]
    )


def test_relations_of_other_names_have_vectors_of_their_own():
    module = LabelRelationModule(3, 4, {"parent": PULLING, "similar": PUSHING})
    assert module.relation_embedding.shape == (2, 4)


def test_a_directed_relation_tells_source_from_target():
    edge = torch.tensor([[0.0, 1], [0, 0]])  # 0 → 1
    torch.manual_seed(0)
    module = LabelRelationModule(2, 4, {"parent": edge}, n_layers=1)
    assert len(module.operators) == 2  # original with self loops, and inverse
    messages = torch.eye(2)
    torch.testing.assert_close(module.operators[0](messages), torch.tensor([[1.0, 0], [1, 1]]))
    torch.testing.assert_close(module.operators[1](messages), torch.tensor([[0.0, 1], [0, 0]]))


def test_mean_aggregation_does_not_grow_with_the_number_of_neighbours():
    full = torch.ones(50, 50) - torch.eye(50)
    module = LabelRelationModule(50, 4, {"pulling": full}, n_layers=1, aggregation="mean")
    torch.testing.assert_close(module.operators[0](torch.ones(50, 1)), torch.ones(50, 1))


def test_sparse_adjacency_equals_dense():
    torch.manual_seed(0)
    dense = LabelRelationModule(3, 4, {"pulling": PULLING})
    sparse = LabelRelationModule(3, 4, {"pulling": PULLING.to_sparse()})
    sparse.load_state_dict(dense.state_dict())
    torch.testing.assert_close(sparse(), dense())


@pytest.mark.parametrize("relations", [None, {}])
def test_without_relations_labels_are_their_free_embeddings(relations):
    module = LabelRelationModule(3, 4, relations)
    torch.testing.assert_close(module(), module.label_embedding)
    assert [name for name, _ in module.named_parameters()] == ["label_embedding"]


def test_labels_without_edges_are_finite_with_finite_gradients():
    module = LabelRelationModule(3, 4, {"pulling": torch.zeros(3, 3)}, aggregation="mean")
    module().sum().backward()
    assert torch.isfinite(module()).all()
    assert all(torch.isfinite(p.grad).all() for p in module.parameters())


def test_permuting_labels_permutes_embeddings():
    torch.manual_seed(0)
    relations = {"pulling": PULLING, "pushing": PUSHING}
    order = torch.tensor([2, 0, 1])
    module = LabelRelationModule(3, 4, relations)
    permuted = LabelRelationModule(
        3, 4, {name: a[order][:, order] for name, a in relations.items()}
    )
    buffers = dict(permuted.named_buffers())
    permuted.load_state_dict({**module.state_dict(), **buffers})
    with torch.no_grad():
        permuted.label_embedding.copy_(module.label_embedding[order])
    torch.testing.assert_close(permuted(), module()[order])


@pytest.mark.parametrize("n_labels", [30, 400])  # dense and sparse operators
@pytest.mark.parametrize("aggregation", ["sum", "mean"])
@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_some_labels_are_computed_as_all_of_them_would_be(n_labels, aggregation, n_layers):
    generator = torch.Generator().manual_seed(0)
    links = (torch.rand(n_labels, n_labels, generator=generator) < 2 / n_labels).float()
    directed = (torch.rand(n_labels, n_labels, generator=generator) < 2 / n_labels).float()
    module = LabelRelationModule(
        n_labels,
        4,
        {"pulling": torch.maximum(links, links.T), "parent": directed},
        n_layers=n_layers,
        aggregation=aggregation,
        residual=True,
    )
    some = torch.tensor([0, 5, 6, 29])
    torch.testing.assert_close(module(some), module()[some])
    pulls = torch.randn(4, 4, generator=generator)
    whole = torch.autograd.grad((module()[some] * pulls).sum(), list(module.parameters()))
    part = torch.autograd.grad((module(some) * pulls).sum(), list(module.parameters()))
    for ours, expected in zip(part, whole, strict=True):
        torch.testing.assert_close(ours, expected)


def test_some_labels_without_relations_are_their_free_embeddings():
    module = LabelRelationModule(5, 4)
    some = torch.tensor([1, 4])
    torch.testing.assert_close(module(some), module.label_embedding[some])
