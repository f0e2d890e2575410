"""What a network that reads told labels adds to the vote, and how it is best trained to.

Each seed leaves out a fifth of a random part of the training rows, and tells each label of the rows
left out with probability 1/2; average precision is taken over the entries that were not told.
`MrMPClassifier` is fitted once with its default voters and ``known_rate=0.5``. "ignored" leaves out
what is told; "others" is the vote in which the network does not read it; "with the network" is the
vote in which it does, whatever that is worth. "gain" is what reading told labels lowers the log
loss on the held-out rows of the fit by, which decides whether it is kept. "network alone" is its
own average precision without and with told labels.

``--joint`` compares, for the network alone in a short cycle of 8 epochs, the messages that are
learned afterwards with a training in which labels are told from the first epoch, for rows of which
nothing is told (all entries) and for half told.

    python benchmarks/told_network.py --data-home DIR
    python benchmarks/told_network.py --data-home DIR --joint --datasets yeast,bibtex
"""

import argparse
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp
from bench_linear import load
from sklearn.metrics import average_precision_score
from told_ablation import SHORT, told_part

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._ensemble import told_tuning
from sklearn_mrmp._ensemble.gain import vote_gain
from sklearn_mrmp._ensemble.weights import vote_weights
from sklearn_mrmp._network import training

DATASETS = ("yeast", "medical", "bibtex", "delicious")
_TELLING = {"iterator_train__known_rate": 0.5, "iterator_valid__known_rate": 0.5}


def vote_arms(X, Y, X_test, told, seed):
    """Yield the names of the arms and what they say of the rows left out."""
    found = {}
    weigh = partial(vote_weights, start={told_tuning.VOTE: 1.0}, signed=(told_tuning.NUMBER,))

    def weights(evidence):
        found["without"] = weigh([(votes.without("network"), Y) for votes, Y in evidence])
        found["gain"] = vote_gain(evidence, "network", weigh)
        return weigh(evidence)

    with patch.object(told_tuning, "_weights", weights):
        clf = MrMPClassifier(random_state=seed, n_threads=1).fit(X, Y, known_rate=0.5)
    print(f"gain {found['gain']}, weights {clf._told.weights}", flush=True)
    yield "ignored", clf.predict_proba(X_test)
    yield "with the network", clf.predict_proba(X_test, known=told)
    yield from network_arms(clf, X_test, told)
    told_vote = clf._told
    object.__setattr__(told_vote, "weights", found["without"])
    yield "others", clf.predict_proba(X_test, known=told)


def network_arms(clf, X_test, told, name="network alone"):
    """Yield what the network alone says, without and with told labels."""
    rows = clf._encoded(clf._check_rows(X_test))
    yield f"{name}, ignored", clf.net_.label_logits(rows.tokens)
    told = sp.csr_array(told, dtype=np.float32)
    yield name, clf.net_.label_logits(rows.tokens, told=told)


def joint_arms(X, Y, X_test, told, seed):
    """Yield what the network alone says, trained in both ways."""
    clf = MrMPClassifier(voters=("network",), random_state=seed, n_threads=1, **SHORT)
    whatever_it_is_worth = partial(patch.object, told_tuning, "_ERRORS", -np.inf)
    with whatever_it_is_worth():
        yield from network_arms(clf.fit(X, Y, known_rate=0.5), X_test, told, "afterwards")
    iterator, network = training._iterator_arguments, training._network_arguments
    with ExitStack() as patched:
        patched.enter_context(whatever_it_is_worth())
        for name, arguments, more in (
            ("_iterator_arguments", iterator, _TELLING),
            ("_network_arguments", network, {"module__reads_told": True}),
        ):
            told_too = partial(_with, arguments, more)
            patched.enter_context(patch.object(training, name, told_too))
        yield from network_arms(clf.fit(X, Y), X_test, told, "from the first epoch")


def _with(arguments, more, *given):
    return arguments(*given) | more


def measure(dataset, options):
    """Print the mean over seeds of every arm."""
    X, Y = load(options.data_home, dataset)
    found = {}
    for seed in range(options.seeds):
        rng = np.random.default_rng(seed)
        order = rng.permutation(X.shape[0])[: options.max_rows]
        test, train = order[: len(order) // 5], order[len(order) // 5 :]
        told, truth = told_part(Y[test], 0.5, rng), Y[test].toarray()
        untold = told.toarray() == 0
        arms = joint_arms if options.joint else vote_arms
        for name, P in arms(X[train], Y[train], X[test], told, seed):
            scores = [average_precision_score(truth[untold], P[untold])]
            scores.append(average_precision_score(truth.ravel(), P.ravel()))
            found.setdefault(name, []).append(scores)
    for name, values in found.items():
        untold, everything = np.mean(values, axis=0)
        each = ", ".join(f"{value[0]:.3f}" for value in values)
        line = f"{dataset} {len(order)} rows, {name}: {untold:.3f} ({each})"
        print(line + f"; all entries {everything:.3f}", flush=True)


def main():
    """Measure each data set."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--max-rows", type=int, default=2_000)
    parser.add_argument("--joint", action="store_true")
    options = parser.parse_args()
    for dataset in options.datasets.split(","):
        measure(dataset, options)


if __name__ == "__main__":
    main()
