"""Votes of several models for the labels of some rows, and the weights that suit them best.

The log odds of a label are a sum of the voters' logits, each with one weight for all labels, and of
the label's own log odds: a weight below zero there undoes that every voter has counted the label's
frequency. numpy and scipy only.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

# Held-out rows count as if this many entries had already spoken for equal weights.
_PRIOR_ENTRIES = 20.0
# Four numbers need no more entries than this.
_MOST_ENTRIES = 2**22
_VOTER_BOUNDS, _LOG_ODDS_BOUNDS = (0.0, 2.0), (-1.0, 1.0)
# A label's shift is held at 0 as by this much information; a row of even odds has a quarter.
_PRIOR_INFORMATION = 3.0
# Newton's steps for shifts: how many and how long at most, and when they are done.
_MOST_STEPS, _LONGEST_STEP, _SHORTEST_STEP = 30, 1.0, 1e-3


@dataclass(frozen=True, eq=False)
class Votes:
    """Logits of some rows by each voter; None where there is no such voter.

    Attributes
    ----------
    networks : ndarray of shape (n_samples, n_labels) or (n_samples, k)
        Mean of the networks, for all labels or for the `candidates`.
    linear, neighbors : ndarray of shape (n_samples, n_labels)
        The paths.
    log_odds : ndarray of shape (n_labels,) or (n_samples, n_labels)
        Frequencies of the labels.
    candidates : ndarray of shape (n_samples, k)
        Labels the networks have decoded; None is all.
    """

    networks: np.ndarray | None
    linear: np.ndarray | None = None
    neighbors: np.ndarray | None = None
    log_odds: np.ndarray | None = None
    candidates: np.ndarray | None = None

    @property
    def voters(self):
        """Logits in the order of the weights."""
        return self.networks, self.linear, self.neighbors, self.log_odds

    def without_networks(self):
        """Return the votes of the paths, for all labels."""
        return replace(self, networks=None, candidates=None)

    def shortlisted(self):
        """Return the votes of all for the labels that the networks have decoded."""
        if self.candidates is None:
            return self
        linear, neighbors = (
            None if Z is None else np.take_along_axis(Z, self.candidates, axis=1)
            for Z in (self.linear, self.neighbors)
        )
        log_odds = None if self.log_odds is None else self.log_odds[self.candidates]
        return Votes(self.networks, linear, neighbors, log_odds)


def weighted(votes, weights):
    """Weighted sum of the logits of all voters, float32.

    Examples
    --------
    >>> votes = Votes(np.float32([[1, 2]]), linear=np.float32([[2, 0]]))
    >>> weighted(votes, (1.0, 0.5, 0.0, 0.0)).tolist()
    [[2.0, 2.0]]
    """
    voting = [(w, Z) for w, Z in zip(weights, votes.voters, strict=True) if Z is not None]
    total = np.float32(voting[0][0]) * voting[0][1]
    for weight, Z in voting[1:]:  # log odds, one number per label, come last
        total += np.float32(weight) * Z
    return total


def vote_weights(evidence):
    """Weights of the voters with the smallest log loss; a convex problem.

    A few rows must not decide alone: the loss is that of the held-out entries plus a pull towards
    equal weights that is worth `_PRIOR_ENTRIES` of them.

    Parameters
    ----------
    evidence : list of (Votes, ndarray)
        Votes for rows that no voter was fitted on, and the 0/1 truth of the same shape. Of very
        many entries some are used, at equal distances.

    Returns
    -------
    weights : tuple of float
        Weights of networks, linear path, neighbours and log odds; 0 for voters that are not there.
    """
    logits, truth = _flattened(evidence)
    present = [place for place, z in enumerate(logits) if z is not None]
    n_voters = sum(place < 3 for place in present)
    start = np.array([1 / n_voters if place < 3 else 0.0 for place in present])
    bounds = [_VOTER_BOUNDS if place < 3 else _LOG_ODDS_BOUNDS for place in present]
    logits = [logits[place] for place in present]

    def loss(w):
        z = sum(weight * part for weight, part in zip(w, logits, strict=True))
        error, pull = expit(z) - truth, w - start
        value = np.logaddexp(0, z).sum() - z @ truth
        gradient = np.array([error @ part for part in logits]) + _PRIOR_ENTRIES * pull
        return value + _PRIOR_ENTRIES / 2 * (pull @ pull), gradient

    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    weights = np.zeros(4)
    weights[present] = found.x
    return tuple(float(weight) for weight in weights)


def _flattened(evidence):
    """Logits of each voter for all entries, float64, or None; and the truth."""
    step = -(-sum(truth.size for _, truth in evidence) // _MOST_ENTRIES)
    voters, truths = [[], [], [], []], []
    for votes, truth in evidence:
        truths.append(truth.ravel()[::step])
        for kept, Z in zip(voters, votes.voters, strict=True):
            kept.append(None if Z is None else np.broadcast_to(Z, truth.shape).ravel()[::step])
    logits = [
        None if parts[0] is None else np.concatenate(parts).astype(np.float64) for parts in voters
    ]
    return logits, np.concatenate(truths).astype(np.float64)


def label_shifts(evidence, weights, n_labels):
    """Find what to add to each label's weighted votes so that they are right on average.

    One weight for all labels leaves some of them too likely and others not enough. A shift per
    label repairs that, and needs many rows: those of all folds.

    Parameters
    ----------
    evidence : list of (Votes, ndarray)
        Votes for rows that no voter was fitted on, and the 0/1 truth about what the networks
        decode.
    weights : tuple of float
        Weights of the votes.
    n_labels : int
        Number of labels.

    Returns
    -------
    shifts : ndarray of shape (n_labels,), float32
        Near 0 for labels that few rows speak of.

    Examples
    --------
    >>> votes = Votes(None, linear=np.zeros((400, 2), dtype=np.float32))    # even odds
    >>> truth = np.repeat([[1, 1], [1, 0]], 200, axis=0)
    >>> shifts = label_shifts([(votes, truth)], (0.0, 1.0, 0.0, 0.0), 2)
    >>> bool(shifts[0] > 3)    # all rows have the first label
    True
    >>> bool(abs(shifts[1]) < 0.01)    # half of them the second
    True
    """
    blocks = [(weighted(v.shortlisted(), weights), truth, v.candidates) for v, truth in evidence]
    shifts = np.zeros(n_labels)
    for _ in range(_MOST_STEPS):
        slope, information = _PRIOR_INFORMATION * shifts, np.full(n_labels, _PRIOR_INFORMATION)
        for Z, truth, labels in blocks:
            P = expit(Z + (shifts if labels is None else shifts[labels]))
            slope += _sum_by_label(P - truth, labels, n_labels)
            information += _sum_by_label(P * (1 - P), labels, n_labels)
        step = np.clip(slope / information, -_LONGEST_STEP, _LONGEST_STEP)
        shifts -= step
        if np.abs(step).max() < _SHORTEST_STEP:
            break
    return shifts.astype(np.float32)


def _sum_by_label(values, labels, n_labels):
    """Sum values (n_samples, n_labels), or (n_samples, k) of the given labels, over rows."""
    if labels is None:
        return values.sum(axis=0)
    return np.bincount(labels.ravel(), weights=values.ravel(), minlength=n_labels)
