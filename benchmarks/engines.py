"""Many fits on dask, and one training by two processes: seconds, and how many times as fast.

    python benchmarks/engines.py search --data-home DIR
    python benchmarks/engines.py train --data-home DIR

``search`` fits a grid of four in this process, and by dask's workers, of which there are one and
two with one thread each, with dask's own setting for freed memory and with one that keeps it.
Starting workers and importing the package there are not part of the time.
``train`` trains the network with one thread, and by two processes of one thread each, which
``torch.distributed.run`` starts. The time is that of the fastest epoch after the first, by the
clock and in processor seconds of one process; the latter hold on a busy machine, too, but leave out
what a process waits for the other. The batches of two processes have twice as many rows, so that an
epoch has half as many steps; for the same number of rows in a step there is ``double batch``.

Both say how many bytes went through the loopback device meanwhile, which are those that the
processes sent each other if nothing else on the machine talks to itself, and what the largest
process held in memory.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
import torch
from _data import parts
from joblib import parallel_config
from sklearn.model_selection import GridSearchCV
from skorch.callbacks import Callback

from sklearn_mrmp import MrMPClassifier

# dask's workers give freed memory back at once, and take it anew for the next step.
DASKS_OWN = {"OMP_NUM_THREADS": 1, "MALLOC_TRIM_THRESHOLD_": 2**16}
KEEPING_MEMORY = {
    "OMP_NUM_THREADS": 1,
    "MALLOC_TRIM_THRESHOLD_": 2**30,
    "MALLOC_MMAP_THRESHOLD_": 2**25,
}
NETWORK = {"voters": ("network",), "label_sets": False, "random_state": 0, "early_stopping": False}


def bytes_sent():
    """Bytes that the loopback device has sent since the machine was started."""
    return int(re.search(r"^\s*lo:(.*)$", Path("/proc/net/dev").read_text(), re.M)[1].split()[8])


def rows(name, home, n_rows):
    """Return the first rows of the training part of a data set, in an order drawn once."""
    X, Y, *_ = parts(name, home)
    chosen = np.random.default_rng(0).permutation(X.shape[0])[:n_rows]
    return X[chosen], Y[chosen]


def search(options):
    """Print the seconds of a search."""
    import dask
    from dask.distributed import Client, LocalCluster

    X, Y = rows(options.dataset, options.data_home, options.n_rows)
    estimator = MrMPClassifier(**NETWORK, max_epochs=2, n_threads=1)
    grid = GridSearchCV(estimator, {"lr": [1e-3, 2e-3]}, cv=2, refit=False, scoring="f1_micro")
    found = {}

    def timed(name):
        start, before = time.perf_counter(), bytes_sent()
        found[name] = grid.fit(X, Y).cv_results_["mean_test_score"].tolist()
        seconds, sent = time.perf_counter() - start, (bytes_sent() - before) / 1e6
        print(f"{name}: {seconds:.1f} s, {sent:.1f} MB sent", flush=True)

    timed("this process")
    for n_workers, environ in product((1, 2), (DASKS_OWN, KEEPING_MEMORY)):
        dask.config.set({"distributed.nanny.pre-spawn-environ": environ})
        how = {"n_workers": n_workers, "threads_per_worker": 1, "processes": True}
        with LocalCluster(**how, dashboard_address=":0") as cluster, Client(cluster) as client:
            client.run(MrMPClassifier(**NETWORK, max_epochs=1, n_threads=1).fit, X[:40], Y[:40])
            name = f"dask, workers: {n_workers}" + ", keeping memory" * (environ is KEEPING_MEMORY)
            for scattered in ([], [X, Y]):
                with parallel_config("dask", scatter=scattered or None):
                    timed(name + ", scattered" * bool(scattered))
            memory = max(client.run(peak_gigabytes).values())
            print(f"largest worker: {memory:.2f} GB", flush=True)
    print("same scores:", all(scores == found["this process"] for scores in found.values()))


def peak_gigabytes():
    """Most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


class ProcessorSeconds(Callback):
    """Processor seconds of this process in each epoch."""

    def __init__(self):
        self.found = []

    def on_epoch_begin(self, net, **kwargs):
        """Start the clock."""
        self._start = time.process_time()

    def on_epoch_end(self, net, **kwargs):
        """Stop it."""
        self.found.append(time.process_time() - self._start)


def fit(options):
    """Train, and print the seconds of the epochs after the first; the first process does."""
    torch.set_num_threads(1)
    X, Y = rows(options.dataset, options.data_home, options.n_rows)
    clock = ProcessorSeconds()
    how = {"max_epochs": options.n_epochs, "batch_size": options.batch_size, "callbacks": [clock]}
    clf = MrMPClassifier(**NETWORK, **how).fit(X, Y)
    if os.environ.get("RANK", "0") == "0":
        seconds = [epoch["dur"] for epoch in clf.history_[1:]]
        loss = clf.history_[-1]["valid_loss"]
        work = min(clock.found[1:])
        n_weights = sum(weight.numel() for weight in clf.net_.module_.parameters())
        print(f"{min(seconds):.2f} s an epoch, processor {work:.2f} s, validation loss {loss:.4f}")
        print(f"{n_weights:,} weights, {peak_gigabytes():.2f} GB")


def train(options):
    """Start the trainings in turn, each in a process of its own."""
    two = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    runs = {
        "one process": ((), 32),
        "one process, double batch": ((), 64),
        "two processes": (two, 32),
    }
    for repeat in range(options.repeats):
        for name, (launcher, batch_size) in runs.items():
            program = [__file__, "fit", "--data-home", str(options.data_home)]
            program += ["--dataset", options.dataset, "--n-rows", str(options.n_rows)]
            program += ["--batch-size", str(batch_size), "--n-epochs", str(options.n_epochs)]
            environment, before = {**os.environ, "OMP_NUM_THREADS": "1"}, bytes_sent()
            done = subprocess.run(
                [sys.executable, *launcher, *program],
                env=environment,
                check=True,
                capture_output=True,
                text=True,
            )
            said = ", ".join([*done.stdout.splitlines(), f"{(bytes_sent() - before) / 1e6:.0f} MB"])
            print(f"{options.dataset}, {repeat}, {name}: {said} sent", flush=True)


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=["search", "train", "fit"])
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--dataset", default="bibtex")
    parser.add_argument("--n-rows", type=int, default=400)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--n-epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=32)
    options = parser.parse_args()
    {"search": search, "train": train, "fit": fit}[options.part](options)


if __name__ == "__main__":
    main()
