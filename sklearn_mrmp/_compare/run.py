"""One run of a comparison: fit a classifier, tune its decisions, score and measure it.

Runs inside a worker process of its own, so that its memory can be told from that of others. Knows
scikit-learn's estimator interface, operating points and what `TunedDecisionsMixin` promises, and no
particular classifier.
"""

import sys
import time
import traceback
import warnings
from dataclasses import asdict, dataclass, field
from functools import partial

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from sklearn_mrmp._compare.details import counts_of, curves_of, ranking_of
from sklearn_mrmp._compare.weights import n_weights
from sklearn_mrmp._deciding import TunedDecisionsMixin
from sklearn_mrmp._decisions.operating_points import OperatingPoints
from sklearn_mrmp._decisions.responses import (
    choose_response_method,
    label_scores,
    last_step,
    rows_of_last_step,
)
from sklearn_mrmp._numerics.entry_weights import EntryWeights
from sklearn_mrmp._numerics.target_scores import label_score
from sklearn_mrmp._sklearn_compat import _safe_indexing


@dataclass(frozen=True)
class ComparisonRun:
    """Outcome of one classifier with one seed.

    Attributes
    ----------
    method : str
        Name of the classifier.
    seed : int
        Seed of the validation split and of the classifier.
    scores : dict of str to dict of str to float
        Test score by decision and metric; empty after an error.
    fit_time, predict_time : float
        Seconds to fit, and to compute the probabilities of all test rows.
    peak_memory : float
        Largest resident memory of the process in MB, interpreter, libraries and data included;
        NaN when the run had no process of its own.
    n_weights : float
        Number of weights of networks and linear models; NaN for classifiers without such.
    error : str or None
        Type and message of the exception that ended the run.
    warnings : list of str
        Different warnings that were raised, at most ten.
    key : str
        Fingerprint of data, classifier and settings.
    code : str
        Fingerprint of the code that made a run which was read from a file.
    details : dict
        For pages: ``counts`` of each label by decision and metric, ``average_precision`` of each
        label, ``curves`` of the metrics over cuts, ``thresholds`` by metric. Empty in runs of files
        that were written without them.
    """

    method: str
    seed: int
    scores: dict = field(default_factory=dict)
    fit_time: float = np.nan
    predict_time: float = np.nan
    peak_memory: float = np.nan
    n_weights: float = np.nan
    error: str | None = None
    warnings: list = field(default_factory=list)
    key: str = ""
    code: str = ""
    details: dict = field(default_factory=dict)

    def to_dict(self):
        """Return the run as a dict of plain Python values."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Protocol:
    """What all runs of a comparison share: the data, and how they are used."""

    X_train: object
    Y_train: object
    X_test: object
    Y_test: object
    metrics: tuple
    decisions: tuple
    validation_fraction: float
    measure_memory: bool = True
    sample_weight_train: object = None
    sample_weight_test: object = None

    def split(self, seed):
        """Row numbers of the training rows to fit on, and of those to tune decisions on."""
        rows = np.arange(self.Y_train.shape[0])
        return train_test_split(rows, test_size=self.validation_fraction, random_state=seed)


def run_one(protocol, method, estimator, seed, key):
    """Fit, tune, score and measure; an exception becomes the run's error.

    Returns
    -------
    run : ComparisonRun
    """
    measured = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            measured = _measure(protocol, estimator, seed)
        except Exception as error:
            measured = {"error": _describe_error(error)}
    shown = sorted({f"{w.category.__name__}: {w.message}" for w in caught})[:10]
    return ComparisonRun(method=method, seed=seed, key=key, warnings=shown, **measured)


def _describe_error(error):
    """Type, message and the innermost place of an exception."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
    return f"{type(error).__name__}: {error} ({place})"


def _measure(protocol, estimator, seed):
    estimator = set_random_states(clone(estimator), seed)
    start = time.perf_counter()
    estimator, held_out = _fit(protocol, estimator, seed)
    fit_time = time.perf_counter() - start
    n_labels = protocol.Y_train.shape[1]
    start = time.perf_counter()
    P_test = label_probabilities(estimator, protocol.X_test, n_labels)
    predict_time = time.perf_counter() - start
    peak = peak_memory() if protocol.measure_memory else np.nan
    predict, thresholds = _predictor(protocol, estimator, held_out, P_test)
    scores, details = _outcome(protocol, predict, P_test)
    return {
        "scores": scores,
        "fit_time": fit_time,
        "predict_time": predict_time,
        "peak_memory": peak,
        "details": details | {"thresholds": thresholds},
        "n_weights": n_weights(estimator),
    }


def _fit(protocol, estimator, seed):
    """Fit, and return the rows that were set aside: none of those for who tunes on all rows."""
    weights = protocol.sample_weight_train
    if tunes_on_all_rows(last_step(estimator)):
        params = _weight_params(estimator, weights)
        return estimator.fit(protocol.X_train, protocol.Y_train, **params), None
    fit_rows, valid_rows = protocol.split(seed)
    X_fit, X_valid = (_safe_indexing(protocol.X_train, rows) for rows in (fit_rows, valid_rows))
    Y_fit, Y_valid = protocol.Y_train[fit_rows], protocol.Y_train[valid_rows]
    fit_weights = None
    if weights is not None:  # decisions are tuned on rows that are repeated as they weigh
        fit_weights = weights[fit_rows]
        repeated = EntryWeights(rows=weights[valid_rows]).repetitions()
        X_valid, Y_valid = _safe_indexing(X_valid, repeated), Y_valid[repeated]
    fitted = fit_with_holdout(estimator, X_fit, Y_fit, X_valid, Y_valid, fit_weights)
    return fitted, (Y_fit, X_valid, Y_valid)


def _weight_params(estimator, weights):
    """Return weights of rows as ``fit`` of a classifier, or of a pipeline, takes them."""
    if weights is None:
        return {}
    prefix = ""
    while isinstance(estimator, Pipeline):
        prefix += f"{estimator.steps[-1][0]}__"
        estimator = estimator[-1]
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(f"{type(estimator).__name__} takes no sample_weight in fit.")
    return {f"{prefix}sample_weight": weights}


def tunes_on_all_rows(classifier):
    """Whether a classifier tunes its decisions itself, on out-of-fold scores of all rows."""
    return isinstance(classifier, TunedDecisionsMixin) and classifier._tunes_on_all_rows()


def _predictor(protocol, estimator, held_out, P_test):
    """Return what predicts the test rows at an operating point, (metric, decision) -> labels.

    With it, the best global cut of each metric, as far as it was tuned.

    Decisions are tuned on the rows that were set aside; a classifier for which there are none has
    tuned its own, and may want to see the rows. One that finds label sets itself is asked for them.
    """
    classifier = last_step(estimator)
    if held_out is None:
        X_test = rows_of_last_step(estimator, protocol.X_test)
        return partial(classifier._labels_at, P_test, X_test), dict(classifier.thresholds_)
    Y_fit, X_valid, Y_valid = held_out
    points = OperatingPoints.tune(
        Y_valid,
        label_probabilities(estimator, X_valid, Y_fit.shape[1]),
        Y_fit,
        decisions=protocol.decisions,
        metrics=protocol.metrics,
    )
    if not isinstance(classifier, TunedDecisionsMixin):
        return partial(points.predict, P_test), points.thresholds

    def predict(metric, decision):
        if classifier._finds_sets(metric, decision):
            X_test = rows_of_last_step(estimator, protocol.X_test)
            return classifier._labels_at(P_test, X_test, metric, decision)
        return points.predict(P_test, metric, decision)

    return predict, points.thresholds


def set_random_states(estimator, seed):
    """Set every ``random_state`` of an estimator and of what it contains; return it."""
    names = [
        name
        for name in estimator.get_params(deep=True)
        if name == "random_state" or name.endswith("__random_state")
    ]
    return estimator.set_params(**dict.fromkeys(names, int(seed)))


def fit_with_holdout(estimator, X, Y, X_valid, Y_valid, sample_weight=None):
    """Fit; hand the validation rows to a classifier that would otherwise split off its own."""
    weights = _weight_params(estimator, sample_weight)
    if not has_fit_parameter(last_step(estimator), "X_val"):
        return estimator.fit(X, Y, **weights)
    if not isinstance(estimator, Pipeline):
        return estimator.fit(X, Y, X_val=X_valid, y_val=Y_valid, **weights)
    if len(estimator) > 1:
        before = estimator[:-1]  # shares its steps with the pipeline, which is fitted thereby
        X, X_valid = before.fit_transform(X, Y), before.transform(X_valid)
    fit_with_holdout(estimator[-1], X, Y, X_valid, Y_valid, sample_weight)
    return estimator


def label_probabilities(estimator, X, n_labels):
    """Probabilities of shape (n_samples, n_labels) from any of scikit-learn's conventions.

    Without ``predict_proba`` the values of ``decision_function`` go through the logistic function.
    """
    method = choose_response_method(estimator)
    scores = label_scores(estimator, X, n_labels, method)
    return scores if method == "predict_proba" else expit(scores)


def _outcome(protocol, predict, P_test):
    """Test scores by decision and metric, each at the operating point tuned for it; and details."""
    Y, weights = protocol.Y_test, protocol.sample_weight_test
    scores, counts = {}, {}
    for decision in protocol.decisions:
        scores[decision], counts[decision] = {}, {}
        for metric in protocol.metrics:
            predicted = predict(metric, decision).astype(np.int32)
            scores[decision][metric] = label_score(Y, predicted, metric, weights)
            counts[decision][metric] = counts_of(Y, predicted, weights)
    return scores, {
        "counts": counts,
        "average_precision": ranking_of(Y, P_test, weights),
        "curves": curves_of(Y, P_test, protocol.metrics, weights),
    }


def peak_memory():
    """Largest resident memory of this process so far, in MB; NaN where it cannot be known."""
    try:
        # Not ru_maxrss, which on Linux starts at what the parent process had in use.
        with open("/proc/self/status") as status:
            line = next(line for line in status if line.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024
    except (OSError, StopIteration):
        return _peak_memory_elsewhere()


def _peak_memory_elsewhere():
    try:
        import resource
    except ImportError:
        return np.nan
    unit = 1024**2 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
