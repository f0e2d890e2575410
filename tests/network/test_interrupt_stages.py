"""Ctrl-C before and after the network's training: what is trained is kept, nothing is torn."""

import inspect
import signal

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from sklearn_mrmp._ensemble import fitting
from sklearn_mrmp._ensemble.model import Ensemble
from sklearn_mrmp._neural import learning, tuning
from sklearn_mrmp._voters.linear import LinearVoter
from tests.tiny import tiny

# What comes after the network is trained.
LATER = {
    "voters vote": (Ensemble, "evidence"),
    "voters are weighed": (fitting, "vote_weights"),
    "label sets are collected": (tuning.CollectedLabelSets, "of"),
    "label sets are mixed in": (tuning.LabelSetVote, "fit"),
    "decisions are tuned": (tuning.OperatingPoints, "tune"),
    "voters are fitted on all rows": (learning, "with_all_rows"),
}


@pytest.fixture(autouse=True)
def ctrl_c():
    """Let Ctrl-C interrupt, also where a shell started the tests in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler


@pytest.fixture(scope="module")
def data(related):
    return related[0][:60], related[1][:60, :4]


def make_clf(**options):
    return tiny(**{"voters": ("network", "linear"), **options})


def raise_it():
    raise KeyboardInterrupt


def press_ctrl_c():
    signal.raise_signal(signal.SIGINT)


def pressing(monkeypatch, owner, name, action=press_ctrl_c, times=1):
    """Let something happen at the end of the first calls of a function."""
    original, left = getattr(owner, name), [times]

    def wrapped(*args, **kwargs):
        result = original(*args, **kwargs)
        if left[0]:
            left[0] -= 1
            action()
        return result

    monkeypatch.setattr(
        owner, name, staticmethod(wrapped) if inspect.ismethod(original) else wrapped
    )


def interrupted(clf, data):
    with pytest.raises(KeyboardInterrupt):
        clf.fit(*data)
    return clf


@pytest.mark.parametrize("action", [press_ctrl_c, raise_it])
@pytest.mark.parametrize("stage", LATER)
def test_ctrl_c_after_training_keeps_the_network(data, monkeypatch, stage, action):
    X, Y = data
    expected = make_clf().fit(X, Y)
    pressing(monkeypatch, *LATER[stage], action)
    clf = interrupted(make_clf(), data)
    np.testing.assert_array_equal(
        clf.voters_.network.predict_proba(X), expected.voters_.network.predict_proba(X)
    )
    assert clf.vote_weights_ == expected.vote_weights_
    assert clf.thresholds_ == expected.thresholds_
    for decision in ("optimal", "threshold", "label_sets", 0.3):
        assert clf.set_params(decision=decision).predict(X).shape == Y.shape


@pytest.mark.parametrize("stage", LATER)
def test_a_second_ctrl_c_after_training_does_not_wait(data, monkeypatch, stage):
    if stage == "voters are fitted on all rows":
        pytest.skip("nothing is left to be waited for")
    pressing(monkeypatch, *LATER[stage], times=2)
    clf = interrupted(make_clf(), data)
    with pytest.raises(NotFittedError):
        clf.predict(data[0])


@pytest.mark.parametrize("stage", ["voters vote", "decisions are tuned"])
def test_ctrl_c_without_a_network_does_not_wait(data, monkeypatch, stage):
    pressing(monkeypatch, *LATER[stage])
    clf = interrupted(tiny(voters=("linear", "neighbors")), data)
    with pytest.raises(NotFittedError):
        clf.predict(data[0])


def test_ctrl_c_between_folds_keeps_the_folds_before(data, monkeypatch):
    X, Y = data
    refits = []
    original = LinearVoter.refit

    def refit(self, rows, labels, seen=False, weights=None):
        refits.append(len(rows))
        if len(refits) == 2:  # the second fold is being prepared
            press_ctrl_c()
        return original(self, rows, labels)

    monkeypatch.setattr(LinearVoter, "refit", refit)
    clf = interrupted(make_clf(cv=3), data)
    assert len(clf.voters_.network.model.members) == 1
    assert clf.predict(X).shape == Y.shape


def test_ctrl_c_before_the_network_leaves_nothing(data, monkeypatch):
    pressing(monkeypatch, LinearVoter, "fit")
    clf = interrupted(make_clf(), data)
    with pytest.raises(NotFittedError):
        clf.predict(data[0])
