"""What fitted multi-label classifiers say of labels, as one (n_samples, n_labels) array.

scikit-learn's classifiers answer in three shapes: ``predict_proba`` as an array of one column for
each label, or as a list of one two-column array for each, and ``decision_function``. About a single
label they answer as about two classes. Knows numpy, scikit-learn's way of picking rows, pipelines,
and searches by their ``best_estimator_``.
"""

import numpy as np
from sklearn.pipeline import Pipeline

from sklearn_mrmp._sklearn_compat import _check_method_params, _safe_split

RESPONSE_METHODS = ("predict_proba", "decision_function")


def choose_response_method(estimator, response_method="auto"):
    """Name of the method that gives the scores; raise AttributeError when there is none."""
    wanted = RESPONSE_METHODS if response_method == "auto" else (response_method,)
    for name in wanted:
        if hasattr(estimator, name):
            return name
    raise AttributeError(
        f"{type(estimator).__name__} has no {' or '.join(wanted)}, so there are no scores to "
        "decide by."
    )


def label_scores(estimator, X, n_labels, response_method, positive=1):
    """Scores of a label matrix target, or of the second of two classes.

    Parameters
    ----------
    estimator : classifier
        Fitted on a label matrix of `n_labels` columns, or on a vector of two classes.
    X : array-like
        Input rows.
    n_labels : int
        Number of labels.
    response_method : {"predict_proba", "decision_function"}
        Where the scores come from.
    positive : object, default=1
        The class that counts, where the estimator was fitted on a vector of two classes.

    Returns
    -------
    scores : float ndarray of shape (n_samples, n_labels)
        Probabilities that the labels are 1, or margins.
    """
    response = getattr(estimator, response_method)(X)
    if n_labels == 1:
        return _scores_of_one(response, getattr(estimator, "classes_", [0, 1]), positive)
    if isinstance(response, list):
        classes = estimator.classes_
        columns = [positive_column(P, values) for P, values in zip(response, classes, strict=True)]
        response = np.column_stack(columns)
    response = np.asarray(response)
    if response.ndim != 2 or response.shape[1] != n_labels:
        raise ValueError(
            f"{response_method} of {type(estimator).__name__} returned shape {response.shape}; "
            f"expected one column for each of the {n_labels} labels, or a list of arrays."
        )
    return response


def class_probabilities(estimator, X, encoding):
    """Probabilities by a target encoding, whatever classes the rows of a fit happened to contain.

    Parameters
    ----------
    estimator : classifier
        Fitted, with ``predict_proba``.
    X : array-like
        Input rows.
    encoding : TargetEncoding
        Of the whole target.

    Returns
    -------
    P : ndarray of shape (n_samples, n_labels)
        One column for each label of a label matrix, one for the second of two classes, and one for
        each of several.
    """
    if encoding.is_matrix:
        return label_scores(estimator, X, encoding.n_labels, "predict_proba")
    P = np.asarray(estimator.predict_proba(X))
    aligned = np.zeros((len(P), len(encoding.classes)), dtype=P.dtype)
    aligned[:, np.searchsorted(encoding.classes, estimator.classes_)] = P
    return aligned[:, 1:] if encoding.kind == "binary" else aligned


def _scores_of_one(response, classes, positive):
    """Scores of a single label as a column, whichever way a classifier answers about it."""
    if isinstance(response, list):
        return positive_column(response[0], classes[0])[:, None]
    response = np.asarray(response)
    is_column = response.ndim == 1 or response.shape[1] == 1
    if is_column and (isinstance(classes, list) or len(classes) == 2):
        return response.reshape(-1, 1)
    if len(classes) == 1:  # whatever the shape, it is the probability of what is always so
        return np.full((len(response), 1), float(classes[0] == positive), dtype=response.dtype)
    return response[:, np.flatnonzero(np.asarray(classes) == positive)]


def positive_column(P, classes):
    """Probability of class 1; a label that is constant in training has one column only."""
    where = np.flatnonzero(np.asarray(classes) == 1)
    return P[:, where[0]] if where.size else np.zeros(len(P), dtype=P.dtype)


def training_part(estimator, X, y, positions, fit_params):
    """Rows at these positions, and the fit parameters that belong to them."""
    X_part, y_part = _safe_split(estimator, X, y, positions)
    return X_part, y_part, _check_method_params(X, fit_params, indices=positions)


def inner_estimator(estimator):
    """Return the last step of a pipeline, the best estimator of a fitted search, or None."""
    if isinstance(estimator, Pipeline):
        return estimator[-1]
    return getattr(estimator, "best_estimator_", None)


def last_step(estimator):
    """Return the classifier that pipelines and fitted searches, however nested, end in."""
    while (inner := inner_estimator(estimator)) is not None:
        estimator = inner
    return estimator


def rows_of_last_step(estimator, X):
    """Return rows as the classifier at the end of fitted pipelines and searches sees them."""
    while (inner := inner_estimator(estimator)) is not None:
        if isinstance(estimator, Pipeline) and len(estimator) > 1:
            X = estimator[:-1].transform(X)
        estimator = inner
    return X
