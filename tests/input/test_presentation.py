"""What linear models read: every kind of rows on one scale, and finite."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp._input.presentation import LinearFeatures


def test_measurements_are_standardised_whatever_their_unit():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(50, 4)) * [1.0, 1e-3, 1e6, 1.0] + [0, 1, 0, 5.0]
    X = sp.csr_array(A)
    features = LinearFeatures().fit(X)
    assert features.kind_ == "measurements"
    out = features.transform(X).toarray()
    np.testing.assert_allclose(out.std(axis=0), out.std(), rtol=0.1)


def test_bags_are_weighted_by_rarity():
    X = sp.csr_array([[1, 1, 0, 0, 0, 0, 0, 0, 0], [1, 0, 2, 0, 0, 0, 0, 0, 0.0]])
    features = LinearFeatures().fit(X)
    assert features.kind_ == "bag"
    out = features.transform(X).toarray()
    assert out[0, 1] > out[0, 0] > 0
    np.testing.assert_allclose((out**2).sum(axis=1), 1, rtol=1e-6)


def test_rows_of_one_length_are_taken_as_they_are():
    X = sp.csr_array(np.eye(8)[[0, 1, 2]] * 0.5)
    features = LinearFeatures().fit(X)
    assert features.kind_ == "as_is"
    np.testing.assert_allclose(features.transform(X).toarray(), np.eye(8)[[0, 1, 2]])


@pytest.mark.parametrize("scale", [1e-300, 1e300])
@pytest.mark.parametrize("sign", [1, -1])
def test_huge_and_tiny_values_stay_finite(scale, sign):
    A = np.zeros((4, 12))
    A[[0, 1, 2, 3], [0, 1, 2, 0]] = [1, sign * 2, 3, 4]
    for X in (sp.csr_array(A * scale), sp.csr_array((A + 1) * scale)):
        out = LinearFeatures().fit(X).transform(X)
        assert np.isfinite(out.data).all()


def test_empty_rows_stay_empty():
    X = sp.csr_array((3, 4))
    assert LinearFeatures().fit(X).transform(X).nnz == 0
