"""Many fits on engines that exist: workers of dask, Ray and Spark give the bits of one process.

Clusters of two workers on this machine, which the tests start and stop. dask is among the test
requirements; ``make test-engines`` installs Ray and Spark as well.
"""

import os
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from sklearn.model_selection import GridSearchCV
from skorch.callbacks import Callback

from sklearn_mrmp import (
    MLKNNClassifier,
    SoftVotingMultilabelClassifier,
    TunedDecisionClassifier,
    compare_classifiers,
)
from tests.tiny import PLAIN, tiny

RATES = {"lr": [0.01, 0.02]}
# joblibspark calls joblib in a way that newer versions of it deprecate.
pytestmark = pytest.mark.filterwarnings("ignore:.apply_async. is deprecated:DeprecationWarning")


@contextmanager
def dask_cluster():
    distributed = pytest.importorskip("dask.distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        yield {"backend": "dask"}


@contextmanager
def ray_cluster():
    ray = pytest.importorskip("ray")
    register = pytest.importorskip("ray.util.joblib").register_ray
    root = str(Path(__file__).parents[1])
    ray.init(num_cpus=2, include_dashboard=False, runtime_env={"env_vars": {"PYTHONPATH": root}})
    register()
    try:
        yield {"backend": "ray", "n_jobs": 2}
    finally:
        ray.shutdown()


@contextmanager
def spark_cluster():
    pytest.importorskip("pyspark")
    register = pytest.importorskip("joblibspark").register_spark
    from pyspark.sql import SparkSession

    # Spark's workers are started with the Python and the path that these variables name.
    here = {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(Path(__file__).parents[1])}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in here.items():
            patch.setenv(name, value)
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .getOrCreate()
        )
        register()
        try:
            yield {"backend": "spark", "n_jobs": 2}
        finally:
            session.stop()


CLUSTERS = {"dask": dask_cluster, "ray": ray_cluster, "spark": spark_cluster}


@pytest.fixture(scope="module", params=CLUSTERS)
def engine(request):
    """Start a cluster; return the arguments of ``parallel_config``."""
    with CLUSTERS[request.param]() as arguments:
        yield arguments


@pytest.fixture(scope="module")
def data(related):
    return related[0][:60], related[1][:60, :4]


def shallow(**options):
    depths = {"n_encoder_layers": 1, "n_relation_layers": 1, "n_decoder_layers": 1}
    return tiny(**{**depths, "max_epochs": 1, **options})


def scores(search):
    return {
        name: value.tolist()
        for name, value in search.cv_results_.items()
        if name.endswith("test_score") and not name.startswith("rank")
    }


def probabilities(estimator, data):
    return estimator.fit(*data).predict_proba(data[0])


ESTIMATORS = {
    "folds": lambda: shallow(cv=2),
    "members": lambda: shallow(**PLAIN, n_members=2),
    "decisions": lambda: TunedDecisionClassifier(MLKNNClassifier(), cv=2, random_state=0),
    "vote": lambda: SoftVotingMultilabelClassifier(
        [("a", MLKNNClassifier(3)), ("b", shallow(**PLAIN))], weights="auto", cv=2, random_state=0
    ),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_are_fitted_by_workers_to_the_same_bits(engine, data, name):
    expected = probabilities(ESTIMATORS[name](), data)
    with parallel_config(**engine):
        found = probabilities(ESTIMATORS[name](), data)
    np.testing.assert_array_equal(found, expected)


def test_searches_have_the_same_scores(engine, data):
    search = GridSearchCV(shallow(**PLAIN), RATES, cv=2)
    expected = scores(search.fit(*data))
    with parallel_config(**engine):
        assert scores(search.fit(*data)) == expected


def test_comparisons_are_measured_in_the_workers(engine, data):
    X, Y = data
    contestants = {"a": MLKNNClassifier(3), "where": Whereabouts()}
    arguments = (contestants, X[:40], Y[:40], X[40:], Y[40:])
    options = {"metrics": ["f1_micro"], "decisions": ["threshold"], "isolate": False}
    expected = compare_classifiers(*arguments, **options)
    with parallel_config(**engine):
        result = compare_classifiers(*arguments, **options)
    assert not result.errors
    assert [run.scores for run in result.runs] == [run.scores for run in expected.runs]
    assert all(run.fit_time > 0 for run in result.runs)
    (here,), (there,) = (
        [w for run in outcome.runs for w in run.warnings if "fitted in" in w]
        for outcome in (expected, result)
    )
    assert here == f"UserWarning: fitted in process {os.getpid()}"
    assert there != here


class Whereabouts(MLKNNClassifier):
    """Says in which process it is fitted."""

    def fit(self, X, y):
        import warnings

        warnings.warn(f"fitted in process {os.getpid()}", stacklevel=1)
        return super().fit(X, y)


class KillOnce(Callback):
    """Kill the process in the middle of a training, unless that was done before."""

    def __init__(self, flag, client):
        self.flag = flag
        self.client = client

    def on_batch_end(self, net, **kwargs):
        if os.getpid() != self.client:
            try:
                os.close(os.open(self.flag, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return
            os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("engine", ["dask"], indirect=True)
def test_a_search_survives_a_worker_that_is_killed(engine, data, tmp_path):
    callbacks = [KillOnce(str(tmp_path / "killed"), os.getpid())]
    search = GridSearchCV(shallow(**PLAIN, callbacks=callbacks), RATES, cv=2, refit=False)
    expected = scores(search.fit(*data))
    with parallel_config(**engine):
        assert scores(search.fit(*data)) == expected
    assert (tmp_path / "killed").exists()


def read_only(array, folder, name):
    np.save(folder / f"{name}.npy", array)
    return np.load(folder / f"{name}.npy", mmap_mode="r")


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_rows_may_be_mapped_from_files_that_cannot_be_written(data, tmp_path, kind):
    X, Y = data
    rows = X.toarray() if kind == "dense" else sp.csr_array(X)
    expected = probabilities(shallow(), (rows, Y))
    if kind == "dense":
        mapped = read_only(rows, tmp_path, "X")
    else:
        parts = [read_only(getattr(rows, n), tmp_path, n) for n in ("data", "indices", "indptr")]
        mapped = sp.csr_array(tuple(parts), shape=rows.shape)
    found = probabilities(shallow(), (mapped, read_only(Y, tmp_path, "Y")))
    np.testing.assert_array_equal(found, expected)


def test_workers_get_large_arrays_as_maps_and_fit_on_them():
    rng = np.random.default_rng(0)
    X, Y = rng.random((400, 400)), rng.integers(0, 2, (400, 3))
    assert X.nbytes > 2**20  # what joblib takes for large
    search = GridSearchCV(shallow(**PLAIN, max_tokens=4, batch_size=200), RATES, cv=2, refit=False)
    expected = scores(search.fit(X, Y))
    with parallel_config("loky", n_jobs=2):
        assert scores(search.fit(X, Y)) == expected


def test_fits_in_threads_of_one_process_give_the_same_bits(data):
    search = GridSearchCV(shallow(**PLAIN), RATES, cv=2, refit=False)
    expected = scores(search.fit(*data))
    with parallel_config("threading", n_jobs=2):
        assert scores(search.fit(*data)) == expected
