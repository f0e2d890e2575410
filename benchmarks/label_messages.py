"""Do messages between labels help? MrMP's relation module beside LaMP's label attention.

Six networks that are equal in everything else are trained from the same seeds: MrMP with the label
graph of chi-squared tests and without relations, and LaMP whose labels hear themselves alone
("edgeless"), all others ("full"), those they occur with ("prior"), or their neighbours in MrMP's
graph ("chi2"). Width, depth, heads, epochs, steps, rate, schedule, dropout and the held-out tenth
are the same; nobody votes beside the network, and label sets are off.

    python benchmarks/label_messages.py --data-home DIR --out messages.csv

Medical and Emotions are Mulan's parts. Of Bibtex and Reuters (tf-idf words) each seed draws
training rows of its own, the same for all six, and all test rows are scored. Runs are appended to
the file, and those already there are not repeated.
"""

import argparse
import time
from functools import cache
from pathlib import Path

import numpy as np
from _data import parts
from _paired import report, run_missing
from paper_protocol import score
from sklearn.metrics import average_precision_score

from sklearn_mrmp import LaMPClassifier, MrMPClassifier
from sklearn_mrmp._decisions.sweep import METRICS
from sklearn_mrmp._numerics.sparse import as_csr

EQUAL = {
    "d_model": 64,
    "n_heads": 2,
    "d_inner": 128,
    "n_encoder_layers": 0,
    "n_decoder_layers": 1,
    "dropout": 0.1,
    "batch_size": 32,
    "lr_schedule": "onecycle",
    "early_stopping": False,
    "voters": ("network",),
    "label_sets": False,
    "label_shortlist": None,
    "cv": 0.1,
    "n_threads": 1,
}
# Rows that are drawn (None: all), epochs, and the rate that both classifiers have by default for
# such rows.
DATASETS = {
    "medical": (None, {"max_epochs": 30, "lr": 4e-3}),
    "emotions": (None, {"max_epochs": 30, "lr": 3e-3}),
    "bibtex": (600, {"max_epochs": 12, "lr": 4e-3}),
    "reuters": (400, {"max_epochs": 15, "lr": 4e-3}),
}
VARIANTS = {
    "MrMP": (MrMPClassifier, "chi2"),
    "MrMP, no relations": (MrMPClassifier, None),
    "LaMP edgeless": (LaMPClassifier, "edgeless"),
    "LaMP full": (LaMPClassifier, "full"),
    "LaMP prior": (LaMPClassifier, "prior"),
    "LaMP chi2": (LaMPClassifier, "chi2"),
}
# What is compared: the networks of a kind with the one without messages, and MrMP with all others.
_QUESTIONS = (
    ("LaMP edgeless", ("LaMP full", "LaMP prior", "LaMP chi2")),
    ("MrMP", [name for name in VARIANTS if name != "MrMP"]),
)


@cache
def dense_labels(name, home):
    """Rows and dense labels of both parts of a data set."""
    X, Y, X_test, Y_test = parts(name, home)
    return as_csr(X), as_csr(Y).toarray(), as_csr(X_test), as_csr(Y_test).toarray()


def run(home, name, variant, seed):
    """Train one network and score it: average precision, and the metrics at their own rules."""
    X, Y, X_test, Y_test = dense_labels(name, home)
    n_rows, options = DATASETS[name]
    if n_rows is not None:
        drawn = np.random.default_rng(seed).permutation(len(Y))[:n_rows]
        X, Y = X[drawn], Y[drawn]
    kind, relations = VARIANTS[variant]
    clf = kind(relations=relations, random_state=seed, **EQUAL, **options)
    start = time.process_time()
    P = clf.fit(X, Y).predict_proba(X_test)
    seconds = time.process_time() - start
    occurs = Y_test.any(axis=0)
    row = {
        "dataset": name,
        "variant": variant,
        "seed": seed,
        "micro_ap": average_precision_score(Y_test.ravel(), P.ravel()),
        "macro_ap": average_precision_score(Y_test[:, occurs], P[:, occurs]),
    }
    for metric in METRICS:
        predicted = clf._labels_at(P, X_test, metric, "optimal")  # no second prediction
        row[metric] = score(metric, Y_test, predicted)
    numbers = {key: f"{value:.4f}" for key, value in row.items() if isinstance(value, float)}
    return row | numbers | {"seconds": f"{seconds:.1f}"}


def main():
    """Run what is missing, then report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    names, seeds = args.datasets.split(","), range(args.seeds)
    jobs = [(name, variant, seed) for name in names for seed in seeds for variant in VARIANTS]
    runs = run_missing(args.out, jobs, lambda *job: run(args.data_home, *job))
    for metric in ("micro_ap", "macro_ap", *METRICS):
        for baseline, variants in _QUESTIONS:
            report(runs, names, seeds, metric, variants, baseline)


if __name__ == "__main__":
    main()
