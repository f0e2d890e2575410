"""Labels hidden at random: what it costs to know less, and to take the unknown for absent.

Of the training rows of a data set four fifths are fitted on and the rest is scored, with all its
labels. The share ``--hidden`` of the training entries is hidden at random. "All known" is fitted on
all entries, "unknown" on a matrix with NaN in the place of hidden ones, "as 0" on one with 0 there.
Scores are means over seeds, each with its own split.

    python benchmarks/missing_labels.py --data-home DIR [--dataset NAME] [--network] [--seeds 3]

`DIR` holds Mulan's folders in ``mulan``, and RCV1 in ``npz``. ``--max-rows`` takes a random part of
the training rows. Without ``--network`` the linear and the neighbour voter vote alone.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from bench_linear import load
from sklearn.metrics import average_precision_score

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._decisions.sweep import METRICS

DATASETS = ("emotions", "yeast", "medical", "bibtex", "rcv1_union")


def split(X, Y, seed):
    """Rows to fit on and rows to score, with labels as float arrays."""
    order = np.random.default_rng(seed).permutation(X.shape[0])
    n_fit = 4 * len(order) // 5
    train, test = order[:n_fit], order[n_fit:]
    return X[train], Y[train], X[test], Y[test]


def targets(Y, hidden, seed):
    """Return what each contestant is given."""
    is_hidden = np.random.default_rng(seed + 1000).random(Y.shape) < hidden
    is_hidden[0] = False  # something is known of every label
    return {
        "all known": Y,
        "unknown": np.where(is_hidden, np.nan, Y),
        "as 0": np.where(is_hidden, 0.0, Y),
    }


def scores(clf, X, Y):
    """Average precision over all entries, then the metrics, each decided for."""
    found = [average_precision_score(Y.ravel(), clf.predict_proba(X).ravel())]
    return found + [clf.set_params(metric=metric).score(X, Y) for metric in METRICS]


def run(name, home, seeds, hidden, max_rows, options):
    """Print a row for each contestant."""
    X, Y = load(home, name)
    X, Y = X[:max_rows], Y[:max_rows].toarray().astype(float)
    found, start = {}, time.process_time()
    for seed in range(seeds):
        X_train, Y_train, X_test, Y_test = split(X, Y, seed)
        for contestant, target in targets(Y_train, hidden, seed).items():
            clf = MrMPClassifier(random_state=seed, n_threads=1, **options).fit(X_train, target)
            found.setdefault(contestant, []).append(scores(clf, X_test, Y_test))
    for contestant, values in found.items():
        numbers = " | ".join(f"{value:.3f}" for value in np.mean(values, axis=0))
        print(f"| {name} | {contestant} | {numbers} |", flush=True)
    print(f"<!-- {name}: {time.process_time() - start:.0f} processor seconds -->", flush=True)


def main(arguments=None):
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-home", type=Path, required=True, help="folder with the data sets")
    parser.add_argument("--dataset", action="append", choices=DATASETS, help="several, or all")
    parser.add_argument("--network", action="store_true", help="all voters instead of two")
    parser.add_argument("--hidden", type=float, default=0.3, help="share of hidden entries")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--max-rows", type=int, default=None)
    options = parser.parse_args(arguments)
    voters = {} if options.network else {"voters": ("linear", "neighbors")}
    print("| data set | hidden entries | AP |", " | ".join(METRICS), "|")
    print("|" + "---|" * 7)
    for name in options.dataset or DATASETS:
        run(name, options.data_home, options.seeds, options.hidden, options.max_rows, voters)


if __name__ == "__main__":
    main()
