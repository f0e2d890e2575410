"""Fit a classifier of another environment on rows in files, and write its scores into files.

Helper of `pareto.py`, run by the interpreter of an environment with LibMultiLabel and LightGBM. It
knows these two, numpy, scipy and scikit-learn, and nothing of this package.

    python _pareto_worker.py METHOD FOLDER --seed 0 --limit 600 [--refit]

`FOLDER` holds ``X.npz``, ``Y.npz``, ``X_valid.npz`` and ``X_test.npz``, with `--refit` also
``X_all.npz`` and ``Y_all.npz``. ``P_valid.npy``, ``P_test.npy`` and ``seconds.json`` are written.
"""

import argparse
import json
import resource
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

# Dual coordinate descent with a bias, at LIBLINEAR's own tolerance, which is its fastest.
_OPTIONS = "-s 1 -B 1 -m 1 -q"
_LOGISTIC = "-s 0 -B 1 -m 1 -q"
_FLAT = {
    "1vsrest": ("train_1vsrest", _OPTIONS),
    "1vsrest-logistic": ("train_1vsrest", _LOGISTIC),
    "thresholding": ("train_thresholding", _OPTIONS),
    "cost-sensitive": ("train_cost_sensitive_micro", _OPTIONS),
    "tree": ("train_tree", _OPTIONS),
}


def linear_trainer(name):
    """Return what trains a method of LibMultiLabel and gives the function that scores rows."""
    import libmultilabel.linear as linear
    import psutil

    psutil.cpu_count = lambda logical=True: 1  # it starts that many threads; all get one here
    function, options = _FLAT[name]

    def train(X, Y, seed):
        np.random.seed(seed)  # noqa: NPY002 (the library draws from the global generator)
        model = getattr(linear, function)(Y, X, options=options, verbose=False)
        if name == "tree":
            return model.predict_values  # probabilities
        return lambda rows: expit(model.predict_values(rows))

    return train


def boosting_trainer():
    """Do the same for LightGBM, a model for each label."""
    from lightgbm import LGBMClassifier
    from sklearn.multiclass import OneVsRestClassifier

    def train(X, Y, seed):
        model = LGBMClassifier(n_jobs=1, verbose=-1, random_state=seed)
        return OneVsRestClassifier(model).fit(X, Y).predict_proba

    return train


def allow(seconds):
    """Let the system end this process after so many more seconds of processor time."""
    used = int(time.process_time()) + 1
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, resource.RLIM_INFINITY))


def main():
    """Train, score and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("method", choices=[*_FLAT, "lightgbm"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, default=600)
    parser.add_argument("--refit", action="store_true")
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # labels that no training row has

    def rows(name):
        return sp.csr_matrix(sp.load_npz(args.folder / f"{name}.npz"), dtype=float)

    X, Y, X_valid, X_test = (rows(name) for name in ("X", "Y", "X_valid", "X_test"))
    X_all, Y_all = (rows("X_all"), rows("Y_all")) if args.refit else (None, None)
    # Imports do not count, nor does what LibMultiLabel compiles at its first use.
    train = linear_trainer(args.method) if args.method in _FLAT else boosting_trainer()
    if args.method in _FLAT:
        linear_trainer("tree" if args.method == "tree" else "1vsrest")(X[:300], Y[:300], args.seed)
    allow(args.limit)
    start = time.process_time()
    score = train(X, Y, args.seed)
    P_valid = score(X_valid)
    if args.refit:
        score = train(X_all, Y_all, args.seed)
    fitted = time.process_time()
    allow(args.limit)
    np.save(args.folder / "P_valid.npy", P_valid)
    start_predicting = time.process_time()
    P_test = score(X_test)
    seconds = {"fit": fitted - start, "predict": time.process_time() - start_predicting}
    np.save(args.folder / "P_test.npy", P_test)
    (args.folder / "seconds.json").write_text(json.dumps(seconds), encoding="utf-8")


if __name__ == "__main__":
    main()
