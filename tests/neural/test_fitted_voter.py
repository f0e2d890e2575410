"""One voter of a fitted classifier: it predicts alone, shows its weight, and is seen in HTML."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import NotFittedError

from tests.tiny import PLAIN, tiny

VOTERS = ("network", "linear", "neighbors", ("forest", ExtraTreesClassifier(5, random_state=0)))
NAMES = ["network", "linear", "neighbors", "forest"]


@pytest.fixture(scope="module")
def fitted(related):
    return tiny(voters=VOTERS).fit(*related)


@pytest.mark.parametrize("name", NAMES)
def test_each_of_them_predicts_alone(fitted, related, name):
    X, Y = related
    voter = fitted.voters_[name]
    P, Z = voter.predict_proba(X), voter.decision_function(X)
    assert P.shape == Z.shape == Y.shape
    assert P.dtype == Z.dtype == np.float32
    np.testing.assert_allclose(P, 1 / (1 + np.exp(-Z)), rtol=1e-4)
    np.testing.assert_array_equal(voter.predict(X), P >= 0.5)


def test_the_network_alone_is_a_fit_of_the_network_alone(fitted, related):
    X, Y = related
    alone = tiny(**PLAIN).fit(X, Y)
    P = fitted.voters_.network.predict_proba(X)
    np.testing.assert_allclose(P, alone.predict_proba(X), atol=1e-6)


def test_sparse_labels_are_predicted_sparse(related):
    X, Y = related
    clf = tiny(voters=("linear",)).fit(X, sp.csr_array(Y))
    predicted = clf.voters_.linear.predict(X)
    assert sp.issparse(predicted)
    assert predicted.shape == Y.shape


@pytest.mark.parametrize("kind", ["binary", "multiclass"])
def test_classes_are_predicted_as_classes(related, kind):
    X, Y = related
    names = np.array(["no", "yes", "maybe", "never"])
    y = names[Y[:, 0] if kind == "binary" else Y[:, 0] + 2 * Y[:, 1]]
    clf = tiny(max_epochs=1, voters=("network", "linear")).fit(X, y)
    for voter in clf.voters_.values():
        P = voter.predict_proba(X)
        assert P.shape == (len(y), len(clf.classes_))
        np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-5)
        assert set(voter.predict(X)) <= set(y)
    assert (clf.voters_.linear.predict(X) == y).mean() > 0.5


def test_weights_go_by_name(fitted):
    assert list(fitted.voters_) == NAMES
    assert list(fitted.vote_weights_) == [*NAMES, "frequency"]
    for name, voter in fitted.voters_.items():
        assert voter.name == name
        assert voter.weight == fitted.vote_weights_[name]
        assert isinstance(voter.weight, float)
        assert 0 <= voter.weight <= 2


def test_changing_the_weights_that_are_shown_changes_nothing(fitted, related):
    before = fitted.predict_proba(related[0])
    fitted.vote_weights_["network"] = 0.0
    np.testing.assert_array_equal(fitted.predict_proba(related[0]), before)


def test_rows_are_checked_as_by_the_classifier(fitted, related):
    with pytest.raises(ValueError, match="features"):
        fitted.voters_.linear.predict_proba(related[0][:, :3])


@pytest.mark.parametrize("name", ["voters_", "vote_weights_", "label_sets_", "thresholds_"])
def test_before_fit_there_are_none(name):
    with pytest.raises(NotFittedError):
        getattr(tiny(), name)


def test_the_html_shows_who_votes_and_with_what_weight(fitted):
    html = fitted._repr_html_()
    for name, weight in fitted.vote_weights_.items():
        assert (f"{name} (weight {weight:.2f})" in html) == (name != "frequency")
    assert "(weight" not in clone(fitted)._repr_html_()
    assert "MrMPClassifier" in clone(fitted)._repr_html_()


def test_their_repr_says_what_is_inside(fitted):
    voters = fitted.voters_
    assert repr(voters.linear) == f"linear: weight {voters.linear.weight:.2f}, LinearVoter"
    assert repr(voters.forest).endswith("ExtraTreesClassifier(n_estimators=5, random_state=0)")


@pytest.mark.parametrize("again", [copy.deepcopy, lambda clf: pickle.loads(pickle.dumps(clf))])
def test_copies_and_pickles_have_the_same_voters(fitted, related, again):
    X, _ = related
    other = again(fitted)
    assert other.vote_weights_ == fitted.vote_weights_
    np.testing.assert_array_equal(other.predict_proba(X), fitted.predict_proba(X))
    for name in NAMES:
        Z, expected = (clf.voters_[name].decision_function(X) for clf in (other, fitted))
        np.testing.assert_array_equal(Z, expected)
    assert other.net_ is other.voters_.network.model.nets[0] is not fitted.net_


def test_metric_and_decision_are_read_when_predicting(fitted, related):
    X, _ = related
    clf, P = copy.copy(fitted), fitted.predict_proba(related[0])
    for cut in (0.2, 0.5, 0.9):
        predicted = clf.set_params(decision=cut).predict(X)
        np.testing.assert_array_equal(predicted, P >= np.float32(cut))
    for metric, cut in clf.thresholds_.items():
        predicted = clf.set_params(metric=metric, decision="threshold").predict(X)
        np.testing.assert_array_equal(predicted, P >= np.float32(cut))
