"""Any scikit-learn classifier as a voter.

Knows scikit-learn's estimator interface and the shapes that its classifiers answer in.
"""

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from sklearn_mrmp._decisions.responses import choose_response_method, label_scores
from sklearn_mrmp._model_files.part import Part, is_count, require
from sklearn_mrmp._numerics.log_odds import log_odds

# Probabilities stay inside (0, 1), so that one certain voter cannot overrule all others.
_MARGIN = 1e-6


class EstimatorVoter:
    """A classifier of the user's choice, whose probabilities or margins vote.

    Parameters
    ----------
    estimator : estimator instance
        A multi-label classifier with ``predict_proba`` or ``decision_function``; it is cloned. It
        is given the caller's rows, or word counts where these are token sequences.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone.
    n_labels_ : int
        Number of labels.
    """

    decodes_candidates = False

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, rows, Y, rows_valid, Y_valid, weights=None, weights_valid=None):
        """Fit a clone on the training rows; held-out rows are left to the vote."""
        voter = self.refit(rows, Y, weights=weights)
        voter.logits(rows_valid.take(np.arange(1)))  # finds out now whether it has scores
        return voter

    def refit(self, rows, Y, seen=False, weights=None):
        """Fit a clone on some rows; returns a new voter."""
        voter = EstimatorVoter(self.estimator)
        voter.n_labels_ = Y.shape[1]
        target = Y.toarray()
        # A single label is a vector for scikit-learn's classifiers.
        target = target[:, 0] if voter.n_labels_ == 1 else target
        params = _fit_params(self.estimator, weights)
        voter.estimator_ = clone(self.estimator).fit(rows.table, target, **params)
        return voter

    def logits(self, rows, candidates=None):
        """Log odds of all labels, or margins, float32."""
        method = choose_response_method(self.estimator_)
        scores = label_scores(self.estimator_, rows.table, self.n_labels_, method)
        if method == "predict_proba":
            scores = log_odds(scores, _MARGIN)
        return scores.astype(np.float32)


def _fit_params(estimator, weights):
    """Return what ``fit`` is told of the entries; refuse an estimator that takes no such thing."""
    known, rows = (None, None) if weights is None else (weights.known, weights.rows)
    wanted = {"Y_observed": known, "sample_weight": rows}
    params = {name: value for name, value in wanted.items() if value is not None}
    for name in params:
        if not has_fit_parameter(estimator, name):
            what = "unknown labels" if name == "Y_observed" else "weighted rows"
            raise ValueError(
                f"The voter {type(estimator).__name__} cannot learn from {what}: its fit takes no "
                f"{name}. Leave it out of the voters."
            )
    return params


def _complete(voter):
    """Check, in a model file, that there is a classifier."""
    require(is_count(voter.n_labels_) and hasattr(voter.estimator_, "predict"), "a voter")


EstimatorVoter._model_part = Part({"estimator_": "any", "n_labels_": "int"}, complete=_complete)
