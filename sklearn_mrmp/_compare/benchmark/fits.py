"""The fits of the table of results: each is a process of one thread, and a line of the CSV file.

Knows data sets and methods by name, and how one fit is measured.
"""

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

# As in `_compare.api`: processes of a fresh interpreter that need no main guard.
from joblib.externals.loky import ProcessPoolExecutor
from sklearn.metrics import average_precision_score

from sklearn_mrmp._compare.benchmark.entrants import METHODS, Task
from sklearn_mrmp._compare.benchmark.lines import ResultLine
from sklearn_mrmp._compare.benchmark.sets import DATASETS
from sklearn_mrmp._numerics.target_scores import label_score

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Fit:
    """One fit to make.

    Attributes
    ----------
    dataset, method : str
        Keys of `DATASETS` and `METHODS`.
    seed : int
        The seed.
    """

    dataset: str
    method: str
    seed: int

    @property
    def key(self):
        """What its line is found by."""
        return self.dataset, self.method, self.seed


@dataclass(frozen=True)
class Sources:
    """Where data, and what reads texts, are.

    Attributes
    ----------
    data_home : path-like or None
        Folder of the data sets; scikit-learn's data home when None.
    encoder : str or None
        Name or folder of a pretrained text encoder.
    cache_dir : path-like or None
        Where its states are kept.
    """

    data_home: Path | None = None
    encoder: str | None = None
    cache_dir: Path | None = None


def chosen_fits(datasets=None, methods=None, seeds=1, *, with_encoder=False):
    """Return the fits asked for, those of the first seed first.

    Parameters
    ----------
    datasets, methods : sequence of str, default=None
        Names; all when None. Methods are left out of data sets that they are not for, and methods
        that need an encoder where there is none.
    seeds : int, default=1
        Number of seeds.
    with_encoder : bool, default=False
        Whether there is an encoder.

    Returns
    -------
    fits : list of Fit
    """
    return [
        Fit(dataset, method, seed)
        for seed in range(seeds)
        for dataset in datasets or DATASETS
        for method in methods or METHODS
        if is_for(method, dataset, with_encoder)
    ]


def is_for(method, dataset, with_encoder=True):
    """Whether a method is used on a data set."""
    texts = DATASETS[dataset].texts
    needs_encoder = texts and METHODS[method].encodes
    return METHODS[method].title(texts) is not None and (with_encoder or not needs_encoder)


def fit_in_process(fit, sources):
    """Make a fit in a fresh process of one thread; what it raises is raised here.

    Parameters
    ----------
    fit : Fit
        What to fit.
    sources : Sources
        Where the data are.

    Returns
    -------
    line : ResultLine
    """
    executor = ProcessPoolExecutor(max_workers=1, env=_ONE_THREAD)
    try:
        return executor.submit(measured, fit, sources).result()
    finally:
        executor.shutdown(kill_workers=True)


def measured(fit, sources):
    """Fit a method, and score the test rows.

    Parameters
    ----------
    fit : Fit
        What to fit.
    sources : Sources
        Where the data are.

    Returns
    -------
    line : ResultLine
    """
    dataset = DATASETS[fit.dataset]
    X, Y, X_test, Y_test = dataset.load(sources.data_home)
    source = {"encoder": sources.encoder, "cache_dir": sources.cache_dir}
    task = Task(dataset.family, dataset.texts, X, Y, X_test, fit.seed, source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about labels that no training row has
        outcome = METHODS[fit.method].fit(task)
        scores = {m: label_score(Y_test, np.asarray(p), m) for m, p in outcome.decided.items()}
    scores |= _precisions(Y_test, outcome.P, "")
    if outcome.P_network is not None:
        scores |= _precisions(Y_test, outcome.P_network, "_network")
    return ResultLine(fit.dataset, fit.method, fit.seed, outcome.seconds, **scores)


def _precisions(Y, P, suffix):
    """Average precision over all entries, and over the labels that occur."""
    occurs = Y.any(axis=0)
    macro = average_precision_score(Y[:, occurs], P[:, occurs], average="macro")
    micro = average_precision_score(Y.ravel(), P.ravel())
    return {f"AP{suffix}": float(micro), f"AP_macro{suffix}": float(macro)}
