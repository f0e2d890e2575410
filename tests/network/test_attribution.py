"""Shares of tokens add up to the network's logit minus that of the baseline."""

import numpy as np
import pytest
import torch

from sklearn_mrmp._network.attribution import TOLERANCE, NetworkAttributor, can_attribute
from sklearn_mrmp.datasets import make_related_labels
from tests.seams.mean_linear import MeanLinearClassifier
from tests.tiny import PLAIN, tiny


@pytest.fixture(scope="module")
def data():
    X, Y, _ = make_related_labels(100, 5, n_features=30, random_state=0)
    return X, Y


def encoded(clf, X):
    return clf._encoded(clf._check_rows(X)).tokens


def attributed(clf, X, row, labels):
    one = encoded(clf, X).take(np.array([row]))
    return clf._ensemble.voters["network"].attributor().attribute(one, labels)


@pytest.mark.parametrize("options", [{}, {"n_members": 2}, {"input_type": "vectors"}])
def test_shares_are_complete_within_the_tolerance(data, options):
    X, Y = data
    clf = tiny(**PLAIN, **options).fit(X, Y)
    logits = clf.voters_.network.decision_function(X[:4])
    for row in range(4):
        found = attributed(clf, X, row, [0, 3])
        total = found.values.sum(axis=1) + found.baseline
        assert np.abs(total - logits[row, [0, 3]]).max() <= TOLERANCE + 1e-4


def test_shares_of_a_linear_network_are_exact(data):
    """The toy network is linear in its mean token state, so that every share is known."""
    X, Y = data
    clf = MeanLinearClassifier(max_epochs=2, random_state=0).fit(X, Y)
    module, one = clf.net_.module_, encoded(clf, X).take(np.array([0]))
    found = attributed(clf, X, 0, [2])
    with torch.no_grad():
        batch = {name: torch.from_numpy(part) for name, part in one.padded().items()}
        batch.pop("mask", None)
        states = module.embedding(**batch)[0]
        expected = (states @ module.linear.weight[2] / len(states)).numpy()
    np.testing.assert_allclose(found.values[0], expected, atol=1e-5)
    assert found.baseline[0] == pytest.approx(module.linear.bias[2].item(), abs=1e-5)


def test_more_labels_than_fit_at_once_have_the_same_shares(data, monkeypatch):
    X, Y = data
    clf = tiny(**PLAIN).fit(X, Y)
    together = attributed(clf, X, 1, [4])
    monkeypatch.setattr("sklearn_mrmp._network.attribution._LABELS_AT_ONCE", 1)
    monkeypatch.setattr("sklearn_mrmp._network.attribution._MOST_FLOATS", 1)
    apart = attributed(clf, X, 1, [0, 4])
    np.testing.assert_allclose(apart.values[1], together.values[0], atol=1e-4)


def test_networks_without_an_embedding_or_with_a_search_are_left_alone(data):
    X, Y = data
    clf = tiny(**PLAIN).fit(X, Y)
    module = clf.net_.module_
    assert can_attribute(module)
    assert isinstance(clf._ensemble.voters["network"].attributor(), NetworkAttributor)
    module.finds_sets = True
    assert not can_attribute(module)
    assert clf._ensemble.voters["network"].attributor() is None
