"""A fit is whole or it is not there: nothing of a fit that failed, and nothing of one before it."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.validation import check_is_fitted

from sklearn_mrmp import (
    LabelChainClassifier,
    LabelPowersetClassifier,
    MLARAMClassifier,
    MLKNNClassifier,
    SoftVotingMultilabelClassifier,
    TunedBinaryRelevanceClassifier,
    TunedDecisionClassifier,
)
from tests.tiny import tiny

CLASSIFIERS = {
    "mrmp": (tiny(), "fit_ensemble", "_neural.learning"),
    "mrmp, late": (tiny(), "with_all_rows", "_neural.learning"),
    "ML-KNN": (MLKNNClassifier(), "NearestNeighbors", "_baselines.mlknn"),
    "ML-ARAM": (MLARAMClassifier(), "stack", "_baselines.mlaram"),
    "tuned": (TunedDecisionClassifier(MLKNNClassifier(), cv=2), "clone", "_tuned_decision.fitting"),
    "voting": (SoftVotingMultilabelClassifier([("a", MLKNNClassifier())]), "clone", "_voting"),
    "powerset": (
        LabelPowersetClassifier(MLKNNClassifier()),
        "clone",
        "_baselines.label_powerset",
    ),
    "chain": (LabelChainClassifier(), "fitted_on_label", "_baselines.label_chain"),
    "relevance": (
        TunedBinaryRelevanceClassifier(strengths=(1.0,)),
        "LogisticRegression",
        "_baselines.tuned_relevance",
    ),
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    return X, (X[:, :4] > 0).astype(int)


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
@pytest.mark.parametrize("fitted_before", [False, True])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_fit_that_fails_leaves_nothing(data, monkeypatch, name, fitted_before, error):
    X, Y = data
    clf, step, module = CLASSIFIERS[name]
    clf = type(clf)(**clf.get_params(deep=False))
    before = set(vars(clf))
    if fitted_before:
        clf.fit(X, Y)

    def fail(*args, **kwargs):
        raise error

    if (name, error) == ("mrmp, late", KeyboardInterrupt):
        pytest.skip("Ctrl-C keeps what was learned; see the tests of interrupts")
    monkeypatch.setattr(f"sklearn_mrmp.{module}.{step}", fail)
    with pytest.raises(error):
        clf.fit(X[:, :4], Y[:, :3])
    assert set(vars(clf)) == before
    with pytest.raises(NotFittedError):
        clf.predict(X)
    with pytest.raises(NotFittedError):
        check_is_fitted(clf)
    with pytest.raises(NotFittedError):
        clf.score(X, Y)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_fit_that_never_began_changes_nothing(data, name):
    X, Y = data
    clf = CLASSIFIERS[name][0].fit(X, Y)
    wrong = {"d_model": -1} if "mrmp" in name else {"no_such_parameter": 1}
    expected = clf.predict(X)
    with pytest.raises(ValueError, match="parameter"):
        clf.set_params(**wrong).fit(X, Y)
    clf.set_params(d_model=8) if "mrmp" in name else clf
    np.testing.assert_array_equal(clf.predict(X), expected)


@pytest.mark.parametrize("base", [type(tiny()), MLKNNClassifier])
def test_a_subclass_keeps_what_it_has_learned_itself(data, base):
    class Scaled(base):
        __init__ = base.__init__

        def fit(self, X, y):
            self.scaler_ = MaxAbsScaler().fit(X)
            return super().fit(self.scaler_.transform(X), y)

    X, Y = data
    params = tiny(voters=("linear",)).get_params() if base is not MLKNNClassifier else {}
    clf = Scaled(**params).fit(X, Y)
    assert clf.fit(X, Y).scaler_.n_features_in_ == 5
    with pytest.raises(ValueError, match="inconsistent"):
        clf.fit(X, Y[:9])
    with pytest.raises(NotFittedError):
        clf.predict(X)


def test_a_network_of_an_earlier_fit_leaves_no_trace_in_one_without(data):
    X, Y = data
    clf = tiny().fit(X, Y)
    clf.set_params(voters=("linear",)).fit(X, Y)
    for name in ("net_", "history_", "n_iter_", "best_epoch_", "max_epochs_", "device_"):
        assert not hasattr(clf, name)
