"""The mean of several classifiers."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.estimator_checks import check_param_validation, parametrize_with_checks

from sklearn_mrmp import (
    MLKNNClassifier,
    MrMPClassifier,
    SoftVotingMultilabelClassifier,
    TunedDecisionClassifier,
)
from sklearn_mrmp._voting import best_weights
from tests.weight_checks import expected_failures


def make_vote(**options):
    members = [
        ("forest", RandomForestClassifier(10, random_state=0)),  # list of (n, 2) arrays
        ("knn", MLKNNClassifier()),  # one (n, L) array
    ]
    return SoftVotingMultilabelClassifier(members, **options)


@parametrize_with_checks(
    [make_vote(), make_vote(weights="auto", cv=2)], expected_failed_checks=expected_failures
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_parameters_are_validated():
    check_param_validation("SoftVotingMultilabelClassifier", make_vote())


def test_probabilities_are_the_weighted_mean(related):
    X, Y = related
    vote = make_vote(weights=[3, 1]).fit(X, Y)
    forest = np.column_stack([P[:, 1] for P in vote.named_estimators_.forest.predict_proba(X)])
    knn = vote.named_estimators_.knn.predict_proba(X)
    np.testing.assert_allclose(vote.predict_proba(X), 0.75 * forest + 0.25 * knn)
    np.testing.assert_array_equal(vote.predict(X), vote.predict_proba(X) >= 0.5)


def test_out_of_fold_weights_prefer_the_better_member(related):
    X, Y = related
    rng = np.random.default_rng(0)
    noise = np.tile(rng.permuted(np.eye(40)[:, :6].astype(int)), (4, 1))
    good, useless = OneVsRestClassifier(LogisticRegression()), clone(MLKNNClassifier())
    members = [("good", good), ("useless", NoiseTrained(useless, noise))]
    vote = SoftVotingMultilabelClassifier(members, weights="auto", random_state=0).fit(X, Y)
    assert vote.weights_.sum() == pytest.approx(1)
    assert vote.weights_[0] > 0.7


class NoiseTrained(MLKNNClassifier):
    """A member that learns from labels that have nothing to do with the rows."""

    def __init__(self, inner=None, noise=None):
        super().__init__()
        self.inner = inner
        self.noise = noise

    def fit(self, X, y):
        return super().fit(X, self.noise[: X.shape[0]])


def test_best_weights_have_the_smallest_log_loss():
    rng = np.random.default_rng(0)
    truth = rng.random((200, 3))
    Y = (rng.random((200, 3)) < truth).astype(int)
    P = np.stack([np.clip(truth + rng.normal(0, s, truth.shape), 0.01, 0.99) for s in (0.2, 0.4)])
    weights = best_weights(P, Y)

    def loss(w):
        return log_loss(Y.ravel(), (w * P[0] + (1 - w) * P[1]).ravel())

    assert loss(weights[0]) <= min(loss(w) for w in np.linspace(0, 1, 101)) + 1e-6


def test_sparse_targets_and_vector_targets(related):
    X, Y = related
    members = [("linear", OneVsRestClassifier(LogisticRegression())), ("knn", MLKNNClassifier())]
    vote = SoftVotingMultilabelClassifier(members).fit(X, sp.csr_array(Y))
    assert sp.issparse(vote.predict(X))
    vote = make_vote(weights="auto").fit(X, Y[:, 0] + 2 * Y[:, 1])
    np.testing.assert_allclose(vote.predict_proba(X).sum(axis=1), 1)


def test_members_are_tuned_by_name(related):
    X, Y = related
    search = GridSearchCV(make_vote(), {"knn__n_neighbors": [3, 5]}, scoring="f1_micro", cv=2)
    assert search.fit(X, Y).best_params_["knn__n_neighbors"] in {3, 5}


def test_decisions_can_be_tuned_around_the_vote_with_mrmp(related):
    X, Y = related
    mrmp = MrMPClassifier(d_model=8, n_heads=2, max_epochs=1, random_state=0)
    vote = SoftVotingMultilabelClassifier([("mrmp", mrmp), ("knn", MLKNNClassifier())])
    tuned = TunedDecisionClassifier(vote, metric="f1_macro", cv=0.3, random_state=0).fit(X, Y)
    assert tuned.predict(X).shape == Y.shape


@pytest.mark.parametrize(
    ("vote", "message"),
    [
        (SoftVotingMultilabelClassifier([]), "estimators is empty"),
        (SoftVotingMultilabelClassifier([("ridge", RidgeClassifier())]), "ridge.*no predict_proba"),
        (make_vote(weights=[1]), "2 non-negative numbers"),
        (make_vote(weights=[0, 0]), "not all zero"),
        (make_vote(weights=[1, -1]), "non-negative"),
    ],
)
def test_bad_settings_are_named(related, vote, message):
    with pytest.raises(ValueError, match=message):
        vote.fit(*related)
