"""Products of sparse rows with a sparse matrix whose filled rows are kept dense."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp._numerics import dense_product as _dense_product
from sklearn_mrmp._numerics.dense_product import DenseProduct


def matrix(rng, n_rows, n_columns, shares):
    """A float32 matrix whose rows have the given shares of non-zeros."""
    present = rng.random((n_rows, n_columns)) < np.asarray(shares)[:, None]
    return sp.csr_array((present * rng.normal(size=present.shape)).astype(np.float32))


@pytest.fixture
def factors():
    rng = np.random.default_rng(0)
    A = matrix(rng, 30, 50, np.linspace(0, 0.5, 30))
    B = matrix(rng, 50, 400, np.geomspace(0.001, 0.9, 50))
    return A, B


def test_equals_the_product_of_arrays(factors):
    A, B = factors
    product = DenseProduct(B)(A)
    assert product.dtype == np.float32
    np.testing.assert_allclose(product, A.toarray() @ B.toarray(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_all_rows_dense_or_none_gives_the_same(factors, share, monkeypatch):
    A, B = factors
    expected = DenseProduct(B)(A)
    monkeypatch.setattr(_dense_product, "_FILLED_FROM", share)
    np.testing.assert_allclose(DenseProduct(B)(A), expected, rtol=1e-5, atol=1e-5)


def test_only_the_fullest_rows_are_dense_where_memory_is_short(factors, monkeypatch):
    A, B = factors
    expected = DenseProduct(B)(A)
    monkeypatch.setattr(_dense_product, "_MOST_NUMBERS", 3 * B.shape[1])
    times = DenseProduct(B)
    assert len(times.filled) == 3
    np.testing.assert_array_equal(
        np.flatnonzero(times.is_filled), np.sort(np.argsort(-np.diff(B.indptr))[:3])
    )
    np.testing.assert_allclose(times(A), expected, rtol=1e-5, atol=1e-5)


def test_a_row_depends_on_itself_alone(factors):
    A, B = factors
    times = DenseProduct(B)
    alone = np.vstack([times(A[[row]]) for row in range(A.shape[0])])
    np.testing.assert_array_equal(times(A), alone)


def test_empty_rows_and_no_rows_work(factors):
    B = factors[1]
    times = DenseProduct(B)
    assert not times(sp.csr_array((2, 50), dtype=np.float32)).any()
    assert times(sp.csr_array((0, 50), dtype=np.float32)).shape == (0, 400)


def test_the_left_factor_is_left_alone(factors):
    A, B = factors
    before = A.copy()
    DenseProduct(B)(A)
    assert (A != before).nnz == 0
    np.testing.assert_array_equal(A.indices, before.indices)
