"""What a served model costs: fitting, its file, loading it, one row, many rows; by who votes.

    OMP_NUM_THREADS=1 python benchmarks/serve_table.py --data-home DIR [--dataset bibtex]

Fits on the training part of a Mulan data set and predicts its test part, with one thread. Seconds
are those of the processor; a row alone is the median of 60. Printed as a table in Markdown.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from _data import parts

from sklearn_mrmp import MrMPClassifier, load

VOTERS = (
    ("linear",),
    ("linear", "neighbors"),
    ("network", "linear"),
    ("network", "linear", "neighbors"),
)
_ROWS = 60


def timed(function, *args):
    """Return what a function returns, and the seconds of the processor it took."""
    start = time.process_time()
    result = function(*args)
    return result, time.process_time() - start


def measure(voters, X, Y, X_test, folder):
    """Return a line of the table."""
    model = MrMPClassifier(voters=voters, random_state=0, n_threads=1)
    _, fit = timed(model.fit, X, Y)
    path = Path(folder, "model.mrmp")
    model.save(path)
    served, loading = timed(load, path)
    served.predict(X_test[:1])  # what is prepared once
    single = [timed(served.predict, X_test[i : i + 1])[1] for i in range(_ROWS)]
    _, many = timed(served.predict, X_test)
    size, rate = path.stat().st_size / 1e6, X_test.shape[0] / many
    return (
        f"| `{voters}` | {fit:.1f} s | {size:.1f} MB | {loading:.2f} s | "
        f"{1e3 * np.median(single):.1f} ms | {rate:,.0f} rows/s |"
    )


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--dataset", default="bibtex")
    args = parser.parse_args()
    X, Y, X_test, _ = parts(args.dataset, args.data_home)
    MrMPClassifier(max_epochs=1, random_state=0, n_threads=1).fit(X[:60], Y[:60])
    print("| `voters=` | fit | file | load | one row | many |\n|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for voters in VOTERS:
            print(measure(voters, X, Y, X_test, folder), flush=True)


if __name__ == "__main__":
    main()
