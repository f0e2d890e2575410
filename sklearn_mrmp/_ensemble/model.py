"""The fitted model as a whole: networks and paths, and how their votes are put together.

From validated rows to probabilities. Knows the parts by their methods; nothing of scikit-learn's
contracts, of training or of decisions.
"""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_mrmp._ensemble.weights import Votes, vote_weights, weighted
from sklearn_mrmp._host.threads import run_on_rows
from sklearn_mrmp._numerics.log_odds import to_probabilities
from sklearn_mrmp._numerics.rows import evenly_spaced
from sklearn_mrmp._voters.shortlist import blocks, top_labels

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
        if self.n_candidates is None:
            return self.mixed(self.votes(X))
        return self._shortlisted_probabilities(X)

    def block_probabilities(self, X, n_labels):
        """Return the same of many rows, of which a block is in work at a time."""
        parts = [self.probabilities(X[rows]) for rows in blocks(X.shape[0], n_labels)]
        return np.concatenate(parts)

    def mixed(self, votes):
        """Probabilities of votes, with the weights of this model."""
        if not self.has_paths:
            Z = votes.networks.copy()
        elif votes.candidates is None:
            Z = self._weighted_and_shifted(votes)
        else:
            Z = weighted(votes.without_networks(), self.outside_weights)
            decoded = self._weighted_and_shifted(votes.shortlisted(), votes.candidates)
            np.put_along_axis(Z, votes.candidates, decoded, axis=1)
        return self._finished(to_probabilities(Z))

    def _finished(self, P):
        """Probabilities as they are returned; `P` may be overwritten."""
        if self.sets is not None:
            P = self.sets.mix(P)
        return np.clip(P, _PROBABILITY_MARGIN, 1 - _PROBABILITY_MARGIN, out=P)

    def _weighted_and_shifted(self, votes, candidates=None):
        """Logits of the labels that the networks have decoded; None is all."""
        Z = weighted(votes, self.weights)
        if self.shifts is None:
            return Z
        return Z + (self.shifts if candidates is None else self.shifts[candidates])

    def _shortlisted_probabilities(self, X):
        """Return ``mixed(votes(X))``, but keep what each path says for the candidates alone."""
        bag, n_labels, voted = self.encoder.bag(X), self.linear.shape[1], {}
        Z = np.empty((X.shape[0], n_labels), dtype=np.float32)
        candidates = np.empty((X.shape[0], self.n_candidates), dtype=np.int64)

        def look_for_candidates(rows):
            paths = self._path_votes(bag[rows])
            Z[rows] = weighted(paths, self.outside_weights)
            candidates[rows] = top_labels(Z[rows], self.n_candidates)
            voted[rows.start] = replace(paths, candidates=candidates[rows]).shortlisted()

        def put_together(rows):
            votes = replace(voted[rows.start], networks=networks[rows])
            decoded = self._weighted_and_shifted(votes, candidates[rows])
            np.put_along_axis(Z[rows], candidates[rows], decoded, axis=1)
            to_probabilities(Z[rows])

        run_on_rows(look_for_candidates, len(Z), n_labels)
        networks = self._mean_logits(self.encoder.transform(X), candidates)
        run_on_rows(put_together, len(Z), n_labels)
        return self._finished(Z)

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

    def similar_rows(self, X):
        """Return the training rows most similar to rows `X`; None if none are remembered."""
        return None if self.neighbors is None else self.neighbors.similar_rows(self.encoder.bag(X))

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
