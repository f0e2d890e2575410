"""Seconds of fitting against quality, ours beside other methods: the runs and the picture.

Each run is a process of one thread that is stopped after `--limit` seconds of processor time, and
a line of a CSV file; runs that are there are not made again, unless `--redo` asks for them. Methods
of ours are fitted as they are. For the others a tenth of the training rows is held out, on which
`fit_decision_rules` tunes the decisions for micro-F1. `--growth` fits an eighth, a quarter and half
of the rows. `--plot` draws what the file holds and says which methods are faster and better than
ours.

    python benchmarks/pareto.py --data-home DIR --libmultilabel PYTHON [--seeds 3] [--growth]
    python benchmarks/pareto.py --data-home DIR --method default --dataset yeast --redo
    python benchmarks/pareto.py --plot

`PYTHON` is the interpreter of an environment with ``libmultilabel`` and ``lightgbm``; without it
their methods are left out. `DIR` holds Mulan's folders, ``reuters21578/`` and ``npz/``.
"""

import argparse
import csv
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

from _pareto_methods import GROWTH, METHODS
from _pareto_picture import draw, verdicts
from _pareto_run import OVER_THE_LIMIT, STOPPED

DATASETS = ("yeast", "scene", "bibtex", "reuters", "rcv1", "delicious", "imdb")
SHARES = (0.125, 0.25, 0.5)
COLUMNS = ("dataset", "method", "share", "seed", "n_rows", "status", "fit_seconds")
COLUMNS += ("predict_seconds", "f1_micro", "average_precision", "limit")
DOCS = Path(__file__).parents[1] / "docs"
_THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA")


class Table:
    """The runs, in memory and as a CSV file that grows by a line for each."""

    def __init__(self, path):
        self.path, self._lock = path, Lock()
        self.rows = self._read()

    def _read(self):
        if not self.path.exists():
            return {}
        with self.path.open(encoding="utf-8", newline="") as file:
            return {self.key(row): row for row in csv.DictReader(file)}

    @staticmethod
    def key(row):
        """Return what tells runs apart, the same for rows of the file and new ones."""
        return row["dataset"], row["method"], float(row["share"]), int(row["seed"])

    def add(self, row):
        """Store a run; the file is written anew where it takes the place of another."""
        with self._lock:
            self.rows = self._read()  # another process may have added some
            new = not self.rows or self.key(row) in self.rows
            self.rows[self.key(row)] = row
            with self.path.open("w" if new else "a", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, COLUMNS)
                if new:
                    writer.writeheader()
                writer.writerows(self.rows.values() if new else [row])


def tasks(args, seed):
    """Yield the runs asked for, as rows without results, small data sets first."""
    for dataset in args.dataset or DATASETS:
        for name in args.method or METHODS:
            if METHODS[name].kind == "external" and not args.libmultilabel:
                continue
            shares = SHARES if args.growth and name in GROWTH and seed == 0 else ()
            for share in (*shares, 1.0):
                yield {"dataset": dataset, "method": name, "share": share, "seed": seed}


def run(task, args):
    """Run one task in a process of its own; None when it failed."""
    script = Path(__file__).with_name("_pareto_run.py")
    command = [*shlex.split(args.prefix), sys.executable, str(script)]
    command += [task["dataset"], task["method"], "--data-home", str(args.data_home)]
    command += [f"--{name}={task[name]}" for name in ("share", "seed")]
    command += [f"--limit={args.limit}"]
    if args.libmultilabel:
        command.append(f"--libmultilabel={args.libmultilabel}")
    one_thread = {f"{library}_NUM_THREADS": "1" for library in _THREADS}
    done = subprocess.run(
        command, env=os.environ | one_thread, capture_output=True, text=True, check=False
    )
    if done.returncode in STOPPED:
        found = {"status": OVER_THE_LIMIT}
    elif done.returncode:
        print(f"failed: {task}\n{done.stderr[-2000:]}", flush=True)
        return None
    else:
        found = json.loads(done.stdout.splitlines()[-1])
    return task | found | {"limit": args.limit}


def is_wanted(task, table, args):
    """Whether to make this run: it is new, and cheap if it repeats another with another seed.

    A run that was stopped is made again when the limit has become higher.
    """
    known = table.rows.get(Table.key(task))
    stopped = known and known["status"] == OVER_THE_LIMIT and int(known["limit"]) < args.limit
    if known and not stopped and not args.redo:
        return False
    first = table.rows.get(Table.key(task | {"seed": 0}))
    cheap = first and first["status"] == "ok" and float(first["fit_seconds"]) <= args.cheap
    return task["seed"] == 0 or bool(cheap)


def run_all(args):
    """Make the runs that are missing and print each."""
    table = Table(args.csv)

    def one(task):
        if (row := run(task, args)) is not None:
            table.add(row)
            print(", ".join(f"{name} {value}" for name, value in row.items()), flush=True)

    for seed in range(args.seeds):  # later seeds depend on the seconds of the first
        wanted = [task for task in tasks(args, seed) if is_wanted(task, table, args)]
        with ThreadPoolExecutor(args.jobs) as pool:
            list(pool.map(one, wanted))


def main():
    """Run, or draw."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-home", type=Path)
    parser.add_argument("--csv", type=Path, default=DOCS / "results" / "pareto.csv")
    parser.add_argument("--dataset", choices=DATASETS, action="append")
    parser.add_argument("--method", choices=METHODS, action="append")
    parser.add_argument("--libmultilabel", metavar="PYTHON")
    parser.add_argument("--limit", type=int, default=600, help="processor seconds of a run")
    parser.add_argument("--seeds", type=int, default=1, help="of runs that are cheap")
    parser.add_argument("--cheap", type=float, default=20.0, help="seconds of a cheap run")
    parser.add_argument("--growth", action="store_true", help="also shares of the rows")
    parser.add_argument("--redo", action="store_true", help="run again what the file holds")
    parser.add_argument("--jobs", type=int, choices=(1, 2), default=1)
    parser.add_argument("--prefix", default="", help="words before the command of each run")
    parser.add_argument("--plot", action="store_true")
    args = parser.parse_args()
    if args.plot:
        rows = list(Table(args.csv).rows.values())
        draw(rows, DATASETS, DOCS / "images")
        print("\n".join(verdicts(rows, DATASETS)))
    elif args.data_home is None:
        parser.error("--data-home must name the folder with the data.")
    else:
        run_all(args)


if __name__ == "__main__":
    main()
