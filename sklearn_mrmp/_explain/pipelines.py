"""Explanations of pipelines and searches: their rows, names and texts for the classifier inside.

Knows pipelines as `_decisions.responses` does, and classifiers by their ``explain``.
"""

from sklearn.pipeline import Pipeline

from sklearn_mrmp._decisions.responses import inner_estimator, last_step, rows_of_last_step
from sklearn_mrmp._input.text import TextInput, as_texts


def explain_estimator(estimator, X, labels=None, **options):
    """Explain what a classifier says that may stand at the end of pipelines and searches.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier with ``explain``, or pipelines and searches that end in one.
    X : array-like
        Rows as the estimator takes them.
    labels, **options
        As ``explain`` takes them. Names of features and texts are found in the pipeline.

    Returns
    -------
    explanation : Explanation
    """
    classifier = last_step(estimator)
    if not hasattr(classifier, "explain"):
        raise TypeError(
            f"{type(classifier).__name__} cannot be explained: pass a fitted MrMPClassifier or "
            "another classifier that has explain, or a pipeline or search that ends in one."
        )
    steps = _steps_before(estimator)
    if steps:
        found = {"feature_names": _names(steps, classifier)}
        if TextInput.recognises(X):
            found["texts"] = as_texts(X)
        options = found | options
    return classifier.explain(rows_of_last_step(estimator, X), labels, **options)


def _steps_before(estimator):
    """Return the transformers before the classifier, in their order."""
    steps = []
    while estimator is not None:
        if isinstance(estimator, Pipeline):
            steps += [step for _, step in estimator.steps[:-1] if step not in (None, "passthrough")]
        estimator = inner_estimator(estimator)
    return steps


def _names(steps, classifier):
    """Return the names of the columns that the last transformer makes, or its vocabulary."""
    if getattr(classifier, "input_type_", None) == "sequence":
        return getattr(steps[-1], "vocabulary_", None)
    try:
        return Pipeline([(str(n), step) for n, step in enumerate(steps)]).get_feature_names_out()
    except (AttributeError, ValueError):  # not every transformer names its columns
        return None
