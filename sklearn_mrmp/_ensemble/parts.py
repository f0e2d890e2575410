"""The log odds of one label of one row as a sum: who voted, and with which weight.

`Ensemble.log_odds` adds the same numbers up for all labels at once. Knows votes, ensembles and what
told labels add to them.
"""

from dataclasses import dataclass

import numpy as np

from sklearn_mrmp._ensemble.told import ABSENT, LINEAR, NUMBER, PRESENT, VOTE
from sklearn_mrmp._voters.choice import NETWORK

# Name of the part that cross-fitting adds to each label.
SHIFT = "shift"
# How terms of told labels are called that are about no single label.
OF_ALL_TOLD = {
    NUMBER: "number of told labels",
    LINEAR: "regression that reads told labels",
    NETWORK: "network that reads told labels",
}


@dataclass(frozen=True)
class PlainVote:
    """What one voter says about a label of a row.

    Attributes
    ----------
    weight : float
        Weight of its log odds.
    log_odds : float
        Its own log odds.
    """

    weight: float
    log_odds: float

    @property
    def value(self):
        """What is added to the log odds of the label."""
        return self.weight * self.log_odds


def plain_votes(ensemble, votes, row, label):
    """Return who votes about a label of a row.

    Parameters
    ----------
    ensemble : Ensemble
        Who votes.
    votes : Votes
        Its votes for some rows.
    row, label : int
        Which of the rows, and which label.

    Returns
    -------
    parts : dict of str to PlainVote
        By name of the voter; then those of the frequency and of the label's shift. Their values
        add up to the label's log odds.
    """
    if ensemble.weights is None:
        return {name: PlainVote(1.0, float(Z[row, label])) for name, Z in votes.logits.items()}
    place, weights = label, ensemble.weights
    if votes.candidates is not None:
        found = np.flatnonzero(votes.candidates[row] == label)
        place = int(found[0]) if len(found) else None
        weights = weights if len(found) else ensemble.candidate_weights
    parts = {}
    for name, Z in votes.parts().items():
        if name in votes.decoded and place is None:
            continue
        column = place if name in votes.decoded else label
        own = Z[column] if Z.ndim == 1 else Z[row, column]
        parts[name] = PlainVote(float(np.float32(weights[name])), float(own))
    if ensemble.shifts is not None and place is not None:
        parts[SHIFT] = PlainVote(1.0, float(ensemble.shifts[label]))
    return parts


def told_votes(told_vote, parts):
    """Return the plain votes about a label as they count where something is told of the row."""
    weight = float(np.float32(told_vote.weights[VOTE]))
    return {name: PlainVote(weight * part.weight, part.log_odds) for name, part in parts.items()}


def told_terms(told_vote, added, told, row, label):
    """Return what told labels add to the log odds of a label of a row, by what it is about.

    Parameters
    ----------
    told_vote : ToldVote
        What is added.
    added : dict of str to ndarray of shape (n_samples, n_labels)
        As its `added` returned it.
    told : csr_array of shape (n_samples, n_labels)
        1 and -1 where a label is told to be there or not to be.
    row, label : int
        Which of the rows, and which label.

    Returns
    -------
    terms : list of (int or str, float)
        Number of the told label, or what else it is, and what it adds.
    """
    weights, terms = told_vote.weights, []
    entries = told[[row]]
    if told_vote.lifts is not None:
        for other, sign in zip(entries.indices, entries.data, strict=True):
            name, lifts = (PRESENT, 0) if sign > 0 else (ABSENT, 1)
            terms.append((int(other), weights[name] * float(told_vote.lifts[lifts][other, label])))
    for name, what in OF_ALL_TOLD.items():
        if name in added:
            terms.append((what, weights[name] * float(added[name][row, label])))
    return terms
