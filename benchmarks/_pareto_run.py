"""One run of the chart: fit a method on a data set, decide, score; printed as a line of JSON.

Helper of `pareto.py`, which starts it as a process of its own with one thread. Methods of ours are
fitted and asked as a user would. For every other method a tenth of the training rows is held out;
the micro-F1 rule of `fit_decision_rules` is fitted on its probabilities for them, and decides about
the test rows. Seconds are those of the processor, for fitting and this tuning.

    python _pareto_run.py DATASET METHOD --data-home DIR [--share 1] [--seed 0] [--limit 600]
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from _pareto_methods import METHODS
from _pareto_worker import allow
from sklearn.base import clone
from sklearn.metrics import average_precision_score, f1_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MaxAbsScaler
from spend_table import parts

from sklearn_mrmp import MrMPClassifier, fit_decision_rules
from sklearn_mrmp._compare.run import fit_with_holdout, label_probabilities, set_random_states

OVER_THE_LIMIT = "over the limit"
OUT_OF_MEMORY = "out of memory"
# How a process ends that the system has stopped for its seconds: as Python and as shells tell it.
STOPPED = (-signal.SIGXCPU, 128 + signal.SIGXCPU)


def processor_seconds():
    """Return those of this process and its children so far."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def load(dataset, home, share):
    """Training rows and labels, a random `share` of them, and test rows and labels."""
    if dataset == "imdb":
        X, Y = (sp.csr_array(sp.load_npz(home / "npz" / f"imdb_{part}.npz")) for part in "XY")
        order, cut = np.random.default_rng(0).permutation(X.shape[0]), X.shape[0] * 4 // 5
        X, Y, X_test, Y_test = X[order[:cut]], Y[order[:cut]], X[order[cut:]], Y[order[cut:]]
    else:
        X, Y, X_test, Y_test = parts(dataset, home)
    if share < 1:
        chosen = np.random.default_rng(0).permutation(X.shape[0])[: int(share * X.shape[0])]
        X, Y = X[chosen], Y[chosen]
    Y, Y_test = (y.toarray() if sp.issparse(y) else y for y in (Y, Y_test))
    return X, Y.astype(np.int32), X_test, Y_test.astype(np.int32)


def run_ours(method, data, args):
    """Return decisions, probabilities, and seconds of fitting and of deciding."""
    X, Y, X_test, _ = data
    model = MrMPClassifier(random_state=args.seed, n_threads=1, **method.options)
    start = processor_seconds()
    model.fit(X, Y)
    fitted = processor_seconds()
    allow(args.limit)
    decided = model.predict(X_test)
    seconds = fitted - start, processor_seconds() - fitted
    return decided, model.predict_proba(X_test), *seconds


def run_other(method, data, args):
    """Do the same for a method that knows nothing of decisions."""
    X, Y, X_test, _ = data
    if not sp.issparse(X):
        scaler = MaxAbsScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
    rows = train_test_split(np.arange(len(Y)), test_size=0.1, random_state=args.seed)
    score = scores_outside if method.kind == "external" else scores_here
    P_valid, P_test, fit_seconds, predict_seconds = score(method, X, Y, X_test, rows, args)
    start = processor_seconds()
    rule = fit_decision_rules(Y[rows[1]], P_valid, Y_train=Y[rows[0]], metrics=("f1_micro",))[
        "f1_micro"
    ]
    tuned = processor_seconds()
    decided = rule.decide(P_test)
    fit_seconds += tuned - start
    return decided, P_test, fit_seconds, predict_seconds + processor_seconds() - tuned


def scores_here(method, X, Y, X_test, rows, args):
    """Probabilities of held-out and of test rows, and the seconds of both steps."""
    train, valid = rows
    new = set_random_states(method.make(args.dataset, X), args.seed)
    start = processor_seconds()
    model = fit_with_holdout(clone(new), X[train], Y[train], X[valid], Y[valid])
    P_valid = label_probabilities(model, X[valid], Y.shape[1])
    if method.refit:
        model = refitted(model, new, X, Y)
    fitted = processor_seconds()
    allow(args.limit)
    P_test = label_probabilities(model, X_test, Y.shape[1])
    return P_valid, P_test, fitted - start, processor_seconds() - fitted


def refitted(model, new, X, Y):
    """Fit anew on all rows, at the penalty that was chosen if one was."""
    chosen = getattr(model, "estimator_", new)
    return clone(chosen).fit(X, Y)


def scores_outside(method, X, Y, X_test, rows, args):
    """Do the same in the environment of the other libraries."""
    files = {"X": X[rows[0]], "Y": Y[rows[0]], "X_valid": X[rows[1]], "X_test": X_test}
    if method.refit:
        files |= {"X_all": X, "Y_all": Y}
    with tempfile.TemporaryDirectory() as folder:
        for name, matrix in files.items():
            sp.save_npz(Path(folder, f"{name}.npz"), sp.csr_matrix(matrix), compressed=False)
        worker = Path(__file__).with_name("_pareto_worker.py")
        command = [args.libmultilabel, "-I", worker, method.worker, folder]
        command += ["--seed", str(args.seed), "--limit", str(args.limit)]
        done = subprocess.run(
            command + ["--refit"] * method.refit, stdout=subprocess.DEVNULL, check=False
        )
        if done.returncode in STOPPED:
            raise TimeoutError
        done.check_returncode()
        seconds = json.loads(Path(folder, "seconds.json").read_text(encoding="utf-8"))
        P_valid, P_test = (np.load(Path(folder, f"P_{part}.npy")) for part in ("valid", "test"))
    return P_valid, P_test, seconds["fit"], seconds["predict"]


def measured(args):
    """Run the method and return the columns that were measured."""
    data = load(args.dataset, args.data_home, args.share)
    method, truth = METHODS[args.method], data[-1]
    run = run_ours if method.kind == "ours" else run_other
    allow(args.limit)
    decided, P, fit_seconds, predict_seconds = run(method, data, args)
    return {
        "n_rows": len(data[1]),
        "status": "ok",
        "fit_seconds": round(fit_seconds, 3),
        "predict_seconds": round(predict_seconds, 3),
        "f1_micro": round(f1_score(truth, decided, average="micro"), 5),
        "average_precision": round(average_precision_score(truth.ravel(), P.ravel()), 5),
    }


def main():
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("dataset")
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, default=600)
    parser.add_argument("--memory", type=float, default=10.0, help="GB of addresses")
    parser.add_argument("--libmultilabel", default=sys.executable)
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # labels that no training row has
    resource.setrlimit(resource.RLIMIT_AS, (int(args.memory * 1e9),) * 2)
    try:
        found = measured(args)
    except TimeoutError:
        found = {"status": OVER_THE_LIMIT}
    except MemoryError:
        found = {"status": OUT_OF_MEMORY}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
