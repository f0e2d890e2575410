"""Hints of label graphs."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from sklearn_mrmp._hints.aliases import Hierarchy, Labels, MatrixLike, Path

class LabelGraph:
    def __init__(
        self,
        relations: Mapping[str, MatrixLike],
        label_names: Sequence[str] | None = None,
        *,
        n_samples: float | None = None,
        counts: ArrayLike | None = None,
        co_occurrence: Mapping[str, MatrixLike] | None = None,
    ) -> None: ...
    @property
    def relations(self) -> Mapping[str, csr_array]: ...
    @property
    def label_names(self) -> NDArray[np.str_]: ...
    @property
    def n_labels(self) -> int: ...
    @property
    def n_samples(self) -> int | float | None: ...
    @property
    def counts(self) -> NDArray[Any] | None: ...
    @property
    def co_occurrence(self) -> Mapping[str, csr_array] | None: ...
    @property
    def statistic(self) -> Mapping[str, csr_array] | None: ...
    @property
    def p_value(self) -> Mapping[str, csr_array] | None: ...
    def degree(self, relation: str | None = None) -> NDArray[np.integer[Any]]: ...
    def neighbors(self, label: str | int, relation: str | None = None) -> list[str]: ...
    def index(self, label: str | int) -> int: ...
    def subgraph(self, labels: Sequence[str | int]) -> LabelGraph: ...
    def rename(self, label_names: Sequence[str]) -> LabelGraph: ...
    def to_frame(self) -> pd.DataFrame: ...
    def to_networkx(self) -> Any: ...
    def to_html(
        self,
        path: Path,
        Y: MatrixLike | None = None,
        rows: Sequence[str] | None = None,
        *,
        title: str | None = None,
        max_links: int = 200_000,
    ) -> None: ...

def label_graph(
    Y: MatrixLike,
    *,
    alpha: float = 0.05,
    correction: Literal["bonferroni", "fdr_bh"] | None = None,
    edge_weight: Literal["binary", "conditional"] = "binary",
    min_count: int = 0,
    label_names: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
) -> LabelGraph: ...
def hierarchy_relation(
    hierarchy: Hierarchy,
    *,
    n_labels: int | None = None,
    label_names: Sequence[str] | None = None,
) -> csr_array: ...
def similarity_relation(
    X: MatrixLike,
    *,
    metric: Literal["cosine", "precomputed"] = "cosine",
    cut: float | None = None,
    top_k: int | None = None,
) -> csr_array: ...
def add_ancestors(
    Y: MatrixLike, hierarchy: Hierarchy, *, label_names: Sequence[str] | None = None
) -> Labels: ...
