"""The fitted model as a whole: networks and paths, and how their votes are put together.

From validated rows to probabilities. Knows the parts by their methods; nothing of scikit-learn's
contracts, of training or of decisions.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from sklearn_mrmp._label_votes import Votes, vote_weights, weighted
from sklearn_mrmp._row_choice import evenly_spaced
from sklearn_mrmp._shortlist import blocks, top_labels

# Probabilities stay strictly inside (0, 1), so that their logits and logarithms are finite.
_PROBABILITY_MARGIN = 1e-7
# Labels outside the shortlists are weighted by what this many entries of held-out rows say.
_OUTSIDE_ENTRIES = 2**22


@dataclass(eq=False)
class LabelModel:
    """Networks, and the paths that vote beside them where there are any.

    Attributes
    ----------
    encoder : FeatureTokens or SequenceTokens
        Turns rows into tokens and bags.
    nets : list of MrMPNet
        Trained networks; their logits are averaged.
    linear : LinearPath, LabelCentroids or None
        Votes beside the networks.
    neighbors : NeighborPath or None
        Votes beside the networks.
    log_odds : ndarray of shape (n_labels,), float32, or None
        Smoothed frequencies of the labels in the training rows.
    n_candidates : int or None
        Labels per row that the networks decode, named by the paths; None is all.
    weights : tuple of float
        Weights of networks, linear path, neighbours and log odds.
    outside_weights : tuple of float
        The same for labels that the networks do not decode.
    shifts : ndarray of shape (n_labels,), float32, or None
        Added to the weighted votes for labels that the networks decode.
    sets : LabelSetVote or None
        Draws probabilities towards those under the label sets seen in training.
    """

    encoder: object
    nets: list
    linear: object = None
    neighbors: object = None
    log_odds: object = None
    n_candidates: int | None = None
    weights: tuple = (1.0, 0.0, 0.0, 0.0)
    outside_weights: tuple = (0.0, 1.0, 0.0, 0.0)
    shifts: object = None
    sets: object = None

    @property
    def has_paths(self):
        """Whether anything votes beside the networks."""
        return self.linear is not None or self.neighbors is not None

    def probabilities(self, X):
        """Probability of each label, float32 of shape (n_samples, n_labels)."""
        return self.mixed(self.votes(X))

    def block_probabilities(self, X, n_labels):
        """Return the same of many rows, of which a block is in work at a time."""
        parts = [self.probabilities(X[rows]) for rows in blocks(X.shape[0], n_labels)]
        return np.concatenate(parts)

    def mixed(self, votes):
        """Probabilities of votes, with the weights of this model."""
        if not self.has_paths:
            Z = votes.networks
        elif votes.candidates is None:
            Z = self._weighted_and_shifted(votes)
        else:
            Z = weighted(votes.without_networks(), self.outside_weights)
            np.put_along_axis(Z, votes.candidates, self._weighted_and_shifted(votes), axis=1)
        P = expit(Z)
        if self.sets is not None:
            P = self.sets.mix(P)
        return np.clip(P, _PROBABILITY_MARGIN, 1 - _PROBABILITY_MARGIN, out=P)

    def _weighted_and_shifted(self, votes):
        """Logits of the labels that the networks have decoded."""
        Z = weighted(votes.shortlisted(), self.weights)
        if self.shifts is None:
            return Z
        return Z + (self.shifts if votes.candidates is None else self.shifts[votes.candidates])

    def tune(self, X, Y):
        """Find the weights of the votes on held-out rows `X` with labels `Y`."""
        if self.has_paths:
            evidence = self.evidence(X, Y)
            self.weights = vote_weights([(v.shortlisted(), truth) for v, truth in evidence])

    def evidence(self, X, Y):
        """Yield the votes of blocks of rows, and the truth about what the networks decode."""
        for rows in blocks(X.shape[0], Y.shape[1]):
            votes, truth = self.votes(X[rows]), Y[rows].toarray()
            if votes.candidates is not None:
                truth = np.take_along_axis(truth, votes.candidates, axis=1)
            yield votes, truth

    def tune_outside(self, X, Y):
        """Find the weights of the paths alone on held-out rows; shortlists follow them."""
        chosen = evenly_spaced(X.shape[0], max(1, _OUTSIDE_ENTRIES // Y.shape[1]))
        evidence = [(self._path_votes(self.encoder.bag(X[chosen])), Y[chosen].toarray())]
        self.outside_weights = vote_weights(evidence)

    def logits(self, bag):
        """Logits of all labels by the paths alone; `bag` is what linear models read."""
        return weighted(self._path_votes(bag), self.outside_weights)

    def votes(self, X):
        """Votes of networks and paths for rows `X`."""
        rows = self.encoder.transform(X)
        if not self.has_paths:
            return Votes(self._mean_logits(rows))
        paths, candidates = self._path_votes(self.encoder.bag(X)), None
        if self.n_candidates is not None:
            scores = weighted(paths, self.outside_weights)
            candidates = top_labels(scores, self.n_candidates).astype(np.int64)
        networks = self._mean_logits(rows, candidates)
        return Votes(networks, paths.linear, paths.neighbors, paths.log_odds, candidates)

    def _path_votes(self, bag):
        linear, neighbors = (
            None if path is None else path.logits(bag) for path in (self.linear, self.neighbors)
        )
        return Votes(None, linear, neighbors, self.log_odds)

    def _mean_logits(self, rows, candidates=None):
        total = self.nets[0].label_logits(rows, candidates)
        for net in self.nets[1:]:
            total += net.label_logits(rows, candidates)
        return total / np.float32(len(self.nets))
