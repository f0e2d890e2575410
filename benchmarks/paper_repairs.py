"""What keeps the paper's network from learning: one change at a time, beginning at the letter.

`MrMPClassifier.paper()` is trained at a small width on training rows of a data set, to the letter
and with single changes of its network, loss, graph and training, then with several together. Rows
held out from the training rows are scored; test rows are not touched. Epoch and cut come from
further held-out rows, and the cut is one for all labels, as the paper has it.

    python benchmarks/paper_repairs.py --data-home DIR --out repairs.csv

Runs are appended to the file, and those already there are not repeated.
"""

import argparse
import math
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import torch
from _data import parts
from _paired import run_missing
from paper_protocol import score
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._network.mrmp import MrMPArchitecture
from sklearn_mrmp._numerics.sparse import as_csr
from sklearn_mrmp.nn import MrMPLoss, MrMPModule
from sklearn_mrmp.nn.compgcn import LabelRelationModule
from sklearn_mrmp.nn.decoder import LabelFeatureDecoder
from sklearn_mrmp.nn.module import log_odds


class ChangedModule(MrMPModule):
    """The paper's network with some `changes`."""

    def __init__(self, embedding, n_labels, relations=None, *, changes=(), **options):
        options["architecture"] = "paper"
        super().__init__(embedding, n_labels, relations, **options)
        self.changes, d_model = changes, options["d_model"]
        if "mean" in changes or "residual" in changes:
            self.label_relations = LabelRelationModule(
                n_labels,
                d_model,
                relations,
                n_layers=options["n_relation_layers"],
                aggregation="mean" if "mean" in changes else "sum",
                residual="residual" in changes,
            )
        if "norm" in changes:
            sizes = (options[name] for name in ("n_heads", "d_inner", "dropout"))
            self.decoder = LabelFeatureDecoder(
                options["n_decoder_layers"], d_model, *sizes, norm=True
            )
        if "bias" in changes:
            self.bias = torch.nn.Parameter(log_odds(options["prior"], n_labels))
        if "output" in changes:
            scale = 1.0 / math.sqrt(d_model)
            self.output = torch.nn.Parameter(scale * torch.randn(n_labels, d_model))
        if "unit labels" in changes:
            torch.nn.init.normal_(self.label_relations.label_embedding)

    def votes(self, v, decoded, candidates=None):
        """Votes of all decoder layers; there are no shortlists here."""
        if "only what was heard" in self.changes:  # |V^T|², which every row adds, is left out
            decoded = [u - v for u in decoded]
        if "over root d" in self.changes:
            v = v / math.sqrt(v.shape[-1])
        return super().votes(v, decoded)


class OppositeLoss(MrMPLoss):
    """Adds +cos for pulling and −cos for pushing labels, as the authors' earlier code does."""

    def __init__(self, relations=None, weight=1.0):
        super().__init__(relations, weight)
        self.weight = -weight


def corrected_graph(Y, alpha=0.05):
    """Label graph of chi-squared tests with Yates' correction."""
    from scipy.stats import chi2

    Y = as_csr(Y).toarray().astype(float)
    n, counts = len(Y), Y.sum(axis=0)
    both = Y.T @ Y
    excess = n * both - np.outer(counts, counts)
    spread = counts * (n - counts)
    shrunk = np.maximum(np.abs(excess) - n / 2, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = n * shrunk**2 / np.outer(spread, spread)
    related = np.nan_to_num(statistic) > chi2.isf(alpha, 1)
    np.fill_diagonal(related, False)
    return {"pulling": related & (excess > 0), "pushing": related & (excess < 0)}


@dataclass(frozen=True)
class Variant:
    """Changes of the network, parameters of the classifier, and the loss."""

    changes: tuple = ()
    options: dict = field(default_factory=dict)
    loss: type = MrMPLoss


WEAK = {"relation_loss": 0.001}
CYCLE = {"lr_schedule": "onecycle", "lr": 3.0}  # the rate is relative to that of the others
# In the order of what is most worth knowing: a run may end early.
VARIANTS = {
    "to the letter": Variant(),
    "relational loss 0.001": Variant(options=WEAK),
    "layer norm in the decoder": Variant(("norm",)),
    "V^0 added to V^T": Variant(("residual",)),
    "mean over neighbours": Variant(("mean",)),
    "bias at label frequencies": Variant(("bias",)),
    "one cycle, rate x 3": Variant(options=CYCLE),
    "0.001; layer norm": Variant(("norm",), WEAK),
    "0.001; V^0": Variant(("residual",), WEAK),
    "0.001; bias": Variant(("bias",), WEAK),
    "0.001; mean": Variant(("mean",), WEAK),
    "0.001; V^0, bias": Variant(("residual", "bias"), WEAK),
    "0.001; V^0, mean": Variant(("residual", "mean"), WEAK),
    "0.001; layer norm, V^0": Variant(("norm", "residual"), WEAK),
    "0.001; one cycle, rate x 3": Variant((), WEAK | CYCLE),
    "no relations": Variant(options={"relations": None}),
    "opposite sign of the relational loss": Variant(loss=OppositeLoss),
    "Yates' correction in the graph": Variant(options={"relations": corrected_graph}),
    "votes over root d": Variant(("over root d",)),
    "label embeddings of unit scale": Variant(("unit labels",)),
    "0.001; layer norm, V^0; one cycle, rate x 3": Variant(("norm", "residual"), WEAK | CYCLE),
    "0.001; layer norm, V^0, bias, output vector": Variant(
        ("norm", "residual", "bias", "output"), WEAK
    ),
    "votes without |V^T|²": Variant(("only what was heard",)),
    "output vector of its own": Variant(("output",)),
    "attention starts with tf-idf": Variant(options={"architecture": "default"}),
    "feature dropout": Variant(options={"feature_dropout": "auto"}),
    "rate x 3": Variant(options={"lr": 3.0}),
    "twice the epochs": Variant(options={"max_epochs": 2}),
}


def divided(X, Y, n_rows, seed):
    """Rows to fit on (72 %), to choose epoch and cut on (8 %), and to score (20 %)."""
    drawn = np.random.default_rng(seed).permutation(len(Y))[:n_rows]
    known, new = train_test_split(drawn, test_size=0.2, random_state=seed)
    fitted, valid = train_test_split(known, test_size=0.1, random_state=seed)
    return [(X[rows], Y[rows]) for rows in (fitted, valid, new)]


def run(args, data, name, variant, seed):
    """Train one network and score it."""
    change = VARIANTS[variant]
    (X, Y), (X_val, Y_val), (X_new, Y_new) = divided(*data, args.rows, seed)
    sizes = {"d_model": args.width, "d_inner": 2 * args.width, "n_threads": 1}
    options = dict(change.options)
    options["lr"] = args.lr * options.get("lr", 1.0)
    options["max_epochs"] = args.epochs * options.get("max_epochs", 1)
    clf = MrMPClassifier.paper(name, **{**sizes, **options, "random_state": seed})
    original = MrMPArchitecture.module, MrMPArchitecture.loss
    MrMPArchitecture.module = changed(change.changes)
    MrMPArchitecture.loss = change.loss
    start = time.process_time()
    try:
        P = clf.fit(X, Y, X_val=X_val, y_val=Y_val).predict_proba(X_new)
    finally:
        MrMPArchitecture.module, MrMPArchitecture.loss = original
    predicted = P >= clf.thresholds_["f1_samples"]
    return {
        "dataset": name,
        "variant": variant,
        "seed": seed,
        "micro_ap": f"{average_precision_score(Y_new.ravel(), P.ravel()):.4f}",
        "f1_samples": f"{score('f1_samples', Y_new, predicted):.4f}",
        "valid_loss": f"{clf.history_[clf.best_epoch_ - 1]['valid_loss']:.4f}",
        "best_epoch": clf.best_epoch_,
        "epochs": clf.n_iter_,
        "seconds": f"{time.process_time() - start:.0f}",
    }


def changed(changes):
    """Return the module class with these changes; a class, since the training asks for one."""
    return type("ChangedModule", (ChangedModule,), {"__init__": _init_with(changes)})


def _init_with(changes):
    def __init__(self, *args, **options):
        ChangedModule.__init__(self, *args, changes=changes, **options)

    return __init__


def main():
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--dataset", default="bibtex")
    parser.add_argument("--variants", help="names, separated by ' | '; all when left out")
    parser.add_argument("--rows", type=int, default=2_400, help="training rows that are drawn")
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=14)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    X, Y, _, _ = parts(args.dataset, args.data_home)
    data = as_csr(X), as_csr(Y).toarray()
    names = args.variants.split(" | ") if args.variants else list(VARIANTS)
    jobs = [(args.dataset, name, seed) for seed in range(args.seeds) for name in names]
    runs = run_missing(args.out, jobs, partial(run, args, data))
    print("| change | AP | ebF1 | cross entropy | best epoch |\n|---|---:|---:|---:|---:|")
    columns = ("micro_ap", "f1_samples", "valid_loss", "best_epoch")
    for name in names:
        found = [[float(runs[job][column]) for column in columns] for job in jobs if job[1] == name]
        ap, f1, loss, epoch = np.mean(found, axis=0)
        print(f"| {name} | {ap:.3f} | {f1:.3f} | {loss:.4f} | {epoch:.0f} |", flush=True)


if __name__ == "__main__":
    main()
