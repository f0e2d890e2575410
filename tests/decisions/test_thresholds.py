import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

import sklearn_mrmp._decisions.sweep as sweep
from sklearn_mrmp._decisions.sweep import METRICS, metric_value
from sklearn_mrmp._decisions.thresholds import tune_thresholds


def sklearn_value(Y, Y_hat, metric):
    Y, Y_hat = np.asarray(Y, dtype=int), np.asarray(Y_hat, dtype=int)
    if metric == "accuracy":
        return accuracy_score(Y, Y_hat)
    return f1_score(Y, Y_hat, average=metric.removeprefix("f1_"), zero_division=0)


@st.composite
def labels_and_scores(draw):
    n, n_labels = draw(st.integers(1, 6)), draw(st.integers(2, 4))
    size = n * n_labels
    Y = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    # few distinct values give ties; one value gives constant scores
    value = st.sampled_from([-1.5, 0.0, 0.1, 0.25, 0.3, 0.9])
    S = draw(st.lists(value, min_size=size, max_size=size))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    return np.reshape(Y, (n, n_labels)), np.reshape(S, (n, n_labels)).astype(dtype)


@settings(max_examples=150, deadline=None)
@given(labels_and_scores(), st.sampled_from([1, 3, 10**6]))
def test_global_cuts_equal_brute_force(data, chunk):
    Y, S = data
    old, sweep.CHUNK_ENTRIES = sweep.CHUNK_ENTRIES, chunk
    try:
        result = tune_thresholds(Y, S)
    finally:
        sweep.CHUNK_ENTRIES = old
    for metric in METRICS:
        best = max(metric_value(Y, cut <= S, metric) for cut in [*np.unique(S), np.inf])
        assert result.scores[metric] == pytest.approx(best, abs=1e-12)
        reached = metric_value(Y, result.thresholds[metric] <= S, metric)
        assert reached == pytest.approx(best, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(labels_and_scores())
def test_cuts_per_label_are_never_worse_than_the_global_cut(data):
    Y, S = data
    result = tune_thresholds(Y, S)
    by_label = tune_thresholds(Y, S, strategy="per_label", shrinkage=0)
    for metric in METRICS:
        assert by_label.scores[metric] >= result.scores[metric] - 1e-12
        decided = by_label.thresholds[metric] <= S
        assert by_label.scores[metric] == metric_value(Y, decided, metric)


@settings(max_examples=30, deadline=None)
@given(labels_and_scores())
def test_unshrunk_macro_cuts_are_the_best_of_each_label(data):
    Y, S = data
    best = np.array([max(f1_of(Y[:, j], S[:, j] >= c) for c in S[:, j]) for j in range(Y.shape[1])])
    result = tune_thresholds(Y, S, metrics="f1_macro", strategy="per_label", shrinkage=0)
    assert result.scores["f1_macro"] == pytest.approx(best.mean())


def f1_of(y, y_hat):
    return 2 * np.sum(y & y_hat) / max(1, y.sum() + y_hat.sum())


def test_metric_values_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    for share in (0.0, 0.1, 0.5, 1.0):
        Y, Y_hat = rng.random((6, 4)) < 0.3, rng.random((6, 4)) < share
        for metric in METRICS:
            assert metric_value(Y, Y_hat, metric) == pytest.approx(sklearn_value(Y, Y_hat, metric))


def test_threshold_is_the_middle_of_the_widest_best_plateau():
    Y = [[1, 0], [1, 0]]
    S = np.array([[0.75, 0.25], [0.875, 0.125]])
    result = tune_thresholds(Y, S, metrics=["accuracy", "f1_samples", "f1_micro"])
    assert set(result.thresholds.values()) == {0.5}
    assert result.plateaus["accuracy"] == (0.25, 0.75)


def test_neighbouring_float32_scores_are_told_apart():
    low = np.float32(0.3)
    high = np.nextafter(low, np.float32(1))
    S = np.array([[high, low], [high, low]])
    cut = tune_thresholds([[1, 0], [1, 0]], S).thresholds["f1_micro"]
    for scores in (S, S.astype(np.float64)):
        assert (scores >= cut).tolist() == [[True, False]] * 2


def test_predicting_nothing_is_found_when_it_is_best():
    S = np.array([[0.5, 0.25], [0.125, 0.75]], dtype=np.float32)
    result = tune_thresholds(np.zeros((2, 2)), S)
    assert result.scores["accuracy"] == 1.0
    assert not (result.thresholds["accuracy"] <= S).any()


def test_sparse_labels_and_one_row_work():
    Y = sp.csr_array(np.array([[1, 0, 1]], dtype=np.int32))
    result = tune_thresholds(Y, [[0.9, 0.2, 0.5]])
    assert result.scores == dict.fromkeys(METRICS, 1.0) | {"f1_macro": pytest.approx(2 / 3)}


def test_large_inputs_are_swept_in_chunks_with_the_same_result(monkeypatch):
    rng = np.random.default_rng(0)
    Y, S = rng.random((300, 20)) < 0.1, rng.random((300, 20))
    whole = tune_thresholds(Y, S)
    monkeypatch.setattr(sweep, "CHUNK_ENTRIES", 700)
    assert tune_thresholds(Y, S) == whole


def test_shrinkage_draws_label_cuts_to_the_global_one():
    rng = np.random.default_rng(0)
    Y, S = rng.random((50, 3)) < 0.4, rng.random((50, 3))
    options = {"metrics": "f1_macro", "strategy": "per_label"}
    own, some, strong = (
        tune_thresholds(Y, S, shrinkage=m, **options).thresholds["f1_macro"] for m in (0, 10, 1e9)
    )
    cut = tune_thresholds(Y, S).thresholds["f1_macro"]
    np.testing.assert_allclose(strong, cut, atol=1e-6)
    assert (np.abs(some - cut) <= np.abs(own - cut)).all()
    assert (np.abs(own - cut) > 0).any()


def test_unknown_metric_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"'f1'.*accuracy, f1_samples, f1_micro, f1_macro"):
        tune_thresholds([[1, 0]], [[0.5, 0.2]], metrics=["f1"])


@pytest.mark.parametrize(
    ("Y", "S", "options", "message"),
    [
        ([[1, 2]], [[0.5, 0.2]], {}, "only 0 and 1"),
        ([1, 0], [[0.5, 0.2]], {}, "must be a matrix"),
        ([[1, 0, 1]], [[0.5, 0.2]], {}, "same shape"),
        ([[1, 0]], [[0.5, np.nan]], {}, "NaN"),
        ([[1, 0]], [[0.5, 0.2]], {"strategy": "grid"}, "strategy must be"),
        ([[1, 0]], [[0.5, 0.2]], {"shrinkage": -1}, "shrinkage must be"),
    ],
)
def test_bad_input_is_refused_with_the_reason(Y, S, options, message):
    with pytest.raises(ValueError, match=message):
        tune_thresholds(Y, S, **options)


@pytest.mark.parametrize(
    "S", [np.array([[0.1, 0.2], [0.0, 0.9]]), np.array([[-3.0, 2.0], [7.0, 0.0]])]
)
def test_where_no_row_carries_a_label_nothing_is_predicted(S):
    result = tune_thresholds(np.zeros_like(S, dtype=int), S)
    for threshold in result.thresholds.values():
        assert not (threshold <= S).any()
        assert threshold >= 1  # nor for other rows with probabilities
