"""Probabilities and decisions, bit for bit, as they were recorded; the public names likewise.

A change of the inside must not change what comes out. ``python tests/test_golden.py`` records both
anew: do that only with a change that is meant to alter results, and say so in its commit message.
Bits depend on the processor and on the versions of the libraries, so that part is compared where
both are those of the recording and skipped elsewhere.
"""

import hashlib
import inspect
import json
import platform
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy
import sklearn
import torch
from threadpoolctl import threadpool_info, threadpool_limits

import sklearn_mrmp
from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp.datasets import make_related_labels

RECORD = Path(__file__).with_name("golden.json")
NAMES = Path(__file__).with_name("public_names.txt")
METRICS = ("accuracy", "f1_samples", "f1_micro", "f1_macro")
PROCESSOR = ("model name", "cpu family", "model", "stepping", "cache size")
SMALL = {"d_model": 16, "max_epochs": 3, "random_state": 0, "n_threads": 1}


def bag(n_labels=8):
    X, Y, _ = make_related_labels(300, n_labels, n_features=max(60, n_labels), random_state=0)
    return X, Y


def counts():
    X, Y = bag()
    X = X.astype(float)
    X.data *= np.random.default_rng(0).integers(1, 5, len(X.data))
    return X, Y


def measurements():
    X, Y = bag()
    rng = np.random.default_rng(0)
    return X @ rng.normal(size=(60, 12)) + rng.normal(size=(X.shape[0], 12)), Y


def sequence():
    X, Y = bag()
    ids = np.zeros((X.shape[0], 20), dtype=np.int64)
    for row, words in enumerate(np.split(X.indices, X.indptr[1:-1])):
        words = words[:20]
        ids[row, : len(words)] = words + 1
    return ids, Y


def vector():
    X, Y = bag()
    return X, np.asarray(Y[:, :4] @ np.arange(1, 5)) % 3


def default(**options):
    return MrMPClassifier(**{**SMALL, **options})


def paper(**options):
    return MrMPClassifier.paper("bibtex", **{**SMALL, "d_inner": 32, **options})


CASES = {
    "default": (bag, default()),
    "counts": (counts, default()),
    "measurements": (measurements, default()),
    "cv": (bag, default(cv=2)),
    "shortlist": (bag, default(label_shortlist=3)),
    "shortlist_cv": (bag, default(label_shortlist=3, cv=2)),
    "many_labels": (lambda: bag(300), default()),
    "sequence": (sequence, default(input_type="sequence")),
    "paper": (bag, paper()),
    "vector": (vector, default()),
    "members_refit": (bag, default(n_members=2, refit=True, early_stopping=True)),
    "network_alone": (bag, default(voters=("network",))),
}


def digest(array):
    array = array.toarray() if hasattr(array, "toarray") else np.ascontiguousarray(array)
    return hashlib.sha256(f"{array.dtype}{array.shape}".encode() + array.tobytes()).hexdigest()[:16]


def outcome(name):
    """Fingerprints of what a case predicts for rows that it was not fitted on."""
    make_data, clf = CASES[name]
    X, y = make_data()
    with threadpool_limits(1):
        clf.fit(X[:240], y[:240])
        found = {"proba": digest(clf.predict_proba(X[200:]))}
        for decision in ("optimal", "threshold") if clf.thresholds_ else ():
            for metric in METRICS:
                clf.set_params(metric=metric, decision=decision)
                found[f"{decision} {metric}"] = digest(clf.predict(X[200:]))
    return found


def machine():
    """What the bits depend on: the very processor, whose name several generations may share."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if sys.platform == "linux" else []
    parts = [[part.strip() for part in line.split(":", 1)] for line in lines if ":" in line]
    first = dict(reversed(parts))  # of the first core
    known = {name: first.get(name, "") for name in PROCESSOR}
    versions = {m.__name__: m.__version__ for m in (torch, np, scipy, sklearn)}
    kernels = sorted({str(library.get("architecture")) for library in threadpool_info()})
    simd = torch.backends.cpu.get_cpu_capability()
    return {"processor": platform.machine(), **known, "simd": simd, "kernels": kernels, **versions}


@pytest.mark.parametrize("name", CASES)
def test_probabilities_and_decisions_are_those_recorded(name):
    record = json.loads(RECORD.read_text())
    if record["machine"] != machine():
        pytest.skip("recorded on another kind of processor, or with other versions")
    assert outcome(name) == record["cases"][name]


def public_names():
    """Every public name with its signature, and those of public methods."""
    lines = []
    for name in sorted(sklearn_mrmp.__all__):
        thing = getattr(sklearn_mrmp, name)
        lines.append(f"{name}{_signature(thing)}")
        if inspect.isclass(thing):
            for method, value in sorted(inspect.getmembers(thing, callable)):
                if not method.startswith("_") and _is_ours(value):
                    lines.append(f"    .{method}{_signature(value)}")
    return "\n".join(lines) + "\n"


def _is_ours(value):
    return str(getattr(value, "__module__", "")).startswith("sklearn_mrmp")


def _signature(thing):
    try:
        text = str(inspect.signature(thing))
    except (TypeError, ValueError):
        return ""
    return re.sub(r"sklearn_mrmp\.[\w.]+\.", "", text)  # where a class lives is our affair


def test_public_names_and_signatures_are_those_written_down():
    assert public_names() == NAMES.read_text()


if __name__ == "__main__":
    cases = {name: outcome(name) for name in CASES}
    RECORD.write_text(json.dumps({"machine": machine(), "cases": cases}, indent=1) + "\n")
    NAMES.write_text(public_names())
