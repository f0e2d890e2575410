"""Probabilities that are as often right as they say, label by label.

A map for all labels together is learned from many entries and knows nothing of single labels; a map
for each label knows it, and follows the noise of rare ones. Each label gets a mean of both, with
more weight on its own the more positive rows it has. Knows numpy, scikit-learn's isotonic
regression, and the calibration of decisions.
"""

from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.utils.validation import check_is_fitted

from sklearn_mrmp._decisions.calibration import Calibration
from sklearn_mrmp._model_files.part import Part, is_vector, require
from sklearn_mrmp._numerics.rows import evenly_spaced
from sklearn_mrmp._sklearn_compat import DocLinkMixin, Interval, StrOptions, _fit_context
from sklearn_mrmp._trust.entries import checked_entries, checked_probabilities

# Positive rows with which a label's own map counts as much as that of all labels; tried by "auto".
_SHRINKAGES = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, np.inf)
_FOLDS = 5
_MOST_TRIED_LABELS = 64
# Probabilities of rare labels are small, and their logits far from 0.
_LIMIT = 16.0


@dataclass(frozen=True, eq=False)
class StepMap:
    """A rising piecewise linear function of probabilities, given by its corners."""

    x: np.ndarray
    y: np.ndarray

    @classmethod
    def fit(cls, y, p):
        """Fit by isotonic regression; what is never or always true is not called certain."""
        found = IsotonicRegression(out_of_bounds="clip").fit(p, y)
        margin = 0.5 / (len(y) + 1)
        values = np.clip(found.y_thresholds_, margin, 1 - margin)
        return cls(found.X_thresholds_.astype(np.float64), values.astype(np.float64))

    def __call__(self, p):
        """Return the values at some probabilities."""
        return np.interp(p, self.x, self.y)


class LabelCalibrator(DocLinkMixin, BaseEstimator):
    """Calibrate the probabilities of each label, with shrinkage for rare labels.

    Parameters
    ----------
    method : {"sigmoid", "isotonic"}, default="sigmoid"
        ``"sigmoid"`` finds a slope and a shift of the log odds (Platt scaling), and ``"isotonic"``
        the best increasing function, which needs more rows.
    shrinkage : "auto" or float, default="auto"
        How much the function of a label is shrunk towards that of all labels together. With n
        positive rows, a label's own function has the weight ``n / (n + shrinkage)``. 0 uses only
        the label's own function, and ``np.inf`` one function for all labels. ``"auto"`` chooses the
        value with the smallest log loss in a cross-validation on the given rows.

    Attributes
    ----------
    shrinkage_ : float
        The shrinkage in use.
    weights_ : ndarray of shape (n_labels,)
        Weight of each label's own function.
    pooled_map_ : callable
        The function of all labels together.
    label_maps_ : list of callable or None
        The function of each label; None if its weight is 0.

    See Also
    --------
    CalibratedMultilabelClassifier : The same, wrapped around a classifier.
    ReliabilityDisplay : Shows how calibrated probabilities are.

    Notes
    -----
    Within a label, calibration keeps the order of the rows, except that isotonic regression makes
    some of them equal. The probabilities must come from a classifier that was not fitted on the
    given rows. `oof_proba_` of a classifier with ``cv=5`` has such probabilities for all training
    rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp import LabelCalibrator
    >>> Y = np.arange(4000)[:, None] % [4, 2] == 0
    >>> P = np.full((4000, 2), 0.5)    # the first label is there in a quarter of the rows
    >>> LabelCalibrator(shrinkage=0).fit(P, Y).transform(P[:1]).round(2)
    array([[0.25, 0.5 ]])
    """

    _parameter_constraints: ClassVar[dict] = {
        "method": [StrOptions({"sigmoid", "isotonic"})],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, np.inf, closed="both")],
    }

    def __init__(self, *, method="sigmoid", shrinkage="auto"):
        self.method = method
        self.shrinkage = shrinkage

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, P, Y):
        """Learn the maps.

        Parameters
        ----------
        P : array-like of shape (n_samples, n_labels)
            Probabilities of rows that the classifier was not fitted on; rows of NaN are left out.
        Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Their 0/1 labels; NaN is unknown.

        Returns
        -------
        self : LabelCalibrator
        """
        Y, P, known = checked_entries(Y, P)
        self.shrinkage_ = self.shrinkage
        if isinstance(self.shrinkage, str):
            self.shrinkage_ = _best_shrinkage(self.method, Y, P, known)
        self.pooled_map_, self.label_maps_ = _maps(self.method, Y, P, known, self.shrinkage_)
        self.weights_ = _weights(Y, known, self.shrinkage_)
        self.n_features_in_ = P.shape[1]
        return self

    def transform(self, P):
        """Calibrate probabilities.

        Parameters
        ----------
        P : array-like of shape (n_samples, n_labels)
            Probabilities; NaN stays NaN.

        Returns
        -------
        P : ndarray of shape (n_samples, n_labels)
            Calibrated probabilities, above 0 and below 1, in the precision of `P`.
        """
        check_is_fitted(self)
        P = checked_probabilities(P)
        if P.shape[1] != self.n_features_in_:
            raise ValueError(
                f"P has {P.shape[1]} labels, but LabelCalibrator was fitted with "
                f"{self.n_features_in_}."
            )
        pooled, own = _both(self.pooled_map_, self.label_maps_, P)
        calibrated = (own * self.weights_ + pooled * (1 - self.weights_)).astype(P.dtype)
        limits = np.finfo(P.dtype)
        return np.clip(calibrated, limits.tiny, 1 - limits.epsneg)


def calibrate_labels(Y_true, Y_score, Y_new, *, method="sigmoid", shrinkage="auto"):
    """Calibrate the probabilities of new rows by labels and probabilities of others.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
        0/1 labels of rows that the classifier was not fitted on; NaN is unknown.
    Y_score : array-like of shape (n_samples, n_labels)
        Probabilities of these rows.
    Y_new : array-like of shape (n_new, n_labels)
        Probabilities of the rows to calibrate.
    method, shrinkage
        As of `LabelCalibrator`, which keeps what was learned.

    Returns
    -------
    P : ndarray of shape (n_new, n_labels)
        Calibrated probabilities of the new rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp import calibrate_labels
    >>> Y, P = np.arange(400)[:, None] % 4 == 0, np.full((400, 1), 0.5)
    >>> calibrate_labels(Y, P, [[0.5]]).round(2)
    array([[0.25]])
    """
    calibrator = LabelCalibrator(method=method, shrinkage=shrinkage)
    return calibrator.fit(Y_score, Y_true).transform(Y_new)


def _sigmoid_map(Y, P, known, towards=(1.0, 0.0)):
    return Calibration.fit(Y, P, known=known, towards=towards, limit=_LIMIT)


def _maps(method, Y, P, known, shrinkage):
    """Return the map of all labels, and that of each one; None where it would have no weight."""
    if method == "sigmoid":
        pooled = _sigmoid_map(Y, P, known)
        make = partial(_sigmoid_map, towards=(pooled.slope, pooled.shift))
    else:
        pooled = StepMap.fit(Y[known], P[known])

        def make(Y, P, known):
            return StepMap.fit(Y[known], P[known])

    columns = ((slice(None), [label]) for label in range(Y.shape[1]))
    used = _weights(Y, known, shrinkage) > 0
    maps = [
        make(Y[at], P[at], known[at]) if wanted else None
        for at, wanted in zip(columns, used, strict=True)
    ]
    return pooled, maps


def _weights(Y, known, shrinkage):
    """Weight of each label's own map; a label that is never or always there has none."""
    n_positives, n_known = (Y & known).sum(axis=0), known.sum(axis=0)
    weights = np.zeros(Y.shape[1])
    varies = (n_positives > 0) & (n_positives < n_known)
    weights[varies] = n_positives[varies] / (n_positives[varies] + shrinkage)
    return weights


def _both(pooled_map, label_maps, P):
    """Return probabilities by the map of all labels, and by each label's own; NaN stays."""
    known = ~np.isnan(P)
    pooled = np.full(P.shape, np.nan)
    pooled[known] = pooled_map(P[known])
    own = pooled.copy()
    for label, own_map in enumerate(label_maps):
        if own_map is not None:
            rows = known[:, label]
            own[rows, label] = own_map(P[rows, label])
    return pooled, own


def _best_shrinkage(method, Y, P, known):
    """Return the shrinkage of the smallest log loss in a cross-validation.

    Folds take every fifth row, so that the outcome depends on nothing but the rows; a few dozen
    labels, evenly spaced by frequency, are enough to choose one number.
    """
    by_count = np.argsort((Y & known).sum(axis=0), kind="stable")
    by_count = by_count[(Y & known).any(axis=0)[by_count]]
    labels = by_count[evenly_spaced(len(by_count), _MOST_TRIED_LABELS)]
    fold_of, losses = np.arange(len(Y)) % _FOLDS, np.zeros(len(_SHRINKAGES))
    for fold in range(_FOLDS):
        train, test = fold_of != fold, np.ix_(fold_of == fold, labels)
        if not (Y & known)[train][:, labels].any() or not known[test].any():
            continue
        part = np.ix_(train, labels)
        maps = _maps(method, Y[part], P[part], known[part], 1.0)
        pooled, own = _both(*maps, P[test])
        for number, shrinkage in enumerate(_SHRINKAGES):
            w = _weights(Y[part], known[part], shrinkage)
            losses[number] += _log_loss(Y[test], w * own + (1 - w) * pooled, known[test])
    # Of equally good ones the most careful.
    return float(_SHRINKAGES[len(losses) - 1 - np.argmin(losses[::-1])])


def _log_loss(Y, P, known):
    given = np.where(Y, P, 1 - P)[known]
    return -np.log(np.maximum(given, 1e-12)).sum()


def _complete(calibrator):
    """Check, in a model file, that there is a map and a weight for each label."""
    n_labels = calibrator.n_features_in_
    require(is_vector(calibrator.weights_, n_labels, "f"), "weights of calibrated labels")
    require(len(calibrator.label_maps_) == n_labels, "maps of calibrated labels")
    for found in (calibrator.pooled_map_, *calibrator.label_maps_):
        require(found is None or isinstance(found, (StepMap, Calibration)), "a calibration map")
    require(calibrator.pooled_map_ is not None, "a calibration map")


def _complete_map(steps):
    """Check, in a model file, that a map has corners."""
    require(is_vector(steps.x, None, "f") and len(steps.x) > 0, "corners of a calibration map")
    require(is_vector(steps.y, len(steps.x), "f"), "corners of a calibration map")


StepMap._model_part = Part(complete=_complete_map)
LabelCalibrator._model_part = Part(
    {
        "shrinkage_": "float|int",
        "weights_": "ndarray",
        "pooled_map_": "any",
        "label_maps_": "list",
        "n_features_in_": "int",
    },
    complete=_complete,
)
