"""Measures at k: equal to scikit-learn's where it has them, and to plain loops elsewhere."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import ndcg_score, precision_score, recall_score

from sklearn_mrmp.metrics import (
    label_coverage_at_k,
    label_propensities,
    ndcg_at_k,
    precision_at_k,
    propensity_scored_precision_at_k,
    recall_at_k,
)

AT_K = [precision_at_k, recall_at_k, ndcg_at_k, label_coverage_at_k]
each_measure = pytest.mark.parametrize("measure", AT_K, ids=lambda measure: measure.__name__)


@pytest.fixture
def ranking():
    """Labels, the first row without any, scores without ties, and weights."""
    rng = np.random.RandomState(0)
    Y = (rng.rand(30, 7) < 0.3).astype(int)
    Y[0] = 0
    S = rng.permutation(Y.size).reshape(Y.shape) / Y.size
    return Y, S, rng.rand(30) + 0.1


def first_k(S, k):
    """Predictions of the k labels with the highest scores."""
    order = np.argsort(-S, axis=1, kind="stable")[:, :k]
    predicted = np.zeros(S.shape, dtype=int)
    np.put_along_axis(predicted, order, 1, axis=1)
    return predicted


@pytest.mark.parametrize("k", [1, 3, 7])
@pytest.mark.parametrize("weighted", [False, True])
def test_measures_equal_those_of_scikit_learn(ranking, k, weighted):
    Y, S, weights = ranking
    options = {"sample_weight": weights if weighted else None}
    averaged = {"average": "samples", "zero_division": 0, **options}
    predicted = first_k(S, k)
    assert precision_at_k(Y, S, k=k, **options) == pytest.approx(
        precision_score(Y, predicted, **averaged)
    )
    assert recall_at_k(Y, S, k=k, **options) == pytest.approx(
        recall_score(Y, predicted, **averaged)
    )
    assert ndcg_at_k(Y, S, k=k, **options) == pytest.approx(ndcg_score(Y, S, k=k, **options))


@each_measure
@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_sparse_labels_and_scores_give_the_same(ranking, measure, container):
    Y, S, weights = ranking
    dense = measure(Y, S, k=3, sample_weight=weights)
    assert measure(container(Y), S, k=3, sample_weight=weights) == dense
    assert measure(container(Y), container(S), k=3, sample_weight=weights) == dense


def test_label_coverage_counts_labels_found_in_a_row_that_has_them():
    Y = np.array([[1, 0, 0, 0], [0, 1, 1, 0], [0, 1, 0, 0]])
    S = np.array([[0.9, 0.1, 0.2, 0.3], [0.1, 0.2, 0.9, 0.8], [0.9, 0.2, 0.1, 0.1]])
    assert label_coverage_at_k(Y, S, k=1) == pytest.approx(2 / 3)  # of three that exist
    assert label_coverage_at_k(Y, S, k=2) == 1.0
    assert label_coverage_at_k(Y, S, k=1, sample_weight=[1, 0, 1]) == pytest.approx(1 / 2)


@each_measure
def test_of_equal_scores_the_first_column_comes_first(measure):
    S = np.full((1, 40), 0.5)
    assert measure(np.eye(40, dtype=int)[:1], S, k=1) == 1.0
    assert measure(np.eye(40, dtype=int)[1:2], S, k=1) == 0.0


@each_measure
def test_rows_without_labels_count_as_0_and_weights_leave_them_out(ranking, measure):
    Y, S, _ = ranking
    some = Y.sum(axis=1) > 0
    left_out = measure(Y, S, k=2, sample_weight=some)
    assert left_out == pytest.approx(measure(Y[some], S[some], k=2))
    assert measure(np.zeros_like(Y), S, k=2) == 0.0


@each_measure
def test_margins_and_data_frames_matched_by_name_will_do(ranking, measure):
    pd = pytest.importorskip("pandas")
    Y, S, _ = ranking
    names = list("abcdefg")
    labels, scores = pd.DataFrame(Y, columns=names), pd.DataFrame(S - 5, columns=names)
    assert measure(labels, scores[names[::-1]], k=3) == measure(Y, S, k=3)


@each_measure
@pytest.mark.parametrize("k", [0, 8, 2.0, True])
def test_k_must_be_a_number_of_labels(ranking, measure, k):
    Y, S, _ = ranking
    with pytest.raises(ValueError, match=r"k must be a whole number from 1 to .*7"):
        measure(Y, S, k=k)


@each_measure
def test_other_shapes_values_and_weights_are_refused(ranking, measure):
    Y, S, _ = ranking
    with pytest.raises(ValueError, match="same shape"):
        measure(Y, S[:, :-1], k=2)
    with pytest.raises(ValueError, match="only 0 and 1"):
        measure(Y * 2, S, k=2)
    with pytest.raises(ValueError, match="NaN"):
        measure(Y, np.where(S < 0.1, np.nan, S), k=2)
    with pytest.raises(ValueError, match=r"non-zero|0 for all rows"):
        measure(Y, S, k=2, sample_weight=np.zeros(len(Y)))


def plain_psp(Y, S, p, k):
    """Sum over rows of what is gained and of what could be, by loops."""
    gained = best = 0.0
    for y, s in zip(Y, S, strict=True):
        gained += sum(y[j] / p[j] for j in np.argsort(-s)[:k])
        best += sum(sorted(y / p)[::-1][:k])
    return gained, best


@pytest.mark.parametrize("k", [1, 3])
def test_propensity_scored_precision_equals_a_plain_loop(ranking, k):
    Y, S, _ = ranking
    p = label_propensities(Y)
    gained, best = plain_psp(Y, S, p, k)
    score = propensity_scored_precision_at_k(Y, S, propensities=p, k=k)
    assert score == pytest.approx(gained / best)
    mean = propensity_scored_precision_at_k(Y, S, propensities=p, k=k, normalize=False)
    assert mean == pytest.approx(gained / k / len(Y))


def test_propensities_of_1_give_plain_precision_and_the_best_ranking_gives_1(ranking):
    Y, S, weights = ranking
    options = {"k": 2, "sample_weight": weights}
    ones = {"propensities": np.ones(7), "normalize": False, **options}
    plain = precision_at_k(Y, S, **options)
    assert propensity_scored_precision_at_k(Y, S, **ones) == pytest.approx(plain)
    p = label_propensities(Y)
    best = propensity_scored_precision_at_k(Y, Y / p, propensities=p, **options)
    assert best == pytest.approx(1.0)


def test_propensities_follow_the_published_formula_and_rise_with_the_count():
    Y = np.zeros((1000, 4), dtype=int)
    for label, count in enumerate([0, 1, 10, 1000]):
        Y[:count, label] = 1
    found = label_propensities(sp.csr_array(Y))
    c = (np.log(1000) - 1) * 2.5**0.55
    expected = 1 / (1 + c * np.exp(-0.55 * np.log(np.array([0, 1, 10, 1000]) + 1.5)))
    np.testing.assert_allclose(found, expected)
    assert (np.diff(found) > 0).all()
    assert (label_propensities(Y[:2]) <= 1).all()


@pytest.mark.parametrize("propensities", [[0.5] * 6, [0.0] * 7, [2.0] * 7])
def test_other_propensities_are_refused(ranking, propensities):
    Y, S, _ = ranking
    with pytest.raises(ValueError, match="7 numbers above 0 and at most 1"):
        propensity_scored_precision_at_k(Y, S, propensities=propensities)
