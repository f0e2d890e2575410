"""Scores that a model card reports: computed from test rows, given by the author, or both.

Knows targets, and scores by scikit-learn's functions.
"""

from numbers import Real

import numpy as np

from sklearn_mrmp._decisions.responses import last_step
from sklearn_mrmp._decisions.sweep import METRICS
from sklearn_mrmp._numerics.target_scores import target_score
from sklearn_mrmp._targets import TargetEncoding


def scores_on(model, X_test, y_test):
    """Return scores of a model's predictions for test rows.

    Parameters
    ----------
    model : estimator
        A fitted classifier.
    X_test, y_test : array-like
        Rows that the model was not fitted on, and their target.

    Returns
    -------
    scores : dict of str to float
        Accuracy, and of label matrices the F1 scores too.

    Examples
    --------
    >>> from sklearn_mrmp import MLKNNClassifier
    >>> from sklearn_mrmp._hub.evaluation import scores_on
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, _ = make_related_labels(60, 4, n_features=20, random_state=0)
    >>> list(scores_on(MLKNNClassifier().fit(X, Y), X, Y))
    ['accuracy', 'f1_samples', 'f1_micro', 'f1_macro']
    """
    encoding = getattr(last_step(model), "_target_encoding", None)
    if encoding is None:  # of another package
        encoding = TargetEncoding.from_target(
            y_test if hasattr(y_test, "tocsr") else np.asarray(y_test)
        )
    predicted = model.predict(X_test)
    metrics = METRICS if encoding.is_matrix else METRICS[:1]
    return {name: target_score(encoding, y_test, predicted, name, None) for name in metrics}


def given_scores(metrics):
    """Return scores that the author gave, checked."""
    scores = {}
    for name, value in dict(metrics or {}).items():
        if not isinstance(name, str) or isinstance(value, bool) or not isinstance(value, Real):
            raise TypeError(
                "metrics has names of measures and their values as numbers; got "
                f"{name!r}: {value!r}."
            )
        if not np.isfinite(value):
            raise ValueError(f"metrics has {name}={value}, which is no number to report.")
        scores[name] = float(value)
    return scores
