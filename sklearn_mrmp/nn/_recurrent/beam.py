"""Beam search for the most probable label sets, of networks that name one label after the other.

Shapes are those of the legend in `sklearn_mrmp.nn`; besides, K is the number of hypotheses of a
row. Labels are numbered from 1, and 0 is the end of a sequence. Leaf module: torch alone.
"""

from typing import NamedTuple

import torch


class Hypotheses(NamedTuple):
    """The label sets that a search has found for each row, and how probable they are.

    Attributes
    ----------
    log_p : Tensor of shape (B, K)
        Log probability of each sequence, falling; −inf where there are fewer than K.
    sets : bool Tensor of shape (B, K, L)
        Labels of each sequence.
    """

    log_p: torch.Tensor
    sets: torch.Tensor

    def coverage(self):
        """Probability of all sequences together, (B,): what the search has seen of it."""
        return torch.logsumexp(self.log_p, dim=1).exp()

    def marginals(self):
        """Probability of each label, given that the sequence is one of these, (B, L)."""
        weights = torch.softmax(self.log_p, dim=1)
        return torch.bmm(weights[:, None], self.sets.to(weights.dtype))[:, 0]

    def best(self, length_penalty=0.0):
        """Return the most probable set of each row, bool (B, L).

        Parameters
        ----------
        length_penalty : float, default=0.0
            The log probability of a set is divided by this power of the length of its sequence,
            the end included, so that 1 favours large sets. 0 takes the most probable set.
        """
        sets = self.sets.to(self.log_p.dtype)
        sizes = sets.sum(dim=2)  # (B, K)
        shared = torch.bmm(sets, sets.transpose(1, 2))
        same = (shared == sizes[:, :, None]) & (shared == sizes[:, None])
        # Sequences of one set in different orders count together.
        log_p = self.log_p[:, None].expand_as(shared).masked_fill(~same, -torch.inf)
        scores = torch.logsumexp(log_p, dim=2) / (sizes + 1.0) ** length_penalty
        chosen = scores.argmax(dim=1)
        return torch.take_along_dim(self.sets, chosen[:, None, None], dim=1)[:, 0]


def beam_search(step, states, n_labels, width, max_labels):
    """Search for the most probable sequences of labels of each row.

    After each step the `width` most probable sequences of a row are kept, ended or not. Since
    sequences only lose probability as they grow, nothing can change when all have ended; what is
    found for a row does not depend on the rows beside it.

    Parameters
    ----------
    step : callable
        Takes, for N sequences that have not ended, the number of the row of each (N,), its last
        label (N,), 0 at the start, its state (N, d) and the labels given so far, bool
        (N, 1 + L). Returns the log probabilities of what comes next, (N, 1 + L), −inf where it is
        forbidden, and the new states.
    states : Tensor of shape (B, d)
        States to start from.
    n_labels : int
        Number of labels, L.
    width : int
        Sequences to keep of each row.
    max_labels : int
        Labels of a sequence at most; one that has not ended then is kept as it is.

    Returns
    -------
    found : Hypotheses
    """
    n_rows, n_next = len(states), 1 + n_labels
    log_p, states = states.new_zeros(n_rows, 1), states[:, None]
    previous = torch.zeros(n_rows, 1, dtype=torch.int64, device=states.device)
    given = torch.zeros(n_rows, 1, n_next, dtype=torch.bool, device=states.device)
    ended = previous > 0
    for _ in range(max_labels):
        live = _live(ended)
        if not len(live[0]):
            break
        # An ended sequence goes on as it is.
        totals = states.new_full((*ended.shape, n_next), -torch.inf)
        totals[:, :, 0] = log_p
        log_next, next_states = step(live[0], previous[live], states[live], given[live])
        totals[live] = log_p[live][:, None] + log_next
        states = states.index_put(live, next_states)
        totals = totals.flatten(1)
        log_p, places = totals.topk(min(width, totals.shape[1]))
        parents, previous = places // n_next, places % n_next
        states, given = (_picked(part, parents) for part in (states, given))
        given = given.scatter(2, previous[:, :, None], True)
        ended = ended.gather(1, parents) | (previous == 0) | (log_p == -torch.inf)
    return Hypotheses(log_p, given[:, :, 1:])


def _picked(parts, parents):
    """Parts (B, K, d) of the given parents (B, K')."""
    return torch.take_along_dim(parts, parents[:, :, None], dim=1)


def _live(ended):
    """Numbers of the rows and places of sequences that have not ended; waits for the device."""
    return torch.nonzero(~ended, as_tuple=True)
