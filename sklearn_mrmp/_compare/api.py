"""Several classifiers on the same data, with the same decision rules, in one table.

Knows how runs are distributed over workers and processes, and resumed; what a run does is the
business of `_compare.run`, what the table looks like that of `_compare.report`.
"""

import multiprocessing
import os
from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp
from joblib import cpu_count, effective_n_jobs

# Vendored by joblib and none of its public names, but nothing public keeps what is promised here.
# The standard library's spawned processes import `__main__` again, which a script without a main
# guard does not survive, and cannot unpickle classes of a notebook; joblib's own pool keeps its
# processes, and their peak memory would be that of all runs before.
from joblib.externals.loky import ProcessPoolExecutor
from sklearn.utils import check_consistent_length
from sklearn.utils.parallel import Parallel, delayed

from sklearn_mrmp._compare.page.setting import ComparisonSetting
from sklearn_mrmp._compare.report import ComparisonResult
from sklearn_mrmp._compare.run import ComparisonRun, Protocol, run_one
from sklearn_mrmp._compare.store import RunStore, data_fingerprint, run_key
from sklearn_mrmp._decisions.operating_points import DECISIONS
from sklearn_mrmp._decisions.sweep import METRICS
from sklearn_mrmp._decisions.thresholds import check_labels, check_metrics
from sklearn_mrmp._numerics.entry_weights import checked_weights
from sklearn_mrmp._numerics.label_frames import column_names, in_order_of
from sklearn_mrmp._sklearn_compat import Interval, validate_params

_NO_CHILDREN = (
    "RuntimeError: time_limit needs workers that may start processes; for dask set the option "
    "distributed.worker.daemon to False"
)


@validate_params(
    {
        "estimators": [Mapping, list, tuple],
        "metrics": ["array-like", str],
        "decisions": ["array-like", str],
        "seeds": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_jobs": [Integral, None],
        "results_path": [str, os.PathLike, None],
        "isolate": ["boolean"],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "verbose": ["verbose"],
        "sample_weight_train": ["array-like", None],
        "sample_weight_test": ["array-like", None],
    },
    prefer_skip_nested_validation=True,
)
def compare_classifiers(
    estimators,
    X_train,
    Y_train,
    X_test,
    Y_test,
    *,
    metrics=METRICS,
    decisions=DECISIONS,
    seeds=1,
    validation_fraction=0.1,
    n_jobs=None,
    results_path=None,
    isolate=True,
    verbose=0,
    sample_weight_train=None,
    sample_weight_test=None,
    time_limit=None,
):
    """Fit, tune, time and score several multi-label classifiers on the same data.

    For each seed a part of the training rows is set aside. Every classifier is fitted on the same
    other rows; decision rules are tuned for each metric on the same rows set aside; all test rows
    are scored, once. No choice is made on test rows.

    Parameters
    ----------
    estimators : mapping of str to estimator, or list of (str, estimator)
        The classifiers, unfitted. They are cloned; every ``random_state`` in them is set to the
        seed of the run. A classifier (or last step of a pipeline) whose ``fit`` takes ``X_val``
        and ``y_val`` gets the rows set aside that way, instead of splitting off its own. One that
        tunes its decisions on out-of-fold scores of all rows (``MrMPClassifier(cv=5)``,
        `TunedDecisionClassifier`) gets all training rows and decides by its own rules.

    X_train, X_test : {array-like, sparse matrix} of shape (n_samples, n_features), or list of str
        Training and test rows, in any form that the classifiers take.

    Y_train, Y_test : {array-like, sparse matrix} of shape (n_samples, n_labels)
        0/1 labels. Classifiers get them dense.

    metrics : sequence of str, default=("accuracy", "f1_samples", "f1_micro", "f1_macro")
        Metrics to tune for and to report.

    decisions : sequence of str, default=("optimal", "threshold")
        Decision rules, each reported: the rule made for the metric, and one global cut.

    seeds : int or sequence of int, default=1
        The seeds, or their number (0, 1, …).

    validation_fraction : float, default=0.1
        Share of the training rows that is set aside.

    n_jobs : int, default=None
        Number of runs at the same time. They compete for cores, so compare times with a single job
        only. With ``joblib.parallel_config``, runs can be made by workers of dask, Ray or Spark.

    results_path : str or path-like, default=None
        File (JSON lines) to which each run is appended when it ends. A later call with the same
        data, classifiers and settings takes finished runs from there and does only the others.

    isolate : bool, default=True
        Whether to run each fit in its own process. Its peak memory is then measured, and a crash is
        an error in the table. False is faster for small data, and does not measure memory. Memory
        is not measured, either, by workers that may not start processes, such as dask's unless
        ``distributed.worker.daemon`` is False.

    verbose : int, default=0
        1 prints a line when a run ends.

    sample_weight_train : array-like of shape (n_train,), default=None
        Weights of the training rows, for ``fit`` and for the decisions. A classifier whose ``fit``
        takes no ``sample_weight`` has a row with this error.

    sample_weight_test : array-like of shape (n_test,), default=None
        Weights of the test rows in the metrics.

    time_limit : float, default=None
        Seconds after which a run is stopped. The classifier then has a row with this error. It
        needs ``isolate=True``.

    Returns
    -------
    result : ComparisonResult
        Means and deviations, as data frame, Markdown, LaTeX or an HTML page. A classifier that
        fails has a row with its error.

    Notes
    -----
    Peak memory is that of the whole process (on Linux ``VmHWM``, elsewhere ``ru_maxrss``) up to
    the end of prediction: interpreter, libraries and data are part of it and the same for all
    classifiers, except for libraries that only some of them import. Processes that a classifier
    starts itself are not part of it.

    Classifiers without ``predict_proba`` are scored through the logistic function of their
    ``decision_function``.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> from sklearn_mrmp import compare_classifiers
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, _ = make_related_labels(400, 6, random_state=0)
    >>> result = compare_classifiers(
    ...     {"guess": DummyClassifier(strategy="prior"),
    ...      "logistic": OneVsRestClassifier(LogisticRegression())},
    ...     X[:300], Y[:300], X[300:], Y[300:], isolate=False)
    >>> result.best["optimal", "f1_micro"]
    'logistic'
    """
    estimators = _check_estimators(estimators)
    if time_limit is not None and not isolate:
        raise ValueError("time_limit stops the process of a run, and isolate=False has none.")
    protocol = Protocol(
        *_check_data(X_train, Y_train, X_test, Y_test),
        metrics=check_metrics(metrics),
        decisions=_check_decisions(decisions),
        validation_fraction=float(validation_fraction),
        measure_memory=isolate,
        sample_weight_train=checked_weights(sample_weight_train, Y_train),
        sample_weight_test=checked_weights(sample_weight_test, Y_test),
    )
    seeds = _check_seeds(seeds)
    store = RunStore(results_path)
    shared = data_fingerprint(protocol)
    jobs = {
        run_key(shared, method, estimator, seed): (method, estimator, seed)
        for seed in seeds
        for method, estimator in estimators.items()
    }
    runs = store.load(jobs)
    _report_resumed(runs, jobs, verbose)
    todo = {key: job for key, job in jobs.items() if key not in runs}
    for run in _run_all(protocol, todo, n_jobs, isolate, time_limit):
        store.append(run)
        runs[run.key] = run
        _report_run(run, len(runs), len(jobs), verbose)
    return ComparisonResult(
        [runs[key] for key in jobs],
        list(estimators),
        protocol.metrics,
        protocol.decisions,
        ComparisonSetting.of(protocol, estimators, seeds, column_names(Y_train)),
    )


def _check_pairs(estimators):
    """Refuse a list of anything but pairs, and names that no table can show."""
    if not isinstance(estimators, Mapping):
        for item in estimators:
            if not isinstance(item, (tuple, list)) or len(item) != 2:
                is_bare = hasattr(item, "fit")
                given = {type(item).__name__: item} if is_bare else "{'name': classifier}"
                raise TypeError(
                    "estimators must be a mapping of names to classifiers or a list of (name, "
                    f"classifier), got {item!r} in a list. Write compare_classifiers({given}, …)."
                )
    for name in dict(estimators):
        if not isinstance(name, str):
            raise TypeError(f"The classifiers' names must be strings, got {name!r}.")


def _check_estimators(estimators):
    _check_pairs(estimators)
    named = dict(estimators)
    if len(named) != len(estimators) or not named:
        raise ValueError(
            f"estimators must be at least one classifier under a name of its own, got the names "
            f"{[name for name, _ in dict(estimators).items()]} for {len(estimators)} entries."
        )
    for name, estimator in named.items():
        if not hasattr(estimator, "fit") or not hasattr(estimator, "get_params"):
            raise TypeError(
                f"The classifier {name!r} is {estimator!r}, not a scikit-learn estimator."
            )
    return named


def _check_decisions(decisions):
    decisions = (decisions,) if isinstance(decisions, str) else tuple(decisions)
    unknown = set(decisions) - set(DECISIONS)
    if unknown or not decisions:
        raise ValueError(f"decisions must be among {', '.join(DECISIONS)}, got {decisions}.")
    return decisions


def _check_seeds(seeds):
    return list(range(seeds)) if isinstance(seeds, Integral) else [int(seed) for seed in seeds]


def _check_data(X_train, Y_train, X_test, Y_test):
    shapes = np.shape(Y_train), np.shape(Y_test)
    if any(len(shape) != 2 for shape in shapes) or shapes[0][1] != shapes[1][1]:
        raise ValueError(
            "Y_train and Y_test must be label matrices with the same labels, got the shapes "
            f"{shapes[0]} and {shapes[1]}."
        )
    Y_test = in_order_of(Y_train, Y_test, "Y_test")
    Y_train, Y_test = (
        check_labels(Y, name).astype(np.int32)
        for Y, name in ((Y_train, "Y_train"), (Y_test, "Y_test"))
    )
    check_consistent_length(X_train, Y_train)
    check_consistent_length(X_test, Y_test)
    X_train, X_test = (X.tocsr() if sp.issparse(X) else X for X in (X_train, X_test))
    return X_train, Y_train, X_test, Y_test


def _run_all(protocol, jobs, n_jobs, isolate, time_limit):
    """Yield the runs as they end."""
    if not isolate:
        yield from _parallel(n_jobs)(
            delayed(run_one)(protocol, *job, key) for key, job in jobs.items()
        )
        return
    n_jobs = effective_n_jobs(n_jobs)
    # Unless the caller has chosen a backend: threads that wait for the processes that do the work.
    yield from _parallel(n_jobs, prefer="threads")(
        delayed(_run_in_process)(protocol, *job, key, max(1, cpu_count() // n_jobs), time_limit)
        for key, job in jobs.items()
    )


def _parallel(n_jobs, **options):
    """Return a `Parallel` that yields results as they are there, where the backend can."""
    try:
        return Parallel(n_jobs=n_jobs, return_as="generator_unordered", **options)
    except ValueError:  # Ray and Spark return all of them at the end
        return Parallel(n_jobs=n_jobs, **options)


def _run_in_process(protocol, method, estimator, seed, key, n_threads, time_limit=None):
    """Run in a fresh process, wherever this one is.

    Its sudden death, or its end by the clock, is an error of the run.
    """
    if multiprocessing.current_process().daemon:  # which may have no children
        if time_limit is not None:
            return ComparisonRun(method=method, seed=seed, key=key, error=_NO_CHILDREN)
        return run_one(replace(protocol, measure_memory=False), method, estimator, seed, key)
    threads = os.environ.get("OMP_NUM_THREADS", str(n_threads))
    executor = ProcessPoolExecutor(max_workers=1, env={"OMP_NUM_THREADS": threads})
    try:
        future = executor.submit(run_one, protocol, method, estimator, seed, key)
        return future.result(timeout=time_limit)
    except TimeoutError:
        stopped = f"TimeoutError: stopped after {time_limit:g} seconds (time_limit)"
        return ComparisonRun(method=method, seed=seed, key=key, error=stopped)
    except Exception as error:  # the process was killed, or could not be given its work
        return ComparisonRun(
            method=method, seed=seed, key=key, error=f"{type(error).__name__}: {error}"
        )
    finally:
        executor.shutdown(kill_workers=True)


def _report_resumed(runs, jobs, verbose):
    if verbose and runs:
        print(f"{len(runs)} of {len(jobs)} runs were done before", flush=True)  # noqa: T201


def _report_run(run, n_done, n_jobs, verbose):
    if not verbose:
        return
    if run.error is not None:
        outcome = f"failed: {run.error}"
    else:
        scores = next(iter(run.scores.values()))
        shown = "  ".join(f"{metric} {value:.3f}" for metric, value in scores.items())
        outcome = f"{shown}  (fit {run.fit_time:.1f} s, predict {run.predict_time:.1f} s)"
    print(f"[{n_done}/{n_jobs}] {run.method}, seed {run.seed}: {outcome}", flush=True)  # noqa: T201
