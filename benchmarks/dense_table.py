"""Dense rows: quality and seconds of the default, side by side with what it replaced.

Mulan's training and test files of Emotions, Scene, Yeast and Birds, mean of the seeds. "Encoder
layers" is the network as bags of words have it: two encoder and two decoder layers, batches of 32;
for the ratio of seconds, fitted right after the default.
Then 5,000 generated rows of 768 dense columns and 20 labels beside one-vs-rest logistic regression.

    python benchmarks/dense_table.py --data-home DIR [--seeds 3]
"""

import argparse
import time

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._decisions.sweep import METRICS
from sklearn_mrmp.datasets import load_mulan
from sklearn_mrmp.datasets._fetch import data_home_folder

DATASETS = ("emotions", "scene", "yeast", "birds")
LAYERS = {"n_encoder_layers": 2, "n_decoder_layers": 2, "batch_size": 32, "lr": 2e-3}


def methods(seed):
    """Return the classifiers of the table, by name."""
    run = {"random_state": seed, "n_threads": 1}
    return {
        "default": MrMPClassifier(**run),
        "encoder layers": MrMPClassifier(**LAYERS, **run),
        "no network": MrMPClassifier(voters=("linear", "neighbors"), **run),
    }


def measured(model, X, Y, X_test, Y_test):
    """Average precision, the four metrics where there are decisions, and seconds of fitting."""
    start = time.perf_counter()
    model.fit(X, Y)
    seconds = time.perf_counter() - start
    found = [average_precision_score(Y_test.ravel(), model.predict_proba(X_test).ravel())]
    if isinstance(model, MrMPClassifier):
        found += [model.set_params(metric=m).score(X_test, Y_test) for m in METRICS]
    return [*found, seconds]


def row(data, name, numbers):
    """Print one row of a table."""
    cells = [f"{number:.3f}" for number in numbers[:-1]] + [f"{numbers[-1]:.1f}"]
    print(f"| {data} | {name} | {' | '.join(cells)} |", flush=True)


def dense(part):
    """Rows and labels of a part as arrays."""
    return tuple(
        np.asarray(a.toarray() if hasattr(a, "toarray") else a) for a in (part.data, part.target)
    )


def embeddings(rng, n_rows=6_000, width=768, n_labels=20):
    """Rows that a few hidden numbers make, and labels that depend on them."""
    hidden = rng.normal(size=(n_rows, 40))
    X = hidden @ rng.normal(size=(40, width)) + 3 * rng.normal(size=(n_rows, width))
    scores = hidden @ rng.normal(size=(40, n_labels)) + 2 * rng.normal(size=(n_rows, n_labels))
    return X, (scores > np.quantile(scores, 0.85, axis=0)).astype(int)


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", required=True)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    print("| data | method | AP | ACC | ebF1 | miF1 | maF1 | fit [s] |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for data in DATASETS:
        folder = data_home_folder(arguments.data_home) / "mulan" / data
        parts = [dense(load_mulan(folder, data, subset=part)) for part in ("train", "test")]
        found = {name: [] for name in methods(0)}
        for seed in range(arguments.seeds):
            for name, model in methods(seed).items():
                found[name].append(measured(model, *parts[0], *parts[1]))
        for name, numbers in found.items():
            row(data, name, np.mean(numbers, axis=0))
    X, Y = embeddings(np.random.default_rng(0))
    regression = OneVsRestClassifier(LogisticRegression(max_iter=1000))
    pair = {"one-vs-rest regression": make_pipeline(StandardScaler(), regression)}
    pair["default"] = methods(0)["default"]
    print("\n| data | method | AP | … | fit [s] |\n|---|---|---:|---:|---:|")
    for name, model in pair.items():
        row("5,000 x 768 x 20", name, measured(model, X[:5000], Y[:5000], X[5000:], Y[5000:]))


if __name__ == "__main__":
    main()
