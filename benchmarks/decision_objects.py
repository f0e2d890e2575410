"""Do floors hold on new rows, and what do calibrated costs save? Training rows alone.

Each data set, so many random splits: 70 % of the training rows to fit a one-vs-rest logistic
regression and to tune decisions on out-of-fold scores (three folds), 30 % to score.

    python benchmarks/decision_objects.py --data-home DIR [--data yeast bibtex ...]
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from decision_table import classifiers, load
from sklearn.model_selection import train_test_split

from sklearn_mrmp import (
    FloorNotMetWarning,
    LabelCosts,
    PrecisionFloor,
    RecallFloor,
    TunedDecisionClassifier,
)
from sklearn_mrmp._decisions.sweep import last_of_equals

SEEDS = (0, 1, 2)
FLOORS = [
    kind(0.9, average, confidence)
    for kind in (PrecisionFloor, RecallFloor)
    for average in ("micro", "per_label")
    for confidence in (None, 0.95)
]
COSTS = ((1.0, 5.0), (5.0, 1.0))


def precision_and_recall(Y, decided):
    """Micro precision and recall."""
    hits = np.count_nonzero(Y & decided)
    return hits / max(np.count_nonzero(decided), 1), hits / np.count_nonzero(Y)


def own_cuts(Y, P, fp, fn):
    """Cut of each label with the lowest cost on these rows."""
    cuts = np.full(P.shape[1], np.inf)
    for label in range(P.shape[1]):
        order = np.argsort(-P[:, label], kind="stable")
        values, y = P[order, label], Y[order, label]
        last = last_of_equals(values)
        costs = np.cumsum(np.where(y, -fn, fp))[last]
        if costs.min() < 0:
            best = int(costs.argmin())
            lower = values[last][best + 1] if best + 1 < len(last) else values[last][best]
            cuts[label] = 0.5 * (values[last][best] + lower)
    return cuts


def costs_of(rows, Y, P):
    """Mean cost of a row: cuts of plain, of calibrated probabilities, own cuts of labels."""
    found = []
    for fp, fn in COSTS:
        calibrated = LabelCosts(fp, fn)._for_labels(range(P.shape[1]))._rule(rows, None).thresholds
        for cuts in (fp / (fp + fn), calibrated, own_cuts(rows.Y, rows.P, fp, fn)):
            decided = cuts <= P
            wrong, missed = np.count_nonzero(decided & ~Y), np.count_nonzero(Y & ~decided)
            found.append((fp * wrong + fn * missed) / len(Y))
    return found


def one_split(name, X, Y, seed):
    """Precision and recall of each floor, then the costs, on rows that nothing was tuned on."""
    X, X_test, Y, Y_test = train_test_split(X, Y, test_size=0.3, random_state=seed)
    base = classifiers(name, X)["LR"]
    clf = TunedDecisionClassifier(base, cv=3, random_state=seed).fit(X, Y)
    P, truth, figures = clf.predict_proba(X_test), Y_test > 0, []
    for floor in FLOORS:
        decided = clf._labels_at(P, X_test, "f1_micro", floor)
        figures += precision_and_recall(truth, decided)
        figures.append(np.count_nonzero(~clf.set_params(decision=floor).decision_rule_.met))
    return figures + costs_of(clf._points.held_out.rows(), truth, P)


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--data", nargs="+", default=["emotions", "yeast", "medical", "bibtex"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", FloorNotMetWarning)
    warnings.filterwarnings("ignore", message="Label not .* is present in all")
    for name in arguments.data:
        X, Y, *_ = load(name, arguments.data_home)
        runs = np.array([one_split(name, X, Y, seed) for seed in SEEDS])
        mean, spread = runs.mean(axis=0), runs.std(axis=0)
        for k, floor in enumerate(FLOORS):
            precision, recall, unmet = mean[3 * k : 3 * k + 3]
            deviation = spread[3 * k + (0 if isinstance(floor, PrecisionFloor) else 1)]
            print(
                f"| {name} | {floor!r} | {precision:.3f} | {recall:.3f} | {deviation:.3f} | "
                f"{unmet:.1f} |"
            )
        costs = mean[3 * len(FLOORS) :].reshape(len(COSTS), 3)
        for (fp, fn), values in zip(COSTS, costs, strict=True):
            print(f"| {name} | {fp:g} / {fn:g} | " + " | ".join(f"{v:.3f}" for v in values) + " |")


if __name__ == "__main__":
    main()
