"""Cross-fitting: a network per fold, and votes and decisions tuned on rows that none had seen.

Each fold of the rows is held out from one set of networks. Together they vote for new rows; what
each says of its own fold, which it was not trained on, weighs the votes and tunes the decisions on
all rows instead of on a tenth. Knows `ModelFitting` and joblib; nothing of targets or decisions.
"""

from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from sklearn_mrmp._label_model import LabelModel
from sklearn_mrmp._model_fitting import n_epochs_done
from sklearn_mrmp._row_choice import evenly_spaced
from sklearn_mrmp._runtime import torch_threads
from sklearn_mrmp._shortlist import blocks
from sklearn_mrmp._vote import best_weights


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
    """

    model: LabelModel
    rows: np.ndarray
    P: np.ndarray


def cross_fit(fitting, X, Y, folds, learn_graph, *, most_entries, n_jobs=None):
    """Train networks on folds and tune their votes on what each fold held out.

    Parameters
    ----------
    fitting : ModelFitting
        How to fit; its graph is not used.
    X, Y : {ndarray, csr_array}, csr_array
        All rows and their 0/1 labels.
    folds : list of ndarray of int
        Row numbers of each fold.
    learn_graph : callable
        Label relations from the labels of training rows.
    most_entries : int
        Probabilities of held-out rows kept: of so many entries at most.
    n_jobs : int, default=None
        Folds trained at once, each in a process with one thread.

    Returns
    -------
    result : CrossFit
    """
    encoder = fitting.make_encoder().fit(X)
    jobs, first = [], None
    for number, fold in enumerate(folds):
        rest = np.setdiff1d(np.arange(Y.shape[0]), fold)
        train, valid = (X[rest], Y[rest]), (X[fold], Y[fold])
        model = fitting.with_paths(encoder, train, valid, like=first)
        first = first or model
        seed = fitting.seed + number * fitting.params["n_members"]
        own = replace(fitting, graph=learn_graph(train[1]), seed=seed)
        jobs.append((own, model, train, valid, f"fold-{number}"))
    models = _train_all(jobs, n_jobs)
    return _put_together(fitting, encoder, models, X, Y, folds, most_entries)


def _train_all(jobs, n_jobs):
    """Train the networks of each fold; one after the other they stop at an interrupted one."""
    if effective_n_jobs(n_jobs) > 1:
        return Parallel(n_jobs=n_jobs)(delayed(_train_alone)(*job) for job in jobs)
    models = []
    for job in jobs:
        model = _train_fold(*job)
        last = model.nets[-1]
        if last.interrupted_ and models and not n_epochs_done(last):
            models[-1].nets[-1].interrupted_ = True  # the folds before it will do
            break
        models.append(model)
        if last.interrupted_:
            break
    return models


def _train_fold(fitting, model, train, valid, stage):
    fitting.train_members(model, train, valid, stage)
    return model


def _train_alone(fitting, model, train, valid, stage):
    """Train in a process of its own: one thread, and no bar that others would write into."""
    quiet = replace(fitting, params=fitting.params | {"progress_bar": False})
    with torch_threads(1):
        return _train_fold(quiet, model, train, valid, stage)


def _put_together(fitting, encoder, models, X, Y, folds, most_entries):
    n_rows = max(1, most_entries // Y.shape[1] // len(models))
    chosen = [fold[evenly_spaced(len(fold), n_rows)] for fold in folds[: len(models)]]
    parts = list(zip(models, chosen, strict=True))
    whole = replace(
        models[0], encoder=encoder, nets=[net for model in models for net in model.nets]
    )
    if whole.has_paths:
        whole.weights = best_weights(
            part for model, rows in parts for part in model.evidence(X[rows], Y[rows])
        )
    probabilities = []
    for model, rows in parts:
        model.weights = whole.weights
        for some in blocks(len(rows), Y.shape[1]):
            probabilities.append(model.probabilities(X[rows[some]]))
    fitting.refit_paths(whole, X, Y)
    return CrossFit(whole, np.concatenate(chosen), np.concatenate(probabilities))
