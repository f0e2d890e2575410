"""The vote about rows of which some labels are told: how the others follow from these.

To the log odds of the plain vote come what the label graph says of the labels linked with the told
ones, a term for the number of labels told to be there and, if it was asked for, what a regression
and a network that read told labels say beyond those that do not; neighbours that contradict count
less.
None of the added parts of a label looks at what is told of that label itself. Held-out rows weigh
the parts. Knows voters by their methods, votes and their weights.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._ensemble.weights import Votes, weighted
from sklearn_mrmp._model_files.part import Part, require
from sklearn_mrmp._voters.choice import NETWORK
from sklearn_mrmp._voters.told_linear import ToldLinearVoter

# Names of the parts of the sum, beside that of the network.
VOTE, PRESENT, ABSENT, NUMBER, LINEAR = "vote", "present", "absent", "number", "linear"


@dataclass(frozen=True, eq=False)
class ToldVote:
    """What is added to a vote when labels are told.

    Attributes
    ----------
    lifts : tuple of two csr_arrays of shape (n_labels, n_labels), or None
        Changes of log odds along the edges of the label graph, for labels told to be there and
        told not to be; None without a graph.
    weights : mapping of str to float
        Weight of each part, the plain vote among them.
    factor : float
        What a neighbour counts for each told label in which it contradicts.
    linear : ToldLinearVoter or None
        The regression that reads told labels.
    """

    lifts: tuple | None
    weights: Mapping
    factor: float = 1.0
    linear: ToldLinearVoter | None = None

    def log_odds(self, ensemble, votes, rows, told, chosen):
        """Log odds of all labels of some rows, given what is told of them.

        Parameters
        ----------
        ensemble : Ensemble
            Who votes.
        votes : Votes
            Its votes for the chosen rows.
        rows : EncodedRows
            Rows.
        told : csr_array of shape (n_chosen, n_labels)
            1 and -1 where a label of the chosen rows is told to be there or not to be.
        chosen : ndarray of int
            Which of the rows.

        Returns
        -------
        Z : ndarray of shape (n_chosen, n_labels), float32
            A row's numbers depend on it and on what is told of it alone.
        """
        votes = self.doubted(ensemble, votes, rows, told, chosen)
        added = self.added(ensemble, votes, rows, told, chosen)
        parts = {VOTE: ensemble.log_odds(votes), **added}
        return weighted(Votes(parts), self.weights)

    def doubted(self, ensemble, votes, rows, told, chosen):
        """Return the votes with neighbours that contradict counting less; see `log_odds`."""
        votes = replace(votes, logits={**votes.logits})
        for name, voter in doubting(ensemble).items():
            (votes.logits[name],) = voter.told_logits(rows, told, (self.factor,), chosen)
        return votes

    def added(self, ensemble, votes, rows, told, chosen):
        """Return what is added to the plain vote, by name and before its weight."""
        parts = told_parts(told, self.lifts)
        if self.linear is not None:
            parts[LINEAR] = self.linear.logits(rows, told, chosen) - votes.logits["linear"]
        if NETWORK in self.weights:
            parts[NETWORK] = network_part(ensemble, votes, rows.take(chosen), told)
        return parts


def doubting(ensemble):
    """Voters that can count less what contradicts the told labels, by name."""
    return {name: v for name, v in ensemble.voters.items() if hasattr(v, "told_logits")}


def reading_network(ensemble):
    """Return the network, if there is one that reads told labels, else None."""
    network = ensemble.voters.get(NETWORK)
    return network if getattr(network, "reads_told", False) else None


def network_part(ensemble, votes, rows, told):
    """Return what the network adds to its plain vote for rows, float32 (n_samples, n_labels).

    Of labels that are no candidates it says nothing more.
    """
    found = ensemble.voters[NETWORK].logits(rows, votes.candidates, told) - votes.logits[NETWORK]
    if votes.candidates is None:
        return found
    part = np.zeros(told.shape, dtype=np.float32)
    np.put_along_axis(part, votes.candidates, found, axis=1)
    return part


def told_parts(told, lifts):
    """Parts that follow from what is told alone, by name.

    Examples
    --------
    >>> told = sp.csr_array(np.float32([[1, 1, 0]]))
    >>> told_parts(told, None)["number"].round(2)    # the other labels that are told to be there
    array([[0.69, 0.69, 1.1 ]], dtype=float32)
    """
    present, absent = told.maximum(0), (-told).maximum(0)
    parts = {}
    if lifts is not None:
        parts = {
            PRESENT: (present @ lifts[0]).toarray(),
            ABSENT: (absent @ lifts[1]).toarray(),
        }
    others = present.sum(axis=1)[:, None] - present.toarray()
    return parts | {NUMBER: np.log1p(others)}


def _complete(vote):
    """Check, in a model file, that lifts, weights and the regression belong to each other."""
    names = {VOTE, NUMBER}
    if vote.lifts is not None:
        require(isinstance(vote.lifts, tuple) and len(vote.lifts) == 2, "lifts of told labels")
        for lifts in vote.lifts:
            is_one = type(lifts) is sp.csr_array and lifts.dtype == np.float32
            require(is_one and lifts.shape[0] == lifts.shape[1], "lifts of told labels")
        require(vote.lifts[0].shape == vote.lifts[1].shape, "lifts of told labels")
        names |= {PRESENT, ABSENT}
    if vote.linear is not None:
        require(type(vote.linear) is ToldLinearVoter, "a regression that reads told labels")
        names |= {LINEAR}
    require(isinstance(vote.weights, dict), "told labels")
    require(vote.weights.keys() - {NETWORK} == names, "told labels")
    numbers = (*vote.weights.values(), vote.factor)
    require(all(isinstance(number, float) for number in numbers), "weights of told labels")


ToldVote._model_part = Part(complete=_complete)
