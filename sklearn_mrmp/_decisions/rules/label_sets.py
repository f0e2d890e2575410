"""Decision rules from the distribution over label sets seen in training.

`LabelSetRule` predicts the most probable set, for `accuracy`; `LabelSetF1Rule` the labels of
highest expected F1, for `f1_samples`; `LabelSetMarginalRule` cuts the probabilities of labels under
that distribution, for the other metrics. Knows numpy and `label_set_model`.
"""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from sklearn_mrmp._decisions.label_set_model import MAX_SETS, to_logits
from sklearn_mrmp._decisions.rules.base import Rule
from sklearn_mrmp._decisions.thresholds import best_global_cuts
from sklearn_mrmp._model_files.part import NUMBER, Part

# The expected F1 is computed for the likeliest labels of a row: as many as the largest set has, and
# these more. The others have next to no probability, and the arrays grow with them.
_SHORTLIST = 24

# A row that hesitates between sets may get more labels than any of them has, up to this many.
_EXTRA_LABELS = 8

_ROWS_AT_ONCE = 1_000


class _LabelSetBase(Rule):
    """Takes the fitted label-set model; a subclass says how label sets follow from it.

    A row's own label set does not count for it while the rule is fitted; `decide` knows the sets
    of all rows.
    """

    needs_label_sets = True

    def _choose(self, rows):
        self.model_ = rows.label_set_fit(self.max_sets).model

    def _decide_unseen(self, rows):
        fit = rows.label_set_fit(self.max_sets)
        return self._decide_by(fit.judge, rows.logits, fit.own)

    def decide(self, P):
        """Return the predicted labels, bool ndarray of the shape of `P`."""
        return self._decide_by(self.model_, to_logits(P, self.from_logits), None)

    @abstractmethod
    def _decide_by(self, model, Z, own):
        """Decide about rows of logits `Z` by a model; `own` as for `LabelSetModel.scores`."""


@dataclass(eq=False)
class LabelSetRule(_LabelSetBase):
    """Predict the most probable label set among those seen in training.

    Parameters
    ----------
    metric : {"accuracy", "f1_samples", "f1_micro", "f1_macro"}, default="accuracy"
        The metric of `validation_score`.
    from_logits : bool, default=False
        Whether scores are logits or margins instead of probabilities.
    max_sets : int, default=20000
        Number of label sets that are kept, the most frequent ones.

    Attributes
    ----------
    model_ : LabelSetModel
        The sets, their counts and the fitted coefficients.
    validation_score : float
        The metric on the validation rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp._decisions.rules.label_sets import LabelSetRule
    >>> Y_train = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> rule = LabelSetRule().fit([[1, 1, 0]], [[0.9, 0.4, 0.3]], Y_train)
    >>> rule.decide(np.array([[0.9, 0.4, 0.3]])).astype(int)
    array([[1, 1, 0]])
    """

    metric: str = "accuracy"
    from_logits: bool = False
    max_sets: int = MAX_SETS

    def _decide_by(self, model, Z, own):
        decided = np.empty(Z.shape, dtype=bool)
        for rows, scores in model.scores(Z, own):
            decided[rows] = model.sets[scores.argmax(axis=0)].toarray()
        return decided


LabelSetRule._model_part = Part({"model_": "LabelSetModel", "validation_score": NUMBER})


@dataclass(eq=False)
class LabelSetMarginalRule(_LabelSetBase):
    """Cut the probability of each label under the distribution over label sets.

    Parameters
    ----------
    metric : {"accuracy", "f1_samples", "f1_micro", "f1_macro"}, default="f1_micro"
        What the cut maximises on the validation rows.
    from_logits : bool, default=False
        Whether scores are logits or margins instead of probabilities.
    max_sets : int, default=20000
        Number of label sets that are kept, the most frequent ones.

    Attributes
    ----------
    model_ : LabelSetModel
        The sets, their counts and the fitted coefficients.
    threshold : float
        The cut.
    validation_score : float
        The metric on the validation rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp._decisions.rules.label_sets import LabelSetMarginalRule
    >>> Y_train = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> rule = LabelSetMarginalRule().fit([[1, 1, 0]], [[0.9, 0.4, 0.3]], Y_train)
    >>> rule.decide(np.array([[0.9, 0.4, 0.3]])).astype(int)
    array([[1, 1, 0]])
    """

    metric: str = "f1_micro"
    from_logits: bool = False
    max_sets: int = MAX_SETS

    def _choose(self, rows):
        super()._choose(rows)
        fit = rows.label_set_fit(self.max_sets)
        marginals = fit.judge.marginals(rows.logits, fit.own)
        scores = rows.lowest_if_unknown(marginals)
        self.threshold = best_global_cuts(rows.Y, scores, (self.metric,))[0][self.metric]

    def _decide_by(self, model, Z, own):
        return model.marginals(Z, own) >= self.threshold


LabelSetMarginalRule._model_part = Part(
    {"model_": "LabelSetModel", "threshold": NUMBER, "validation_score": NUMBER}
)


@dataclass(eq=False)
class LabelSetF1Rule(_LabelSetBase):
    """Predict the labels of highest expected F1 under the distribution over label sets.

    The best set of k labels is found for each k from P(label i is true and s labels are true),
    so dependent labels are no obstacle (the "general F-measure maximizer").

    Parameters
    ----------
    metric : {"accuracy", "f1_samples", "f1_micro", "f1_macro"}, default="f1_samples"
        The metric of `validation_score`.
    from_logits : bool, default=False
        Whether scores are logits or margins instead of probabilities.
    max_sets : int, default=20000
        Number of label sets that are kept, the most frequent ones.

    Attributes
    ----------
    model_ : LabelSetModel
        The sets, their counts and the fitted coefficients.
    validation_score : float
        The metric on the validation rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp._decisions.rules.label_sets import LabelSetF1Rule
    >>> Y_train = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> rule = LabelSetF1Rule().fit([[1, 1, 0]], [[0.9, 0.4, 0.3]], Y_train)
    >>> rule.decide(np.array([[0.9, 0.4, 0.3]])).astype(int)
    array([[1, 1, 0]])
    """

    metric: str = "f1_samples"
    from_logits: bool = False
    max_sets: int = MAX_SETS

    def _decide_by(self, model, Z, own):
        sizes = np.asarray(model.sets.sum(axis=1)).ravel().astype(int)
        groups = [(size, np.flatnonzero(sizes == size)) for size in np.unique(sizes) if size]
        decided = np.empty(Z.shape, dtype=bool)
        for rows, P_sets in model.posterior(Z, own):
            for start in range(rows.start, rows.stop, _ROWS_AT_ONCE):
                some = slice(start, min(start + _ROWS_AT_ONCE, rows.stop))
                P_some = P_sets[:, some.start - rows.start : some.stop - rows.start]
                decided[some] = _maximise_expected_f1(model.sets, groups, P_some, Z[some])
        return decided


LabelSetF1Rule._model_part = Part({"model_": "LabelSetModel", "validation_score": NUMBER})


def _maximise_expected_f1(sets, groups, P_sets, Z):
    """Label sets of highest expected F1 from probabilities of sets, which are grouped by size."""
    if not groups:  # only the empty set was ever seen: the best label, rather than none
        return np.arange(Z.shape[1]) == Z.argmax(axis=1)[:, None]
    largest = groups[-1][0]
    joint, labels = _label_and_size(sets, groups, P_sets, Z, largest + _SHORTLIST)
    k = np.arange(1, min(largest + _EXTRA_LABELS, labels.shape[1]) + 1)
    gain = (2 / (k[:, None] + [size for size, _ in groups])).astype(np.float32)
    # value[n, k, m]: what label m adds to the expected F1 of a set of k labels
    value = gain @ joint
    order = np.argsort(-value, axis=2, kind="stable")
    sums = np.cumsum(np.take_along_axis(value, order, axis=2), axis=2)
    best = sums[:, k - 1, k - 1].argmax(axis=1)
    row = np.arange(len(Z))[:, None]
    chosen = np.take_along_axis(labels, order[row[:, 0], best], axis=1)
    decided = np.zeros(Z.shape, dtype=bool)
    decided[row, chosen] = np.arange(labels.shape[1]) <= best[:, None]
    return decided


def _label_and_size(sets, groups, P_sets, Z, n_shortlist):
    """P(label is true, and this many are), (n, n_sizes, n_shortlist), for the likely labels."""
    joint = np.stack([sets[which].T @ P_sets[which] for _, which in groups])  # (sizes, L, n)
    marginals = joint.sum(axis=0).T
    # labels of no probability are ranked by their own score
    labels = np.lexsort((-Z, -marginals), axis=1)[:, :n_shortlist]
    return np.take_along_axis(joint.transpose(2, 0, 1), labels[:, None, :], axis=2), labels
