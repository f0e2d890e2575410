"""`checkpoint_dir`: kills, damage, other owners, full disks; the outcome stays the same."""

import errno
import json
import os
import pickle
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from skorch.callbacks import Callback

import sklearn_mrmp
from sklearn_mrmp import LabelGraph, ModelFileError
from sklearn_mrmp._checkpoints import callback as _training_checkpoint
from sklearn_mrmp._checkpoints.store import CheckpointStore
from sklearn_mrmp._host import files as _files
from sklearn_mrmp._model_files.container import CHECKPOINT, write_container
from tests.tiny import tiny

KILL_TEST = Path(__file__).parents[2] / "benchmarks" / "kill_test.py"


class Crash(RuntimeError):
    pass


class CrashAt(Callback):
    """Fail in the middle of an epoch, as a kill would."""

    def __init__(self, epoch, batch):
        self.epoch = epoch
        self.batch = batch

    def on_batch_end(self, net, **kwargs):
        if (len(net.history), len(net.history[-1]["batches"])) == (self.epoch, self.batch):
            raise Crash


@pytest.fixture(scope="module")
def data(related):
    return related[0][:60], related[1][:60, :4]


def make_clf(**options):
    shallow = {"n_encoder_layers": 1, "n_relation_layers": 1, "n_decoder_layers": 1}
    return tiny(**{**shallow, "max_epochs": 3, "lr": 0.01, **options})


def crash(data, folder, epoch=2, batch=2, **options):
    with pytest.raises(Crash):
        make_clf(checkpoint_dir=folder, callbacks=[CrashAt(epoch, batch)], **options).fit(*data)


def outcome(clf, X):
    history = [{k: v for k, v in epoch.items() if k != "dur"} for epoch in clf.history_]
    return clf.predict_proba(X).tobytes(), history, clf.thresholds_, clf.best_epoch_


@pytest.fixture(scope="module")
def expected(data):
    return outcome(make_clf().fit(*data), data[0])


class TestResume:
    @pytest.mark.parametrize(
        ("schedule", "seconds"),
        [("onecycle", 300), ("onecycle", -1), ("step", -1), ("cosine", 300)],
    )
    def test_resumed_training_ends_as_an_uninterrupted_one(
        self, data, tmp_path, monkeypatch, schedule, seconds
    ):
        monkeypatch.setattr(_training_checkpoint, "_SECONDS_BETWEEN", seconds)
        options = {"lr_schedule": schedule, "refit": True}
        # 54 rows are four batches; the fifth of an epoch is validation.
        for epoch, batch in ((1, 2), (2, 4), (2, 5)):
            crash(data, tmp_path, epoch, batch, **options)
        clf = make_clf(checkpoint_dir=tmp_path, **options).fit(*data)
        assert outcome(clf, data[0]) == outcome(make_clf(**options).fit(*data), data[0])
        assert len(clf.net_.history) == clf.best_epoch_

    def test_epochs_are_not_repeated(self, data, tmp_path):
        class Count(Callback):
            epochs = ()

            def on_epoch_begin(self, net, **kwargs):
                self.epochs += (len(net.history),)

        crash(data, tmp_path, epoch=3, batch=1)
        count = Count()
        make_clf(checkpoint_dir=tmp_path, callbacks=[count]).fit(*data)
        assert count.epochs == (3,)

    def test_early_stopping_goes_on_counting(self, data, tmp_path):
        options = {"max_epochs": 30, "early_stopping": 2, "lr": 0.3, "lr_schedule": "constant"}
        whole = make_clf(**options).fit(*data)
        assert whole.n_iter_ < 30
        crash(data, tmp_path, whole.n_iter_, 1, **options)
        clf = make_clf(checkpoint_dir=tmp_path, **options).fit(*data)
        assert outcome(clf, data[0]) == outcome(whole, data[0])

    def test_a_finished_fit_returns_its_model_without_training(self, data, tmp_path, expected):
        first = make_clf(checkpoint_dir=tmp_path).fit(*data)
        again = make_clf(checkpoint_dir=tmp_path, callbacks=[CrashAt(1, 1)]).fit(*data)
        assert outcome(first, data[0]) == outcome(again, data[0]) == expected
        assert first.history_ == again.history_  # also the durations

    def test_a_later_refit_uses_the_finished_training(self, data, tmp_path):
        make_clf(checkpoint_dir=tmp_path).fit(*data)
        clf = make_clf(checkpoint_dir=tmp_path, refit=True, verbose=0).fit(*data)
        whole = make_clf(refit=True).fit(*data)
        assert outcome(clf, data[0]) == outcome(whole, data[0])

    def test_the_seed_drawn_at_the_first_start_is_kept(self, data, tmp_path):
        crash(data, tmp_path, random_state=None)
        P = [
            make_clf(checkpoint_dir=tmp_path, random_state=None).fit(*data).predict_proba(data[0])
            for _ in range(2)
        ]
        np.testing.assert_array_equal(P[0], P[1])

    def test_a_random_state_instance_resumes_from_the_same_state(self, data, tmp_path):
        whole = make_clf(random_state=np.random.RandomState(3)).fit(*data)
        crash(data, tmp_path, random_state=np.random.RandomState(3))
        clf = make_clf(checkpoint_dir=tmp_path, random_state=np.random.RandomState(3)).fit(*data)
        assert outcome(clf, data[0]) == outcome(whole, data[0])
        with pytest.raises(ValueError, match="random_state was 'RandomState"):
            make_clf(checkpoint_dir=tmp_path, random_state=np.random.RandomState(4)).fit(*data)

    def test_the_callers_generators_are_untouched(self, data, tmp_path):
        crash(data, tmp_path)
        torch.manual_seed(1)
        before = torch.get_rng_state()
        make_clf(checkpoint_dir=tmp_path).fit(*data)
        assert torch.equal(torch.get_rng_state(), before)

    def test_states_of_callbacks_are_kept_as_far_as_they_are_plain(self, data, tmp_path):
        class Recorder(Callback):
            def on_train_begin(self, net, **kwargs):
                self.seen_, self.odd_, self.scratch = [], {object()}, []

            def on_epoch_end(self, net, **kwargs):
                self.seen_.append(len(net.history))
                self.scratch.append(len(net.history))

        recorder = Recorder()
        crash(data, tmp_path, 3, 1)  # without the recorder
        make_clf(checkpoint_dir=tmp_path, callbacks=[recorder]).fit(*data)
        assert recorder.seen_ == [3]
        with pytest.raises(Crash):
            make_clf(checkpoint_dir=tmp_path / "2", callbacks=[Recorder(), CrashAt(3, 1)]).fit(
                *data
            )
        make_clf(checkpoint_dir=tmp_path / "2", callbacks=[recorder]).fit(*data)
        assert recorder.seen_ == [1, 2, 3]
        assert recorder.scratch == [3]

    def test_the_progress_bar_stands_where_training_is(self, data, tmp_path, capfd):
        crash(data, tmp_path, 3, 1)
        make_clf(checkpoint_dir=tmp_path, progress_bar=True).fit(*data)
        assert "12/12" in capfd.readouterr().err

    def test_checkpoints_leave_the_outcome_alone_and_no_other_files(self, data, tmp_path, expected):
        clf = make_clf(checkpoint_dir=str(tmp_path / "new" / "folder")).fit(*data)
        assert outcome(clf, data[0]) == expected
        assert sorted(os.listdir(tmp_path / "new" / "folder")) == [
            "fit.checkpoint",
            "fit.previous.checkpoint",
            "train.checkpoint",
            "train.previous.checkpoint",
        ]
        assert b"Checkpoint" not in pickle.dumps(clf.net_)

    @pytest.mark.skipif(os.name != "posix", reason="forks processes")
    def test_killed_processes_end_with_the_same_model(self):
        command = [sys.executable, str(KILL_TEST), "--kills", "2", "--seed", "0"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("2 kills")
        assert "all bit-identical" in done.stdout


@pytest.fixture(scope="module")
def finished_once(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoints")
    make_clf(checkpoint_dir=folder).fit(*data)
    return folder


@pytest.fixture
def finished(finished_once, tmp_path):
    """Return a folder of its own with the checkpoints of a finished fit."""
    return Path(shutil.copytree(finished_once, tmp_path / "finished"))


class TestOwner:
    def test_other_data_are_refused_by_name(self, data, tmp_path):
        X, Y = data
        make_clf(checkpoint_dir=tmp_path).fit(X, Y)
        with pytest.raises(ValueError, match=r"other data: X\. Give each fit a folder"):
            make_clf(checkpoint_dir=tmp_path).fit(2 * X, Y)
        with pytest.raises(ValueError, match=r"other data: y\."):
            make_clf(checkpoint_dir=tmp_path).fit(X, 1 - Y)
        with pytest.raises(ValueError, match=r"other data: X_val, y_val\."):
            make_clf(checkpoint_dir=tmp_path).fit(X, Y, X_val=X, y_val=Y)

    def test_other_parameters_are_refused_with_both_values(self, data, tmp_path):
        make_clf(checkpoint_dir=tmp_path).fit(*data)
        with pytest.raises(
            ValueError, match=r"other parameters: lr was 0.01, is 0.02; max_epochs was 3, is 4\."
        ):
            make_clf(checkpoint_dir=tmp_path, lr=0.02, max_epochs=4).fit(*data)
        with pytest.raises(ValueError, match="random_state was 0, is None"):
            make_clf(checkpoint_dir=tmp_path, random_state=None).fit(*data)

    def test_other_relations_behind_the_same_name_are_refused(self, data, tmp_path):
        edges = np.eye(4, k=1)

        def relations(Y):
            return {"next": edges}

        make_clf(checkpoint_dir=tmp_path, relations=relations).fit(*data)
        make_clf(checkpoint_dir=tmp_path, relations=LabelGraph({"next": edges})).fit(*data)
        for other in ({"next": edges.T}, lambda Y: None, None):
            with pytest.raises(ValueError, match="relations was 'label graph"):
                make_clf(checkpoint_dir=tmp_path, relations=other).fit(*data)

    def test_what_does_not_matter_may_differ(self, data, tmp_path, expected, capfd):
        crash(data, tmp_path)
        clf = make_clf(checkpoint_dir=tmp_path, verbose=1, n_threads=1, decision=0.5).fit(*data)
        assert outcome(clf, data[0]) == expected
        assert "valid_loss" in capfd.readouterr().out

    @pytest.mark.parametrize(
        "other",
        [
            {"metric": "accuracy"},
            {"decision": "threshold"},
            {"label_sets": False},
            {"refit": True},
            {"verbose": 2},
            {"progress_bar": True},
            {"n_jobs": 2},
            {"n_threads": 2},
            {"callbacks": [CrashAt(1, 1)]},
        ],
        ids=lambda other: next(iter(other)),
    )
    def test_parameters_that_weights_do_not_depend_on_are_not_compared(
        self, data, finished, other, monkeypatch
    ):
        trained = []

        class Watch(Callback):
            def on_batch_begin(self, net, **kwargs):
                trained.append(len(net.history))

        other = {"callbacks": [Watch()], **other}
        clf = make_clf(checkpoint_dir=finished, **other).fit(*data)
        assert clf.n_iter_ == 3
        assert not trained or other.get("refit")  # it is the finished training that is used

    @pytest.mark.parametrize(
        "other",
        [
            {"lr": 0.02},
            {"voters": ("network",)},
            {"cv": 0.2},
            {"alpha": 0.01},
            {"device": "cpu:0"},
            {"d_model": 4},
            {"relation_loss": 0.5},
            {"n_members": 2},
            {"label_shortlist": 2},
            {"max_tokens": 3},
            {"early_stopping": 1},
            {"feature_dropout": 0.3},
        ],
        ids=lambda other: next(iter(other)),
    )
    def test_parameters_that_weights_depend_on_are_compared(self, data, finished, other):
        before = {path.name: path.read_bytes() for path in finished.iterdir()}
        # What is "auto" may follow it: the width of the feed-forward blocks follows d_model.
        said = rf"other parameters: (\w+ was \d+, is \d+; )?{next(iter(other))} was .*, is "
        with pytest.raises(ValueError, match=said):
            make_clf(checkpoint_dir=finished, **other).fit(*data)
        assert {path.name: path.read_bytes() for path in finished.iterdir()} == before

    def test_other_versions(self, data, tmp_path, monkeypatch, expected):
        crash(data, tmp_path)
        monkeypatch.setattr("sklearn_mrmp._neural.learning.__version__", "99.0")
        with pytest.raises(ValueError, match=r"sklearn_mrmp was '.*', is '99.0'"):
            make_clf(checkpoint_dir=tmp_path).fit(*data)
        monkeypatch.undo()
        monkeypatch.setattr(torch, "__version__", "99.0")
        with pytest.warns(UserWarning, match=r"torch .* this is 99\.0"):
            clf = make_clf(checkpoint_dir=tmp_path).fit(*data)
        assert outcome(clf, data[0]) == expected


def damage(path, how):
    content = bytearray(path.read_bytes())
    if how == "truncated":
        content = content[: len(content) // 2]
    elif how == "flipped":
        content[len(content) // 2] ^= 1
    elif how == "empty":
        content = b""
    path.write_bytes(content)


class TestDamage:
    @pytest.mark.parametrize("how", ["truncated", "flipped", "empty"])
    def test_the_previous_checkpoint_takes_the_place_of_a_damaged_one(
        self, data, tmp_path, expected, how
    ):
        crash(data, tmp_path, 3, 1)
        damage(tmp_path / "train.checkpoint", how)
        with pytest.warns(UserWarning, match=r"train\.checkpoint is damaged.*before it is tried"):
            crash(data, tmp_path, 3, 1)
        # The damaged one was not moved over the good one.
        assert CheckpointStore(tmp_path, "train").load()["finished"] is False
        clf = make_clf(checkpoint_dir=tmp_path).fit(*data)
        assert outcome(clf, data[0]) == expected

    def test_training_starts_anew_when_all_are_damaged(self, data, tmp_path, expected):
        make_clf(checkpoint_dir=tmp_path).fit(*data)
        for path in tmp_path.iterdir():
            damage(path, "flipped")
        with pytest.warns(UserWarning, match="is computed anew") as caught:
            clf = make_clf(checkpoint_dir=tmp_path).fit(*data)
        assert len(caught) == 4
        assert outcome(clf, data[0]) == expected

    def test_a_training_with_a_lost_seed_is_not_mixed_with_another(self, data, tmp_path):
        crash(data, tmp_path, random_state=None)
        (tmp_path / "fit.checkpoint").unlink()
        (tmp_path / "fit.previous.checkpoint").unlink()
        with pytest.warns(UserWarning, match="belongs to another fit"):
            clf = make_clf(checkpoint_dir=tmp_path, random_state=None).fit(*data)
        assert clf.n_iter_ == 3

    def test_a_kill_between_the_renames_loses_nothing(self, tmp_path):
        store = CheckpointStore(tmp_path, "x")
        store.save({"epoch": 1})
        os.replace(store.newest, store.previous)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert CheckpointStore(tmp_path, "x").load() == {"epoch": 1}

    def test_every_single_damaged_byte_is_noticed(self, tmp_path):
        store = CheckpointStore(tmp_path, "x")
        store.save({"a": torch.arange(3), "b": [1, (2.5, None)]})
        content = store.newest.read_bytes()
        for i in range(0, len(content), 7):
            changed = bytearray(content)
            changed[i] ^= 0x40
            for damaged in (bytes(changed), content[:i]):
                store.newest.write_bytes(damaged)
                with pytest.warns(UserWarning, match="is damaged"):
                    assert store.load() is None

    def test_a_checkpoint_without_a_state_is_damaged(self, tmp_path):
        store = CheckpointStore(tmp_path, "x")
        write_container(store.newest, {}, {}, kind=CHECKPOINT)
        with pytest.warns(UserWarning, match="is damaged"):
            assert store.load() is None


class TestDisk:
    def test_a_failed_write_is_a_warning_and_keeps_the_last_checkpoint(
        self, data, tmp_path, monkeypatch, expected
    ):
        written = []
        plain = os.fsync

        def full_after_some(descriptor):
            written.append(descriptor)
            if 6 < len(written) < 9:  # fit twice, train once: each a file and its folder
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            plain(descriptor)

        monkeypatch.setattr(_files.os, "fsync", full_after_some)
        with pytest.warns(UserWarning, match=r"could not be written.*No space left"):
            crash(data, tmp_path, 3, 1)
        assert not list(tmp_path.glob("*.tmp"))
        assert len(CheckpointStore(tmp_path, "train").load()["history"]) == 1
        assert outcome(make_clf(checkpoint_dir=tmp_path).fit(*data), data[0]) == expected

    def test_a_folder_that_cannot_be_written_is_refused_before_training(
        self, data, tmp_path, monkeypatch
    ):
        (tmp_path / "file").write_text("not a folder")
        with pytest.raises(OSError, match=r"Nothing can be written to checkpoint_dir='.*file"):
            make_clf(checkpoint_dir=tmp_path / "file").fit(*data)

        def read_only(**options):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))

        monkeypatch.setattr("sklearn_mrmp._checkpoints.run.tempfile.TemporaryFile", read_only)
        with pytest.raises(OSError, match=r"Read-only file system.*choose another folder"):
            make_clf(checkpoint_dir=tmp_path).fit(*data)

    def test_a_history_that_cannot_be_written_is_a_warning(self, data, tmp_path, expected):
        class Odd(Callback):
            def on_epoch_end(self, net, **kwargs):
                net.history.record("odd", {1, 2})

        with pytest.warns(
            UserWarning, match=r"cannot be part of a checkpoint: history\.0\.odd is .*set"
        ):
            clf = make_clf(checkpoint_dir=tmp_path, callbacks=[Odd()]).fit(*data)
        assert clf.predict_proba(data[0]).tobytes() == expected[0]


class TestStore:
    def test_values_come_back_with_their_types(self, tmp_path):
        state = {
            "tensors": [torch.arange(6.0).reshape(2, 3), torch.tensor(2.0), torch.zeros(0)],
            3: ("tuple", 2**62, float("inf"), True, None),
            1.5: {"deep": [0.5]},
            "numpy": np.float64(0.1),
            "bytes": torch.arange(3, dtype=torch.uint8),
        }
        store = CheckpointStore(tmp_path, "x")
        store.save(state)
        loaded = store.load()
        assert list(loaded) == list(state)
        for a, b in zip(loaded["tensors"], state["tensors"], strict=True):
            assert torch.equal(a, b)
        assert loaded[3] == state[3]
        assert loaded[1.5] == state[1.5]
        assert type(loaded["numpy"]) is float
        assert loaded["numpy"] == 0.1
        assert loaded["bytes"].dtype == torch.uint8

    @pytest.mark.parametrize("bad", [object(), {object(): 2}, {1}, np.ones(3), 2**100, len])
    def test_anything_else_is_refused(self, tmp_path, bad):
        with pytest.raises(TypeError, match=r"(in|of) a checkpoint"):
            CheckpointStore(tmp_path, "x").save({"bad": bad})

    def test_a_checkpoint_is_a_container_of_its_own_kind(self, tmp_path):
        store = CheckpointStore(tmp_path, "x")
        store.save({"epoch": 1})
        with safe_open(store.newest, framework="numpy") as file:
            assert file.metadata()["format"] == "sklearn-mrmp checkpoint"
        with pytest.raises(ModelFileError, match="not a file of the kind 'sklearn-mrmp model'"):
            sklearn_mrmp.load(store.newest)

    def test_a_model_file_is_not_taken_for_a_checkpoint(self, data, tmp_path, expected):
        folder = tmp_path / "checkpoints"
        crash(data, folder)
        model = make_clf().fit(*data)
        for name in ("train.checkpoint", "train.previous.checkpoint"):
            model.save(folder / name)
        with pytest.warns(UserWarning, match="not a file of the kind 'sklearn-mrmp checkpoint'"):
            clf = make_clf(checkpoint_dir=folder).fit(*data)
        assert outcome(clf, data[0]) == expected

    def test_objects_of_classes_are_refused_on_the_way_in(self, tmp_path):
        store = CheckpointStore(tmp_path, "x")
        node = {"object": {"class": "LabelGraph", "params": {}, "fitted": {}}}
        write_container(store.newest, {"state": json.dumps(node)}, {}, kind=CHECKPOINT)
        with pytest.warns(UserWarning, match="an object of a class"):
            assert store.load() is None

    def test_device_generators_are_kept(self, monkeypatch):
        seen = {}
        state = torch.arange(3, dtype=torch.uint8)
        for kind in ("cuda", "mps"):
            module = getattr(torch, kind)
            monkeypatch.setattr(module, "get_rng_state", lambda *args: state)
            monkeypatch.setattr(
                module, "set_rng_state", lambda s, *args, kind=kind: seen.update({kind: (s, args)})
            )
        for device in ("cuda:1", "mps"):
            states = _training_checkpoint._get_torch_rng(device)
            _training_checkpoint._set_torch_rng(device, states)
        assert seen["cuda"][1] == ("cuda:1",)
        assert seen["mps"][0] is state
