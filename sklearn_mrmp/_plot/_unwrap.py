"""Looking into fitted pipelines and searches for the classifier that a picture shows.

Knows scikit-learn's pipelines, and by their attributes searches (``best_estimator_``) and
classifiers around a classifier (``estimator_``), also those of other packages.
"""

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted


def _inner(estimator):
    """Return the last step of a pipeline, the best estimator of a search, or None."""
    if isinstance(estimator, Pipeline):
        return estimator[-1]
    return getattr(estimator, "best_estimator_", None)


def find_fitted(estimator, attribute):
    """Return the estimator that has a fitted attribute: the given one, or one inside it.

    Parameters
    ----------
    estimator : estimator
        A classifier, or pipelines, searches and decision tuning around one, however nested.
    attribute : str
        Name of the attribute, such as ``"history_"``.

    Returns
    -------
    estimator : estimator
        The outermost one that has the attribute.
    """
    layer = innermost = estimator
    while layer is not None:
        if hasattr(layer, attribute):
            return layer
        innermost, inner = layer, _inner(layer)
        layer = getattr(layer, "estimator_", None) if inner is None else inner
    for candidate in (estimator, innermost):
        if hasattr(candidate, "fit"):
            check_is_fitted(candidate)
    raise ValueError(_nothing_found(estimator, innermost, attribute))


def _nothing_found(estimator, innermost, attribute):
    name, inside = type(estimator).__name__, type(innermost).__name__
    where = f"This {name}" if innermost is estimator else f"The {inside} inside this {name}"
    if getattr(innermost, "refit", None) is False:
        return f"{where} has no best_estimator_, because refit=False; search with refit=True."
    return (
        f"{where} has no {attribute}; pass a fitted MrMPClassifier, or a pipeline or search "
        "that ends in one."
    )


def last_classifier(estimator):
    """Return the classifier that fitted pipelines and searches, however nested, end in."""
    while (inner := _inner(estimator)) is not None:
        estimator = inner
    return estimator


def rows_of_last_classifier(estimator, X):
    """Return rows as the classifier at the end of fitted pipelines and searches sees them."""
    while (inner := _inner(estimator)) is not None:
        if isinstance(estimator, Pipeline) and len(estimator) > 1:
            X = estimator[:-1].transform(X)
        estimator = inner
    return X
