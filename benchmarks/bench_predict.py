"""Prediction with all voters: one row, and ten thousand rows on one and two threads.

The classifier is fitted once with its defaults on the training rows of a Mulan data set; so is the
plainest alternative, one logistic regression per label on tf-idf. Both then predict the same rows
in turns: rows one by one, and all rows (those of the data set, repeated until there are enough) at
once. Ratios are processor seconds of the classifier divided by those of the alternative. Processor
seconds add up all threads; where other programs run on the machine they say more than the clock.

    python benchmarks/bench_predict.py --data-home DIR
    python benchmarks/bench_predict.py --data-home DIR --model FILE    # fitted once, and kept
    python benchmarks/bench_predict.py --remembered 50000 200000       # the neighbours alone
"""

import argparse
import time
from pathlib import Path

import joblib
import numpy as np
import scipy.sparse as sp
import torch
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._input.features import FeatureInput
from sklearn_mrmp._input.rows import EncodedRows
from sklearn_mrmp._voters.neighbors import NeighborVoter
from sklearn_mrmp.datasets import load_mulan

_N_SINGLE = 100
# Generated rows for the neighbour search: features, labels, features of a row, new rows.
_N_FEATURES, _N_LABELS, _ROW_LENGTH, _N_NEW = 20_000, 100, 60, 200


def fitted(data, model_file):
    """Fit the classifier and the alternative, or read them from a file."""
    if model_file is not None and model_file.exists():
        return joblib.load(model_file)
    ours = MrMPClassifier(random_state=0).fit(data.data, data.target)
    plain = make_pipeline(TfidfTransformer(), OneVsRestClassifier(LogisticRegression()))
    both = ours, plain.fit(data.data, data.target)
    if model_file is not None:
        joblib.dump(both, model_file)
    return both


def rows_of(data, n_rows):
    """Return the rows of a data set, repeated until there are so many."""
    X = sp.csr_array(data.data)
    return sp.csr_array(sp.vstack([X] * -(-n_rows // X.shape[0]))[:n_rows])


def in_turns(functions, repeats):
    """Seconds by the clock and of the processor: arrays (n_functions, repeats, 2)."""
    for function in functions:
        function()
    seconds = np.empty((len(functions), repeats, 2))
    for repeat in range(repeats):
        for number, function in enumerate(functions):
            start = time.perf_counter(), time.process_time()
            function()
            end = time.perf_counter(), time.process_time()
            seconds[number, repeat] = np.subtract(end, start)
    return seconds


def one_by_one(method, rows):
    """Return a function that predicts rows one by one."""

    def predict():
        for row in rows:
            method(row)

    return predict


def print_single(ours, plain, X, repeats):
    """Print milliseconds of one row."""
    rows = [X[[i]] for i in range(_N_SINGLE)]
    methods = ours.predict_proba, ours.predict, plain.predict_proba
    seconds = in_turns([one_by_one(method, rows) for method in methods], repeats)
    best = 1000 / len(rows) * seconds.min(axis=1)
    for name, (clock, processor) in zip(("predict_proba", "predict"), best[:2], strict=True):
        ratio = processor / best[2, 1]
        print(f"one row, {name}: {clock:.2f} ms, {processor:.2f} of the processor, ", end="")
        print(f"{ratio:.2f} times the alternative's", flush=True)


def print_batch(ours, plain, X, repeats):
    """Print rows per second of all rows at once."""
    functions = [lambda: ours.predict_proba(X), lambda: ours.predict(X)]
    seconds = in_turns([*functions, lambda: plain.predict_proba(X)], repeats).min(axis=1)
    for name, (clock, processor) in zip(("predict_proba", "predict"), seconds[:2], strict=True):
        rates = X.shape[0] / clock, X.shape[0] / processor
        ratio = processor / seconds[2, 1]
        print(
            f"{X.shape[0]} rows, {name}: {rates[0]:.0f} rows/s, {rates[1]:.0f} per second ", end=""
        )
        print(f"per second of the processor, {ratio:.2f} times the alternative's time", flush=True)


def generated(n_rows, rng):
    """Bags whose features follow a power law."""
    columns = (_N_FEATURES * rng.power(0.3, size=(n_rows, _ROW_LENGTH))).astype(np.int32)
    starts = np.arange(0, columns.size + 1, _ROW_LENGTH)
    X = sp.csr_array((np.ones(columns.size), columns.ravel(), starts), (n_rows, _N_FEATURES))
    X.sum_duplicates()
    return X


def print_neighbor_search(n_remembered, repeats):
    """Print milliseconds per row of the neighbour voter, fitted on so many generated rows."""
    rng = np.random.default_rng(0)
    rows = EncodedRows.of(FeatureInput(), generated(n_remembered, rng)).fit_encoder()
    Y = sp.csr_array(sp.random_array((n_remembered, _N_LABELS), density=0.03, random_state=rng) > 0)
    voter = NeighborVoter()
    voter.power_ = 4.0
    voter = voter.refit(rows, Y.astype(np.int32))
    new = generated(_N_NEW, rng)
    (seconds,) = in_turns([lambda: voter.logits(EncodedRows.of(rows.encoder, new))], repeats)
    print(f"{n_remembered} rows, {voter.labels_.shape[0]} remembered: ", end="")
    print(f"{1000 * seconds[:, 1].min() / _N_NEW:.2f} ms of the processor for a row", flush=True)


def main():
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path)
    parser.add_argument("--dataset", default="bibtex")
    parser.add_argument("--model", type=Path)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--remembered", type=int, nargs="+", default=[])
    args = parser.parse_args()
    for n_remembered in args.remembered:
        print_neighbor_search(n_remembered, args.repeats)
    if args.data_home is None:
        return
    folder = args.data_home / "mulan" / args.dataset
    ours, plain = fitted(load_mulan(folder, subset="train"), args.model)
    X = rows_of(load_mulan(folder), args.rows)
    for n_threads in args.threads:
        ours.set_params(n_threads=n_threads)
        print(f"{n_threads} threads (torch's own setting: {torch.get_num_threads()})", flush=True)
        print_single(ours, plain, X, args.repeats)
        print_batch(ours, plain, X, args.repeats)


if __name__ == "__main__":
    main()
