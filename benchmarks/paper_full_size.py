"""The paper's network at its full width, trained to its end or for a given time.

`MrMPClassifier.paper()`, to the letter or repaired, is fitted on nine tenths of the training rows;
epoch and one cut for all labels come from the others, and the test rows are scored once. Bibtex
has sets of words, Reuters sequences of 300 tokens. The state of training lies in the checkpoint
folder: a run that was killed goes on from there, and so does one that is started again with more
minutes.

    python benchmarks/paper_full_size.py --data-home DIR --dataset bibtex --checkpoints RUNS \
        --repaired --minutes 120

A line is added to docs/results/paper_full_size.csv when training ends.
"""

import argparse
import csv
import os
import signal
from pathlib import Path

import numpy as np
from _data import parts
from paper_protocol import METRICS, score
from sklearn.metrics import average_precision_score

from sklearn_mrmp import MrMPClassifier, TokenSequenceVectorizer
from sklearn_mrmp.datasets import load_reuters21578

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "paper_full_size.csv"
LENGTH = 300


def rows(name, home):
    """Training rows and labels, test rows and labels: sets of words, or sequences of Reuters."""
    if name != "reuters":
        return parts(name, home)
    train, test = (load_reuters21578(home / "reuters21578", subset=s) for s in ("train", "test"))
    words = TokenSequenceVectorizer(max_len=LENGTH).fit(train.data)
    return words.transform(train.data), train.target, words.transform(test.data), test.target


def stop_after(minutes):
    """Interrupt the training after some minutes; the best epoch up to then is kept."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    signal.alarm(int(60 * minutes))


def trained(args, X, Y):
    """Fit the network of the paper as far as the time allows."""
    name = "repaired" if args.repaired else "letter"
    folder = args.checkpoints / f"{args.dataset}-{name}-{args.width}-{args.seed}"
    clf = MrMPClassifier.paper(
        args.dataset,
        repaired=args.repaired,
        d_model=args.width,
        d_inner=2 * args.width,
        checkpoint_dir=folder,
        n_threads=args.threads,
        random_state=args.seed,
        verbose=1,
    )
    if args.minutes:
        stop_after(args.minutes)
    try:
        clf.fit(X, Y)
    except KeyboardInterrupt:  # the classifier has kept the best epoch so far
        print(f"stopped after {args.minutes:g} minutes", flush=True)
    signal.alarm(0)
    return clf


def line(args, clf, X, Y):
    """Return what is written to the file."""
    truth = Y.toarray() if hasattr(Y, "toarray") else np.asarray(Y)
    P = clf.predict_proba(X)
    history = clf.net_.history
    losses = history[:, "valid_loss"]
    result = {
        "dataset": args.dataset,
        "network": "repaired" if args.repaired else "to the letter",
        "width": args.width,
        "seed": args.seed,
        "epochs": len(history),
        "best_epoch": int(np.argmin(losses)) + 1,
        "valid_loss": round(float(min(losses)), 5),
        "minutes_per_epoch": round(float(np.median(history[:, "dur"])) / 60, 2),
        "AP": round(average_precision_score(truth, P, average="micro"), 4),
    }
    for metric in METRICS:
        predicted = clf.set_params(metric=metric).predict(X)
        result[metric] = round(score(metric, truth, predicted), 4)
    return result


def main():
    """Train, score, and add a line to the file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--dataset", default="bibtex")
    parser.add_argument("--checkpoints", type=Path, required=True)
    parser.add_argument("--repaired", action="store_true")
    parser.add_argument("--minutes", type=float, help="stop training after these many minutes")
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    X, Y, X_test, Y_test = rows(args.dataset, args.data_home)
    result = line(args, trained(args, X, Y), X_test, Y_test)
    new = not args.out.exists()
    with args.out.open("a", newline="") as file:
        writer = csv.DictWriter(file, result, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(result)
    print(result)


if __name__ == "__main__":
    main()
