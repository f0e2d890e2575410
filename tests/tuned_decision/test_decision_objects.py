"""Decision objects and hierarchies in classifiers: changed after fit, cloned, searched, saved."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import fbeta_score, make_scorer, precision_score
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from sklearn_mrmp import (
    AtLeastOne,
    FBeta,
    FloorNotMetWarning,
    Jaccard,
    LabelCosts,
    LabelCuts,
    MrMPClassifier,
    PrecisionFloor,
    RecallFloor,
    TopK,
    TunedDecisionClassifier,
    add_ancestors,
    load,
    save,
)
from sklearn_mrmp._host import chunks
from sklearn_mrmp._model_files.errors import ModelFileError
from sklearn_mrmp.datasets import make_related_labels

X, Y, _ = make_related_labels(240, 6, n_features=40, random_state=0)
NAMES = [str(k) for k in range(6)]
LR = OneVsRestClassifier(LogisticRegression())
TREE = [-1, 0, 1, -1, 3, 3]
DECISIONS = [
    FBeta(2.0),
    FBeta(0.5, "macro"),
    Jaccard("samples"),
    PrecisionFloor(0.7),
    RecallFloor(0.9, "per_label"),
    LabelCosts(fp={"1": 4.0}, fn=2.0),
    LabelCuts({"0": 0.2}, default=0.6),
    TopK(2),
    TopK(np.arange(60) % 4),
    AtLeastOne(0.6),
]
each_decision = pytest.mark.parametrize("decision", DECISIONS, ids=lambda d: repr(d)[:25])


def tuned(**params):
    return TunedDecisionClassifier(LR, cv=0.4, random_state=0, **params)


def mrmp(**params):
    return MrMPClassifier(d_model=8, max_epochs=1, cv=0.4, random_state=0, **params)


@pytest.fixture(scope="module", params=[tuned, mrmp])
def make(request):
    return request.param


@pytest.fixture(scope="module")
def fitted(make):
    return make().fit(X[:180], Y[:180])


@each_decision
def test_a_decision_after_fit_is_the_one_given_before(make, fitted, decision):
    before = make(decision=decision).fit(X[:180], Y[:180])
    after = clone_of(fitted).set_params(decision=decision)
    predicted = after.predict(X[180:])
    np.testing.assert_array_equal(predicted, before.predict(X[180:]))
    rule = after.decision_rule_
    P = after.predict_proba(X[180:])
    np.testing.assert_array_equal(predicted, rule.decide(P))
    for again in (clone_of(before), saved_and_loaded(before)):
        np.testing.assert_array_equal(again.predict(X[180:]), predicted)


def clone_of(fitted):
    return pickle.loads(pickle.dumps(fitted))


def saved_and_loaded(fitted, path="model.mrmp"):
    save(fitted, path)
    return load(path)


@pytest.fixture(autouse=True)
def files_are_thrown_away(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@each_decision
def test_decisions_are_cloned_and_shown(make, decision):
    clf = clone(make(decision=decision))
    assert clf.decision == decision
    assert type(decision).__name__ in repr(clf)


def test_rules_are_tuned_on_what_the_classifier_was_not_fitted_on(fitted):
    held_out = fitted._points.held_out.rows()
    assert held_out.Y.shape == (72, 6)
    clf = clone_of(fitted).set_params(decision=PrecisionFloor(0.7))
    decided = clf.decision_rule_.decide(held_out.P)
    assert precision_score(held_out.Y, decided, average="micro") >= 0.7


def test_a_search_chooses_among_decisions():
    decisions = ["threshold", 0.5, FBeta(0.3), FBeta(3.0), TopK(6)]
    scorer = make_scorer(fbeta_score, beta=3, average="micro", zero_division=0)
    search = GridSearchCV(tuned(), {"decision": decisions}, cv=2, scoring=scorer).fit(X, Y)
    scores = dict(zip(map(repr, decisions), search.cv_results_["mean_test_score"], strict=True))
    assert scores[repr(FBeta(3.0))] > scores[repr(FBeta(0.3))]
    assert search.best_params_["decision"] in decisions


@pytest.mark.parametrize("cells", [40, 2**22])
def test_numbers_of_labels_go_with_their_rows_whatever_the_chunks(fitted, cells, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_CELLS", cells)
    k = np.random.default_rng(0).integers(0, 7, 60)
    clf = clone_of(fitted).set_params(decision=TopK(k))
    np.testing.assert_array_equal(clf.predict(X[180:]).sum(axis=1), k)
    with pytest.raises(ValueError, match=r"each of the 50 rows, got an array of shape \(60,\)"):
        clf.predict(X[190:])
    by_function = clf.set_params(decision=TopK(lambda P: (P >= 0.3).sum(axis=1)))
    expected = (by_function.predict_proba(X[180:]) >= 0.3).astype(int)
    np.testing.assert_array_equal(by_function.predict(X[180:]), expected)


def test_a_floor_out_of_reach_warns_in_fit_and_predicts_nothing(make):
    rows, labels = np.ones((120, 5)), Y[:120, :2]  # equal rows cannot be told apart
    clf = make(decision=PrecisionFloor(1.0, "per_label"))
    with pytest.warns(FloorNotMetWarning, match=r"2 of 2 labels .* Nothing is predicted there"):
        clf.fit(rows, labels)
    rule, held_out = clf.decision_rule_, clf._points.held_out.rows()
    np.testing.assert_allclose(rule.best_reachable, held_out.Y.mean(axis=0))
    with warnings.catch_warnings():  # once is enough
        warnings.simplefilter("error")
        assert not clf.predict(rows).any()


def test_names_of_a_data_frame_are_those_of_the_decision(make):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(Y[:180], columns=list("abcdef"))
    clf = make(decision=LabelCuts({"b": 0.0}, default=2.0)).fit(X[:180], frame)
    np.testing.assert_array_equal(clf.predict(X[180:]), [[0, 1, 0, 0, 0, 0]] * 60)


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        (LabelCuts({"x": 0.3}, default=0.5), "labels that are not there: x"),
        (LabelCosts(fn=[1, 2]), "fn has 2 values, but there are 6 labels"),
        (TopK(7), "k is 7, but there are 6 labels"),
    ],
)
def test_decisions_for_other_labels_are_refused_before_anything_is_fitted(make, decision, message):
    def no_fit(*_, **__):
        raise AssertionError

    clf = make(decision=decision)
    if isinstance(clf, TunedDecisionClassifier):
        clf.estimator = type("Broken", (LogisticRegression,), {"fit": no_fit})()
    with pytest.raises(ValueError, match=message):
        clf.fit(X, Y)


def test_two_classes_are_one_label(make):
    y = np.array(["no", "yes"])[Y[:, 0]]
    clf = make().fit(X[:180], y[:180])
    P = clf.predict_proba(X[180:])[:, 1]
    for decision in (FBeta(2.0), RecallFloor(0.9), LabelCosts(fn=5), LabelCuts({"yes": 0.3})):
        clf.set_params(decision=decision)
        expected = clf.decision_rule_.decide(P[:, None])[:, 0]
        np.testing.assert_array_equal(clf.predict(X[180:]) == "yes", expected)
    with pytest.raises(ValueError, match="vector of two classes"):
        clf.set_params(decision=TopK(1)).predict(X)


def test_more_classes_have_no_labels_to_decide_about(make):
    y = Y[:, 0] + 2 * Y[:, 1]
    with pytest.raises(ValueError, match="4 classes that exclude each other"):
        make(decision=FBeta(2.0)).fit(X, y)
    clf = make().fit(X, y).set_params(decision=PrecisionFloor(0.9))
    with pytest.raises(ValueError, match="4 classes that exclude each other"):
        clf.predict(X)


def test_margins_will_do():
    svc = OneVsRestClassifier(LinearSVC())
    clf = TunedDecisionClassifier(svc, cv=3, random_state=0).fit(X[:180], Y[:180])
    margins = clf.decision_function(X[180:])
    for decision in DECISIONS:
        clf.set_params(decision=decision)
        expected = clf.decision_rule_.decide(margins)
        np.testing.assert_array_equal(clf.predict(X[180:]), expected)


def test_best_score_is_what_the_decision_maximises():
    clf = tuned().fit(X, Y)
    rows = clf._points.held_out.rows()
    clf.set_params(decision=FBeta(2.0))
    decided = clf.decision_rule_.decide(rows.P)
    assert clf.best_score_ == pytest.approx(fbeta_score(rows.Y, decided, beta=2, average="micro"))
    for decision in (0.5, LabelCuts([0.5] * 6), TopK(2), AtLeastOne(0.5)):
        assert not hasattr(clf.set_params(decision=decision), "best_score_")


def test_functions_have_no_place_in_model_files():
    clf = tuned(decision=TopK(lambda P: (P > 0.5).sum(axis=1))).fit(X, Y)
    with pytest.raises((ModelFileError, ValueError, TypeError), match="function"):
        save(clf, "model.mrmp")


class TestHierarchy:
    closed = add_ancestors(Y, TREE)

    @pytest.mark.parametrize(
        "decision", ["optimal", "threshold", "label_sets", "top_k", 0.3, *DECISIONS], ids=repr
    )
    def test_probabilities_and_labels_respect_it(self, decision):
        clf = tuned(hierarchy=TREE, decision=decision).fit(X[:180], self.closed[:180])
        P, predicted = clf.predict_proba(X[180:]), clf.predict(X[180:])
        for child, parent in enumerate(TREE):
            if parent >= 0:
                assert (P[:, parent] >= P[:, child]).all()
                assert (predicted[:, parent] >= predicted[:, child]).all()
        loaded = saved_and_loaded(clf)
        np.testing.assert_array_equal(loaded.predict_proba(X[180:]), P)
        np.testing.assert_array_equal(loaded.predict(X[180:]), predicted)

    def test_decisions_are_tuned_on_lifted_scores(self):
        plain, lifted = (
            tuned(hierarchy=tree, decision=PrecisionFloor(0.8)).fit(X, self.closed)
            for tree in (None, TREE)
        )
        P, Q = (clf._points.held_out.P for clf in (plain, lifted))
        np.testing.assert_array_equal(lifted._hierarchy.lifted(P), Q)
        rows = lifted._points.held_out.rows()
        decided = lifted._labels_at(Q, X, *lifted._operating_point)
        assert precision_score(rows.Y, decided, average="micro") >= 0.8  # ancestors included

    def test_margins_are_lifted(self):
        svc = OneVsRestClassifier(LinearSVC())
        clf = TunedDecisionClassifier(svc, cv=3, hierarchy=TREE).fit(X, self.closed)
        margins = clf.decision_function(X)
        np.testing.assert_array_equal(clf._hierarchy.lifted(margins), margins)

    def test_it_serves_a_network_and_sparse_labels(self):
        hierarchy = sp.coo_array(([1.0, 1.0], ([0, 1], [1, 2])), shape=(6, 6))
        clf = TunedDecisionClassifier(mrmp(), cv=0.3, refit=False, hierarchy=hierarchy)
        clf.fit(X, sp.csr_array(self.closed))
        predicted = clf.predict(X).toarray()
        assert (predicted[:, 0] >= predicted[:, 1]).all()
        assert (predicted[:, 1] >= predicted[:, 2]).all()

    def test_names_may_be_used(self):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame(self.closed, columns=list("abcdef"))
        named = {"b": "a", "c": "b", "e": "d", "f": "d"}
        one, two = (tuned(hierarchy=tree).fit(X, frame) for tree in (named, TREE))
        np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))

    def test_labels_that_violate_it_are_refused(self):
        labels = self.closed.copy()
        labels[5] = [1, 0, 1, 0, 0, 0]
        message = "row 5 has label 2 without its parent 1, and there are 1 such cases"
        with pytest.raises(ValueError, match=message):
            tuned(hierarchy=TREE).fit(X, labels)

    def test_a_cycle_and_a_vector_target_are_refused(self):
        with pytest.raises(ValueError, match="cycle through the labels"):
            tuned(hierarchy=[1, 0, -1, -1, -1, -1]).fit(X, Y)
        with pytest.raises(ValueError, match="vector of 2 classes"):
            tuned(hierarchy=TREE).fit(X, Y[:, 0])
