"""Labels that have names are matched by name, wherever data frames come in."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from sklearn_mrmp import (
    LabelGraph,
    MLKNNClassifier,
    ThresholdDisplay,
    TunedDecisionClassifier,
    compare_classifiers,
    label_graph,
    relation_ablation,
    tune_thresholds,
)
from sklearn_mrmp._numerics.label_frames import in_order
from sklearn_mrmp.datasets import make_related_labels
from tests.tiny import tiny

NAMES = list("abcdef")


@pytest.fixture(scope="module")
def data():
    X, Y, _ = make_related_labels(120, 6, n_features=30, random_state=0)
    return X, pd.DataFrame(np.asarray(Y), columns=NAMES)


def predictions(clf, X):
    return [clf.set_params(metric=m).predict(X).tolist() for m in ("f1_micro", "f1_macro")]


def test_held_out_labels_are_matched_by_name(data):
    X, F = data
    held_out = {"X_val": X[80:], "y_val": F[80:]}
    clf = tiny().fit(X[:80], F[:80], **held_out)
    other = tiny().fit(X[:80], F[:80], X_val=X[80:], y_val=F[80:][NAMES[::-1]])
    assert predictions(clf, X) == predictions(other, X)
    array = tiny().fit(X[:80], F[:80], X_val=X[80:], y_val=F[80:].to_numpy())
    assert predictions(clf, X) == predictions(array, X)


@pytest.mark.parametrize("change", [{"a": "z"}, {"a": "b"}])
def test_held_out_labels_of_other_names_are_refused(data, change):
    X, F = data
    with pytest.raises(ValueError, match=r"y_val.*'a' missing"):
        tiny().fit(X[:80], F[:80], X_val=X[80:], y_val=F[80:].rename(columns=change))


def test_labels_that_share_a_name_go_by_position_or_not_at_all():
    frame = pd.DataFrame([[1, 0, 1]], columns=["a", "a", "b"])
    assert in_order(frame, ["a", "a", "b"]) is frame
    with pytest.raises(ValueError, match=r"'a' names several"):
        in_order(frame[["b", "a"]], ["a", "b", "a"])


@pytest.mark.parametrize("clf", [tiny(), MLKNNClassifier()])
def test_scores_are_those_of_labels_with_the_same_name(data, clf):
    X, F = data
    clf.fit(X, F)
    assert clf.score(X, F[NAMES[::-1]]) == clf.score(X, F) == clf.score(X, F.to_numpy())
    with pytest.raises(ValueError, match=r"'a' missing, 'z' unexpected"):
        clf.score(X, F.rename(columns={"a": "z"}))


@pytest.mark.parametrize("inside", ["nothing", "pipeline", "search"])
def test_a_classifier_that_is_fitted_already_gets_its_own_labels(data, inside):
    X, F = data
    inner = MLKNNClassifier()
    if inside != "nothing":
        inner = make_pipeline(MaxAbsScaler(), inner)
    if inside == "search":
        inner = GridSearchCV(inner, {"mlknnclassifier__n_neighbors": [5]}, cv=2)
    inner.fit(X[:80], F[:80])
    one, other = (
        TunedDecisionClassifier(inner, cv="prefit").fit(X[80:], F[80:][order])
        for order in (NAMES, NAMES[::-1])
    )
    assert other.label_names_.tolist() == NAMES
    assert predictions(one, X) == predictions(other, X)


@pytest.mark.parametrize("dtype", [int, object, "category", "Int64", "boolean"])
def test_a_classifier_inside_another_knows_the_names(data, dtype):
    X, F = data
    clf = TunedDecisionClassifier(tiny(voters=("linear",)), cv=2).fit(X, F.astype(dtype))
    assert clf.estimator_.label_names_.tolist() == NAMES
    other = TunedDecisionClassifier(OneVsRestClassifier(LogisticRegression()), cv=2)
    assert other.fit(X, F.astype(dtype)).label_names_.tolist() == NAMES


def test_thresholds_match_labels_and_scores_by_name(data):
    _, F = data
    rng = np.random.default_rng(0)
    P = pd.DataFrame(rng.random(F.shape), columns=NAMES)
    expected = tune_thresholds(F, P).thresholds
    assert tune_thresholds(F, P[NAMES[::-1]]).thresholds == expected
    assert tune_thresholds(F.to_numpy(), P.to_numpy()).thresholds == expected


def test_displays_match_labels_by_name(data):
    pytest.importorskip("matplotlib").use("Agg")
    X, F = data
    clf = make_pipeline(MaxAbsScaler(), MLKNNClassifier()).fit(X, F)
    one, other = (ThresholdDisplay.from_estimator(clf, X, F[o]) for o in (NAMES, NAMES[::-1]))
    assert one.thresholds == other.thresholds


def test_comparisons_match_test_labels_by_name(data):
    X, F = data
    scores = [
        compare_classifiers(
            {"knn": MLKNNClassifier()}, X[:80], F[:80], X[80:], F[80:][order], isolate=False
        )
        .runs[0]
        .scores
        for order in (NAMES, NAMES[::-1])
    ]
    assert scores[0] == scores[1]


def test_ablations_match_test_labels_by_name(data):
    X, F = data
    one, other = (
        relation_ablation(tiny(), X[:80], F[:80], X[80:], F[80:][order])
        for order in (NAMES, NAMES[::-1])
    )
    np.testing.assert_array_equal(one.auc_with, other.auc_with)


def test_numbers_in_another_order_are_names(data):
    X, F = data
    numbered = F.set_axis(range(6), axis=1)
    clf = tiny().fit(X[:80], numbered[:80], X_val=X[80:], y_val=numbered[80:])
    backwards = numbered[[5, 4, 3, 2, 1, 0]]
    other = tiny().fit(X[:80], numbered[:80], X_val=X[80:], y_val=backwards[80:])
    assert predictions(clf, X) == predictions(other, X)
    assert clf.score(X, backwards) == clf.score(X, numbered) == clf.score(X, F)


def adjacency():
    """Edges a → b and c → f, in a frame with rows and columns in orders of their own."""
    frame = pd.DataFrame(0.0, index=list("fedcba"), columns=list("badcfe"))
    frame.loc["a", "b"] = frame.loc["c", "f"] = 1.0
    return frame


def edges(graph, relation="near"):
    names = graph.label_names
    return {(names[i], names[j]) for i, j in np.argwhere(graph.relations[relation].toarray())}


def test_a_frame_of_edges_is_matched_by_name(data):
    X, F = data
    clf = tiny(relations={"near": adjacency(), "pulling": "chi2"}).fit(X, F)
    assert clf.label_graph_.label_names.tolist() == NAMES
    assert edges(clf.label_graph_) == {("a", "b"), ("c", "f")}


def test_a_graph_of_frames_takes_their_names():
    graph = LabelGraph({"near": adjacency()})
    assert edges(graph) == {("a", "b"), ("c", "f")}
    assert edges(LabelGraph({"near": adjacency()}, NAMES)) == edges(graph)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (adjacency().rename(columns={"a": "z"}, index={"a": "z"}), r"'a' missing, 'z' unexpected"),
        (adjacency().rename(index={"a": "z"}), r"the rows of relation 'near'"),
    ],
)
def test_a_frame_of_edges_between_other_labels_is_refused(data, frame, message):
    X, F = data
    with pytest.raises(ValueError, match=message):
        tiny(relations={"near": frame}).fit(X, F)


@pytest.mark.parametrize("given", ["graph", "frame"])
def test_labels_without_names_take_those_of_the_graph(data, given):
    X, F = data
    relations = label_graph(F) if given == "graph" else {"near": adjacency()[NAMES]}
    clf = tiny(relations=relations).fit(X, F.to_numpy())
    assert clf.label_names_.tolist() == clf.label_graph_.label_names.tolist() == NAMES
    assert clf.label_names_.flags.writeable


def test_a_graph_without_names_takes_those_of_the_labels(data):
    X, F = data
    clf = tiny(relations=label_graph(F.to_numpy())).fit(X, F)
    assert clf.label_names_.tolist() == clf.label_graph_.label_names.tolist() == NAMES


@pytest.mark.parametrize("rows", [range(6), range(5, -1, -1)])
@pytest.mark.parametrize("columns", [range(6), range(5, -1, -1)])
@pytest.mark.parametrize("given", ["frame", "graph"])
def test_a_frame_of_edges_between_numbered_labels_is_matched_by_number(data, rows, columns, given):
    X, F = data
    edge = pd.DataFrame(0.0, index=range(6), columns=range(6))
    edge.loc[0, 1] = 1.0
    relations = {"near": edge.loc[list(rows), list(columns)]}
    if given == "graph":
        relations = LabelGraph(relations)
    clf = tiny(relations=relations, voters=("linear",)).fit(X, F.to_numpy())
    assert clf.label_names_.tolist() == list("012345")
    assert np.argwhere(clf.label_graph_.relations["near"].toarray()).tolist() == [[0, 1]]


def test_names_of_a_frame_of_edges_go_before_numbers(data):
    X, F = data
    numbered = pd.DataFrame(0.0, index=range(6), columns=range(6))
    clf = tiny(relations={"far": numbered, "near": adjacency()[NAMES]}, voters=("linear",))
    assert clf.fit(X, F.to_numpy()).label_names_.tolist() == NAMES
