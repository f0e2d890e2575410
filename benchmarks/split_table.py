"""Does it pay to draw the rows held out for tuning by label frequency? F1 on rows left out of both.

For each seed a fifth of the training rows is left out at random and scored. On the others
`MrMPClassifier` with the linear and the neighbour voter is fitted twice: with a random and with a
stratified tenth held out (``X_val``), and with random and stratified folds (``cv``). Printed are
the mean scores with random rows and the mean difference, with the standard error of the pairs.

    python benchmarks/split_table.py --data-home DIR --datasets yeast,medical,bibtex,rcv1_union
"""

import argparse
from pathlib import Path

import numpy as np
from bench_linear import load
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold, ShuffleSplit

from sklearn_mrmp import (
    MrMPClassifier,
    MultilabelStratifiedKFold,
    MultilabelStratifiedShuffleSplit,
)

METRICS = ("f1_micro", "f1_macro")


def classifier(seed, **options):
    """Return a classifier without a network."""
    return MrMPClassifier(voters=("linear", "neighbors"), random_state=seed, n_threads=1, **options)


def fitted_with_tenth(splitter, X, Y, seed):
    """Hold a tenth out, once."""
    ((train, valid),) = splitter.split(X, Y)
    train, valid = np.sort(train), np.sort(valid)
    return classifier(seed).fit(X[train], Y[train], X_val=X[valid], y_val=Y[valid])


def scores(clf, X, Y):
    """Micro and macro F1, each with the decisions made for it."""
    found = []
    for metric in METRICS:
        P = clf.set_params(metric=metric).predict(X)
        found.append(f1_score(Y, P, average=metric.removeprefix("f1_"), zero_division=0))
    return found


def arms(X, Y, seed, n_folds):
    """Fit with random and with stratified held-out rows; yield the names and the classifiers."""
    for name, splitter in (
        ("random", ShuffleSplit(1, test_size=0.1, random_state=seed)),
        ("stratified", MultilabelStratifiedShuffleSplit(1, test_size=0.1, random_state=seed)),
    ):
        yield f"tenth {name}", fitted_with_tenth(splitter, X, Y, seed)
    for name, kind in (("random", KFold), ("stratified", MultilabelStratifiedKFold)):
        if n_folds:
            cv = kind(n_folds, shuffle=True, random_state=seed)
            yield f"folds {name}", classifier(seed, cv=cv).fit(X, Y)


def repeated(X, Y, n_seeds, n_folds):
    """Return the scores of each arm, an array of shape (n_seeds, 2)."""
    found = {}
    for seed in range(n_seeds):
        order = np.random.default_rng(seed).permutation(X.shape[0])
        left_out, rest = order[: len(order) // 5], order[len(order) // 5 :]
        for name, clf in arms(X[rest], Y[rest], seed, n_folds):
            found.setdefault(name, []).append(scores(clf, X[left_out], Y[left_out]))
    return {name: np.array(values) for name, values in found.items()}


def report(dataset, way, random, stratified):
    """Print a line for each metric."""
    gain = stratified - random
    error = gain.std(axis=0, ddof=1) / np.sqrt(len(gain))
    for column, metric in enumerate(METRICS):
        print(
            f"{dataset}, {way}, {metric}: random {random.mean(axis=0)[column]:.4f}, "
            f"stratified {gain.mean(axis=0)[column]:+.4f} ± {error[column]:.4f}",
            flush=True,
        )


def main():
    """Print a line for each data set, metric and way to hold rows out."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--datasets", default="yeast,medical,bibtex,rcv1_union")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--folds", type=int, default=5, help="0: the held-out tenth alone")
    parser.add_argument("--max-rows", type=int, default=5000)
    args = parser.parse_args()
    for dataset in args.datasets.split(","):
        X, Y = (part[: args.max_rows] for part in load(args.data_home, dataset))
        found = repeated(X, Y, args.seeds, args.folds)
        for way in ("tenth", "folds") if args.folds else ("tenth",):
            report(dataset, way, found[f"{way} random"], found[f"{way} stratified"])


if __name__ == "__main__":
    main()
