"""Rows on disk: a fit reads them where they lie, and holds far less memory than they would take."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp.datasets import save_sparse_rows

STATUS = Path("/proc/self/status")
pytestmark = pytest.mark.skipif(
    not STATUS.exists() or "RssAnon" not in STATUS.read_text(),
    reason="only Linux says how much memory is not that of mapped files",
)

# Fits once on few rows, which loads libraries, and once on all; prints by how many bytes the memory
# of the process itself, without pages of mapped files, grew at most in the second fit.
FIT = """
import re, sys, threading, time
from pathlib import Path
import numpy as np
from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp.datasets import open_sparse_rows

def bytes_now():
    return 1024 * int(re.search(r"RssAnon:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

def watch():
    while True:
        seen.append(bytes_now())
        time.sleep(0.005)

def rows():
    if sys.argv[1] == "features":
        return open_sparse_rows(folder / "X")
    return np.load(folder / "X.npy", mmap_mode="r")

folder = Path(sys.argv[2])
X, Y = rows(), np.load(folder / "Y.npy")
options = dict(d_model=8, n_heads=2, max_epochs=1, batch_size=32, n_threads=1, random_state=0)
# Few held-out rows: up to 4 million entries are read at once.
clf = MrMPClassifier(cv=0.02, voters=("network",), label_sets=False, max_tokens=4, **options)
clf.fit(X[:60], Y[:60])
seen = [bytes_now()]
threading.Thread(target=watch, daemon=True).start()
clf.fit(X, Y)
print(max(seen) - seen[0])
"""


def growth(kind, folder):
    """Return the growth of memory in a fit on the rows in a folder."""
    command = [sys.executable, "-c", FIT, kind, str(folder)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def save_labels(folder, n_rows):
    rng = np.random.default_rng(0)
    np.save(folder / "Y.npy", (rng.random((n_rows, 3)) < 0.3).astype(np.int8))


def test_a_network_learns_from_sparse_rows_that_stay_on_disk(tmp_path):
    n_rows, n_entries, step = 800, 10_000, 5
    rng = np.random.default_rng(0)

    def blocks():
        for _ in range(0, n_rows, 100):
            shape = 100, n_entries
            columns = step * np.arange(n_entries) + rng.integers(step, size=shape)
            starts = np.arange(0, columns.size + 1, n_entries)
            values = rng.random(columns.size, dtype=np.float32)
            yield sp.csr_array((values, columns.ravel(), starts), (100, step * n_entries))

    save_sparse_rows(tmp_path / "X", blocks())
    save_labels(tmp_path, n_rows)
    n_bytes = sum(path.stat().st_size for path in (tmp_path / "X").iterdir())
    assert n_bytes > 60e6
    assert growth("features", tmp_path) < 40e6


def test_a_network_learns_from_token_states_that_stay_on_disk(tmp_path):
    n_rows, n_tokens, width = 1_000, 50, 768
    path = tmp_path / "X.npy"
    shape = n_rows, n_tokens, width
    X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float16, shape=shape)
    rng = np.random.default_rng(0)
    for start in range(0, n_rows, 100):
        X[start : start + 100] = rng.normal(size=(100, n_tokens, width))
    X.flush()
    save_labels(tmp_path, n_rows)
    assert path.stat().st_size > 60e6
    assert growth("states", tmp_path) < 40e6
