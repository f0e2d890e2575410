"""Shortlists of labels: candidates, the draw, and the loss they estimate."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.metrics import average_precision_score

from sklearn_mrmp._host import threads as _threads
from sklearn_mrmp._voters.shortlist import (
    Shortlist,
    needs_shortlist,
    shortlist_size,
    top_labels,
    training_shortlist,
)
from sklearn_mrmp.datasets import make_related_labels
from sklearn_mrmp.nn import MrMPLoss, MrMPModule, NetworkOutput
from tests.tiny import feature_rows, tiny


class Scores:
    """A scorer that knows the scores of its rows; rows are their own numbers."""

    def __init__(self, Z):
        self.Z = Z

    def logits(self, rows):
        return self.Z[rows.X.toarray().ravel().astype(int)]


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(40, 12))
    Y = sp.csr_array((Z + rng.normal(size=Z.shape) > 1.5).astype(np.int32))
    return Scores(Z), feature_rows(sp.csr_array(np.arange(40.0)[:, None])), Y


def test_the_highest_scores_are_named_in_rising_order():
    np.testing.assert_array_equal(top_labels(np.array([[0.1, 0.9, 0.5, 0.7]]), 2), [[1, 3]])


def test_training_rows_have_their_own_labels_on_the_list(problem):
    scorer, rows, Y = problem
    shortlist = training_shortlist(scorer, rows, Y, 6)
    on_it = np.take_along_axis(Y.toarray(), shortlist.candidates.astype(int), axis=1)
    assert Y.toarray().sum(axis=1).max() <= 6
    np.testing.assert_array_equal(on_it.sum(axis=1), Y.toarray().sum(axis=1))


def test_sampled_labels_are_those_outside_the_list_with_equal_chances():
    shortlist = Shortlist(np.array([[1, 2, 5, 6]], dtype=np.int32), 8)
    rng = np.random.default_rng(0)
    labels = np.concatenate([shortlist.draw(np.array([0]), rng)[0] for _ in range(2000)])
    np.testing.assert_array_equal(labels[0, :4], [1, 2, 5, 6])
    found, counts = np.unique(labels[:, 4:], return_counts=True)
    assert found.tolist() == [0, 3, 4, 7]
    np.testing.assert_allclose(counts / counts.sum(), 0.25, atol=0.03)


def test_weights_of_a_row_stand_for_all_labels(problem):
    scorer, rows, Y = problem
    _, weights = training_shortlist(scorer, rows, Y, 4).draw(np.arange(3), np.random.default_rng(0))
    np.testing.assert_allclose(weights.sum(axis=1), 12)


def test_the_loss_of_a_shortlist_estimates_the_loss_over_all_labels(problem):
    scorer, rows, Y = problem
    shortlist, rng = training_shortlist(scorer, rows, Y, 4), np.random.default_rng(0)
    logits, targets = torch.from_numpy(scorer.Z), torch.from_numpy(Y.toarray().astype(float))
    loss = MrMPLoss()
    losses = []
    for _ in range(400):
        labels, weights = (torch.from_numpy(part) for part in shortlist.draw(np.arange(40), rng))
        output = NetworkOutput(logits.gather(1, labels))
        some = loss(output, targets.gather(1, labels), weights)
        losses.append(some.item())
    spread = np.std(losses) / np.sqrt(len(losses))
    assert abs(np.mean(losses) - loss(NetworkOutput(logits), targets).item()) < 4 * spread


def test_a_single_candidate_has_a_sample_beside_it(problem):
    scorer, rows, Y = problem
    labels, weights = training_shortlist(scorer, rows, Y, 1).draw(
        np.arange(3), np.random.default_rng(0)
    )
    assert labels.shape == (3, 2)
    np.testing.assert_allclose(weights.sum(axis=1), 12)


def test_decoding_candidates_gives_the_logits_of_decoding_all():
    torch.manual_seed(0)
    module = MrMPModule(
        {"kind": "tokens", "n_tokens": 10}, 7, d_model=8, n_heads=2, d_inner=16
    ).eval()
    tokens = torch.randint(1, 11, (3, 5))
    candidates = torch.tensor([[0, 3, 6], [1, 2, 3], [4, 5, 6]])
    every, _ = module(tokens=tokens)
    some, _ = module(tokens=tokens, candidates=candidates)
    torch.testing.assert_close(some, every.gather(1, candidates))


class TestSize:
    def test_none_and_lists_of_all_labels_decode_everything(self):
        assert not needs_shortlist(None, 12)
        assert not needs_shortlist(12, 12)
        assert not needs_shortlist(11, 12)  # one label more costs less than a list
        assert needs_shortlist(5, 12)

    def test_numbers_are_taken_as_they_are(self):
        assert shortlist_size(5, None, sp.csr_array((3, 12))) == 5
        assert shortlist_size(12, None, sp.csr_array((3, 12))) is None

    def test_auto_decodes_everything_where_labels_are_few(self):
        assert not needs_shortlist("auto", 256)
        assert needs_shortlist("auto", 257)

    def test_rows_without_labels_need_the_smallest_list(self):
        assert (
            shortlist_size("auto", lambda block: np.zeros((3, 300)), sp.csr_array((3, 300))) == 32
        )

    @pytest.mark.parametrize(
        ("skill", "low", "high"), [(0, 128, 128), (100, 32, 32), (2.5, 40, 120)]
    )
    def test_auto_holds_most_labels_within_bounds(self, skill, low, high):
        rng = np.random.default_rng(0)
        Y = (rng.random((50, 600)) < 0.02).astype(float)
        Z = rng.normal(size=Y.shape) + skill * Y
        found = shortlist_size("auto", lambda block: Z[block], sp.csr_array(Y))
        assert low <= found <= high
        assert found % 8 == 0


@pytest.fixture(scope="module")
def many():
    X, Y, _ = make_related_labels(300, 24, random_state=0)
    return X[:200], Y[:200], X[200:], Y[200:]


class TestClassifier:
    def test_labels_outside_the_list_have_the_probability_of_the_others(self, many):
        X, Y, X_test, _ = many
        clf = tiny(label_shortlist=6, label_sets=False).fit(X, Y)
        P = clf.predict_proba(X_test)
        others = 1 / (1 + np.exp(-clf._ensemble.scores(clf._encoded(X_test))))
        same = np.isclose(P, others, rtol=1e-4)
        assert ((~same).sum(axis=1) <= 6).all()
        assert (~same).any()

    @pytest.mark.parametrize("label_sets", [False, True])
    def test_probabilities_are_those_of_the_votes_in_any_blocks(
        self, many, label_sets, monkeypatch
    ):
        X, Y, X_test, _ = many
        clf = tiny(label_shortlist=6, label_sets=label_sets).fit(X, Y)
        ensemble, rows = clf._ensemble, clf._encoded(X_test)
        P = ensemble.combined(ensemble.votes(rows))
        P = P if clf.label_sets_ is None else clf.label_sets_.mix(P)
        for n_numbers, n_threads in ((2**18, 1), (5 * 24, 1), (5 * 24, 3)):
            monkeypatch.setattr(_threads, "_BLOCK_NUMBERS", n_numbers)
            monkeypatch.setattr(_threads, "_FEWEST_ROWS", 1)
            clf.set_params(n_threads=n_threads)
            np.testing.assert_array_equal(clf.predict_proba(X_test), P)
        assert ensemble.probabilities(rows.take(slice(0))).shape == (0, 24)

    def test_quality_is_that_of_decoding_all(self, many):
        X, Y, X_test, Y_test = many
        scores = [
            average_precision_score(
                Y_test,
                tiny(label_shortlist=k).fit(X, Y).predict_proba(X_test),
                average="micro",
            )
            for k in (None, 8)
        ]
        assert scores[1] > scores[0] - 0.05

    def test_results_are_the_same_bit_for_bit(self, many):
        X, Y, X_test, _ = many
        first, second = (tiny(label_shortlist=5).fit(X, Y).predict_proba(X_test) for _ in range(2))
        np.testing.assert_array_equal(first, second)

    @pytest.mark.parametrize("voters", [("network",), ("network", "neighbors"), ("linear",)])
    def test_a_list_without_those_who_make_and_read_it_is_refused(self, many, voters):
        with pytest.raises(ValueError, match="label_shortlist=5 needs 'network' and 'linear'"):
            tiny(label_shortlist=5, voters=voters).fit(*many[:2])

    @pytest.mark.parametrize("voters", [("network", "neighbors"), ("linear", "neighbors")])
    def test_auto_makes_no_list_for_voters_that_have_no_use_for_it(self, many, voters, monkeypatch):
        monkeypatch.setattr("sklearn_mrmp._voters.shortlist._AUTO_ALL_UP_TO", 3)
        clf = tiny(max_epochs=1, voters=voters).fit(*many[:2])
        assert clf._ensemble.n_candidates is None
        assert clf.predict_proba(many[2]).shape == many[3].shape
