"""`MrMPClassifier` as a user sees it."""

import inspect
import io
import os
import pickle
import warnings
from dataclasses import fields
from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from skorch.callbacks import Callback
from skorch.exceptions import DeviceWarning

from sklearn_mrmp import LabelGraph, MrMPClassifier, label_graph, nn
from sklearn_mrmp._decisions.sweep import METRICS, metric_value
from sklearn_mrmp._network import settings as _settings
from sklearn_mrmp._network.architecture import find_architecture
from sklearn_mrmp._network.mrmp import MrMPSettings
from sklearn_mrmp._settings import (
    EnsembleSettings,
    GraphSettings,
    InputSettings,
    OutcomeSettings,
    RunSettings,
)
from tests.tiny import PLAIN, tiny


def make_clf(**options):
    return tiny(**{"lr": 0.01, "batch_size": 32, **options})


def pickled_size(value):
    buffer = io.BytesIO()
    joblib.dump(value, buffer)
    return buffer.tell()


class InterruptIn(Callback):
    """Ctrl-C in the middle of an epoch."""

    def __init__(self, epoch):
        self.epoch = epoch

    def on_batch_end(self, net, **kwargs):
        if len(net.history) == self.epoch:
            raise KeyboardInterrupt


class WriteThreads(Callback):
    """Leave a file of each process: torch's number of threads in training."""

    def __init__(self, folder):
        self.folder = folder

    def on_batch_end(self, net, **kwargs):
        (self.folder / str(os.getpid())).write_text(str(torch.get_num_threads()))


class Note(Callback):
    """Has something that cannot be pickled, and counts in public."""

    def __init__(self):
        self.hidden = lambda: None
        self.n_epochs_ = 0

    def on_epoch_end(self, net, **kwargs):
        self.n_epochs_ += 1


@pytest.fixture(scope="module")
def fitted(related):
    return make_clf().fit(*related)


class TestFit:
    def test_learns_more_than_label_frequencies(self, related):
        X, Y = related
        clf = make_clf(max_epochs=25, d_model=16).fit(X, Y)
        frequent = np.repeat(Y.mean(axis=0, keepdims=True) >= 0.2, len(Y), axis=0)
        trivial = max(
            f1_score(Y, np.ones_like(Y), average="micro"), f1_score(Y, frequent, average="micro")
        )
        assert f1_score(Y, clf.predict(X), average="micro") > trivial + 0.1

    def test_fitted_attributes(self, fitted, related):
        X, Y = related
        assert fitted.n_features_in_ == X.shape[1]
        assert [c.tolist() for c in fitted.classes_] == [[0, 1]] * Y.shape[1]
        assert fitted.label_names_.tolist() == [str(i) for i in range(Y.shape[1])]
        assert set(fitted.label_graph_.relations) == {"pulling", "pushing"}
        assert fitted.label_embeddings_.shape == (Y.shape[1], 8)
        assert fitted.n_iter_ == len(fitted.history_) == 2
        assert 1 <= fitted.best_epoch_ <= 2
        assert set(fitted.thresholds_) == set(METRICS)
        assert fitted.input_type_ == "features"

    def test_graph_is_learned_from_training_rows_only(self, related):
        X, Y = related
        seen = []
        make_clf(relations=lambda Y: seen.append(Y), cv=0.25).fit(X, Y)
        assert seen[0].shape == (120, Y.shape[1])

    @pytest.mark.parametrize("schedule", ["onecycle", "cosine", "step", "constant"])
    def test_schedules_move_the_learning_rate_as_named(self, related, schedule):
        class Rates(Callback):
            rates = None

            def on_batch_end(self, net, training=False, **kwargs):
                if training:
                    self.rates.append(net.optimizer_.param_groups[0]["lr"])

        recorder = Rates()
        recorder.rates = []
        make_clf(
            lr_schedule=schedule,
            max_epochs=11,
            callbacks=[recorder],
            early_stopping=False,
            batch_size=48,
        ).fit(*related)
        rates = np.array(recorder.rates)
        assert rates.max() <= 0.01 + 1e-9
        if schedule == "onecycle":
            assert rates[0] < 0.001
            assert rates[-1] < 0.001
        if schedule == "cosine":
            assert (np.diff(rates) < 0).all()
        if schedule == "step":
            np.testing.assert_allclose([rates[0], rates[-1]], [0.01, 0.009])
        if schedule == "constant":
            np.testing.assert_allclose(rates, 0.01)

    def test_early_stopping_returns_to_the_best_weights(self, related):
        X, Y = related
        options = {"lr": 0.1, "lr_schedule": "constant", "max_epochs": 30, "early_stopping": 2}
        clf = make_clf(**options, **PLAIN)
        clf.fit(X[:100], Y[:100], X_val=X[100:], y_val=Y[100:])
        losses = [epoch["valid_loss"] for epoch in clf.history_]
        assert clf.n_iter_ < 30
        assert clf.best_epoch_ == int(np.argmin(losses)) + 1
        assert clf.n_iter_ == clf.best_epoch_ + 2
        P = clf.predict_proba(X[100:])
        Y_val = Y[100:]
        loss = -(Y_val * np.log(P) + (1 - Y_val) * np.log1p(-P)).mean()
        assert loss == pytest.approx(min(losses), rel=1e-4)

    @pytest.mark.parametrize("schedule", ["onecycle", "cosine"])
    def test_a_schedule_that_ends_low_is_trained_to_its_end(self, related, schedule):
        X, Y = related
        options = {"lr": 0.1, "lr_schedule": schedule, "max_epochs": 12}
        clf = make_clf(**options, **PLAIN)
        best = []
        for seed in range(5):  # of some the last epoch happens to be the best
            clf.set_params(random_state=seed)
            clf.fit(X[:100], Y[:100], X_val=X[100:], y_val=Y[100:])
            losses = [epoch["valid_loss"] for epoch in clf.history_]
            best.append(int(np.argmin(losses)) + 1)
            assert clf.n_iter_ == clf.best_epoch_ == 12
            P, Y_val = clf.predict_proba(X[100:]), Y[100:]
            loss = -(Y_val * np.log(P) + (1 - Y_val) * np.log1p(-P)).mean()
            assert loss == pytest.approx(losses[-1], rel=1e-4)
        assert min(best) < 12
        clf.set_params(early_stopping=1).fit(X[:100], Y[:100], X_val=X[100:], y_val=Y[100:])
        assert clf.best_epoch_ < clf.n_iter_ < 12

    @pytest.mark.parametrize("schedule", ["onecycle", "cosine"])
    def test_refit_trains_the_whole_schedule_of_all_rows(self, related, monkeypatch, schedule):
        monkeypatch.setattr(_settings, "_AUTO_STEPS", 50)
        rates = []

        class Rates(Callback):
            def on_batch_begin(self, net, training=False, **kwargs):
                if training:
                    rates.append(net.optimizer_.param_groups[0]["lr"])

        options = {"max_epochs": "auto", "lr_schedule": schedule, "refit": True, "batch_size": 16}
        clf = make_clf(**options, callbacks=[Rates()]).fit(related[0][:60], related[1][:60])
        assert clf.n_iter_ == 15  # 54 rows
        assert len(clf.net_.history) == 13  # 60 rows: as many steps, in fewer epochs
        assert rates[-1] == min(rates[-20:])

    def test_held_out_rows_can_be_given(self, related):
        X, Y = related
        seen = []
        clf = make_clf(relations=lambda Y: seen.append(Y))
        clf.fit(X[:100], Y[:100], X_val=X[100:], y_val=Y[100:])
        assert seen[0].shape[0] == 100
        with pytest.raises(ValueError, match="given together"):
            make_clf().fit(X, Y, X_val=X)
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            make_clf().fit(X, Y, X_val=X[:3], y_val=Y[:2])

    def test_refit_trains_on_all_rows_for_the_best_number_of_epochs(self, related):
        X, Y = related
        clf = make_clf(refit=True, max_epochs=4).fit(X, Y)
        assert len(clf.net_.history) == clf.best_epoch_
        assert not np.allclose(
            clf.predict_proba(X), make_clf(max_epochs=4).fit(X, Y).predict_proba(X)
        )

    def test_exploding_loss_stops_with_advice(self, related):
        with pytest.raises(ValueError, match=r"loss became .*Lower lr \(now 1e\+30\)"):
            make_clf(lr=1e30, lr_schedule="constant").fit(*related)

    def test_interrupt_raises_and_keeps_a_usable_model(self, related):
        X, Y = related
        clf = make_clf(callbacks=[InterruptIn(epoch=2)], max_epochs=5)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(KeyboardInterrupt):
                clf.fit(X, Y)
        assert clf.predict(X).shape == Y.shape
        assert clf.best_epoch_ == 1
        assert set(clf.thresholds_) == set(METRICS)
        assert set(clf.vote_weights_) == {"network", "linear", "neighbors", "frequency"}

    def test_interrupt_before_the_end_of_an_epoch_leaves_nothing_fitted(self, related):
        X, Y = related
        clf = make_clf().fit(X, Y)  # also nothing of a fit before
        with pytest.raises(KeyboardInterrupt):
            clf.set_params(callbacks=[InterruptIn(epoch=1)]).fit(X, Y)
        with pytest.raises(NotFittedError):
            clf.predict(X)

    def test_an_interrupt_at_the_end_of_an_epoch_is_early_stopping(self, related):
        class Stop(Callback):
            def on_epoch_end(self, net, **kwargs):
                raise KeyboardInterrupt

        clf = make_clf(callbacks=[Stop()], max_epochs=5).fit(*related)
        assert clf.n_iter_ == 1

    def test_silent_unless_asked(self, related, capfd):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            make_clf().fit(*related).predict(related[0])
        assert capfd.readouterr() == ("", "")
        make_clf(verbose=1).fit(*related)
        assert "valid_loss" in capfd.readouterr().out
        make_clf(progress_bar=True).fit(*related)
        assert "epoch=2" in capfd.readouterr().err


class TestTargets:
    @pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array, sp.csc_array])
    def test_sparse_targets_give_sparse_predictions_of_equal_content(
        self, related, fitted, container
    ):
        X, Y = related
        clf = make_clf().fit(X, container(Y))
        predicted = clf.predict(X)
        assert sp.issparse(predicted)
        np.testing.assert_array_equal(predicted.toarray(), fitted.predict(X))

    def test_data_frame_columns_are_the_label_names(self, related):
        X, Y = related
        names = [f"topic {i}" for i in range(Y.shape[1])]
        clf = make_clf().fit(X, pd.DataFrame(Y, columns=names))
        assert clf.label_names_.tolist() == names
        assert list(clf.label_graph_.label_names) == names

    def test_constant_labels_and_rows_without_labels_are_data(self, related):
        X, Y = related
        Y = np.column_stack([Y, np.zeros(len(Y), int), np.ones(len(Y), int)])
        Y[:20] = 0
        Y[:, -1] = 1
        P = make_clf().fit(X, Y).predict_proba(X)
        assert np.isfinite(P).all()
        assert P[:, -2].max() < 0.5 < P[:, -1].min()

    def test_no_label_at_all(self, related):
        X, Y = related
        clf = make_clf().fit(X, np.zeros_like(Y))
        assert np.isfinite(clf.predict_proba(X)).all()

    @pytest.mark.parametrize("n_labels", [1, 2])
    def test_few_labels(self, related, n_labels):
        X, Y = related
        y = Y[:, 0] if n_labels == 1 else Y[:, :2]
        clf = make_clf().fit(X, y)
        assert clf.predict_proba(X).shape == (len(Y), 2)
        assert clf.predict(X).shape == y.shape


class TestInput:
    @pytest.mark.parametrize(
        "container", [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.csc_array, np.asarray]
    )
    def test_containers_give_identical_probabilities(self, related, fitted, container):
        X, Y = related
        X_other = container(X.toarray())
        P = make_clf().fit(X_other, Y).predict_proba(X_other)
        np.testing.assert_array_equal(P, fitted.predict_proba(X))

    def test_data_frame_has_feature_names(self, related):
        X, Y = related
        frame = pd.DataFrame(X.toarray()).rename(columns=lambda i: f"word{i}")
        clf = make_clf().fit(frame, Y)
        assert clf.feature_names_in_[0] == "word0"

    @pytest.mark.parametrize("kind", ["tfidf", "dense"])
    def test_real_values_matter(self, kind):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(200, 5)) if kind == "dense" else rng.random((200, 5)) * 0.1
        Y = np.column_stack([X[:, 0] > np.median(X[:, 0]), X[:, 1] > np.median(X[:, 1])])
        clf = make_clf(d_model=16, max_epochs=20).fit(X[:150], Y[:150].astype(int))
        assert clf.set_params(decision=0.5).score(X[150:], Y[150:].astype(int)) > 0.6

    def test_empty_rows_have_finite_probabilities(self, related, fitted):
        X, Y = related
        X = X.toarray()
        X[:10] = 0
        clf = make_clf().fit(X, Y)
        assert np.isfinite(clf.predict_proba(np.zeros((3, X.shape[1])))).all()

    def test_sequences_with_repeated_words_are_read_by_all_voters(self):
        X = np.tile([[1, 1, 2, 1], [2, 3, 3, 0], [0, 1, 0, 2]], (20, 1))
        Y = np.column_stack([X[:, 0] == 1, X[:, 0] == 2]).astype(int)
        clf = make_clf(input_type="sequence").fit(X, Y)
        assert list(clf.voters_) == ["network", "linear", "neighbors"]
        together = clf.predict_proba(X)
        for voter in clf.voters_.values():
            assert voter.predict_proba(X).shape == Y.shape
        np.testing.assert_array_equal(clf.predict_proba(X), together)

    def test_sequences_use_order(self):
        rng = np.random.default_rng(0)
        X = rng.permuted(np.tile([1, 2, 3, 0], (300, 1)), axis=1)
        X = np.array([np.concatenate([row[row > 0], [0]]) for row in X])
        Y = np.column_stack([X[:, 0] == 1, X[:, 0] == 2]).astype(int)
        options = {"d_model": 16, "max_epochs": 25, "decision": 0.5, "feature_dropout": 0.2}
        sequence = make_clf(input_type="sequence", **options).fit(X[:200], Y[:200])
        assert sequence.score(X[200:], Y[200:]) > 0.9

    def test_extreme_values_stay_finite(self, related):
        X, Y = related
        X = X.toarray().astype(float)
        X[0, 0], X[1, 0] = 1e300, -1e-300
        assert np.isfinite(make_clf().fit(X, Y).predict_proba(X)).all()


class TestBadInput:
    def test_nan_and_infinity(self, related):
        X, Y = related
        for value, message in ((np.nan, "NaN"), (np.inf, "infinity")):
            bad = X.toarray().astype(float)
            bad[0, 0] = value
            with pytest.raises(ValueError, match=message):
                make_clf().fit(bad, Y)

    def test_one_dimensional_X(self, related):
        with pytest.raises(ValueError, match="Expected 2D array"):
            make_clf().fit(np.ones(160), related[1])

    def test_different_numbers_of_rows(self, related):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            make_clf().fit(related[0][:10], related[1])

    def test_targets_other_than_zero_and_one(self, related):
        X, Y = related
        with pytest.raises(ValueError, match=r"only 0 and 1.*-1, 1"):
            make_clf().fit(X, 2 * Y - 1)
        with pytest.raises(ValueError, match=r"only 0 and 1.*0, 2"):
            make_clf().fit(X, 2 * Y)
        with pytest.raises(ValueError, match="multiclass-multioutput"):
            make_clf().fit(X, Y + np.arange(len(Y))[:, None])

    @pytest.mark.parametrize(("bad", "message"), [(-1, "found -1"), (0.5, "found 0.5")])
    def test_sequence_ids(self, related, bad, message):
        X = np.ones((160, 3))
        X[5, 1] = bad
        with pytest.raises(ValueError, match=message):
            make_clf(input_type="sequence").fit(X, related[1])

    def test_other_number_of_features_at_predict(self, fitted, related):
        with pytest.raises(ValueError, match="expecting 40 features"):
            fitted.predict(related[0][:, :5])

    def test_unfitted_use(self, related):
        for method in ("predict", "predict_proba"):
            with pytest.raises(NotFittedError):
                getattr(make_clf(), method)(related[0])
        with pytest.raises(NotFittedError):
            _ = make_clf().label_embeddings_

    def test_unknown_metric_at_fit_and_at_predict(self, fitted, related):
        with pytest.raises(ValueError, match="'metric' parameter"):
            make_clf(metric="f2").fit(*related)
        with pytest.raises(ValueError, match=r"'f2' is not a metric.*f1_micro"):
            clone_of(fitted).set_params(metric="f2").predict(related[0])

    def test_adjacency_of_the_wrong_shape(self, related):
        with pytest.raises(ValueError, match=r"parent.*\(2, 2\).*\(6, 6\)"):
            make_clf(relations={"parent": np.eye(2)}).fit(*related)

    def test_width_not_divisible_by_heads(self, related):
        with pytest.raises(ValueError, match="d_model=10 and n_heads=4"):
            make_clf(d_model=10, n_heads=4).fit(*related)

    @pytest.mark.parametrize("device", ["gpu", "meta", "cuda:100"])
    def test_a_device_that_is_not_there_is_refused_before_anything_is_fitted(
        self, related, device, monkeypatch
    ):
        monkeypatch.setattr("sklearn_mrmp._neural.learning.fit_ensemble", None)
        with pytest.raises(ValueError, match=f"device='{device}' is not .*'auto'"):
            make_clf(device=device).fit(*related)


def clone_of(fitted):
    """Copy a fitted classifier, so that a test may change its parameters."""
    buffer = io.BytesIO()
    joblib.dump(fitted, buffer)
    buffer.seek(0)
    return joblib.load(buffer)


class TestRelations:
    @pytest.mark.parametrize(
        "relations",
        [
            None,
            {"parent": np.eye(6, k=1)},
            {"pulling": "chi2", "pushing": "chi2", "parent": sp.csr_array(np.eye(6, k=1))},
            LabelGraph({"similar": np.ones((6, 6))}),
            lambda Y: {"cooccurrence": (Y.T @ Y).toarray()},
        ],
    )
    def test_users_relations_are_used(self, related, relations):
        X, Y = related
        clf = make_clf(relations=relations).fit(X, Y)
        assert np.isfinite(clf.predict_proba(X)).all()
        if relations is None:
            assert clf.label_graph_ is None
        else:
            assert clf.net_.module_.label_relations.relation_names == tuple(
                clf.label_graph_.relations
            )

    @pytest.mark.parametrize(
        "options",
        [
            {"relations": partial(label_graph, edge_weight="conditional")},
            {"relations": partial(label_graph, correction="bonferroni", alpha=1e-9)},
            {"composition": "mult"},
            {"relation_loss": 0.0},
            {"alpha": 1e-9},
        ],
    )
    def test_graph_options_change_the_model(self, related, fitted, options):
        X, Y = related
        P = make_clf(**options).fit(X, Y).predict_proba(X)
        assert np.isfinite(P).all()
        assert not np.array_equal(P, fitted.predict_proba(X))

    def test_options_of_the_graph_go_through_its_function(self, related):
        X, Y = related
        options = {"correction": "fdr_bh", "alpha": 0.01, "edge_weight": "conditional"}
        clf = make_clf(relations=partial(label_graph, **options))
        clf.fit(X[:100], Y[:100], X_val=X[100:], y_val=Y[100:])
        expected = label_graph(sp.csr_array(Y[:100]), **options)
        assert set(clf.label_graph_.relations) == set(expected.relations)
        for name, adjacency in expected.relations.items():
            np.testing.assert_array_equal(
                clf.label_graph_.relations[name].toarray(), adjacency.toarray()
            )


class TestReproducibility:
    def test_same_seed_is_bit_identical_whatever_the_global_generators(self, related, fitted):
        np.random.seed(5)  # noqa: NPY002
        torch.manual_seed(5)
        torch.rand(7)
        P = make_clf().fit(*related).predict_proba(related[0])
        np.testing.assert_array_equal(P, fitted.predict_proba(related[0]))

    def test_another_seed_differs(self, related, fitted):
        P = make_clf(random_state=1).fit(*related).predict_proba(related[0])
        assert not np.array_equal(P, fitted.predict_proba(related[0]))

    def test_global_state_is_as_before(self, related):
        np.random.seed(5)  # noqa: NPY002
        torch.manual_seed(5)
        before = np.random.get_state()[1].copy(), torch.get_rng_state(), torch.get_num_threads()  # noqa: NPY002
        clf = make_clf(n_threads=2).fit(*related)
        clf.predict(related[0])
        np.testing.assert_array_equal(np.random.get_state()[1], before[0])  # noqa: NPY002
        assert torch.equal(torch.get_rng_state(), before[1])
        assert torch.get_num_threads() == before[2]

    def test_a_row_does_not_depend_on_its_batch_mates(self, related, fitted):
        X, _ = related
        P = fitted.predict_proba(X)
        alone = np.vstack([fitted.predict_proba(X[[i]]) for i in range(10)])
        np.testing.assert_allclose(alone, P[:10], rtol=2e-5)

    def test_order_of_rows_does_not_matter_bit_for_bit(self, related, fitted):
        X, _ = related
        order = np.random.default_rng(0).permutation(X.shape[0])
        distinct = np.unique(X.toarray(), axis=0, return_index=True)[1]
        order = order[np.isin(order, distinct)]
        P = fitted.predict_proba(X[np.sort(order)])
        np.testing.assert_array_equal(
            fitted.predict_proba(X[order]), P[np.argsort(np.argsort(order))]
        )

    def test_probabilities_are_float32_strictly_inside_the_unit_interval(self, related, fitted):
        P = fitted.predict_proba(related[0])
        assert P.dtype == np.float32
        assert P.min() > 0
        assert P.max() < 1


class TestComposition:
    def test_pipeline_and_grid_search(self, related):
        X, Y = related
        search = GridSearchCV(
            make_pipeline(MaxAbsScaler(), make_clf(max_epochs=1)),
            {"mrmpclassifier__n_heads": [1, 2], "mrmpclassifier__relations": ["chi2", None]},
            scoring=["f1_micro", "accuracy", "roc_auc"],
            refit="f1_micro",
            cv=2,
            n_jobs=2,
            error_score="raise",
        ).fit(X, Y)
        assert search.predict(X).shape == Y.shape
        assert np.isfinite(search.cv_results_["mean_test_roc_auc"]).all()

    def test_a_search_without_scoring_chooses_by_the_metric(self, related):
        X, Y = related
        for metric in ("f1_macro", "accuracy"):
            clf = make_clf(max_epochs=1, metric=metric)
            own = cross_validate(clf, X, Y, cv=2, scoring=["f1_macro", "accuracy"])
            assert cross_validate(clf, X, Y, cv=2)["test_score"] == pytest.approx(
                own[f"test_{metric}"]
            )

    def test_a_pipeline_transforms_held_out_rows_if_told_to(self, related):
        X, Y = related[0].toarray(), related[1]
        held_out = {"X_val": X[:40], "y_val": Y[:40]}
        with config_context(enable_metadata_routing=True):
            clf = make_clf().set_fit_request(X_val=True, y_val=True)
            steps = [("scale", StandardScaler()), ("classify", clf)]
            pipeline = Pipeline(steps, transform_input=["X_val"]).fit(X[40:], Y[40:], **held_out)
        scaler = StandardScaler().fit(X[40:])
        held_out["X_val"] = scaler.transform(X[:40])
        expected = make_clf().fit(scaler.transform(X[40:]), Y[40:], **held_out)
        assert pipeline[-1].thresholds_ == expected.thresholds_

    def test_cross_val_predict(self, related):
        X, Y = related
        P = cross_val_predict(make_clf(max_epochs=1), X, Y, cv=2, method="predict_proba")
        assert P.shape == Y.shape

    def test_permutation_importance(self, related, fitted):
        X, Y = related
        result = permutation_importance(
            fitted, X.toarray(), Y, scoring="f1_micro", n_repeats=1, random_state=0
        )
        assert result.importances_mean.shape == (X.shape[1],)

    def test_clone_and_representations(self, fitted):
        copy = clone(fitted)
        assert not hasattr(copy, "net_")
        assert "d_model=8" in repr(copy)
        assert "MrMPClassifier" in copy._repr_html_()

    def test_joblib_round_trip_is_bit_identical(self, related, fitted):
        X, _ = related
        np.testing.assert_array_equal(clone_of(fitted).predict_proba(X), fitted.predict_proba(X))

    @pytest.mark.parametrize("device", ["cuda:100", "mps:1", "xpu:100"])
    def test_a_model_of_a_device_loads_without_it(self, related, fitted, device):
        clf = clone_of(fitted)
        clf.net_.device = device
        with pytest.warns(DeviceWarning, match=f"{device}.* loaded to the CPU"):
            loaded = clone_of(clf)
        assert str(loaded.net_.device) == "cpu"
        np.testing.assert_array_equal(
            loaded.predict_proba(related[0]), fitted.predict_proba(related[0])
        )

    @pytest.mark.slow
    @pytest.mark.parametrize(("n_threads", "used"), [(None, "1"), (2, "2")])
    def test_folds_in_processes_of_their_own_train_with_one_thread_or_as_many_as_asked_for(
        self, related, tmp_path, n_threads, used
    ):
        options = {"n_jobs": 2, "n_threads": n_threads, "max_epochs": 1}
        make_clf(cv=2, callbacks=[WriteThreads(tmp_path)], **options).fit(*related)
        written = [path.read_text() for path in tmp_path.iterdir()]
        assert len(written) == 2  # two processes
        assert set(written) == {used}

    def test_no_state_of_a_run_stays_in_a_fitted_classifier(self, related):
        note = Note()
        clf = make_clf(progress_bar=True, callbacks=[note]).fit(*related)
        assert note.n_epochs_ == 2
        clf.set_params(callbacks=None)  # the only place that still knows the callback
        content = pickle.dumps(clf)
        assert b"Note" not in content
        assert b"tqdm" not in content
        np.testing.assert_array_equal(
            pickle.loads(content).predict_proba(related[0]), clf.predict_proba(related[0])
        )
        assert not clf.net_.callbacks_
        assert clf.net_.callbacks is None

    def test_a_classifier_with_callbacks_and_a_bar_is_pickled(self, related):
        clf = make_clf(progress_bar=True, callbacks=[InterruptIn(epoch=99)]).fit(*related)
        again = clone_of(clf)
        np.testing.assert_array_equal(
            again.predict_proba(related[0]), clf.predict_proba(related[0])
        )
        assert again.callbacks[0].epoch == 99

    def test_pickle_without_neighbours_grows_by_held_out_scores_alone(self, related):
        X, Y = related
        sizes = []
        for repeats in (10, 30):
            clf = make_clf(voters=("network", "linear"), label_sets=False)
            clf.fit(sp.vstack([X] * repeats, format="csr"), np.vstack([Y] * repeats))
            # Which rules are best may differ; those of label sets hold each set once.
            rules = pickled_size(clf.decision_rules_)
            assert rules < 4000
            sizes.append(pickled_size(clf) - rules - pickled_size(clf._points.held_out))
        assert sizes[1] < sizes[0] + 1000

    def test_skorch_callbacks_are_called(self, related):
        class Count(Callback):
            epochs = 0

            def on_epoch_end(self, net, **kwargs):
                Count.epochs += 1

        make_clf(callbacks=[("count", Count())]).fit(*related)
        assert Count.epochs == 2


class TestDecisions:
    def test_operating_point_switches_without_refit(self, related, fitted):
        X, _ = related
        clf = clone_of(fitted)
        P = clf.predict_proba(X)
        clf.set_params(decision="threshold")
        for metric in METRICS:
            predicted = clf.set_params(metric=metric).predict(X)
            np.testing.assert_array_equal(predicted, P >= clf.thresholds_[metric])
        np.testing.assert_array_equal(clf.set_params(decision=0.3).predict(X), P >= 0.3)

    def test_thresholds_are_the_best_on_the_held_out_rows(self, related):
        X, Y = related
        clf = make_clf(decision="threshold").fit(X[:100], Y[:100], X_val=X[100:], y_val=Y[100:])
        P = clf.predict_proba(X[100:])
        best = max(
            f1_score(Y[100:], P >= cut, average="micro", zero_division=0) for cut in np.unique(P)
        )
        chosen = f1_score(Y[100:], P >= clf.thresholds_["f1_micro"], average="micro")
        assert chosen == pytest.approx(best)

    @pytest.mark.parametrize("decision", ["optimal", "threshold"])
    @pytest.mark.parametrize("metric", METRICS)
    def test_the_rule_of_the_metric_decides(self, related, fitted, metric, decision, monkeypatch):
        X, Y = related
        clf = clone_of(fitted).set_params(metric=metric, decision=decision)
        asked = []

        def all_labels(rule, P, *similar):
            asked.append(rule)
            return np.ones(P.shape, dtype=bool)

        for rules in clf.decision_rules_.values():
            for rule in rules.values():
                monkeypatch.setattr(type(rule), "decide", all_labels)
        np.testing.assert_array_equal(clf.predict(X), np.ones_like(Y))
        assert asked == [clf.decision_rules_[decision][metric]]

    @pytest.mark.parametrize("metric", METRICS)
    def test_rules_promise_what_predict_does_on_the_rows_they_were_tuned_on(self, related, metric):
        X, Y = related
        clf = make_clf(decision="threshold", metric=metric)
        clf.fit(X[:100], Y[:100], X_val=X[100:], y_val=Y[100:])
        value = metric_value(Y[100:] > 0, clf.predict(X[100:]) > 0, metric)
        assert clf.decision_rules_["threshold"][metric].validation_score == pytest.approx(value)


class TestPaper:
    @pytest.mark.parametrize(
        ("dataset", "dropout"), [("bibtex", 0.2), ("Reuters", 0.2), ("delicious", 0.1), (None, 0.1)]
    )
    def test_settings_are_the_papers(self, dataset, dropout):
        params = MrMPClassifier.paper(dataset).get_params()
        expected = {
            "d_model": 512, "d_inner": 1024, "n_encoder_layers": 2, "n_decoder_layers": 2,
            "n_heads": 4, "dropout": dropout, "batch_size": 32, "lr": 0.0002,
            "lr_schedule": "step", "alpha": 0.05, "composition": "sum", "relations": "chi2",
            "architecture": "paper", "decision": "threshold",
        }  # fmt: skip
        assert {name: params[name] for name in expected} == expected

    def test_the_repaired_settings_differ_by_the_architecture_and_the_relational_loss(self):
        paper = MrMPClassifier.paper("bibtex").get_params()
        repaired = MrMPClassifier.paper("bibtex", repaired=True).get_params()
        changed = {name for name in paper if paper[name] != repaired[name]}
        assert changed == {"architecture", "relation_loss"}
        assert MrMPClassifier.paper(repaired=True, relation_loss=0.1).relation_loss == 0.1

    def test_overrides(self):
        assert MrMPClassifier.paper(d_model=64).d_model == 64

    def test_the_papers_network_learns(self, related):
        X, Y = related
        clf = MrMPClassifier.paper(
            d_model=16, d_inner=32, lr=0.005, max_epochs=25, random_state=0
        ).fit(X, Y)
        module = clf.net_.module_
        assert module.output is None
        assert module.bias is None
        assert f1_score(Y, clf.predict(X), average="micro") > 0.4


SETTINGS = (
    MrMPSettings,
    _settings.TrainingSettings,
    InputSettings,
    GraphSettings,
    EnsembleSettings,
    OutcomeSettings,
    RunSettings,
)


def defaults_of(function):
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


class TestParameters:
    def test_there_are_at_most_40(self):
        # 38 was the limit before encoder_lr and warm_start, which were asked for by name.
        assert len(defaults_of(MrMPClassifier)) <= 40

    def test_each_belongs_to_exactly_one_group_of_settings(self):
        grouped = [field.name for group in SETTINGS for field in fields(group)]
        assert sorted([*grouped, "random_state"]) == sorted(defaults_of(MrMPClassifier))

    @pytest.mark.parametrize("group", [MrMPSettings, _settings.TrainingSettings, RunSettings])
    def test_defaults_of_the_settings_are_those_of_the_classifier(self, group):
        ours, theirs = defaults_of(MrMPClassifier), defaults_of(group)
        assert theirs == {name: ours[name] for name in theirs}

    def test_defaults_of_the_module_are_those_of_the_classifier(self):
        ours, modules = defaults_of(MrMPClassifier), defaults_of(nn.MrMPModule)
        shared = ours.keys() & modules.keys() - {"relations"}  # of which a module takes tensors
        assert shared == {field.name for field in fields(MrMPSettings)} - {"relation_loss"}
        automatic = find_architecture("mrmp").automatic(ours, "features")
        assert modules["d_inner"] is None  # twice the width, which a module does not know yet
        automatic["d_inner"] = None
        for name in shared:
            assert modules[name] == (automatic[name] if ours[name] == "auto" else ours[name])

    def test_every_parameter_has_a_constraint(self):
        assert MrMPClassifier._parameter_constraints.keys() == defaults_of(MrMPClassifier).keys()
