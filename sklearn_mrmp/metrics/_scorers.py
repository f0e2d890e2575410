"""The measures at k as scorers, by name, for searches and cross-validation.

scikit-learn's own scorers take the last column of a classifier that answers with a list of arrays,
which is the wrong one for a label that no training row has; these read responses as the rest of
the package does. Knows scikit-learn's scorers and the responses of classifiers.
"""

import re

from sklearn.metrics import make_scorer

from sklearn_mrmp._decisions.responses import choose_response_method, label_scores, last_step
from sklearn_mrmp._numerics.labels import check_label_matrix
from sklearn_mrmp._targets import in_known_order
from sklearn_mrmp.metrics._propensity import propensity_scored_precision_at_k
from sklearn_mrmp.metrics._ranking import (
    label_coverage_at_k,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
)

_MEASURES = {
    "label_coverage": label_coverage_at_k,
    "ndcg": ndcg_at_k,
    "precision": precision_at_k,
    "propensity_scored_precision": propensity_scored_precision_at_k,
    "recall": recall_at_k,
}
_NAME = re.compile(r"(\w+)_at_([1-9][0-9]*)")
_LISTED = (1, 3, 5, 10)


def get_scorer(name, **options):
    """Return the scorer of a measure at k.

    Parameters
    ----------
    name : str
        ``"precision_at_5"``, ``"recall_at_5"``, ``"ndcg_at_5"``, ``"label_coverage_at_5"`` or
        ``"propensity_scored_precision_at_5"``, with any number instead of 5.
    **options : dict
        Further arguments of the measure; ``"propensity_scored_precision_at_5"`` needs
        ``propensities``.

    Returns
    -------
    scorer : callable
        For ``scoring=`` of searches and cross-validation; ``scorer(estimator, X, y)`` is the
        measure of the classifier's ``predict_proba``, in either of scikit-learn's shapes, or of
        its ``decision_function``. Weights of rows are requested with ``set_score_request``.

    See Also
    --------
    get_scorer_names : Names with usual numbers.
    sklearn.metrics.get_scorer : scikit-learn's scorers.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> from sklearn_mrmp.metrics import get_scorer
    >>> X, Y, _ = make_related_labels(200, 5, n_features=40, random_state=0)
    >>> clf = OneVsRestClassifier(LogisticRegression())
    >>> cross_val_score(clf, X, Y, scoring=get_scorer("precision_at_1"), cv=2).shape
    (2,)
    """
    found = _NAME.fullmatch(name) if isinstance(name, str) else None
    if found is None or found[1] not in _MEASURES:
        raise ValueError(
            f"{name!r} is not the name of a measure at k; names are "
            f"{', '.join(f'{measure}_at_5' for measure in _MEASURES)}, with any number for 5. "
            "sklearn.metrics.get_scorer has scikit-learn's scorers."
        )
    if found[1].startswith("propensity") and "propensities" not in options:
        raise ValueError(
            f"{name!r} needs the propensities of the labels: pass "
            "propensities=label_propensities(Y_train)."
        )
    return RankingScorer(_MEASURES[found[1]], k=int(found[2]), **options)


def get_scorer_names():
    """Return names that `get_scorer` takes, with usual numbers of labels.

    Returns
    -------
    names : list of str

    Examples
    --------
    >>> from sklearn_mrmp.metrics import get_scorer_names
    >>> [name for name in get_scorer_names() if name.startswith("ndcg")]
    ['ndcg_at_1', 'ndcg_at_3', 'ndcg_at_5', 'ndcg_at_10']
    """
    return [f"{measure}_at_{k}" for measure in _MEASURES for k in _LISTED]


class RankingScorer:
    """A scorer that reads one score for each label from any multi-label classifier.

    Parameters
    ----------
    measure : callable
        Takes labels and scores.
    **options : dict
        Its other arguments.
    """

    def __init__(self, measure, **options):
        self.measure = measure
        self.options = options
        # scikit-learn's scorer of the same measure keeps what metadata is requested.
        self._requests = make_scorer(measure, response_method="predict_proba", **options)

    def __call__(self, estimator, X, y_true, sample_weight=None):
        """Return the measure of a fitted classifier on some rows, a float."""
        classifier = last_step(estimator)
        y_true = check_label_matrix(in_known_order(y_true, classifier), "y")
        method = choose_response_method(estimator)
        scores = label_scores(estimator, X, y_true.shape[1], method)
        return self.measure(y_true, scores, sample_weight=sample_weight, **self.options)

    def set_score_request(self, **requests):
        """Set what metadata the scorer requests, as of scikit-learn's scorers; returns itself."""
        self._requests.set_score_request(**requests)
        return self

    def get_metadata_routing(self):
        """Return the metadata that the scorer requests."""
        return self._requests.get_metadata_routing()

    def __repr__(self):
        shown = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"RankingScorer({self.measure.__name__}{shown})"
