"""The linear voter beside an older one, LIBLINEAR, scikit-learn's solvers and gradient descent.

Training rows are split 90/10. The voter searches its penalty, fits, and is fitted anew on all rows.
`--old` does the same with a checkout of commit a4b8870, in alternation. `--others` fits regressions
label by label, once and at the voter's penalty, to tighter and tighter tolerances until the
held-out loss is within 0.1 % of the voter's. They get every k-th label in the order of frequency,
and their seconds are multiplied by k. `--liblinear` is a Python that has LIBLINEAR from PyPI.
`--rows` generates rows of RCV1's shape instead. Seconds are those of the processor.

    export OMP_NUM_THREADS=1
    python benchmarks/bench_linear.py --data-home DIR --dataset bibtex --old DIR --others lbfgs saga
    python benchmarks/bench_linear.py --rows 50000 --others liblinear SGD
"""

import argparse
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from _generated import generate
from _measure import peak_memory
from sklearn.linear_model import LogisticRegression, SGDClassifier

from sklearn_mrmp._input.features import FeatureInput
from sklearn_mrmp._input.rows import EncodedRows
from sklearn_mrmp._numerics.sparse import as_csr
from sklearn_mrmp._voters.linear import LinearVoter
from sklearn_mrmp._voters.logistic import log_loss
from sklearn_mrmp.datasets import load_mulan

_OTHERS = ("liblinear", "lbfgs", "saga", "newton-cholesky", "SGD")
_TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4)
_PASSES = (5, 20, 80)
# Newton's method with whole Hessians is for few features.
_CHOLESKY_FEATURES = 500
_OLD = """
import sys, time
import scipy.sparse as sp
from sklearn_mrmp import _linear_path
class AsIs:
    def fit(self, X): return self
    def transform(self, X): return X
_linear_path.LinearFeatures = AsIs
X, Y, valid, Y_valid, all_X, all_Y = (sp.csr_array(sp.load_npz(f"{sys.argv[1]}/{name}.npz"))
    for name in ("X", "Y", "valid", "Y_valid", "all_X", "all_Y"))
start = time.process_time()
path = _linear_path.LinearPath().fit(X, Y, valid, Y_valid)
middle = time.process_time()
path.refit(all_X, all_Y)
end = time.process_time()
print(middle - start, end - middle, _linear_path.log_loss(path.logits(valid), Y_valid))
"""


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


class Split:
    """The matrices that all contestants get."""

    def __init__(self, X, Y):
        self.rows, cut = EncodedRows.of(FeatureInput(), X).fit_encoder(), X.shape[0] // 10
        self.train, self.held_out = self.rows.take(slice(cut, None)), self.rows.take(slice(cut))
        self.X, self.valid, self.all_X = (
            part.presented(self.rows.features) for part in (self.train, self.held_out, self.rows)
        )
        self.Y, self.Y_valid, self.all_Y = Y[cut:], Y[:cut], Y

    def save(self, folder):
        """Write them for another process."""
        for name in ("X", "Y", "valid", "Y_valid", "all_X", "all_Y"):
            sp.save_npz(f"{folder}/{name}.npz", getattr(self, name), compressed=False)

    def sample(self, n_labels):
        """Return the same with every k-th label, and k."""
        order = np.argsort(self.all_Y.sum(axis=0), kind="stable")
        step = max(1, len(order) // n_labels)
        labels = order[step // 2 :: step]
        part = object.__new__(Split)
        part.__dict__.update(self.__dict__)
        for name in ("Y", "Y_valid", "all_Y"):
            setattr(part, name, getattr(self, name)[:, labels])
        return part, labels, len(order) / len(labels)


def seconds_of(function):
    """Processor seconds, and what the function returns."""
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def run_voter(split):
    """Fit on nine tenths and anew on all; return seconds of both, and the voter."""
    fit, voter = seconds_of(
        lambda: LinearVoter().fit(split.train, split.Y, split.held_out, split.Y_valid)
    )
    refit, _ = seconds_of(lambda: voter.refit(split.rows, split.all_Y, seen=True))
    return fit, refit, voter


def run_child(python, arguments, folder=None):
    """Run another process; return the numbers that it prints."""
    done = subprocess.run(
        [python, *arguments], check=True, capture_output=True, text=True, cwd=folder
    )
    return [float(number) for number in done.stdout.split()]


def others(strength, n_samples, n_features):
    """Regressions by name, each as a list from the loosest to the tightest."""
    found = {
        solver: [
            LogisticRegression(C=strength, solver=solver, tol=tol, max_iter=300, random_state=0)
            for tol in _TOLERANCES
        ]
        for solver in _OTHERS[:-1]
    }
    if n_features > _CHOLESKY_FEATURES:
        del found["newton-cholesky"]
    found[_OTHERS[-1]] = [
        SGDClassifier(
            "log_loss", alpha=1 / (strength * n_samples), max_iter=n, tol=None, random_state=0
        )
        for n in _PASSES
    ]
    return found


def run_other(classifier, split):
    """Fit one regression per label; return seconds and held-out loss."""
    X, valid = sp.csr_matrix(split.X).astype(np.float64), sp.csr_matrix(split.valid)
    if X.nnz > 0.5 * X.shape[0] * X.shape[1]:
        X, valid = X.toarray(), valid.toarray()
    targets = split.Y.toarray().T

    def fit_all():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tolerances that were not reached
            return [classifier.fit(X, y).decision_function(valid) for y in targets]

    seconds, logits = seconds_of(fit_all)
    return seconds, log_loss(np.column_stack(logits), split.Y_valid)


def run_liblinear(python, split, strength, tolerance):
    """Run LIBLINEAR from PyPI in its own environment; return seconds and held-out loss."""
    with tempfile.TemporaryDirectory() as folder:
        split.save(folder)
        script = str(Path(__file__).with_name("_liblinear.py"))
        (seconds,) = run_child(python, [script, folder, str(strength), str(tolerance)])
        return seconds, log_loss(np.load(f"{folder}/logits.npy"), split.Y_valid)


def compare(split, voter, seconds, n_labels, names, liblinear):
    """Print seconds and losses of the others, until each has the voter's held-out loss."""
    part, labels, scale = split.sample(n_labels)
    goal = log_loss(voter.logits(split.held_out)[:, labels], part.Y_valid)
    once, _ = seconds_of(lambda: voter.refit(split.train, split.Y))
    print(f"voter once, from zero: {once:.2f} s; loss of {len(labels)} labels {goal:.1f}")
    runs = {
        name: [lambda c=classifier: run_other(c, part) for classifier in ladder]
        for name, ladder in others(voter.strength_, split.X.shape[0], split.X.shape[1]).items()
        if name in names
    }
    if liblinear:
        runs["LIBLINEAR, PyPI"] = [
            lambda tol=tol: run_liblinear(liblinear, part, voter.strength_, tol)
            for tol in _TOLERANCES
        ]
    for name, ladder in runs.items():
        for position, run in enumerate(ladder):
            its, loss = run()
            its *= scale
            print(
                f"{name}, setting {position}: {its:.2f} s, loss {loss:.1f}, ratio to once "
                f"{its / once:.1f}, to search, fit and refit {its / seconds:.1f}",
                flush=True,
            )
            if loss <= 1.001 * goal:
                break


def main():
    """Print seconds, losses and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path)
    parser.add_argument("--dataset", default="bibtex")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--old", type=Path)
    parser.add_argument("--others", nargs="*", choices=_OTHERS, default=())
    parser.add_argument("--labels", type=int, default=12)
    parser.add_argument("--liblinear")
    args = parser.parse_args()
    split = Split(*(generate(args.rows) if args.rows else load(args.data_home, args.dataset)))
    for _ in range(args.repeats):
        fit, refit, voter = run_voter(split)
        loss = log_loss(voter.logits(split.held_out), split.Y_valid)
        print(f"{args.rows or args.dataset}, C={voter.strength_}: fit {fit:.3f} s, refit ", end="")
        print(f"{refit:.3f} s, loss {loss:.1f}, peak {peak_memory():.2f} GB", flush=True)
        if args.old:
            with tempfile.TemporaryDirectory() as folder:
                split.save(folder)
                old = run_child(sys.executable, ["-c", _OLD, folder], args.old)
            ratio = (old[0] + old[1]) / (fit + refit)
            print(f"old: fit {old[0]:.3f} s, refit {old[1]:.3f} s, loss {old[2]:.1f}, ", end="")
            print(f"ratio {ratio:.2f}", flush=True)
    if args.others or args.liblinear:
        compare(split, voter, fit + refit, args.labels, args.others, args.liblinear)


if __name__ == "__main__":
    main()
