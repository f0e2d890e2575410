"""Mean ranks of methods over data sets, and which of them differ by more than chance.

Friedman's test and one of two ways to compare pairs (Demšar, Journal of Machine Learning Research
7, 2006; Benavoli, Corani and Mangili, ibid. 17, 2016). Knows arrays of numbers and scipy.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range, wilcoxon

TESTS = ("nemenyi", "wilcoxon")


@dataclass(frozen=True, eq=False)
class RankComparison:
    """Mean ranks, best first, and groups of methods that were not told apart.

    Attributes
    ----------
    methods : tuple of str
        Names, the best mean rank first.
    mean_ranks : ndarray of shape (n_methods,)
        1 is the best; methods with equal scores share their ranks.
    n_datasets : int
        Number of data sets.
    p_value : float
        Of Friedman's test that all methods are alike.
    groups : tuple of tuple of int
        Positions of the first and the last method of each group of neighbours in `methods` no two
        of which were told apart.
    critical_difference : float or None
        Difference of mean ranks that tells two methods apart by Nemenyi's test.
    """

    methods: tuple
    mean_ranks: np.ndarray
    n_datasets: int
    p_value: float
    groups: tuple
    critical_difference: float | None = None


def compare_ranks(scores, test="nemenyi", alpha=0.05, greater_is_better=True):
    """Rank methods on each data set and compare their mean ranks.

    Parameters
    ----------
    scores : mapping of str to array-like of shape (n_datasets,)
        Scores of each method, such as a data frame with a column for each.
    test : {"nemenyi", "wilcoxon"}, default="nemenyi"
        How pairs are compared.
    alpha : float, default=0.05
        Level of significance.
    greater_is_better : bool, default=True
        Whether high scores are good.

    Returns
    -------
    comparison : RankComparison
    """
    names, values = _checked(scores)
    if test not in TESTS:
        raise ValueError(f"test must be one of {', '.join(map(repr, TESTS))}, got {test!r}.")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha!r}.")
    ranks = rankdata(-values if greater_is_better else values, axis=1)
    order = np.argsort(ranks.mean(axis=0), kind="stable")
    values, ranks = values[:, order], ranks[:, order]
    mean_ranks, p_value = ranks.mean(axis=0), _friedman(values)
    difference = None
    if test == "nemenyi":
        difference = critical_difference(len(names), len(values), alpha)
        apart = np.abs(mean_ranks[:, None] - mean_ranks) > difference
    else:
        apart = _wilcoxon_holm(values, alpha)
    if p_value >= alpha:  # pairs are compared only where the methods differ at all
        apart = np.zeros_like(apart)
    chosen = tuple(names[k] for k in order)
    return RankComparison(chosen, mean_ranks, len(values), p_value, _groups(apart), difference)


def critical_difference(n_methods, n_datasets, alpha=0.05):
    """Difference of mean ranks from which on Nemenyi's test tells two methods apart."""
    q = studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def _checked(scores):
    """Return the names, and the scores as an array (n_datasets, n_methods)."""
    if not isinstance(scores, Mapping) and not hasattr(scores, "items"):
        raise TypeError(
            "scores must map the name of each method to its scores, as a dict or a data frame with "
            f"a column for each method does, got {type(scores).__name__}."
        )
    columns = {str(name): np.asarray(column, dtype=float) for name, column in scores.items()}
    shapes = {column.shape for column in columns.values()}
    if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
        told = ", ".join(f"{name!r} {column.shape}" for name, column in columns.items())
        raise ValueError(f"Each method must have one score for each data set, got shapes: {told}.")
    for name, column in columns.items():
        if not np.isfinite(column).all():
            place = int(np.flatnonzero(~np.isfinite(column))[0])
            raise ValueError(
                f"{name!r} has no finite score for data set {place}. Ranks compare all methods on "
                "all data sets: leave that data set out, or that method."
            )
    values = np.column_stack(list(columns.values())) if columns else np.empty((0, 0))
    if values.shape[1] < 3 or len(values) < 2:
        raise ValueError(
            "Ranks are compared for three methods or more on two data sets or more, got "
            f"{values.shape[1]} methods and {len(values)} data sets. For two methods use "
            "scipy.stats.wilcoxon."
        )
    return list(columns), values


def _friedman(values):
    if (values == values[:, :1]).all():  # the statistic is then 0 / 0
        return 1.0
    return float(friedmanchisquare(*values.T).pvalue)


def _wilcoxon_holm(values, alpha):
    """Return which pairs differ by signed ranks, with Holm's correction for all of them."""
    pairs = list(combinations(range(values.shape[1]), 2))
    p_values = [_signed_ranks(values[:, i], values[:, j]) for i, j in pairs]
    apart = np.zeros((values.shape[1],) * 2, dtype=bool)
    for place, k in enumerate(np.argsort(p_values, kind="stable")):
        if p_values[k] > alpha / (len(pairs) - place):
            break
        i, j = pairs[k]
        apart[i, j] = apart[j, i] = True
    return apart


def _signed_ranks(first, second):
    return 1.0 if np.array_equal(first, second) else float(wilcoxon(first, second).pvalue)


def _groups(apart):
    """Return the longest runs of neighbours no two of which are apart, of two methods or more."""
    n, found, last = len(apart), [], -1
    for start in range(n):
        end = start
        while end + 1 < n and not apart[start : end + 1, end + 1].any():
            end += 1
        if end > start and end > last:
            found.append((start, end))
            last = end
    return tuple(found)
