"""The fitted ensemble: voters, their weights, and how votes become probabilities.

From encoded rows to probabilities. Knows the voters by their methods; nothing of scikit-learn's
contracts, of training or of decisions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sklearn_mrmp._ensemble.weights import Votes, weighted
from sklearn_mrmp._input.kinds import INPUT_KINDS
from sklearn_mrmp._model_files.part import Part, is_count, is_vector, require
from sklearn_mrmp._numerics.log_odds import to_probabilities
from sklearn_mrmp._numerics.rows import row_blocks
from sklearn_mrmp._voters.choice import FREQUENCY
from sklearn_mrmp._voters.shortlist import top_labels

# Probabilities stay strictly inside (0, 1), so that their logits and logarithms are finite.
_PROBABILITY_MARGIN = 1e-7


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Voters and how much each of them counts.

    Attributes
    ----------
    encoder : input kind
        Turns rows into what the voters read.
    voters : mapping of str to Voter
        Fitted, in the order in which their votes are added up.
    frequency : ndarray of shape (n_labels,), float32
        Log odds of the smoothed frequencies of the labels in the training rows.
    weights : mapping of str to float, or None
        Weight of each voter and of the frequency; None where a single voter is the whole ensemble.
    n_candidates : int or None
        Labels per row that voters look at which take long for each label; None is all.
    candidate_weights : mapping of str to float, or None
        Weights of the others' votes: they name the candidates, and decide about all other labels.
    shifts : ndarray of shape (n_labels,), float32, or None
        Added to the weighted votes.
    """

    encoder: object
    voters: Mapping
    frequency: np.ndarray
    weights: Mapping | None = None
    n_candidates: int | None = None
    candidate_weights: Mapping | None = None
    shifts: np.ndarray | None = None

    @property
    def scorers(self):
        """Voters that score every label, by name."""
        return {name: v for name, v in self.voters.items() if not v.decodes_candidates}

    def probabilities(self, rows):
        """Probability of each label, float32 of shape (n_samples, n_labels)."""
        return self.combined(self.votes(rows))

    def votes(self, rows):
        """Return the votes of all voters for some rows."""
        scored = {name: voter.logits(rows) for name, voter in self.scorers.items()}
        frequency = self.frequency if len(self.voters) > 1 else None
        candidates = None
        if self.n_candidates is not None:
            scores = weighted(Votes(scored, frequency), self.candidate_weights)
            candidates = top_labels(scores, self.n_candidates).astype(np.int64)
        decoded = frozenset(self.voters) - set(scored)
        logits = {
            name: voter.logits(rows, candidates) if name in decoded else scored[name]
            for name, voter in self.voters.items()
        }
        if candidates is None:
            return Votes(logits, frequency)
        return Votes(logits, frequency, candidates, decoded)

    def scores(self, rows):
        """Logits of all labels by those who name the candidates."""
        scored = {name: voter.logits(rows) for name, voter in self.scorers.items()}
        return weighted(Votes(scored, self.frequency), self.candidate_weights)

    def combined(self, votes):
        """Probabilities of votes; not yet kept inside (0, 1), see `inside`."""
        return to_probabilities(self.log_odds(votes))

    def log_odds(self, votes):
        """Weighted and shifted sum of votes, float32 of shape (n_samples, n_labels)."""
        if self.weights is None:
            (Z,) = votes.logits.values()
            return Z.copy()
        if votes.candidates is None:
            return self._weighted_and_shifted(votes)
        Z = weighted(votes.of_all_labels(), self.candidate_weights)
        decoded = self._weighted_and_shifted(votes.shortlisted(), votes.candidates)
        np.put_along_axis(Z, votes.candidates, decoded, axis=1)
        return Z

    def _weighted_and_shifted(self, votes, candidates=None):
        Z = weighted(votes, self.weights)
        if self.shifts is None:
            return Z
        return Z + (self.shifts if candidates is None else self.shifts[candidates])

    def evidence(self, rows, Y, weights=None):
        """Votes for blocks of held-out rows, each with the 0/1 truth about the candidates.

        `weights` are those of the entries, an `EntryWeights` or None.
        """
        found = []
        for block in row_blocks(*Y.shape):
            is_all = block.stop - block.start == len(rows)
            votes, truth = self.votes(rows if is_all else rows.take(block)), Y[block].toarray()
            counts = None if weights is None else weights.take(block).entries()
            if counts is not None:
                votes = replace(votes, counts=_at_candidates(counts, truth.shape, votes))
            truth = _at_candidates(truth, truth.shape, votes)
            found.append((votes, truth))
        return found

    def similar_rows(self, rows):
        """Return the training rows most similar to some rows; None if no voter remembers any."""
        for voter in self.voters.values():
            if hasattr(voter, "similar_rows"):
                return voter.similar_rows(rows)
        return None

    @property
    def finds_sets(self):
        """Whether the only voter finds label sets; what several say is about single labels."""
        voters = list(self.voters.values())
        return len(voters) == 1 and getattr(voters[0], "finds_sets", False)

    def most_probable_sets(self, rows):
        """Most probable label sets where they are found, bool (n_samples, n_labels)."""
        (voter,) = self.voters.values()
        return voter.most_probable_sets(rows)


def _at_candidates(values, shape, votes):
    """Values of all entries, or of the candidates where there are such."""
    values = np.broadcast_to(values, shape)
    if votes.candidates is None:
        return values
    return np.take_along_axis(values, votes.candidates, axis=1)


def inside(P):
    """Keep probabilities strictly inside (0, 1), in place."""
    return np.clip(P, _PROBABILITY_MARGIN, 1 - _PROBABILITY_MARGIN, out=P)


def _complete(ensemble):
    """Check, in a model file, that voters, weights and labels belong to each other."""
    require(isinstance(ensemble.encoder, tuple(INPUT_KINDS.values())), "an encoder")
    voters = ensemble.voters
    require(isinstance(voters, dict) and len(voters) > 0, "voters")
    require(all(hasattr(voter, "decodes_candidates") for voter in voters.values()), "voters")
    require(is_vector(ensemble.frequency, kinds="f"), "label frequencies")
    n_labels, k = len(ensemble.frequency), ensemble.n_candidates
    require(ensemble.shifts is None or is_vector(ensemble.shifts, n_labels, "f"), "label shifts")
    _check_weights(ensemble.weights, voters, needed=len(voters) > 1)
    _check_weights(ensemble.candidate_weights, ensemble.scorers, needed=k is not None)
    require(k is None or (is_count(k) and k < n_labels), "shortlist and labels")


def _check_weights(weights, voters, needed):
    require(isinstance(weights, dict) if needed else weights is None, "weights of voters")
    if needed:
        require(weights.keys() == {*voters, FREQUENCY}, "voters and weights")
        require(all(isinstance(weight, float) for weight in weights.values()), "weights of voters")


Ensemble._model_part = Part(complete=_complete)
