"""Networks and linear path together: weights of the votes, members, refitting."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._ensemble.model import LabelModel
from sklearn_mrmp._ensemble.weights import Votes

TINY = {"d_model": 8, "n_heads": 2, "max_epochs": 2, "batch_size": 16, "random_state": 0}


class Rows:
    """An encoder that leaves rows alone."""

    def transform(self, X):
        return X

    bag = transform


class Logits:
    """A network or linear path that knows its logits."""

    def __init__(self, Z):
        self.Z = Z.astype(np.float32)

    def logits(self, X):
        return self.Z[X.ravel()].copy()

    def label_logits(self, rows, candidates=None):
        Z = self.logits(rows)
        return Z if candidates is None else np.take_along_axis(Z, candidates, axis=1)


@pytest.fixture
def truth():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(500, 6)) * 2
    return Z, sp.csr_array((rng.random(Z.shape) < 1 / (1 + np.exp(-Z))).astype(int)), rng


X = np.arange(500)[:, None]


def test_the_better_vote_gets_the_weight(truth):
    Z, Y, rng = truth
    model = LabelModel(Rows(), [Logits(Z)], Logits(rng.normal(size=Z.shape)))
    model.tune(X, Y)
    assert model.weights[0] == pytest.approx(1, abs=0.15)
    assert model.weights[1] < 0.1


def test_a_few_rows_leave_the_weights_near_equal(truth):
    Z, Y, rng = truth
    model = LabelModel(Rows(), [Logits(Z)], Logits(rng.normal(size=Z.shape)))
    model.tune(X[:2], Y[:2])
    np.testing.assert_allclose(model.weights[:2], 0.5, atol=0.3)


def test_members_are_averaged_in_logits(truth):
    Z, _, _ = truth
    P = LabelModel(Rows(), [Logits(Z), Logits(-Z)]).probabilities(X)
    np.testing.assert_allclose(P, 0.5)


def test_votes_stay_as_they_are():
    networks = np.float32([[1.0, -1.0]])
    votes = Votes(networks.copy())
    LabelModel(encoder=None, nets=[]).mixed(votes)
    np.testing.assert_array_equal(votes.networks, networks)


def test_probabilities_stay_inside_zero_and_one():
    Z = np.full((1, 2), [-1e4, 1e4])
    P = LabelModel(Rows(), [Logits(Z)]).probabilities(np.zeros((1, 1), dtype=int))
    assert P.min() > 0
    assert P.max() < 1


class TestClassifier:
    def test_members_differ_and_the_first_is_that_of_a_single_fit(self, related):
        alone = MrMPClassifier(**TINY).fit(*related)
        both = MrMPClassifier(**TINY, n_members=2).fit(*related)
        rows = alone._model.encoder.transform(related[0])
        first, second = (net.label_logits(rows) for net in both._model.nets)
        np.testing.assert_array_equal(first, alone.net_.label_logits(rows))
        assert not np.allclose(first, second)

    def test_the_linear_path_learns_from_the_held_out_rows_in_the_end(self, related):
        X, Y = related
        whole = MrMPClassifier(**TINY).fit(X, Y)
        given = MrMPClassifier(**TINY).fit(X[:140], Y[:140], X_val=X[140:], y_val=Y[140:])
        path = whole._model.linear
        refitted = path.refit(whole._model.encoder.bag(X), sp.csr_array(Y))
        np.testing.assert_array_equal(path.coef_, refitted.coef_)
        fitted_on_140 = given._model.linear
        assert not np.allclose(
            fitted_on_140.coef_,
            fitted_on_140.refit(given._model.encoder.bag(X), sp.csr_array(Y)).coef_,
        )

    @pytest.mark.parametrize("kind", ["binary", "multiclass"])
    def test_vector_targets_have_a_linear_path_too(self, related, kind):
        X, Y = related
        y = Y[:, 0] if kind == "binary" else Y[:, 0] + 2 * Y[:, 1]
        clf = MrMPClassifier(**{**TINY, "max_epochs": 4}).fit(X, y)
        assert clf.score(X, y) > max(np.bincount(y)) / len(y)
