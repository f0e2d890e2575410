"""The table of docs/decisions.md: what the decision alone changes, on real data.

For each data set and classifier, three times: fit on 90 % of the training rows, tune the decisions
on the other 10 %, score the test rows. One Markdown row for each data set, classifier and metric.

    python benchmarks/decision_table.py --data-home DIR [--data bibtex medical ...]

`DIR` holds ``mulan/<name>/`` and ``reuters21578/``.
"""

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from sklearn_mrmp._baselines.mlknn import MLKNNClassifier
from sklearn_mrmp._decisions.sweep import METRICS, metric_value
from sklearn_mrmp._tuned_decision.classifier import TunedDecisionClassifier
from sklearn_mrmp.datasets import load_mulan, load_reuters21578

DATA = ("bibtex", "reuters", "delicious", "medical", "yeast")
DECISIONS = ("threshold", "optimal", "label_sets")
SEEDS = (0, 1, 2)


def load(name, home):
    """Training and test rows: X, Y, X_test, Y_test."""
    parts = []
    for subset in ("train", "test"):
        if name == "reuters":
            bunch = load_reuters21578(home / "reuters21578", subset=subset)
        else:
            bunch = load_mulan(home / "mulan" / name, subset=subset)
        parts += [bunch.data, _dense(bunch.target)]
    if name == "reuters":
        vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2, stop_words="english")
        parts[0] = vectorizer.fit_transform(parts[0])
        parts[2] = vectorizer.transform(parts[2])
    # liblinear takes sparse rows with 32-bit indices only, which this conversion chooses
    return [sp.csr_matrix(part) if sp.issparse(part) else part for part in parts]


def _dense(Y):
    return Y.toarray() if sp.issparse(Y) else np.asarray(Y)


def classifiers(name, X):
    """Return the two classifiers of the table, by name."""
    scaler = MaxAbsScaler() if sp.issparse(X) else StandardScaler()
    regression = LogisticRegression(C=100 if name == "reuters" else 1, solver="liblinear")
    return {
        "LR": make_pipeline(scaler, OneVsRestClassifier(regression)),
        "ML-KNN": make_pipeline(scaler, MLKNNClassifier()),
    }


def scores(classifier, data, seed):
    """Test scores in percent, (4 metrics, cut at .5 and the decisions)."""
    X, Y, X_test, Y_test = data
    tuned = TunedDecisionClassifier(
        classifier, cv=0.1, refit=False, decision="label_sets", random_state=seed
    ).fit(X, Y)
    P, truth = tuned.predict_proba(X_test), Y_test > 0
    rows = []
    for metric in METRICS:
        rules = [tuned.decision_rules_[decision][metric] for decision in DECISIONS]
        decided = [P >= 0.5] + [rule.decide(P) for rule in rules]
        rows.append([100 * metric_value(truth, labels, metric) for labels in decided])
    return rows


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    home = os.environ.get("SKLEARN_MRMP_DATA_HOME")
    parser.add_argument("--data-home", type=Path, default=home, required=home is None)
    parser.add_argument("--data", nargs="+", choices=DATA, default=DATA)
    args = parser.parse_args()
    warnings.filterwarnings("ignore", message="Label .* is present in")
    print("| data | classifier | metric | cut at .5 | threshold | optimal | label_sets |")
    print("|---|---|---|---|---|---|---|")
    for name in args.data:
        data = load(name, Path(args.data_home))
        for label, classifier in classifiers(name, data[0]).items():
            values = np.array([scores(classifier, data, seed) for seed in SEEDS])
            for metric, mean, std in zip(METRICS, values.mean(0), values.std(0), strict=True):
                cells = " | ".join(f"{m:.1f} ± {s:.1f}" for m, s in zip(mean, std, strict=True))
                print(f"| {name} | {label} | {metric} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
