"""How much the reference code's protocol flatters: best test epoch against an honest choice.

The published reference code tunes thresholds on training predictions and reports, for every metric,
the best of all epochs on the test rows. Here the same network (the paper's architecture, at a width
of choice) is scored both ways in one training run: that way, and with epoch and thresholds chosen
on held-out rows.

    python benchmarks/paper_protocol.py --data-home DIR --dataset yeast
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.metrics import accuracy_score, f1_score
from skorch.callbacks import Callback

from sklearn_mrmp import MrMPClassifier, tune_thresholds
from sklearn_mrmp._input.features import FeatureInput
from sklearn_mrmp._numerics.sparse import as_csr
from sklearn_mrmp.datasets import load_mulan

METRICS = ("accuracy", "f1_samples", "f1_micro", "f1_macro")


def score(metric, Y, predicted):
    """One of the four metrics."""
    if metric == "accuracy":
        return accuracy_score(Y, predicted)
    return f1_score(Y, predicted, average=metric.removeprefix("f1_"), zero_division=0)


class TestEpochs(Callback):
    """Score the test rows after every epoch with thresholds from training predictions."""

    def __init__(self, train, test):
        self.train, self.test = train, test
        self.best = dict.fromkeys(METRICS, 0.0)

    def on_epoch_end(self, net, **kwargs):
        """Keep the best epoch of each metric."""
        cuts = tune_thresholds(self.train[1], net.label_probabilities(self.train[0])).thresholds
        P = net.label_probabilities(self.test[0])
        for metric in METRICS:
            value = score(metric, self.test[1], P >= cuts[metric])
            self.best[metric] = max(self.best[metric], value)
        net.module_.train()


def one_seed(train, test, name, seed, options):
    """Scores of the reference code's protocol and of ours, from one training run."""
    X, Y = as_csr(train.data), as_csr(train.target).toarray()
    X_test, Y_test = as_csr(test.data), as_csr(test.target).toarray()
    order = np.random.default_rng(seed).permutation(len(Y))
    valid, fitted = order[: len(Y) // 10], order[len(Y) // 10 :]
    encoder = FeatureInput()
    encoder.fit(encoder.canonical(X[fitted]))
    parts = ((X[fitted], Y[fitted]), (X_test, Y_test))
    epochs = TestEpochs(*((encoder.tokens(encoder.canonical(rows)), Y) for rows, Y in parts))
    clf = MrMPClassifier.paper(name, callbacks=[epochs], random_state=seed, **options)
    clf.fit(X[fitted], Y[fitted], X_val=X[valid], y_val=Y[valid])
    honest = {
        metric: score(metric, Y_test, clf.set_params(metric=metric).predict(X_test))
        for metric in METRICS
    }
    return epochs.best, honest


def main():
    """Print both protocols and their difference."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--dataset", default="yeast")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    folder = args.data_home / "mulan" / args.dataset
    train, test = load_mulan(folder, subset="train"), load_mulan(folder, subset="test")
    options = {"d_model": args.width, "d_inner": 2 * args.width, "max_epochs": args.epochs}
    options |= {"early_stopping": args.epochs}
    results = [one_seed(train, test, args.dataset, seed, options) for seed in range(args.seeds)]
    print(f"{args.dataset}, width {args.width}, {args.epochs} epochs, {args.seeds} seeds (mean)")
    print("| protocol | " + " | ".join(METRICS) + " |\n|---|---:|---:|---:|---:|")
    for place, name in enumerate(("best test epoch, cuts from training rows", "held-out rows")):
        means = [np.mean([result[place][metric] for result in results]) for metric in METRICS]
        print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in means) + " |", flush=True)


if __name__ == "__main__":
    main()
