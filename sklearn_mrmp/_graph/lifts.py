"""How much a told label raises or lowers the log odds of those it is linked with in the graph.

For an edge between labels k and j, what a row's log odds of j change when k is told to be there is
``logit P(j | k) - logit P(j)``, and ``logit P(j | not k) - logit P(j)`` when it is told not to be:
Bayes' rule, for told labels that are independent given j. Shares are those of the training rows,
drawn towards P(j) as if one more row said so. Knows label graphs, weights of entries, numpy and
scipy.
"""

import numpy as np
import scipy.sparse as sp
from scipy.special import logit

from sklearn_mrmp._graph.adjacency import endpoints, joined, with_data
from sklearn_mrmp._graph.known_pairs import pair_tables
from sklearn_mrmp._numerics.rows import row_blocks

# Rows of k, or without it, that are added with a share of P(j).
_PRIOR_ROWS = 1.0
# Pairs of labels whose tables are computed at once.
_PAIRS_AT_ONCE = 2**21


def linked(graph):
    """Which labels of a graph are linked, in either direction of any relation, a csr_array."""
    return joined(graph.relations.values(), graph.n_labels)


def label_lifts(links, Y, weights=None):
    """Learn the lifts of linked labels.

    Parameters
    ----------
    links : csr_array of shape (n_labels, n_labels)
        Which labels are linked: what is stored counts, its values do not.
    Y : csr_array of shape (n_samples, n_labels)
        0/1 labels of training rows, 0 where they are unknown.
    weights : EntryWeights, default=None
        What the entries of `Y` count. Pairs are counted in the rows where both are known.

    Returns
    -------
    present : csr_array of shape (n_labels, n_labels), float32
        Entry ``[k, j]`` is added to the log odds of label `j` where `k` is told to be there.
    absent : csr_array of shape (n_labels, n_labels), float32
        The same where `k` is told not to be there.

    Examples
    --------
    >>> Y = sp.csr_array([[1, 1], [1, 1], [0, 0], [0, 1]] * 10)
    >>> present, absent = label_lifts(sp.csr_array([[0, 1], [0, 0]]), Y)
    >>> present.toarray().round(2)    # the second is there wherever the first is
    array([[0.  , 3.33],
           [0.  , 0.  ]], dtype=float32)
    """
    both, source, target, n = _tables(links, Y, weights)
    share = (target + 0.5) / (n + 1)
    prior, odds = _PRIOR_ROWS * share, logit(share)
    with_k = logit((both + prior) / (source + _PRIOR_ROWS)) - odds
    without_k = logit((target - both + prior) / (n - source + _PRIOR_ROWS)) - odds
    return tuple(with_data(links, lift.astype(np.float32)) for lift in (with_k, without_k))


def _tables(links, Y, weights):
    """Weight of the rows of each link: with both labels, the source, the target, and all."""
    source, target = endpoints(links)
    if weights is not None and weights.known is not None:
        return _known_tables(links, Y, weights)
    rows = np.ones(Y.shape[0]) if weights is None else weights.row_weights(Y.shape[0])
    counts = Y.T @ rows
    weighted = sp.csr_array(Y.multiply(rows[:, None]))
    both = np.empty(len(source))
    for labels in row_blocks(Y.shape[1], Y.shape[1], _PAIRS_AT_ONCE):
        stored = slice(links.indptr[labels.start], links.indptr[labels.stop])
        together = (weighted[:, labels].T @ Y).toarray()
        both[stored] = together[source[stored] - labels.start, target[stored]]
    return both, counts[source], counts[target], rows.sum()


def _known_tables(links, Y, weights):
    """Return the same from the rows in which both labels are known."""
    source, target = endpoints(links)
    found = np.empty((4, len(source)))
    rows = weights.row_weights(Y.shape[0])
    for labels in row_blocks(Y.shape[1], Y.shape[1], _PAIRS_AT_ONCE):
        stored = slice(links.indptr[labels.start], links.indptr[labels.stop])
        tables = pair_tables(Y, weights.known, rows, labels)
        found[:, stored] = tables[:, source[stored] - labels.start, target[stored]]
    return found
