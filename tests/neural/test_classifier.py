"""What any network behind a classifier does around its trainings: splits, checkpoints, errors."""

import signal

import numpy as np
import pytest
import torch
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.naive_bayes import BernoulliNB
from skorch.callbacks import Callback

from sklearn_mrmp import MrMPClassifier, load
from tests.tiny import tiny


def test_a_splitter_that_stratifies_sees_the_classes_of_a_vector(related):
    X, y = related[0][:60], np.arange(60) % 3
    clf = tiny(cv=StratifiedKFold(2), max_epochs=1).fit(X, y)
    assert clf.predict(X).shape == (60,)


def test_a_checkpoint_of_other_folds_is_refused(related, tmp_path):
    X, Y = related
    options = {"checkpoint_dir": tmp_path, "max_epochs": 1, "random_state": 0}
    tiny(cv=KFold(2, shuffle=True, random_state=0), **options).fit(X, Y)
    tiny(cv=KFold(2, shuffle=True, random_state=0), **options).fit(X, Y)  # the same ones
    with pytest.raises(ValueError, match="other data: held-out rows"):
        tiny(cv=KFold(2, shuffle=True, random_state=1), **options).fit(X, Y)


class PressTwice(Callback):
    """An impatient user, at the end of the first epoch."""

    def on_epoch_end(self, net, **kwargs):
        if len(net.history) == 1:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)


def test_a_second_ctrl_c_at_the_end_of_an_epoch_does_not_finish_the_checkpoint(related, tmp_path):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            tiny(max_epochs=3, checkpoint_dir=tmp_path, callbacks=[PressTwice()]).fit(*related)
    finally:
        signal.signal(signal.SIGINT, before)
    assert tiny(max_epochs=3, checkpoint_dir=tmp_path).fit(*related).n_iter_ == 3


def test_models_are_saved_and_loaded_whatever_the_default_dtype(related, tmp_path):
    X, Y = related
    clf = tiny(max_epochs=1).fit(X, Y)
    torch.set_default_dtype(torch.float64)
    try:
        clf.save(tmp_path / "model")
        loaded = load(tmp_path / "model")
    finally:
        torch.set_default_dtype(torch.float32)
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))


class OnlyPredicts(BernoulliNB):
    """A classifier without scores."""

    predict_proba = property()
    decision_function = property()

    def fit(self, X, Y):
        return self


def test_a_voter_without_scores_is_found_before_the_network_trains(related, monkeypatch):
    started = []
    monkeypatch.setattr("sklearn_mrmp._network.voter.train_network", started.append)
    with pytest.raises(AttributeError, match="has no predict_proba or decision_function"):
        tiny(voters=("network", ("silent", OnlyPredicts()))).fit(*related)
    assert not started


def test_a_failed_fit_leaves_no_fitted_classifier(related):
    X, Y = related
    clf = tiny(max_epochs=1).fit(X, Y)
    voter = clf.voters_.network
    with pytest.raises(ValueError, match="0 and 1"):
        clf.fit(X, 3 * Y)
    for predict in (clf.predict, voter.predict_proba):
        with pytest.raises(Exception, match="not fitted"):
            predict(X)


def test_unknown_epochs_are_not_counted_after_ctrl_c(related):
    class Stop(Callback):
        def on_batch_end(self, net, **kwargs):
            if len(net.history) == 2:
                raise KeyboardInterrupt

    clf = MrMPClassifier(d_model=8, max_epochs=3, random_state=0, callbacks=[Stop()])
    with pytest.raises(KeyboardInterrupt):
        clf.fit(*related)
    assert clf.n_iter_ == len(clf.history_) == 1
