"""What counts as a 0/1 label matrix."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp._numerics.labels import check_label_matrix


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_matrix, sp.coo_array])
@pytest.mark.parametrize("dtype", [bool, int, float, np.uint8])
def test_zeros_and_ones_of_any_kind_are_labels(kind, dtype):
    Y = np.array([[1, 0, 1], [0, 0, 0]], dtype=dtype)
    checked = check_label_matrix(kind(Y))
    checked = checked.toarray() if sp.issparse(checked) else checked
    np.testing.assert_array_equal(checked, Y)
    assert checked.dtype == dtype


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([1, 0], r"T must be a matrix .* got shape \(2,\)"),
        ([[-1, 1]], "T must hold only 0 and 1, but it holds -1. Pass"),
        ([[0.5, np.nan]], "holds 0.5, nan"),
        (np.arange(9).reshape(3, 3), "holds 2, 3, 4, 5, 6, …"),
        (sp.csr_array([[0, 3], [1, 0]]), "holds 3"),
        (sp.coo_array(([1, 1], ([0, 0], [1, 1])), shape=(2, 2)), "holds 2"),
    ],
)
def test_anything_else_is_refused_with_what_was_seen(Y, message):
    with pytest.raises(ValueError, match=message):
        check_label_matrix(Y, "T")


def test_the_caller_keeps_its_duplicates():
    Y = sp.csr_array((np.array([1, 0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 2))
    check_label_matrix(Y)
    assert Y.nnz == 2
