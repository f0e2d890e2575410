"""The fitted model as a whole: networks and linear path, and how their votes are put together.

From validated rows to probabilities. Knows the parts by their methods; nothing of scikit-learn's
contracts, of training or of decisions.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from sklearn_mrmp._shortlist import blocks, top_labels

# Probabilities stay strictly inside (0, 1), so that their logits and logarithms are finite.
_PROBABILITY_MARGIN = 1e-7
# Held-out rows count as if this many entries had already spoken for equal weights.
_PRIOR_ENTRIES = 20.0


@dataclass(eq=False)
class LabelModel:
    """Networks, and the linear path where there is one.

    Attributes
    ----------
    encoder : FeatureTokens or SequenceTokens
        Turns rows into tokens and bags.
    nets : list of MrMPNet
        Trained networks; their logits are averaged.
    linear : LinearPath or None
        Votes beside the networks.
    n_candidates : int or None
        Labels per row that the networks decode, named by the linear path; None is all.
    weights : tuple of (float, float)
        Weight of the networks' and of the linear logits.
    """

    encoder: object
    nets: list
    linear: object = None
    n_candidates: int | None = None
    weights: tuple = (1.0, 0.0)

    def probabilities(self, X):
        """Probability of each label, float32 of shape (n_samples, n_labels)."""
        votes, linear, candidates = self._votes(X)
        if linear is None:
            Z = votes
        elif candidates is None:
            Z = _mixed(votes, linear, self.weights)
        else:
            shortlisted = np.take_along_axis(linear, candidates, axis=1)
            Z = linear
            np.put_along_axis(Z, candidates, _mixed(votes, shortlisted, self.weights), axis=1)
        P = expit(Z)
        return np.clip(P, _PROBABILITY_MARGIN, 1 - _PROBABILITY_MARGIN, out=P)

    def tune(self, X, Y):
        """Find the weights of the votes on held-out rows `X` with labels `Y`."""
        if self.linear is None:
            return
        self.weights = _best_weights(list(self._evidence(X, Y)))

    def _evidence(self, X, Y):
        for rows in blocks(X.shape[0], Y.shape[1]):
            votes, linear, candidates = self._votes(X[rows])
            truth = Y[rows].toarray()
            if candidates is not None:
                linear = np.take_along_axis(linear, candidates, axis=1)
                truth = np.take_along_axis(truth, candidates, axis=1)
            yield votes.ravel(), linear.ravel(), truth.ravel()

    def _votes(self, X):
        """Mean logits of the networks, logits of the linear path, and the labels they are for."""
        rows = self.encoder.transform(X)
        if self.linear is None:
            return self._mean_logits(rows), None, None
        linear = self.linear.logits(self.encoder.bag(X))
        candidates = None
        if self.n_candidates is not None:
            candidates = top_labels(linear, self.n_candidates).astype(np.int64)
        return self._mean_logits(rows, candidates), linear, candidates

    def _mean_logits(self, rows, candidates=None):
        total = self.nets[0].label_logits(rows, candidates)
        for net in self.nets[1:]:
            total += net.label_logits(rows, candidates)
        return total / np.float32(len(self.nets))


def _mixed(votes, linear, weights):
    return np.float32(weights[0]) * votes + np.float32(weights[1]) * linear


def _best_weights(evidence):
    """Non-negative weights of two logits with the smallest log loss; a convex problem.

    A few rows must not decide alone: the loss is that of the held-out entries plus a pull towards
    equal weights that is worth `_PRIOR_ENTRIES` of them.
    """
    columns = zip(*evidence, strict=True)
    votes, linear, truth = (np.concatenate(part).astype(np.float64) for part in columns)

    def loss(w):
        z = w[0] * votes + w[1] * linear
        error = expit(z) - truth
        value = np.logaddexp(0, z).sum() - z @ truth
        pull = w - 0.5
        gradient = np.array([error @ votes, error @ linear]) + _PRIOR_ENTRIES * pull
        return value + _PRIOR_ENTRIES / 2 * (pull @ pull), gradient

    found = minimize(loss, [0.5, 0.5], jac=True, method="L-BFGS-B", bounds=[(0, 2)] * 2)
    return float(found.x[0]), float(found.x[1])
