"""Runs of variants that are paired by their seeds: kept in a CSV file, compared with a baseline.

Helper of the benchmarks.
"""

import csv

import numpy as np
from scipy.stats import ttest_rel, wilcoxon


def read(path):
    """Return the runs of a CSV file, by data set, variant and seed."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {(row["dataset"], row["variant"], int(row["seed"])): row for row in rows}


def run_missing(path, jobs, run):
    """Run the jobs that the file does not have, and append each as it ends; return all runs.

    Parameters
    ----------
    path : Path
        CSV file.
    jobs : iterable of (data set, variant, seed)
        What there should be.
    run : callable
        Does a job; returns its row as a dict, which begins with the three.
    """
    runs = read(path)
    for job in jobs:
        if job in runs:
            continue
        row = runs[job] = run(*job)
        with path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(row), lineterminator="\n")
            if not file.tell():
                writer.writeheader()
            writer.writerow(row)
    return runs


def report(runs, names, seeds, metric, variants, baseline):
    """Print the mean of the baseline and what each variant adds to it; a dash where not all ran.

    p is that of a paired t-test over the seeds of a data set; in the last line that of Wilcoxon's
    signed-rank test over data sets and seeds.
    """
    print(f"\n{metric}: mean of {baseline!r}; gain of each variant (p)\n")
    print(f"| data | {baseline} | " + " | ".join(variants) + " |")
    print("|---" + "|---:" * (len(variants) + 1) + "|")
    gains = {variant: [] for variant in variants}
    for name in names:
        without = scores(runs, name, baseline, seeds, metric)
        if without is None:
            continue
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
