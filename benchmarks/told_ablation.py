"""What each part of the label graph is worth when labels of a row are told: the paper's ablation.

Each seed leaves out a fifth of a random part of the training rows (``--max-rows``), tells each
label that a row left out has with a probability of 0, 1/4, 1/2 and 3/4, and takes average precision
over the entries that were not told. The linear and the neighbour voter are fitted once for each
seed, without ``known_rate``; what the graph says of told labels is then learned and weighed anew
for each arm, with the package's own functions. ``--network`` fits the network alone for each arm
instead, in a short cycle of 8 epochs and with ``known_rate=0.5``, so that it learns to read told
labels along the edges of that arm, whatever that is worth.

    python benchmarks/told_ablation.py --data-home DIR --out docs/results/told_ablation.csv
    python benchmarks/told_ablation.py --data-home DIR --network --max-rows 1500 --seeds 3 --out ...
    python benchmarks/told_ablation.py --read docs/results/told_ablation.csv
"""

import argparse
import csv
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp
from bench_linear import load
from scipy.stats import ttest_rel
from sklearn.metrics import average_precision_score

from sklearn_mrmp import LabelGraph, MrMPClassifier, label_graph
from sklearn_mrmp._ensemble import fitting, folds, told_tuning
from sklearn_mrmp._ensemble.told_tuning import told_evidence, tuned
from sklearn_mrmp._graph.lifts import label_lifts, linked

DATASETS = ("yeast", "medical", "bibtex", "rcv1_union", "delicious")
SHARES = (0.0, 0.25, 0.5, 0.75)
NONE, BOTH = "no relations", "both"
# The short cycle that bags of words get by default.
SHORT = {
    "n_encoder_layers": 0,
    "n_decoder_layers": 1,
    "d_inner": 32,
    "lr": 4e-3,
    "max_epochs": 8,
}
FIELDS = ("dataset", "voters", "arm", "seed", "share", "micro_ap", "macro_ap")
FIELDS += ("q1", "q2", "q3", "q4")


def arms(Y):
    """Label graphs by the name of the arm."""
    graph = label_graph(Y)
    parts = {
        f"{name} only": LabelGraph({name: A}, label_names=graph.label_names)
        for name, A in graph.relations.items()
    }
    weighted = label_graph(Y, edge_weight="conditional")
    return {NONE: None, **parts, BOTH: graph, "conditional weights": weighted}


def told_part(Y, share, rng):
    """Tell a share of the labels that rows have, as a sparse matrix of ones."""
    told = sp.csr_array(Y, dtype=np.float64, copy=True)
    told.data[:] = rng.random(told.nnz) < share
    told.eliminate_zeros()
    return told


def quartiles(graph):
    """Labels of four groups, by their number of neighbours in the whole graph."""
    degrees = np.diff(linked(graph).indptr)
    return np.array_split(np.argsort(degrees, kind="stable"), 4)


def precision(Y, P, untold, groups):
    """Average precision over untold entries: micro, macro, and macro for each group of labels."""
    each = np.full(Y.shape[1], np.nan)
    for label in np.flatnonzero((Y * untold).any(axis=0)):
        of = untold[:, label]
        each[label] = average_precision_score(Y[of, label], P[of, label])
    means = [_mean(each), *(_mean(each[group]) for group in groups)]
    return [average_precision_score(Y[untold], P[untold]), *means]


def _mean(values):
    """Mean of what is known, NaN where nothing is: a group of rare labels may not occur."""
    known = values[~np.isnan(values)]
    return known.mean() if len(known) else np.nan


class Voters:
    """The linear and the neighbour voter, fitted once; `with_graph` swaps what told labels say."""

    name = "linear and neighbors"

    def __init__(self, X, Y, seed):
        self.X, self.Y = X, Y
        voters = ("linear", "neighbors")
        self.classifier = MrMPClassifier(voters=voters, random_state=seed, n_threads=1)
        seen = {}

        def evidence(*arguments):
            seen["evidence"] = arguments
            return told_evidence(*arguments)

        def weigh(vote, ensemble, votes, evidence):
            seen["tuned"] = ensemble, votes
            return tuned(vote, ensemble, votes, evidence)

        seeing = patch.object(folds, "told_evidence", evidence)
        with seeing, patch.object(fitting, "tuned", weigh):
            self.classifier.fit(X, Y)
        self.seen = seen

    def with_graph(self, graph):
        """Return the classifier with what the label graph of an arm says of told labels."""
        plan, *rest = self.seen["evidence"]
        lifts = None if graph is None else partial(label_lifts, linked(graph))
        plan = replace(plan, learn_lifts=lifts)
        evidence, vote = told_evidence(plan, *rest)
        told, clf = tuned(vote, *self.seen["tuned"], evidence), self.classifier
        rows = clf._encoded(clf._check_rows(self.X))
        clf._told = plan.on_all_rows(told, clf._ensemble, rows, sp.csr_array(self.Y), None)
        return clf


class Network:
    """The network alone; each arm is a fit of its own."""

    name = "network"

    def __init__(self, X, Y, seed):
        self.X, self.Y, self.seed = X, Y, seed

    def with_graph(self, graph):
        """Fit with the label graph of an arm; without one the network reads no told labels."""
        options = {"voters": ("network",), "random_state": self.seed, "n_threads": 1}
        clf = MrMPClassifier(relations=graph, label_sets=False, **options, **SHORT)
        with patch.object(told_tuning, "_ERRORS", -np.inf):
            return clf.fit(self.X, self.Y, known_rate=None if graph is None else 0.5)


def measure(dataset, options):
    """Yield a row of the table for each seed, arm and share."""
    X, Y = load(options.data_home, dataset)
    contestants = Network if options.network else Voters
    for seed in range(options.seeds):
        rng = np.random.default_rng(seed)
        order = rng.permutation(X.shape[0])[: options.max_rows]
        test, train = order[: len(order) // 5], order[len(order) // 5 :]
        tellings = {share: told_part(Y[test], share, rng) for share in SHARES}
        graphs, truth = arms(Y[train]), Y[test].toarray()
        groups, fitted = quartiles(graphs[BOTH]), contestants(X[train], Y[train], seed)
        for arm, graph in graphs.items():
            clf = fitted.with_graph(graph)
            for share, told in tellings.items():
                P = clf.predict_proba(X[test], known=told)
                found = precision(truth, P, told.toarray() == 0, groups)
                yield [dataset, contestants.name, arm, seed, share, *np.round(found, 5).tolist()]


def show(path):
    """Print means, paired tests against no relations, and gains by degree."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    values = {}
    for row in rows:
        key = row["dataset"], row["voters"], row["arm"], float(row["share"])
        values.setdefault(key, []).append([float(row[name]) for name in FIELDS[5:]])
    for dataset, voters in dict.fromkeys((row["dataset"], row["voters"]) for row in rows):
        for share in SHARES:
            without = np.array(values[dataset, voters, NONE, share])
            for arm in dict.fromkeys(row["arm"] for row in rows):
                found = np.array(values[dataset, voters, arm, share])
                line = f"{dataset}, {voters}, {share:.0%} told, {arm}: {found[:, 0].mean():.3f}"
                line += f" / {found[:, 1].mean():.3f}"
                if arm != NONE and share and len(found) > 1:
                    gain = found - without
                    p = ttest_rel(found[:, 0], without[:, 0]).pvalue
                    by_degree = " ".join(f"{g:+.3f}" for g in np.nanmean(gain[:, 2:], axis=0))
                    line += f"; gain {gain[:, 0].mean():+.4f}, p = {p:.3f}; by degree {by_degree}"
                print(line)


def main():
    """Measure each data set, or print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path)
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--max-rows", type=int, default=3_000)
    parser.add_argument("--network", action="store_true")
    parser.add_argument("--out", type=Path, help="table to write, or to add rows to")
    parser.add_argument("--read", type=Path, help="print the means of a table")
    options = parser.parse_args()
    if options.read is not None:
        show(options.read)
        return
    is_new = not options.out.exists()
    with options.out.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(FIELDS)
        for dataset in options.datasets.split(","):
            for row in measure(dataset, options):
                writer.writerow(row)
                file.flush()


if __name__ == "__main__":
    main()
