"""Does the label graph help? Networks with and without it, on several data sets, paired by seed.

Each variant of the graph is trained from the same seeds as the network without one, on Mulan's
training rows, and scored on its test rows by average precision, micro- and macro-averaged, which
no threshold can blur. The other voters and label sets are left out, so that the network is alone.
Runs are appended to a CSV file, and those already there are not repeated.

    python benchmarks/graph_ablation.py --data-home DIR --out ablation.csv
"""

import argparse
from functools import partial
from pathlib import Path

import numpy as np
from _paired import report, run_missing
from sklearn.metrics import average_precision_score

from sklearn_mrmp import MrMPClassifier, label_graph
from sklearn_mrmp.datasets import load_mulan

_DATA = "emotions,scene,birds,medical,yeast"


def pulling_only(Y):
    """Keep the edges of labels that attract each other."""
    return {"pulling": label_graph(Y).relations["pulling"]}


def pushing_only(Y):
    """Keep the edges of labels that avoid each other."""
    return {"pushing": label_graph(Y).relations["pushing"]}


VARIANTS = {
    "none": {"relations": None},
    "both": {},
    "pulling": {"relations": pulling_only},
    "pushing": {"relations": pushing_only},
    "conditional": {"relations": partial(label_graph, edge_weight="conditional")},
    "fdr_bh": {"relations": partial(label_graph, correction="fdr_bh")},
    "no relational loss": {"relation_loss": 0.0},
}


def run(data, name, variant, seed):
    """Train one network and score it."""
    train, test = data
    alone = {"voters": ("network",), "label_sets": False}
    clf = MrMPClassifier(**alone, random_state=seed, **VARIANTS[variant])
    P = clf.fit(train.data, train.target).predict_proba(test.data)
    Y = np.asarray(test.target.todense() if hasattr(test.target, "todense") else test.target)
    occurs = Y.any(axis=0)
    return {
        "dataset": name,
        "variant": variant,
        "seed": seed,
        "micro_ap": average_precision_score(Y.ravel(), P.ravel()),
        "macro_ap": average_precision_score(Y[:, occurs], P[:, occurs]),
        "epochs": clf.n_iter_,
    }


def main():
    """Run what is missing, then report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--datasets", default=_DATA)
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    names, seeds = args.datasets.split(","), range(args.seeds)
    data = {}
    for name in names:
        folder = args.data_home / "mulan" / name
        data[name] = load_mulan(folder, subset="train"), load_mulan(folder, subset="test")
    jobs = [
        (name, variant, seed)
        for name in names
        for seed in seeds
        for variant in args.variants.split(",")
    ]
    runs = run_missing(args.out, jobs, lambda name, *job: run(data[name], name, *job))
    variants = [name for name in VARIANTS if name != "none"]
    for metric in ("micro_ap", "macro_ap"):
        report(runs, names, seeds, metric, variants, "none")


if __name__ == "__main__":
    main()
