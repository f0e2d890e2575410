"""How many numbers a fitted classifier has learned: weights of networks and of linear models.

Goes by the attributes that scikit-learn's conventions give these (``coef_``, ``intercept_``,
``estimators_``, ``estimator_``) and by those of this package (``voters_``, ``nets``).
"""

import numpy as np

from sklearn_mrmp._decisions.responses import last_step


def n_weights(estimator):
    """Count the weights of a fitted classifier.

    Parameters
    ----------
    estimator : classifier or Pipeline
        Fitted; of a pipeline the last step is looked at.

    Returns
    -------
    n_weights : float
        Coefficients and intercepts of linear models and parameters of networks, also inside other
        classifiers. NaN where there are none, as of classifiers that keep training rows.
    """
    total = _count(last_step(estimator))
    return float(total) if total else np.nan


def _count(model):
    if hasattr(model, "coef_"):
        return np.size(model.coef_) + np.size(getattr(model, "intercept_", ()))
    if hasattr(model, "nets"):
        return sum(p.numel() for net in model.nets for p in net.module_.parameters())
    return sum(map(_count, _inside(model)))


def _inside(model):
    """Fitted models that a fitted model is made of."""
    if hasattr(model, "voters_"):
        return [voter.model for voter in model.voters_.values()]
    if hasattr(model, "estimators_"):
        models = model.estimators_  # a list, which may hold pipelines, or an array of any shape
        return map(last_step, models.ravel() if isinstance(models, np.ndarray) else models)
    estimator = getattr(model, "estimator_", None)
    return [] if estimator is None else [last_step(estimator)]
