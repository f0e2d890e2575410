"""Rows seen before: whose labels they get, when, and that the classifier gives them."""

import copy
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from sklearn_mrmp import (
    MrMPClassifier,
    ThresholdDisplay,
    compare_classifiers,
)
from sklearn_mrmp._decisions.choice import fit_decision_rules
from sklearn_mrmp._decisions.operating_points import OperatingPoints
from sklearn_mrmp._decisions.rules.cuts import GlobalThresholdRule
from sklearn_mrmp._decisions.rules.label_sets import LabelSetRule
from sklearn_mrmp._decisions.rules.seen_rows import SeenRowRule
from sklearn_mrmp._decisions.sweep import METRICS
from sklearn_mrmp._decisions.validation_rows import ValidationRows
from sklearn_mrmp._ensemble.fitting import EnsemblePlan
from sklearn_mrmp._ensemble.model import Ensemble
from sklearn_mrmp._host import chunks as _chunks
from sklearn_mrmp._host.torch_state import torch_threads
from sklearn_mrmp._model_files.errors import ModelFileError
from sklearn_mrmp._numerics import similar_rows as _similar_rows
from sklearn_mrmp._numerics.similar_rows import SimilarRows
from sklearn_mrmp._voters import neighbors as _neighbors
from sklearn_mrmp._voters.neighbors import NeighborVoter
from tests.tiny import tiny

LABELS = sp.csr_array([[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 1]])


def similar_rows(similarities, rows, labels=LABELS):
    return SimilarRows(np.asarray(similarities), np.asarray(rows), labels)


def labels_of(similar, P, min_similarity=0.9):
    found, labels = similar.most_probable_labels(np.asarray(P), min_similarity)
    return found.tolist(), labels.toarray().tolist()


def test_of_several_similar_rows_the_most_probable_labels_count():
    similar = similar_rows([[1.0, 0.95, 0.5]], [[1, 0, 3]])
    assert labels_of(similar, [[0.9, 0.6, 0.7]]) == ([0], [[1, 0, 1]])
    assert labels_of(similar, [[0.1, 0.6, 0.7]]) == ([0], [[0, 1, 0]])


def test_more_labels_win_where_each_is_likely():
    similar = similar_rows([[1.0, 1.0]], [[0, 3]])
    assert labels_of(similar, [[0.7, 0.6, 0.7]]) == ([0], [[1, 1, 1]])
    assert labels_of(similar, [[0.7, 0.4, 0.7]]) == ([0], [[1, 0, 1]])


@pytest.mark.parametrize("pairs_at_once", [1, 4, 2**16])
def test_each_row_has_its_own_probabilities(pairs_at_once, monkeypatch):
    monkeypatch.setattr(_similar_rows, "_PAIRS_AT_ONCE", pairs_at_once)
    similar = similar_rows([[0.1, 0.1], [1.0, 0.9], [0.1, 0.1], [0.9, 0.9]], [[0, 1]] * 4)
    P = [[0.9, 0.1, 0.9], [0.1, 0.9, 0.1], [0.1, 0.9, 0.1], [0.9, 0.1, 0.9]]
    assert labels_of(similar, P, 0.9) == ([1, 3], [[0, 1, 0], [1, 0, 1]])


@pytest.mark.parametrize("dtype", [int, bool, np.float16])
def test_any_numbers_are_probabilities(dtype):
    similar = similar_rows([[1.0, 1.0]], [[0, 1]])
    assert labels_of(similar, np.array([[0, 1, 0]], dtype=dtype)) == ([0], [[0, 1, 0]])


def test_rows_that_are_less_similar_have_no_say():
    similar = similar_rows([[0.95, 0.89, 0.1]], [[1, 0, 3]])
    assert labels_of(similar, [[0.9, 0.1, 0.9]]) == ([0], [[0, 1, 0]])


def test_no_labels_are_a_label_set_as_well():
    similar = similar_rows([[1.0, 1.0]], [[0, 2]])
    assert labels_of(similar, [[0.2, 0.3, 0.4]]) == ([0], [[0, 0, 0]])


def test_of_equally_probable_sets_the_more_similar_row_counts():
    similar = similar_rows([[1.0, 0.99]], [[1, 0]])
    assert labels_of(similar, np.full((1, 3), 0.5)) == ([0], [[0, 1, 0]])


def test_rows_without_a_similar_one_are_left_alone():
    similar = similar_rows([[0.5, 0.4], [0.9, 0.2], [0.3, 0.1]], [[0, 1], [1, 0], [2, 3]])
    assert labels_of(similar, np.full((3, 3), 0.5), 0.85) == ([1], [[0, 1, 0]])
    assert labels_of(similar, np.full((3, 3), 0.5), 0.95) == ([], [])


def test_parts_keep_their_own_training_rows():
    first = similar_rows([[1.0, 0.9]], [[1, 0]])
    second = similar_rows([[1.0]], [[0]], sp.csr_array([[1, 1, 0]]))
    both = SimilarRows.concatenated([first, second])
    assert both.similarities.shape == (2, 1)
    assert labels_of(both, np.full((2, 3), 0.5)) == ([0, 1], [[0, 1, 0], [1, 1, 0]])


class Nothing:
    """A rule that predicts no label."""

    def decide(self, P):
        return np.zeros(P.shape, dtype=bool)


def copies(n_right, n_wrong, similarity=1.0):
    """Rows whose labels an identical row had, or had not; predicting nothing is wrong or right."""
    Y = np.zeros((n_right + n_wrong + 10, 2), dtype=bool)
    Y[:n_right, 0] = True
    similarities = np.full((len(Y), 1), similarity)
    similarities[n_right + n_wrong :] = 0.1
    labels = sp.csr_array([[1.0, 0.0]])
    return Y, similar_rows(similarities, np.zeros((len(Y), 1), dtype=int), labels)


def rule_around(Y, similar):
    P = np.full(Y.shape, 0.5)
    nothing = Nothing()
    rows = ValidationRows(Y, P, similar=similar)
    return nothing, SeenRowRule.wrap_if_better(nothing, nothing.decide(P), rows)


@pytest.mark.parametrize(
    ("n_right", "n_wrong", "is_clear"),
    [(0, 0, False), (3, 0, False), (4, 0, True), (8, 2, False), (9, 2, True), (13, 5, False)],
)
def test_copying_has_to_be_clearly_better(n_right, n_wrong, is_clear):
    Y, similar = copies(n_right, n_wrong)
    # Rows that copying leaves as they are say nothing, however many.
    Y = np.vstack([Y, np.tile([False, True], (50, 1))])
    more = similar_rows(np.ones((50, 1)), np.zeros((50, 1), dtype=int), similar.labels)
    similar = SimilarRows.concatenated([similar, more])
    inner, rule = rule_around(Y, similar)
    assert isinstance(rule, SeenRowRule) == is_clear
    if not is_clear:
        assert rule is inner


@pytest.mark.parametrize(
    ("similarity", "expected"), [(1.0, 0.99), (0.99, 0.99), (0.96, 0.95), (0.92, 0.9), (0.85, 0.8)]
)
def test_the_most_careful_similarity_that_does_is_taken(similarity, expected):
    Y, similar = copies(9, 1, similarity)
    _, rule = rule_around(Y, similar)
    assert rule.min_similarity == expected
    decided = rule.decide(np.full(Y.shape, 0.5), similar)
    assert rule.validation_score == (decided == Y).all(axis=1).mean() == 19 / 20


def test_without_similar_rows_the_other_rule_decides():
    Y, similar = copies(9, 1)
    _, rule = rule_around(Y, similar)
    assert not rule.decide(np.full(Y.shape, 0.5)).any()


def test_a_rule_that_has_seen_the_validation_rows_is_not_believed():
    """Each row has a set of its own: a model of label sets knows it, but only from that row."""
    rng = np.random.default_rng(0)
    Y = rng.random((60, 40)) < 0.3
    P = 0.3 + 0.1 * Y + rng.uniform(0, 0.35, size=Y.shape)
    # Every third row was seen before.
    rows = np.arange(60)[:, None]
    similar = SimilarRows(np.where(rows % 3, 0.1, 1.0), rows, sp.csr_array(Y.astype(float)))
    with_rows = OperatingPoints.tune(Y, P, similar=similar).rule("accuracy", "optimal")
    assert isinstance(with_rows, SeenRowRule)
    assert isinstance(with_rows.rule, LabelSetRule)
    assert with_rows.validation_score == 20 / 60
    knowing = fit_decision_rules(Y, P, metrics=("accuracy",), decision="label_sets")["accuracy"]
    assert (knowing.decide(P) == Y).all(axis=1).mean() > 0.5


@pytest.fixture(scope="module")
def doubled():
    """Rows that occur twice, with labels that do not follow from them otherwise."""
    rng = np.random.default_rng(0)
    X = sp.csr_array((rng.random((100, 60)) < 0.15) * 1.0)
    Y = sp.csr_array((rng.random((100, 6)) < 0.4) * 1)
    return sp.csr_array(sp.vstack([X, X])), sp.csr_array(sp.vstack([Y, Y]))


@pytest.fixture(scope="module", params=[2, 0.2], ids=["folds", "share"])
def fitted(request, doubled):
    """Fit so that all fifty neighbours count the same, and outvote the one that matters."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_neighbors, "_POWERS", (0.1,))
        return tiny(cv=request.param).fit(*doubled)


def test_rows_seen_before_get_their_labels(fitted, doubled):
    X, Y = doubled
    assert isinstance(fitted.decision_rules_["optimal"]["accuracy"], SeenRowRule)
    predicted = fitted.set_params(metric="accuracy").predict(X)
    np.testing.assert_array_equal(predicted.toarray(), Y.toarray())
    np.testing.assert_array_equal(fitted.predict(X[:3]).toarray(), Y[:3].toarray())


def test_other_decisions_do_not_look_for_rows(fitted, doubled, monkeypatch):
    def fail(self, X):
        raise AssertionError("nobody asked for similar rows")

    monkeypatch.setattr(Ensemble, "similar_rows", fail)
    settings = (("f1_micro", "optimal"), ("accuracy", 0.5), ("accuracy", "threshold"))
    for metric, decision in settings:
        clone = copy.copy(fitted).set_params(metric=metric, decision=decision)
        clone.predict(doubled[0][:5])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("decision", ["optimal", "threshold", 0.5])
def test_neighbours_of_a_row_are_looked_up_once(fitted, doubled, metric, decision, monkeypatch):
    """By the vote and by the rule together, in every chunk of rows."""
    looked_up, look_up = [], NeighborVoter._look_up

    def spy(voter, rows):
        looked_up.append(len(rows))
        return look_up(voter, rows)

    monkeypatch.setattr(NeighborVoter, "_look_up", spy)
    monkeypatch.setattr(_chunks, "CHUNK_CELLS", 500)
    clf = copy.copy(fitted).set_params(metric=metric, decision=decision)
    clf.predict(doubled[0])
    assert len(looked_up) > 1
    assert sum(looked_up) == doubled[0].shape[0]


@pytest.mark.parametrize("settings", [{"cv": 2}, {"cv": 0.3}, {"refit": True}])
def test_no_row_is_its_own_similar_row(settings, monkeypatch):
    """All rows are different, so that a row's own labels are all there is to copy."""
    monkeypatch.setattr(_neighbors, "_POWERS", (0.1,))
    rng = np.random.default_rng(0)
    X, Y = sp.csr_array((rng.random((100, 60)) < 0.15) * 1.0), (rng.random((100, 6)) < 0.4) * 1
    clf = tiny(**settings).fit(X, Y)
    assert not isinstance(clf.decision_rules_["optimal"]["accuracy"], SeenRowRule)


@pytest.mark.parametrize("cv", [2, 0.5])
def test_with_too_many_labels_some_rows_are_tuned_on(cv, doubled, monkeypatch):
    plan = partial(EnsemblePlan, most_entries=6 * 40)
    monkeypatch.setattr("sklearn_mrmp._neural.learning.EnsemblePlan", plan)
    seen = []
    monkeypatch.setattr(
        SeenRowRule,
        "wrap_if_better",
        lambda rule, decided, rows: seen.append(rows.similar) or rule,
    )
    tiny(cv=cv).fit(*doubled)
    assert [len(similar.rows) for similar in seen] == [40]


def test_looking_for_rows_keeps_to_the_threads(fitted, doubled, monkeypatch):
    threads = []
    original = Ensemble.similar_rows

    def spy(ensemble, rows):
        threads.append(torch.get_num_threads())
        return original(ensemble, rows)

    monkeypatch.setattr(Ensemble, "similar_rows", spy)
    with torch_threads(2):
        copy.copy(fitted).set_params(metric="accuracy", n_threads=1).predict(doubled[0][:9])
    assert threads == [1]


def test_displays_show_what_is_predicted(fitted, doubled):
    pytest.importorskip("matplotlib")
    before = fitted.get_params()
    display = ThresholdDisplay.from_estimator(fitted, *doubled)
    assert display.rule_scores["accuracy"] == 1.0
    assert fitted.get_params() == before


def test_every_operating_point_can_be_asked_without_changing_the_classifier(fitted, doubled):
    X, before = doubled[0][:40], fitted.get_params()
    P = fitted.predict_proba(X)
    for metric in METRICS:
        for decision in ("optimal", "threshold"):
            other = copy.copy(fitted).set_params(metric=metric, decision=decision)
            labels = fitted._labels_at(P, X, metric, decision)
            np.testing.assert_array_equal(labels, other.predict(X).toarray() > 0)
    np.testing.assert_array_equal(fitted._labels_at(P, X, "accuracy", 0.4), P >= 0.4)
    assert fitted.get_params() == before


def test_model_files_know_the_rule(fitted, doubled, tmp_path):
    fitted.set_params(metric="accuracy")
    fitted.save(tmp_path / "model.mrmp")
    loaded = MrMPClassifier.load(tmp_path / "model.mrmp")
    X = doubled[0]
    np.testing.assert_array_equal(loaded.predict(X).toarray(), fitted.predict(X).toarray())


@pytest.mark.parametrize(
    "change",
    [
        {"rule": None},
        {"rule": SeenRowRule(GlobalThresholdRule(), 0.9, 0.5)},
        {"min_similarity": float("nan")},
        {"min_similarity": -1.0},
        {"min_similarity": 1},
        {"validation_score": "high"},
    ],
)
def test_model_files_with_other_parts_are_refused(change):
    parts = {"rule": GlobalThresholdRule(), "min_similarity": 0.9, "validation_score": 0.5}
    complete = SeenRowRule._model_part.complete
    complete(SeenRowRule(**parts))
    with pytest.raises(ModelFileError):
        complete(SeenRowRule(**parts | change))


def test_comparisons_let_a_cross_fitted_classifier_look_at_rows(doubled, monkeypatch):
    monkeypatch.setattr(_neighbors, "_POWERS", (0.1,))
    methods = {"mrmp": make_pipeline(MaxAbsScaler(), tiny(cv=2))}
    X, Y = doubled
    run = compare_classifiers(methods, X, Y, X[:50], Y[:50], seeds=[0], isolate=False).runs[0]
    assert run.scores["optimal"]["accuracy"] == 1.0
    assert run.scores["threshold"]["accuracy"] < 1.0
    other = {"mrmp": methods["mrmp"].set_params(mrmpclassifier__decision="threshold")}
    run = compare_classifiers(other, X, Y, X[:50], Y[:50], seeds=[0], isolate=False).runs[0]
    assert run.scores["optimal"]["accuracy"] == 1.0


def test_without_neighbours_nothing_is_remembered(doubled):
    clf = tiny(voters=("network", "linear"), metric="accuracy").fit(*doubled)
    assert not isinstance(clf.decision_rules_["optimal"]["accuracy"], SeenRowRule)
    assert clf.predict(doubled[0]).shape == (200, 6)


def test_a_cut_of_ones_own_is_read_when_predicting(fitted, doubled):
    X = doubled[0]
    P = fitted.predict_proba(X)
    clf = copy.copy(fitted)
    for cut in (0.0, 0.3, 0.5, 1.0):
        predicted = clf.set_params(decision=cut).predict(X).toarray() > 0
        np.testing.assert_array_equal(predicted, P >= np.float32(cut))
