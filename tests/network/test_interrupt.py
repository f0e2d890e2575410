"""Ctrl-C always reaches the caller; before that a fit is left with what it has learned."""

import signal
import threading
import warnings

import numpy as np
import pytest
import torch
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from skorch.callbacks import Callback, EarlyStopping

from sklearn_mrmp import (
    SoftVotingMultilabelClassifier,
    TunedDecisionClassifier,
    compare_classifiers,
)
from tests.tiny import PLAIN, tiny


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
    """Return a shallow network alone: what is kept is the network's."""
    shallow = {"n_encoder_layers": 1, "n_relation_layers": 1, "n_decoder_layers": 1}
    options = {**PLAIN, **shallow, "max_epochs": 3, "lr": 0.01, **options}
    return tiny(**options, callbacks=list(callbacks))


def interrupted(clf, data):
    """Return a classifier, or what is around it, whose fit was interrupted; without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KeyboardInterrupt):
            clf.fit(*data)
    return clf


def assert_not_fitted(clf, X):
    with pytest.raises(NotFittedError):
        clf.predict(X)


class TestSingleFit:
    @pytest.mark.parametrize("action", [raise_it, press_ctrl_c])
    def test_stops_after_the_batch_with_the_best_weights_and_tuned_thresholds(self, data, action):
        X, Y = data
        clf = interrupted(make_clf(At(action)), data)
        assert At.seen[-1] == (2, 2)
        # The schedule is that of three epochs, of which the first alone was kept.
        P = []

        class Probabilities(Callback):
            def on_epoch_end(self, net, **kwargs):
                P.append(net.label_probabilities(clf._encoded(X).tokens))

        whole = make_clf(Probabilities()).fit(X, Y)
        np.testing.assert_array_equal(clf.predict_proba(X), P[0])
        assert clf.best_epoch_ == 1
        assert set(clf.thresholds_) == set(whole.thresholds_)
        assert clf.predict(X).shape == Y.shape

    @pytest.mark.parametrize("options", [{}, {"early_stopping": False}, {"cv": 2}], ids=str)
    @pytest.mark.parametrize("batch", [1, 4, 5])
    def test_only_finished_epochs_are_counted(self, data, batch, options):
        """Batches 1 to 4 train, the last one validates (with two folds: 1 and 2, and then 3)."""
        batch = min(batch, 3) if "cv" in options else batch
        clf = interrupted(make_clf(At(press_ctrl_c, epoch=3, batch=batch), **options), data)
        assert At.seen[-1] == (3, batch)
        assert clf.n_iter_ == len(clf.history_) == len(clf.net_.history) == 2
        assert clf.best_epoch_ <= 2
        for epoch in clf.history_:
            assert {"train_loss", "valid_loss", "dur"} <= epoch.keys()

    def test_a_signal_waits_for_the_end_of_the_batch(self, data):
        steps = []

        class Early(Callback):
            def on_batch_begin(self, net, training=False, **kwargs):
                if len(net.history) == 2:
                    press_ctrl_c()

            def on_batch_end(self, net, training=False, loss=None, **kwargs):
                steps.append(len(net.history))

        clf = interrupted(make_clf(Early()), data)
        assert steps.count(2) == 1
        assert clf.best_epoch_ == 1

    def test_a_signal_from_another_thread(self, data):
        def press_elsewhere():
            main = threading.main_thread().ident
            thread = threading.Thread(target=signal.pthread_kill, args=(main, signal.SIGINT))
            thread.start()
            thread.join()

        clf = interrupted(make_clf(At(press_elsewhere)), data)
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

        clf = interrupted(make_clf(InSecondMember(), n_members=3), data)
        nets, rows = clf.voters_.network.model.nets, clf._encoded(data[0]).tokens
        assert len(nets) == n_kept
        first = make_clf().fit(*data).net_
        np.testing.assert_array_equal(nets[0].label_logits(rows), first.label_logits(rows))
        assert np.isfinite(clf.predict_proba(data[0])).all()

    def test_without_early_stopping_the_last_weights_are_kept(self, data):
        weights = []

        class Weights(Callback):
            def on_batch_end(self, net, training=False, **kwargs):
                weights.append([w.detach().clone() for w in net.module_.parameters()])

        clf = interrupted(make_clf(Weights(), At(press_ctrl_c), early_stopping=False), data)
        assert np.isfinite(clf.predict_proba(data[0])).all()
        for weight, last in zip(clf.net_.module_.parameters(), weights[-1], strict=True):
            assert torch.equal(weight, last)

    def test_a_second_signal_interrupts_at_once(self, data):
        clf = interrupted(make_clf(At(press_twice)), data)
        assert At.seen[-1] == (2, 2)
        assert_not_fitted(clf, data[0])

    @pytest.mark.parametrize("action", [raise_it, press_ctrl_c])
    def test_before_the_end_of_the_first_epoch_there_is_nothing_to_keep(self, data, action):
        clf = interrupted(make_clf(At(action, epoch=1)), data)
        assert_not_fitted(clf, data[0])

    def test_a_fit_that_kept_nothing_does_not_pass_for_the_one_before(self, data):
        clf = make_clf().fit(*data)
        interrupted(clf.set_params(callbacks=[At(press_ctrl_c, epoch=1)]), data)
        assert_not_fitted(clf, data[0])

    def test_all_voters_are_weighed_and_fitted_on_all_rows(self, data):
        voters = ("network", "linear", "neighbors")
        clf = interrupted(make_clf(At(press_ctrl_c), voters=voters), data)
        whole = make_clf(voters=voters).fit(*data)
        assert set(clf.vote_weights_) == {*voters, "frequency"}
        for name in ("linear", "neighbors"):
            votes = (fit.voters_[name].predict_proba(data[0]) for fit in (clf, whole))
            np.testing.assert_array_equal(*votes)

    def test_a_signal_after_the_last_batch_is_not_lost(self, data):
        class Late(Callback):
            def on_train_end(self, net, **kwargs):
                press_ctrl_c()

        clf = interrupted(make_clf(Late()), data)
        assert clf.n_iter_ == 3
        P = make_clf().fit(*data).predict_proba(data[0])
        np.testing.assert_array_equal(clf.predict_proba(data[0]), P)

    @pytest.mark.parametrize("epoch", [2, 4])
    def test_an_interrupted_refit_keeps_the_first_model(self, data, epoch):
        class Nth(Callback):
            """Interrupt in the n-th epoch of the whole fit."""

            def on_train_begin(self, net, **kwargs):
                self.before = getattr(self, "total", 0)

            def on_batch_end(self, net, **kwargs):
                self.total = self.before + len(net.history)
                if self.total == epoch:
                    raise KeyboardInterrupt

        clf = interrupted(make_clf(Nth(), refit=True), data)
        if epoch == 2:
            first = interrupted(make_clf(At(raise_it, 2, 1)), data)
        else:
            first = make_clf().fit(*data)
        np.testing.assert_array_equal(clf.predict_proba(data[0]), first.predict_proba(data[0]))

    def test_a_pipeline_can_be_used(self, data):
        X, Y = data
        pipeline = interrupted(make_pipeline(MaxAbsScaler(), make_clf(At(press_ctrl_c))), data)
        assert pipeline.predict(X).shape == Y.shape
        scaled = MaxAbsScaler().fit_transform(X)
        alone = interrupted(make_clf(At(press_ctrl_c)), (scaled, Y))
        np.testing.assert_array_equal(pipeline.predict_proba(X), alone.predict_proba(scaled))

    def test_generators_and_threads_are_as_before(self, data):
        torch.manual_seed(1)
        before, threads = torch.get_rng_state(), torch.get_num_threads()
        for epoch in (1, 2):
            interrupted(make_clf(At(press_ctrl_c, epoch), n_threads=threads + 1), data)
            assert torch.equal(torch.get_rng_state(), before)
            assert torch.get_num_threads() == threads

    def test_an_interrupted_fit_can_be_taken_up_again(self, data, tmp_path):
        interrupted(make_clf(At(press_ctrl_c), checkpoint_dir=tmp_path), data)
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

    @pytest.mark.parametrize("fits", [search, validate, vote, tune, bag, compare])
    def test_what_was_given_to_them_is_not_fitted(self, data, fits):
        clf = make_clf(At(press_ctrl_c))
        with pytest.raises(KeyboardInterrupt):
            fits(clf, *data)
        assert_not_fitted(clf, data[0])
