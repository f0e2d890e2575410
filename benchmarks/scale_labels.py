"""Fit and predict with very many labels; prints seconds and peak memory.

Generated rows: label frequencies follow a power law, each label has a few words of its own, and
rows mix the words of their labels with common ones. With `--growth` the number of labels grows at a
fixed shortlist, to show what a training row and a predicted row cost.

    python benchmarks/scale_labels.py                       # 50,000 rows, 30,000 labels
    python benchmarks/scale_labels.py --growth
"""

import argparse
import resource
import time

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import average_precision_score

from sklearn_mrmp import MrMPClassifier

_LABELS_PER_ROW = 4
_WORDS_PER_LABEL = 8
_WORDS_OF_LABEL_IN_ROW = 5
_COMMON_WORDS = 20
_HELD_OUT = 0.05
# Predictions of the same rows; the median counts.
_PREDICTIONS = 5


def power_law_problem(n_samples, n_labels, n_features, seed=0):
    """Sparse rows and labels with label frequencies that fall like 1 / rank."""
    rng = np.random.default_rng(seed)
    chances = 1.0 / np.arange(1, n_labels + 1)
    labels = rng.choice(n_labels, size=(n_samples, _LABELS_PER_ROW), p=chances / chances.sum())
    words = rng.integers(n_features, size=(n_labels, _WORDS_PER_LABEL))
    picked = rng.integers(_WORDS_PER_LABEL, size=(*labels.shape, _WORDS_OF_LABEL_IN_ROW))
    own = np.take_along_axis(words[labels], picked, axis=2).reshape(n_samples, -1)
    common = (n_features * rng.random((n_samples, _COMMON_WORDS)) ** 3).astype(int)
    return (
        indicators(np.hstack([own, common]), n_features).astype(np.float64),
        indicators(labels, n_labels).astype(np.int32),
    )


def indicators(columns, n_columns):
    """0/1 csr_array with ones at the given columns of each row."""
    n_rows, per_row = columns.shape
    starts = np.arange(0, n_rows * per_row + 1, per_row)
    ones = np.ones(columns.size)
    out = sp.csr_array((ones, columns.ravel(), starts), shape=(n_rows, n_columns))
    out.sum_duplicates()
    out.data[:] = 1
    return out


def peak_gigabytes():
    """Return the most memory this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def run(n_samples, n_labels, n_features, n_test, shortlist, epochs):
    """Fit, predict, and return what it took."""
    X, Y = power_law_problem(n_samples + n_test, n_labels, n_features)
    clf = MrMPClassifier(
        max_epochs=epochs,
        label_shortlist=shortlist,
        cv=_HELD_OUT,
        random_state=0,
    )
    start = time.perf_counter()
    clf.fit(X[:n_samples], Y[:n_samples])
    fitted = time.perf_counter() - start
    epoch = np.mean([row["dur"] for row in clf.history_])
    seconds = []
    for _ in range(_PREDICTIONS):
        start = time.perf_counter()
        predicted = clf.predict(X[n_samples:])
        seconds.append(time.perf_counter() - start)
    first = slice(n_samples, n_samples + min(n_test, 200))
    P = clf.predict_proba(X[first])
    precision = average_precision_score(Y[first].toarray().ravel(), P.ravel())
    return {
        "fit_s": fitted,
        "train_rows_s": (1 - _HELD_OUT) * n_samples / epoch,
        "predict_rows_s": n_test / np.median(seconds),
        "labels_per_row": predicted.sum() / n_test,
        "micro_ap": precision,
        "peak_gb": peak_gigabytes(),
    }


def main():
    """Run as the options say."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--labels", type=int, default=30_000)
    parser.add_argument("--features", type=int, default=20_000)
    parser.add_argument("--test-rows", type=int, default=2_000)
    parser.add_argument("--shortlist", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    sizes = (300, 1_000, 3_000, 10_000, 30_000) if args.growth else (args.labels,)
    n_samples = 5_000 if args.growth else args.rows
    for n_labels in sizes:
        result = run(
            n_samples, n_labels, args.features, args.test_rows, args.shortlist, args.epochs
        )
        print(f"{n_samples} rows, {n_labels} labels, shortlist {args.shortlist}:", end=" ")
        print(", ".join(f"{name} {value:.4g}" for name, value in result.items()), flush=True)


if __name__ == "__main__":
    main()
