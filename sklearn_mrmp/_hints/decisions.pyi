"""Hints of decision objects, and of the functions that tune decisions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import ArrayLike, NDArray

from sklearn_mrmp._hints.aliases import MatrixLike, Metric, NamedDecision, Rule

class Decision:
    @property
    def needs_all_rows(self) -> bool: ...
    def tune(
        self,
        Y_true: MatrixLike,
        Y_score: ArrayLike,
        *,
        label_names: Sequence[str] | None = None,
        from_logits: bool = False,
    ) -> Rule: ...

class _Measure(Decision):
    def of_counts(self, hits: ArrayLike, predicted: ArrayLike, positives: ArrayLike) -> Any: ...

@dataclass(frozen=True)
class FBeta(_Measure):
    beta: float
    average: Literal["micro", "macro", "samples"] = "micro"

@dataclass(frozen=True)
class Jaccard(_Measure):
    average: Literal["micro", "macro", "samples"] = "micro"

@dataclass(frozen=True)
class PrecisionFloor(Decision):
    floor: float
    average: Literal["micro", "per_label"] = "micro"
    confidence: float | None = None

@dataclass(frozen=True)
class RecallFloor(Decision):
    floor: float
    average: Literal["micro", "per_label"] = "micro"
    confidence: float | None = None

class FloorNotMetWarning(UserWarning): ...

@dataclass(frozen=True)
class LabelCosts(Decision):
    fp: float | Sequence[float] | Mapping[str, float] = 1.0
    fn: float | Sequence[float] | Mapping[str, float] = 1.0

@dataclass(frozen=True)
class LabelCuts(Decision):
    cuts: Sequence[float] | Mapping[str, float]
    default: float | None = None

@dataclass(frozen=True)
class TopK(Decision):
    k: int | ArrayLike | Callable[..., Any]

@dataclass(frozen=True)
class AtLeastOne(Decision):
    cut: float

@dataclass(frozen=True)
class ThresholdResult:
    thresholds: Mapping[Any, float | NDArray[Any]]
    scores: Mapping[Any, float]
    plateaus: Mapping[Any, tuple[float, float]]

def tune_thresholds(
    Y_true: MatrixLike,
    Y_score: ArrayLike,
    *,
    metrics: Metric | FBeta | Jaccard | Sequence[Metric | FBeta | Jaccard] = (
        "accuracy",
        "f1_samples",
        "f1_micro",
        "f1_macro",
    ),
    strategy: Literal["global", "per_label"] = "global",
    shrinkage: float = 10.0,
) -> ThresholdResult: ...
def fit_decision_rules(
    Y_valid: MatrixLike,
    P_valid: ArrayLike,
    *,
    Y_train: MatrixLike | None = None,
    decision: NamedDecision = "optimal",
    metrics: Metric | Sequence[Metric] = ("accuracy", "f1_samples", "f1_micro", "f1_macro"),
    from_logits: bool = False,
) -> dict[str, Any]: ...
