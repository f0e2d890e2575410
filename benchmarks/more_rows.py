"""Rows that come later: fit anew, go on from the fitted weights, partial_fit, or do nothing.

    python benchmarks/more_rows.py --data-home DIR [--seeds 0 1 2]

Only training rows of Bibtex are used. 20 % of them, drawn by the seed, are scored; of the others
70 % are the old rows and 30 % the new ones. ``network`` is the short network of a bag of words
without other voters, ``default`` the classifier as it is. Printed are micro-averaged average
precision and micro-averaged F1 of the scored rows with tuned decisions, processor seconds, and the
weights of the voters; in the end means over the seeds. Each way starts from a copy of the
classifier that was fitted on the old rows, with ``warm_start=True`` unless it says otherwise.
"""

import argparse
import copy
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from _data import parts
from sklearn.metrics import average_precision_score, f1_score

from sklearn_mrmp import MrMPClassifier

SHORT = {"n_encoder_layers": 0, "n_decoder_layers": 1, "d_inner": 32, "lr": 4e-3}
KINDS = {
    "network": {**SHORT, "max_epochs": 8, "voters": ("network",), "label_sets": False},
    "default": {},
}
ROWS_OF_A_CALL = 100


def split(X, Y, seed):
    """Return old rows, new rows and scored rows, each with labels."""
    order = np.random.default_rng(seed).permutation(X.shape[0])
    n_scored = len(order) // 5
    n_old = round(0.7 * (len(order) - n_scored))
    places = np.split(order, [n_scored, n_scored + n_old])
    scored, old, new = ((X[rows], Y[rows]) for rows in places)
    return old, new, scored


def stacked(old, new):
    """Old rows and new ones together."""
    return sp.vstack([old[0], new[0]]).tocsr(), np.vstack([old[1], new[1]])


def ways(old, new):
    """Return what may be done with a classifier that was fitted on the old rows, by name."""
    whole = stacked(old, new)

    def going_on(rows, **params):
        return lambda clf: clf.set_params(**params).fit(*rows)

    def unmarked(clf):
        vars(clf).pop("_row_marks")  # as if warm_start had been set after the first fit
        return clf.fit(*whole)

    def in_small_calls(clf):
        for start in range(0, new[0].shape[0], ROWS_OF_A_CALL):
            rows = slice(start, start + ROWS_OF_A_CALL)
            clf.partial_fit(new[0][rows], new[1][rows])
        return clf

    return {
        "old rows alone": lambda clf: clf,
        "anew on all rows": going_on(whole, warm_start=False),
        "warm start on all rows": going_on(whole),
        "warm start on all rows, 4 epochs": going_on(whole, max_epochs=4),
        "warm start on all rows, 2 epochs, lr 1e-3": going_on(whole, max_epochs=2, lr=1e-3),
        "warm start on all rows, first fit without": unmarked,
        "warm start on new rows, 2 epochs": going_on(new, max_epochs=2),
        "partial_fit": lambda clf: clf.partial_fit(*new),
        f"partial_fit, {ROWS_OF_A_CALL} rows a call": in_small_calls,
    }


def measured(clf, scored):
    """Quality on the scored rows."""
    X, Y = scored
    ap = average_precision_score(Y, clf.predict_proba(X), average="micro")
    return ap, f1_score(Y, clf.predict(X), average="micro")


def main():
    """Print a table for each kind of classifier."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--kinds", nargs="+", default=list(KINDS))
    options = parser.parse_args()
    X, Y, *_ = parts("bibtex", options.data_home)
    for kind in options.kinds:
        found = {}
        for seed in options.seeds:
            old, new, scored = split(X.tocsr(), np.asarray(Y), seed)
            start = time.process_time()
            params = {**KINDS[kind], "warm_start": True, "n_threads": 1, "random_state": seed}
            first = MrMPClassifier(**params).fit(*old)
            print(f"{kind}, seed {seed}: first fit {time.process_time() - start:.1f} s", flush=True)
            for name, way in ways(old, new).items():
                clf, start = copy.deepcopy(first), time.process_time()
                clf = way(clf)
                seconds = time.process_time() - start
                row = (*measured(clf, scored), seconds)
                weights = {voter: round(w, 2) for voter, w in clf.vote_weights_.items()}
                numbers = f"{row[0]:.4f} {row[1]:.4f} {seconds:6.1f} s"
                print(f"  {name:44} {numbers} {weights}", flush=True)
                found.setdefault(name, []).append(row)
        print(f"| {kind} | AP | miF1 | processor seconds |\n|---|---:|---:|---:|")
        for name, rows in found.items():
            ap, f1, seconds = np.mean(rows, axis=0)
            print(f"| {name} | {ap:.3f} | {f1:.3f} | {seconds:.1f} |")


if __name__ == "__main__":
    main()
