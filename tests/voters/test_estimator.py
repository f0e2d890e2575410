"""Classifiers of the user as voters: any target, any answer, and clones of what was given."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit, logit
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from sklearn_mrmp import MLKNNClassifier
from sklearn_mrmp._voters.estimator import EstimatorVoter
from tests.tiny import feature_rows, tiny

FOREST = ExtraTreesClassifier(5, random_state=0)


@pytest.mark.parametrize(
    "estimator",
    [FOREST, OneVsRestClassifier(LogisticRegression()), MLKNNClassifier(3)],
    ids=["list of arrays", "array", "ours"],
)
def test_probabilities_vote_with_their_log_odds(split, estimator):
    rows, Y, rows_valid, _ = split
    voter = EstimatorVoter(estimator).fit(*split)
    P = estimator.fit(rows.X, Y.toarray()).predict_proba(rows_valid.X)
    if isinstance(P, list):
        P = np.column_stack([part[:, 1] for part in P])
    Z = voter.logits(rows_valid)
    assert Z.dtype == np.float32
    np.testing.assert_allclose(expit(Z), np.clip(P, 1e-6, 1 - 1e-6), rtol=1e-4)
    assert np.isfinite(Z).all()


def test_margins_vote_as_they_are(split):
    rows, Y, rows_valid, _ = split
    estimator = OneVsRestClassifier(LinearSVC(random_state=0))
    voter = EstimatorVoter(estimator).fit(*split)
    expected = estimator.fit(rows.X, Y.toarray()).decision_function(rows_valid.X)
    np.testing.assert_allclose(voter.logits(rows_valid), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("estimator", [LogisticRegression(), LinearSVC(), KNeighborsClassifier()])
def test_a_single_label_is_a_vector_for_them(split, estimator):
    rows, Y, rows_valid, Y_valid = split
    voter = EstimatorVoter(estimator).fit(rows, Y[:, [0]], rows_valid, Y_valid[:, [0]])
    assert voter.estimator_.classes_.tolist() == [0, 1]
    Z = voter.logits(rows_valid)
    assert Z.shape == (100, 1)
    predicted = voter.estimator_.predict(rows_valid.X)
    np.testing.assert_array_equal(Z.ravel() > 0, predicted == 1)


@pytest.mark.parametrize("constant", [0, 1])
def test_a_single_label_that_all_rows_agree_on(constant):
    rows = feature_rows(sp.csr_array(np.eye(4)))
    Y = sp.csr_array(np.full((4, 1), constant))
    voter = EstimatorVoter(DummyClassifier()).fit(rows, Y, rows, Y)
    expected = logit(1 - 1e-6) if constant else logit(1e-6)
    np.testing.assert_allclose(voter.logits(rows), expected, rtol=1e-2)


def test_labels_that_are_constant_among_others_stay_finite(split):
    rows, Y, rows_valid, Y_valid = split
    constant = sp.csr_array(np.column_stack([Y.toarray()[:, :2], np.zeros(200), np.ones(200)]))
    voter = EstimatorVoter(FOREST).fit(rows, constant, rows_valid, Y_valid)
    Z = voter.logits(rows_valid)
    assert np.isfinite(Z).all()
    assert (Z[:, 2] < 0).all()
    assert (Z[:, 3] > 0).all()


def test_what_the_user_gave_is_never_fitted(related):
    mine = ExtraTreesClassifier(5, random_state=0)
    clf = tiny(max_epochs=1, voters=("network", ("mine", mine))).fit(*related)
    assert clf.voters[1][1] is mine
    assert not hasattr(mine, "estimators_")
    check_is_fitted(clf.voters_.mine.model.estimator_)
    assert len(clf.voters_.mine.model.estimator_.estimators_) == 5


@pytest.mark.parametrize("cv", [0.2, 2])
def test_in_the_end_they_learn_from_all_rows(related, cv):
    X, Y = related
    clf = tiny(voters=("linear", ("near", MLKNNClassifier(3))), cv=cv).fit(X, Y)
    expected = MLKNNClassifier(3).fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(clf.voters_.near.predict_proba(X), expected, atol=1e-5)


def test_a_voter_that_knows_better_gets_the_weight():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    Y = (X[:, :4] * X[:, 1:5] > 0).astype(int)  # no straight line tells them apart
    forest = ExtraTreesClassifier(50, random_state=0)
    clf = tiny(voters=("linear", ("forest", forest)), cv=0.3).fit(X, Y)
    assert clf.vote_weights_["forest"] > clf.vote_weights_["linear"]


@pytest.mark.parametrize("kind", ["one column", "binary", "multiclass"])
def test_targets_of_any_kind(related, kind):
    X, Y = related
    y = {"one column": Y[:, [0]], "binary": Y[:, 0], "multiclass": Y[:, 0] + 2 * Y[:, 1]}[kind]
    clf = tiny(max_epochs=1, voters=("network", ("mine", FOREST))).fit(X, y)
    assert clf.predict(X).shape == y.shape
    assert clf.predict_proba(X).shape == clf.voters_.mine.predict_proba(X).shape
    assert (clf.voters_.mine.predict(X) == y).mean() > 0.9  # its own training rows


def test_sequences_are_word_counts_for_them():
    rng = np.random.default_rng(0)
    ids = rng.integers(1, 9, size=(60, 5))
    Y = np.column_stack([(ids == 1).any(axis=1), (ids == 2).any(axis=1)]).astype(int)
    mine = OneVsRestClassifier(LogisticRegression())
    voters = ("network", ("mine", mine))
    clf = tiny(max_epochs=1, input_type="sequence", voters=voters).fit(ids, Y)
    counts = np.stack([np.bincount(row, minlength=10)[1:] for row in ids])
    assert clf.voters_.mine.model.estimator_.n_features_in_ == 9  # eight words and the unknown
    expected = mine.fit(counts, Y).predict_proba(counts)
    np.testing.assert_allclose(clf.voters_.mine.predict_proba(ids), expected, rtol=1e-3)


def test_an_estimator_without_scores_is_refused(related):
    class Silent(RidgeClassifier):
        decision_function = property()

    with pytest.raises(AttributeError, match="has no predict_proba or decision_function"):
        tiny(voters=("linear", ("mine", Silent()))).fit(*related)
