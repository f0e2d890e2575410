"""Chi-squared tests of label pairs against scipy, and the sparse search against brute force."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, false_discovery_control

from sklearn_mrmp._graph import chi2 as _label_statistics
from sklearn_mrmp._graph.chi2 import chi2_p_value, chi2_statistic, significant_pairs


def random_labels(seed, n_samples=60, n_labels=12):
    """Labels of all frequencies, among them an empty one, a full one, rare and excluded ones."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_samples, n_labels)) < rng.random(n_labels) ** 2).astype(np.int32)
    Y[:, 0], Y[:, 1] = 0, 1
    Y[:, 3] &= 1 - Y[:, 2]
    Y[:, 5] = Y[:, 4]
    return Y


def brute_force(Y, min_count=0):
    """p-value of every testable pair by scipy, as a dict (i, j) → p."""
    counts = Y.sum(axis=0)
    tested = np.flatnonzero((counts > 0) & (counts >= min_count) & (counts < len(Y)))
    p = {}
    for i, j in combinations(tested, 2):
        table = [[np.sum((Y[:, i] == a) & (Y[:, j] == b)) for b in (0, 1)] for a in (0, 1)]
        p[int(i), int(j)] = chi2_contingency(table, correction=False).pvalue
    return p


def found(Y, **options):
    pairs = significant_pairs(sp.csr_array(Y), **options)
    return {tuple(sorted(pair)) for pair in np.stack([pairs.first, pairs.second], 1).tolist()}


@pytest.mark.parametrize("seed", range(3))
def test_statistic_and_p_value_equal_scipy_for_every_pair(seed):
    Y = random_labels(seed)
    counts, n = Y.sum(axis=0), len(Y)
    for i, j in brute_force(Y):
        table = np.histogram2d(Y[:, i], Y[:, j], bins=2)[0]
        expected = chi2_contingency(table, correction=False)
        statistic = chi2_statistic(Y[:, i] @ Y[:, j], counts[i], counts[j], n)
        assert statistic == pytest.approx(expected.statistic, rel=1e-9, abs=1e-12)
        assert chi2_p_value(statistic) == pytest.approx(expected.pvalue, rel=1e-9)


def test_statistic_of_a_pair_that_never_meets_is_n_times_both_odds():
    assert chi2_statistic(0, 20, 50, 100) == pytest.approx(100 * (20 / 80) * (50 / 50))


def test_statistic_does_not_overflow_for_a_hundred_million_rows():
    n = 100_000_000
    assert chi2_statistic(n // 2, n // 2, n // 2, n) == pytest.approx(n)


@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.5])
@pytest.mark.parametrize("seed", range(5))
def test_plain_test_finds_exactly_the_pairs_of_brute_force(seed, alpha):
    Y = random_labels(seed)
    expected = {pair for pair, p in brute_force(Y).items() if p <= alpha}
    assert expected
    assert found(Y, alpha=alpha) == expected


@pytest.mark.parametrize("seed", range(5))
def test_bonferroni_counts_all_testable_pairs(seed):
    Y = random_labels(seed)
    p = brute_force(Y)
    expected = {pair for pair, value in p.items() if value * len(p) <= 0.05}
    assert found(Y, alpha=0.05, correction="bonferroni") == expected


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_fdr_equals_scipy_over_all_testable_pairs(seed, alpha):
    Y = random_labels(seed, n_samples=40, n_labels=16)
    p = brute_force(Y)
    adjusted = false_discovery_control(list(p.values()))
    expected = {pair for pair, value in zip(p, adjusted, strict=True) if value <= alpha}
    assert found(Y, alpha=alpha, correction="fdr_bh") == expected


def test_never_meeting_pairs_can_decide_the_fdr_of_others():
    # 10 labels that exclude each other strongly lift the rank of a weak pair (10, 11).
    Y = np.zeros((400, 12), dtype=np.int32)
    Y[np.arange(400), np.arange(400) % 10] = 1
    Y[:80, 10], Y[56:136, 11] = 1, 1
    with_all = found(Y, alpha=0.05, correction="fdr_bh")
    p = brute_force(Y)
    adjusted = false_discovery_control(list(p.values()))
    assert with_all == {pair for pair, q in zip(p, adjusted, strict=True) if q <= 0.05}
    assert len([pair for pair in with_all if max(pair) < 10]) == 45


@pytest.mark.parametrize("correction", [None, "bonferroni", "fdr_bh"])
def test_min_count_leaves_rare_labels_untested(correction):
    Y = random_labels(1)
    p = brute_force(Y, min_count=10)
    assert len(p) < len(brute_force(Y))
    values = np.array(list(p.values()))
    corrected = {
        None: values,
        "bonferroni": values * len(p),  # as many as were tested, not as there are
        "fdr_bh": false_discovery_control(values),
    }[correction]
    expected = {pair for pair, q in zip(p, corrected, strict=True) if q <= 0.05}
    assert found(Y, alpha=0.05, correction=correction, min_count=10) == expected
    assert Y.sum(axis=0)[list({label for pair in expected for label in pair})].min() >= 10


@pytest.mark.parametrize("correction", [None, "bonferroni", "fdr_bh"])
def test_small_blocks_give_the_same_pairs(monkeypatch, correction):
    Y = random_labels(3)
    expected = found(Y, alpha=0.1, correction=correction)
    monkeypatch.setattr(_label_statistics, "_PAIRS_PER_BLOCK", 5)
    assert found(Y, alpha=0.1, correction=correction) == expected


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_dense_and_sparse_products_give_the_same_pairs(monkeypatch, share):
    Y = random_labels(5)
    expected = {pair for pair, p in brute_force(Y).items() if p <= 0.1}
    monkeypatch.setattr(_label_statistics, "_DENSE_SHARE", share)
    monkeypatch.setattr(_label_statistics, "_DENSE_CELLS", 100)
    assert found(Y, alpha=0.1) == expected


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (5, 1), (5, 0)])
def test_nothing_is_found_where_nothing_can_be_tested(shape):
    pairs = significant_pairs(sp.csr_array(shape, dtype=np.int32), alpha=0.05, correction="fdr_bh")
    assert len(pairs.first) == len(pairs.second) == len(pairs.co_occurrence) == 0


def test_each_pair_comes_once_with_its_co_occurrence():
    Y = random_labels(4)
    pairs = significant_pairs(sp.csr_array(Y), alpha=0.2)
    keys = {frozenset(pair) for pair in np.stack([pairs.first, pairs.second], 1).tolist()}
    assert len(keys) == len(pairs.first)
    np.testing.assert_array_equal((Y.T @ Y)[pairs.first, pairs.second], pairs.co_occurrence)
    assert (pairs.co_occurrence == 0).any()
    assert (pairs.co_occurrence > 0).any()


@settings(max_examples=60, deadline=None)
@given(
    columns=st.lists(st.integers(0, 2**12 - 1), min_size=2, max_size=6),
    alpha=st.floats(0.001, 0.9),
)
def test_any_small_matrix_gives_the_edges_of_the_dense_formula(columns, alpha):
    Y = np.array([[column >> row & 1 for column in columns] for row in range(12)], dtype=np.int32)
    c, n = Y.sum(axis=0), len(Y)
    tested = [k for k in range(len(c)) if 0 < c[k] < n]
    expected = {
        (i, j)
        for i, j in combinations(tested, 2)
        if chi2_p_value(chi2_statistic(Y[:, i] @ Y[:, j], c[i], c[j], n)) <= alpha
    }
    assert found(Y, alpha=alpha) == expected


@pytest.mark.parametrize("alpha", [0.01, 0.05])
def test_false_positive_rate_is_alpha_for_independent_labels(alpha):
    rng = np.random.default_rng(0)
    rates = []
    for _ in range(10):
        Y = rng.random((1000, 60)) < rng.uniform(0.1, 0.6, size=60)
        pairs = significant_pairs(sp.csr_array(Y.astype(np.int32)), alpha=alpha)
        rates.append(len(pairs.first) / (60 * 59 / 2))
    standard_error = np.sqrt(alpha * (1 - alpha) / (10 * 60 * 59 / 2))
    assert abs(np.mean(rates) - alpha) < 4 * standard_error


@pytest.mark.parametrize("correction", ["bonferroni", "fdr_bh"])
def test_corrections_rarely_find_anything_among_independent_labels(correction):
    rng = np.random.default_rng(1)
    trials = 100
    hits = 0
    for _ in range(trials):
        Y = (rng.random((500, 12)) < 0.4).astype(np.int32)
        pairs = significant_pairs(sp.csr_array(Y), alpha=0.05, correction=correction)
        hits += len(pairs.first) > 0
    assert hits / trials < 0.05 + 4 * np.sqrt(0.05 * 0.95 / trials)
