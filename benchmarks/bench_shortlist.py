"""Shortlisted decoding against decoding every label: rows per second, quality, as ratios.

On generated rows of Delicious' shape (983 labels, power law), or on the real ones: the same fit
with `label_shortlist=None` and with a shortlist, interleaved; training and prediction rows per
second, and micro-averaged F1 and average precision on rows that were not trained on. Real rows are
split from the training file; test rows are not touched. Many rows at once leave less padding, so
`--timed-rows` predicts other rows for the time, as many as a test set has, say.

    python benchmarks/bench_shortlist.py
    python benchmarks/bench_shortlist.py --data-home DIR --epochs 8 --repeats 1 --timed-rows 3185
"""

import argparse
import time
from pathlib import Path

import numpy as np
from scale_labels import power_law_problem
from sklearn.metrics import average_precision_score, f1_score

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._numerics.sparse import as_csr
from sklearn_mrmp.datasets import load_mulan

_DELICIOUS = {"n_labels": 983, "n_features": 500}
_GENERATED_ROWS = 1_200
# Predictions of the same rows by both in turns; the median counts.
_PREDICTIONS = 11


def measure(data, shortlists, epochs, seed):
    """Fit with each shortlist, predict in turns; return rows per second and quality of each."""
    X, Y, X_new, Y_new, X_timed = data
    fitted = [
        MrMPClassifier(label_shortlist=size, max_epochs=epochs, random_state=seed).fit(X, Y)
        for size in shortlists
    ]
    seconds = np.array([_prediction_times(fitted, X_timed) for _ in range(_PREDICTIONS)])
    return [
        {
            "train rows/s": 0.9 * X.shape[0] / np.median([epoch["dur"] for epoch in clf.history_]),
            "predict rows/s": X_timed.shape[0] / np.median(times),
            "miF1": f1_score(Y_new.toarray(), clf.predict(X_new), average="micro"),
            "micro AP": average_precision_score(
                Y_new.toarray().ravel(), clf.predict_proba(X_new).ravel()
            ),
        }
        for clf, times in zip(fitted, seconds.T, strict=True)
    ]


def _prediction_times(classifiers, X):
    """Seconds that each classifier takes for the rows, one after the other."""
    times = []
    for clf in classifiers:
        start = time.perf_counter()
        clf.predict_proba(X)
        times.append(time.perf_counter() - start)
    return times


def load(data_home, n_rows=None, n_timed=None):
    """Rows to train on, rows to score, the first `n_rows` of a random order; and rows to time."""
    if data_home is None:
        X, Y = power_law_problem(**_DELICIOUS, n_samples=_GENERATED_ROWS + (n_timed or 0))
        n_rows = n_rows or _GENERATED_ROWS
    else:
        data = load_mulan(data_home / "mulan" / "delicious", subset="train")
        X, Y = as_csr(data.data), as_csr(data.target)
    n_rows, n_timed = n_rows or X.shape[0] - (n_timed or 0), n_timed or 0
    if n_rows + n_timed > X.shape[0]:
        raise SystemExit(f"--rows and --timed-rows want more than the {X.shape[0]} rows there are.")
    order = np.random.default_rng(0).permutation(X.shape[0])
    used, cut = order[:n_rows], n_rows // 5
    timed = order[n_rows : n_rows + n_timed] if n_timed else used[:cut]
    return X[used[cut:]], Y[used[cut:]], X[used[:cut]], Y[used[:cut]], X[timed]


def main():
    """Print both settings and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path)
    parser.add_argument("--shortlist", type=int, default=None, help="candidates (auto)")
    parser.add_argument("--rows", type=int, default=None, help="use so many rows (all)")
    parser.add_argument("--timed-rows", type=int, help="other rows to predict for the time")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=2)
    args = parser.parse_args()
    data = load(args.data_home, args.rows, args.timed_rows)
    every, some = [], []
    for seed in range(args.repeats):
        runs = measure(data, (None, args.shortlist or "auto"), args.epochs, seed)
        every.append(runs[0])
        some.append(runs[1])
    for name in every[0]:
        a, b = (np.array([run[name] for run in runs]) for runs in (every, some))
        is_speed = name.endswith("rows/s")
        change = b / a if is_speed else b - a
        spread = f"({change.min():.3g} to {change.max():.3g})"
        label = "ratio" if is_speed else "difference"
        print(f"{name}: every label {np.median(a):.4g}, shortlist {np.median(b):.4g}, ", end="")
        print(f"{label} {np.median(change):.3g} {spread}", flush=True)


if __name__ == "__main__":
    main()
