"""The label graph: how pulling and pushing are learned from a label matrix.

Section "label relation graphs" of the paper: labels that are not independent pull or push each
other. `LabelGraph` is the value that holds the result. Knows numpy, scipy, and what is unknown.
"""

from numbers import Integral, Real

import numpy as np

from sklearn_mrmp._graph.adjacency import canonical_labels, symmetric, with_data
from sklearn_mrmp._graph.chi2 import (
    excess_co_occurrence,
    label_counts,
    n_rows,
    significant_pairs,
)
from sklearn_mrmp._graph.known_pairs import significant_known_pairs
from sklearn_mrmp._graph.value import LabelGraph
from sklearn_mrmp._numerics.entry_weights import checked_weights
from sklearn_mrmp._numerics.label_lists import table_if_listed
from sklearn_mrmp._numerics.unknown import split_unknown

__all__ = ["LabelGraph", "label_graph"]


def label_graph(
    Y,
    *,
    alpha=0.05,
    correction=None,
    edge_weight="binary",
    min_count=0,
    label_names=None,
    sample_weight=None,
):
    """Learn which labels attract (pull) and which avoid (push) each other.

    Every pair of labels gets a chi-squared test of independence on its 2×2 table (no continuity
    correction). Dependent labels are *pulling* when P(j | i) > P(j), else *pushing*.

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        0/1 label matrix; the column names of a data frame become label names. Or a list that has
        a list of label names for each row. NaN is an unknown entry: each pair of labels is tested
        on the rows in which both are known.
    alpha : float, default=0.05
        Level of the test: an edge needs a (corrected) p-value of at most `alpha`.
    correction : {None, "bonferroni", "fdr_bh"}, default=None
        How to correct for the number of tested pairs. None: not at all, as in the paper.
        ``"bonferroni"`` limits the probability of any false edge, and ``"fdr_bh"``
        (Benjamini-Hochberg) the expected share of false edges.
    edge_weight : {"binary", "conditional"}, default="binary"
        Weight of the edge i → j: 1, or ``|P(j | i) − P(j)|``, which differs from j → i.
    min_count : int, default=0
        Labels carried by fewer rows are not tested and get no edge. 0 tests all.
    label_names : sequence of str, default=None
        Names of the labels; the columns of a data frame, or ``"0"``, ``"1"``, … when None.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows: a row of weight 2 counts like two equal rows.

    Returns
    -------
    graph : LabelGraph
        With the relations ``"pulling"`` and ``"pushing"``.

    Notes
    -----
    Tested are all pairs of labels that are not constant and have `min_count` rows, T (T − 1) / 2
    pairs for T such labels, whether they ever occur together or not; the corrections count all
    of them. Time and memory grow with the number of co-occurring pairs and of edges, not with
    the square of the number of labels. With unknown entries every pair has its own number of rows,
    and time and memory grow with the square.

    Examples
    --------
    >>> from sklearn_mrmp import label_graph
    >>> graph = label_graph([[1, 1, 0], [1, 1, 0], [0, 0, 1]] * 4,
    ...                     label_names=["sea", "ship", "desert"])
    >>> graph
    LabelGraph(3 labels, 12 samples; pulling: 2 edges, pushing: 4 edges)
    >>> graph.relations["pulling"].toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """
    _check_options(alpha, correction, edge_weight, min_count)
    Y = table_if_listed(Y, what="Y")
    if label_names is None:
        label_names = getattr(Y, "columns", None)
    Y, known = split_unknown(Y)
    Y, known, weights = _rows_that_count(canonical_labels(Y), known, sample_weight)
    counts, n_samples = label_counts(Y, weights), n_rows(Y, weights)
    tests = {"alpha": alpha, "correction": correction, "min_count": min_count, "weights": weights}
    if known is None:
        pairs = significant_pairs(Y, **tests)
        tables = counts[pairs.first], counts[pairs.second], n_samples
    else:
        pairs, tables = significant_known_pairs(Y, known, **tests)
    excess = excess_co_occurrence(pairs.co_occurrence, *tables)
    strengths = _edge_weights(excess, *tables, edge_weight)
    relations, together = {}, {}
    for name, chosen in (("pulling", excess > 0), ("pushing", excess < 0)):
        ends = pairs.first[chosen], pairs.second[chosen]
        relations[name] = symmetric(*ends, strengths[0][chosen], Y.shape[1], strengths[1][chosen])
        together[name] = symmetric(*ends, pairs.co_occurrence[chosen], Y.shape[1])
    # Without one number of rows for all edges, co-occurrences are no test statistics.
    together = together if known is None else None
    return LabelGraph(
        relations, label_names, n_samples=n_samples, counts=counts, co_occurrence=together
    )


def co_occurrence_graph(Y, label_names=None):
    """Link labels that any row has both of: the prior graph of LaMP.

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        0/1 label matrix; NaN is unknown, and links nothing.
    label_names : sequence of str, default=None
        Names of the labels.

    Returns
    -------
    graph : LabelGraph
        With the relation ``"co-occurrence"``, whose weights are 1.

    Examples
    --------
    >>> co_occurrence_graph([[1, 1, 0], [0, 0, 1]]).neighbors(0)
    ['1']
    """
    Y = canonical_labels(split_unknown(Y)[0])
    counts, together = label_counts(Y), (Y.T @ Y).tocoo()
    upper = together.row < together.col
    i, j, n11 = (part[upper] for part in (together.row, together.col, together.data))
    edges = symmetric(i, j, n11, Y.shape[1])
    return LabelGraph(
        {"co-occurrence": with_data(edges, np.ones(edges.nnz))},
        label_names,
        n_samples=Y.shape[0],
        counts=counts,
        co_occurrence={"co-occurrence": edges},
    )


def _rows_that_count(Y, known, sample_weight):
    """Labels, what is known of them and weights, or None, of the rows whose weight is not 0."""
    if sample_weight is None:
        return Y, known, None
    weights = checked_weights(sample_weight, Y)
    keep = np.flatnonzero(weights)
    return Y[keep], None if known is None else known[keep], weights[keep]


def _check_options(alpha, correction, edge_weight, min_count):
    if not isinstance(alpha, Real) or not 0 < alpha < 1:
        raise ValueError(f"alpha must be a number between 0 and 1, got {alpha!r}.")
    if correction not in (None, "bonferroni", "fdr_bh"):
        raise ValueError(f"correction must be None, 'bonferroni' or 'fdr_bh', got {correction!r}.")
    if edge_weight not in ("binary", "conditional"):
        raise ValueError(f"edge_weight must be 'binary' or 'conditional', got {edge_weight!r}.")
    if not isinstance(min_count, Integral) or min_count < 0:
        raise ValueError(f"min_count must be an integer of at least 0, got {min_count!r}.")


def _edge_weights(excess, c_i, c_j, n, edge_weight):
    """Weights of the edges i → j and of j → i."""
    if edge_weight == "binary":
        return np.ones(len(excess)), np.ones(len(excess))
    # P(j|i) − P(j) = excess / (n c_i)
    return np.abs(excess) / (n * c_i), np.abs(excess) / (n * c_j)
