"""Which labels `explain` is about, what it names, and what it refuses."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp import Explanation, TokenSequenceVectorizer
from sklearn_mrmp.datasets import make_related_labels
from tests.tiny import tiny


@pytest.fixture(scope="module")
def data():
    X, Y, _ = make_related_labels(160, 6, n_features=40, random_state=0)
    return X, Y


@pytest.fixture(scope="module")
def linear(data):
    return tiny(voters=("linear", "neighbors")).fit(*data)


def test_the_predicted_labels_are_explained_and_every_row_has_one(data, linear):
    X, _ = data
    predicted = linear.predict(X[:30])
    predicted = predicted.toarray() if sp.issparse(predicted) else np.asarray(predicted)
    explanation = linear.explain(X[:30])
    for row in range(30):
        labels = [int(item.label) for item in explanation if item.row == row]
        if predicted[row].any():
            assert labels == np.flatnonzero(predicted[row]).tolist()
        else:
            assert labels == [int(linear.predict_proba(X[[row]]).argmax())]


def test_a_row_without_a_predicted_label_has_its_most_probable_one_explained(data, linear):
    X, _ = data
    try:
        linear.set_params(decision=0.999)
        explanation = linear.explain(X[:3])
    finally:
        linear.set_params(decision="optimal")
    assert [item.row for item in explanation] == [0, 1, 2]


def test_labels_are_taken_by_name_and_by_number(data, linear):
    X, _ = data
    by_name, by_number = linear.explain(X[:2], "3"), linear.explain(X[:2], 3)
    assert [item.parts for item in by_name] == [item.parts for item in by_number]
    assert [item.label for item in by_name] == ["3", "3"]


def test_weights_of_the_linear_voter_decide_which_words_come_first(data):
    X, Y = data
    clf = tiny(voters=("linear",), label_sets=False).fit(X, Y)
    voter = clf.voters_.linear.model
    voter.coef_[:] = 0.0
    voter.coef_[[3, 7, 11], 2] = [2.0, -3.0, 1.0]
    row = np.zeros((1, 40))
    row[0, [3, 7, 20]] = 1.0
    names = [f"word{column}" for column in range(40)]
    item = clf.explain(row, labels=[2], feature_names=names)[0]
    terms = item.inside["linear"]
    x = clf._encoded(clf._check_rows(row)).presented(voter.features_).toarray()[0]
    expected = {f"word{column}": x[column] * voter.coef_[column, 2] for column in range(40)}
    found = terms.by_name()
    for name, value in expected.items():
        assert found.get(name, 0.0) == pytest.approx(value, abs=1e-6)
    assert next(iter(item.features())) == "word7"
    assert terms.baseline == pytest.approx(float(voter.intercept_[2]))


def test_neighbours_are_training_rows_with_their_labels(data, linear):
    X, Y = data
    item = linear.explain(X[:1], labels=[4])[0]
    near = item.inside["neighbors"]
    assert near.rows[0] == 0  # the row itself was in training
    assert near.similarities[0] == pytest.approx(1.0, abs=1e-5)
    truth = Y[near.rows][:, 4]
    assert near.has_label.tolist() == np.asarray(truth, dtype=float).tolist()
    P = linear.voters_.neighbors.predict_proba(X[:1])[0, 4]
    assert near.probability == pytest.approx(P, abs=1e-5)


def test_neighbours_of_unknown_labels_count_neither_for_nor_against(data):
    X, Y = data
    Y = np.asarray(Y, dtype=float).copy()
    Y[::2, 1] = np.nan
    clf = tiny(voters=("linear", "neighbors")).fit(X, Y)
    near = clf.explain(X[:1], labels=[1])[0].inside["neighbors"]
    assert np.isnan(near.has_label[near.rows % 2 == 0]).all()
    assert (near.shares[near.rows % 2 == 0] == 0).all()
    P = clf.voters_.neighbors.predict_proba(X[:1])[0, 1]
    assert near.probability == pytest.approx(P, abs=1e-5)


def test_linked_labels_are_those_of_the_graph(data, linear):
    X, _ = data
    graph = linear.label_graph_
    for item in linear.explain(X[:1], labels=range(6)):
        for relation in graph.relations:
            named = [link.label for link in item.related if link.relation == relation]
            assert sorted(named) == sorted(graph.neighbors(item.label, relation))


@pytest.mark.parametrize("voter", ["linear", "network"])
def test_planted_words_carry_their_labels(voter):
    """Words that were planted add more to their label than all other words together."""
    planting = {"words_per_row": 4, "words_per_label": 8, "random_state": 1}
    X, Y, _ = make_related_labels(200, 4, n_features=48, **planting)
    Y, counts = np.asarray(Y), X.toarray()
    # A label has 48 // (2 * 4) words of its own.
    with_label = np.stack([counts[y > 0].mean(0) - counts[y == 0].mean(0) for y in Y.T])
    own = np.argsort(-with_label, axis=1)[:, :6]
    clf = tiny(voters=(voter,), label_sets=False, max_epochs=6, lr=0.01).fit(X, Y)
    planted = others = 0.0
    for item in clf.explain(X[:10], labels=range(4)):
        if Y[item.row, int(item.label)]:
            words = {f"x{word}" for word in own[int(item.label)]}
            values = item.features()
            total = sum(value for name, value in values.items() if name in words)
            planted, others = planted + total, others + sum(values.values()) - total
    assert planted > 2 * abs(others)


def test_words_of_a_vocabulary_name_sequences():
    texts = ["oak buys elm", "elm buys oak", "oak sells ash", "ash sells elm"] * 15
    Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1]] * 15)
    vectorizer = TokenSequenceVectorizer().fit(texts)
    clf = tiny().fit(vectorizer.transform(texts), Y)
    item = clf.explain(
        vectorizer.transform(["Oak buys larch"]), [0], feature_names=vectorizer.vocabulary_
    )[0]
    assert item.inside["network"].names.tolist() == ["oak", "buys", "unknown token"]
    assert {"oak", "buys"} <= set(item.inside["linear"].names)


def test_texts_say_where_features_stand(data):
    X, Y = data
    names = [f"word{column}" for column in range(40)]
    clf = tiny(voters=("linear",), label_sets=False).fit(X, Y)
    row = np.zeros((1, 40))
    row[0, [3, 7]] = 1.0
    text = "Word3 and word7, word3 but not word33."
    item = clf.explain(row, labels=[0], feature_names=names, texts=[text])[0]
    marks = {(start, end) for start, end, _ in item.marks()}
    assert marks == {(0, 5), (10, 15), (17, 22), (31, 37)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": ["no such"]}, "'no such' is not known"),
        ({"labels": [6]}, "outside 0"),
        ({"labels": []}, "at least one"),
        ({"labels": [1, "1"]}, "none twice"),
        ({"feature_names": ["a"]}, "each of the 40 columns"),
        ({"feature_names": {"a": 40}}, "'a' is column 40"),
        ({"texts": ["a"]}, "inconsistent numbers of samples"),
        ({"known": np.zeros((2, 3))}, "each of the 6 labels"),
    ],
)
def test_bad_arguments_are_refused(data, linear, options, message):
    with pytest.raises(ValueError, match=message):
        linear.explain(data[0][:2], **options)


def test_very_many_labels_are_refused_with_a_hint(data, linear):
    X = sp.vstack([data[0]] * 3)
    with pytest.raises(ValueError, match=r"at most 2000 are explained .*inside=False"):
        linear.explain(X, labels=range(6))
    assert len(linear.explain(X, labels=range(6), inside=False)) == X.shape[0] * 6


def test_explaining_changes_neither_the_classifier_nor_the_random_state(data):
    torch = pytest.importorskip("torch")
    X, Y = data
    clf = tiny().fit(X, Y)
    before, state = clf.predict_proba(X), torch.random.get_rng_state()
    one, two = clf.explain(X[:3]), clf.explain(X[:3])
    assert [item.parts for item in one] == [item.parts for item in two]
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.inside["network"].values, b.inside["network"].values)
    assert torch.equal(torch.random.get_rng_state(), state)
    np.testing.assert_array_equal(clf.predict_proba(X), before)
    assert all(weight.requires_grad for weight in clf.net_.module_.parameters())


def test_an_estimator_that_cannot_be_explained_is_named():
    from sklearn.dummy import DummyClassifier

    with pytest.raises(TypeError, match="DummyClassifier cannot be explained"):
        Explanation.from_estimator(DummyClassifier(), [[0]])
