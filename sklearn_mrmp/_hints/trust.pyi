"""Hints of calibration, prediction sets and label errors."""

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from sklearn_mrmp._hints.aliases import Estimator, Floats, MatrixLike
from sklearn_mrmp._hints.graphs import LabelGraph

class LabelCalibrator(BaseEstimator):
    def __init__(
        self,
        *,
        method: Literal["sigmoid", "isotonic"] = "sigmoid",
        shrinkage: float | Literal["auto"] = "auto",
    ) -> None: ...
    def fit(self, P: ArrayLike, Y: MatrixLike) -> Self: ...
    def transform(self, P: ArrayLike) -> Floats: ...

def calibrate_labels(
    Y_true: MatrixLike,
    Y_score: ArrayLike,
    Y_new: ArrayLike,
    *,
    method: Literal["sigmoid", "isotonic"] = "sigmoid",
    shrinkage: float | Literal["auto"] = "auto",
) -> Floats: ...

class LabelConformal(BaseEstimator):
    lowest_present_: Floats
    highest_absent_: Floats
    n_calibration_: NDArray[np.integer[Any]]
    always_included_: NDArray[np.bool_]

    def __init__(self, *, alpha: float = 0.1) -> None: ...
    def fit(self, P: ArrayLike, Y: MatrixLike) -> Self: ...
    def predict(self, P: ArrayLike) -> NDArray[np.bool_]: ...

@dataclass(frozen=True)
class LabelErrors:
    rows: NDArray[np.integer[Any]]
    labels: NDArray[np.integer[Any]]
    given: NDArray[np.integer[Any]]
    suggested: NDArray[np.integer[Any]]
    scores: Floats
    because: NDArray[np.integer[Any]]
    label_names: NDArray[np.str_]

    def to_frame(self) -> pd.DataFrame: ...

def label_errors(
    Y: MatrixLike,
    P: ArrayLike,
    graph: LabelGraph | None = None,
    *,
    min_score: float = 0.5,
    n_most: int | None = None,
) -> LabelErrors: ...

class ReliabilityDisplay:
    ax_: Any
    figure_: Any
    lines_: dict[str, Any]

    def __init__(self, curves: dict[str, tuple[Floats, Floats, Floats]]) -> None: ...
    @property
    def calibration_errors(self) -> dict[str, float]: ...
    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: MatrixLike,
        y: MatrixLike,
        *,
        n_bins: int = 10,
        strategy: Literal["quantile", "uniform"] = "quantile",
        n_groups: int = 1,
        ax: Any = None,
    ) -> ReliabilityDisplay: ...
    @classmethod
    def from_predictions(
        cls,
        Y_true: MatrixLike,
        Y_prob: ArrayLike,
        *,
        n_bins: int = 10,
        strategy: Literal["quantile", "uniform"] = "quantile",
        n_groups: int = 1,
        ax: Any = None,
    ) -> ReliabilityDisplay: ...
    def plot(self, *, ax: Any = None) -> ReliabilityDisplay: ...
