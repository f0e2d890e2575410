"""Votes of several models for the labels of some rows, and the weights that suit them best.

The log odds of a label are a sum of the voters' logits, each with one weight for all labels, and of
the label's own log odds: a weight below zero there undoes that every voter has counted the label's
frequency. Knows numpy, scipy and the names of voters.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from sklearn_mrmp._voters.choice import FREQUENCY

# Held-out rows count as if this many entries had already spoken for equal weights.
_PRIOR_ENTRIES = 20.0
# A handful of weights need no more entries than this.
_MOST_ENTRIES = 2**22
_VOTER_BOUNDS, _SIGNED_BOUNDS = (0.0, 2.0), (-1.0, 1.0)
# A label's shift is held at 0 as by this much information; a row of even odds has a quarter.
_PRIOR_INFORMATION = 3.0
# Newton's steps for shifts: how many and how long at most, and when they are done.
_MOST_STEPS, _LONGEST_STEP, _SHORTEST_STEP = 30, 1.0, 1e-3


@dataclass(frozen=True, eq=False)
class Votes:
    """Logits of some rows by each voter.

    Attributes
    ----------
    logits : mapping of str to ndarray of shape (n_samples, n_labels)
        By name of the voter. Where there are `candidates`, those of the voters in `decoded` are
        of shape (n_samples, k).
    frequency : ndarray of shape (n_labels,) or (n_samples, n_labels), default=None
        Log odds of the labels' frequencies, which count beside the voters.
    candidates : ndarray of shape (n_samples, k), default=None
        Labels that some voters have decoded; None is all.
    decoded : frozenset of str, default=frozenset()
        Who has decoded candidates only.
    counts : ndarray of shape (n_samples, n_labels) or (n_samples, k), default=None
        How much each entry, of candidates if there are such, counts as evidence: 0 where the truth
        is not known. None is 1.
    """

    logits: Mapping
    frequency: np.ndarray | None = None
    candidates: np.ndarray | None = None
    decoded: frozenset = frozenset()
    counts: np.ndarray | None = None

    def parts(self):
        """Logits by name, the frequency last."""
        if self.frequency is None:
            return dict(self.logits)
        return {**self.logits, FREQUENCY: self.frequency}

    def of_all_labels(self):
        """Return the votes of those who have scored every label."""
        scored = {name: Z for name, Z in self.logits.items() if name not in self.decoded}
        return Votes(scored, self.frequency)

    def without(self, name):
        """Return the votes of the others, none of which has decoded candidates only."""
        logits = {other: Z for other, Z in self.logits.items() if other != name}
        return Votes(logits, self.frequency, counts=self.counts)

    def take(self, chosen):
        """Return the votes for some rows."""
        logits = {name: Z[chosen] for name, Z in self.logits.items()}
        frequency, (candidates, counts) = (
            self.frequency,
            (None if part is None else part[chosen] for part in (self.candidates, self.counts)),
        )
        if frequency is not None and frequency.ndim == 2:
            frequency = frequency[chosen]
        return Votes(logits, frequency, candidates, self.decoded, counts)

    def shortlisted(self):
        """Return the votes of all voters for the candidates."""
        if self.candidates is None:
            return self
        logits = {
            name: Z if name in self.decoded else np.take_along_axis(Z, self.candidates, axis=1)
            for name, Z in self.logits.items()
        }
        frequency = None if self.frequency is None else self.frequency[self.candidates]
        return Votes(logits, frequency, counts=self.counts)


def weighted(votes, weights):
    """Weighted sum of the logits of all voters, float32.

    Examples
    --------
    >>> votes = Votes({"network": np.float32([[1, 2]]), "linear": np.float32([[2, 0]])})
    >>> weighted(votes, {"network": 1.0, "linear": 0.5}).tolist()
    [[2.0, 2.0]]
    """
    (first, Z), *others = votes.parts().items()
    total = np.float32(weights[first]) * Z
    for name, Z in others:  # the frequency, one number per label, comes last
        total += np.float32(weights[name]) * Z
    return total


def vote_weights(evidence, start=None, signed=(FREQUENCY,)):
    """Weights of the voters with the smallest log loss; a convex problem.

    A few rows must not decide alone: the loss is that of the held-out entries plus a pull towards
    equal weights that is worth `_PRIOR_ENTRIES` of them.

    Parameters
    ----------
    evidence : list of (Votes, ndarray)
        Votes for rows that no voter was fitted on, and the 0/1 truth of the same shape. Of very
        many entries some are used, at equal distances.
    start : mapping of str to float, default=None
        The weights that the pull is towards, 0 for those that are not named; None is equal weights
        of all voters, and 0 for the frequency.
    signed : collection of str, default=("frequency",)
        Whose weight may be below 0.

    Returns
    -------
    weights : dict of str to float
        By name of the voter, and of the frequency.
    """
    logits, truth, counts = _flattened(evidence)
    names, parts = list(logits), list(logits.values())
    if start is None:
        voters = [name for name in names if name not in signed]
        start = dict.fromkeys(voters, 1 / len(voters))
    start = np.array([start.get(name, 0.0) for name in names])
    bounds = [_SIGNED_BOUNDS if name in signed else _VOTER_BOUNDS for name in names]

    def loss(w):
        z = sum(weight * part for weight, part in zip(w, parts, strict=True))
        error, pull = _counted(expit(z) - truth, counts), w - start
        value = _counted(np.logaddexp(0, z), counts).sum() - _counted(z, counts) @ truth
        gradient = np.array([error @ part for part in parts]) + _PRIOR_ENTRIES * pull
        return value + _PRIOR_ENTRIES / 2 * (pull @ pull), gradient

    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return {name: float(weight) for name, weight in zip(names, found.x, strict=True)}


def _flattened(evidence):
    """Logits of each voter for all entries, float64, by name; the truth, and what entries count."""
    step = -(-sum(truth.size for _, truth in evidence) // _MOST_ENTRIES)
    kept, truths, counts = {}, [], []
    for votes, truth in evidence:
        truths.append(truth.ravel()[::step])
        if votes.counts is not None:
            counts.append(votes.counts.ravel()[::step])
        for name, Z in votes.parts().items():
            kept.setdefault(name, []).append(np.broadcast_to(Z, truth.shape).ravel()[::step])
    logits = {name: np.concatenate(parts).astype(np.float64) for name, parts in kept.items()}
    counts = np.concatenate(counts).astype(np.float64) if counts else None
    return logits, np.concatenate(truths).astype(np.float64), counts


def _counted(values, counts):
    """Values of entries times what these count; None is 1."""
    return values if counts is None else values * counts


def label_shifts(evidence, weights, n_labels):
    """Find what to add to each label's weighted votes so that they are right on average.

    One weight for all labels leaves some of them too likely and others not enough. A shift per
    label repairs that, and needs many rows: those of all folds.

    Parameters
    ----------
    evidence : list of (Votes, ndarray)
        Votes for rows that no voter was fitted on, and the 0/1 truth about the
        candidates, or about all labels.
    weights : dict of str to float
        Weights of the votes.
    n_labels : int
        Number of labels.

    Returns
    -------
    shifts : ndarray of shape (n_labels,), float32
        Near 0 for labels that few rows speak of.

    Examples
    --------
    >>> votes = Votes({"linear": np.zeros((400, 2), dtype=np.float32)})    # even odds
    >>> truth = np.repeat([[1, 1], [1, 0]], 200, axis=0)
    >>> shifts = label_shifts([(votes, truth)], {"linear": 1.0}, 2)
    >>> bool(shifts[0] > 3)    # all rows have the first label
    True
    >>> bool(abs(shifts[1]) < 0.01)    # half of them the second
    True
    """
    blocks = [(weighted(v.shortlisted(), weights), truth, v) for v, truth in evidence]
    shifts = np.zeros(n_labels)
    for _ in range(_MOST_STEPS):
        slope, information = _PRIOR_INFORMATION * shifts, np.full(n_labels, _PRIOR_INFORMATION)
        for Z, truth, votes in blocks:
            labels, counts = votes.candidates, votes.counts
            P = expit(Z + (shifts if labels is None else shifts[labels]))
            slope += _sum_by_label(_counted(P - truth, counts), labels, n_labels)
            information += _sum_by_label(_counted(P * (1 - P), counts), labels, n_labels)
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
