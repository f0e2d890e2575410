"""Synthetic bag-of-words data whose related labels are known.

Labels are drawn from explicit joint distributions in which exactly the planted pairs are
dependent, so a learned label graph can be judged at any sample size. Knows numpy and scipy only.
"""

from dataclasses import dataclass
from itertools import combinations
from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from sklearn_mrmp._sklearn_compat import Interval, validate_params


@dataclass(frozen=True)
class Recovery:
    """How well a label graph agrees with the planted relations.

    Attributes
    ----------
    precision : float
        Share of the found pairs that were planted with the same relation; 1 if none was found.
    recall : float
        Share of the planted pairs that were found with their relation; 1 if none was planted.
    n_correct, n_found, n_planted : int
        Numbers of pairs, each pair counted once.
    """

    precision: float
    recall: float
    n_correct: int
    n_found: int
    n_planted: int


@dataclass(frozen=True, eq=False)
class PlantedRelations:
    """The true relations in data of `make_related_labels`.

    Attributes
    ----------
    pulling, pushing : ndarray of int of shape (n_pairs, 2)
        Pairs of related labels, smaller index first, in lexicographic order. All other pairs of
        labels are independent.
    frequencies : ndarray of shape (n_labels,)
        Probability of each label.
    weak_labels : ndarray of int
        Labels that add few words to their rows, so that related labels tell more about them than
        words do.
    """

    pulling: np.ndarray
    pushing: np.ndarray
    frequencies: np.ndarray
    weak_labels: np.ndarray

    def recovery(self, relations):
        """Compare a label graph with the planted pairs.

        Parameters
        ----------
        relations : LabelGraph, or mapping of str to adjacency
            The relations ``"pulling"`` and ``"pushing"``, each an array or sparse matrix of shape
            (n_labels, n_labels) whose non-zero entries are edges; the direction does not matter.

        Returns
        -------
        recovery : Recovery
            Precision, recall, and the numbers of pairs they come from.

        Examples
        --------
        >>> from sklearn_mrmp import label_graph
        >>> from sklearn_mrmp.datasets import make_related_labels
        >>> X, Y, planted = make_related_labels(random_state=0)
        >>> planted.recovery(label_graph(Y, correction="bonferroni")).recall
        1.0
        """
        relations = getattr(relations, "relations", relations)
        found = _pair_set(relations["pulling"], 1) | _pair_set(relations["pushing"], -1)
        truth = {(*pair, 1) for pair in self.pulling.tolist()}
        truth |= {(*pair, -1) for pair in self.pushing.tolist()}
        n_correct = len(found & truth)
        return Recovery(
            precision=n_correct / len(found) if found else 1.0,
            recall=n_correct / len(truth) if truth else 1.0,
            n_correct=n_correct,
            n_found=len(found),
            n_planted=len(truth),
        )


def _pair_set(adjacency, sign):
    rows, columns = sp.coo_array(adjacency).nonzero()
    pairs = np.sort(np.column_stack([rows, columns]), axis=1)
    return {(i, j, sign) for i, j in pairs.tolist() if i != j}


@validate_params(
    {
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "n_labels": [Interval(Integral, 1, None, closed="left")],
        "n_features": [Interval(Integral, 1, None, closed="left")],
        "n_pulling_groups": [Interval(Integral, 0, None, closed="left"), None],
        "n_pushing_groups": [Interval(Integral, 0, None, closed="left"), None],
        "group_size": [Interval(Integral, 2, None, closed="left")],
        "strength": [Interval(Real, 0, 1, closed="right")],
        "label_frequency": [tuple],
        "weak_fraction": [Interval(Real, 0, 1, closed="both")],
        "words_per_row": [Interval(Real, 0, None, closed="left")],
        "words_per_label": [Interval(Real, 0, None, closed="left")],
        "weak_words_per_label": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    },
    prefer_skip_nested_validation=True,
)
def make_related_labels(
    n_samples=2000,
    n_labels=20,
    *,
    n_features=300,
    n_pulling_groups=None,
    n_pushing_groups=None,
    group_size=3,
    strength=0.7,
    label_frequency=(0.1, 0.3),
    weak_fraction=0.5,
    words_per_row=20,
    words_per_label=4.0,
    weak_words_per_label=0.5,
    random_state=None,
):
    """Draw multi-label bag-of-words data with planted pulling and pushing pairs of labels.

    Labels form disjoint groups. Two labels of a pulling group occur together more often than by
    chance, two of a pushing group less often; any two labels that share no group are independent.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of rows.

    n_labels : int, default=20
        Number of labels.

    n_features : int, default=300
        Number of words, at least one per label.

    n_pulling_groups, n_pushing_groups : int, default=None
        Number of groups of each kind. What is None is filled with as many groups as fit, evenly
        when both are. Labels that are left over are unrelated.

    group_size : int, default=3
        Labels per group; a group of g labels makes g (g − 1) / 2 related pairs.

    strength : float in (0, 1], default=0.7
        Probability that a row draws the labels of a group jointly (pulling: a label brings all
        more frequent ones of its group; pushing: at most one) and not independently.

    label_frequency : tuple (low, high), default=(0.1, 0.3)
        Range the labels' probabilities are drawn from.

    weak_fraction : float, default=0.5
        Share of the labels of each group, rounded down, that get few words of their own. The
        first label of a group is never weak.

    words_per_row : float, default=20
        Expected number of background words of a row.

    words_per_label, weak_words_per_label : float, default=4.0 and 0.5
        Expected number of words that an ordinary and a weak label add to their rows.

    random_state : int, RandomState instance or None, default=None
        Determines the data; pass an int for reproducible results.

    Returns
    -------
    X : csr_array of shape (n_samples, n_features), float64
        Word counts.
    Y : ndarray of shape (n_samples, n_labels), int32
        0/1 labels; rows without any label occur.
    planted : PlantedRelations
        The related pairs, which `PlantedRelations.recovery` compares with a learned graph.

    Notes
    -----
    With probability `strength` the labels of a group come from one uniform draw u. In a pulling
    group label i is present when u < p_i; in a pushing group when u falls into its own interval of
    length p_i. Otherwise they are independent. Each label keeps its probability p_i, and
    P(i, j) = s min(p_i, p_j) + (1 − s) p_i p_j for pulling, (1 − s) p_i p_j for pushing pairs.

    A chi-squared test at level α without correction still finds a share α of the independent
    pairs: the expected precision is below 1 whatever the number of rows.

    Examples
    --------
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, planted = make_related_labels(100, 4, n_features=30, group_size=2, random_state=0)
    >>> X.shape, Y.shape
    ((100, 30), (100, 4))
    >>> planted.pulling, planted.pushing
    (array([[2, 3]]), array([[0, 1]]))
    """
    n_pulling, n_pushing = _count_groups(n_labels, n_pulling_groups, n_pushing_groups, group_size)
    low, high = _check_frequency(label_frequency, group_size, n_pushing)
    if n_features < n_labels:
        raise ValueError(
            f"n_features={n_features} is less than n_labels={n_labels}; each label needs a word."
        )
    rng = check_random_state(random_state)
    order = rng.permutation(n_labels)
    groups = order[: (n_pulling + n_pushing) * group_size].reshape(-1, group_size)
    pulling, pushing = groups[:n_pulling], groups[n_pulling:]
    frequencies = rng.uniform(low, high, n_labels)
    Y = _draw_labels(rng, n_samples, frequencies, pulling, pushing, strength)
    n_weak = min(int(weak_fraction * group_size), group_size - 1)
    weak = np.sort(groups[:, group_size - n_weak :].ravel())
    words = np.full(n_labels, float(words_per_label))
    words[weak] = weak_words_per_label
    X = _draw_words(rng, Y, n_features, words_per_row, words)
    return X, Y, PlantedRelations(_pairs(pulling), _pairs(pushing), frequencies, weak)


def _count_groups(n_labels, n_pulling, n_pushing, group_size):
    """Numbers of groups, with None filled in."""
    room = n_labels // group_size
    if n_pulling is None and n_pushing is None:
        n_pulling, n_pushing = room - room // 2, room // 2
    elif n_pulling is None:
        n_pulling = max(0, room - n_pushing)
    elif n_pushing is None:
        n_pushing = max(0, room - n_pulling)
    if n_pulling + n_pushing > room:
        raise ValueError(
            f"{n_pulling} pulling and {n_pushing} pushing groups of {group_size} labels need "
            f"{(n_pulling + n_pushing) * group_size} labels, but n_labels={n_labels}."
        )
    return n_pulling, n_pushing


def _check_frequency(label_frequency, group_size, n_pushing):
    if len(label_frequency) != 2 or not 0 < label_frequency[0] <= label_frequency[1] < 1:
        raise ValueError(
            f"label_frequency must be (low, high) with 0 < low <= high < 1, got {label_frequency}."
        )
    if n_pushing and group_size * label_frequency[1] > 1:
        raise ValueError(
            f"Labels of a pushing group cannot exclude each other when group_size={group_size} "
            f"times the highest label_frequency {label_frequency[1]} exceeds 1; lower either."
        )
    return label_frequency


def _draw_labels(rng, n_samples, frequencies, pulling, pushing, strength):
    """0/1 labels: independent, and then the groups of some rows anew from one uniform draw."""
    Y = rng.uniform(size=(n_samples, len(frequencies))) < frequencies
    for group, lower in _intervals(frequencies, pulling, pushing):
        joint = np.flatnonzero(rng.uniform(size=n_samples) < strength)
        u = rng.uniform(size=(len(joint), 1))
        Y[joint[:, None], group] = (lower <= u) & (u < lower + frequencies[group])
    return Y.astype(np.int32)


def _intervals(frequencies, pulling, pushing):
    """Yield each group with the lower ends of its labels' intervals: nested, or side by side."""
    for group in pulling:
        yield group, np.zeros(len(group))
    for group in pushing:
        yield group, np.cumsum(frequencies[group]) - frequencies[group]


def _draw_words(rng, Y, n_features, words_per_row, words_per_label):
    """Word counts: Poisson, around a background shared by all rows plus the labels' own words."""
    n_labels = Y.shape[1]
    own = max(1, n_features // (2 * n_labels))
    vocabulary = rng.permutation(n_features)
    topics = np.zeros((n_labels, n_features))
    for label in range(n_labels):
        topics[label, vocabulary[label * own : (label + 1) * own]] = rng.dirichlet(np.ones(own))
    background = rng.dirichlet(np.ones(n_features)) * words_per_row
    rates = background + (Y * words_per_label) @ topics
    return sp.csr_array(rng.poisson(rates).astype(np.float64))


def _pairs(groups):
    pairs = sorted(tuple(sorted(pair)) for group in groups for pair in combinations(group, 2))
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)
