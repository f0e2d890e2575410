"""The four metrics of ML-KNN and ML-ARAM on six data sets, as a Markdown table.

python benchmarks/baseline_table.py --data-home DIR [--search]

The classifiers are fitted on the training rows of each data set's own split and score its test
rows once, with their own decisions. Features are scaled by their training ranges, which ML-KNN
needs and ML-ARAM does anyway; Reuters is tf-idf of the words. With --search, parameters are
chosen by three-fold cross-validation of micro-F1 on the training rows.
"""

import argparse
import os
import time
from pathlib import Path

import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler

from sklearn_mrmp._baselines.mlaram import MLARAMClassifier
from sklearn_mrmp._baselines.mlknn import MLKNNClassifier
from sklearn_mrmp.datasets import load_mulan, load_reuters21578

MULAN = ["bibtex", "delicious", "medical", "emotions", "yeast"]
GRIDS = {
    "ML-KNN": (MLKNNClassifier(), {"n_neighbors": [5, 10, 20]}),
    "ML-ARAM": (MLARAMClassifier(), {"vigilance": [0.9, 0.95, 0.99, 0.999]}),
}


def load(data_home, name):
    """Training and test rows and labels."""
    if name != "reuters":
        parts = [load_mulan(Path(data_home) / "mulan" / name, subset=s) for s in ("train", "test")]
        scaler = MaxAbsScaler() if sp.issparse(parts[0].data) else MinMaxScaler()
        scaler.fit(parts[0].data)
        return [(scaler.transform(part.data), part.target) for part in parts]
    folder = Path(data_home) / "reuters21578"
    parts = [load_reuters21578(folder, subset=subset) for subset in ("train", "test")]
    vectorizer = TfidfVectorizer(sublinear_tf=True).fit(parts[0].data)
    return [(vectorizer.transform(part.data), part.target.toarray()) for part in parts]


def scores(Y_true, Y_pred):
    """ACC, ebF1, miF1, maF1; a row or label without anything to find or found counts 0."""
    averages = ("samples", "micro", "macro")
    f1 = [f1_score(Y_true, Y_pred, average=average, zero_division=0) for average in averages]
    return [accuracy_score(Y_true, Y_pred), *f1]


def table_row(name, method, data, search):
    """One line of the table."""
    (X, Y), (X_test, Y_test) = data
    estimator, grid = GRIDS[method]
    if search:
        folds = KFold(3, shuffle=True, random_state=0)
        estimator = GridSearchCV(estimator, grid, scoring="f1_micro", cv=folds)
    start = time.process_time()
    estimator.fit(X, Y)
    fitted = time.process_time()
    predicted = estimator.predict(X_test)
    seconds = f"{fitted - start:.1f} | {time.process_time() - fitted:.1f}"
    if search:
        ((key, value),) = estimator.best_params_.items()
        method = f"{method}, {key}={value}"
    numbers = " | ".join(f"{value:.3f}" for value in scores(Y_test, predicted))
    return f"| {name} | {method} | {numbers} | {seconds} |"


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-home", default=os.environ.get("SKLEARN_MRMP_DATA_HOME"))
    parser.add_argument("--datasets", nargs="+", default=[*MULAN[:2], "reuters", *MULAN[2:]])
    parser.add_argument("--search", action="store_true")
    args = parser.parse_args()
    if not args.data_home:
        parser.error("--data-home (or SKLEARN_MRMP_DATA_HOME) must name the folder with the data.")
    print("| data | method | ACC | ebF1 | miF1 | maF1 | fit, s | predict, s |")
    print("|---|---|---|---|---|---|---|---|")
    for name in args.datasets:
        data = load(args.data_home, name)
        for method in GRIDS:
            print(table_row(name, method, data, args.search), flush=True)


if __name__ == "__main__":
    main()
