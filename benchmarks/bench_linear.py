"""The linear voter against scikit-learn's one-vs-rest regressions: seconds and held-out log loss.

Training rows are split 90/10. The voter searches its penalty, fits and is fitted anew on all rows;
LIBLINEAR and stochastic gradient descent then fit once, at the penalty the voter has chosen and on
the same features. Ratios are seconds of the others, divided by those of the voter. `--growth`
gives the voter an eighth, a quarter, half and all of the rows.

    python benchmarks/bench_linear.py --data-home DIR --dataset bibtex
    python benchmarks/bench_linear.py --data-home DIR --dataset rcv1_union --growth
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier

from sklearn_mrmp._input.features import FeatureInput
from sklearn_mrmp._input.rows import EncodedRows
from sklearn_mrmp._numerics.sparse import as_csr
from sklearn_mrmp._voters.linear import LinearVoter
from sklearn_mrmp._voters.logistic import log_loss
from sklearn_mrmp.datasets import load_mulan

_SHARES = (8, 4, 2, 1)


def load(data_home, dataset):
    """Training rows in a random order: a Mulan folder, or matrices of scipy in ``npz``."""
    if (data_home / "mulan" / dataset).exists():
        data = load_mulan(data_home / "mulan" / dataset, subset="train")
        X, Y = as_csr(data.data), as_csr(data.target)
    else:
        files = (data_home / "npz" / f"{dataset}_train_{part}.npz" for part in "XY")
        X, Y = (as_csr(sp.load_npz(file)) for file in files)
    order = np.random.default_rng(0).permutation(X.shape[0])
    return X[order], Y[order]


def voter_seconds(X, Y):
    """Fit on nine tenths and anew on all; return seconds of both, the voter and both parts."""
    rows, cut = EncodedRows.of(FeatureInput(), X).fit_encoder(), X.shape[0] // 10
    train, valid = rows.take(slice(cut, None)), rows.take(slice(cut))
    for part in (rows, train, valid):
        part.presented(rows.features)
    start = time.perf_counter()
    voter = LinearVoter().fit(train, Y[cut:], valid, Y[:cut])
    middle = time.perf_counter()
    voter.refit(rows, Y, seen=True)
    seconds = middle - start, time.perf_counter() - middle
    return seconds, voter, (train, Y[cut:]), (valid, Y[:cut])


def others(voter, n_samples):
    """Regressions per label at the voter's penalty."""
    strength = voter.strength_
    return {
        "LIBLINEAR": LogisticRegression(C=strength, solver="liblinear"),
        "SGD": SGDClassifier(
            loss="log_loss", alpha=1 / (strength * n_samples), random_state=0, max_iter=5, tol=None
        ),
    }


def other_seconds(classifier, voter, train, valid):
    """Fit one regression per label; return seconds and held-out loss."""
    X, X_valid = (part[0].presented(voter.features_) for part in (train, valid))
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels that no training row has
        fitted = OneVsRestClassifier(classifier).fit(sp.csr_matrix(X), sp.csr_matrix(train[1]))
    seconds = time.perf_counter() - start
    P = np.clip(fitted.predict_proba(sp.csr_matrix(X_valid)), 1e-7, 1 - 1e-7)
    return seconds, log_loss(np.log(P / (1 - P)), valid[1])


def main():
    """Print seconds, losses and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--dataset", default="bibtex")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--growth", action="store_true")
    args = parser.parse_args()
    X, Y = load(args.data_home, args.dataset)
    if args.growth:
        for share in _SHARES:
            n = X.shape[0] // share
            both = min((voter_seconds(X[:n], Y[:n])[0] for _ in range(args.repeats)), key=sum)
            print(f"{n} rows: fit {both[0]:.2f} s, refit {both[1]:.2f} s", flush=True)
        return
    runs = [voter_seconds(X, Y) for _ in range(args.repeats)]
    seconds, voter, train, valid = min(runs, key=lambda run: sum(run[0]))
    loss = log_loss(voter.logits(valid[0]), valid[1])
    print(f"voter, C={voter.strength_}: fit {seconds[0]:.2f} s, refit {seconds[1]:.2f} s, ", end="")
    print(f"held-out loss {loss:.1f}", flush=True)
    for name, classifier in others(voter, len(train[0])).items():
        its, its_loss = other_seconds(classifier, voter, train, valid)
        ratio = its / sum(seconds)
        print(f"{name}: one fit {its:.2f} s, loss {its_loss:.1f}, ratio {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
