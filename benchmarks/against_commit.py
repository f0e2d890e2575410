"""The default beside that of an earlier checkout: the same fits in turn, and the ratios.

    git worktree add DIR COMMIT
    python benchmarks/against_commit.py --old DIR --data-home DATA [--dataset NAME] [--seeds 3]
        [--csv FILE]

Each fit of the default classifier is a process of one thread with one of the two trees on its path.
For each data set and seed the old tree goes first and the new one follows. Seconds are those of the
processor, for `fit` alone: a fit of a few rows has loaded all packages before. The test part gives
average precision over all entries and the four metrics, each by the decisions made for it. A CSV
file, if named, gets a line for each fit, and what it holds already is not run again.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from _data import parts

DATASETS = (
    "few",
    "emotions",
    "birds",
    "medical",
    "small",
    "yeast",
    "scene",
    "bibtex",
    "reuters",
    "delicious",
    "rcv1",
)
SCORES = ("AP", "accuracy", "f1_samples", "f1_micro", "f1_macro")
_KEY = ("dataset", "tree", "seed")


def load(name, home):
    """Training rows and labels, test rows and labels.

    "few" are 100 and 400 generated rows. "small" is a bag of Enron's size, which is not at hand:
    1,123 and 579 rows of Bibtex with its 53 most frequent labels.
    """
    if name == "small":
        X, Y, X_test, Y_test = parts("bibtex", home)
        frequent = np.sort(np.argsort(-Y.sum(axis=0), kind="stable")[:53])
        return X[:1123], Y[:1123, frequent], X_test[:579], Y_test[:579, frequent]
    if name != "few":
        return parts(name, home)
    from sklearn_mrmp.datasets import make_related_labels

    X, Y, _ = make_related_labels(500, 5, random_state=0)
    return X[:100], Y[:100], X[100:], Y[100:]


def fit_once(name, home, seed):
    """Fit the classifier of the tree on the path; print seconds and scores as JSON."""
    from sklearn.metrics import average_precision_score

    from sklearn_mrmp import MrMPClassifier

    X, Y, X_test, Y_test = load(name, home)
    MrMPClassifier(max_epochs=1, random_state=0, n_threads=1).fit(X[:60], Y[:60])
    model = MrMPClassifier(random_state=seed, n_threads=1)
    start = time.process_time()
    model.fit(X, Y)
    found = {"seconds": time.process_time() - start}
    truth = Y_test.toarray() if hasattr(Y_test, "toarray") else np.asarray(Y_test)
    found["AP"] = average_precision_score(truth.ravel(), model.predict_proba(X_test).ravel())
    # Early trees have one parameter for the metric and for the cut.
    name = "metric" if "metric" in model.get_params() else "threshold"
    for metric in SCORES[1:]:
        found[metric] = _scored(truth, model.set_params(**{name: metric}).predict(X_test), metric)
    print(json.dumps(found))


def _scored(truth, predicted, metric):
    from sklearn.metrics import accuracy_score, f1_score

    predicted = predicted.toarray() if hasattr(predicted, "toarray") else predicted
    if metric == "accuracy":
        return accuracy_score(truth, predicted)
    return f1_score(truth, predicted, average=metric.removeprefix("f1_"), zero_division=0)


def run(tree, name, home, seed):
    """Fit in a process with a tree on its path."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    path = os.pathsep.join([str(tree), str(Path(__file__).parent)])
    command = [sys.executable, __file__, "--data-home", str(home), "--fit", name, str(seed)]
    done = subprocess.run(
        command,
        env={**os.environ, **threads, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def measured(trees, names, home, n_seeds, path):
    """Run what the file does not hold; return all lines."""
    lines = list(csv.DictReader(path.open())) if path and path.exists() else []
    known = {tuple(line[key] for key in _KEY) for line in lines}
    for name in names:
        for seed in range(n_seeds):
            for tree, folder in trees.items():
                if (name, tree, str(seed)) in known:
                    continue
                key = dict(zip(_KEY, (name, tree, str(seed)), strict=True))
                lines.append(key | run(folder, name, home, seed))
                if path:
                    write(lines, path)
    return lines


def write(lines, path):
    """Write the lines as CSV."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*_KEY, "seconds", *SCORES])
        writer.writeheader()
        writer.writerows(lines)


def table(lines, names):
    """Print means over the seeds, and old seconds divided by new ones."""
    print("| data | tree | " + " | ".join(SCORES) + " | cpu s | times as fast |")
    print("|---|---|" + "---:|" * (len(SCORES) + 2))
    for name in names:
        seconds = {}
        for tree in ("old", "new"):
            chosen = [x for x in lines if x["dataset"] == name and x["tree"] == tree]
            if not chosen:
                continue
            means = {k: np.mean([float(x[k]) for x in chosen]) for k in ("seconds", *SCORES)}
            seconds[tree] = means["seconds"]
            cells = [f"{means[score]:.3f}" for score in SCORES] + [f"{means['seconds']:.1f}"]
            ratio = f"{seconds['old'] / seconds['new']:.1f}" if len(seconds) == 2 else ""
            print(f"| {name} | {tree} | {' | '.join(cells)} | {ratio} |")


def main():
    """Run both trees and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--old", type=Path)
    parser.add_argument("--data-home", required=True, type=Path)
    parser.add_argument("--dataset", choices=DATASETS, action="append")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--fit", nargs=2, metavar=("NAME", "SEED"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    home = arguments.data_home.resolve()
    if arguments.fit:
        fit_once(arguments.fit[0], home, int(arguments.fit[1]))
        return
    if arguments.old is None:
        parser.error("--old names the checkout to compare with.")
    trees = {"old": arguments.old.resolve(), "new": Path(__file__).resolve().parents[1]}
    names = arguments.dataset or DATASETS
    table(measured(trees, names, home, arguments.seeds, arguments.csv), names)


if __name__ == "__main__":
    main()
