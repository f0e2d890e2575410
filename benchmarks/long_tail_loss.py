"""Losses for long tails beside cross entropy: the network alone, on training rows.

Each seed leaves out a fifth of a random part of the training rows. The network is trained with its
short cycle (8 epochs, one decoder layer) and one of

- cross entropy, the package's loss;
- an asymmetric loss (Ridnik et al. 2021): probabilities of absent labels are lowered by 0.05, and
  their losses weighed with the fourth power of what is left;
- a distribution-balanced loss (Wu et al. 2020): entries of a row are weighed by how rare their
  label is beside the other labels of the row, and logits are shifted and scaled for absent labels.

Printed are average precision, micro and macro, and macro F1 with decisions tuned for it on held-out
rows of the fit.

    python benchmarks/long_tail_loss.py --data-home DIR [--datasets reuters,delicious] [--seeds 3]
"""

import argparse
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch
from bench_linear import load
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import average_precision_score, f1_score
from told_ablation import SHORT
from torch.nn import functional as F

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._numerics.sparse import as_csr
from sklearn_mrmp.datasets import fetch_reuters21578
from sklearn_mrmp.nn import loss as losses


def cross_entropy(frequency):
    """Return the package's loss, which is not told of frequencies."""
    return losses.mean_cross_entropy


def asymmetric(frequency, shift=0.05, power=4):
    """Return an asymmetric loss."""

    def loss(logits, y, weights=None, total=None):
        present = F.logsigmoid(logits)
        lowered = (torch.sigmoid(logits) - shift).clamp(min=0)
        absent = lowered**power * torch.log1p(-lowered.clamp(max=1 - 1e-6))
        return -(y * present + (1 - y) * absent).mean()

    return loss


def balanced(frequency, centre=0.2, slope=10.0, base=0.1, scale=2.0, strength=0.05):
    """Return a distribution-balanced loss."""
    rarity = torch.from_numpy(1.0 / np.maximum(frequency, 1e-6)).to(torch.float32)
    shifts = strength * torch.log(rarity - 1.0 + 1e-6).clamp(-10, 10)

    def loss(logits, y, weights=None, total=None):
        of_row = (y * rarity).sum(dim=1, keepdim=True).clamp(min=1.0)
        weight = base + torch.sigmoid(slope * (rarity / of_row - centre))
        shifted = logits + shifts
        present, absent = F.softplus(-shifted), F.softplus(scale * shifted) / scale
        return (weight * (y * present + (1 - y) * absent)).mean()

    return loss


def rows(home, dataset):
    """Training rows in a random order and their labels."""
    if dataset != "reuters":
        return load(home, dataset)
    data = fetch_reuters21578(home, download_if_missing=False, subset="train")
    X = as_csr(TfidfVectorizer(sublinear_tf=True, min_df=3).fit_transform(data.data))
    Y = as_csr(data.target)
    order = np.random.default_rng(0).permutation(X.shape[0])
    return X[order], Y[order]


def scores(clf, X, Y):
    """Average precision, micro and macro over the labels that occur, and macro F1."""
    P, occurs = clf.predict_proba(X), Y.any(axis=0)
    micro = average_precision_score(Y.ravel(), P.ravel())
    macro = average_precision_score(Y[:, occurs], P[:, occurs], average="macro")
    return micro, macro, f1_score(Y, clf.predict(X), average="macro", zero_division=0)


def measure(dataset, options):
    """Print the mean over seeds of every loss."""
    X, Y = rows(options.data_home, dataset)
    found = {}
    for seed in range(options.seeds):
        order = np.random.default_rng(seed).permutation(X.shape[0])[: options.max_rows]
        test, train = order[: len(order) // 5], order[len(order) // 5 :]
        frequency = np.asarray(Y[train].mean(axis=0)).ravel()
        for make in (cross_entropy, asymmetric, balanced):
            clf = MrMPClassifier(
                voters=("network",), metric="f1_macro", random_state=seed, n_threads=1, **SHORT
            )
            with patch.object(losses, "mean_cross_entropy", make(frequency)):
                clf.fit(X[train], Y[train])
            found.setdefault(make.__name__, []).append(
                scores(clf, X[test], Y[test].toarray().astype(int))
            )
    for name, values in found.items():
        micro, macro, f1 = np.mean(values, axis=0)
        each = ", ".join(f"{value[2]:.3f}" for value in values)
        line = f"{dataset} {len(order)} rows, {name}: AP {micro:.3f} / {macro:.3f}"
        print(line + f", maF1 {f1:.3f} ({each})", flush=True)


def main():
    """Measure each data set."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--datasets", default="reuters,delicious")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--max-rows", type=int, default=3_000)
    options = parser.parse_args()
    for dataset in options.datasets.split(","):
        measure(dataset, options)


if __name__ == "__main__":
    main()
