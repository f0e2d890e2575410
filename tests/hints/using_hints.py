"""What a user's editor makes of the type hints: `make typecheck` reads this file, nobody runs it.

``assert_type`` fails where a hint says less or other than it should, and ``type: ignore`` where a
mistake would go unnoticed (mypy reports those that are not needed).
"""

from typing import Any, assert_type

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sklearn_mrmp import (
    FBeta,
    LabelGraph,
    MLKNNClassifier,
    MrMPClassifier,
    TunedDecisionClassifier,
    compare_classifiers,
    label_graph,
    load,
    multilabel_train_test_split,
    tune_thresholds,
)
from sklearn_mrmp.datasets import PlantedRelations, make_related_labels


def fitting_and_predicting() -> None:
    X, Y, planted = make_related_labels(100, 5, random_state=0)
    assert_type(X, csr_array)
    assert_type(planted, PlantedRelations)
    clf = MrMPClassifier(d_model=16, voters=("network", "linear"), metric="f1_macro", decision=0.3)
    assert_type(clf.fit(X, Y, label_weight={"0": 2.0}), MrMPClassifier)
    assert_type(clf.predict_proba(X), NDArray[np.floating[Any]])
    assert_type(clf.label_graph_, LabelGraph | None)
    assert_type(MrMPClassifier.paper("bibtex"), MrMPClassifier)
    assert_type(MLKNNClassifier.load("knn.mrmp"), MLKNNClassifier)
    assert_type(load("knn.mrmp"), Any)


def rows_in_any_form() -> None:
    clf = MrMPClassifier(encoder="some/encoder")
    clf.fit(["a text", "another"], [[1, 0], [0, 1]])
    clf.fit(pd.DataFrame({"x": [1.0, 2.0]}), pd.DataFrame({"a": [0, 1], "b": [1, 1]}))
    clf.fit(np.eye(3), np.eye(3, dtype=int), sample_weight=[1, 2, 1])


def relations_in_any_form() -> None:
    graph = label_graph([[1, 0], [0, 1]], correction="fdr_bh")
    assert_type(graph.neighbors("a"), list[str])
    assert_type(graph.to_frame(), pd.DataFrame)
    for relations in (graph, None, {"above": np.eye(2)}, label_graph):
        MrMPClassifier(relations=relations)


def decisions_in_any_form() -> None:
    result = tune_thresholds([[1, 0]], [[0.7, 0.2]], metrics=["f1_micro", FBeta(2.0)])
    assert_type(result.scores[FBeta(2.0)], float)
    TunedDecisionClassifier(MLKNNClassifier(), decision=FBeta(0.5, average="macro"), cv=3)


def results() -> None:
    X, Y, _ = make_related_labels(100, 5)
    X_train, X_test, Y_train, Y_test = multilabel_train_test_split(X, Y, random_state=0)
    found = compare_classifiers({"knn": MLKNNClassifier()}, X_train, Y_train, X_test, Y_test)
    assert_type(found.to_markdown(), str)


def mistakes_are_found() -> None:
    MrMPClassifier(metric="f1")  # type: ignore[arg-type]
    MrMPClassifier(d_model="wide")  # type: ignore[arg-type]
    MrMPClassifier(epochs=3)  # type: ignore[call-arg]
    MrMPClassifier(64)  # type: ignore[call-arg]
    label_graph([[1, 0]], correction="holm")  # type: ignore[arg-type]
    tune_thresholds([[1, 0]], [[0.5, 0.1]], strategy="each")  # type: ignore[arg-type]
