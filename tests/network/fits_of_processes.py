"""What each of two processes does in the tests of distributed training; started as a program.

``python fits_of_processes.py folder name ...`` makes the named fits one after the other, and writes
what this process knows of each to ``folder/<name>-<rank>.pickle``.
"""

import os
import pickle
import signal
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from skorch.callbacks import Callback

from sklearn_mrmp import LaMPClassifier
from sklearn_mrmp._checkpoints import callback as checkpoint_callback
from sklearn_mrmp.datasets import make_related_labels
from tests.tiny import PLAIN, TINY, tiny
from tests.tiny_encoder import tiny_encoder

RANK = int(os.environ.get("RANK", "0"))
SHALLOW = {"n_encoder_layers": 1, "n_relation_layers": 1, "n_decoder_layers": 1}
# 61 rows are 8 batches of 8, and 4 steps of two processes, of which the last one has 13 rows.
X, Y, _ = make_related_labels(61, 5, n_features=30, random_state=0)
TEXTS = [" ".join(f"w{j}" for j in row.nonzero()[0][:6]) or "w0" for row in X[:40]]
NOT_DROPPED = {"dropout": 0.0, "feature_dropout": 0.0}


class Crash(RuntimeError):
    pass


class At(Callback):
    """Do something after a batch, or (batch 0) at the end of an epoch, in some of the processes."""

    def __init__(self, action, epoch, batch, ranks=(0, 1)):
        self.action = action
        self.epoch = epoch
        self.batch = batch
        self.ranks = ranks

    def _act(self, net, batch):
        if RANK in self.ranks and (len(net.history), batch) == (self.epoch, self.batch):
            self.action()

    def on_batch_end(self, net, **kwargs):
        self._act(net, len(net.history[-1]["batches"]))

    def on_epoch_end(self, net, **kwargs):
        self._act(net, 0)


def crash():
    raise Crash


def stop():
    raise KeyboardInterrupt


def press_ctrl_c():
    signal.raise_signal(signal.SIGINT)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def classifier(**options):
    return tiny(**{**SHALLOW, "batch_size": 8, "max_epochs": 3, "lr": 0.01, **options})


def plain(**options):
    return classifier(**{**PLAIN, **options})


def known(clf, rows=X):
    """What a process knows of a fitted classifier."""
    nets = clf._ensemble.voters["network"].nets
    return {
        "weights": [{n: w.numpy() for n, w in net.module_.state_dict().items()} for net in nets],
        "losses": [(epoch["train_loss"], epoch["valid_loss"]) for epoch in clf.history_],
        "probabilities": clf.predict_proba(rows),
        "vote_weights": clf.vote_weights_,
        "shortlist": clf.label_shortlist_,
    }


def fit_all_voters(folder):
    return known(classifier(verbose=1).fit(X, Y))


def fit_twice_as_large_batches(folder):
    return known(plain(**NOT_DROPPED, batch_size=8).fit(X, Y))


def fit_fewer_rows_than_processes(folder):
    """Rows to train on are 16 and one more."""
    return known(plain(**NOT_DROPPED, cv=1 / 18).fit(X[:18], Y[:18]))


def fit_stopping_early(folder):
    return known(plain(lr=1.0, early_stopping=1, max_epochs=20).fit(X, Y))


def fit_stopped_by_one(folder):
    return known(plain(callbacks=[At(stop, 2, 0, ranks=(1,))]).fit(X, Y))


def fit_interrupted(folder):
    clf = plain(callbacks=[At(press_ctrl_c, 2, 2, ranks=(0,))])
    try:
        clf.fit(X, Y)
    except KeyboardInterrupt:
        return {**known(clf), "n_epochs": len(clf.history_)}


def fit_resumed(folder):
    """Crash inside an epoch after a checkpoint of a moment before; go on."""
    before = checkpoint_callback._SECONDS_BETWEEN
    checkpoint_callback._SECONDS_BETWEEN = -1
    # Only the first process has to know the folder.
    options = {"checkpoint_dir": folder / "checkpoints" if RANK == 0 else None, "cv": 0.2}
    try:
        plain(**options, callbacks=[At(crash, 2, 3)]).fit(X, Y)
    except Crash:
        files = sorted(path.name for path in (folder / "checkpoints").iterdir())
        resumed = plain(**options).fit(X, Y)
    checkpoint_callback._SECONDS_BETWEEN = before
    return {"files": files, "resumed": known(resumed), "whole": known(plain(cv=0.2).fit(X, Y))}


def fit_frozen_encoder(folder):
    return known(plain(encoder=tiny_encoder(TEXTS)).fit(TEXTS, Y[:40]), TEXTS)


def fit_tuned_encoder(folder):
    clf = plain(encoder=tiny_encoder(TEXTS), encoder_lr=1e-3)
    return known(clf.fit(TEXTS, Y[:40]), TEXTS)


def fit_shortlists(folder):
    return known(classifier(label_shortlist=2, voters=("network", "linear")).fit(X, Y))


def fit_folds_and_members(folder):
    return known(plain(cv=2, n_members=2, n_jobs=2, max_epochs=2).fit(X, Y))


def fit_again_on_all_rows(folder):
    return known(plain(refit=True).fit(X, Y))


def fit_going_on(folder):
    clf = plain(warm_start=True).fit(X[:40], Y[:40])
    return known(clf.fit(X, Y).partial_fit(X[:9], Y[:9]))


def fit_peer(folder):
    return known(LaMPClassifier(**TINY).fit(X, Y))


def fit_network_among_voters(folder):
    clf = classifier(voters=("network", ("inner", LaMPClassifier(**TINY))))
    return known(clf.fit(X, Y))


def fit_without_seed(folder):
    return known(plain(random_state=None).fit(X, Y))


def fit_failing_in_one(folder):
    plain(callbacks=[At(crash, 1, 3, ranks=(1,))]).fit(X, Y)


def fit_killed_in_one(folder):
    plain(callbacks=[At(die, 1, 3, ranks=(1,))]).fit(X, Y)


def fit_different_rows(folder):
    plain().fit(X[RANK:], Y[RANK:])


def fit_different_rates(folder):
    plain(lr=0.01 * (1 + RANK)).fit(X, Y)


class Bad(LaMPClassifier):
    def fit(self, X, y):
        crash()


def fit_failing_voter(folder):
    classifier(voters=("network", ("bad", Bad()))).fit(X, Y)


def fit_in_group_of_caller(folder):
    dist.init_process_group("gloo")
    found = known(classifier().fit(X, Y))
    found["is_still_there"] = dist.is_initialized()
    dist.destroy_process_group()
    return found


def main(folder, names):
    torch.set_num_threads(1)
    # Tests that run in the background hand down that Ctrl-C is ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in names:
        start = time.monotonic()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = globals()[f"fit_{name}"](folder)
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}"}
        found = {**found, "seconds": time.monotonic() - start, "group": dist.is_initialized()}
        (folder / f"{name}-{RANK}.pickle").write_bytes(pickle.dumps(found))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


if __name__ == "__main__":
    np.seterr(all="ignore")
    main(Path(sys.argv[1]), sys.argv[2:])
