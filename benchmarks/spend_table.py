"""Bags of words: what the short training of the network costs and brings, side by side.

"Default" tries a short training first and goes on only where the vote gains clearly; "at full
length" is ``early_stopping=False``, always the whole training; "no network" has the linear and the
neighbour voter alone. All three are fitted one after the other on the training part, and scored on
the test part, for each seed. "Times as fast" compares the seconds of fitting, of one thread, with
those at full length.

    python benchmarks/spend_table.py --data-home DIR [--dataset NAME] [--seeds 3]

`NAME` is bibtex, medical, delicious, reuters, rcv1 or pairs. `DIR` holds Mulan's folders,
``reuters21578/`` and ``npz/``. "Pairs" is generated: its labels depend on pairs of words, which no
linear model can see.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from _data import parts
from sklearn.metrics import average_precision_score

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._decisions.sweep import METRICS

DATASETS = ("medical", "pairs", "bibtex", "reuters", "rcv1", "delicious")
METHODS = {
    "default": {},
    "at full length": {"early_stopping": False},
    "no network": {"voters": ("linear", "neighbors")},
}


def measured(model, X, Y, X_test, Y_test):
    """Average precision, the four metrics, and seconds of fitting.

    Seconds of the processor, by one thread, so that what else the machine does counts less.
    """
    start = time.process_time()
    model.fit(X, Y)
    seconds = time.process_time() - start
    truth = Y_test.toarray() if sp.issparse(Y_test) else Y_test
    found = [average_precision_score(truth.ravel(), model.predict_proba(X_test).ravel())]
    found += [model.set_params(metric=m).score(X_test, Y_test) for m in METRICS]
    return [*found, seconds]


def table(name, home, n_seeds):
    """Print a row for each method: means over the seeds, and the ratio of seconds."""
    data, runs, gains = parts(name, home), {}, []
    for seed in range(n_seeds):
        for method, options in METHODS.items():
            model = MrMPClassifier(random_state=seed, n_threads=1, **options)
            runs.setdefault(method, []).append(measured(model, *data))
            if method == "default":
                gains.append(f"{model.network_gain_} after {model.n_iter_} epochs")
    full = np.mean(runs["at full length"], axis=0)[-1]
    for method, numbers in runs.items():
        *scores, seconds = np.mean(numbers, axis=0)
        cells = [f"{score:.3f}" for score in scores]
        cells += [f"{seconds:.1f}", f"{full / seconds:.1f}"]
        print(f"| {name} | {method} | {' | '.join(cells)} |", flush=True)
    print(f"  gain of the vote through the network, by seed: {'; '.join(gains)}", flush=True)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", required=True, type=Path)
    parser.add_argument("--dataset", choices=DATASETS, action="append")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    print("| data | method | AP | ACC | ebF1 | miF1 | maF1 | fit [cpu s] | times as fast |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for name in arguments.dataset or DATASETS:
        table(name, arguments.data_home, arguments.seeds)


if __name__ == "__main__":
    main()
