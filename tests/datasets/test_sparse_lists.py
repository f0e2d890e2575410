"""Sparse rows as lists, and back."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp.datasets import lists_to_sparse, sparse_to_lists


@pytest.mark.parametrize("n_rows", [0, 1, 7])
def test_rows_come_back_as_they_were(n_rows):
    X = sp.random_array((n_rows, 5), density=0.3, format="csr", random_state=0)
    indices, values = sparse_to_lists(X)
    assert len(indices) == len(values) == n_rows
    back = lists_to_sparse(indices, values, n_features=5)
    assert back.shape == X.shape
    np.testing.assert_array_equal(back.toarray(), X.toarray())


def test_columns_of_a_data_frame_are_taken():
    pd = pytest.importorskip("pandas")
    X = sp.csr_array([[0.0, 2.0], [0.0, 0.0]])
    indices, values = sparse_to_lists(X)
    frame = pd.DataFrame({"indices": indices, "values": values})
    np.testing.assert_array_equal(lists_to_sparse(**frame, n_features=2).toarray(), X.toarray())


@pytest.mark.parametrize(
    ("indices", "values", "message"),
    [
        ([[0]], [[1.0, 2.0]], "Row 0 has 1 columns, but 2 values"),
        ([[0]], [[1.0], [2.0]], "indices has 1 rows, but values has 2"),
        ([[3]], [[1.0]], "the column 3, but n_features is 3"),
        ([[-1]], [[1.0]], "the column -1, but n_features is 3"),
    ],
)
def test_lists_that_make_no_rows_are_refused(indices, values, message):
    with pytest.raises(ValueError, match=message):
        lists_to_sparse(indices, values, n_features=3)


def test_dense_rows_are_refused():
    with pytest.raises(TypeError, match="must be a sparse matrix, got ndarray"):
        sparse_to_lists(np.eye(2))
