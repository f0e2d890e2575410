"""Rows of a small problem, in two parts."""

import pytest
import scipy.sparse as sp

from sklearn_mrmp.datasets import make_related_labels
from tests.tiny import feature_rows


@pytest.fixture(scope="session")
def matrices():
    """Draw 300 rows of features and their labels: (X, Y)."""
    X, Y, _ = make_related_labels(300, 6, n_features=60, random_state=0)
    return sp.csr_array(X), sp.csr_array(Y)


@pytest.fixture(scope="session")
def split(matrices):
    """Return 200 rows to fit on and 100 held-out ones, as voters take them."""
    X, Y = matrices
    return feature_rows(X[:200]), Y[:200], feature_rows(X[200:]), Y[200:]
