"""What a served model costs here and in onnxruntime: file, loading, one row, many rows.

    OMP_NUM_THREADS=1 python benchmarks/onnx_table.py --data-home DIR [--dataset bibtex]

Fits a network and a linear voter on the training part of a Mulan data set and predicts
probabilities of its test part, with one thread, from the same model in each of its forms. Seconds
are those of the processor; a row alone is the median of 200, and all forms take turns row by row.
Many rows are all test rows: at once here, in batches of 64 in onnxruntime; the best of 5 turns.
Printed as a table in Markdown, after the largest difference of any two probabilities.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import onnxruntime
from _data import parts

from sklearn_mrmp import MrMPClassifier, load

_ROWS, _TURNS, _BATCH = 200, 5, 64


def timed(function, *args):
    """Return what a function returns, and the seconds of the processor it took."""
    start = time.process_time()
    result = function(*args)
    return result, time.process_time() - start


class Here:
    """The model in a file of this package."""

    name, ending = "sklearn-mrmp", "mrmp"

    def __init__(self, model, path):
        model.save(path)
        self.path = path

    def load(self):
        """Load the file."""
        self.model = load(self.path)
        return self

    def predict(self, X):
        """Return probabilities of sparse rows."""
        return self.model.predict_proba(X)


class Dense:
    """The model in onnxruntime, with dense rows."""

    name, ending, sparse_rows = "onnxruntime, dense rows", "dense.onnx", False

    def __init__(self, model, path):
        model.to_onnx(path, sparse_rows=self.sparse_rows)
        self.path = path

    def load(self):
        """Load the file."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        providers = ["CPUExecutionProvider"]
        self.session = onnxruntime.InferenceSession(self.path, options, providers=providers)
        return self

    def predict(self, X):
        """Return probabilities of sparse rows, in batches."""
        batches = (X[start : start + _BATCH] for start in range(0, X.shape[0], _BATCH))
        run = self.session.run
        return np.vstack([run(["probabilities"], self.feed(rows))[0] for rows in batches])

    def feed(self, X):
        """Return the inputs of the model for sparse rows."""
        return {"X": X.toarray().astype(np.float32)}


class Sparse(Dense):
    """The model in onnxruntime, with the entries of rows."""

    name, ending, sparse_rows = "onnxruntime, `sparse_rows=True`", "sparse.onnx", True

    def feed(self, X):
        """Return the inputs of the model for sparse rows."""
        lengths = np.diff(X.indptr)
        mask = np.arange(max(lengths.max(), 1)) < lengths[:, None]
        columns, values = np.zeros(mask.shape, np.int64), np.zeros(mask.shape, np.float32)
        columns[mask], values[mask] = X.indices, X.data
        return {"columns": columns, "values": values}


def measure(forms, X):
    """Return seconds of one row and of all rows for each form, and the largest difference."""
    single, many = ([[] for _ in forms] for _ in range(2))
    for form in forms:
        form.predict(X[:1])  # what is prepared once
    for i in range(_ROWS):
        for form, seconds in zip(forms, single, strict=True):
            seconds.append(timed(form.predict, X[i : i + 1])[1])
    for _ in range(_TURNS):
        answers = []
        for form, seconds in zip(forms, many, strict=True):
            P, took = timed(form.predict, X)
            answers.append(P)
            seconds.append(took)
    gap = max(np.abs(P - answers[0]).max() for P in answers)
    return [np.median(part) for part in single], [min(part) for part in many], gap


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--dataset", default="bibtex")
    args = parser.parse_args()
    X, Y, X_test, _ = parts(args.dataset, args.data_home)
    model = MrMPClassifier(voters=("network", "linear"), random_state=0, n_threads=1).fit(X, Y)
    with tempfile.TemporaryDirectory() as folder:
        forms = [
            form(model, Path(folder, f"model.{form.ending}")) for form in (Here, Dense, Sparse)
        ]
        Here.load(forms[0])  # torch itself is loaded by now
        loading = [timed(form.load)[1] for form in forms]
        single, many, gap = measure(forms, X_test)
        sizes = [form.path.stat().st_size / 1e6 for form in forms]
    print(f"largest difference of a probability: {gap:.1e}\n")
    print("| | file | load | one row | many |\n|---|---:|---:|---:|---:|")
    for form, size, load_, one, all_ in zip(forms, sizes, loading, single, many, strict=True):
        rate = X_test.shape[0] / all_
        print(
            f"| {form.name} | {size:.1f} MB | {load_:.2f} s | {1e3 * one:.2f} ms | "
            f"{rate:,.0f} rows/s |"
        )


if __name__ == "__main__":
    main()
