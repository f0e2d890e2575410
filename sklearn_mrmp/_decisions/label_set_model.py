"""A probability for each label set seen in training, given the labels' probabilities.

Labels are not independent, and most sets they could form never occur. The model says, for the sets
S seen in training,

    log P(S | x) = a Σ_{i∈S} logit p_i(x) + b |S| + c log count(S) + d Σ_{i∈S} logit π_i + const

with π_i the share of rows that carry label i. The four coefficients are fitted by maximum
likelihood on validation rows: a repairs confidence, b the number of labels, c is the weight of
experience, and d undoes what `logit p_i` and `count(S)` both say about the frequency of a label.
Scoring all sets is one sparse product. Knows numpy and scipy.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import logit, logsumexp

from sklearn_mrmp._model_files.part import LABEL_SETS, Part, is_vector, require
from sklearn_mrmp._numerics.log_odds import log_odds
from sklearn_mrmp._numerics.rows import row_blocks

# Where the coefficients start, and towards what they are drawn when there are few rows.
_START = np.array([1.0, 0.0, 0.5, 0.0])

# Label sets kept: the most frequent ones.
MAX_SETS = 20_000

# Numbers (sets × rows) in memory at a time, and looked at when the coefficients are fitted.
_CHUNK_NUMBERS = 4_000_000
_FIT_NUMBERS = 2_000_000

# Margins beyond this one say no more, and their sums in float32 stay finite.
_LARGEST_MARGIN = 1e12

# Added to the score of a set that must not be chosen.
_NEVER = -1e9

# Attributes of a model that follow from the others, kept between predictions.
_DERIVED = ("features", "_sets_by_label", "_all_sets")


def to_logits(P, from_logits=False):
    """Logits of probabilities, finite for 0 and 1 too; scores that are logits stay as they are."""
    P = np.asarray(P)
    if from_logits:
        return np.clip(P, -_LARGEST_MARGIN, _LARGEST_MARGIN)
    return log_odds(P, 1e-6)


def distinct_sets(Y, max_sets):
    """Distinct rows of a bool matrix, the most frequent ones first.

    Parameters
    ----------
    Y : bool ndarray of shape (n_samples, n_labels)
        Label matrix.
    max_sets : int
        Number of rows kept at most.

    Returns
    -------
    sets : csr_array of shape (n_sets, n_labels)
        The rows, float32 ones.
    counts : int ndarray of shape (n_sets,)
        How often they occur.
    """
    _, first, counts = np.unique(_keys(Y), return_index=True, return_counts=True)
    order = np.lexsort((first, -counts))[:max_sets]
    return sp.csr_array(Y[first[order]], dtype=np.float32), counts[order]


def _keys(Y):
    """Return one comparable value for each row of a bool matrix."""
    packed = np.packbits(Y, axis=1)
    return packed.view(np.dtype((np.void, packed.shape[1]))).ravel()


@dataclass
class LabelSetModel:
    """Distribution over the label sets seen in training; see the module's docstring.

    Sets, counts and priors are not changed: what follows from them is computed once.

    Attributes
    ----------
    sets : csr_array of shape (n_sets, n_labels)
        The label sets.
    counts : int ndarray of shape (n_sets,)
        Their frequencies.
    label_prior : float ndarray of shape (n_labels,)
        Logit of each label's share of the rows.
    coefficients : float ndarray of shape (4,)
        a, b, c and d.
    """

    sets: sp.csr_array
    counts: np.ndarray
    label_prior: np.ndarray
    coefficients: np.ndarray

    @classmethod
    def from_labels(cls, Y, max_sets, coefficients=_START):
        """Collect the label sets of a bool matrix."""
        sets, counts = distinct_sets(Y, max_sets)
        share = (np.count_nonzero(Y, axis=0) + 0.5) / (len(Y) + 1)
        return cls(sets, counts, logit(share).astype(np.float32), np.asarray(coefficients))

    def index(self, Y):
        """Position of each row's label set among the sets; -1 for sets that are not there."""
        keys = _keys(self.sets.astype(bool).toarray())
        order = np.argsort(keys)
        wanted = _keys(Y)
        found = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
        return np.where(keys[found] == wanted, found, -1)

    @cached_property
    def features(self):
        """Size, log count and prior logits of each set, (3, n_sets)."""
        size = np.asarray(self.sets.sum(axis=1)).ravel()
        return np.array([size, np.log(self.counts), self.sets @ self.label_prior])

    @cached_property
    def _sets_by_label(self):
        """The sets that have each label, csr_array of shape (n_labels, n_sets)."""
        return sp.csr_array(self.sets.T)

    @cached_property
    def _all_sets(self):
        """A row of ones: a sparse product adds up the sets in one order for any number of rows."""
        return sp.csr_array(np.ones((1, len(self.counts)), dtype=np.float32))

    def __getstate__(self):
        """Leave out what is made anew of the sets."""
        return {name: part for name, part in vars(self).items() if name not in _DERIVED}

    def scores(self, Z, own=None):
        """Yield rows and the unnormalised log probability of the sets, (n_sets, n_rows), chunked.

        `Z` are logits. `own`, for rows that are among those counted, is the position of their
        own set, which then counts once less, or not at all when nobody else has it.
        """
        constants = (self.coefficients[1:] @ self.features).astype(np.float32)[:, None]
        for rows in row_blocks(len(Z), len(self.counts), _CHUNK_NUMBERS):
            logits = (self.coefficients[0] * Z[rows].T).astype(np.float32)
            scores = self.sets @ logits + constants
            if own is not None:
                known = np.flatnonzero(own[rows] >= 0)
                sets = own[rows][known]
                scores[sets, known] += own_set_change(self.counts[sets], self.coefficients[2])
            yield rows, scores

    def posterior(self, Z, own=None):
        """Yield rows and the probabilities of the sets, (n_sets, n_rows), in chunks."""
        for rows, scores in self.scores(Z, own):
            scores -= scores.max(axis=0)
            np.maximum(scores, -60, out=scores)  # products with denormal numbers take ages
            np.exp(scores, out=scores)
            scores /= self._all_sets @ scores
            yield rows, scores

    def marginals(self, Z, own=None):
        """Probability of each label under the distribution over sets, float32 like `Z`."""
        marginals = np.empty(Z.shape, dtype=np.float32)
        for rows, P_sets in self.posterior(Z, own):
            marginals[rows] = (self._sets_by_label @ P_sets).T
        return marginals

    def told_marginals(self, Z, told):
        """Probability of each label under the distribution over the sets that agree with the told.

        Parameters
        ----------
        Z : ndarray of shape (n_samples, n_labels)
            Logits.
        told : csr_array of shape (n_samples, n_labels)
            1 and -1 where a label is told to be there or not to be.

        Returns
        -------
        marginals : ndarray of shape (n_samples, n_labels), float32
            NaN in rows that no set agrees with.
        """
        marginals = np.empty(Z.shape, dtype=np.float32)
        labels, n_present = sp.csr_array(self.sets.T), told.maximum(0).sum(axis=1)
        for rows, scores in self.scores(Z):
            agrees = self.sets @ told[rows].toarray().T == n_present[rows]
            scores[~agrees] = -np.inf
            with np.errstate(invalid="ignore"):  # where none agrees, infinity minus infinity
                scores -= scores.max(axis=0)
            np.exp(np.maximum(scores, -60, out=scores, where=agrees), out=scores)
            scores /= sp.csr_array(np.ones((1, len(scores)), dtype=np.float32)) @ scores
            marginals[rows] = (labels @ scores).T
        return marginals


def own_set_change(counts, weight):
    """Change of a set's score when one of its `counts` rows is left out."""
    return np.where(counts > 1, weight * np.log(np.maximum(counts - 1, 1) / counts), _NEVER)


@dataclass(frozen=True, eq=False)
class CollectedLabelSets:
    """The distinct label sets of validation rows and of the rows besides them, counted once.

    Labels alone decide what it holds, so it serves every model that is fitted on the same rows,
    whatever their scores.

    Attributes
    ----------
    known : LabelSetModel
        The sets that validation rows may be judged by: those of the other rows, or of the
        validation rows themselves where there are no others.
    positions : int ndarray of shape (n_valid,)
        Position of each validation row's set among these; -1 for sets that are not there.
    everything : LabelSetModel
        The sets of all rows, for further rows.
    leaves_out : bool
        Whether there are no other rows, so that a validation row's own set must not count for it.
    max_sets : int
        Number of sets kept at most.
    """

    known: LabelSetModel
    positions: np.ndarray
    everything: LabelSetModel
    leaves_out: bool
    max_sets: int

    @classmethod
    def of(cls, Y, Y_train=None, max_sets=MAX_SETS, known=None):
        """Collect the sets of bool matrices: of validation rows, and of the others if there are.

        `known` says which entries of `Y` are known, None being all: a row with unknown entries has
        no set. Without any row that has one the answer is None.
        """
        alone = Y_train is None or len(Y_train) == 0
        complete = np.ones(len(Y), dtype=bool) if known is None else known.all(axis=1)
        if alone and not complete.any() and known is not None:
            return None
        seen = LabelSetModel.from_labels(Y[complete] if alone else Y_train, max_sets)
        everything = seen
        if not alone:
            everything = LabelSetModel.from_labels(np.vstack([Y_train, Y[complete]]), max_sets)
        return cls(seen, np.where(complete, seen.index(Y), -1), everything, alone, max_sets)

    def rows_to_fit_on(self):
        """Row numbers of known sets, known from others where rows are left out; some of many."""
        is_known = self.positions >= 0
        if self.leaves_out:
            is_known &= self.known.counts[self.positions] > 1
        rows = np.flatnonzero(is_known)
        return rows[:: max(1, -(-len(rows) * len(self.known.counts) // _FIT_NUMBERS))]


@dataclass(frozen=True, eq=False)
class LabelSetFit:
    """What `fit_label_sets` found.

    Attributes
    ----------
    judge : LabelSetModel
        The model with the sets that validation rows may be judged by.
    own : int ndarray of shape (n_valid,), or None
        Position of each validation row's own set, to be left out of the counts.
    model : LabelSetModel
        The same with all sets, for further rows.
    """

    judge: LabelSetModel
    own: np.ndarray | None
    model: LabelSetModel


def fit_label_sets(collected, Z):
    """Fit the coefficients of the model on validation rows.

    Parameters
    ----------
    collected : CollectedLabelSets
        The label sets of the validation rows and of the others.
    Z : ndarray of shape (n_valid, n_labels)
        Logits of the validation rows.

    Returns
    -------
    fit : LabelSetFit
    """
    rows, positions = collected.rows_to_fit_on(), collected.positions
    coefficients = _maximum_likelihood(
        collected.known, Z[rows], positions[rows], leave_out=collected.leaves_out
    )
    return LabelSetFit(
        replace(collected.known, coefficients=coefficients),
        positions if collected.leaves_out else None,
        replace(collected.everything, coefficients=coefficients),
    )


def _maximum_likelihood(model, Z, truth, leave_out):
    """Coefficients that make the true sets most probable, drawn a little to the start."""
    rows = np.arange(len(truth))
    if not len(rows):
        return _START
    evidence = (model.sets @ Z.T.astype(np.float64)).T  # (n, n_sets)
    features = model.features
    less = own_set_change(model.counts[truth], 1.0) if leave_out else np.zeros(len(rows))

    def loss(w):
        scores = w[0] * evidence + w[1:] @ features
        scores[rows, truth] += w[2] * less
        total = logsumexp(scores, axis=1)
        P = np.exp(scores - total[:, None])
        excess = P[rows, truth] - 1
        gradient = np.empty(4)
        gradient[0] = np.einsum("ij,ij->", P, evidence) - evidence[rows, truth].sum()
        gradient[1:] = features @ P.sum(axis=0) - features[:, truth].sum(axis=1)
        gradient[2] += excess @ less
        value = (total - scores[rows, truth]).sum() + 0.5 * np.sum((w - _START) ** 2)
        return value / len(rows), (gradient + w - _START) / len(rows)

    return minimize(loss, _START, jac=True, method="L-BFGS-B").x


def _complete(model):
    """Check, in a model file, that label sets, their counts and the labels' frequencies agree."""
    require(type(model.sets) is sp.csr_array and model.sets.shape[0] > 0, "label sets")
    n_sets, n_labels = model.sets.shape
    require(is_vector(model.counts, n_sets), "label sets and their counts")
    require(is_vector(model.label_prior, n_labels, "f"), "label sets and labels")
    require(is_vector(model.coefficients, 4, "f"), "coefficients of label sets")


LabelSetModel._model_part = Part(complete=_complete, left_out=_DERIVED, keeps={"sets": LABEL_SETS})
