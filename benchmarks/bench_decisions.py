"""Speed of decisions: exact cuts against a grid, and rules on many rows.

    python benchmarks/bench_decisions.py

The exact cuts of four metrics for 12,000 × 208 scores (the validation rows of Bookmarks) are
compared with a grid of 27 values and scikit-learn's metric functions; then each rule decides
100,000 × 200. Prints seconds of CPU time, the ratio, and the memory used beside the input.
"""

import itertools
import time
import tracemalloc
from functools import partial

import numpy as np
from sklearn.metrics import accuracy_score, f1_score

from sklearn_mrmp._decisions.choice import fit_decision_rules
from sklearn_mrmp._decisions.sweep import METRICS
from sklearn_mrmp._decisions.thresholds import tune_thresholds


def make_rows(n_samples, n_labels, seed=0):
    """About two related labels in each row, and noisy probabilities of them."""
    rng = np.random.default_rng(seed)
    sets = np.random.default_rng(0).random((2000, n_labels)) < 2 / n_labels
    Y = sets[np.minimum(rng.geometric(0.002, n_samples), 2000) - 1]
    logits = 6 * Y - 5 + 1.5 * rng.standard_normal(Y.shape, dtype=np.float32)
    return Y, (1 / (1 + np.exp(-logits))).astype(np.float32)


def grid_search(Y, P):
    """Best of 27 cuts for each metric, with scikit-learn's functions."""
    Y, best = Y.astype(int), {}
    for cut in np.arange(1, 28) / 28:
        Y_hat = (cut <= P).astype(int)
        for metric in METRICS:
            if metric == "accuracy":
                value = accuracy_score(Y, Y_hat)
            else:
                value = f1_score(Y, Y_hat, average=metric[3:], zero_division=0)
            best[metric] = max(best.get(metric, 0), value)
    return best


def seconds(function, *args):
    """Return the result and the duration of a call."""
    start = time.process_time()
    result = function(*args)
    return result, time.process_time() - start


def bench_thresholds():
    """Exact cuts against the grid."""
    Y, P = make_rows(12_000, 208)
    exact, exact_time = seconds(tune_thresholds, Y, P)
    grid, grid_time = seconds(grid_search, Y, P)
    tracemalloc.start()
    tune_thresholds(Y, P)
    memory = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    print("four metrics, 12,000 × 208 scores")
    print(f"  all {P.size:,} cuts   {exact_time:7.2f} s   {memory:.0f} MB beside the input")
    print(f"  grid of 27 cuts     {grid_time:7.2f} s   {grid_time / exact_time:.0f} times slower")
    for metric in METRICS:
        print(f"  {metric:11s} exact {exact.scores[metric]:.4f}   grid {grid[metric]:.4f}")


def bench_rules():
    """All rules on many rows."""
    Y_train, _ = make_rows(20_000, 200, seed=1)
    Y_valid, P_valid = make_rows(5_000, 200, seed=2)
    _, P = make_rows(100_000, 200, seed=3)
    print(f"rules, fitted on {len(P_valid):,} rows, deciding {len(P):,} × {P.shape[1]}")
    for decision, metric in itertools.product(("optimal", "label_sets"), METRICS):
        fit = partial(fit_decision_rules, Y_train=Y_train, decision=decision, metrics=metric)
        fitted, fit_time = seconds(fit, Y_valid, P_valid)
        rule = fitted[metric]
        _, decide_time = seconds(rule.decide, P)
        name = f"{decision:10s} {metric:10s} {type(rule).__name__:20s}"
        print(f"  {name} fit {fit_time:5.2f} s   decide {decide_time:5.2f} s", flush=True)


if __name__ == "__main__":
    bench_thresholds()
    bench_rules()
