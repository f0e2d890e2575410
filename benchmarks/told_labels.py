"""How well the other labels of a row are found when half of its labels are told.

Of each data set's training rows a fifth is left out at random. `MrMPClassifier` with the linear and
the neighbour voter is fitted on the rest, without and with ``known_rate=0.5``. Of the rows left
out each label they have is told with probability 1/2, and average precision is taken over all
entries that were not told, micro and macro: with told labels ignored, with what needs no training,
with ``known_rate``, and by the regression that reads told labels alone. ``--relations`` leaves out
relations of the label graph, without ``known_rate``.

    python benchmarks/told_labels.py --data-home DIR
    python benchmarks/told_labels.py --data-home DIR --relations
"""

import argparse
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from bench_linear import load
from sklearn.metrics import average_precision_score

from sklearn_mrmp import MrMPClassifier, label_graph

DATASETS = ("yeast", "medical", "bibtex", "rcv1_union", "delicious")


def classifier(seed, relations="chi2"):
    """Return a classifier without a network."""
    voters = ("linear", "neighbors")
    return MrMPClassifier(voters=voters, relations=relations, random_state=seed, n_threads=1)


def half_told(Y, rng):
    """Tell half of the labels that rows have, as a sparse matrix of ones."""
    told = sp.csr_array(Y, dtype=np.float64, copy=True)
    told.data[:] = rng.random(told.nnz) < 0.5
    told.eliminate_zeros()
    return told


def precision(Y, P, untold):
    """Average precision over the entries that were not told, micro and macro."""
    by_label = [
        average_precision_score(y[of], p[of])
        for y, p, of in zip(Y.T, P.T, untold.T, strict=True)
        if y[of].any()
    ]
    return average_precision_score(Y[untold], P[untold]), np.mean(by_label)


def regression(clf, X, told):
    """Logits of the regression that reads told labels, alone."""
    rows = clf._encoded(clf._check_rows(X))
    told = sp.csr_array(told, dtype=np.float32)
    return clf._told.linear.logits(rows, told, np.arange(len(rows)))


def ways(X, Y, X_test, told, seed):
    """Yield the names of the arms and their scores of the rows left out."""
    plain = classifier(seed).fit(X, Y)
    yield "ignored", plain.predict_proba(X_test)
    yield "no training", plain.predict_proba(X_test, known=told)
    trained = classifier(seed).fit(X, Y, known_rate=0.5)
    yield "known_rate=0.5", trained.predict_proba(X_test, known=told)
    yield "regression alone", regression(trained, X_test, told)


def relation_ways(X, Y, X_test, told, seed):
    """Yield the same for parts of the label graph."""
    graph = label_graph(Y)
    parts = {name: {name: A} for name, A in graph.relations.items()}
    for name, relations in {"both": graph, "none": None, **parts}.items():
        clf = classifier(seed, relations).fit(X, Y)
        yield f"relations: {name}", clf.predict_proba(X_test, known=told)


def measure(dataset, options):
    """Print the mean over seeds of every arm."""
    X, Y = load(options.data_home, dataset)
    X, Y = X[: options.max_rows], Y[: options.max_rows]
    found = {}
    for seed in map(int, options.seeds.split(",")):
        rng = np.random.default_rng(seed)
        order = rng.permutation(X.shape[0])
        test, train = order[: len(order) // 5], order[len(order) // 5 :]
        told, truth = half_told(Y[test], rng), Y[test].toarray()
        arms = relation_ways if options.relations else ways
        for name, P in arms(X[train], Y[train], X[test], told, seed):
            found.setdefault(name, []).append(precision(truth, P, told.toarray() == 0))
    for name, values in found.items():
        micro, macro = np.mean(values, axis=0)
        each = ", ".join(f"{value[0]:.3f}" for value in values)
        print(
            f"{dataset} {X.shape[0]} rows, {name}: {micro:.3f} / {macro:.3f} ({each})", flush=True
        )


def main():
    """Measure each data set."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--seeds", default="0,1")
    parser.add_argument("--max-rows", type=int, default=5_000)
    parser.add_argument("--relations", action="store_true")
    options = parser.parse_args()
    for dataset in options.datasets.split(","):
        measure(dataset, options)


if __name__ == "__main__":
    main()
