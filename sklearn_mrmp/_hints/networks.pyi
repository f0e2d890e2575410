"""Hints of the classifiers with a network: the paper's, its neural peers, and their export."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch

from sklearn_mrmp._hints.aliases import (
    AnyDecision,
    Auto,
    Floats,
    InputType,
    Labels,
    MatrixLike,
    Metric,
    Path,
    RandomState,
    Relations,
    Schedule,
    Splitter,
    Voters,
)
from sklearn_mrmp._hints.classifiers import Classifier, DecidingMixin
from sklearn_mrmp._hints.explanations import Explanation
from sklearn_mrmp._hints.graphs import LabelGraph
from sklearn_mrmp._hints.texts import TextEncoder

class NetworkClassifier(DecidingMixin, Classifier):
    label_graph_: LabelGraph | None
    history_: list[dict[str, Any]]
    n_iter_: int
    best_epoch_: int
    max_epochs_: int
    feature_dropout_: float
    input_type_: str
    network_gain_: Any

    @property
    def voters_(self) -> Bunch: ...
    @property
    def vote_weights_(self) -> dict[str, float]: ...
    @property
    def label_sets_(self) -> Any: ...
    @property
    def label_embeddings_(self) -> Floats: ...
    @property
    def oof_proba_(self) -> Floats: ...
    @property
    def label_shortlist_(self) -> int | None: ...
    @property
    def net_(self) -> Any: ...
    @property
    def device_(self) -> str: ...
    def fit(
        self,
        X: MatrixLike | Sequence[str],
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: MatrixLike | None = None,
        y_val: MatrixLike | None = None,
        Y_observed: MatrixLike | None = None,
        label_weight: Literal["balanced"] | Mapping[str, float] | ArrayLike | None = None,
        known_rate: float | None = None,
    ) -> Self: ...
    def partial_fit(
        self,
        X: MatrixLike | Sequence[str],
        y: MatrixLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self: ...
    def predict(self, X: MatrixLike, known: MatrixLike | None = None) -> Labels: ...
    def predict_proba(self, X: MatrixLike, known: MatrixLike | None = None) -> Floats: ...
    def predict_labels(self, X: MatrixLike, known: MatrixLike | None = None) -> list[list[str]]: ...
    def explain(
        self,
        X: MatrixLike | Sequence[str],
        labels: str | int | Sequence[str | int] | None = None,
        *,
        known: MatrixLike | None = None,
        feature_names: Sequence[str] | Mapping[str, int] | None = None,
        texts: Sequence[str] | None = None,
        inside: bool = True,
    ) -> Explanation: ...
    def to_onnx(self, path: Path | None = None, *, sparse_rows: bool = False) -> Any: ...

def to_onnx(
    classifier: NetworkClassifier, path: Path | None = None, *, sparse_rows: bool = False
) -> Any: ...

class MrMPClassifier(NetworkClassifier):
    @classmethod
    def paper(
        cls, dataset: str | None = None, *, repaired: bool = False, **overrides: Any
    ) -> Self: ...
    def __init__(
        self,
        *,
        d_model: int | Auto = "auto",
        n_heads: int | Auto = "auto",
        d_inner: int | Auto = "auto",
        n_encoder_layers: int | Auto = "auto",
        n_relation_layers: int = 2,
        n_decoder_layers: int | Auto = "auto",
        dropout: float | Auto = "auto",
        feature_dropout: float | Auto = "auto",
        architecture: Literal["default", "paper"] = "default",
        input_type: InputType = "auto",
        max_tokens: int | None = None,
        encoder: Path | tuple[Any, Any] | TextEncoder | None = None,
        encoder_lr: float = 0.0,
        relations: Literal["chi2"] | Relations = "chi2",
        alpha: float = 0.05,
        composition: Literal["sum", "sub", "mult"] = "sum",
        relation_loss: float = 0.001,
        voters: Voters = ("network", "linear", "neighbors"),
        label_sets: bool = True,
        label_shortlist: int | Auto | None = "auto",
        n_members: int = 1,
        max_epochs: int | Auto = "auto",
        batch_size: int | Auto = "auto",
        lr: float | Auto = "auto",
        weight_decay: float = 0.0,
        lr_schedule: Schedule = "onecycle",
        early_stopping: bool | int | Auto = "auto",
        refit: bool = False,
        warm_start: bool = False,
        cv: float | Splitter = 0.1,
        metric: Metric = "f1_micro",
        decision: AnyDecision = "optimal",
        device: str = "auto",
        n_threads: int | None = None,
        n_jobs: int | None = None,
        callbacks: Sequence[Any] | None = None,
        checkpoint_dir: Path | None = None,
        verbose: int = 0,
        progress_bar: bool = False,
        random_state: RandomState = None,
    ) -> None: ...

class LaMPClassifier(NetworkClassifier):
    @classmethod
    def paper(cls, dataset: str | None = None, **overrides: Any) -> Self: ...
    def __init__(
        self,
        *,
        d_model: int | Auto = "auto",
        n_heads: int | Auto = "auto",
        d_inner: int | Auto = "auto",
        n_encoder_layers: int | Auto = "auto",
        n_decoder_layers: int | Auto = "auto",
        dropout: float | Auto = "auto",
        feature_dropout: float | Auto = "auto",
        architecture: Literal["default", "paper"] = "default",
        input_type: InputType = "auto",
        max_tokens: int | None = None,
        encoder: Path | tuple[Any, Any] | TextEncoder | None = None,
        encoder_lr: float = 0.0,
        relations: Literal["prior", "full", "edgeless", "chi2"] | Relations = "prior",
        alpha: float = 0.05,
        voters: Voters = ("network",),
        label_sets: bool = False,
        label_shortlist: int | Auto | None = None,
        n_members: int = 1,
        max_epochs: int | Auto = "auto",
        batch_size: int | Auto = "auto",
        lr: float | Auto = "auto",
        weight_decay: float = 0.0,
        lr_schedule: Schedule = "onecycle",
        early_stopping: bool | int | Auto = "auto",
        refit: bool = False,
        warm_start: bool = False,
        cv: float | Splitter = 0.1,
        metric: Metric = "f1_micro",
        decision: AnyDecision = "optimal",
        device: str = "auto",
        n_threads: int | None = None,
        n_jobs: int | None = None,
        callbacks: Sequence[Any] | None = None,
        checkpoint_dir: Path | None = None,
        verbose: int = 0,
        progress_bar: bool = False,
        random_state: RandomState = None,
    ) -> None: ...

class MLRNNClassifier(NetworkClassifier):
    @classmethod
    def paper(cls, dataset: str | None = None, **overrides: Any) -> Self: ...
    def __init__(
        self,
        *,
        d_model: int = 128,
        d_inner: int = 256,
        d_label: int = 64,
        dropout: float | Auto = "auto",
        feature_dropout: float | Auto = "auto",
        architecture: Literal["default", "paper"] = "default",
        label_order: Literal["f2r", "r2f", "free"] | Sequence[str | int] = "f2r",
        masked: bool = True,
        beam_width: int = 16,
        max_labels: int = 50,
        length_penalty: float = 0.0,
        input_type: InputType = "auto",
        max_tokens: int | None = None,
        encoder: Path | tuple[Any, Any] | TextEncoder | None = None,
        encoder_lr: float = 0.0,
        voters: Voters = ("network",),
        label_sets: bool = False,
        label_shortlist: int | Auto | None = None,
        n_members: int = 1,
        max_epochs: int | Auto = "auto",
        batch_size: int | Auto = "auto",
        lr: float | Auto = "auto",
        weight_decay: float = 0.0,
        lr_schedule: Schedule = "onecycle",
        early_stopping: bool | int | Auto = "auto",
        refit: bool = False,
        warm_start: bool = False,
        cv: float | Splitter = 0.1,
        metric: Metric = "f1_micro",
        decision: AnyDecision = "optimal",
        device: str = "auto",
        n_threads: int | None = None,
        n_jobs: int | None = None,
        callbacks: Sequence[Any] | None = None,
        checkpoint_dir: Path | None = None,
        verbose: int = 0,
        progress_bar: bool = False,
        random_state: RandomState = None,
    ) -> None: ...
    @property
    def label_order_(self) -> NDArray[np.integer[Any]] | None: ...

class MPVAEClassifier(NetworkClassifier):
    @classmethod
    def paper(cls, dataset: str | None = None, **overrides: Any) -> Self: ...
    def __init__(
        self,
        *,
        d_model: int = 256,
        d_inner: int = 512,
        d_latent: int = 50,
        covariance_rank: int = 64,
        n_samples: int = 16,
        dropout: float | Auto = "auto",
        feature_dropout: float | Auto = "auto",
        architecture: Literal["default", "paper"] = "default",
        likelihood_loss: float = 10.0,
        ranking_loss: float = 0.1,
        divergence_loss: float = 1.1,
        input_type: InputType = "auto",
        max_tokens: int | None = None,
        encoder: Path | tuple[Any, Any] | TextEncoder | None = None,
        encoder_lr: float = 0.0,
        voters: Voters = ("network",),
        label_sets: bool = False,
        label_shortlist: int | Auto | None = None,
        n_members: int = 1,
        max_epochs: int | Auto = "auto",
        batch_size: int | Auto = "auto",
        lr: float | Auto = "auto",
        weight_decay: float = 0.0,
        lr_schedule: Schedule = "onecycle",
        early_stopping: bool | int | Auto = "auto",
        refit: bool = False,
        warm_start: bool = False,
        cv: float | Splitter = 0.1,
        metric: Metric = "f1_micro",
        decision: AnyDecision = "optimal",
        device: str = "auto",
        n_threads: int | None = None,
        n_jobs: int | None = None,
        callbacks: Sequence[Any] | None = None,
        checkpoint_dir: Path | None = None,
        verbose: int = 0,
        progress_bar: bool = False,
        random_state: RandomState = None,
    ) -> None: ...
    @property
    def label_covariance_(self) -> Floats: ...
    def covariance_graph(self, min_correlation: float = 0.1) -> LabelGraph: ...
