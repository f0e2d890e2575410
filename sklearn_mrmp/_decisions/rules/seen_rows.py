"""Rows that were seen before, or almost: their label sets, as a whole, for subset accuracy.

Probabilities of labels say little about a row that occurs twice: the set it had then is more often
exactly right than the most probable set. Knows numpy; nothing of where similar rows come from.
"""

from dataclasses import dataclass

import numpy as np

from sklearn_mrmp._model_files.part import Part, require

# Similarities tried, the most careful one first.
_SIMILARITIES = (0.99, 0.95, 0.9, 0.8)
# More rows have to turn right than wrong: by so many standard deviations of chance, squared. Four
# rows against none will do.
_CLEAR_GAIN = 4.0


@dataclass(eq=False)
class SeenRowRule:
    """Decide as another rule does, but give rows that were seen before the labels they had.

    Not fitted like other rules, but put around one of them by `wrap_if_better`.

    Attributes
    ----------
    rule : object
        Decides about all other rows.
    min_similarity : float
        From here on a row counts as seen.
    validation_score : float
        Subset accuracy on the validation rows.
    """

    needs_rows = True

    rule: object
    min_similarity: float
    validation_score: float

    @classmethod
    def wrap_if_better(cls, rule, decided, rows):
        """Put the rule around another one where that is clearly better.

        Parameters
        ----------
        rule : object
            A fitted rule for subset accuracy.
        decided : bool ndarray of shape (n_valid, n_labels)
            Its decisions about rows it was not fitted on.
        rows : ValidationRows
            These rows, with training rows similar to them, themselves not among these.

        Returns
        -------
        rule : SeenRowRule, or the other rule itself
        """
        was_right = (decided == rows.Y).all(axis=1)
        best, best_gain = rule, 0
        for min_similarity in _SIMILARITIES:
            found, labels = rows.similar.most_probable_labels(rows.P, min_similarity)
            labels = labels.toarray() > 0
            if rows.known is not None:
                labels &= rows.known[found]
            is_right = (labels == rows.Y[found]).all(axis=1)
            n_changed = np.count_nonzero(is_right != was_right[found])
            gain = np.count_nonzero(is_right) - np.count_nonzero(was_right[found])
            if gain > best_gain and gain**2 >= _CLEAR_GAIN * n_changed:
                score = float((np.count_nonzero(was_right) + gain) / len(rows.Y))
                best, best_gain = cls(rule, min_similarity, score), gain
        return best

    def decide(self, P, similar=None):
        """Return the predicted labels, bool ndarray of the shape of `P`.

        Without `similar` rows it is the other rule that decides.
        """
        decided = self.rule.decide(P)
        if similar is not None:
            found, labels = similar.most_probable_labels(np.asarray(P), self.min_similarity)
            decided[found] = labels.toarray() > 0
        return decided


def _complete(rule):
    """Check, in a model file, the parts of a rule for rows seen before."""
    is_rule = type(rule.rule).__name__ in ("LabelSetRule", "GlobalThresholdRule")
    require(is_rule, "a rule for rows not seen before")
    is_cut = isinstance(rule.min_similarity, float) and 0 < rule.min_similarity <= 1
    require(is_cut and isinstance(rule.validation_score, float), "similarity of rows")


SeenRowRule._model_part = Part(complete=_complete)
