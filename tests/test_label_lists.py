"""Labels as lists of names, in and out."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MultiLabelBinarizer

from sklearn_mrmp import (
    CalibratedMultilabelClassifier,
    LabelChainClassifier,
    LabelPowersetClassifier,
    MLARAMClassifier,
    MLKNNClassifier,
    MultilabelStratifiedKFold,
    SoftVotingMultilabelClassifier,
    TunedBinaryRelevanceClassifier,
    TunedDecisionClassifier,
    label_graph,
    load,
)
from tests.tiny import tiny

CLASSIFIERS = {
    "mrmp": tiny(voters=("linear",)),
    "ML-KNN": MLKNNClassifier(),
    "ML-ARAM": MLARAMClassifier(),
    "relevance": TunedBinaryRelevanceClassifier((1.0,), random_state=0),
    "powerset": LabelPowersetClassifier(),
    "chain": LabelChainClassifier(),
    "voting": SoftVotingMultilabelClassifier([("knn", MLKNNClassifier())]),
    "calibrated": CalibratedMultilabelClassifier(MLKNNClassifier(), cv=2, random_state=0),
    "tuned": TunedDecisionClassifier(MLKNNClassifier(), cv=2, random_state=0),
}
each = pytest.mark.parametrize("name", CLASSIFIERS)
NAMES = ["alpine", "sea", "ship", "Äther"]


@pytest.fixture(scope="module")
def data():
    X = np.random.default_rng(0).normal(size=(60, 5))
    Y = (X[:, :4] > 0.2).astype(int)
    return X, Y, [[name for name, has in zip(NAMES, row, strict=True) if has] for row in Y]


@each
def test_lists_are_the_matrix_of_their_names(data, name):
    X, Y, lists = data
    clf = CLASSIFIERS[name].fit(X, lists, sample_weight=np.ones(60))
    assert clf.label_names_.tolist() == NAMES
    P, predicted, score = clf.predict_proba(X), clf.predict(X), clf.score(X, lists)
    assert (predicted.dtype, predicted.shape) == (np.int64, (60, 4))
    assert clf.score(X, Y) == score
    clf.fit(X, pd.DataFrame(Y, columns=NAMES), sample_weight=np.ones(60))
    np.testing.assert_array_equal(clf.predict_proba(X), P)
    assert clf.score(X, lists) == score


@each
def test_names_come_out_for_what_is_predicted(data, name):
    X, _, lists = data
    clf = CLASSIFIERS[name].fit(X, lists)
    expected = [[NAMES[i] for i in np.flatnonzero(row)] for row in clf.predict(X)]
    assert clf.predict_labels(X) == expected
    assert all(type(label) is str for row in clf.predict_labels(X) for label in row)


def test_labels_without_names_are_numbers_and_classes_are_no_labels(data):
    X, Y, _ = data
    clf = MLKNNClassifier(n_neighbors=1).fit(X, Y)
    numbers = [[str(i) for i in np.flatnonzero(row)] for row in clf.predict(X)]
    assert clf.predict_labels(X) == numbers
    with pytest.raises(ValueError, match=r"binary vector\. Use predict"):
        clf.fit(X, Y[:, 0]).predict_labels(X)


def test_labels_that_are_told_are_among_the_names(data):
    X, _, lists = data
    clf = tiny(voters=("linear",)).fit(X, lists)
    told = np.full((60, 4), np.nan)
    told[:, 2] = 1
    assert all("ship" in row for row in clf.predict_labels(X, known=told))


FORMS = {
    "tuples": lambda lists: [tuple(row) for row in lists],
    "sets": lambda lists: [set(row) for row in lists],
    "series": pd.Series,
    "arrays": lambda lists: [np.array(row, dtype=object) for row in lists],
    "object array": lambda lists: pd.Series(lists).to_numpy(),
    "repeated names": lambda lists: [row + row for row in lists],
    "numpy strings": lambda lists: [[np.str_(name) for name in row] for row in lists],
}


@pytest.mark.parametrize("form", FORMS)
def test_any_sequence_of_names_is_a_list(data, form):
    X, _, lists = data
    clf, expected = MLKNNClassifier(), MLKNNClassifier().fit(X, lists)
    clf.fit(X, FORMS[form](lists))
    assert clf.label_names_.tolist() == NAMES
    np.testing.assert_array_equal(clf.predict_proba(X), expected.predict_proba(X))
    assert clf.score(X, FORMS[form](lists)) == expected.score(X, lists)


def test_columns_are_those_of_a_multi_label_binarizer(data):
    X, _, lists = data
    binarizer = MultiLabelBinarizer().fit(lists)
    clf = MLKNNClassifier().fit(X, lists)
    assert clf.label_names_.tolist() == binarizer.classes_.tolist()
    rows = [list(row) for row in binarizer.inverse_transform(clf.predict(X))]
    assert clf.predict_labels(X) == rows


def test_held_out_lists_go_by_the_names_of_the_training_lists(data):
    X, Y, lists = data
    fitted = [
        TunedBinaryRelevanceClassifier((0.1, 1.0)).fit(X[:40], lists[:40], X_val=X[40:], y_val=y)
        for y in (lists[40:], Y[40:])
    ]
    assert fitted[0].C_ == fitted[1].C_
    tiny(voters=("linear",)).fit(X[:40], lists[:40], X_val=X[40:], y_val=lists[40:])
    prefit = TunedDecisionClassifier(fitted[0], cv="prefit").fit(X[40:43], lists[40:43])
    assert prefit.label_names_.tolist() == NAMES


def test_rows_without_labels_can_be_scored_alone_and_new_names_cannot(data):
    X, _, lists = data
    clf = MLKNNClassifier().fit(X, lists)
    assert clf.score(X[:2], [[], []]) == np.mean([not row for row in clf.predict_labels(X[:2])])
    with pytest.raises(ValueError, match="not seen in training: 'desert'"):
        clf.score(X[:2], [["desert"], []])


def test_a_vector_of_names_is_still_one_of_classes(data):
    clf = MLKNNClassifier().fit(data[0], ["sea", "ship"] * 30)
    assert clf.predict(data[0]).shape == (60,)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[1, 0], [1]] * 30, "row 0 contains 1, of type int.*turn them into names"),
        ([["sea"], ["ship", 3]] * 30, "row 1 contains 3, of type int"),
        ([{1, 2}, {3}] * 30, "of type int"),
        (["sea", ["ship"]] * 30, "Row 0 of y is 'sea', while other rows are lists"),
        (pd.Series([["sea"], None] * 30), "Row 1 of y is None.*empty list"),
        ([[]] * 60, "empty lists alone"),
    ],
)
@pytest.mark.parametrize("clf", [MLKNNClassifier(), tiny(voters=("linear",))])
def test_rows_that_are_neither_a_matrix_nor_names_get_advice(data, clf, y, message):
    with pytest.raises(ValueError, match=message):
        clf.fit(data[0], y)


def test_a_pipeline_and_a_model_file_keep_the_names(data, tmp_path):
    X, _, lists = data
    model = make_pipeline(MaxAbsScaler(), MLKNNClassifier()).fit(X, lists)
    assert model.score(X, lists) > 0
    model[-1].save(tmp_path / "model")
    rows = model[:-1].transform(X)
    assert load(tmp_path / "model").predict_labels(rows) == model[-1].predict_labels(rows)


def test_graphs_and_splits_read_lists_too(data):
    X, Y, lists = data
    assert label_graph(lists) == label_graph(pd.DataFrame(Y, columns=NAMES))
    splits = [list(MultilabelStratifiedKFold(3).split(X, y)) for y in (lists, Y)]
    for ours, theirs in zip(*splits, strict=True):
        np.testing.assert_array_equal(ours[1], theirs[1])
