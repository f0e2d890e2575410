"""A default fit stage by stage as the number of rows grows, with rows that lie on disk.

Rows of RCV1's shape are generated (47,236 word weights, 75 words a row, 103 labels), written as
three arrays, mapped from there, and fitted in a process of its own for each number of rows. The
last 5,000 rows are not learned from and scored. `--imdb` does the same with the rows of IMDB.
Seconds are those of the clock and of the processor; memory is what the process holds of its own,
without pages of mapped files, at its peak.

    python benchmarks/growth.py --rows 12500 50000 200000 800000 --folder DIR
    python benchmarks/growth.py --imdb DIR/npz --folder DIR

Lines are added to docs/results/growth.csv, one for each stage. `--table` prints them side by side.
"""

import argparse
import contextlib
import csv
import io
import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from _generated import generate
from sklearn.metrics import average_precision_score, f1_score

from sklearn_mrmp.datasets import open_sparse_rows, save_sparse_rows

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "growth.csv"
N_TEST = 5_000
PARTS = ("X_train", "Y_train", "X_test", "Y_test")
_STAGE = re.compile(r"\[sklearn_mrmp\] (.*?) in ([\d.]+) (s|min|minutes|h|hours)\b")
_SECONDS = {"s": 1, "min": 60, "minutes": 60, "h": 3600, "hours": 3600}


class PeakMemory(threading.Thread):
    """Looks at the anonymous memory of this process twenty times a second."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most = self.whole = 0

    def run(self):
        """Keep the largest value."""
        while True:
            text = Path("/proc/self/status").read_text()
            self.most = max(self.most, int(re.search(r"RssAnon:\s+(\d+)", text)[1]))
            time.sleep(0.05)

    def take(self):
        """Gigabytes since this was asked last."""
        self.whole, most, self.most = max(self.whole, self.most), self.most, 0
        return most / 2**20


class Stages(io.StringIO):
    """Shows what the fit prints, and keeps stages with their seconds and gigabytes."""

    def __init__(self, memory):
        super().__init__()
        self.memory, self.found = memory, []

    def write(self, text):
        """Look for the end of a stage."""
        sys.__stderr__.write(text)
        for name, number, unit in _STAGE.findall(text):
            self.found.append((name, float(number) * _SECONDS[unit], self.memory.take()))
        return super().write(text)


def fit_once(folder, options):
    """Fit on the rows of a folder; print what it took as JSON."""
    memory = PeakMemory()
    X, Y, X_test, Y_test = (open_sparse_rows(folder / name) for name in PARTS)
    from sklearn_mrmp import MrMPClassifier

    memory.start()
    clf = MrMPClassifier(random_state=0, verbose=1, **options)
    start, start_cpu, said = time.perf_counter(), time.process_time(), Stages(memory)
    with contextlib.redirect_stdout(said):
        clf.fit(X, Y)
    seconds, processor = time.perf_counter() - start, time.process_time() - start_cpu
    memory.take()
    P, truth = clf.predict_proba(X_test), Y_test.toarray()
    quality = {
        "AP": average_precision_score(truth, P, average="micro"),
        "f1_micro": f1_score(truth, clf.predict(X_test), average="micro"),
    }
    weights = {name: round(float(weight), 3) for name, weight in clf.vote_weights_.items()}
    total = {"seconds": seconds, "processor": processor, "gigabytes": memory.whole / 2**20}
    print(json.dumps({"stages": said.found, "weights": weights} | total | quality))


def prepare(n_rows, folder, imdb=None):
    """Write the rows, unless they are there."""
    if (folder / PARTS[-1] / "shape.npy").exists():
        return
    if imdb is None:
        X, Y = generate(n_rows + N_TEST)
    else:
        X, Y = (sp.csr_array(sp.load_npz(imdb / f"imdb_{part}.npz")) for part in "XY")
        order = np.random.default_rng(0).permutation(X.shape[0])
        X, Y = X[order], Y[order]
    for name, part in zip(PARTS, (X[:-N_TEST], Y[:-N_TEST], X[-N_TEST:], Y[-N_TEST:]), strict=True):
        save_sparse_rows(folder / name, part, dtype=np.float32)


def main():
    """Fit for each number of rows, and add the stages to the file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[12_500, 50_000, 200_000, 800_000])
    parser.add_argument("--imdb", type=Path)
    parser.add_argument("--folder", type=Path, default=Path("growth"))
    parser.add_argument("--options", default="{}", help="parameters of the classifier, as JSON")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--fit", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--table", action="store_true", help="print the table of the file")
    args = parser.parse_args()
    if args.table:
        return print(table(args.out))
    if args.fit:
        return fit_once(args.fit, json.loads(args.options))
    for n_rows in [0] if args.imdb else args.rows:
        folder = args.folder / ("imdb" if args.imdb else f"rcv1-{n_rows}")
        prepare(n_rows, folder, args.imdb)
        command = [sys.executable, __file__, "--folder", ".", "--fit", folder]
        ran = subprocess.run(
            [*command, "--options", args.options], stdout=subprocess.PIPE, check=True, text=True
        )
        write(args.out, folder.name, args.options, json.loads(ran.stdout.splitlines()[-1]))


def write(path, name, options, result):
    """Add a line for each stage and one for the whole."""
    total = [f"{result[key]:.4g}" for key in ("seconds", "processor", "gigabytes")]
    quality = [f"{result[key]:.4f}" for key in ("AP", "f1_micro")]
    lines = [
        [name, options, stage, f"{seconds:.4g}", "", f"{gigabytes:.3g}", "", ""]
        for stage, seconds, gigabytes in result["stages"]
    ]
    lines.append([name, options, "whole fit", *total, *quality])
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            head = "rows options stage seconds processor gigabytes AP f1_micro"
            writer.writerow(head.split())
        writer.writerows(lines)
    print(*map(str, lines), f"vote weights {result['weights']}", sep="\n", flush=True)


def table(path):
    """Markdown: seconds of each stage, a column for each fit; numbers of rows are left out."""
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    fits, stages = (list(dict.fromkeys(map(key, lines))) for key in (_fit_of, _stage_of))
    found = {(_fit_of(line), _stage_of(line)): line for line in lines}
    text = ["| | " + " | ".join(fits) + " |", "|---|" + "---:|" * len(fits)]
    for stage in stages:
        text.append(_row(stage, (found.get((fit, stage), {}).get("seconds", "") for fit in fits)))
    for column in ("gigabytes", "AP", "f1_micro"):
        text.append(_row(column, (found[fit, "whole fit"][column] for fit in fits)))
    return "\n".join(text)


def _fit_of(line):
    return line["rows"].removeprefix("rcv1-")


def _stage_of(line):
    return re.sub(r" (on|from) \d+ rows|\d+ (?=held-out)", "", line["stage"])


def _row(name, cells):
    return f"| {name} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
