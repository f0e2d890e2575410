"""What `explain` takes apart adds up to what `predict_proba` says, for every kind of classifier."""

import numpy as np
import pytest
from scipy.special import logit
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from sklearn_mrmp import LaMPClassifier, MLRNNClassifier, MPVAEClassifier
from sklearn_mrmp._decisions.label_set_model import LabelSetModel
from sklearn_mrmp._ensemble.label_sets import LabelSetVote
from sklearn_mrmp.datasets import make_related_labels
from tests.tiny import PLAIN, tiny

# Beyond these log odds single precision has not enough digits for the comparison.
FAR = 6.0


@pytest.fixture(scope="module")
def data():
    X, Y, _ = make_related_labels(160, 6, n_features=40, random_state=0)
    return X, Y


def sequence(X):
    ids = np.zeros((X.shape[0], 12), dtype=int)
    for row, words in enumerate(np.split(X.indices, X.indptr[1:-1])):
        ids[row, : len(words[:12])] = words[:12] + 1
    return ids


def states(X):
    table = np.random.default_rng(0).normal(size=(X.shape[1], 8))
    return [table[words[:6]] for words in np.split(X.indices, X.indptr[1:-1])]


def assert_sums(clf, X, explanation, **options):
    """Parts add up to the log odds, and what is inside of a part adds up to it."""
    P = np.asarray(clf.predict_proba(X, **options), dtype=np.float64)
    names = clf.label_names_.tolist()
    for item in explanation:
        p = P[item.row, names.index(item.label)]
        assert item.probability == pytest.approx(p, abs=1e-6)
        if abs(logit(p)) < FAR:
            assert item.log_odds == pytest.approx(logit(p), abs=1e-4)
        for name, inside in item.inside.items():
            if hasattr(inside, "total"):
                assert inside.total == pytest.approx(item.parts[name], abs=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"label_sets": False, "voters": ("linear",)},
        {"cv": 2},
        {"n_members": 2, **PLAIN},
        {"label_shortlist": 3},
        {"input_type": "vectors"},
        {"relations": None},
        {"voters": ("linear", ("own", OneVsRestClassifier(LogisticRegression(max_iter=1000))))},
    ],
    ids=lambda options: ",".join(options) or "default",
)
def test_parts_add_up_to_the_log_odds_of_predict_proba(data, options):
    X, Y = data
    clf = tiny(**options).fit(X, Y)
    explanation = clf.explain(X[:4], labels=range(6))
    assert len(explanation) == 24
    assert_sums(clf, X[:4], explanation)


@pytest.mark.parametrize("make", [sequence, states])
def test_sequences_and_token_states_add_up(data, make):
    X, Y = data
    X = make(X)
    clf = tiny(input_type=make.__name__).fit(X, Y)
    assert_sums(clf, X[:3], clf.explain(X[:3], labels=[0, 5]))


def test_rows_without_a_single_feature_are_explained(data):
    X, Y = data
    clf = tiny().fit(X, Y)
    nothing = np.zeros((1, 40))
    explanation = clf.explain(nothing, labels=[0])
    assert_sums(clf, nothing, explanation)
    assert len(explanation[0].inside["network"]) == 0


@pytest.mark.parametrize("known_rate", [None, 0.5])
@pytest.mark.parametrize("relations", ["chi2", None])
def test_told_labels_take_part_in_the_sum(data, known_rate, relations):
    X, Y = data
    clf = tiny(voters=("linear", "neighbors"), relations=relations)
    clf.fit(X, Y, known_rate=known_rate)
    known = np.full((4, 6), np.nan)
    known[0, [1, 2]], known[1, 0], known[2, 3] = [1, 0], 1, 0
    explanation = clf.explain(X[:4], labels=range(6), known=known)
    assert_sums(clf, X[:4], explanation, known=known)
    assert list(explanation[0, "1"].parts) == ["told_labels"]
    assert "told_labels" in explanation[0, "0"].parts
    assert "told_labels" not in explanation[3, "0"].parts


def test_label_sets_and_told_labels_take_part_in_the_sum(data):
    X, Y = data
    Y = np.asarray(Y).copy()
    Y[:, 1] |= Y[:, 0]
    clf = tiny(voters=("linear",)).fit(X, Y)
    # Whether label sets are mixed in is otherwise a matter of held-out rows.
    clf._label_sets = LabelSetVote(LabelSetModel.from_labels(Y > 0, 100), 0.5)
    explanation = clf.explain(X[:4], labels=range(6))
    assert_sums(clf, X[:4], explanation)
    assert len(explanation[0].inside["label_sets"]) > 0
    # Nobody has the first label without the second: no label set agrees with the last row.
    known = np.full((3, 6), np.nan)
    known[0, 0], known[2, :2] = 1, [1, 0]
    explanation = clf.explain(X[:3], labels=range(6), known=known)
    assert_sums(clf, X[:3], explanation, known=known)
    assert explanation[2, "2"].parts["label_sets"] == 0


@pytest.mark.parametrize("make", [LaMPClassifier, MPVAEClassifier])
def test_other_networks_are_looked_into(data, make):
    X, Y = data
    clf = make(d_model=8, max_epochs=2, random_state=0).fit(X, Y)
    explanation = clf.explain(X[:2], labels=[0, 3])
    assert_sums(clf, X[:2], explanation)
    assert len(explanation[0].inside["network"]) > 0
    assert explanation[0].notes == ()


def test_a_search_for_label_sets_is_known_by_its_vote_alone(data):
    X, Y = data
    clf = MLRNNClassifier(d_model=8, max_epochs=2, random_state=0).fit(X, Y)
    explanation = clf.explain(X[:2], labels=[0])
    assert_sums(clf, X[:2], explanation)
    assert explanation[0].inside == {}
    assert "no gradient" in explanation[0].notes[0]
    assert "no gradient" in str(explanation)


def test_of_an_estimator_only_its_vote_is_known(data):
    X, Y = data
    own = ("own", OneVsRestClassifier(LogisticRegression(max_iter=1000)))
    clf = tiny(voters=("linear", own)).fit(X, Y)
    item = clf.explain(X[:1], labels=[0])[0]
    assert set(item.inside) >= {"linear"}
    assert "own" not in item.inside
    assert "own" in item.notes[0]


def test_labels_outside_a_shortlist_have_no_vote_of_the_network(data):
    X, Y = data
    clf = tiny(label_shortlist=3).fit(X, Y)
    explanation = clf.explain(X[:1], labels=range(6))
    assert sum("network" in item.parts for item in explanation) == 3


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_add_up_to_normalised_probabilities(n_classes):
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, 120)
    X = rng.normal(size=(120, 5)) + y[:, None]
    clf = tiny().fit(X, np.array(["a", "b", "c"])[y])
    P = clf.predict_proba(X[:5]).astype(np.float64)
    for item in clf.explain(X[:5]):
        p = P[item.row, list(clf.classes_).index(item.label)]
        assert item.log_odds == pytest.approx(logit(p), abs=1e-4)
        assert item.probability == pytest.approx(p, abs=1e-6)
        assert ("other_classes" in item.parts) == (n_classes == 3)


def test_without_the_inside_the_parts_are_the_same(data):
    X, Y = data
    clf = tiny().fit(X, Y)
    full, short = (clf.explain(X[:3], inside=inside) for inside in (True, False))
    assert [item.parts for item in full] == [item.parts for item in short]
    assert all(item.inside == {} and item.notes == () for item in short)
