"""One way to fit an ensemble, for one held-out part and for k folds.

The voters beside the network choose their penalties on the first split's held-out rows. Each split
fits its voters, predicts its held-out rows once, and keeps the votes; these weigh the voters and
tune the decisions. With several splits the networks of all of them vote together, on held-out votes
of all rows. Knows voters by their methods, and joblib; nothing of targets or decisions.
"""

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from sklearn_mrmp._ensemble.choosing import choose_voters
from sklearn_mrmp._ensemble.gain import VoteGain, vote_gain
from sklearn_mrmp._ensemble.model import Ensemble, inside
from sklearn_mrmp._ensemble.refitting import refitted
from sklearn_mrmp._ensemble.told import ToldVote
from sklearn_mrmp._ensemble.told_tuning import ToldPlan, told_evidence, tuned
from sklearn_mrmp._ensemble.weights import label_shifts, vote_weights
from sklearn_mrmp._host.interrupts import InsistedInterrupt, finished
from sklearn_mrmp._host.report import SILENT, Report
from sklearn_mrmp._host.world import ALONE, World
from sklearn_mrmp._numerics.entry_weights import EntryWeights
from sklearn_mrmp._numerics.rows import DENSE_ENTRIES, evenly_spaced, row_blocks
from sklearn_mrmp._numerics.similar_rows import SimilarRows
from sklearn_mrmp._voters.choice import NETWORK
from sklearn_mrmp._voters.logistic import frequency_intercepts

# A short training is followed by the whole one where the network has lowered the held-out log loss
# of the vote by more than this share, by two standard errors.
_PAYS, _ERRORS = 0.05, 2.0
_NOBODY_READS = (
    "known_rate={} has no effect: with so many labels and features the linear voter is one of "
    "centroids, which cannot be trained to read told labels. They are used by the label graph, the "
    "label sets and the neighbours."
)


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


@dataclass(frozen=True, eq=False)
class _Fold:
    """Voters of a split, some of the rows it held out, and the votes for them."""

    ensemble: Ensemble
    numbers: np.ndarray | None = None
    Y: sp.csr_array | None = None
    weights: EntryWeights | None = None
    evidence: list = field(default_factory=list)
    similar: SimilarRows | None = None
    interrupted: bool = False
    told: tuple = ((), None)

    @property
    def learned(self):
        """Whether it got far enough to vote."""
        return bool(self.evidence)


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
    folds : list of _Fold
        The first one, if the short training will do, or if the user stopped it.
    """
    short = plan.network and plan.network.short()
    if short is None or len(plan.voters) == 1:
        return plan, []
    tried = replace(plan, network=short)
    fold = _fit_fold(tried, chosen, splits[0], 0, len(splits))
    if fold.interrupted:
        return tried, [fold]
    gain = plan.world.agree(vote_gain(fold.evidence, NETWORK))
    pays = gain.gain - _ERRORS * gain.standard_error > _PAYS
    plan.report.say(
        f"network: a short training lowers the held-out log loss of the vote by {gain}, which is "
        + (f"surely more than {_PAYS:.0%}: it" if pays else f"not surely more than {_PAYS:.0%}: it")
        + (" is now trained at full length" if pays else " stays as it is")
    )
    return (plan, []) if pays else (tried, [fold])


def _put_together(plan, folds):
    """Weigh the voters of all folds on the votes for the rows that these held out."""
    evidence = [block for fold in folds for block in fold.evidence]
    ensemble = _joined(folds)
    if len(ensemble.voters) > 1:
        with plan.report.stage("vote weights: tuned"):
            ensemble = _weighed(ensemble, evidence, len(folds))
    return FittedEnsemble(
        ensemble,
        np.concatenate([fold.numbers for fold in folds]),
        sp.csr_array(sp.vstack([fold.Y for fold in folds])),
        EntryWeights.concatenated([fold.weights for fold in folds]),
        inside(np.concatenate([ensemble.combined(votes) for votes, _ in evidence])),
        _joined_similar(folds),
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
    if plan.told.known_rate is not None and told.linear is None:
        warnings.warn(_NOBODY_READS.format(plan.told.known_rate), UserWarning, stacklevel=2)
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
        return (_fit_fold(plan, chosen, split, i, n_splits) for i, split in left)
    plan = replace(plan, network=plan.network and plan.network.alone())
    return Parallel(n_jobs=plan.n_jobs)(
        delayed(_fit_fold_alone)(plan, chosen, split, i, n_splits) for i, split in left
    )


def _fit_fold_alone(plan, *fold):
    with plan.alone():
        return _fit_fold(plan, *fold)


def _fit_fold(plan, chosen, split, number, n_splits):
    """Fit the voters of a split and predict its held-out rows."""
    fold, report = chosen, plan.report.one_of("fold", number, n_splits)
    if n_splits > 1:
        how = {"weights": split.weights, "world": plan.world}
        voters = refitted(chosen.voters, split.rows, split.Y, report, **how)
        frequency = frequency_intercepts(split.Y, split.weights)
        fold = replace(chosen, voters=voters, frequency=frequency)
    interrupted = False
    if plan.network is not None:
        trainer = plan.network.for_split(number, n_splits, fold)
        network = trainer.fit(*split.train)
        interrupted = network.interrupted
        if not network.has_learned:
            return _Fold(fold, interrupted=True)
        fold = replace(fold, voters=_in_order(plan, fold.voters | {NETWORK: network.finished()}))
    rows, Y, weights = split.rows_valid, split.Y_valid, split.weights_valid
    kept = evenly_spaced(len(rows), max(1, plan.most_entries // Y.shape[1] // n_splits))
    if len(kept) < len(rows):
        rows, Y = rows.take(kept), Y[kept]
        weights = None if weights is None else weights.take(kept)

    def vote():
        with report.stage(f"votes for {len(rows)} held-out rows: counted"):
            found = fold.evidence(rows, Y, weights), fold.similar_rows(rows)
        if plan.told is None:
            return *found, ((), None)
        with report.stage("told labels: tried"):
            of_fold = rows, Y, weights, list(row_blocks(*Y.shape)), (number, n_splits)
            return *found, told_evidence(plan.told, fold, split, *of_fold)

    (*found, told), stopped = finished(vote, keep=NETWORK in fold.voters and not interrupted)
    interrupted = interrupted or plan.world.agree(stopped)
    return _Fold(fold, split.numbers[kept], Y, weights, *found, interrupted, told)


def _in_order(plan, voters):
    return {name: voters[name] for name, _ in plan.voters}


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


def _joined(folds):
    """One ensemble with the networks of all folds; the other voters are those of the last one."""
    last = folds[-1].ensemble
    if len(folds) == 1 or NETWORK not in last.voters:
        return last
    networks = [fold.ensemble.voters[NETWORK] for fold in folds]
    return replace(last, voters={**last.voters, NETWORK: networks[0].joined(networks)})


def _joined_similar(folds):
    if folds[0].similar is None or len(folds) == 1:
        return folds[0].similar
    return SimilarRows.concatenated([fold.similar for fold in folds])
