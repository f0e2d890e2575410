"""Hints of the classifiers without a network, and of what all classifiers share."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Bunch

from sklearn_mrmp._hints.aliases import (
    AnyDecision,
    Estimator,
    Floats,
    Hierarchy,
    Labels,
    MatrixLike,
    Metric,
    Path,
    RandomState,
    Rule,
    Splitter,
)
from sklearn_mrmp._hints.results import LabelReport
from sklearn_mrmp._hints.trust import LabelCalibrator

class ModelFileMixin:
    def save(self, path: Path, *, encoder_weights: bool = False) -> None: ...
    @classmethod
    def load(cls, path: Path) -> Self: ...

class Classifier(ModelFileMixin, ClassifierMixin, BaseEstimator):
    classes_: list[NDArray[Any]] | NDArray[Any]
    label_names_: NDArray[np.str_]
    n_features_in_: int
    feature_names_in_: NDArray[np.str_]

    def predict(self, X: MatrixLike) -> Labels: ...
    def predict_proba(self, X: MatrixLike) -> Floats: ...
    def predict_labels(self, X: MatrixLike) -> list[list[str]]: ...
    def score(
        self, X: MatrixLike, y: MatrixLike, sample_weight: ArrayLike | None = None
    ) -> float: ...

class DecidingMixin:
    @property
    def thresholds_(self) -> dict[str, float]: ...
    @property
    def decision_rules_(self) -> dict[str, dict[str, Any]]: ...
    @property
    def decision_rule_(self) -> Rule: ...
    def report(self, X: MatrixLike, y: MatrixLike) -> LabelReport: ...

class MLKNNClassifier(Classifier):
    n_neighbors_: int
    prior_: Floats
    likelihood_: Floats
    posterior_: Floats

    def __init__(
        self,
        n_neighbors: int = 10,
        smoothing: float = 1.0,
        *,
        metric: str | Callable[..., float] = "euclidean",
        algorithm: Literal["auto", "ball_tree", "kd_tree", "brute"] = "auto",
        n_jobs: int | None = None,
    ) -> None: ...
    def fit(self, X: MatrixLike, y: MatrixLike, sample_weight: ArrayLike | None = None) -> Self: ...

class MLARAMClassifier(Classifier):
    n_prototypes_: int
    label_counts_: csr_array
    prototype_sizes_: NDArray[Any]
    n_clusters_: int
    n_iter_: int

    def __init__(
        self,
        vigilance: float = 0.9,
        threshold: float = 0.02,
        *,
        n_epochs: int = 1,
        learning_rate: float = 1.0,
        scaling: Literal["feature", "global"] = "feature",
        cluster_vigilance: float | None = None,
        n_search_clusters: int = 3,
    ) -> None: ...
    def fit(self, X: MatrixLike, y: MatrixLike, sample_weight: ArrayLike | None = None) -> Self: ...

class TunedBinaryRelevanceClassifier(Classifier):
    estimators_: list[Any]
    C_: float

    def __init__(
        self,
        strengths: Sequence[float] = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
        start: float = 1.0,
        *,
        refit: bool = True,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None: ...
    def fit(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: MatrixLike | None = None,
        y_val: MatrixLike | None = None,
    ) -> Self: ...

class LabelPowersetClassifier(Classifier):
    def __init__(self, estimator: Estimator | None = None) -> None: ...
    def fit(self, X: MatrixLike, y: MatrixLike, sample_weight: ArrayLike | None = None) -> Self: ...

class LabelChainClassifier(Classifier):
    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        order: Literal["random"] | ArrayLike | None = None,
        random_state: RandomState = None,
    ) -> None: ...
    def fit(self, X: MatrixLike, y: MatrixLike, sample_weight: ArrayLike | None = None) -> Self: ...

class CalibratedMultilabelClassifier(Classifier):
    estimator_: Estimator
    calibrator_: LabelCalibrator

    def __init__(
        self,
        estimator: Estimator,
        *,
        method: Literal["sigmoid", "isotonic"] = "sigmoid",
        shrinkage: float | Literal["auto"] = "auto",
        cv: float | Literal["prefit"] | Splitter | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None: ...
    def fit(self, X: MatrixLike, y: MatrixLike, sample_weight: ArrayLike | None = None) -> Self: ...

class SoftVotingMultilabelClassifier(Classifier):
    estimators_: list[Estimator]
    named_estimators_: Bunch
    weights_: Floats

    def __init__(
        self,
        estimators: Sequence[tuple[str, Estimator]],
        *,
        weights: Literal["auto"] | ArrayLike | None = None,
        cv: int = 5,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None: ...
    def fit(self, X: MatrixLike, y: MatrixLike, sample_weight: ArrayLike | None = None) -> Self: ...
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...

class TunedDecisionClassifier(DecidingMixin, ModelFileMixin, ClassifierMixin, BaseEstimator):
    estimator_: Estimator
    label_names_: NDArray[np.str_]

    def __init__(
        self,
        estimator: Estimator,
        *,
        metric: Metric = "f1_micro",
        decision: AnyDecision | Rule = "optimal",
        hierarchy: Hierarchy | None = None,
        cv: float | Literal["prefit"] | Splitter | None = None,
        refit: bool = True,
        response_method: Literal["auto", "predict_proba", "decision_function"] = "auto",
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None: ...
    @property
    def classes_(self) -> list[NDArray[Any]] | NDArray[Any]: ...
    @property
    def best_score_(self) -> float: ...
    def fit(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        **params: Any,
    ) -> Self: ...
    def predict(self, X: MatrixLike) -> Labels: ...
    def predict_proba(self, X: MatrixLike) -> Floats: ...
    def predict_labels(self, X: MatrixLike) -> list[list[str]]: ...
    def decision_function(self, X: MatrixLike) -> Floats: ...
    def score(
        self, X: MatrixLike, y: MatrixLike, sample_weight: ArrayLike | None = None
    ) -> float: ...
    def get_metadata_routing(self) -> Any: ...
