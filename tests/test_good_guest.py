"""A good guest: process-wide state is as before after every public call, also after an error.

And: all joblib backends, several threads at once, and forked workers.
"""

import contextlib
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
import sklearn
import torch
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score

from sklearn_mrmp import (
    LabelGraph,
    MLARAMClassifier,
    MLKNNClassifier,
    MrMPClassifier,
    PrecisionFloor,
    SoftVotingMultilabelClassifier,
    TokenSequenceVectorizer,
    TopK,
    TunedDecisionClassifier,
    add_ancestors,
    auc_gain_by_degree,
    compare_classifiers,
    fit_decision_rules,
    hierarchy_relation,
    label_graph,
    relation_ablation,
    similarity_relation,
    tune_thresholds,
)
from sklearn_mrmp._host.torch_state import torch_threads
from sklearn_mrmp._network import batches as _batches
from sklearn_mrmp._network.net import MultilabelNet
from sklearn_mrmp.datasets import load_mulan, load_reuters21578, make_related_labels

TINY = {"d_model": 8, "n_heads": 2, "max_epochs": 1, "random_state": 0}
KNN = MLKNNClassifier(3)
ESTIMATORS = {
    "mrmp": MrMPClassifier(**TINY),
    "mrmp with threads": MrMPClassifier(**TINY, n_threads=2),
    "mrmp, global random state": MrMPClassifier(**{**TINY, "random_state": 3}, refit=True),
    "ml-knn": KNN,
    "ml-aram": MLARAMClassifier(),
    "tuned": TunedDecisionClassifier(KNN, cv=2, random_state=0),
    "vote": SoftVotingMultilabelClassifier([("knn", KNN)], weights="auto", random_state=0),
}


def state():
    """Everything of the process that a call might leave changed."""
    handlers = {
        number: signal.getsignal(number)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGABRT, signal.SIGFPE)
    }
    return {
        "threads": torch.get_num_threads(),
        "threads between operations": torch.get_num_interop_threads(),
        "torch generator": torch.get_rng_state().numpy().tobytes(),
        "numpy generator": repr(np.random.get_state()),  # noqa: NPY002
        "python generator": hash(random.getstate()),
        "warning filters": list(warnings.filters),
        "default type": torch.get_default_dtype(),
        "default device": torch.get_default_device(),
        "determinism": torch.are_deterministic_algorithms_enabled(),
        "cudnn": (torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic),
        "float32 precision": torch.get_float32_matmul_precision(),
        "gradients": torch.is_grad_enabled(),
        "inference mode": torch.is_inference_mode_enabled(),
        "anomaly detection": torch.is_anomaly_enabled(),
        "numpy errors": np.geterr(),
        "numpy printing": np.get_printoptions(),
        "scikit-learn": sklearn.get_config(),
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "signals": handlers,
        "recursion limit": sys.getrecursionlimit(),
        "streams": (id(sys.stdout), id(sys.stderr)),
    }


@contextlib.contextmanager
def left_as_found(expected_error=None):
    """Run a block in an unusual state, and check that it is still the same afterwards."""
    filters, torch_state, errors = list(warnings.filters), torch.get_rng_state(), np.geterr()
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        torch.set_default_dtype(torch.float64)
        np.seterr(all="ignore")
        warnings.simplefilter("ignore", UserWarning)
        before = state()
        if expected_error is None:
            yield
        else:
            with pytest.raises(expected_error):
                yield
        after = state()
        assert {k: v for k, v in after.items() if v != before[k]} == {}
    finally:
        warnings.filters[:] = filters
        torch.set_rng_state(torch_state)
        torch.set_default_dtype(torch.float32)
        torch.set_num_threads(threads)
        np.seterr(**errors)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_fit_and_predict_leave_the_process_as_it_was(name, related):
    X, Y = related
    estimator = clone(ESTIMATORS[name])
    with left_as_found():
        estimator.fit(X, Y)
    with left_as_found():
        P = estimator.predict_proba(X)
    assert P.dtype in (np.float32, np.float64)
    with left_as_found():
        estimator.predict(X)
    with left_as_found():
        estimator.score(X, Y)


FIRST_FIT = """
    import os, tempfile, warnings
    import sklearn_mrmp
    from sklearn_mrmp import MrMPClassifier
    from sklearn_mrmp.datasets import make_related_labels

    X, Y, _ = make_related_labels(20, 3, random_state=0)
    before = dict(os.environ), list(warnings.filters)
    clf = MrMPClassifier(d_model=4, n_heads=1, max_epochs=1).fit(X, Y)
    clf.predict(X)
    with tempfile.TemporaryDirectory() as folder:
        clf.save(folder + "/model")
        sklearn_mrmp.load(folder + "/model")
    assert (dict(os.environ), list(warnings.filters)) == before
"""


def test_imports_of_the_first_fit_leave_no_trace():
    script = [sys.executable, "-c", textwrap.dedent(FIRST_FIT)]
    done = subprocess.run(script, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ESTIMATORS)
def test_failing_calls_leave_the_process_as_it_was(name, related):
    X, Y = related
    estimator = clone(ESTIMATORS[name])
    with left_as_found(ValueError):
        estimator.fit(X, Y * 3)
    with left_as_found(ValueError):
        estimator.fit(X[:5], Y)
    estimator.fit(X, Y)
    with left_as_found(ValueError):
        estimator.predict(X[:, :3])
    with left_as_found(ValueError):
        estimator.predict_proba(X.toarray() * np.nan)


class Fails(Exception):
    """An error out of the middle of training."""


def test_an_error_in_the_middle_of_training_leaves_the_process_as_it_was(related, monkeypatch):
    def fail(*_, **__):
        random.random()
        raise Fails

    monkeypatch.setattr(MultilabelNet, "validation_step", fail)
    clf = MrMPClassifier(**TINY, n_threads=1)
    with left_as_found():
        np_state = np.random.get_state()  # noqa: NPY002
        python_state = random.getstate()
        with pytest.raises(Fails):
            clf.fit(*related)
        random.setstate(python_state)  # the failing step itself drew a number
        np.random.set_state(np_state)  # noqa: NPY002


FUNCTIONS = {
    "label_graph": lambda X, Y, P: label_graph(Y),
    "LabelGraph": lambda X, Y, P: LabelGraph({"r": np.eye(6)}),
    "tune_thresholds": lambda X, Y, P: tune_thresholds(Y, P),
    "fit_decision_rules": lambda X, Y, P: fit_decision_rules(Y, P),
    "TopK": lambda X, Y, P: TopK(2).tune(Y, P).decide(P),
    "PrecisionFloor": lambda X, Y, P: PrecisionFloor(0.1).tune(Y, P).decide(P),
    "add_ancestors": lambda X, Y, P: add_ancestors(Y, [-1, 0, 0, 1, 1, 2]),
    "hierarchy_relation": lambda X, Y, P: hierarchy_relation([None, 0, 0]),
    "similarity_relation": lambda X, Y, P: similarity_relation(P.T, cut=0.5),
    "make_related_labels": lambda X, Y, P: make_related_labels(10, 4, random_state=0),
    "compare_classifiers": lambda X, Y, P: compare_classifiers(
        {"dummy": DummyClassifier(strategy="prior")}, X, Y, X, Y, isolate=False
    ),
    "compare_classifiers, isolated": lambda X, Y, P: compare_classifiers(
        {"dummy": DummyClassifier(strategy="prior")}, X, Y, X, Y
    ),
    "relation_ablation": lambda X, Y, P: relation_ablation(MrMPClassifier(**TINY), X, Y, X, Y),
    "auc_gain_by_degree": lambda X, Y, P: auc_gain_by_degree(Y, P, P, label_graph(Y)),
    "TokenSequenceVectorizer": lambda X, Y, P: TokenSequenceVectorizer().fit_transform(["a b"]),
}
FAILURES = {
    "label_graph": lambda X, Y, P: label_graph(2 * Y + 1),
    "LabelGraph": lambda X, Y, P: LabelGraph({"r": -np.ones((6, 6))}),
    "tune_thresholds": lambda X, Y, P: tune_thresholds(Y, P[:3]),
    "fit_decision_rules": lambda X, Y, P: fit_decision_rules(Y, P * np.nan),
    "TopK": lambda X, Y, P: TopK(0),
    "PrecisionFloor": lambda X, Y, P: PrecisionFloor(2.0),
    "add_ancestors": lambda X, Y, P: add_ancestors(Y, [1, 0]),
    "hierarchy_relation": lambda X, Y, P: hierarchy_relation([1, 0]),
    "similarity_relation": lambda X, Y, P: similarity_relation(P * np.inf, cut=0.5),
    "make_related_labels": lambda X, Y, P: make_related_labels(-1),
    "compare_classifiers": lambda X, Y, P: compare_classifiers({}, X, Y, X, Y),
    "relation_ablation": lambda X, Y, P: relation_ablation(KNN, X, Y, X, Y),
    "auc_gain_by_degree": lambda X, Y, P: auc_gain_by_degree(Y, P, P[:2], label_graph(Y)),
    "TokenSequenceVectorizer": lambda X, Y, P: TokenSequenceVectorizer().fit([]),
    "load_mulan": lambda X, Y, P: load_mulan("no such folder"),
    "load_reuters21578": lambda X, Y, P: load_reuters21578("no such folder"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_leave_the_process_as_it_was(name, related):
    X, Y = related
    P = np.random.default_rng(0).random(Y.shape)
    with left_as_found():
        FUNCTIONS[name](X, Y, P)


@pytest.mark.parametrize("name", FAILURES)
def test_functions_that_fail_leave_the_process_as_it_was(name, related):
    X, Y = related
    P = np.random.default_rng(0).random(Y.shape)
    with left_as_found((ValueError, TypeError, AttributeError, FileNotFoundError)):
        FAILURES[name](X, Y, P)


@pytest.fixture(scope="module")
def sequential(related):
    X, Y = related
    scores = cross_val_score(MrMPClassifier(**TINY), X, Y, cv=3, scoring="f1_micro")
    return scores, GridSearchCV(MrMPClassifier(**TINY), {"d_model": [4, 8]}, cv=2).fit(X, Y)


@pytest.mark.parametrize("backend", ["loky", "threading", "sequential"])
def test_joblib_backends_give_the_same_scores(backend, related, sequential):
    X, Y = related
    with joblib.parallel_config(backend, n_jobs=None if backend == "sequential" else 2):
        scores = cross_val_score(MrMPClassifier(**TINY), X, Y, cv=3, scoring="f1_micro")
        search = GridSearchCV(MrMPClassifier(**TINY), {"d_model": [4, 8]}, cv=2).fit(X, Y)
    np.testing.assert_array_equal(scores, sequential[0])
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_score"], sequential[1].cv_results_["mean_test_score"]
    )
    np.testing.assert_array_equal(search.predict_proba(X), sequential[1].predict_proba(X))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_eight_threads_predict_what_one_does(name, related, monkeypatch):
    monkeypatch.setattr(_batches, "_ON_CPU", (2**10, 2**9))  # several batches at once
    X, Y = related
    estimator = clone(ESTIMATORS[name]).fit(X, Y)
    parts = [X[start::8] for start in range(8)] * 3 + [X[start:] for start in range(8)]
    expected = [estimator.predict_proba(part) for part in parts]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(estimator.predict_proba, parts))
        counts = list(pool.map(lambda _: torch.get_num_threads(), range(50)))
    assert set(counts) == {torch.get_num_threads()}
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def in_new_thread(function):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def test_threads_that_overlap_leave_the_number_of_torch_threads_as_it_was():
    before = torch.get_num_threads()
    inside, leave = threading.Barrier(2, timeout=30), threading.Event()

    def early():
        with torch_threads(before + 2):
            inside.wait()
            leave.wait(30)
        return torch.get_num_threads()

    def late():
        inside.wait()  # born with the other thread's setting
        with torch_threads(before + 1):
            leave.set()
            first.result(30)
            assert torch.get_num_threads() == before + 1  # still its own
        return torch.get_num_threads()

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(early)
        assert pool.submit(late).result(30) == before
    assert first.result() == before
    assert torch.get_num_threads() == before
    assert in_new_thread(torch.get_num_threads) == before


def test_nested_settings_of_threads_are_restored_one_by_one():
    before = torch.get_num_threads()
    with torch_threads(before + 2):
        with torch_threads(before + 1):
            assert torch.get_num_threads() == before + 1
        assert torch.get_num_threads() == before + 2
    assert torch.get_num_threads() == before


FORKED = """
    import multiprocessing, sys
    import numpy as np, torch
    from sklearn_mrmp import MLARAMClassifier, MLKNNClassifier, MrMPClassifier
    from sklearn_mrmp.datasets import make_related_labels

    torch.set_num_threads(2)
    torch.randn(600, 600) @ torch.randn(600, 600)  # starts the pool of threads
    _, Y, _ = make_related_labels(400, 6, random_state=0)
    X = np.random.default_rng(0).normal(size=(400, 40))  # no two neighbours at one distance
    tiny = {"d_model": 32, "max_epochs": 1, "random_state": 0}
    estimators = [
        MrMPClassifier(**tiny).fit(X, Y),
        MrMPClassifier(**tiny, n_threads=2).fit(X, Y),
        MLKNNClassifier(3).fit(X, Y),
        MLARAMClassifier().fit(X, Y),
    ]
    expected = [estimator.predict_proba(X) for estimator in estimators]

    def work(i):
        again = estimators[i].predict_proba(X)
        estimators[i].fit(X[:50], Y[:50])
        return again

    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(work, range(4)).get(timeout=120)
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one, other, rtol=1e-5)
    torch.randn(600, 600) @ torch.randn(600, 600)
    print("done")
"""


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system"
)
def test_forked_workers_fit_and_predict_without_a_deadlock():
    script = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(FORKED)]
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    done = subprocess.run(
        script, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.stdout == "done\n", done.stderr
