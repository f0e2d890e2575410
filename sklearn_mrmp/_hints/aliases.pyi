"""Names for types that many hints share."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, sparray, spmatrix

from sklearn_mrmp._hints.decisions import Decision
from sklearn_mrmp._hints.graphs import LabelGraph

Auto: TypeAlias = Literal["auto"]
Path: TypeAlias = str | os.PathLike[str]
MatrixLike: TypeAlias = ArrayLike | sparray | spmatrix
"""Arrays, nested sequences, data frames, lists of texts, and sparse matrices."""

Floats: TypeAlias = NDArray[np.floating[Any]]
Labels: TypeAlias = NDArray[Any] | Any
"""An array, or a sparse matrix where the training target was one."""

RandomState: TypeAlias = int | np.random.RandomState | None
Metric: TypeAlias = Literal["accuracy", "f1_samples", "f1_micro", "f1_macro"]
NamedDecision: TypeAlias = Literal["optimal", "threshold", "label_sets", "top_k", "at_least_one"]
AnyDecision: TypeAlias = NamedDecision | Decision | float
InputType: TypeAlias = Literal["auto", "features", "vectors", "sequence", "states", "text"]
Schedule: TypeAlias = Literal["onecycle", "cosine", "step", "constant"]
Splitter: TypeAlias = Any
Estimator: TypeAlias = Any
"""Any object with scikit-learn's methods; scikit-learn itself has no hints."""

Voters: TypeAlias = Sequence[str | tuple[str, Estimator]]
Relations: TypeAlias = (
    LabelGraph
    | Mapping[str, Any]
    | Callable[[csr_array], LabelGraph | Mapping[str, Any] | None]
    | None
)
Hierarchy: TypeAlias = Sequence[Any] | Mapping[Any, Any] | sparray | spmatrix

class Rule(Protocol):
    """What decision objects make: scores in, labels out."""

    def decide(self, P: ArrayLike, /) -> NDArray[np.bool_]: ...
