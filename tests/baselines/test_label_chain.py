"""Chains of labels, also over labels that never occur."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain

from sklearn_mrmp import LabelChainClassifier
from sklearn_mrmp.datasets import make_related_labels


@pytest.fixture
def data():
    X, Y, _ = make_related_labels(120, 4, n_features=12, group_size=2, random_state=0)
    return X.toarray(), Y


@pytest.mark.parametrize("order", [None, "random", [2, 0, 3, 1]])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_without_constant_labels_the_chain_is_that_of_scikit_learn(data, order, container):
    X, Y = container(data[0]), data[1]
    link = LogisticRegression(max_iter=1000)
    theirs = ClassifierChain(link, order=order, random_state=0).fit(X, Y)
    ours = LabelChainClassifier(order=order, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(ours.order_, theirs.order_)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-4)


def test_labels_that_are_constant_in_the_training_rows_are_predicted_as_such(data):
    X, Y = data
    Y = np.hstack([np.zeros((120, 1), dtype=int), Y, np.ones((120, 1), dtype=int)])
    chain = LabelChainClassifier(order="random", random_state=0).fit(X, Y)
    np.testing.assert_array_equal(chain.predict(X)[:, [0, 5]], Y[:, [0, 5]])
    assert [fitted for fitted in chain.estimators_ if isinstance(fitted, float)] in (
        [0.0, 1.0],
        [1.0, 0.0],
    )


def test_weights_equal_repeated_rows(data):
    X, Y = data
    counts = np.random.default_rng(0).integers(0, 3, len(Y))
    repeated = np.repeat(np.arange(len(Y)), counts)
    weighted = LabelChainClassifier().fit(X, Y, sample_weight=counts)
    expected = LabelChainClassifier().fit(X[repeated], Y[repeated])
    np.testing.assert_allclose(
        weighted.predict_proba(X), expected.predict_proba(X), rtol=1e-3, atol=1e-4
    )


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 2, 2], [1, 2, 3, 4]])
def test_an_order_that_is_none_is_refused(data, order):
    with pytest.raises(ValueError, match="numbers 0 to 3 of the labels once"):
        LabelChainClassifier(order=order).fit(*data)
