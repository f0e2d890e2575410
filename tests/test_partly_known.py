"""Labels that are partly known: nothing is learned from an unknown entry, by nobody."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multiclass import OneVsRestClassifier

from sklearn_mrmp import (
    MLARAMClassifier,
    MLKNNClassifier,
    SoftVotingMultilabelClassifier,
    TunedDecisionClassifier,
    load,
)
from sklearn_mrmp.datasets import make_related_labels
from tests.tiny import tiny

METRICS = ("accuracy", "f1_samples", "f1_micro", "f1_macro")
DECISIONS = ("optimal", "threshold", "label_sets", "top_k", "at_least_one")
FAST = {"voters": ("linear", "neighbors")}


@pytest.fixture(scope="module")
def data():
    """Return rows, all labels, and the same with a third of them unknown."""
    X, Y, _ = make_related_labels(160, 6, n_features=40, random_state=0)
    Y = np.asarray(Y.toarray() if sp.issparse(Y) else Y, dtype=float)
    hidden = np.random.default_rng(0).random(Y.shape) < 0.3
    return X, Y, np.where(hidden, np.nan, Y)


def same(first, second, X):
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))
    for metric in METRICS:
        for clf in (first, second):
            clf.set_params(metric=metric)
        np.testing.assert_array_equal(
            *(sp.csr_array(c.predict(X)).toarray() for c in (first, second))
        )


@pytest.mark.parametrize("options", [{}, FAST, {"cv": 2}, {"label_shortlist": 2}], ids=str)
def test_what_unknown_entries_hold_does_not_matter(data, options):
    X, Y, partly = data
    known = ~np.isnan(partly)
    noise = np.where(known, Y, np.random.default_rng(1).integers(0, 2, Y.shape))
    zero = np.where(known, Y, 0)
    first, second = (
        tiny(**options).fit(X, sp.csr_array(y), Y_observed=known) for y in (noise, zero)
    )
    same(first, second, X)
    same(first, tiny(**options).fit(X, partly), X)


@pytest.mark.parametrize("form", ["frame", "nullable", "stored", "mask frame", "sparse mask"])
def test_unknown_entries_can_be_told_in_many_ways(data, form):
    X, Y, partly = data
    names = list("abcdef")
    known = ~np.isnan(partly)
    y, options = {
        "frame": (pd.DataFrame(partly, columns=names), {}),
        "nullable": (pd.DataFrame(partly, columns=names).astype("Int64"), {}),
        "stored": (sp.csr_array(partly), {}),
        "mask frame": (
            pd.DataFrame(Y, columns=names),
            {"Y_observed": pd.DataFrame(known, columns=names)[names[::-1]]},
        ),
        "sparse mask": (sp.csr_array(Y), {"Y_observed": sp.csr_array(known)}),
    }[form]
    same(tiny(**FAST).fit(X, y, **options), tiny(**FAST).fit(X, partly), X)


def test_predictions_are_known_and_in_the_callers_dtype(data):
    X, _, partly = data
    predicted = tiny(**FAST).fit(X, partly.astype(np.float32)).predict(X)
    assert predicted.dtype == np.float32
    assert set(np.unique(predicted)) <= {0, 1}


def test_every_decision_is_there_even_if_no_row_is_known_in_all_entries(data):
    X, Y, _ = data
    partly = Y.copy()
    partly[np.arange(len(Y)), np.arange(len(Y)) % Y.shape[1]] = np.nan
    for options in (FAST, {**FAST, "cv": 2}):
        clf = tiny(**options).fit(X, partly)
        assert clf.label_sets_ is None
        for metric in METRICS:
            for decision in DECISIONS:
                predicted = clf.set_params(metric=metric, decision=decision).predict(X)
                assert predicted.shape == Y.shape


def test_label_sets_are_those_of_rows_known_in_all_entries(data):
    X, Y, _ = data
    partly = Y.copy()
    partly[:80, 0] = np.nan
    clf = tiny(**FAST, decision="label_sets", metric="accuracy").fit(X, partly)
    model = clf.decision_rules_["label_sets"]["accuracy"].model_
    assert model.counts.sum() == 80
    seen = {tuple(row) for row in Y[80:].astype(int)}
    assert {tuple(row) for row in clf.predict(X).astype(int)} <= seen


def test_given_held_out_rows_may_be_partly_known(data):
    X, Y, partly = data
    given = tiny(**FAST).fit(X[:120], partly[:120], X_val=X[120:], y_val=partly[120:])
    stored = sp.csr_array(partly[120:])
    same(given, tiny(**FAST).fit(X[:120], partly[:120], X_val=X[120:], y_val=stored), X)
    complete = tiny(**FAST).fit(X[:120], partly[:120], X_val=X[120:], y_val=Y[120:])
    assert complete.thresholds_ != given.thresholds_


def test_scores_count_known_entries_alone(data):
    X, Y, partly = data
    clf = tiny(**FAST).fit(X, Y)
    predicted, known = clf.predict(X), ~np.isnan(partly)
    truth, found = (partly == 1), (predicted == 1) & known
    hits = (truth & found).sum()
    expected = 2 * hits / (truth.sum() + found.sum())
    assert clf.score(X, partly) == pytest.approx(expected)


def test_a_label_of_which_nothing_is_known_is_named(data):
    X, _, partly = data
    frame = pd.DataFrame(partly, columns=["a", "b", "c", "d", "e", "ship"])
    frame["ship"] = np.nan
    with pytest.raises(ValueError, match="Nothing is known of 1 labels: 'ship'"):
        tiny(**FAST).fit(X, frame)


def test_positive_labels_alone_are_refused_with_what_to_do(data):
    X, Y, _ = data
    with pytest.raises(ValueError, match="Where only positive labels are known, pass 0"):
        tiny(**FAST).fit(X, sp.csr_array(Y), Y_observed=Y)


@pytest.mark.parametrize(
    ("y", "observed", "message"),
    [
        (np.array([0.0, 1.0, np.nan] * 10), None, "NaN"),
        (np.array([0, 1, 2] * 10), np.ones((30, 3)), "Only entries of a label matrix"),
        (np.eye(3)[[0, 1, 2] * 10], np.ones((30, 2)), "with 3 columns; got"),
        (np.eye(3)[[0, 1, 2] * 10], np.ones((29, 3)), "inconsistent numbers of samples"),
        (np.eye(3)[[0, 1, 2] * 10], np.full((30, 3), 2), "Y_observed must hold only 0 and 1"),
        (np.where(np.eye(3)[[0, 1, 2] * 10] > 0, 2, np.nan), None, "only 0 and 1"),
    ],
)
def test_bad_targets_are_refused(y, observed, message):
    with pytest.raises(ValueError, match=message):
        tiny(**FAST).fit(np.arange(30.0)[:, None], y, Y_observed=observed)


@pytest.mark.parametrize("make", [MLKNNClassifier, MLARAMClassifier])
def test_who_cannot_learn_from_unknown_labels_says_so(data, make):
    X, _, partly = data
    with pytest.raises(ValueError, match=f"{make.__name__} cannot learn from unknown labels"):
        make().fit(X, partly)


def test_wrappers_hand_unknown_labels_on_and_tune_on_what_is_known(data):
    X, Y, partly = data
    clf = TunedDecisionClassifier(tiny(**FAST), cv=2, random_state=0).fit(X, partly)
    assert clf.predict(X).shape == Y.shape
    vote = SoftVotingMultilabelClassifier(
        [("one", tiny(**FAST)), ("other", tiny(**FAST, alpha=0.1))], weights="auto", cv=2
    )
    assert vote.fit(X, partly).weights_.sum() == pytest.approx(1)
    prefit = tiny(**FAST).fit(X[:80], Y[:80])
    tuned = TunedDecisionClassifier(prefit, cv="prefit").fit(X[80:], partly[80:])
    P, known = prefit.predict_proba(X[80:]), ~np.isnan(partly[80:])
    truth = partly[80:] == 1
    cuts = np.unique(P)
    f1 = [
        2 * (truth & (cut <= P)).sum() / (truth.sum() + (known & (cut <= P)).sum()) for cut in cuts
    ]
    assert tuned.set_params(decision="threshold").best_score_ == pytest.approx(max(f1))


def test_other_voters_are_refused_unless_they_take_a_mask(data):
    X, _, partly = data
    voters = ("linear", ("mine", OneVsRestClassifier(LogisticRegression())))
    with pytest.raises(ValueError, match="cannot learn from unknown labels"):
        tiny(voters=voters).fit(X, partly)
    inner = tiny(**FAST)
    assert tiny(voters=("linear", ("inner", inner))).fit(X, partly).predict(X).shape == (160, 6)


def test_searches_split_unknown_labels_and_masks(data):
    X, Y, partly = data
    folds = KFold(2)
    search = GridSearchCV(tiny(**FAST), {"alpha": [0.05]}, cv=folds).fit(X, partly)
    assert np.isfinite(search.best_score_)
    search = GridSearchCV(tiny(**FAST), {"alpha": [0.05]}, cv=folds)
    search.fit(X, sp.csr_array(Y), Y_observed=~np.isnan(partly))
    assert np.isfinite(search.best_score_)


def test_models_are_saved_with_what_they_know(data, tmp_path):
    X, _, partly = data
    clf = tiny().fit(X, partly, sample_weight=np.arange(160) % 3)
    clf.save(tmp_path / "model")
    same(clf, load(tmp_path / "model"), X)
