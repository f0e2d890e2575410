"""How much told labels say: weighed by telling random parts of the labels of held-out rows.

While a fold is fitted, some of its held-out rows are told random labels, and the parts of the vote
that look at these are kept (`told_evidence`). When the voters have been weighed, these parts are
(`tuned`), against the plain vote: it alone is where the weights start from, so that told labels are
never taken for more than the held-out rows say. Knows votes, voters by their methods, and tellings.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._ensemble.gain import vote_gain
from sklearn_mrmp._ensemble.told import (
    LINEAR,
    NUMBER,
    VOTE,
    ToldVote,
    doubting,
    network_part,
    reading_network,
    told_parts,
)
from sklearn_mrmp._ensemble.weights import Votes, vote_weights
from sklearn_mrmp._numerics.entry_weights import EntryWeights
from sklearn_mrmp._numerics.rows import evenly_spaced, row_blocks
from sklearn_mrmp._numerics.told import is_untold, random_telling
from sklearn_mrmp._voters.choice import NETWORK
from sklearn_mrmp._voters.linear import LinearVoter
from sklearn_mrmp._voters.logistic import log_loss
from sklearn_mrmp._voters.told_linear import ToldLinearVoter

# What a neighbour may count for each label in which it contradicts.
_FACTORS = (1.0, 0.6, 0.35, 0.2)
# Rows are told labels as long as they have no more entries than this in all; several times, each
# time other ones, while that is less.
_MOST_ENTRIES, _ENOUGH_ENTRIES, _MOST_TIMES = 2**20, 2**15, 4
# What the network reads counts if it lowers the held-out log loss by more than so many standard
# errors.
_ERRORS = 2.0
# Mean share of the labels that are told, where no other was asked for.
_RATE = 0.5


@dataclass(frozen=True, eq=False)
class ToldPlan:
    """What is to be learned of told labels.

    Attributes
    ----------
    learn_lifts : callable or None
        Returns two csr_arrays, of labels and their weights: what told labels change in the log
        odds of those linked with them. None without a label graph.
    known_rate : float or None
        Mean share of labels that are told in the training of a regression that reads them; None
        trains no such regression.
    seed : int
        Where chance comes from.
    """

    learn_lifts: Callable | None
    known_rate: float | None
    seed: int

    @property
    def rate(self):
        """Mean share of labels that are told."""
        return _RATE if self.known_rate is None else self.known_rate

    def lifts(self, Y, weights):
        """Lifts of the rows with labels `Y`, or None."""
        return None if self.learn_lifts is None else self.learn_lifts(Y, weights)

    def linear(self, voters, rows, Y, weights, rng):
        """Regression that reads told labels, or None; it starts from the one among the voters."""
        plain = voters.get("linear")
        if self.known_rate is None or not isinstance(plain, LinearVoter):
            return None
        return ToldLinearVoter().fit(plain, rows, Y, self.known_rate, rng, weights)

    def on_all_rows(self, told, ensemble, rows, Y, weights):
        """Learn anew from all rows, with the weights that were chosen."""
        rng = np.random.default_rng(self.seed)
        linear = None
        if told.linear is not None:
            linear = self.linear(ensemble.voters, rows, Y, weights, rng)
        kept = dict(told.weights)
        if reading_network(ensemble) is None:  # a graph of other rows may have no edges
            kept.pop(NETWORK, None)
        return replace(told, lifts=self.lifts(Y, weights), weights=kept, linear=linear)


@dataclass(frozen=True, eq=False)
class ToldEvidence:
    """What told labels say about some held-out rows of a block.

    Attributes
    ----------
    chosen : ndarray of int
        Which rows of the block; each as often as it was told labels.
    told : csr_array of shape (n_chosen, n_labels)
        What is told of them.
    Y : csr_array of shape (n_chosen, n_labels)
        Their 0/1 labels.
    counts : ndarray that can be broadcast to (n_chosen, n_labels)
        How much each entry counts.
    parts : dict of str to ndarray of shape (n_chosen, n_labels)
        Parts of the vote; of the regression that reads told labels its logits.
    doubts : dict of str to dict of float to ndarray of shape (n_chosen, n_labels)
        Logits of the voters that count less what contradicts, by voter and factor.
    """

    chosen: np.ndarray
    told: sp.csr_array
    Y: sp.csr_array
    counts: np.ndarray
    parts: dict
    doubts: dict = field(default_factory=dict)


def told_evidence(plan, ensemble, split, rows, Y, weights, votes, number):
    """Tell random labels of some held-out rows of a fold, and keep what follows from these.

    Parameters
    ----------
    plan : ToldPlan
        What to learn.
    ensemble : Ensemble
        Voters of the fold.
    split : Split
        Its training rows.
    rows, Y, weights
        Held-out rows, their labels, and what these count.
    votes : list of Votes
        Plain votes for blocks of these rows.
    number : tuple of two ints
        Which fold it is, and of how many.

    Returns
    -------
    evidence : list of ToldEvidence
        For each block.
    vote : ToldVote
        Fitted on the training rows; nothing is weighed yet.
    """
    rng = np.random.default_rng([plan.seed, number[0]])
    lifts = plan.lifts(split.Y, split.weights)
    linear = plan.linear(ensemble.voters, split.rows, split.Y, split.weights, rng)
    most = max(1, _MOST_ENTRIES // (Y.shape[1] * number[1] * len(votes)))
    times = int(np.clip(_ENOUGH_ENTRIES // (np.prod(Y.shape) * number[1]), 1, _MOST_TIMES))
    found = []
    for block, plain in zip(row_blocks(*Y.shape), votes, strict=True):
        chosen = np.tile(evenly_spaced(block.stop - block.start, most), times)
        numbers = chosen + block.start
        some = EntryWeights() if weights is None else weights.take(numbers)
        known, counts = some.known, some.entries()
        counts = np.float32(1 / times) * (np.ones((1, 1), np.float32) if counts is None else counts)
        told = random_telling(Y[numbers], plan.rate, rng, known)
        parts = told_parts(told, lifts)
        if linear is not None:
            parts[LINEAR] = linear.logits(rows, told, numbers)
        if reading_network(ensemble) is not None:
            parts[NETWORK] = network_part(ensemble, plain.take(chosen), rows.take(numbers), told)
        doubts = {
            name: dict(zip(_FACTORS, voter.told_logits(rows, told, _FACTORS, numbers), strict=True))
            for name, voter in doubting(ensemble).items()
        }
        found.append(ToldEvidence(chosen, told, Y[numbers], counts, parts, doubts))
    return found, ToldVote(lifts, {}, linear=linear)


def tuned(vote, ensemble, votes, evidence):
    """Weigh the parts.

    Parameters
    ----------
    vote : ToldVote
        Not weighed.
    ensemble : Ensemble
        Who votes, with weights.
    votes : list of Votes
        Votes for blocks of held-out rows.
    evidence : list of ToldEvidence
        For each of these blocks.

    Returns
    -------
    vote : ToldVote
    """
    factor = _best_factor(evidence)
    weighed = []
    for some, plain in zip(evidence, votes, strict=True):
        plain = plain.take(some.chosen)
        untold = is_untold(some.told)
        for name, by_factor in some.doubts.items():
            # What is told of a label must not decide about that label.
            plain.logits[name] = np.where(untold, by_factor[factor], plain.logits[name])
        parts = {VOTE: ensemble.log_odds(plain), **some.parts}
        if LINEAR in parts:
            parts[LINEAR] = parts[LINEAR] - plain.logits["linear"]
        counts = some.counts * _others_are_told(some.told)
        weighed.append((Votes(parts, counts=counts), some.Y.toarray()))
    return replace(vote, weights=_weights(weighed), factor=factor)


def _weights(evidence):
    """Weights of the parts; that of the network is left out unless it surely helps."""
    weigh = partial(vote_weights, start={VOTE: 1.0}, signed=(NUMBER,))
    without = [(votes.without(NETWORK), truth) for votes, truth in evidence]
    if all(NETWORK in votes.logits for votes, _ in evidence):
        gain = vote_gain(evidence, NETWORK, weigh)
        if gain.gain > _ERRORS * gain.standard_error:
            return weigh(evidence)
    return weigh(without)


def _others_are_told(told):
    """1 for the entries of which something is told of the row's other labels, else 0; float32."""
    told = abs(told)
    return (told.sum(axis=1)[:, None] > told.toarray()).astype(np.float32)


def _best_factor(evidence):
    """Factor with the smallest log loss of those who doubt, about labels that are not told."""
    if not any(some.doubts for some in evidence):
        return 1.0
    losses = dict.fromkeys(_FACTORS, 0.0)
    for some in evidence:
        counts = some.counts * is_untold(some.told)
        for by_factor in some.doubts.values():
            for factor, Z in by_factor.items():
                losses[factor] += log_loss(Z, some.Y, counts)
    return min(losses, key=losses.get)
