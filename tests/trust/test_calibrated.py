"""CalibratedMultilabelClassifier around classifiers of all shapes."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from sklearn_mrmp import (
    CalibratedMultilabelClassifier,
    LabelCalibrator,
    MLKNNClassifier,
    TunedDecisionClassifier,
    load,
)
from sklearn_mrmp.datasets import make_related_labels
from tests.tiny import tiny
from tests.weight_checks import expected_failures

X, Y, _ = make_related_labels(120, 4, n_features=20, random_state=0)


@parametrize_with_checks(
    [CalibratedMultilabelClassifier(DecisionTreeClassifier(max_depth=3, random_state=0), cv=2)],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


class Exaggerates(ClassifierMixin, BaseEstimator):
    """Says that everything is certain; features are the true probabilities."""

    def fit(self, X, y):
        self.classes_ = [np.array([0, 1])] * y.shape[1]
        return self

    def predict_proba(self, X):
        return np.where(X > 0.5, 0.999, 0.001)


def test_certainty_that_is_wrong_is_taken_back():
    rng = np.random.RandomState(0)
    P = rng.choice([0.2, 0.8], size=(2000, 2))
    clf = CalibratedMultilabelClassifier(Exaggerates(), random_state=0).fit(
        P, rng.rand(2000, 2) < P
    )
    assert np.abs(clf.predict_proba(P) - P).max() < 0.05


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("cv", [3, 0.3])
@pytest.mark.parametrize(
    "inner",
    [RandomForestClassifier(5, random_state=0), OneVsRestClassifier(LogisticRegression())],
    ids=["list", "array"],
)
def test_both_shapes_of_probabilities_are_calibrated(inner, method, cv):
    clf = CalibratedMultilabelClassifier(inner, method=method, cv=cv, random_state=0).fit(X, Y)
    P = clf.predict_proba(X)
    assert P.shape == Y.shape
    np.testing.assert_array_equal(clf.predict(X), P >= 0.5)


def test_a_fitted_classifier_is_calibrated_on_other_rows():
    inner = MLKNNClassifier().fit(X[:60], Y[:60])
    clf = CalibratedMultilabelClassifier(inner, cv="prefit").fit(X[60:], Y[60:])
    expected = LabelCalibrator().fit(inner.predict_proba(X[60:]), Y[60:])
    P = inner.predict_proba(X)
    np.testing.assert_allclose(clf.predict_proba(X), expected.transform(P), rtol=1e-6)
    with pytest.raises(ValueError, match="not fitted"):
        CalibratedMultilabelClassifier(MLKNNClassifier(), cv="prefit").fit(X, Y)


def test_unknown_labels_and_weights_reach_classifier_and_calibration():
    inner = tiny(voters=("linear",))
    target, weights = Y.astype(float), np.ones(120)
    target[::7, 1] = np.nan
    weights[:20] = 0
    clf = CalibratedMultilabelClassifier(inner, cv=2, random_state=0)
    assert clf.fit(X, target, sample_weight=weights).predict_proba(X).shape == Y.shape
    with pytest.raises(ValueError, match="takes no sample_weight"):
        CalibratedMultilabelClassifier(Exaggerates()).fit(X, Y, sample_weight=weights)


def test_searches_decisions_and_files_work_around_it(tmp_path):
    clf = CalibratedMultilabelClassifier(MLKNNClassifier(), cv=2, random_state=0)
    search = GridSearchCV(clf, {"estimator__n_neighbors": [3, 5]}, cv=2).fit(X, Y)
    assert search.best_params_["estimator__n_neighbors"] in (3, 5)
    tuned = TunedDecisionClassifier(clf, cv=2, random_state=0).fit(X, Y)
    tuned.save(tmp_path / "model")
    found = load(tmp_path / "model").predict_proba(X)
    np.testing.assert_array_equal(found, tuned.predict_proba(X))
