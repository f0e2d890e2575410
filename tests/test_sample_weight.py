"""Weights of rows and of labels: what they equal, where they go, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from sklearn_mrmp import (
    MLARAMClassifier,
    MLKNNClassifier,
    SoftVotingMultilabelClassifier,
    TunedDecisionClassifier,
)
from sklearn_mrmp.datasets import make_related_labels
from tests.tiny import tiny

FAST = {"voters": ("linear", "neighbors")}
VOTE = SoftVotingMultilabelClassifier([("knn", MLKNNClassifier()), ("aram", MLARAMClassifier())])
EVERYBODY = [
    tiny(),
    tiny(**FAST, cv=2),
    MLKNNClassifier(),
    MLARAMClassifier(),
    VOTE,
    TunedDecisionClassifier(MLKNNClassifier(), cv=2, random_state=0),
]
each = pytest.mark.parametrize("clf", EVERYBODY, ids=lambda clf: type(clf).__name__)


@pytest.fixture(scope="module")
def data():
    X, Y, _ = make_related_labels(120, 5, n_features=30, random_state=0)
    return sp.csr_array(X), np.asarray(Y.toarray() if sp.issparse(Y) else Y)


def counts_of(data, largest=4):
    return np.random.default_rng(0).integers(0, largest, data[0].shape[0])


def fresh(clf):
    return sklearn.clone(clf)


@each
def test_ones_are_no_weights(data, clf):
    X, Y = data
    plain = fresh(clf).fit(X, Y).predict_proba(X)
    weighted = fresh(clf).fit(X, Y, sample_weight=np.ones(len(Y))).predict_proba(X)
    np.testing.assert_allclose(weighted, plain, rtol=1e-6)


@pytest.mark.parametrize(
    "clf", [tiny(), tiny(**FAST, cv=2), MLKNNClassifier(), MLARAMClassifier(), VOTE], ids=str
)
def test_rows_of_weight_0_are_not_there(data, clf):
    X, Y = data
    weights = counts_of(data, 2)
    keep = np.flatnonzero(weights)
    without = fresh(clf).fit(X[keep], Y[keep]).predict_proba(X)
    np.testing.assert_array_equal(fresh(clf).fit(X, Y, weights).predict_proba(X), without)


@pytest.mark.parametrize("kind", ["measurements", "bag"])
def test_whole_weights_equal_repeated_rows_in_all_but_the_network(data, kind):
    X, Y = data
    X = X if kind == "measurements" else sp.csr_array(X.multiply(X.sum(axis=0) < 50))
    counts = counts_of(data)[:80] + 1
    repeated = np.repeat(np.arange(80), counts)
    given = {"X_val": X[80:], "y_val": Y[80:]}
    weighted = tiny(**FAST).fit(X[:80], Y[:80], counts, **given)
    expected = tiny(**FAST).fit(X[repeated], Y[repeated], **given)
    assert weighted.label_graph_ == expected.label_graph_
    assert weighted.voters_["linear"].model.features_.kind_ == kind
    P = [clf.predict_proba(X[80:]) for clf in (weighted, expected)]
    np.testing.assert_allclose(*P, atol=0.01)


def test_prototypes_count_weighted_rows_as_repeated_ones(data):
    X, Y = data
    counts = counts_of(data)
    repeated = np.repeat(np.arange(len(Y)), counts)
    weighted = MLARAMClassifier().fit(X, Y, counts).predict_proba(X)
    np.testing.assert_allclose(
        weighted, MLARAMClassifier().fit(X[repeated], Y[repeated]).predict_proba(X), rtol=1e-6
    )


def test_priors_of_mlknn_are_those_of_weighted_rows(data):
    X, Y = data
    counts = counts_of(data) + 1
    clf = MLKNNClassifier().fit(X, Y, counts)
    np.testing.assert_allclose(clf.prior_, (1 + counts @ Y) / (2 + counts.sum()))
    np.testing.assert_allclose(clf.likelihood_.sum(axis=2), 1)


def test_decisions_are_tuned_on_weighted_rows():
    Y = np.repeat([[1, 0], [0, 1]], 20, axis=0)
    X = np.zeros((40, 1))
    weights = np.where(np.arange(40) < 20, 1, 9)
    clf = TunedDecisionClassifier(DummyClassifier(strategy="prior"), cv=2, metric="accuracy")
    clf.set_params(random_state=0).fit(X, Y, sample_weight=weights)
    assert clf.predict(X[:1]).tolist() == [[0, 1]]


def test_an_estimator_without_weights_is_warned_about(data):
    X, Y = data
    clf = TunedDecisionClassifier(OneVsRestClassifier(LogisticRegression()), cv=2, random_state=0)
    with pytest.warns(UserWarning, match="takes no sample_weight in fit"):
        clf.fit(X, Y, sample_weight=np.ones(len(Y)))
    vote = SoftVotingMultilabelClassifier([("lr", OneVsRestClassifier(LogisticRegression()))])
    with pytest.raises(ValueError, match=r"lr .* takes no sample_weight"):
        vote.fit(X, Y, sample_weight=np.ones(len(Y)))


@each
@pytest.mark.parametrize("bad", [[-1.0], [np.nan], [0.0], [[1.0]]], ids=str)
def test_bad_weights_are_refused(data, clf, bad):
    X, Y = data
    with pytest.raises(ValueError, match=r"[Ww]eight"):
        fresh(clf).fit(X, Y, sample_weight=np.array(bad * len(Y)))


class Recorder(MLKNNClassifier):
    """Says what it was given."""

    def fit(self, X, y, sample_weight=None):
        """Fit, and remember the sum of the weights."""
        super().fit(X, y, sample_weight)
        self.given_ = None if sample_weight is None else float(np.sum(sample_weight))
        return self


def test_weights_are_routed_through_pipelines_searches_and_wrappers(data):
    X, Y = data
    weights = counts_of(data) + 1.0
    with sklearn.config_context(enable_metadata_routing=True):
        inner = tiny(**FAST).set_fit_request(sample_weight=True)
        inner.set_score_request(sample_weight=True)
        pipe = make_pipeline(MaxAbsScaler(), inner)
        search = GridSearchCV(pipe, {"mrmpclassifier__alpha": [0.05]}, cv=2)
        found = search.fit(X, Y, sample_weight=weights).best_estimator_
        plain = make_pipeline(MaxAbsScaler(), tiny(**FAST)).fit(X, Y)
        assert np.abs(found.predict_proba(X) - plain.predict_proba(X)).max() > 1e-3
        recorder = Recorder().set_fit_request(sample_weight=True)
        tuned = TunedDecisionClassifier(recorder, cv=2, random_state=0)
        assert tuned.fit(X, Y, sample_weight=weights).estimator_.given_ == weights.sum()
        silent = Recorder().set_fit_request(sample_weight=False)
        tuned = TunedDecisionClassifier(silent, cv=2, random_state=0)
        assert tuned.fit(X, Y, sample_weight=weights).estimator_.given_ is None


@pytest.mark.parametrize("weight", ["balanced", [1, 1, 5, 1, 1], {"2": 5}], ids=str)
def test_weights_of_labels_enter_the_losses(data, weight):
    X, Y = data
    plain, weighted = tiny().fit(X, Y), tiny().fit(X, Y, label_weight=weight)
    for name in ("network", "linear"):
        first, second = (clf.voters_[name].predict_proba(X) for clf in (plain, weighted))
        assert np.abs(first - second).max() > 1e-4
    first, second = (clf.voters_["neighbors"].predict_proba(X) for clf in (plain, weighted))
    np.testing.assert_array_equal(first, second)
    assert plain.label_graph_ == weighted.label_graph_


def test_a_mapping_and_an_array_of_label_weights_say_the_same(data):
    X, Y = data
    first, second = (
        tiny(**FAST).fit(X, Y, label_weight=weight).predict_proba(X)
        for weight in ({"2": 5.0}, np.array([1, 1, 5, 1, 1]))
    )
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ("even", "must be 'balanced'"),
        ({"x": 1.0}, "names 'x', which is no label"),
        ([1, 2], "5 numbers above 0"),
        ([1, 1, 1, 1, 0], "5 numbers above 0"),
    ],
)
def test_bad_weights_of_labels_are_refused(data, weight, message):
    X, Y = data
    with pytest.raises(ValueError, match=message):
        tiny(**FAST).fit(X, Y, label_weight=weight)


def test_voters_of_the_user_get_the_weights(data):
    X, Y = data
    weights = counts_of(data) + 1.0
    voters = ("linear", ("mine", Recorder()))
    clf = tiny(voters=voters).fit(X, Y, sample_weight=weights)
    assert clf.voters_["mine"].model.estimator_.given_ == weights.sum()
    with pytest.raises(ValueError, match="takes no sample_weight"):
        tiny(voters=(("nb", OneVsRestClassifier(BernoulliNB())),)).fit(X, Y, weights)
