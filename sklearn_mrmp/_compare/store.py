"""Runs on disk: one JSON line each, written as it ends, so that a comparison can be resumed.

A line counts only when its key, a fingerprint of data, classifier and settings, is asked for;
lines of other data or other settings stay in the file and are never mixed in. Lines made by another
state of this package's code count, with a warning.
"""

import ast
import hashlib
import json
import math
import os
import warnings
from functools import cache
from pathlib import Path

import joblib
import numpy as np
import sklearn
from sklearn.base import clone

from sklearn_mrmp._compare.run import ComparisonRun
from sklearn_mrmp._host.files import user_path
from sklearn_mrmp._version import __version__

_WITHOUT_NUMBERS = ("_plot", "_pages", "_reports", "_compare")


def data_fingerprint(protocol):
    """Fingerprint of everything the runs of a comparison share."""
    settings = (protocol.metrics, protocol.decisions, protocol.validation_fraction)
    data = (protocol.X_train, protocol.Y_train, protocol.X_test, protocol.Y_test)
    weights = (protocol.sample_weight_train, protocol.sample_weight_test)
    if any(part is not None for part in weights):
        data += weights
    return joblib.hash((data, settings, __version__, sklearn.__version__), hash_name="sha1")


def run_key(shared, method, estimator, seed):
    """Fingerprint of one run; an estimator that cannot be pickled goes by what it prints."""
    try:
        identity = joblib.hash(_without_places(estimator), hash_name="sha1")
    except Exception:  # whatever the pickling of somebody's class may raise
        identity = repr(estimator)
    text = "\n".join([shared, method, identity, str(seed)])
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _without_places(estimator):
    """Return the estimator without folders: an encoder is what is in its folder, wherever that is.

    What is kept in a cache changes no result.
    """
    changed = {}
    for name, value in estimator.get_params(deep=True).items():
        parameter = name.rpartition("__")[2]
        if parameter == "cache_dir" and value is not None:
            changed[name] = None
        elif parameter == "encoder" and isinstance(value, (str, os.PathLike)):
            folder = user_path(value)
            if folder.is_dir():
                changed[name] = _content(folder)
    return clone(estimator).set_params(**changed) if changed else estimator


def _content(folder):
    """Fingerprint of the files of a folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    stats = [path.stat() for path in paths]
    return _digest(
        tuple(
            (path, path.relative_to(folder).as_posix(), stat.st_size, stat.st_mtime_ns)
            for path, stat in zip(paths, stats, strict=True)
        )
    )


@cache  # weights are large, and all methods and seeds ask for the same
def _digest(files):
    digest = hashlib.sha1(usedforsecurity=False)
    for path, name, _, _ in files:
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(f"{name} {content}\n".encode())
    return digest.hexdigest()


@cache
def code_fingerprint():
    """Fingerprint of this package's code, whatever its comments and line breaks."""
    digest = hashlib.sha1(usedforsecurity=False)
    package = Path(__file__).parent.parent
    for path in sorted(package.rglob("*.py")):
        # Pictures, pages, tables and the command line change no number of a fitted model.
        if path.relative_to(package).parts[0] not in _WITHOUT_NUMBERS:
            digest.update(ast.dump(ast.parse(path.read_bytes())).encode())
    return digest.hexdigest()


class RunStore:
    """The runs of earlier and of this comparison in a file of JSON lines; none without a path."""

    def __init__(self, path=None):
        self.path = None if path is None else user_path(path)
        # Now and not when a run ends: by then the files may no longer be what was imported.
        self.code = "" if path is None else code_fingerprint()

    def load(self, keys):
        """Return the finished runs among `keys`, by key; failed ones are left to be tried again."""
        if self.path is None or not self.path.is_file():
            return {}
        wanted, runs = set(keys), {}
        for line in self.path.read_text(encoding="utf-8").splitlines():
            record = _parse(line)
            if record is not None and record["key"] in wanted and record["error"] is None:
                runs[record["key"]] = ComparisonRun(**record)
        n_old = sum(run.code != self.code for run in runs.values())
        if n_old:
            warnings.warn(
                f"{n_old} of {len(runs)} runs in {self.path} were made by another state of "
                "sklearn_mrmp's code and are used as they are; delete the file to repeat them.",
                UserWarning,
                stacklevel=3,
            )
        return runs

    def append(self, run):
        """Write one run at the end of the file, at once."""
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        record = {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in run.to_dict().items()
        }
        record["code"] = self.code
        with self.path.open("a+b") as file:
            # After an interruption the last line may lack its end: do not glue two runs together.
            if file.tell() and not self._ends_with_newline():
                file.write(b"\n")
            file.write(json.dumps(record).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _ends_with_newline(self):
        with self.path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read() == b"\n"


def _parse(line):
    """Return the record of a line, or None when the line was cut short by an interruption."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    expected = set(ComparisonRun.__dataclass_fields__)
    # Details are for pages; a line without them has all the numbers of the tables.
    if not isinstance(record, dict) or {*record, "details"} != expected:
        return None
    numbers = ("fit_time", "predict_time", "peak_memory", "n_weights")
    return record | {name: np.nan for name in numbers if record[name] is None}
