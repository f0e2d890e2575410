"""Relational loss by hand; cross entropy; degenerate embeddings."""

import math

import pytest
import torch

from sklearn_mrmp.nn import LabelPart, MrMPLoss, NetworkOutput, RelationalLoss

PULLING = torch.tensor([[0.0, 1, 0], [1, 0, 0], [0, 0, 0]])
PUSHING = torch.tensor([[0.0, 0, 1], [0, 0, 1], [1, 1, 0]])


def test_relational_loss_on_three_labels_by_hand():
    v = torch.tensor([[2.0, 0.0], [3.0, 3.0], [0.0, 1.0]])
    cosine = 1 / math.sqrt(2)  # of labels 0 and 1, and of 1 and 2; labels 0 and 2: 0
    label_0 = -cosine + 0
    label_1 = -cosine + cosine
    label_2 = (0 + cosine) / 2
    loss = RelationalLoss({"pulling": PULLING, "pushing": PUSHING})(v)
    torch.testing.assert_close(loss, torch.tensor((label_0 + label_1 + label_2) / 3))


def test_edges_of_either_direction_and_any_weight_make_neighbours():
    v = torch.randn(3, 4)
    directed = torch.tensor([[0.0, 0.3, 0], [0, 0, 0], [0, 0, 0]])
    assert RelationalLoss({"pulling": directed})(v) == RelationalLoss({"pulling": PULLING})(v)


@pytest.mark.parametrize("relations", [None, {"parent": PULLING}, {"pulling": torch.zeros(3, 3)}])
def test_nothing_to_align_costs_nothing(relations):
    assert RelationalLoss(relations)(torch.randn(3, 4)) == 0


def test_zero_embeddings_have_finite_loss_and_gradient():
    v = torch.zeros(3, 4, requires_grad=True)
    loss = RelationalLoss({"pulling": PULLING, "pushing": PUSHING})(v)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(v.grad).all()


def test_loss_is_cross_entropy_plus_weighted_relational_loss():
    relations = {"pulling": PULLING, "pushing": PUSHING}
    logits, y, v = torch.randn(2, 3), torch.tensor([[1.0, 0, 0], [0, 0, 0]]), torch.randn(3, 4)
    p = torch.sigmoid(logits)
    entropy = -(y * p.log() + (1 - y) * (1 - p).log()).mean()
    loss = MrMPLoss(relations, weight=0.5)
    torch.testing.assert_close(loss(NetworkOutput(logits), y), entropy)
    expected = entropy + 0.5 * RelationalLoss(relations)(v)
    torch.testing.assert_close(loss(NetworkOutput(logits, v), y), expected)
    unweighted = MrMPLoss(relations, weight=0)
    torch.testing.assert_close(unweighted(NetworkOutput(logits, v), y), entropy)


def test_validation_compares_the_cross_entropy_alone():
    output = NetworkOutput(torch.randn(2, 3), torch.randn(3, 4))
    y = torch.tensor([[1.0, 0, 0], [0, 0, 0]])
    loss = MrMPLoss({"pulling": PULLING}, weight=0.5)
    alone = loss(NetworkOutput(output.logits), y)
    assert loss(output, y) != alone
    torch.testing.assert_close(loss.eval()(output, y), alone)
    assert loss.train()(output, y) != alone


def test_entries_count_as_often_as_the_labels_they_stand_for():
    logits, y = torch.randn(2, 2), torch.tensor([[1.0, 0], [0, 0]])
    weights = torch.tensor([[1.0, 2], [1, 2]])
    twice = torch.cat([logits, logits[:, 1:]], dim=1), torch.cat([y, y[:, 1:]], dim=1)
    expected = MrMPLoss()(NetworkOutput(twice[0]), twice[1])
    torch.testing.assert_close(MrMPLoss()(NetworkOutput(logits), y, weights), expected)


def test_relational_loss_of_some_labels_is_that_of_the_graph_between_them():
    generator = torch.Generator().manual_seed(0)
    relations = {
        name: torch.triu((torch.rand(9, 9, generator=generator) < 0.4).float(), 1)
        for name in ("pulling", "pushing")
    }
    v = torch.randn(9, 4, generator=generator)
    some = torch.tensor([0, 2, 3, 7])
    between = {name: matrix[some][:, some] for name, matrix in relations.items()}
    part = RelationalLoss(relations)(LabelPart(some, v[some]))
    torch.testing.assert_close(part, RelationalLoss(between)(v[some]))
    torch.testing.assert_close(
        RelationalLoss(relations)(LabelPart(torch.arange(9), v)), RelationalLoss(relations)(v)
    )
