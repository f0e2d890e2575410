"""What makes the paper's vote, U ⊙ V^T, slow to learn: tying, scale or start.

The paper scores label i by its final state times V^T_i, the vector that also asked the questions;
`architecture="default"` gives each label an output vector and a bias of its own. The network of
`MrMPClassifier` is trained with each step between the two, on training rows of a data set, and is
scored on rows held out from them (micro-averaged average precision; test rows are not touched).

    python benchmarks/literal_vote.py --data-home DIR --dataset bibtex
"""

import argparse
import math
from pathlib import Path

import numpy as np
import torch
from sklearn.metrics import average_precision_score

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._network.mrmp import MrMPArchitecture
from sklearn_mrmp._numerics.sparse import as_csr
from sklearn_mrmp.datasets import load_mulan
from sklearn_mrmp.nn import MrMPModule


class TiedVote(MrMPModule):
    """Vote with V^T itself, and a bias."""

    scale = 1.0

    def votes(self, v, decoded, candidates=None):
        """Votes of all decoder layers; there are no shortlists here."""
        return [self.scale * (u * v).sum(dim=-1) for u in decoded]


class ScaledVote(TiedVote):
    """The same over √d."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.scale = 1.0 / math.sqrt(self.label_relations.label_embedding.shape[1])


class CenteredVote(TiedVote):
    """The same, of what the decoder has changed in the label's vector: U − V^T."""

    def votes(self, v, decoded, candidates=None):
        """Votes of all decoder layers; |V^T|², which every row adds, is left out."""
        return [((u - v) * v).sum(dim=-1) for u in decoded]


class SameStart(MrMPModule):
    """An output vector of its own that starts as the label's V^0."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        with torch.no_grad():
            self.output.copy_(self.label_relations.label_embedding)


class NoBias(MrMPModule):
    """An output vector of its own, and no bias."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.bias = None


VARIANTS = {
    "output vector and bias of its own (default)": (MrMPModule, "default"),
    "the same, started at V^0": (SameStart, "default"),
    "the same, without bias": (NoBias, "default"),
    "V^T and bias": (TiedVote, "default"),
    "V^T over √d, and bias": (ScaledVote, "default"),
    "V^T on U − V^T, and bias": (CenteredVote, "default"),
    "V^T, the paper to the letter": (MrMPModule, "paper"),
}


def run(module, architecture, parts, options):
    """Train one network; return its average precision after training."""
    (X, Y), (X_val, Y_val), (X_new, Y_new) = parts
    original, MrMPArchitecture.module = MrMPArchitecture.module, module
    try:
        clf = MrMPClassifier(
            voters=("network",),
            label_sets=False,
            label_shortlist=None,
            architecture=architecture,
            **options,
        ).fit(X, Y, X_val=X_val, y_val=Y_val)
        P = clf.predict_proba(X_new)
    finally:
        MrMPArchitecture.module = original
    return average_precision_score(Y_new.toarray().ravel(), P.ravel())


def main():
    """Print a line per variant."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--dataset", default="bibtex")
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seeds", type=int, default=1)
    args = parser.parse_args()
    data = load_mulan(args.data_home / "mulan" / args.dataset, subset="train")
    X, Y = as_csr(data.data), as_csr(data.target)
    order = np.random.default_rng(0).permutation(X.shape[0])
    cuts = [X.shape[0] // 5, X.shape[0] // 5 + X.shape[0] // 12]
    new, valid, fitted = np.split(order, cuts)
    parts = [(X[rows], Y[rows]) for rows in (fitted, valid, new)]
    print("| labels vote with | average precision |\n|---|---:|")
    for name, (module, architecture) in VARIANTS.items():
        options = {"d_model": args.width, "max_epochs": args.epochs, "lr": args.lr}
        found = [
            run(module, architecture, parts, options | {"random_state": seed})
            for seed in range(args.seeds)
        ]
        print(f"| {name} | {', '.join(f'{score:.3f}' for score in found)} |", flush=True)


if __name__ == "__main__":
    main()
