"""The solver of all labels' regressions together."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from sklearn_mrmp._voters import logistic
from sklearn_mrmp._voters.logistic import LogisticDesign, frequency_intercepts, solve_logistic


def solved(X, Y, penalty, **options):
    W = np.zeros((X.shape[1], Y.shape[1]), np.float32)
    b = frequency_intercepts(Y)
    solve_logistic(LogisticDesign(X), Y, penalty, W, b, **options)
    return W, b


@pytest.mark.parametrize("dense", [False, True])
def test_finds_what_scikit_learn_finds_label_by_label(matrices, dense):
    X, Y = matrices
    if dense:
        X = sp.csr_array(X.toarray() + 0.1)
    W, b = solved(X, Y, 1.0)
    for label in range(Y.shape[1]):
        reference = LogisticRegression(C=1.0, tol=1e-6, max_iter=1000)
        reference.fit(X, Y[:, [label]].toarray().ravel())
        ours, theirs = X @ W[:, label] + b[label], reference.decision_function(X)
        np.testing.assert_allclose(ours, theirs, rtol=0.05, atol=0.1)


def test_label_blocks_do_not_change_the_solution(matrices, monkeypatch):
    X, Y = matrices
    # Down to the minimum itself: on the way there each block is rounded in its own way.
    whole = solved(X, Y, 1.0, tolerance=1e-6)
    monkeypatch.setattr("sklearn_mrmp._voters.logistic._BLOCK_LABELS", 2)
    for part, other in zip(whole, solved(X, Y, 1.0, tolerance=1e-6), strict=True):
        np.testing.assert_allclose(part, other, atol=1e-4)


def test_features_that_no_row_has_get_no_weight(matrices):
    X, Y = matrices
    wider = sp.csr_array(sp.hstack([X[:, :30], sp.csr_array((300, 5)), X[:, 30:]]))
    W, b = solved(wider, Y, 1.0)
    assert not W[30:35].any()
    for part, other in zip((np.delete(W, range(30, 35), 0), b), solved(X, Y, 1.0), strict=True):
        np.testing.assert_allclose(part, other, atol=1e-4)


def test_constant_labels_keep_their_frequency(matrices):
    X, Y = matrices
    Y = sp.csr_array(np.column_stack([np.zeros(300), np.ones(300), Y[:, [0]].toarray()]))
    W, b = solved(X, Y, 1.0)
    assert not W[:, :2].any()
    np.testing.assert_allclose(b[:2], [-np.log(601), np.log(601)], rtol=1e-5)
    assert W[:, 2].any()


def test_separable_labels_stay_finite():
    X = sp.csr_array(np.eye(6))
    W, b = solved(X, sp.csr_array(np.eye(6)), 1e-3)
    assert np.isfinite(W).all()
    assert np.isfinite(b).all()


def test_the_logistic_function_is_that_of_scipy():
    Z = np.linspace(-200, 200, 4001, dtype=np.float32)[:, None]
    np.testing.assert_allclose(logistic._expit(Z), expit(Z), atol=2e-7)
