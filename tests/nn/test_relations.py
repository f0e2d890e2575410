"""Relation operators: the dense and the sparse form are the same linear map."""

import pytest
import torch

from sklearn_mrmp.nn import RelationOperator


@pytest.mark.parametrize("size", [40, 400])
def test_equals_the_dense_matrix_with_its_gradient(size):
    generator = torch.Generator().manual_seed(0)
    dense = torch.rand(size, size, generator=generator)
    dense[torch.rand(size, size, generator=generator) > 0.02] = 0
    rows, columns = dense.nonzero(as_tuple=True)
    operator = RelationOperator(rows, columns, dense[rows, columns], size)
    assert operator.is_dense == (size == 40)
    x = torch.randn(size, 3, requires_grad=True)
    torch.testing.assert_close(operator(x), dense @ x)
    grad = torch.randn(size, 3)
    (ours,) = torch.autograd.grad(operator(x), x, grad)
    torch.testing.assert_close(ours, dense.T @ grad)


def test_a_full_large_relation_is_dense():
    rows, columns = torch.ones(300, 300).nonzero(as_tuple=True)
    assert RelationOperator(rows, columns, torch.ones(len(rows)), 300).is_dense


def test_a_large_empty_relation_gives_zeros():
    none = torch.zeros(0, dtype=torch.int64)
    operator = RelationOperator(none, none, torch.zeros(0), 500)
    assert not operator(torch.randn(500, 2)).any()


def test_state_dict_holds_plain_tensors():
    rows = torch.arange(500)
    operator = RelationOperator(rows, rows.flip(0), torch.ones(500), 500)
    assert all(tensor.layout == torch.strided for tensor in operator.state_dict().values())


@pytest.mark.parametrize("size", [40, 400])
def test_rows_are_those_of_the_matrix_with_their_gradient(size):
    generator = torch.Generator().manual_seed(1)
    dense = torch.rand(size, size, generator=generator)
    dense[torch.rand(size, size, generator=generator) > 0.02] = 0
    dense[7] = 0  # a row without entries
    operator = RelationOperator(*dense.nonzero(as_tuple=True), dense[dense != 0], size)
    chosen = torch.tensor([3, 7, 31])
    x = torch.randn(size, 3, requires_grad=True)
    part = operator.rows(chosen)
    torch.testing.assert_close(part(x), dense[chosen] @ x)
    grad = torch.randn(3, 3)
    (ours,) = torch.autograd.grad(part(x), x, grad)
    torch.testing.assert_close(ours, dense[chosen].T @ grad)
