"""The table of the results page: the default, the voters without the network, a regression.

    python benchmarks/results_table.py --data-home DIR [--dataset NAME] [--seeds 3] [--method NAME]
    python benchmarks/results_table.py --write      # the tables of docs/results.md and README.md

Every fit is a process of one thread and a line of docs/results/results.csv; lines that are there
are not made again. "regression" is one-vs-rest logistic regression with a penalty tuned on a held
out tenth of the training rows, which also tunes its decisions; it gets the rules that
`MrMPClassifier` has. Seconds are those of the processor, for fitting and tuning. All test rows are
scored: average precision over all entries, and each metric by the decisions made for it.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from _data import parts
from against_commit import SCORES, _scored

DOCS = Path(__file__).parents[1] / "docs"
DATASETS = {
    "emotions": "Emotions",
    "birds": "Birds",
    "scene": "Scene",
    "yeast": "Yeast",
    "medical": "Medical",
    "bibtex": "Bibtex",
    "reuters": "Reuters (tf-idf)",
    "rcv1": "RCV1 (union)",
    "delicious": "Delicious",
}
METHODS = {
    "regression": "one-vs-rest logistic regression, tuned",
    "voters": '`voters=("linear", "neighbors")`',
    "default": "`MrMPClassifier()`",
}
KEY = ("dataset", "method", "seed")
COLUMNS = (*KEY, "seconds", *SCORES)


def predictions(dataset, method, data, seed):
    """Fit; return the seconds it took, test probabilities, and test decisions by metric."""
    from sklearn_mrmp import MrMPClassifier

    X, Y, X_test, _ = data
    if method == "regression":
        return regression(dataset, X, Y, X_test, seed)
    options = {"voters": ("linear", "neighbors")} if method == "voters" else {}
    # A fit of a few rows has loaded all packages before.
    MrMPClassifier(max_epochs=1, random_state=0, n_threads=1).fit(X[:60], Y[:60])
    start = time.process_time()
    model = MrMPClassifier(random_state=seed, n_threads=1, **options).fit(X, Y)
    seconds = time.process_time() - start
    decided = {m: model.set_params(metric=m).predict(X_test) for m in SCORES[1:]}
    return seconds, model.predict_proba(X_test), decided


def regression(dataset, X, Y, X_test, seed):
    """Do the same with a regression, a tenth of the rows held out for penalty and decisions."""
    from sklearn.model_selection import train_test_split

    from sklearn_mrmp import fit_decision_rules
    from sklearn_mrmp._compare.methods import make_method
    from sklearn_mrmp._compare.run import fit_with_holdout, label_probabilities

    Y = np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y)
    train, valid = train_test_split(np.arange(len(Y)), test_size=0.1, random_state=seed)
    start = time.process_time()
    # RCV1 has tf-idf rows as Reuters, and the search for a penalty starts from the same value.
    model = make_method("tuned-lr", "reuters" if dataset == "rcv1" else dataset)
    model = fit_with_holdout(model, X[train], Y[train], X[valid], Y[valid])
    P_valid = label_probabilities(model, X[valid], Y.shape[1])
    rules = fit_decision_rules(Y[valid], P_valid, Y_train=Y[train])
    seconds = time.process_time() - start
    P = label_probabilities(model, X_test, Y.shape[1])
    return seconds, P, {metric: rules[metric].decide(P) for metric in SCORES[1:]}


def fit_once(dataset, method, home, seed):
    """Print seconds and scores of one fit as JSON."""
    from sklearn.metrics import average_precision_score

    warnings.simplefilter("ignore")  # labels that no training row has
    data = parts(dataset, home)
    truth = np.asarray(data[3].toarray() if hasattr(data[3], "toarray") else data[3])
    seconds, P, decided = predictions(dataset, method, data, seed)
    found = {"seconds": seconds, "AP": average_precision_score(truth.ravel(), P.ravel())}
    found |= {metric: _scored(truth, Y, metric) for metric, Y in decided.items()}
    print(json.dumps({name: round(float(value), 5) for name, value in found.items()}))


def run(dataset, method, seed, home):
    """Make one fit in a process of its own."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, __file__, "--data-home", str(home), "--fit", dataset, method]
    done = subprocess.run(
        [*command, str(seed)], env={**os.environ, **threads}, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{dataset}, {method}, seed {seed}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def run_all(args):
    """Make the fits that the file lacks."""
    lines = read(args.csv)
    known = {tuple(line[name] for name in KEY) for line in lines}
    for seed in range(args.seeds):
        for dataset in args.dataset or DATASETS:
            for method in args.method or METHODS:
                key = (dataset, method, str(seed))
                if key in known:
                    continue
                lines.append(dict(zip(KEY, key, strict=True)) | run(*key, args.data_home))
                with args.csv.open("w", encoding="utf-8", newline="") as file:
                    writer = csv.DictWriter(file, COLUMNS)
                    writer.writeheader()
                    writer.writerows(lines)
                print(", ".join(f"{name} {value}" for name, value in lines[-1].items()), flush=True)


def read(path):
    """Lines of the CSV file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def table(lines):
    """Markdown: a block of rows a data set, means over the seeds."""
    text = "| data set | method | seeds | AP | ACC | ebF1 | miF1 | maF1 | fit, s |\n"
    text += "|---|---|---:|---:|---:|---:|---:|---:|---:|\n"
    for dataset, title in DATASETS.items():
        for method, name in METHODS.items():
            chosen = [x for x in lines if (x["dataset"], x["method"]) == (dataset, method)]
            if not chosen:
                continue
            scores = [np.mean([float(x[s]) for x in chosen]) for s in SCORES]
            cells = [f"{score:.3f}".removeprefix("0") for score in scores]
            seconds = np.mean([float(x["seconds"]) for x in chosen])
            shown = f"{seconds:.1f}" if seconds < 10 else f"{seconds:.0f}"
            text += f"| {title} | {name} | {len(chosen)} | {' | '.join(cells)} | {shown} |\n"
            title = ""
    return text


def write_into(page, text):
    """Replace what stands between the marks of a page."""
    begin, end = "<!-- results: begin -->\n", "<!-- results: end -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, _, after = rest.partition(end)
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


def main():
    """Run, or write the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-home", type=Path)
    parser.add_argument("--csv", type=Path, default=DOCS / "results" / "results.csv")
    parser.add_argument("--dataset", choices=DATASETS, action="append")
    parser.add_argument("--method", choices=METHODS, action="append")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--fit", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.fit:
        fit_once(args.fit[0], args.fit[1], args.data_home, int(args.fit[2]))
    elif args.write:
        for page in (DOCS / "results.md", DOCS.parent / "README.md"):
            write_into(page, table(read(args.csv)))
    elif args.data_home is None:
        parser.error("--data-home must name the folder with the data.")
    else:
        run_all(args)


if __name__ == "__main__":
    main()
