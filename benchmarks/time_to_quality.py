"""Seconds of fitting until held-out average precision passes that of a tuned linear model.

On random splits of a data set's training rows (80 % to fit, 20 % to score; test rows are not
touched) a one-vs-rest logistic regression is tuned, then `MrMPClassifier` is fitted and its
micro-averaged average precision is taken after the other voters and after every epoch; the time of
these looks is not counted.

    python benchmarks/time_to_quality.py --data-home DIR --dataset bibtex
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from sklearn.metrics import average_precision_score
from skorch.callbacks import Callback

from sklearn_mrmp import MrMPClassifier, TunedBinaryRelevanceClassifier
from sklearn_mrmp._ensemble.weights import vote_weights
from sklearn_mrmp._input.rows import EncodedRows
from sklearn_mrmp._network.training import TrainedNetwork
from sklearn_mrmp._network.voter import NetworkTrainer, NetworkVoter
from sklearn_mrmp._numerics.sparse import as_csr
from sklearn_mrmp.datasets import load_mulan


def precision(P, Y):
    """Micro-averaged average precision."""
    return average_precision_score(Y.toarray().ravel(), P.ravel())


class Looks(Callback):
    """Score the model after each epoch, off the clock."""

    def __init__(self, X, Y):
        self.X, self.Y = X, Y
        self.off_clock = 0.0
        self.seen = []

    def start(self):
        """Start the clock."""
        self.began = time.perf_counter()

    def look(self, ensemble):
        """Score an ensemble whose votes are weighted on the held-out rows of the fit."""
        now = time.perf_counter()
        rows, valid = (EncodedRows.of(ensemble.encoder, X) for X in (self.X, self.valid[0]))
        if len(ensemble.voters) > 1:
            evidence = ensemble.evidence(valid, self.valid[1])
            weights = vote_weights([(votes.shortlisted(), truth) for votes, truth in evidence])
            ensemble = replace(ensemble, weights=weights)
        self.seen.append(
            (now - self.began - self.off_clock, precision(ensemble.probabilities(rows), self.Y))
        )
        self.off_clock += time.perf_counter() - now

    def on_epoch_end(self, net, **kwargs):
        """Look at the vote of the network as it is now and of the other voters."""
        network = {"network": NetworkVoter([TrainedNetwork(net)])}
        self.look(replace(self.ensemble, voters=network | dict(self.ensemble.voters)))
        net.module_.train()


def watch(looks):
    """Let the looks see the other voters before the first network is trained."""
    original = NetworkTrainer.for_split

    def for_split(self, number, n_splits, ensemble):
        looks.ensemble = ensemble
        if ensemble.voters:
            looks.look(ensemble)
        return original(self, number, n_splits, ensemble)

    NetworkTrainer.for_split = for_split
    return original


def one_split(X, Y, seed, options):
    """Return the reference, the looks, and the times at which they passed it."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(X.shape[0])
    cut, valid_cut = X.shape[0] // 5, X.shape[0] // 5 + X.shape[0] // 12
    scored, valid, fitted = order[:cut], order[cut:valid_cut], order[valid_cut:]
    start = time.perf_counter()
    reference = TunedBinaryRelevanceClassifier(start=0.3, refit=False)
    reference.fit(X[fitted], Y[fitted], X_val=X[valid], y_val=Y[valid])
    tuned = time.perf_counter() - start
    target = precision(reference.predict_proba(X[scored]), Y[scored])
    looks = Looks(X[scored], Y[scored])
    looks.valid = (X[valid], Y[valid])
    original = watch(looks)
    try:
        clf = MrMPClassifier(random_state=seed, callbacks=[looks], **options)
        looks.start()
        clf.fit(X[fitted], Y[fitted], X_val=X[valid], y_val=Y[valid])
        total = time.perf_counter() - looks.began - looks.off_clock
    finally:
        NetworkTrainer.for_split = original
    passed = next((seconds for seconds, ap in looks.seen if ap > target), np.inf)
    return target, tuned, looks.seen, passed, total


def main():
    """Print a line per split and the mean."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--dataset", default="bibtex")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=None, help="stop after so many (the default)")
    parser.add_argument("--network-only", action="store_true")
    args = parser.parse_args()
    data = load_mulan(args.data_home / "mulan" / args.dataset, subset="train")
    X, Y = as_csr(data.data), as_csr(data.target)
    alone = {"voters": ("network",), "label_sets": False}
    options = alone if args.network_only else {}
    if args.epochs is not None:
        options["max_epochs"] = args.epochs
    times = []
    for seed in range(args.splits):
        target, tuned, seen, passed, total = one_split(X, Y, seed, options)
        times.append(passed)
        course = "  ".join(f"{seconds:.0f} s {ap:.3f}" for seconds, ap in seen)
        print(f"split {seed}: tuned regression {target:.3f} ({tuned:.0f} s to tune); {course}")
        print(f"  passed after {passed:.1f} s of {total:.0f} s", flush=True)
    print(f"{args.dataset}, {torch.get_num_threads()} threads: {np.mean(times):.1f} s (mean)")


if __name__ == "__main__":
    main()
