"""What one voter adds to a vote: the held-out log loss with it and without it.

Knows votes and their weights; numpy.
"""

from dataclasses import dataclass

import numpy as np

from sklearn_mrmp._ensemble.weights import vote_weights, weighted
from sklearn_mrmp._model_files.part import Part, require


@dataclass(frozen=True)
class VoteGain:
    """Share of the held-out log loss that disappears through a voter.

    Attributes
    ----------
    gain : float
        0.03 says that the log loss of the vote is 3 % smaller with the voter than without it.
    standard_error : float
        Of `gain`, from the differences between held-out rows. Of a single row both are NaN.
    """

    gain: float
    standard_error: float

    def __str__(self):
        return f"{self.gain:.1%} ± {self.standard_error:.1%}"


def vote_gain(evidence, name, weigh=vote_weights):
    """Compare the vote with a voter and without it on held-out rows.

    The weights of both votes are tuned on every other row and judged on the rest, and the other
    way round, so that a voter is not praised for having one more weight to tune.

    Parameters
    ----------
    evidence : list of (Votes, ndarray)
        Votes for rows that no voter was fitted on, and the 0/1 truth of the same shape.
    name : str
        The voter; others must be there, too.
    weigh : callable, default=vote_weights
        Returns the weights that suit some evidence.

    Returns
    -------
    gain : VoteGain

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp._ensemble.weights import Votes
    >>> truth = np.tile([[1, 0], [0, 1], [1, 1], [0, 0]], (50, 1))
    >>> votes = Votes({"network": 4.0 * truth - 2, "linear": np.zeros(truth.shape)})
    >>> vote_gain([(votes, truth)], "network").gain > 0.5
    True
    """
    evidence = [(votes.shortlisted(), truth) for votes, truth in evidence]
    if sum(len(truth) for _, truth in evidence) < 2:
        return VoteGain(float("nan"), float("nan"))  # there are no two halves
    without = _row_losses([(votes.without(name), truth) for votes, truth in evidence], weigh)
    saved = without - _row_losses(evidence, weigh)
    scale = max(without.mean(), np.finfo(np.float32).tiny)
    error = saved.std(ddof=1) / np.sqrt(len(saved))
    return VoteGain(float(saved.mean() / scale), float(error / scale))


def _row_losses(evidence, weigh):
    """Log loss of each row, by weights that were tuned on rows of the other half."""
    halves = [[_part(block, half) for block in evidence] for half in (0, 1)]
    found = []
    for judged, tuned_on in (halves, halves[::-1]):
        weights = weigh(tuned_on)
        for votes, truth in judged:
            Z = weighted(votes, weights).astype(np.float64)
            losses = np.logaddexp(0, Z) - truth * Z
            losses = losses if votes.counts is None else losses * votes.counts
            found.append(losses.sum(axis=1))
    return np.concatenate(found)


def _part(block, half):
    """Every other row of some votes and of the truth."""
    votes, truth = block
    rows = slice(half, None, 2)
    return votes.take(rows), truth[rows]


def _complete(gain):
    """Check, in a model file, that both are numbers."""
    require(all(isinstance(x, float) for x in (gain.gain, gain.standard_error)), "gain of a voter")


VoteGain._model_part = Part(complete=_complete)
