"""Mean ranks, Friedman's test, and which methods are told apart."""

import numpy as np
import pytest
from scipy.stats import friedmanchisquare

from sklearn_mrmp._compare.ranks import compare_ranks, critical_difference


def ordered(n_datasets, n_methods=3):
    """Scores of methods that have the same order on every data set."""
    base = np.arange(n_datasets, dtype=float)
    return {f"m{k}": base + k for k in range(n_methods)}


def test_ranks_are_means_over_data_sets_and_ties_share_them():
    found = compare_ranks({"a": [1, 2, 3], "b": [3, 2, 1], "c": [5, 5, 5]})
    assert found.methods == ("c", "a", "b")
    np.testing.assert_allclose(found.mean_ranks, [1, 2.5, 2.5])
    assert found.n_datasets == 3
    turned = compare_ranks(
        {"a": [1, 2, 3], "b": [3, 2, 1], "c": [5, 5, 5]}, greater_is_better=False
    )
    assert turned.methods == ("a", "b", "c")


def test_the_critical_differences_are_those_of_the_published_table():
    # Demšar 2006, table 5a: 2.343 for three classifiers, 2.569 for four, 3.164 for ten.
    for n_methods, q in ((3, 2.343), (4, 2.569), (10, 3.164)):
        expected = q * np.sqrt(n_methods * (n_methods + 1) / (6 * 20))
        assert critical_difference(n_methods, 20) == pytest.approx(expected, rel=1e-3)


def test_the_p_value_is_that_of_friedman():
    scores = np.random.default_rng(0).random((4, 8))
    found = compare_ranks(dict(zip("abcd", scores, strict=True)))
    assert found.p_value == pytest.approx(friedmanchisquare(*scores).pvalue)


def test_many_data_sets_tell_methods_apart_and_few_do_not():
    for test in ("nemenyi", "wilcoxon"):
        assert compare_ranks(ordered(30), test=test).groups == ()
        assert compare_ranks(ordered(2), test=test).groups == ((0, 2),)


def test_neighbours_are_joined_and_the_ends_are_told_apart():
    # The mean ranks are 1, 2 and 3, and the critical difference of nine data sets is 1.1.
    assert compare_ranks(ordered(9)).groups == ((0, 1), (1, 2))
    assert compare_ranks(ordered(9), test="wilcoxon").groups == ()


@pytest.mark.parametrize("test", ["nemenyi", "wilcoxon"])
def test_equal_methods_are_one_group(test):
    found = compare_ranks({"a": [1, 2, 3], "b": [1, 2, 3], "c": [1, 2, 3]}, test=test)
    assert found.p_value == 1
    assert found.groups == ((0, 2),)


def test_a_data_frame_is_taken_by_its_columns():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(ordered(5))
    assert compare_ranks(frame).methods == compare_ranks(ordered(5)).methods


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({"a": [1, 2], "b": [1, 2]}, "2 methods and 2 data sets"),
        ({"a": [1], "b": [1], "c": [2]}, "3 methods and 1 data sets"),
        ({}, "0 methods"),
        ({"a": [1, 2], "b": [1, 2], "c": [1, 2, 3]}, r"'c' \(3,\)"),
        ({"a": [1, 2], "b": [1, np.nan], "c": [1, 2]}, "'b' has no finite score for data set 1"),
    ],
)
def test_scores_that_cannot_be_ranked_are_refused(scores, message):
    with pytest.raises(ValueError, match=message):
        compare_ranks(scores)


def test_options_that_make_no_sense_are_refused():
    with pytest.raises(TypeError, match="scores must map"):
        compare_ranks([[1, 2, 3]])
    with pytest.raises(ValueError, match="test must be one of"):
        compare_ranks(ordered(3), test="t")
    with pytest.raises(ValueError, match="alpha must be between 0 and 1"):
        compare_ranks(ordered(3), alpha=5)
