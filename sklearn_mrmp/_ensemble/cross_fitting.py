"""Cross-fitting: a network per fold, and votes and decisions tuned on rows that none had seen.

Each fold of the rows is held out from one set of networks. Together they vote for new rows; what
each says of its own fold, which it was not trained on, weighs the votes and tunes the decisions on
all rows instead of on a tenth. Knows `ModelFitting` and joblib; nothing of targets or decisions.
"""

from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from sklearn_mrmp._ensemble.fitting import n_epochs_done
from sklearn_mrmp._ensemble.model import LabelModel
from sklearn_mrmp._ensemble.weights import label_shifts, vote_weights
from sklearn_mrmp._host.torch_state import torch_threads
from sklearn_mrmp._numerics.rows import evenly_spaced
from sklearn_mrmp._numerics.similar_rows import SimilarRows


@dataclass(frozen=True, eq=False)
class CrossFit:
    """What comes of cross-fitting.

    Attributes
    ----------
    model : LabelModel
        All networks, and paths fitted on all rows. Its last net is ``interrupted_`` when the user
        stopped the training; folds that were not reached are not part of it.
    rows : ndarray of int
        Rows that `P` is for.
    P : ndarray of shape (n_rows, n_labels), float32
        Their probabilities by models that were not fitted on them.
    similar : SimilarRows or None
        The rows most similar to them among those that these models were fitted on.
    """

    model: LabelModel
    rows: np.ndarray
    P: np.ndarray
    similar: SimilarRows | None


@dataclass(frozen=True, eq=False)
class _Fold:
    """Networks of a fold, some of the rows it held out, the votes for those, and rows like them."""

    nets: list
    rows: np.ndarray
    evidence: list
    similar: SimilarRows | None


def cross_fit(fitting, X, Y, splits, learn_graph, *, most_entries, n_jobs=None):
    """Train networks on folds and tune their votes on what each fold held out.

    Parameters
    ----------
    fitting : ModelFitting
        How to fit; its graph is not used.
    X, Y : {ndarray, csr_array}, csr_array
        All rows and their 0/1 labels.
    splits : list of (ndarray, ndarray) of int
        Row numbers to train on and to hold out, for each fold.
    learn_graph : callable
        Label relations from the labels of training rows.
    most_entries : int
        Probabilities of held-out rows kept: of so many entries at most.
    n_jobs : int, default=None
        Folds trained at once, each in a process with one thread.

    Returns
    -------
    result : CrossFit

    Raises
    ------
    KeyboardInterrupt
        When the user stopped it before the first epoch was done, or between several processes.
    """
    encoder = fitting.make_encoder().fit(X)
    # Penalty, power and sizes are chosen once; the first fold's rows choose them.
    like = fitting.with_paths(encoder, *_parts(X, Y, splits[0]))
    n_rows = max(1, most_entries // Y.shape[1] // len(splits))

    def jobs():
        for number, split in enumerate(splits):
            seed = fitting.seed + number * fitting.params["n_members"]
            own = replace(fitting, graph=learn_graph(Y[split[0]]), seed=seed)
            yield own, like, X, Y, split, n_rows, f"fold-{number}"

    done = _until_interrupted(_trained(jobs(), n_jobs))
    return _put_together(fitting, like, done, X, Y)


def _parts(X, Y, split):
    return tuple((X[rows], Y[rows]) for rows in split)


def _trained(jobs, n_jobs):
    if effective_n_jobs(n_jobs) > 1:
        return Parallel(n_jobs=n_jobs)(delayed(_train_alone)(*job) for job in jobs)
    return (_train_fold(*job) for job in jobs)


def _train_fold(fitting, like, X, Y, split, n_rows, stage):
    train, valid = _parts(X, Y, split)
    model = fitting.with_paths(like.encoder, train, valid, like=like)
    fitting.train_members(model, train, valid, stage)
    chosen = evenly_spaced(len(split[1]), n_rows)
    X_held_out = valid[0][chosen]
    evidence = list(model.evidence(X_held_out, valid[1][chosen]))
    return _Fold(model.nets, split[1][chosen], evidence, model.similar_rows(X_held_out))


def _train_alone(fitting, *job):
    """Train in a process of its own: one thread, and no bar that others would write into."""
    quiet = replace(fitting, params=fitting.params | {"progress_bar": False})
    with torch_threads(1):
        return _train_fold(quiet, *job)


def _until_interrupted(folds):
    """Keep the folds up to one that the user stopped, and that one if it learned anything."""
    done = []
    for fold in folds:
        last = fold.nets[-1]
        if last.interrupted_ and not n_epochs_done(last):
            if not done:
                raise KeyboardInterrupt
            done[-1].nets[-1].interrupted_ = True  # the folds before it will do
            break
        done.append(fold)
        if last.interrupted_:
            break
    return done


def _put_together(fitting, like, folds, X, Y):
    whole = replace(like, nets=[net for fold in folds for net in fold.nets])
    evidence = [block for fold in folds for block in fold.evidence]
    if whole.has_paths:
        whole.weights = vote_weights([(v.shortlisted(), truth) for v, truth in evidence])
        whole.shifts = label_shifts(evidence, whole.weights, Y.shape[1])
    P = np.concatenate([whole.mixed(votes) for votes, _ in evidence])
    similar = None
    if whole.neighbors is not None:
        similar = SimilarRows.concatenated([fold.similar for fold in folds])
    fitting.refit_paths(whole, X, Y)
    return CrossFit(whole, np.concatenate([fold.rows for fold in folds]), P, similar)
