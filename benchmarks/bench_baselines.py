"""ML-KNN and ML-ARAM: speed beside scikit-multilearn-ng, growth with the data, HARAM's gain.

python benchmarks/bench_baselines.py [--data-home DIR] [--reference-python PYTHON] [--datasets ...]

1. Fit and predict on real data (--data-home or SKLEARN_MRMP_DATA_HOME; else synthetic), and the
   same by scikit-multilearn-ng where it is importable, by default in this interpreter. Its ML-KNN
   takes minutes on Delicious, so that data set must be asked for (--datasets delicious).
2. Growth with the number of rows and of labels, on synthetic sparse data.
3. The second layer of ML-ARAM: time and agreement with the flat search.

Times are CPU times of one thread, which other work on the machine disturbs less.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._baselines.mlaram import MLARAMClassifier
from sklearn_mrmp._baselines.mlknn import MLKNNClassifier
from sklearn_mrmp.datasets import load_mulan

METHODS = {"mlknn": MLKNNClassifier, "mlaram": MLARAMClassifier}
REFERENCE = Path(__file__).with_name("reference_baselines.py")


def synthetic(n_train, n_test, n_labels, n_features=1000, words=40, n_topics=50, seed=0):
    """Bags of words from topics; a topic has a few labels, of which a row gets some."""
    rng = np.random.default_rng(seed)
    n = n_train + n_test
    topic = rng.integers(n_topics, size=n)
    favourites = rng.integers(n_features, size=(n_topics, 60))
    drawn = rng.integers(n_features, size=(n, words))
    own = favourites[topic[:, None], rng.integers(60, size=(n, words))]
    columns = np.where(rng.random((n, words)) < 0.5, own, drawn)
    X = _indicator(columns, n_features).astype(float)
    label_sets = rng.integers(n_labels, size=(n_topics, 4))
    Y = _indicator(label_sets[topic[:, None], rng.integers(4, size=(n, 3))], n_labels)
    return X[:n_train], Y[:n_train], X[n_train:]


def _indicator(columns, width):
    rows = np.repeat(np.arange(len(columns)), columns.shape[1])
    X = sp.csr_array((np.ones(rows.size, np.int32), (rows, columns.ravel())), (len(columns), width))
    X.sum_duplicates()
    X.data[:] = 1
    return X


def real(data_home, name):
    """Training and test rows of a Mulan data set."""
    folder = Path(data_home) / "mulan" / name
    train, test = load_mulan(folder, subset="train"), load_mulan(folder, subset="test")
    return train.data, sp.csr_array(train.target), test.data


def run(classifier, X, Y, X_test):
    """CPU seconds of fit and of predict, and the predictions."""
    start = time.process_time()
    classifier.fit(X, Y)
    fitted = time.process_time()
    predicted = classifier.predict(X_test)
    return fitted - start, time.process_time() - fitted, predicted


def run_reference(python, method, folder):
    """CPU seconds of the reference package and its predictions, or None without it."""
    # Dense rows for ML-ARAM: its sparse path fails in predict with current versions of scipy.
    options = ["--dense"] if method == "mlaram" else []
    command = [python, str(REFERENCE), method, str(folder), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        if "No module named 'skmultilearn'" not in done.stderr:
            print(done.stderr, file=sys.stderr)
        return None
    times = json.loads(done.stdout)
    predicted = sp.csr_array(sp.load_npz(folder / f"predicted-{method}.npz"))
    return times["fit"], times["predict"], predicted


def side_by_side(name, data, python):
    """Print one line per method: our times, the reference's, ratio and equal rows."""
    X, Y, X_test = data
    for method, estimator in METHODS.items():
        fit, predict, ours = min((run(estimator(), *data) for _ in range(2)), key=sum_of_times)
        line = f"{name:<12}{method:<8}{fit:>8.2f}{predict:>9.2f}"
        with tempfile.TemporaryDirectory() as folder:
            for key, matrix in {"X_train": X, "Y_train": Y, "X_test": X_test}.items():
                sp.save_npz(Path(folder) / f"{key}.npz", sp.csr_matrix(matrix))
            reference = run_reference(python, method, Path(folder))
        if reference:
            r_fit, r_predict, theirs = reference
            same = np.mean(abs(theirs - sp.csr_array(ours)).sum(axis=1) == 0)
            ratio = (r_fit + r_predict) / (fit + predict)
            line += f"{r_fit:>10.2f}{r_predict:>9.2f}{ratio:>8.1f}x{same:>9.1%}"
        print(line, flush=True)


def sum_of_times(result):
    """Order for the better of several runs."""
    return result[0] + result[1]


def growth():
    """Print times for growing numbers of rows and labels."""
    print("\nGrowth (synthetic bags of words, 1,000 features, 1,000 new rows)")
    print(f"{'rows':>7}{'labels':>8}" + "".join(f"{m + ' fit':>13}{'predict':>9}" for m in METHODS))
    for n_rows, n_labels in [(1000, 100), (2000, 100), (4000, 100), (2000, 400), (2000, 1600)]:
        data = synthetic(n_rows, 1000, n_labels)
        cells = ""
        for estimator in METHODS.values():
            fit, predict, _ = run(estimator(), *data)
            cells += f"{fit:>13.2f}{predict:>9.2f}"
        print(f"{n_rows:>7}{n_labels:>8}{cells}", flush=True)


def hierarchy(n_train=6000, n_test=1500):
    """Print what the second layer saves on dense rows with many prototypes."""
    rng = np.random.default_rng(0)
    centres, sets = rng.random((40, 30)), rng.random((40, 20)) < 0.15
    group = rng.integers(40, size=n_train + n_test)
    X = centres[group] + 0.12 * rng.standard_normal((len(group), 30))
    Y = (sets[group] ^ (rng.random((len(group), 20)) < 0.02)).astype(int)
    print("\nSecond layer (synthetic dense rows, 30 features)")
    sizes = f"{'prototypes':>11}{'clusters':>10}"
    print(f"{'cluster vigilance':<19}{sizes}{'fit':>7}{'predict':>9}{'same':>8}")
    flat = None
    for vigilance in (None, 0.5, 0.6, 0.7):
        clf = MLARAMClassifier(vigilance=0.95, cluster_vigilance=vigilance)
        fit, predict, found = run(clf, X[:n_train], Y[:n_train], X[n_train:])
        flat = found if flat is None else flat
        same = (found == flat).all(axis=1).mean()
        sizes = f"{clf.n_prototypes_:>11}{clf.n_clusters_:>10}"
        print(f"{vigilance!s:<19}{sizes}{fit:>7.2f}{predict:>9.2f}{same:>8.1%}", flush=True)


def main():
    """Run the three parts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-home", default=os.environ.get("SKLEARN_MRMP_DATA_HOME"))
    parser.add_argument("--reference-python", default=sys.executable)
    parser.add_argument("--datasets", nargs="+", default=["medical", "bibtex"])
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    sets = {"synthetic": synthetic(800, 400, 60)}
    if args.data_home:
        sets = {name: real(args.data_home, name) for name in args.datasets}
    times = f"{'fit':>8}{'predict':>9}"
    print(f"{'CPU seconds':<20}{'sklearn-mrmp':>17}{'scikit-multilearn-ng':>22}")
    print(f"{'data':<12}{'method':<8}{times}  {times}{'ratio':>9}{'same':>9}")
    for name, data in sets.items():
        side_by_side(name, data, args.reference_python)
    growth()
    hierarchy()


if __name__ == "__main__":
    main()
