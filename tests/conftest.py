"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest

from sklearn_mrmp.datasets import make_related_labels


@pytest.fixture(scope="session")
def data_home():
    """Folder of the real data sets; tests that use it skip without it."""
    folder = os.environ.get("SKLEARN_MRMP_DATA_HOME")
    if not folder:
        pytest.skip("real data sets: set SKLEARN_MRMP_DATA_HOME to their folder")
    return Path(folder)


@pytest.fixture(scope="session")
def related():
    """Draw 160 rows of a small bag-of-words problem with related labels: (X, Y)."""
    X, Y, _ = make_related_labels(160, 6, n_features=40, random_state=0)
    return X, Y
