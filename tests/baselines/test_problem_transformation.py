"""Label powerset, tuned regressions, and chains over labels that never occur."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain

from sklearn_mrmp._baselines.problem_transformation import (
    ConstantTolerantLogisticRegression,
    LabelPowersetClassifier,
    TunedBinaryRelevance,
)
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
    model = LabelPowersetClassifier(LogisticRegression()).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), Y)


def test_chains_pass_over_constant_labels(data):
    X, Y = data
    Y = np.hstack([Y, np.zeros((120, 1), dtype=int), np.ones((120, 1), dtype=int)])
    link = ConstantTolerantLogisticRegression(max_iter=500)
    P = ClassifierChain(link, order="random", random_state=0).fit(X, Y).predict_proba(X)
    assert (P[:, 4] < 1e-6).all()
    assert (P[:, 5] > 1 - 1e-6).all()


def test_other_targets_are_those_of_logistic_regression(data):
    X, Y = data
    ours = ConstantTolerantLogisticRegression().fit(X, Y[:, 0])
    theirs = LogisticRegression().fit(X, Y[:, 0])
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))


def test_refitting_takes_all_rows_with_the_strength_that_was_chosen(related):
    X, Y = related
    tuned = TunedBinaryRelevance((0.1, 1.0), start=1.0, random_state=0).fit(X, Y)
    whole = TunedBinaryRelevance((0.1, 1.0), start=1.0, refit=True, random_state=0).fit(X, Y)
    assert whole.C_ == tuned.C_
    expected = OneVsRestClassifier(LogisticRegression(C=whole.C_, max_iter=1000)).fit(X, Y)
    np.testing.assert_allclose(whole.predict_proba(X), expected.predict_proba(X), rtol=1e-5)
    assert not np.allclose(whole.predict_proba(X), tuned.predict_proba(X))
