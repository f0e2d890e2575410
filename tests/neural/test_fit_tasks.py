"""scikit-learn's callbacks: which tasks they hear of, in searches and pipelines, too."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_mrmp import MrMPClassifier, load
from sklearn_mrmp.datasets import make_related_labels
from tests.tiny import PLAIN, tiny

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 has callbacks")
X, Y, _ = make_related_labels(60, 4, n_features=20, random_state=0)


class Recorder:
    """Remembers what it is told; asks to stop after a task of a name."""

    max_propagation_depth = None

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.begun, self.ended, self.n_set_up, self.n_torn_down = [], [], 0, 0
        self.fitted = None

    def setup(self, estimator, context):
        self.n_set_up += 1

    def teardown(self, estimator, context):
        self.n_torn_down += 1

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.ended.append(context.task_name)
        if context.task_name == "fit":
            self.fitted = fitted_estimator
        return context.task_name == self.stop_after


def told(clf, *data):
    recorder = Recorder()
    clf.set_callbacks(recorder).fit(*(data or (X, Y)))
    assert (recorder.n_set_up, recorder.n_torn_down) == (1, 1)
    assert sorted(recorder.begun) == sorted(recorder.ended)
    return recorder


def test_stages_trainings_and_epochs_are_tasks():
    recorder = told(tiny(**PLAIN))
    training = ["train-network", "epoch", "epoch"]
    expected = ["fit", "read-rows", "fit-ensemble", *training, "tune-decisions", "fit-on-all-rows"]
    assert recorder.begun == expected
    assert recorder.ended[-1] == "fit"


@pytest.mark.parametrize(
    ("options", "n_trainings"),
    [
        ({"cv": 3}, 3),
        ({"n_members": 2}, 2),
        ({"refit": True}, 2),
        ({"voters": ("linear",)}, 0),
    ],
)
def test_every_training_in_this_process_is_a_task(options, n_trainings):
    recorder = told(tiny(**{**PLAIN, **options}))
    assert recorder.ended.count("train-network") == n_trainings
    assert recorder.ended.count("epoch") == 2 * n_trainings


def test_a_short_training_that_is_followed_by_the_whole_one_is_within_the_limits():
    clf = tiny(cv=2, voters=("network", "linear"), max_epochs="auto", batch_size=64)
    assert told(clf).ended.count("train-network") >= 2


def test_a_callback_may_end_the_epochs_of_a_training():
    clf, recorder = tiny(**PLAIN, max_epochs=5), Recorder(stop_after="epoch")
    clf.set_callbacks(recorder).fit(X, Y)
    assert recorder.ended.count("epoch") == clf.n_iter_ == 1
    assert clf.predict(X).shape == Y.shape


def test_the_fitted_classifier_is_told_at_the_end():
    clf = tiny(**PLAIN)
    fitted = told(clf).fitted
    np.testing.assert_array_equal(fitted.predict_proba(X), clf.predict_proba(X))


def test_callbacks_change_nothing_and_may_be_left_out():
    clf = tiny(**PLAIN)
    told(clf)
    plain = tiny(**PLAIN).fit(X, Y)
    np.testing.assert_array_equal(plain.predict_proba(X), clf.predict_proba(X))
    assert not hasattr(clf, "_callback_fit_ctx")
    clf.set_callbacks()
    assert not hasattr(clf, "_skl_callbacks")


def test_they_are_torn_down_when_a_fit_fails():
    recorder = Recorder()
    with pytest.raises(ValueError, match="0 and 1"):
        tiny(**PLAIN).set_callbacks(recorder).fit(X, 2 * Y)
    assert recorder.n_torn_down == recorder.n_set_up == 1


def test_clones_and_pickles_keep_them_and_model_files_do_not(tmp_path):
    clf = tiny(**PLAIN)
    told(clf)
    assert clone(clf)._skl_callbacks == clf._skl_callbacks
    assert pickle.loads(pickle.dumps(clf)).predict(X).shape == Y.shape
    clf.save(tmp_path / "model")
    assert not hasattr(load(tmp_path / "model"), "_skl_callbacks")


def test_searches_and_pipelines_pass_them_on():
    recorder = Recorder()
    pipeline = make_pipeline(StandardScaler(with_mean=False), tiny(**PLAIN))
    search = GridSearchCV(pipeline, {"mrmpclassifier__max_epochs": [1, 2]}, cv=2)
    search.set_callbacks(recorder).fit(X, Y)
    assert recorder.n_set_up == recorder.n_torn_down == 1
    assert recorder.ended.count("train-network") == 5  # 2 candidates, 2 folds, and all rows
    assert (
        recorder.ended.count("epoch")
        == 2 * 1 + 2 * 2 + search.best_params_["mrmpclassifier__max_epochs"]
    )


def test_the_progress_bar_of_scikit_learn_shows_epochs_inside_a_search(capsys):
    pytest.importorskip("rich")
    search = GridSearchCV(tiny(**PLAIN), {"max_epochs": [1, 2]}, cv=2)
    search.set_callbacks(callback.ProgressBar(max_propagation_depth=None)).fit(X, Y)
    out = capsys.readouterr().out
    assert "GridSearchCV - fit" in out
    assert "MrMPClassifier - fit" in out
    assert "train-network" in out


def test_a_fit_without_scikit_learns_callbacks_is_the_same(monkeypatch):
    expected = tiny(**PLAIN).fit(X, Y).predict_proba(X)
    monkeypatch.delattr(callback.CallbackSupportMixin, "_init_callback_context")
    assert not hasattr(MrMPClassifier, "_init_callback_context")
    np.testing.assert_array_equal(tiny(**PLAIN).fit(X, Y).predict_proba(X), expected)
