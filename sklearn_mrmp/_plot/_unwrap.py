"""Looking into fitted pipelines and searches for the classifier that a picture shows.

Knows pipelines and searches as `_decisions.responses` does, and by their ``estimator_`` classifiers
around a classifier, also those of other packages.
"""

from sklearn.utils.validation import check_is_fitted

from sklearn_mrmp._decisions.responses import inner_estimator


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
        innermost, inner = layer, inner_estimator(layer)
        layer = getattr(layer, "estimator_", None) if inner is None else inner
    for candidate in (estimator, innermost):
        if hasattr(candidate, "fit"):
            check_is_fitted(candidate)
    raise ValueError(_nothing_found(estimator, innermost, attribute))


def _nothing_found(estimator, innermost, attribute):
    name, inside = type(estimator).__name__, type(innermost).__name__
    where = f"This {name}" if innermost is estimator else f"The {inside} inside this {name}"
    if hasattr(innermost, "cv_results_"):
        return f"{where} has no best_estimator_, because refit=False; search with refit=True."
    network = " with a network among its voters" if attribute == "history_" else ""
    return (
        f"{where} has no {attribute}; pass a fitted MrMPClassifier{network}, or a pipeline or "
        "search that ends in one."
    )
