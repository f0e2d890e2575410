"""Start-up: imports, a small fit, one prediction, and the memory of a large training step.

    python benchmarks/bench_startup.py [--repeats N] [--cpu-time]

Imports are timed in fresh processes, alternately with and without the package, beyond what torch
and scikit-learn cost themselves; the median of a few. --cpu-time suits a busy machine.
"""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

CLOCK = "process_time" if "--cpu-time" in sys.argv else "perf_counter"
BASE = "import torch, sklearn"
IMPORTS = {
    "import sklearn_mrmp, beyond torch and sklearn": "import sklearn_mrmp",
    "MrMPClassifier, beyond torch and sklearn": "from sklearn_mrmp import MrMPClassifier",
}
SMALL_FIT = """
import time
import numpy as np
from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp.datasets import make_related_labels
X, Y, _ = make_related_labels(100, 5, random_state=0)
start = time.perf_counter()
clf = MrMPClassifier(random_state=0).fit(X, Y)
fitted = time.perf_counter()
clf.predict(X[:1])
seconds = []
for row in range(20):
    begin = time.perf_counter()
    clf.predict(X[row : row + 1])
    seconds.append(time.perf_counter() - begin)
print(fitted - start, np.median(seconds))
"""


def timed_import(statement):
    """Seconds of a statement in a fresh process, after torch and scikit-learn are imported."""
    code = (
        f"import time; {BASE}; start = time.perf_counter(); {statement}; "
        "print(time.perf_counter() - start)"
    )
    return float(_run(code))


def _run(code):
    command = [sys.executable, "-c", code.replace("perf_counter", CLOCK)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def base_import():
    """Seconds of importing torch and scikit-learn in a fresh process."""
    return float(
        _run(f"import time; t = time.perf_counter(); {BASE}; print(time.perf_counter() - t)")
    )


def delicious_memory():
    """Peak memory in GB of a training step with 983 labels, d = 512 and batch 32."""
    script = Path(__file__).with_name("bench_mrmp.py")
    command = [sys.executable, str(script), "--memory", "Delicious"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(lines.split()[-1])


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cpu-time", action="store_true")
    args = parser.parse_args()
    start = time.perf_counter()
    seconds = {name: [] for name in ("import torch, sklearn", *IMPORTS)}
    small = []
    for _ in range(args.repeats):
        seconds["import torch, sklearn"].append(base_import())
        for name, statement in IMPORTS.items():
            seconds[name].append(timed_import(statement))
        small.append([float(x) for x in _run(SMALL_FIT).split()])
    print("| what | median | smallest–largest | target |\n|---|---|---|---|")
    for (name, values), target in zip(seconds.items(), ("", "0.3 s", "0.3 s"), strict=True):
        _row(name, values, target)
    _row("fit, defaults, 100 rows × 5 labels", [fit for fit, _ in small], "2 s")
    _row("predict one row", [predict for _, predict in small], "10 ms")
    print(f"| training step, 983 labels, d = 512: memory | {delicious_memory():.2f} GB | | 4 GB |")
    print(f"\n{time.perf_counter() - start:.0f} s in total")


def _row(name, values, target):
    unit, scale = ("ms", 1e3) if target.endswith("ms") else ("s", 1.0)
    low, middle, high = (scale * f(values) for f in (min, statistics.median, max))
    print(f"| {name} | {middle:.2f} {unit} | {low:.2f}–{high:.2f} | {target} |", flush=True)


if __name__ == "__main__":
    main()
