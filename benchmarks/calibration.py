"""What calibration of single labels gains: log loss and calibration error of held-out rows.

Of a data set's training rows, 60 % fit a classifier and calibrate it by out-of-fold probabilities
of five folds; the others are scored. Arms are the probabilities as they are, and `LabelCalibrator`
with both methods: one map for all labels (shrinkage of infinity), one for each label (0), and
``"auto"``. The log loss is the mean over all entries, in thousandths; the calibration error is
that of `ReliabilityDisplay`, in thousandths, for all labels and for the rarer half of them. Means
of three splits.

    python benchmarks/calibration.py --data-home DIR
"""

import argparse
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from _data import parts
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold

from sklearn_mrmp import (
    LabelCalibrator,
    MLKNNClassifier,
    MrMPClassifier,
    ReliabilityDisplay,
)

DATASETS = ("yeast", "scene", "medical")
ARMS = {"as they are": None} | {
    f"{method}, {shrinkage}": LabelCalibrator(method=method, shrinkage=shrinkage)
    for method in ("sigmoid", "isotonic")
    for shrinkage in (np.inf, 0, "auto")
}


def probabilities(clf, X):
    """Probabilities as one array; a label that no row has is never there."""
    P = clf.predict_proba(X)
    if not isinstance(P, list):
        return P
    return np.column_stack([p[:, 1] if p.shape[1] > 1 else 0 * p[:, 0] for p in P])


def crossed(make, X, Y):
    """Probabilities of the rows, out of fold, and the classifier of all rows."""
    P = np.empty(Y.shape)
    for train, test in KFold(5, shuffle=True, random_state=0).split(Y):
        P[test] = probabilities(make().fit(X[train], Y[train]), X[test])
    return P, make().fit(X, Y)


def crossed_mrmp(X, Y):
    """Return the same by `oof_proba_`."""
    voters = ("linear", "neighbors")
    clf = MrMPClassifier(voters=voters, cv=5, random_state=0, n_threads=1).fit(X, Y)
    return clf.oof_proba_, clf


CLASSIFIERS = {
    "forest": lambda X, Y: crossed(lambda: RandomForestClassifier(50, random_state=0), X, Y),
    "ML-KNN": lambda X, Y: crossed(MLKNNClassifier, X, Y),
    "MrMP": crossed_mrmp,
}


def scores(Y, P):
    """Log loss, and calibration errors of all labels and of the rarer half, in thousandths."""
    given = np.clip(np.where(Y, P, 1 - P), 1e-6, 1)
    errors = ReliabilityDisplay.from_predictions(Y, P, n_groups=2).calibration_errors
    everywhere, rare, _ = errors.values()
    return 1e3 * np.array([-np.log(given).mean(), everywhere, rare])


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path, default=Path("data"))
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    for name in options.datasets:
        X, Y, _, _ = parts(name, options.data_home)
        Y = ((Y.toarray() if sp.issparse(Y) else np.asarray(Y)) > 0).astype(int)
        for kind, fit in CLASSIFIERS.items():
            found = {arm: [] for arm in ARMS}
            for seed in range(options.seeds):
                order = np.random.RandomState(seed).permutation(len(Y))
                train, test = np.split(order, [round(0.6 * len(order))])
                P, clf = fit(X[train], Y[train])
                P_test = probabilities(clf, X[test])
                for arm, calibrator in ARMS.items():
                    Q = P_test
                    if calibrator is not None:
                        Q = calibrator.fit(P, Y[train]).transform(P_test)
                    found[arm].append(scores(Y[test] > 0, Q))
                    plt.close("all")
            for arm, values in found.items():
                shown = "".join(f"{value:9.1f}" for value in np.mean(values, axis=0))
                print(f"{name:9s}{kind:8s}{arm:16s}{shown}", flush=True)


if __name__ == "__main__":
    main()
