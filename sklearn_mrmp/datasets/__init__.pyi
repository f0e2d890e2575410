"""Type hints of the data sets."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy.sparse import csr_array
from sklearn.utils import Bunch

from sklearn_mrmp._hints.aliases import Path, RandomState
from sklearn_mrmp._hints.graphs import LabelGraph

_Subset = Literal["all", "train", "test"]

@dataclass(frozen=True)
class Recovery:
    precision: float
    recall: float
    n_correct: int
    n_found: int
    n_planted: int

@dataclass(frozen=True)
class PlantedRelations:
    pulling: NDArray[Any]
    pushing: NDArray[Any]
    frequencies: NDArray[Any]
    weak_labels: NDArray[Any]

    def recovery(self, relations: LabelGraph | Mapping[str, Any]) -> Recovery: ...

def make_related_labels(
    n_samples: int = 2000,
    n_labels: int = 20,
    *,
    n_features: int = 300,
    n_pulling_groups: int | None = None,
    n_pushing_groups: int | None = None,
    group_size: int = 3,
    strength: float = 0.7,
    label_frequency: tuple[float, float] = (0.1, 0.3),
    weak_fraction: float = 0.5,
    words_per_row: float = 20,
    words_per_label: float = 4.0,
    weak_words_per_label: float = 0.5,
    random_state: RandomState = None,
) -> tuple[csr_array, NDArray[Any], PlantedRelations]: ...
def fetch_mulan(
    name: str,
    data_home: Path | None = None,
    download_if_missing: bool = True,
    *,
    subset: _Subset = "all",
    base_url: str = ...,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Bunch: ...
def fetch_reuters21578(
    data_home: Path | None = None,
    download_if_missing: bool = True,
    *,
    split: Literal["modapte"] = "modapte",
    subset: _Subset = "all",
    url: str = ...,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Bunch: ...
def load_mulan(folder: Path, name: str | None = None, *, subset: _Subset = "all") -> Bunch: ...
def load_reuters21578(
    path: Path, split: Literal["modapte"] = "modapte", *, subset: _Subset = "all"
) -> Bunch: ...
def load_goemotions(
    folder: Path, *, subset: Literal["all", "train", "dev", "test"] = "all"
) -> Bunch: ...
def load_ohsumed(folder: Path, *, subset: _Subset = "all") -> Bunch: ...
def load_tagged_texts(path: Path, *, min_count: int = 1, prefix: str = "__label__") -> Bunch: ...
def sparse_to_lists(X: Any) -> tuple[list[NDArray[Any]], list[NDArray[Any]]]: ...
def lists_to_sparse(
    indices: Sequence[ArrayLike], values: Sequence[ArrayLike], n_features: int
) -> csr_array: ...
def save_sparse_rows(
    folder: Path, X: Any | Iterable[Any], dtype: DTypeLike | None = None
) -> None: ...
def open_sparse_rows(folder: Path) -> csr_array: ...
