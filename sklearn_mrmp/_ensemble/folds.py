"""One split of the rows: its voters are fitted, and say what they think of the rows held out.

Each split fits its voters, predicts its held-out rows once, and keeps the votes; then it tells
random labels of these rows, and keeps what follows. Knows voters by their methods.
"""

from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._ensemble.model import Ensemble
from sklearn_mrmp._ensemble.refitting import refitted
from sklearn_mrmp._ensemble.told_tuning import told_evidence
from sklearn_mrmp._host.interrupts import InsistedInterrupt, finished
from sklearn_mrmp._numerics.entry_weights import EntryWeights
from sklearn_mrmp._numerics.rows import evenly_spaced
from sklearn_mrmp._numerics.similar_rows import SimilarRows
from sklearn_mrmp._voters.choice import NETWORK
from sklearn_mrmp._voters.logistic import frequency_intercepts


@dataclass(frozen=True, eq=False)
class Fold:
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

    def finishing(self, step, world):
        """Run a step to its end, also when the user presses Ctrl-C; see `finished`.

        Several processes have the first one's answer whether to stop.

        Returns
        -------
        result : object
            What the step returned.
        interrupted : bool
            Whether Ctrl-C was pressed, now or before.
        """
        keep = NETWORK in self.ensemble.voters and not self.interrupted
        result, stopped = finished(step, keep=keep)
        return result, self.interrupted or world.agree(stopped)


def fit_fold(plan, chosen, split, number, n_splits):
    """Fit the voters of a split and predict its held-out rows.

    Parameters
    ----------
    plan : EnsemblePlan
        What to fit.
    chosen : Ensemble
        The voters beside the network, with all that is chosen on held-out rows.
    split : Split
        Its rows.
    number, n_splits : int
        Which split it is, and of how many.

    Returns
    -------
    fold : Fold
    """
    voting, report = chosen, plan.report.one_of("fold", number, n_splits)
    if n_splits > 1:
        how = {"weights": split.weights, "world": plan.world}
        voters = refitted(chosen.voters, split.rows, split.Y, report, **how)
        frequency = frequency_intercepts(split.Y, split.weights)
        voting = replace(chosen, voters=voters, frequency=frequency)
    interrupted = False
    if plan.network is not None:
        network = plan.network.for_split(number, n_splits, voting).fit(*split.train)
        interrupted = network.interrupted
        if not network.has_learned:
            return Fold(voting, interrupted=True)
        voters = voting.voters | {NETWORK: network.finished()}
        voting = replace(voting, voters={name: voters[name] for name, _ in plan.voters})
    kept, rows, Y, weights = _held_out(plan, split, n_splits)
    fold = Fold(voting, split.numbers[kept], Y, weights, interrupted=interrupted)

    def vote():
        with report.stage(f"votes for {len(rows)} held-out rows: counted"):
            return voting.evidence(rows, Y, weights), voting.similar_rows(rows)

    (evidence, similar), interrupted = fold.finishing(vote, plan.world)
    fold = replace(fold, evidence=evidence, similar=similar, interrupted=interrupted)
    return with_told(plan, fold, split, number, n_splits)


def with_told(plan, fold, split, number, n_splits):
    """Return a fold that has learned what told labels say, as far as the plan wants it."""
    if plan.told is None or not fold.learned:
        return fold
    fold = _reading(plan, fold, split, number, n_splits)
    _, rows, Y, weights = _held_out(plan, split, n_splits)
    votes = [votes for votes, _ in fold.evidence]

    def tell():
        with plan.report.one_of("fold", number, n_splits).stage("told labels: tried"):
            held_out = rows, Y, weights, votes, (number, n_splits)
            return told_evidence(plan.told, fold.ensemble, split, *held_out)

    told, interrupted = fold.finishing(tell, plan.world)
    return replace(fold, told=told, interrupted=interrupted)


def _held_out(plan, split, n_splits):
    """Return which of the held-out rows are voted on, these, their labels and what these count."""
    rows, Y, weights = split.rows_valid, split.Y_valid, split.weights_valid
    kept = evenly_spaced(len(rows), max(1, plan.most_entries // Y.shape[1] // n_splits))
    if len(kept) < len(rows):
        rows, Y = rows.take(kept), Y[kept]
        weights = None if weights is None else weights.take(kept)
    return kept, rows, Y, weights


def _reading(plan, fold, split, number, n_splits):
    """Let the network of a fold learn to read told labels; after Ctrl-C it goes on without."""
    network = fold.ensemble.voters.get(NETWORK)
    if network is None or plan.told.known_rate is None or fold.interrupted:
        return fold
    trainer = plan.network.for_split(number, n_splits, fold.ensemble)
    try:
        trainer.learn_told(network, plan.told.known_rate, split.rows, split.Y, split.weights)
    except InsistedInterrupt:
        raise
    except KeyboardInterrupt:
        network.forget_told()
        return replace(fold, interrupted=True)
    return fold


def joined(folds):
    """One ensemble with the networks of all folds; the other voters are those of the last one."""
    last = folds[-1].ensemble
    if len(folds) == 1 or NETWORK not in last.voters:
        return last
    networks = [fold.ensemble.voters[NETWORK] for fold in folds]
    return replace(last, voters={**last.voters, NETWORK: networks[0].joined(networks)})


def joined_similar(folds):
    """Return the rows most similar to the held-out ones of all folds, or None."""
    if folds[0].similar is None or len(folds) == 1:
        return folds[0].similar
    return SimilarRows.concatenated([fold.similar for fold in folds])
