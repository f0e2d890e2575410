"""Stratified folds against PyPI's `iterative-stratification`: balance and processor seconds.

Five shuffled folds of the training rows, for each of `--repeats` seeds, the contestants in turn.
The criteria are those of Sechidis et al. (2011) and of Szymański and Kajdanowicz (2017), all best
when small: LD and LPD are the mean difference between the odds of a label, or of a pair of labels
that occurs, in a fold and in all rows; ED is the mean difference between the rows of a fold and the
desired number. Ratios are those of the other package, divided by those of the line; it is left out
where it is not installed. The generated labels are split once.

    python benchmarks/bench_splits.py --data-home DIR
"""

import argparse
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from bench_linear import load
from sklearn.model_selection import KFold

from sklearn_mrmp import MultilabelStratifiedKFold
from sklearn_mrmp._splits.strata import pairs_of_labels

DATASETS = ("yeast", "medical", "bibtex", "delicious", "rcv1_union", "generated")
N_FOLDS = 5


def generated(n_samples, n_labels=1000, seed=0):
    """Return about three labels a row, with frequencies that fall by a power law."""
    rng = np.random.default_rng(seed)
    odds = 1 / np.arange(1, n_labels + 1) ** 0.8
    lengths = rng.poisson(3, n_samples)
    rows = np.repeat(np.arange(n_samples), lengths)
    columns = rng.choice(n_labels, size=len(rows), p=odds / odds.sum())
    Y = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n_samples, n_labels))
    Y.data[:] = 1
    return Y.astype(np.int64)


def contestants(seed):
    """Return the splitters by name, and whether they take sparse labels."""
    options = {"shuffle": True, "random_state": seed}
    found = {
        "random": (KFold(N_FOLDS, **options), True),
        "order=1": (MultilabelStratifiedKFold(N_FOLDS, **options), True),
        "order=2": (MultilabelStratifiedKFold(N_FOLDS, order=2, **options), True),
    }
    if find_spec("iterstrat"):
        from iterstrat.ml_stratifiers import MultilabelStratifiedKFold as Other

        found["iterative-stratification"] = (Other(N_FOLDS, **options), False)
    return found


def odds_difference(features, fold):
    """Mean difference between the odds of a column in a fold and in all rows."""
    counts = np.array([features[fold == number].sum(axis=0) for number in range(N_FOLDS)])
    sizes = np.bincount(fold, minlength=N_FOLDS)[:, np.newaxis]
    total, n_samples = counts.sum(axis=0), len(fold)
    known = (total > 0) & (counts < sizes).all(axis=0)
    odds = counts[:, known] / (sizes - counts[:, known])
    return np.abs(odds - total[known] / (n_samples - total[known])).mean()


def measured(splitter, Y, labels, pairs):
    """Split once; return seconds, LD, LPD and ED."""
    n_samples = labels.shape[0]
    fold = np.empty(n_samples, dtype=int)
    start = time.process_time()
    for number, (_, test) in enumerate(splitter.split(np.empty(n_samples), Y)):
        fold[test] = number
    seconds = time.process_time() - start
    sizes = np.abs(np.bincount(fold, minlength=N_FOLDS) - n_samples / N_FOLDS)
    return seconds, odds_difference(labels, fold), odds_difference(pairs, fold), sizes.mean()


def compare(name, Y, n_repeats):
    """Print a line of the table for each contestant."""
    pairs, dense, found = pairs_of_labels(Y), Y.toarray().astype(np.int8), {}
    for seed in range(n_repeats):
        for contestant, (splitter, sparse) in contestants(seed).items():
            figures = measured(splitter, Y if sparse else dense, Y, pairs)
            found.setdefault(contestant, []).append(figures)
    means = {contestant: np.mean(figures, axis=0) for contestant, figures in found.items()}
    other = means.get("iterative-stratification", np.full(4, np.nan))
    for contestant, (seconds, ld, lpd, ed) in means.items():
        ratios = " | ".join(f"{ratio:.2f}" for ratio in other[:3] / (seconds, ld, lpd))
        print(
            f"| {name}, {Y.shape[0]} × {Y.shape[1]} | {contestant} | {1e4 * ld:.3f} | "
            f"{1e4 * lpd:.3f} | {ed:.1f} | {seconds:.3f} | {ratios} |",
            flush=True,
        )


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--generated-rows", type=int, default=100_000)
    args = parser.parse_args()
    print("| data | folds | LD · 10⁴ | LPD · 10⁴ | ED | s | ratio s | ratio LD | ratio LPD |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for name in args.datasets.split(","):
        if name == "generated":
            compare(name, generated(args.generated_rows), 1)
        else:
            compare(name, load(args.data_home, name)[1].astype(np.int64), args.repeats)


if __name__ == "__main__":
    main()
