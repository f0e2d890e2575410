"""Does the label graph help? Networks with and without it, on several data sets, paired by seed.

Each variant of the graph is trained from the same seeds as the network without one, on Mulan's
training rows, and scored on its test rows by average precision, micro- and macro-averaged, which
no threshold can blur. The other voters and label sets are left out, so that the network is alone.
Runs are appended to a CSV file, and those already there are not repeated.

    python benchmarks/graph_ablation.py --data-home DIR --out ablation.csv
"""

import argparse
import csv
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import ttest_rel, wilcoxon
from sklearn.metrics import average_precision_score

from sklearn_mrmp import MrMPClassifier, label_graph
from sklearn_mrmp.datasets import load_mulan

_DATA = "emotions,scene,birds,medical,yeast"
_FIELDS = ("dataset", "variant", "seed", "micro_ap", "macro_ap", "epochs")


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


def read(path):
    """Return the runs of a CSV file, by data set, variant and seed."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {(row["dataset"], row["variant"], int(row["seed"])): row for row in rows}


def report(runs, names, seeds, metric):
    """Mean of each variant, its gain over no graph, and paired tests; a dash where not all ran."""
    print(f"\n{metric}: mean without a graph; gain of each variant (p of a paired t-test)\n")
    variants = [name for name in VARIANTS if name != "none"]
    print("| data | none | " + " | ".join(variants) + " |")
    print("|---" + "|---:" * (len(variants) + 1) + "|")
    gains = {variant: [] for variant in variants}
    for name in names:
        without = scores(runs, name, "none", seeds, metric)
        cells = [f"{without.mean():.3f}"]
        for variant in variants:
            found = scores(runs, name, variant, seeds, metric)
            if found is None:
                cells.append("–")
                continue
            gains[variant] += list(found - without)
            p = ttest_rel(found, without).pvalue
            cells.append(f"{(found - without).mean():+.3f} ({p:.2f})")
        print(f"| {name} | " + " | ".join(cells) + " |")
    cells = [f"{np.mean(g):+.3f} ({wilcoxon(g).pvalue:.2f})" if g else "–" for g in gains.values()]
    print("| all (Wilcoxon) | | " + " | ".join(cells) + " |", flush=True)


def scores(runs, name, variant, seeds, metric):
    """Return a metric of a variant for all seeds, or None when a run is missing."""
    keys = [(name, variant, seed) for seed in seeds]
    if not all(key in runs for key in keys):
        return None
    return np.array([float(runs[key][metric]) for key in keys])


def main():
    """Run what is missing, then report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--datasets", default=_DATA)
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    names, seeds, runs = args.datasets.split(","), range(args.seeds), read(args.out)
    with args.out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, _FIELDS)
        if not runs:
            writer.writeheader()
        for name in names:
            folder = args.data_home / "mulan" / name
            data = load_mulan(folder, subset="train"), load_mulan(folder, subset="test")
            for seed in seeds:
                for variant in args.variants.split(","):
                    if (name, variant, seed) not in runs:
                        runs[name, variant, seed] = run(data, name, variant, seed)
                        writer.writerow(runs[name, variant, seed])
                        file.flush()
    for metric in ("micro_ap", "macro_ap"):
        report(runs, names, seeds, metric)


if __name__ == "__main__":
    main()
