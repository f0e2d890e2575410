"""Ctrl-C: a single fit keeps what it learned, everything around several fits stops."""

import signal
import threading
import warnings

import numpy as np
import pytest
import torch
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from skorch.callbacks import Callback, EarlyStopping

from sklearn_mrmp import (
    MrMPClassifier,
    SoftVotingMultilabelClassifier,
    TunedDecisionClassifier,
    compare_classifiers,
)


def raise_it():
    raise KeyboardInterrupt


def press_ctrl_c():
    signal.raise_signal(signal.SIGINT)


def press_twice():
    press_ctrl_c()
    press_ctrl_c()


class At(Callback):
    """Do something after a batch of an epoch; `seen` lists all batches of all fits."""

    seen = []  # noqa: RUF012 - shared by the copies a search makes

    def __init__(self, action, epoch=2, batch=2):
        self.action = action
        self.epoch = epoch
        self.batch = batch

    def on_batch_end(self, net, **kwargs):
        position = (len(net.history), len(net.history[-1]["batches"]))
        At.seen.append(position)
        if position == (self.epoch, self.batch):
            self.action()


@pytest.fixture(autouse=True)
def fresh():
    """Forget earlier fits, and check that the way Ctrl-C is handled is as before."""
    At.seen = []
    # A process that a shell started in the background ignores Ctrl-C; these tests must not.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler


@pytest.fixture(scope="module")
def data(related):
    return related[0][:60], related[1][:60, :4]


def make_clf(*callbacks, **options):
    tiny = {
        "d_model": 8,
        "n_heads": 2,
        "n_encoder_layers": 1,
        "n_relation_layers": 1,
        "n_decoder_layers": 1,
        "max_epochs": 3,
        "batch_size": 16,
        "lr": 0.01,
        "linear_path": False,  # what is kept is the network's
        "neighbor_path": False,
        "label_sets": False,
        "random_state": 0,
    }
    return MrMPClassifier(**{**tiny, **options}, callbacks=list(callbacks))


class TestSingleFit:
    @pytest.mark.parametrize("action", [raise_it, press_ctrl_c])
    def test_stops_after_the_batch_with_the_best_weights_and_tuned_thresholds(self, data, action):
        X, Y = data
        with pytest.warns(UserWarning, match="interrupted after 1 whole epochs; the best weights"):
            clf = make_clf(At(action)).fit(X, Y)
        assert At.seen[-1] == (2, 2)
        # The schedule is that of three epochs, of which the first alone was kept.
        P = []

        class Probabilities(Callback):
            def on_epoch_end(self, net, **kwargs):
                P.append(net.label_probabilities(clf._model.encoder.transform(X)))

        whole = make_clf(Probabilities()).fit(X, Y)
        np.testing.assert_array_equal(clf.predict_proba(X), P[0])
        assert clf.best_epoch_ == 1
        assert set(clf.thresholds_) == set(whole.thresholds_)
        assert clf.predict(X).shape == Y.shape

    def test_a_signal_waits_for_the_end_of_the_batch(self, data):
        steps = []

        class Early(Callback):
            def on_batch_begin(self, net, training=False, **kwargs):
                if len(net.history) == 2:
                    press_ctrl_c()

            def on_batch_end(self, net, training=False, loss=None, **kwargs):
                steps.append(len(net.history))

        with pytest.warns(UserWarning, match="interrupted"):
            make_clf(Early()).fit(*data)
        assert steps.count(2) == 1

    def test_a_signal_from_another_thread(self, data):
        def press_elsewhere():
            main = threading.main_thread().ident
            thread = threading.Thread(target=signal.pthread_kill, args=(main, signal.SIGINT))
            thread.start()
            thread.join()

        with pytest.warns(UserWarning, match="interrupted"):
            clf = make_clf(At(press_elsewhere)).fit(*data)
        assert clf.best_epoch_ == 1

    @pytest.mark.parametrize(("epoch", "n_kept"), [(1, 1), (2, 2)])
    def test_members_trained_before_are_kept(self, data, epoch, n_kept):
        class InSecondMember(Callback):
            trained = 0

            def on_train_begin(self, net, **kwargs):
                InSecondMember.trained += 1

            def on_batch_end(self, net, **kwargs):
                if InSecondMember.trained == 2 and len(net.history) == epoch:
                    press_ctrl_c()

        with pytest.warns(UserWarning, match="interrupted"):
            clf = make_clf(InSecondMember(), n_members=3).fit(*data)
        assert len(clf._model.nets) == n_kept
        assert np.isfinite(clf.predict_proba(data[0])).all()

    def test_without_early_stopping_the_last_weights_are_kept(self, data):
        with pytest.warns(UserWarning, match="the last weights so far"):
            clf = make_clf(At(press_ctrl_c), early_stopping=False).fit(*data)
        assert np.isfinite(clf.predict_proba(data[0])).all()

    def test_a_second_signal_interrupts_at_once(self, data):
        with pytest.raises(KeyboardInterrupt):
            make_clf(At(press_twice)).fit(*data)

    @pytest.mark.parametrize("action", [raise_it, press_ctrl_c])
    def test_before_the_end_of_the_first_epoch_there_is_nothing_to_keep(self, data, action):
        with pytest.raises(KeyboardInterrupt):
            make_clf(At(action, epoch=1)).fit(*data)

    def test_a_signal_after_the_last_batch_is_not_lost(self, data):
        class Late(Callback):
            def on_train_end(self, net, **kwargs):
                press_ctrl_c()

        with pytest.warns(UserWarning, match="interrupted after 3 whole epochs"):
            make_clf(Late()).fit(*data)

    @pytest.mark.parametrize(("epoch", "message"), [(2, "after 1 whole"), (4, "on all rows was")])
    def test_an_interrupted_refit_keeps_the_first_model(self, data, epoch, message):
        class Nth(Callback):
            """Interrupt in the n-th epoch of the whole fit."""

            def on_train_begin(self, net, **kwargs):
                self.before = getattr(self, "total", 0)

            def on_batch_end(self, net, **kwargs):
                self.total = self.before + len(net.history)
                if self.total == epoch:
                    raise KeyboardInterrupt

        with pytest.warns(UserWarning, match=message) as caught:
            clf = make_clf(Nth(), refit=True).fit(*data)
        assert len(caught) == 1
        with warnings.catch_warnings(action="ignore"):
            first = make_clf(*([At(raise_it, 2, 1)] if epoch == 2 else [])).fit(*data)
        np.testing.assert_array_equal(clf.predict_proba(data[0]), first.predict_proba(data[0]))

    def test_a_pipeline_is_a_single_fit(self, data):
        X, Y = data
        with pytest.warns(UserWarning, match="interrupted"):
            pipeline = make_pipeline(MaxAbsScaler(), make_clf(At(press_ctrl_c))).fit(X, Y)
        assert pipeline.predict(X).shape == Y.shape

    def test_generators_and_threads_are_as_before(self, data):
        torch.manual_seed(1)
        before, threads = torch.get_rng_state(), torch.get_num_threads()
        for epoch in (1, 2):
            with warnings.catch_warnings(action="ignore"):
                try:
                    make_clf(At(press_ctrl_c, epoch), n_threads=threads + 1).fit(*data)
                except KeyboardInterrupt:
                    assert epoch == 1
            assert torch.equal(torch.get_rng_state(), before)
            assert torch.get_num_threads() == threads

    def test_an_interrupted_fit_can_be_taken_up_again(self, data, tmp_path):
        with pytest.warns(UserWarning, match="interrupted"):
            make_clf(At(press_ctrl_c), checkpoint_dir=tmp_path).fit(*data)
        clf = make_clf(checkpoint_dir=tmp_path).fit(*data)
        assert clf.n_iter_ == 3
        P = make_clf().fit(*data).predict_proba(data[0])
        np.testing.assert_array_equal(clf.predict_proba(data[0]), P)

    def test_skorchs_early_stopping_is_no_interrupt(self, data):
        stop = EarlyStopping("epoch", patience=1, sink=str)  # the number only grows
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            clf = make_clf(stop).fit(*data)
        assert clf.n_iter_ == 2
        # Stopped in the middle of its schedule, it returns to the better of the two.
        losses = [epoch["valid_loss"] for epoch in clf.history_]
        assert clf.best_epoch_ == int(np.argmin(losses)) + 1
        search = GridSearchCV(make_clf(stop), {"lr": [0.01, 0.02]}, cv=2, refit=False)
        assert len(search.fit(*data).cv_results_["params"]) == 2

    def test_outside_the_main_thread_signals_are_left_alone(self, data):
        done = []
        thread = threading.Thread(target=lambda: done.append(make_clf().fit(*data)))
        thread.start()
        thread.join()
        assert done

    def test_somebody_elses_handler_is_left_alone(self, data):
        seen = []
        before = signal.signal(signal.SIGINT, lambda *args: seen.append("theirs"))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                clf = make_clf(At(press_ctrl_c)).fit(*data)
        finally:
            signal.signal(signal.SIGINT, before)
        assert seen == ["theirs"]
        assert clf.n_iter_ == 3


def search(clf, X, Y):
    GridSearchCV(clf, {"lr": [0.01, 0.02]}, cv=2).fit(X, Y)


def search_of_pipeline(clf, X, Y):
    pipeline = make_pipeline(MaxAbsScaler(), clf)
    GridSearchCV(pipeline, {"mrmpclassifier__lr": [0.01, 0.02]}, cv=2).fit(X, Y)


def validate(clf, X, Y):
    cross_validate(clf, X, Y, cv=2)


def vote(clf, X, Y):
    SoftVotingMultilabelClassifier([("a", clf), ("b", clf)]).fit(X, Y)


def tune(clf, X, Y):
    TunedDecisionClassifier(clf, cv=2).fit(X, Y)


def bag(clf, X, Y):
    BaggingClassifier(clf, n_estimators=2).fit(X, Y[:, 0])


def compare(clf, X, Y):
    compare_classifiers({"a": clf, "b": clf}, X, Y, X, Y, seeds=2, isolate=False)


class TestSeveralFits:
    @pytest.mark.parametrize("action", [raise_it, press_ctrl_c])
    @pytest.mark.parametrize(
        "fits", [search, search_of_pipeline, validate, vote, tune, bag, compare]
    )
    def test_an_interrupt_stops_all_of_them(self, data, fits, action):
        with pytest.raises(KeyboardInterrupt):
            fits(make_clf(At(action)), *data)
        assert At.seen[-1] == (2, 2)
        assert At.seen.count((1, 1)) == 1
