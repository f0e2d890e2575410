"""Label powerset: label sets as classes."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from sklearn_mrmp import LabelPowersetClassifier
from sklearn_mrmp.datasets import make_related_labels


@pytest.fixture
def data():
    X, Y, _ = make_related_labels(120, 4, n_features=12, group_size=2, random_state=0)
    return X, Y


def test_label_probabilities_are_sums_over_label_sets(data):
    X, Y = data
    model = LabelPowersetClassifier(LogisticRegression(max_iter=500)).fit(X, Y)
    sets = model.estimator_.predict_proba(X)
    P = model.predict_proba(X)
    for label in range(4):
        containing = model.label_sets_[:, label] == 1
        np.testing.assert_allclose(P[:, label], sets[:, containing].sum(axis=1))
    assert len(model.label_sets_) == len({tuple(row) for row in Y})


def test_what_is_predicted_is_the_most_probable_label_set_of_the_training_rows(data):
    X, Y = data
    model = LabelPowersetClassifier().fit(X, Y)
    most_probable = model.estimator_.predict_proba(X).argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X), model.label_sets_[most_probable])


def test_predictions_have_the_form_of_the_target(data):
    X, Y = data
    model = LabelPowersetClassifier(LogisticRegression(max_iter=500))
    assert sp.issparse(model.fit(X, sp.csr_array(Y)).predict(X))
    np.testing.assert_array_equal(
        model.fit(X, Y).predict(X), model.fit(X, sp.csr_array(Y)).predict(X).toarray()
    )


def test_a_single_label_set_is_predicted_everywhere(data):
    X, _ = data
    Y = np.tile([0, 1, 1], (120, 1))
    model = LabelPowersetClassifier().fit(X, Y)
    assert model.estimator_ is None
    np.testing.assert_array_equal(model.predict(X), Y)


def test_weights_are_refused_where_the_estimator_takes_none(data):
    X, Y = data
    model = LabelPowersetClassifier(KNeighborsClassifier())
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
        model.fit(X, Y, sample_weight=np.ones(120))
