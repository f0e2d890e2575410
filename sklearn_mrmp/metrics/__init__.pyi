"""Type hints of the measures."""

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from sklearn_mrmp._hints.aliases import Floats, MatrixLike

def precision_at_k(
    y_true: MatrixLike, y_score: ArrayLike, *, k: int = 5, sample_weight: ArrayLike | None = None
) -> float: ...
def recall_at_k(
    y_true: MatrixLike, y_score: ArrayLike, *, k: int = 5, sample_weight: ArrayLike | None = None
) -> float: ...
def ndcg_at_k(
    y_true: MatrixLike, y_score: ArrayLike, *, k: int = 5, sample_weight: ArrayLike | None = None
) -> float: ...
def label_coverage_at_k(
    y_true: MatrixLike, y_score: ArrayLike, *, k: int = 5, sample_weight: ArrayLike | None = None
) -> float: ...
def label_propensities(Y: MatrixLike, *, a: float = 0.55, b: float = 1.5) -> Floats: ...
def propensity_scored_precision_at_k(
    y_true: MatrixLike,
    y_score: ArrayLike,
    *,
    propensities: ArrayLike,
    k: int = 5,
    normalize: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float: ...
def get_scorer(name: str, **options: Any) -> Callable[..., float]: ...
def get_scorer_names() -> list[str]: ...
