"""CalibratedMultilabelClassifier: any multi-label classifier, with calibrated probabilities.

scikit-learn's `CalibratedClassifierCV` refuses label matrices. Composes a classifier and the
calibration of labels; knows nothing of either.
"""

from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from sklearn_mrmp._base import (
    FITTED,
    FROM_TARGET,
    BaseMultilabelClassifier,
    checked_target,
    complete_classifier,
    fitted_or_not,
)
from sklearn_mrmp._decisions.responses import class_probabilities, last_step
from sklearn_mrmp._decisions.unseen import fold_probabilities, make_splitter
from sklearn_mrmp._model_files.part import Part, nothing, require
from sklearn_mrmp._numerics.entry_weights import EntryWeights, checked_weights
from sklearn_mrmp._sklearn_compat import HasMethods, Interval, StrOptions, _fit_context
from sklearn_mrmp._targets import in_known_order
from sklearn_mrmp._trust.calibration import LabelCalibrator


class CalibratedMultilabelClassifier(MetaEstimatorMixin, BaseMultilabelClassifier):
    """Any multi-label classifier, with calibrated probabilities.

    A `LabelCalibrator` is fitted on probabilities of rows that the classifier was not fitted on.
    The classifier itself is then fitted on all rows.

    Parameters
    ----------
    estimator : estimator instance
        A classifier of label matrices with ``predict_proba``, of either of scikit-learn's shapes.
    method : {"sigmoid", "isotonic"}, default="sigmoid"
        Kind of the calibration; see `LabelCalibrator`.
    shrinkage : "auto" or float, default="auto"
        How much the calibration of a rare label is shrunk towards that of all labels; see
        `LabelCalibrator`.
    cv : int, float, "prefit", cross-validation generator or iterable, default=None
        Rows for the calibration. None: out-of-fold rows of 5 folds. An int: of that many folds. A
        float in (0, 1): this share of the rows, held out. ``"prefit"``: the rows passed to ``fit``,
        which a fitted `estimator` has not seen. A splitter or an iterable of (train, test)
        positions: the test rows.
    n_jobs : int, default=None
        Number of folds fitted at once.
    random_state : int, RandomState instance or None, default=None
        Shuffles the rows when `cv` is None or a number.

    Attributes
    ----------
    estimator_ : estimator
        The classifier, fitted on all rows.
    calibrator_ : LabelCalibrator
        What was learned about its probabilities.
    classes_ : list of ndarray, or ndarray
        ``array([0, 1])`` for each label; the classes of a vector target.
    label_names_ : ndarray of str
        Column names of the target, or numbers.

    See Also
    --------
    LabelCalibrator : The calibration alone, for probabilities that you already have.
    TunedDecisionClassifier : Decisions for a metric; put it around this one to have both.

    Notes
    -----
    ``predict`` uses a threshold of 1/2. The classes of a vector target are calibrated one against
    the others, and their probabilities are divided by their sum.

    Examples
    --------
    >>> from sklearn_mrmp import CalibratedMultilabelClassifier, MLKNNClassifier
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, _ = make_related_labels(200, 5, n_features=40, random_state=0)
    >>> clf = CalibratedMultilabelClassifier(MLKNNClassifier(), random_state=0).fit(X, Y)
    >>> clf.predict_proba(X).shape
    (200, 5)
    """

    _parameter_constraints: ClassVar[dict] = {
        "estimator": [HasMethods(["fit", "predict_proba"])],
        **LabelCalibrator._parameter_constraints,
        "cv": [
            "cv_object",
            StrOptions({"prefit"}),
            Interval(Real, 0.0, 1.0, closed="neither"),
        ],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator,
        *,
        method="sigmoid",
        shrinkage="auto",
        cv=None,
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.method = method
        self.shrinkage = shrinkage
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
            tags.classifier_tags.poor_score = inner.classifier_tags.poor_score
        return tags

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, sample_weight=None):
        """Fit the classifier, and the calibration on rows that it was not fitted on.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Input rows, in whatever form `estimator` takes.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            0/1 label matrix, or a vector of classes. NaN is an unknown label, for a classifier
            that takes it.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, for a classifier that takes them.

        Returns
        -------
        self : CalibratedMultilabelClassifier
        """
        with fitted_or_not(self):
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X, y, sample_weight):
        if self._is_prefit():
            check_is_fitted(self.estimator)
            y = in_known_order(y, last_step(self.estimator))
        X, y, Y, known, self._target_encoding = checked_target(self, X, y)
        rows = self._checked_weights(sample_weight, X)
        self.classes_ = self._target_encoding.classes
        self.label_names_ = self._target_encoding.label_names
        P, tested = self._unseen(X, y, rows)
        if rows is not None:
            chosen = EntryWeights(rows=rows[tested]).repetitions()
            P, tested = P[chosen], tested[chosen]
        target = Y[tested].toarray()
        if known is not None:
            target = np.where(known[tested], target, np.nan)
        calibrator = LabelCalibrator(method=self.method, shrinkage=self.shrinkage)
        self.calibrator_ = calibrator.fit(P, target)
        self.estimator_ = self.estimator
        if not self._is_prefit():
            params = {} if rows is None else {"sample_weight": rows}
            self.estimator_ = clone(self.estimator).fit(X, y, **params)
        for attribute in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, attribute):
                setattr(self, attribute, getattr(self.estimator_, attribute))

    def _is_prefit(self):
        return isinstance(self.cv, str) and self.cv == "prefit"

    def _checked_weights(self, sample_weight, X):
        rows = checked_weights(sample_weight, X)
        takes = self._is_prefit() or has_fit_parameter(self.estimator, "sample_weight")
        if rows is not None and not takes:
            raise ValueError(
                f"{type(self.estimator).__name__} takes no sample_weight in fit; fit without "
                "weights, or calibrate another classifier."
            )
        return rows

    def _unseen(self, X, y, rows):
        """Probabilities of rows that the classifier was not fitted on, and which rows they are."""
        encoding = self._target_encoding
        if self._is_prefit():
            return class_probabilities(self.estimator, X, encoding), np.arange(y.shape[0])
        n_samples = y.shape[0]
        if n_samples < 2:
            raise ValueError("Calibration needs at least 2 rows; got n_samples=1.")
        splitter = make_splitter(self.cv, n_samples, encoding.is_matrix, self.random_state)
        splits = list(splitter.split(X, y))
        parts = Parallel(n_jobs=self.n_jobs)(
            delayed(fold_probabilities)(clone(self.estimator), X, y, train, test, encoding, rows)
            for train, test in splits
        )
        return np.vstack(parts), np.concatenate([test for _, test in splits])

    def _check_rows(self, X):
        return X  # the classifier checks it in its own way

    def _label_probabilities(self, X):
        P = class_probabilities(self.estimator_, X, self._target_encoding)
        return self.calibrator_.transform(P)


def _complete(classifier):
    """Check, in a model file, that the calibration is one of these labels."""
    complete_classifier(classifier)
    n_labels = classifier._target_encoding.n_labels
    require(classifier.calibrator_.n_features_in_ == n_labels, "calibration and labels")


CalibratedMultilabelClassifier._model_part = Part(
    {**FITTED, "estimator_": "any", "calibrator_": "LabelCalibrator"},
    fit_only={"cv": nothing, "random_state": nothing},
    left_out=FROM_TARGET,
    complete=_complete,
)
