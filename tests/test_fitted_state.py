"""A fitted classifier holds what it learned, and nothing of the run that taught it."""

import copy
import functools
import gc
import io
import logging
import pickle
import threading
import types
from collections.abc import Mapping
from contextlib import nullcontext

import joblib
import numpy as np
import pytest
from sklearn.model_selection import cross_validate
from skorch.callbacks import Callback
from torch.utils.data import DataLoader, Dataset
from tqdm import std as tqdm

from sklearn_mrmp._checkpoints.run import CheckpointRun
from sklearn_mrmp._checkpoints.store import CheckpointStore
from sklearn_mrmp._ensemble.fitting import EnsemblePlan
from sklearn_mrmp._ensemble.splits import Split
from sklearn_mrmp._host.report import Report
from sklearn_mrmp._input.rows import EncodedRows
from sklearn_mrmp._input.token_rows import TokenRows
from sklearn_mrmp._network.batches import TokenBatches
from sklearn_mrmp._network.training import NetworkRecipe
from sklearn_mrmp._network.voter import NetworkTrainer
from tests.tiny import tiny

# Bars, streams, locks, loggers, callbacks (the interrupt's flag among them), checkpoints, rows and
# plans: all that a run needs and a model does not.
OF_A_RUN = (
    tqdm.tqdm,
    io.IOBase,
    type(threading.Lock()),
    type(threading.RLock()),
    threading.Thread,
    logging.Logger,
    Callback,
    CheckpointRun,
    CheckpointStore,
    Dataset,
    DataLoader,
    TokenBatches,
    TokenRows,
    EncodedRows,
    Split,
    EnsemblePlan,
    NetworkRecipe,
    NetworkTrainer,
    Report,
    np.random.RandomState,
    np.random.Generator,
    types.GeneratorType,
    types.FrameType,
    types.TracebackType,
)
# They belong to the program, and whoever has one has all of it.
OF_THE_PROGRAM = (type, types.ModuleType, types.BuiltinFunctionType)
MADE_BY_FIT = (
    tqdm.tqdm,
    Callback,
    CheckpointRun,
    CheckpointStore,
    Dataset,
    TokenRows,
    EncodedRows,
    EnsemblePlan,
    NetworkTrainer,
)
OPTIONS = [
    {},
    {"cv": 2, "n_members": 2},
    {"refit": True},
    {"interrupted": True},
    {"voters": ("network", "linear"), "label_sets": False, "label_shortlist": 2},
]


class Recorder(Callback):
    """A callback of the user's, with a record of what it has seen; it may press Ctrl-C."""

    def __init__(self, interrupts=False):
        self.interrupts = interrupts

    def on_batch_end(self, net, **kwargs):
        if self.interrupts and len(net.history) == 2:
            raise KeyboardInterrupt

    def on_epoch_end(self, net, **kwargs):
        self.n_epochs_ = len(net.history)


def parts(thing):
    """Return what an object consists of, by a name for each part."""
    if isinstance(thing, Mapping):
        yield from ((f"[{key!r}]", value) for key, value in thing.items())
    elif isinstance(thing, (list, tuple, set, frozenset)):
        yield from ((f"[{i}]", value) for i, value in enumerate(thing))
    if isinstance(thing, types.FunctionType):
        yield from (("()", cell.cell_contents) for cell in thing.__closure__ or ())
    elif isinstance(thing, types.MethodType):
        yield from ((".__self__", thing.__self__), (".__func__", thing.__func__))
    elif isinstance(thing, functools.partial):
        yield from ((".func", thing.func), (".args", thing.args), (".keywords", thing.keywords))
    else:
        yield from ((f".{name}", value) for name, value in getattr(thing, "__dict__", {}).items())
        for cls in type(thing).__mro__:
            names = getattr(cls, "__slots__", ())
            for name in (names,) if isinstance(names, str) else names:
                yield f".{name}", getattr(thing, name, None)


def walked(thing, name="clf", seen=None):
    """Yield each object that can be reached, with the way to it."""
    seen = {} if seen is None else seen
    if id(thing) in seen or isinstance(thing, OF_THE_PROGRAM):
        return
    seen[id(thing)] = thing
    yield name, thing
    for part, value in parts(thing):
        yield from walked(value, name + part, seen)


def fitted(data, tmp_path, interrupted=False, **options):
    """Return a classifier that was fitted with all options of a run, without the user's own."""
    run = {"progress_bar": True, "verbose": 1, "checkpoint_dir": tmp_path}
    recorder = Recorder(interrupted)
    clf = tiny(**run, callbacks=[recorder], **options)
    with pytest.raises(KeyboardInterrupt) if interrupted else nullcontext():
        clf.fit(*data)
    assert recorder.n_epochs_ == 2 - interrupted
    return clf.set_params(callbacks=None)


@pytest.fixture(scope="module")
def data(related):
    return related[0][:80], related[1][:80, :4]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_nothing_of_a_run_can_be_reached_from_a_fitted_classifier(data, tmp_path, options):
    clf = fitted(data, tmp_path, **options)
    found = {name: type(thing) for name, thing in walked(clf) if isinstance(thing, OF_A_RUN)}
    assert not found


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_what_fit_made_of_a_run_is_freed(data, tmp_path, options):
    """Whoever is still there is held by someone, be it in a way that the walk does not know."""
    gc.collect()
    before = {id(thing) for thing in gc.get_objects() if issubclass(type(thing), MADE_BY_FIT)}
    clf = fitted(data, tmp_path, **options)
    gc.collect()
    left = [thing for thing in gc.get_objects() if issubclass(type(thing), MADE_BY_FIT)]
    assert not [thing for thing in left if id(thing) not in before]
    assert clf.n_iter_ == len(clf.history_)  # it is still there


def test_the_rows_are_only_where_neighbours_need_them(data, tmp_path):
    X, _ = data
    clf = fitted(data, tmp_path, voters=("network", "linear"), label_sets=False)
    lengths = {X.shape[0], int(X.shape[0] * 0.9), X.nnz}
    found = {
        name: thing.shape
        for name, thing in walked(clf)
        if isinstance(thing, np.ndarray) and thing.ndim and thing.shape[0] in lengths
    }
    assert not found


def check_same(clf, again, X):
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_classifier_fitted_with_a_bar_can_be_copied_and_stored(data, tmp_path, options):
    clf = fitted(data, tmp_path / "checkpoints", **options)
    check_same(clf, copy.deepcopy(clf), data[0])
    check_same(clf, pickle.loads(pickle.dumps(clf)), data[0])
    joblib.dump(clf, tmp_path / "model.joblib")
    check_same(clf, joblib.load(tmp_path / "model.joblib"), data[0])


def test_a_search_in_processes_returns_classifiers_fitted_with_a_bar(data):
    X, Y = data
    result = cross_validate(
        tiny(progress_bar=True, verbose=1, max_epochs=1),
        X,
        Y,
        cv=2,
        n_jobs=2,
        return_estimator=True,
        error_score="raise",
    )
    assert [clf.predict(X).shape for clf in result["estimator"]] == [Y.shape] * 2
