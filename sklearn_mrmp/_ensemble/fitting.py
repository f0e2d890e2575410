"""One way to fit an ensemble, for one held-out part and for k folds.

The voters beside the network choose their penalties on the first split's held-out rows. Each split
fits its voters, predicts its held-out rows once, and keeps the votes; these weigh the voters and
tune the decisions. With several splits the networks of all of them vote together, on held-out votes
of all rows. Knows voters by their methods, and joblib; nothing of targets or decisions.
"""

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from sklearn_mrmp._ensemble.choosing import choose_voters
from sklearn_mrmp._ensemble.folds import fit_fold, joined, joined_similar, with_told
from sklearn_mrmp._ensemble.gain import VoteGain, vote_gain
from sklearn_mrmp._ensemble.model import Ensemble, inside
from sklearn_mrmp._ensemble.told import ToldVote
from sklearn_mrmp._ensemble.told_tuning import ToldPlan, tuned
from sklearn_mrmp._ensemble.weights import label_shifts, vote_weights
from sklearn_mrmp._host.interrupts import InsistedInterrupt, finished
from sklearn_mrmp._host.report import SILENT, Report, time_left
from sklearn_mrmp._host.world import ALONE, World
from sklearn_mrmp._numerics.entry_weights import EntryWeights
from sklearn_mrmp._numerics.rows import DENSE_ENTRIES
from sklearn_mrmp._numerics.similar_rows import SimilarRows
from sklearn_mrmp._voters.choice import NETWORK

# A short training is followed by the whole one where the network has lowered the held-out log loss
# of the vote by more than this share, by two standard errors.
_PAYS, _ERRORS = 0.05, 2.0
_NOBODY_READS = (
    "known_rate={} has no effect: {}. Told labels are used by the label graph, the label sets and "
    "the neighbours."
)
_CENTROIDS = (
    "with so many labels and features the linear voter is one of centroids, which cannot be "
    "trained to read told labels"
)
_NO_GAIN = "reading told labels did not make the network better on the held-out rows"


@dataclass(frozen=True, eq=False)
class EnsemblePlan:
    """What is to be fitted.

    Attributes
    ----------
    voters : list of (str, estimator or None)
        Who votes, in this order; None stands for the voter of that name.
    network : trainer of a network, or None
        Unfitted; asked for one trainer per split by ``for_split``.
    label_shortlist : int, "auto" or None
        Candidates per row that the network decodes.
    most_entries : int
        Held-out votes are kept for at most this many entries.
    n_jobs : int or None
        Splits fitted at once.
    alone : callable
        Returns the context in which a split is fitted in a process of its own.
    report : Report
        Says how it goes.
    told : ToldPlan or None
        What is to be learned of told labels; None is nothing.
    world : World
        The processes of the fit. They train networks together and count votes each on its own; the
        first one fits the other voters for all, and decides.
    """

    voters: list
    network: object = None
    label_shortlist: int | str | None = None
    most_entries: int = DENSE_ENTRIES
    n_jobs: int | None = None
    alone: Callable[[], AbstractContextManager] | None = None
    report: Report = SILENT
    told: ToldPlan | None = None
    world: World = ALONE

    def n_trainings(self, n_splits):
        """Most networks that are trained on so many splits; a short training may come first."""
        return 0 if self.network is None else self.network.n_members * (n_splits + 1)

    def reporting(self, report):
        """Return the plan of a fit that reports elsewhere."""
        network = None if self.network is None else self.network.reporting(report)
        return replace(self, network=network, report=report)


@dataclass(frozen=True, eq=False)
class FittedEnsemble:
    """What comes of it.

    Attributes
    ----------
    ensemble : Ensemble
        Of one split, its voters; of several, the networks of all of them, and the other voters of
        the last one, which `with_all_rows` replaces.
    numbers : ndarray of int
        Held-out rows that `P` is for, as their splits number them.
    Y : csr_array of shape (n_rows, n_labels)
        Their 0/1 labels.
    weights : EntryWeights or None
        What the entries of these count.
    P : ndarray of shape (n_rows, n_labels), float32
        Their probabilities by voters that were not fitted on them.
    similar : SimilarRows or None
        The rows most similar to them among those that these voters were fitted on.
    interrupted : bool
        Whether the user stopped a training; what had been learned by then is here.
    gain : VoteGain or None
        What the network adds to the vote of the others; None without it, or without others.
    trainer : trainer of a network, or None
        The one whose networks vote.
    told : ToldVote or None
        What told labels say, learned on the training rows of the last split.
    """

    ensemble: Ensemble
    numbers: np.ndarray
    Y: sp.csr_array
    weights: EntryWeights | None
    P: np.ndarray
    similar: SimilarRows | None
    interrupted: bool = False
    gain: VoteGain | None = None
    trainer: object = None
    told: ToldVote | None = None


def fit_ensemble(plan, splits):
    """Fit voters on each split and weigh them on what it held out.

    Parameters
    ----------
    plan : EnsemblePlan
        What to fit.
    splits : list of Split
        One, or several folds.

    Returns
    -------
    fitted : FittedEnsemble

    Raises
    ------
    KeyboardInterrupt
        When the user stopped it before anything was learned, or between several processes.
    """
    chosen = choose_voters(plan, splits[0])
    plan, first = _spend_where_it_pays(plan, chosen, splits)
    folds = chain(first, _fit_folds(plan, chosen, splits, len(first)))
    folds = _until_interrupted(folds, keeps=plan.world.is_alone)
    if not folds:
        raise KeyboardInterrupt("Training was interrupted before its first epoch was done.")
    interrupted = folds[-1].interrupted
    keep = plan.network is not None and not interrupted
    fitted, stopped = finished(partial(_put_together, plan, folds), keep=keep)
    return replace(fitted, interrupted=interrupted or plan.world.agree(stopped))


def _spend_where_it_pays(plan, chosen, splits):
    """Try a short training of the network first, and say whether the whole one follows.

    Returns
    -------
    plan : EnsemblePlan
        With the trainer to go on with.
    folds : list of Fold
        The first one, if the short training will do, or if the user stopped it.
    """
    short = plan.network and plan.network.short()
    if short is None or len(plan.voters) == 1:
        return plan, []
    tried = replace(plan, network=short, told=None)
    fold = fit_fold(tried, chosen, splits[0], 0, len(splits))
    tried = replace(tried, told=plan.told)
    if fold.interrupted:
        return tried, [with_told(tried, fold, splits[0], 0, len(splits))]
    gain = plan.world.agree(vote_gain(fold.evidence, NETWORK))
    pays = gain.gain - _ERRORS * gain.standard_error > _PAYS
    plan.report.say(
        f"network: a short training lowers the held-out log loss of the vote by {gain}, which is "
        + (f"surely more than {_PAYS:.0%}: it" if pays else f"not surely more than {_PAYS:.0%}: it")
        + (" is now trained at full length" if pays else " stays as it is")
    )
    if pays:
        return plan, []
    return tried, [with_told(tried, fold, splits[0], 0, len(splits))]


def _put_together(plan, folds):
    """Weigh the voters of all folds on the votes for the rows that these held out."""
    evidence = [block for fold in folds for block in fold.evidence]
    ensemble = joined(folds)
    if len(ensemble.voters) > 1:
        with plan.report.stage("vote weights: tuned"):
            ensemble = _weighed(ensemble, evidence, len(folds))
    return FittedEnsemble(
        ensemble,
        np.concatenate([fold.numbers for fold in folds]),
        sp.csr_array(sp.vstack([fold.Y for fold in folds])),
        EntryWeights.concatenated([fold.weights for fold in folds]),
        inside(np.concatenate([ensemble.combined(votes) for votes, _ in evidence])),
        joined_similar(folds),
        gain=_network_gain(ensemble, evidence),
        trainer=plan.network,
        told=_told_vote(plan, ensemble, folds),
    )


def _told_vote(plan, ensemble, folds):
    if plan.told is None:
        return None
    with plan.report.stage("told labels: weighed"):
        votes = [votes for fold in folds for votes, _ in fold.evidence]
        evidence = [some for fold in folds for some in fold.told[0]]
        told = tuned(folds[-1].told[1], ensemble, votes, evidence)
    if NETWORK not in told.weights and NETWORK in ensemble.voters:
        ensemble.voters[NETWORK].forget_told()
    if plan.told.known_rate is not None and told.linear is None and NETWORK not in told.weights:
        reason = _CENTROIDS if "linear" in ensemble.voters else _NO_GAIN
        warnings.warn(_NOBODY_READS.format(plan.told.known_rate, reason), stacklevel=2)
    return told


def _network_gain(ensemble, evidence):
    if NETWORK not in ensemble.voters or len(ensemble.voters) == 1:
        return None
    return vote_gain(evidence, NETWORK)


def _weighed(ensemble, evidence, n_folds):
    weights = vote_weights([(votes.shortlisted(), truth) for votes, truth in evidence])
    ensemble = replace(ensemble, weights=weights)
    if n_folds > 1:
        n_labels = len(ensemble.frequency)
        ensemble = replace(ensemble, shifts=label_shifts(evidence, weights, n_labels))
    return ensemble


def _fit_folds(plan, chosen, splits, n_done):
    """Folds in their order; one after the other, or several at once in processes of their own."""
    n_splits = len(splits)
    left = list(enumerate(splits))[n_done:]
    if len(left) <= 1 or effective_n_jobs(plan.n_jobs) == 1:
        return _one_by_one(plan, chosen, left, n_splits)
    plan = replace(plan, network=plan.network and plan.network.alone(), report=plan.report.alone())
    return Parallel(n_jobs=plan.n_jobs)(
        delayed(_fit_fold_alone)(plan, chosen, split, i, n_splits) for i, split in left
    )


def _one_by_one(plan, chosen, left, n_splits):
    """Yield folds, and say how long the others will take."""
    start = plan.report.clock()
    for n_done, (number, split) in enumerate(left, start=1):
        yield fit_fold(plan, chosen, split, number, n_splits)
        rest = time_left(plan.report.clock() - start, n_done, len(left))
        if rest:
            plan.report.say(f"cross-fitting: {number + 1} of {n_splits} folds done{rest}")


def _fit_fold_alone(plan, *fold):
    with plan.alone():
        return fit_fold(plan, *fold)


def _until_interrupted(folds, keeps):
    """Keep the folds up to one that the user stopped, and that one if it learned anything.

    Between two folds `keeps` says so: several processes could not agree on where they are.
    """
    done = []
    for fold in _stopping_at_interrupt(folds, done) if keeps else folds:
        if fold.learned:
            done.append(fold)
        elif done:
            done[-1] = replace(done[-1], interrupted=True)  # the folds before it will do
        if fold.interrupted:
            break
    return done


def _stopping_at_interrupt(folds, done):
    """Yield folds until the user presses Ctrl-C while the next one is prepared."""
    try:
        yield from folds
    except InsistedInterrupt:
        raise
    except KeyboardInterrupt:
        if not done or NETWORK not in done[-1].ensemble.voters:
            raise
        done[-1] = replace(done[-1], interrupted=True)
