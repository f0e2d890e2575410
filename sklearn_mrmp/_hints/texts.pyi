"""Hints of the transformers of texts, and of the splits."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import BaseCrossValidator, BaseShuffleSplit

from sklearn_mrmp._hints.aliases import MatrixLike, Path, RandomState

class TokenSequenceVectorizer(TransformerMixin, BaseEstimator):
    vocabulary_: dict[str, int]
    max_len_: int

    def __init__(
        self,
        *,
        max_len: int = 300,
        max_features: int | None = None,
        min_df: float = 1,
        max_df: float = 1.0,
        lowercase: bool = True,
        strip_accents: bool = False,
        tokenizer: Callable[[str], Iterable[str]] | None = None,
        token_pattern: str = "\\w+|[^\\w\\s]",
        unknown_token: str | None = "<unk>",
    ) -> None: ...
    def fit(self, raw_documents: Iterable[str], y: Any = None) -> Self: ...
    def transform(self, raw_documents: Iterable[str]) -> NDArray[np.integer[Any]]: ...
    def fit_transform(
        self, raw_documents: Iterable[str], y: Any = None
    ) -> NDArray[np.integer[Any]]: ...
    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]: ...

class TextEncoder(TransformerMixin, BaseEstimator):
    encoder_: Any

    def __init__(
        self,
        encoder: Path | tuple[Any, Any],
        *,
        revision: str | None = None,
        pooling: Literal["mean"] | None = None,
        layers: Literal["auto", "last"] | int | Sequence[int] = "auto",
        max_tokens: int | None = None,
        cache_dir: Path | None = None,
        device: str = "auto",
        verbose: int = 0,
    ) -> None: ...
    def fit(self, X: Any = None, y: Any = None) -> Self: ...
    def transform(self, X: Iterable[str]) -> Any: ...
    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]: ...

class MultilabelStratifiedKFold(BaseCrossValidator):
    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: RandomState = None,
        order: Literal[1, 2] = 1,
    ) -> None: ...
    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int: ...
    def split(
        self, X: MatrixLike, y: MatrixLike, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]: ...

class MultilabelStratifiedShuffleSplit(BaseShuffleSplit):
    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: float | None = None,
        train_size: float | None = None,
        random_state: RandomState = None,
        order: Literal[1, 2] = 1,
    ) -> None: ...
    def split(
        self, X: MatrixLike, y: MatrixLike, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]: ...

def multilabel_train_test_split(
    *arrays: Any,
    test_size: float | None = None,
    train_size: float | None = None,
    random_state: RandomState = None,
    stratify: MatrixLike | None = None,
    order: Literal[1, 2] = 1,
) -> list[Any]: ...
