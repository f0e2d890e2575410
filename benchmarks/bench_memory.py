"""Peak memory of prediction, beside its input and output, at ten thousand and a million rows.

Each measurement is a process of its own. What counts is how far the high-water mark of resident
memory (``VmHWM``) rises during the call, less the size of what it returns: bounded memory means
that this rest does not grow with the rows. Linux only.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp.datasets import make_related_labels

METHODS = ("MrMPClassifier", "MLKNNClassifier", "MLARAMClassifier")
N_LABELS, N_FEATURES, WORDS = 20, 100, 5


def status(name):
    """Return a memory figure of this process in bytes."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(rf"{name}:\s+(\d+) kB", text)[1]) * 1024


def reset_peak():
    """Let the high-water mark start from what is resident now."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return status("VmRSS")


def fitted(method):
    """Fit a small classifier on sparse rows and sparse labels."""
    import sklearn_mrmp

    X, Y, _ = make_related_labels(300, N_LABELS, n_features=N_FEATURES, random_state=0)
    options = {
        "MrMPClassifier": {
            "d_model": 8,
            "n_heads": 1,
            "max_epochs": 1,
            "n_encoder_layers": 0,
            "n_decoder_layers": 1,
            "random_state": 0,
        },
        "MLARAMClassifier": {"vigilance": 0.0},
    }
    classifier = getattr(sklearn_mrmp, method)(**options.get(method, {}))
    return classifier.fit(X, sp.csr_array(Y, dtype=np.int8))


def rows(n_rows):
    """Draw sparse rows of a few words each, without a dense matrix in between."""
    rng = np.random.default_rng(1)
    columns = rng.integers(0, N_FEATURES, n_rows * WORDS, dtype=np.int32)
    starts = np.arange(0, n_rows * WORDS + 1, WORDS, dtype=np.int32)
    values = np.ones(n_rows * WORDS)
    X = sp.csr_array((values, columns, starts), shape=(n_rows, N_FEATURES))
    X.sum_duplicates()
    return X


def size(answer):
    """Bytes of what a call returned."""
    if sp.issparse(answer):
        return answer.data.nbytes + answer.indices.nbytes + answer.indptr.nbytes
    return answer.nbytes


def measure(method, call, n_rows):
    """Print growth and output of one call, in bytes."""
    classifier, X = fitted(method), rows(n_rows)
    getattr(classifier, call)(X[:1000])  # what is allocated once and for all
    before = reset_peak()
    answer = getattr(classifier, call)(X)
    print(json.dumps([status("VmHWM") - before, size(answer)]))


def main():
    """Measure every classifier and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 200_000])
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(*arguments.measure[:2], int(arguments.measure[2]))
        return
    print("| classifier | call | rows | output MB | growth MB | growth − output MB |")
    print("|---|---|---:|---:|---:|---:|")
    for method in arguments.methods:
        for call in ("predict_proba", "predict"):
            for n_rows in arguments.rows:
                command = [sys.executable, __file__, "--measure", method, call, str(n_rows)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                growth, output = (value / 1e6 for value in json.loads(done.stdout))
                print(
                    f"| {method} | {call} | {n_rows} | {output:.0f} | {growth:.0f} | "
                    f"{growth - output:.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
