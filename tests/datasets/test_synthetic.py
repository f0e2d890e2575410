"""make_related_labels: the statistics of the planted pairs, and of all others."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chi2_contingency, kstest

from sklearn_mrmp.datasets import make_related_labels


def joint(Y, pair):
    return (Y[:, pair[0]] * Y[:, pair[1]]).mean()


@pytest.fixture(scope="module")
def large():
    """So many rows that frequencies are within 0.01 of probabilities (four standard errors)."""
    return make_related_labels(40_000, 12, n_features=30, strength=0.6, random_state=1)


def test_shapes_and_types_are_as_documented():
    X, Y, planted = make_related_labels(50, 8, n_features=40, group_size=2, random_state=0)
    assert isinstance(X, sp.csr_array)
    assert X.shape == (50, 40)
    assert X.dtype == np.float64
    assert (X.data >= 1).all()
    assert Y.shape == (50, 8)
    assert Y.dtype == np.int32
    assert set(np.unique(Y)) == {0, 1}
    assert planted.pulling.shape == planted.pushing.shape == (2, 2)


def test_defaults_suit_a_demo():
    X, Y, planted = make_related_labels(random_state=0)
    assert X.shape == (2000, 300)
    assert Y.shape == (2000, 20)
    assert len(planted.pulling) == len(planted.pushing) == 9
    assert 10 < X.sum() / 2000 < 60


def test_labels_keep_their_frequencies(large):
    _, Y, planted = large
    np.testing.assert_allclose(Y.mean(axis=0), planted.frequencies, atol=0.01)


def test_planted_pairs_have_the_documented_joint_probability(large):
    _, Y, planted = large
    p = planted.frequencies
    for i, j in planted.pulling:
        expected = 0.6 * min(p[i], p[j]) + 0.4 * p[i] * p[j]
        assert joint(Y, (i, j)) == pytest.approx(expected, abs=0.01)
    for i, j in planted.pushing:
        assert joint(Y, (i, j)) == pytest.approx(0.4 * p[i] * p[j], abs=0.01)


def test_all_other_pairs_are_independent():
    """Their p-values over several draws are uniform, so no hidden dependence is left."""
    p_values = []
    for seed in range(5):
        _, Y, planted = make_related_labels(4000, 12, n_features=12, random_state=seed)
        related = {tuple(pair) for pair in np.vstack([planted.pulling, planted.pushing])}
        for i, j in set(combinations(range(12), 2)) - related:
            n11 = Y[:, i] @ Y[:, j]
            n10, n01 = Y[:, i].sum() - n11, Y[:, j].sum() - n11
            table = [[n11, n10], [n01, len(Y) - n11 - n10 - n01]]
            p_values.append(chi2_contingency(table, correction=False).pvalue)
    assert len(p_values) == 5 * (66 - 12)
    assert kstest(p_values, "uniform").pvalue > 0.01


def test_at_full_strength_a_pushing_group_has_at_most_one_label_and_a_pulling_group_is_nested():
    _, Y, planted = make_related_labels(500, 6, n_features=6, strength=1, random_state=3)
    p = planted.frequencies
    assert all(joint(Y, pair) == 0 for pair in planted.pushing)
    for i, j in planted.pulling:
        rare, frequent = (i, j) if p[i] < p[j] else (j, i)
        assert (Y[:, rare] <= Y[:, frequent]).all()


def test_words_tell_ordinary_labels_better_than_weak_ones():
    X, Y, planted = make_related_labels(
        4000, 6, n_features=60, n_pulling_groups=0, words_per_label=5, random_state=0
    )
    assert len(planted.weak_labels) == 2

    def shift(label):
        difference = X[Y[:, label] == 1].mean(axis=0) - X[Y[:, label] == 0].mean(axis=0)
        return np.abs(difference).max()

    ordinary = np.setdiff1d(np.arange(6), planted.weak_labels)
    assert min(map(shift, ordinary)) > 2 * max(map(shift, planted.weak_labels))


def test_the_first_label_of_a_group_is_never_weak():
    planted = make_related_labels(10, 6, n_features=6, weak_fraction=1, random_state=0)[2]
    assert len(planted.weak_labels) == 4


def test_same_seed_same_data_other_seed_other_data():
    first, again, other = (make_related_labels(60, 6, random_state=s) for s in (7, 7, 8))
    np.testing.assert_array_equal(first[0].toarray(), again[0].toarray())
    np.testing.assert_array_equal(first[1], again[1])
    assert (first[1] != other[1]).any()


@pytest.mark.parametrize(
    ("given", "n_pulling", "n_pushing"),
    [
        ({}, 2, 1),
        ({"n_pulling_groups": 0}, 0, 3),
        ({"n_pushing_groups": 1}, 2, 1),
        ({"n_pulling_groups": 1, "n_pushing_groups": 0}, 1, 0),
    ],
)
def test_missing_numbers_of_groups_are_filled(given, n_pulling, n_pushing):
    planted = make_related_labels(5, 7, group_size=2, random_state=0, **given)[2]
    assert (len(planted.pulling), len(planted.pushing)) == (n_pulling, n_pushing)
    assert planted.pulling.shape[1] == planted.pushing.shape[1] == 2


def test_recovery_counts_each_pair_once_and_needs_the_right_relation():
    planted = make_related_labels(5, 6, group_size=2, random_state=0)[2]
    pulling, pushing = np.zeros((6, 6)), sp.lil_array((6, 6))
    i, j = planted.pulling[0]
    pulling[i, j] = pulling[j, i] = 1  # correct, in both directions
    pushing[tuple(planted.pulling[1])] = 0.5  # planted, but with the other relation
    pushing[0, 0] = 1  # a label is no pair with itself
    recovery = planted.recovery({"pulling": pulling, "pushing": pushing})
    assert (recovery.n_correct, recovery.n_found, recovery.n_planted) == (1, 2, 3)
    assert recovery.precision == 0.5
    assert recovery.recall == pytest.approx(1 / 3)


def test_recovery_of_nothing_is_defined():
    nothing = {"pulling": np.zeros((3, 3)), "pushing": np.zeros((3, 3))}
    planted = make_related_labels(5, 3, n_pulling_groups=0, n_pushing_groups=0, random_state=0)[2]
    assert planted.recovery(nothing).precision == planted.recovery(nothing).recall == 1


def test_a_bonferroni_graph_recovers_the_planted_pairs():
    from sklearn_mrmp._graph.learning import label_graph

    _, Y, planted = make_related_labels(random_state=2)
    recovery = planted.recovery(label_graph(Y, correction="bonferroni"))
    assert recovery.precision == 1
    assert recovery.recall > 0.9


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"n_pulling_groups": 3, "n_pushing_groups": 1}, r"need 12 labels, but n_labels=9"),
        ({"n_features": 8}, r"n_features=8 is less than n_labels=9"),
        ({"label_frequency": (0.3, 0.1)}, r"0 < low <= high < 1, got \(0.3, 0.1\)"),
        ({"label_frequency": (0.1, 0.5)}, r"exceeds 1; lower either"),
        ({"strength": 0}, r"'strength' parameter"),
        ({"group_size": 1}, r"'group_size' parameter"),
    ],
)
def test_impossible_requests_are_refused(bad, message):
    with pytest.raises(ValueError, match=message):
        make_related_labels(10, 9, **bad)
