"""Hints of explanations and their pictures."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self, overload

import pandas as pd
from numpy.typing import NDArray

from sklearn_mrmp._hints.aliases import Estimator, Floats, MatrixLike, Path

class Terms:
    kind: str
    names: NDArray[Any]
    values: Floats
    baseline: float
    residual: float
    spans: tuple[tuple[tuple[int, int], ...], ...] | None
    @property
    def total(self) -> float: ...
    def top(self, n: int) -> tuple[list[tuple[str, float]], float]: ...
    def by_name(self) -> dict[str, float]: ...

class NearestRows:
    rows: NDArray[Any]
    similarities: Floats
    has_label: Floats
    shares: Floats
    frequency: float
    @property
    def probability(self) -> float: ...

class RelatedLabel:
    relation: str
    label: str
    weight: float
    probability: float

class LabelExplanation:
    row: int
    label: str
    probability: float
    parts: Mapping[str, float]
    inside: Mapping[str, Any]
    related: tuple[RelatedLabel, ...]
    notes: tuple[str, ...]
    text: str | None
    @property
    def log_odds(self) -> float: ...
    def features(self) -> dict[str, float]: ...
    def marks(self) -> list[tuple[int, int, float]]: ...

class Explanation(Sequence[LabelExplanation]):
    def __init__(self, items: Sequence[LabelExplanation]) -> None: ...
    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: MatrixLike | Sequence[str],
        labels: str | int | Sequence[str | int] | None = None,
        **options: Any,
    ) -> Explanation: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[LabelExplanation]: ...
    @overload
    def __getitem__(self, which: int | tuple[int, str]) -> LabelExplanation: ...
    @overload
    def __getitem__(self, which: slice) -> Explanation: ...
    def to_frame(self, *, inside: bool = False) -> pd.DataFrame: ...
    def to_html(self, path: Path | None = None, *, n_features: int = 10) -> str: ...

class ExplanationDisplay:
    parts: Mapping[str, float]
    features: Mapping[str, float]
    title: str | None
    figure_: Any
    axes_: NDArray[Any]
    def __init__(
        self,
        parts: Mapping[str, float],
        features: Mapping[str, float],
        title: str | None = None,
    ) -> None: ...
    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        which: int | tuple[int, str] = 0,
        *,
        n_features: int = 10,
        axes: Any = None,
    ) -> Self: ...
    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: MatrixLike | Sequence[str],
        *,
        label: str | int | None = None,
        n_features: int = 10,
        axes: Any = None,
    ) -> Self: ...
    def plot(self, *, n_features: int = 10, axes: Any = None) -> Self: ...
