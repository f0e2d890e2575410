"""Hints of comparisons, of pictures, and of model files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
from numpy.typing import ArrayLike, NDArray

from sklearn_mrmp._hints.aliases import Estimator, Floats, MatrixLike, Metric, NamedDecision, Path
from sklearn_mrmp._hints.graphs import LabelGraph

class ModelFileError(ValueError): ...

def save(estimator: Estimator, path: Path, *, encoder_weights: bool = False) -> None: ...
def load(path: Path) -> Any: ...
def model_card(
    model: Estimator,
    X_test: Any = None,
    y_test: Any = None,
    *,
    repo_id: str | None = None,
    title: str | None = None,
    description: str | None = None,
    limits: str | None = None,
    license: str | None = None,
    dataset: str | None = None,
    language: str | Sequence[str] | None = None,
    tags: Sequence[str] = (),
    metrics: Mapping[str, float] | None = None,
) -> str: ...
def save_pretrained(
    model: Estimator,
    save_directory: Path,
    *,
    card: str | None = None,
    exist_ok: bool = False,
    encoder_weights: bool = False,
) -> None: ...
def push_to_hub(
    model: Estimator,
    repo_id: str,
    *,
    card: str | None = None,
    private: bool | None = None,
    exist_ok: bool = False,
    encoder_weights: bool = False,
    revision: str | None = None,
    create_pr: bool = False,
    commit_message: str = "Add model",
    token: str | bool | None = None,
) -> str: ...
def from_pretrained(
    pretrained_model_name_or_path: Path,
    *,
    revision: str | None = None,
    cache_dir: Path | None = None,
    force_download: bool = False,
    local_files_only: bool = False,
    token: str | bool | None = None,
) -> Any: ...

class ComparisonResult:
    runs: list[Any]
    methods: list[str]
    metrics: Sequence[str]
    decisions: Sequence[str]
    setting: Any

    def __init__(
        self,
        runs: list[Any],
        methods: list[str],
        metrics: Sequence[str],
        decisions: Sequence[str],
        setting: Any = None,
    ) -> None: ...
    @property
    def errors(self) -> dict[str, str]: ...
    @property
    def best(self) -> dict[tuple[str, str], str]: ...
    def scores(self, method: str, decision: str, metric: str) -> Floats: ...
    def cost(
        self, method: str, name: Literal["fit_time", "predict_time", "peak_memory"]
    ) -> Floats: ...
    def to_frame(self) -> pd.DataFrame: ...
    def runs_to_frame(self) -> pd.DataFrame: ...
    def to_markdown(self) -> str: ...
    def to_latex(self) -> str: ...
    def to_html(
        self,
        path: Path,
        *,
        title: str | None = None,
        label_names: Sequence[str] | None = None,
        graph: LabelGraph | Literal[False] | None = None,
    ) -> None: ...

def compare_classifiers(
    estimators: Mapping[str, Estimator] | Sequence[tuple[str, Estimator]],
    X_train: MatrixLike,
    Y_train: MatrixLike,
    X_test: MatrixLike,
    Y_test: MatrixLike,
    *,
    metrics: Sequence[Metric] = ("accuracy", "f1_samples", "f1_micro", "f1_macro"),
    decisions: Sequence[NamedDecision] = ("optimal", "threshold"),
    seeds: int | Sequence[int] = 1,
    validation_fraction: float = 0.1,
    n_jobs: int | None = None,
    results_path: Path | None = None,
    isolate: bool = True,
    verbose: int = 0,
    sample_weight_train: ArrayLike | None = None,
    sample_weight_test: ArrayLike | None = None,
    time_limit: float | None = None,
) -> ComparisonResult: ...

@dataclass(frozen=True)
class LabelReport:
    label_names: NDArray[Any]
    n_samples: int
    support: NDArray[Any]
    n_predicted: NDArray[Any]
    precision: NDArray[Any]
    recall: NDArray[Any]
    f1: NDArray[Any]
    average_precision: NDArray[Any]
    cut: NDArray[Any]
    brier: NDArray[Any]
    calibration_error: NDArray[Any]
    reliability: NDArray[Any]
    scores: dict[str, float]
    graph: LabelGraph | None = None
    settings: dict[str, str] | None = None

    @classmethod
    def from_predictions(
        cls,
        Y_true: MatrixLike,
        Y_pred: MatrixLike,
        Y_score: ArrayLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        cuts: float | ArrayLike | None = None,
        probabilities: bool = True,
        graph: LabelGraph | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> LabelReport: ...
    def to_frame(self) -> pd.DataFrame: ...
    def to_html(self, path: Path, *, title: str | None = None) -> None: ...

@dataclass(frozen=True)
class AblationResult:
    auc_with: NDArray[Any]
    auc_without: NDArray[Any]
    graph: LabelGraph
    groups: tuple[Any, ...]
    n_undefined: int

    @property
    def gain(self) -> Floats: ...
    def to_frame(self) -> pd.DataFrame: ...
    def to_label_frame(self) -> pd.DataFrame: ...

def relation_ablation(
    estimator: Estimator,
    X_train: MatrixLike,
    Y_train: MatrixLike,
    X_test: MatrixLike,
    Y_test: MatrixLike,
    *,
    estimator_without: Estimator | None = None,
    graph: LabelGraph | None = None,
    seeds: int | Sequence[int] = 1,
    n_groups: int = 4,
) -> AblationResult: ...
def auc_gain_by_degree(
    Y_true: MatrixLike,
    P_with: ArrayLike,
    P_without: ArrayLike,
    graph: LabelGraph,
    *,
    n_groups: int = 4,
) -> AblationResult: ...

class AblationDisplay:
    figure_: Any
    axes_: NDArray[Any]

    def __init__(self, result: AblationResult) -> None: ...
    @classmethod
    def from_result(cls, result: AblationResult, *, axes: Any = None) -> AblationDisplay: ...
    def plot(self, *, axes: Any = None) -> AblationDisplay: ...

class ComparisonDisplay:
    figure_: Any
    axes_: NDArray[Any]

    def __init__(
        self,
        methods: list[str],
        means: dict[tuple[str, str], Floats],
        deviations: dict[tuple[str, str], Floats],
        fit_times: Floats,
        title: str | None = None,
    ) -> None: ...
    @classmethod
    def from_result(
        cls, result: ComparisonResult, *, axes: Any = None, title: str | None = None
    ) -> ComparisonDisplay: ...
    def plot(self, *, axes: Any = None) -> ComparisonDisplay: ...

class RankDisplay:
    methods: Sequence[str]
    mean_ranks: Floats
    groups: Sequence[tuple[int, int]]
    critical_difference: float | None
    n_datasets: int | None
    p_value: float | None
    ax_: Any
    figure_: Any

    def __init__(
        self,
        methods: Sequence[str],
        mean_ranks: ArrayLike,
        groups: Sequence[tuple[int, int]] = (),
        critical_difference: float | None = None,
        n_datasets: int | None = None,
        p_value: float | None = None,
        title: str | None = None,
    ) -> None: ...
    @classmethod
    def from_scores(
        cls,
        scores: Mapping[str, ArrayLike] | pd.DataFrame,
        *,
        test: Literal["nemenyi", "wilcoxon"] = "nemenyi",
        alpha: float = 0.05,
        greater_is_better: bool = True,
        ax: Any = None,
        title: str | None = None,
    ) -> RankDisplay: ...
    def plot(self, *, ax: Any = None) -> RankDisplay: ...

class LabelGraphDisplay:
    ax_: Any
    figure_: Any
    drawn_graph_: LabelGraph
    edges_: list[Any] | None
    image_: Any

    def __init__(self, graph: LabelGraph) -> None: ...
    @classmethod
    def from_estimator(cls, estimator: Estimator, **plot_options: Any) -> LabelGraphDisplay: ...
    @classmethod
    def from_graph(cls, graph: LabelGraph, **plot_options: Any) -> LabelGraphDisplay: ...
    @classmethod
    def from_labels(
        cls,
        Y: MatrixLike,
        *,
        alpha: float = 0.05,
        correction: Literal["bonferroni", "fdr_bh"] | None = None,
        edge_weight: Literal["binary", "conditional"] = "binary",
        min_count: int = 0,
        label_names: Sequence[str] | None = None,
        **plot_options: Any,
    ) -> LabelGraphDisplay: ...
    def plot(
        self,
        *,
        ax: Any = None,
        kind: Literal["network", "matrix"] = "network",
        relations: str | Sequence[str] | None = None,
        labels: Sequence[str | int] | None = None,
        max_labels: int | None = None,
        max_edges: int | None = None,
        layout: Literal["circular", "spring"] | Mapping[str, Any] | Callable[..., Any] = "circular",
        max_name_length: int = 24,
    ) -> LabelGraphDisplay: ...

class ThresholdDisplay:
    ax_: Any
    figure_: Any
    lines_: dict[str, Any]

    def __init__(
        self,
        curves: dict[str, tuple[Floats, Floats]],
        thresholds: dict[str, float],
        plateaus: dict[str, tuple[float, float]] | None = None,
        rule_scores: dict[str, float] | None = None,
    ) -> None: ...
    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: MatrixLike,
        y: MatrixLike,
        *,
        metrics: Sequence[Metric] = ("accuracy", "f1_samples", "f1_micro", "f1_macro"),
        ax: Any = None,
    ) -> ThresholdDisplay: ...
    @classmethod
    def from_predictions(
        cls,
        Y_true: MatrixLike,
        Y_score: ArrayLike,
        *,
        metrics: Sequence[Metric] = ("accuracy", "f1_samples", "f1_micro", "f1_macro"),
        show_rule: bool = False,
        Y_train: MatrixLike | None = None,
        ax: Any = None,
    ) -> ThresholdDisplay: ...
    def plot(self, *, ax: Any = None) -> ThresholdDisplay: ...

class TrainingHistoryDisplay:
    ax_: Any
    figure_: Any
    lines_: list[Any]

    def __init__(self, history: list[dict[str, Any]], best_epoch: int | None = None) -> None: ...
    @classmethod
    def from_estimator(cls, estimator: Estimator, *, ax: Any = None) -> TrainingHistoryDisplay: ...
    def plot(self, *, ax: Any = None) -> TrainingHistoryDisplay: ...
