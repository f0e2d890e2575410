"""Log odds of many probabilities: scipy's numbers, finite, and a number's bits are its own."""

import numpy as np
import pytest
from scipy.special import expit, logit

from sklearn_mrmp._numerics.log_odds import log_odds, to_probabilities

KINDS = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@KINDS
def test_the_numbers_are_those_of_scipy(dtype):
    P = np.random.default_rng(0).uniform(0.001, 0.999, size=(20, 37)).astype(dtype)
    Z = log_odds(P, margin=1e-6)
    assert Z.dtype == dtype
    np.testing.assert_allclose(Z, logit(P), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(to_probabilities(Z.copy()), expit(Z), rtol=1e-5)


@KINDS
def test_certainty_is_finite(dtype):
    P = np.array([0, 1, 1e-30], dtype=dtype)
    Z = log_odds(P, margin=1e-3)
    np.testing.assert_allclose(Z, logit([0.001, 0.999, 0.001]), rtol=1e-4)
    assert list(P) == [0, 1, dtype(1e-30)]


@KINDS
def test_any_odds_are_a_probability(dtype):
    Z = np.array([-np.inf, -1e30, -90, 0, 90, 1e30, np.inf], dtype=dtype)
    with np.errstate(all="raise"):
        P = to_probabilities(Z)
    assert P is Z
    np.testing.assert_allclose(P, [0, 0, 0, 0.5, 1, 1, 1], atol=1e-37)


@pytest.mark.parametrize("function", [lambda P: log_odds(P, 1e-6), to_probabilities])
def test_bits_do_not_depend_on_the_place_in_the_array(function):
    P = np.random.default_rng(0).random(1003).astype(np.float32)
    whole = function(P.copy())
    for size in (1, 5, 16, 33):
        pieces = [function(P[start : start + size].copy()) for start in range(0, len(P), size)]
        np.testing.assert_array_equal(np.concatenate(pieces), whole)


@pytest.mark.parametrize("dtype", [int, bool, np.float16])
def test_other_numbers_are_probabilities_too(dtype):
    Z = log_odds(np.array([0, 1], dtype=dtype), margin=1e-6)
    np.testing.assert_allclose(Z, logit([1e-6, 1 - 1e-6]), rtol=1e-9)
