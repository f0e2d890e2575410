"""Kill a training with SIGKILL at random moments until it is done; compare with an undisturbed one.

    python benchmarks/kill_test.py --kills 50

Every training is killed and started again until it gets to its end; then the next one begins, until
there were enough kills. Each finished model must have the probabilities, the history and the
thresholds of an uninterrupted fit, bit for bit. Half of the processes write a checkpoint after
every batch instead of every epoch, so that many kills come while a file is being written.

Processes are forked, which needs a POSIX system; this one only imports, so a fork is safe.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import numpy as np
import torch._dynamo  # noqa: F401 - else every process imports it first, and is killed meanwhile

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._checkpoints import callback as _training_checkpoint
from sklearn_mrmp.datasets import make_related_labels

OPTIONS = {
    "d_model": 8,
    "n_heads": 2,
    "n_encoder_layers": 1,
    "max_epochs": 5,
    "batch_size": 16,
    "early_stopping": 2,
    "lr": 0.01,
    "refit": True,
    "n_threads": 1,
    "random_state": 0,
}


def fit_and_write(path, checkpoint_dir=None):
    """Fit and write everything that must be the same afterwards to a file."""
    X, Y, _ = make_related_labels(120, 5, n_features=30, random_state=0)
    clf = MrMPClassifier(**OPTIONS, checkpoint_dir=checkpoint_dir).fit(X, Y)
    names = [name for name in clf.history_[0] if name != "dur"]
    history = [[epoch[name] for name in names] for epoch in clf.history_]
    cuts = list(clf.thresholds_.values())
    partial = path.with_suffix(".partial.npz")
    np.savez(partial, P=clf.predict_proba(X), history=np.array(history, float), thresholds=cuts)
    os.replace(partial, path)


def start(function, *args, **options):
    """Run a function in a forked process; return its number."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        function(*args, **options)
        code = 0
    except BaseException:  # the child must never return into the parent's code
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def wait(child):
    """Wait for a process that must end well."""
    _, status = os.waitpid(child, 0)
    if status != 0:
        raise SystemExit(f"a training failed with status {status}")


def killed(child, delay):
    """Kill a process after a delay; return whether it was still running."""
    deadline = time.monotonic() + delay
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            if status != 0:
                raise SystemExit(f"a training failed with status {status}")
            return False
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def equal(path, other):
    """Whether two outcomes are the same bit for bit."""
    with np.load(path) as a, np.load(other) as b:
        return all(np.array_equal(a[name], b[name]) for name in ("P", "history", "thresholds"))


def train_with_kills(folder, n_kills, duration, rng):
    """Kill one training up to `n_kills` times; return the kills, and those during a write."""
    checkpoints, outcome = folder / "checkpoints", folder / "outcome.npz"
    outcome.unlink(missing_ok=True)
    shutil.rmtree(checkpoints, ignore_errors=True)
    kills = during_write = 0
    while kills < n_kills:
        _training_checkpoint._SECONDS_BETWEEN = rng.choice([300, 0])
        child = start(fit_and_write, outcome, checkpoint_dir=checkpoints)
        if not killed(child, rng.uniform(0, duration)):
            return kills, during_write
        kills += 1
        during_write += any(checkpoints.glob("*.tmp"))
    wait(start(fit_and_write, outcome, checkpoint_dir=checkpoints))
    return kills, during_write


def main():
    """Read the command line and run the test."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=25, help="how many in total")
    parser.add_argument("--seed", type=int, default=None, help="of the random moments")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        reference = folder / "reference.npz"
        began = time.monotonic()
        wait(start(fit_and_write, reference))
        duration = time.monotonic() - began
        kills = during_write = trainings = 0
        while kills < options.kills:
            counts = train_with_kills(folder, options.kills - kills, 0.6 * duration, rng)
            kills, during_write = kills + counts[0], during_write + counts[1]
            trainings += 1
            if not equal(folder / "outcome.npz", reference):
                raise SystemExit(f"training {trainings} differs after {kills} kills")
    print(
        f"{kills} kills, {during_write} of them during a write; {trainings} trainings finished, "
        "all bit-identical to the uninterrupted one"
    )


if __name__ == "__main__":
    main()
