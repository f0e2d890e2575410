"""Per-row label sets of highest expected F1 when labels are independent given the input.

The best set of a row is then the top k of its ranking for some k, and

    E[F1(top k)] = Σ_s Σ_r P(s hits among the top k) P(r positives among the rest) 2s / (k + s + r)

where both counts are Poisson binomial, computed by convolving one label after the other. Knows
only numpy.
"""

import numpy as np

# Probability that may be lost by cutting off the distribution of the number of positives.
_TAIL = 1e-9

# Largest set the expectation is computed for. A row that needs more expects so many positives that
# the ratio of expectations is as good, and the time of the recursion grows with the cube.
_MAX_DEPTH = 128

_CHUNK_NUMBERS = 2_000_000


def top_k_by_expected_f1(P, *, method="exact", allow_empty=False):
    """Size k of the top-k set that maximises the expected F1 of each row.

    Parameters
    ----------
    P : ndarray of shape (n_samples, n_labels)
        Probabilities, each row falling.
    method : {"exact", "quick"}, default="exact"
        The expectation, or the ratio of expectations ``2 Σ_{i<=k} p_i / (k + Σ_i p_i)``, which
        also serves rows that need sets of more than 128 labels.
    allow_empty : bool, default=False
        Whether a row may get no label: when "no label is true" is more probable than the
        expected F1 of the best k, because an empty set that is right is worth 1.

    Returns
    -------
    k : int ndarray of shape (n_samples,)
        Number of labels.
    """
    sizes, best = _quick_sizes(P) if method == "quick" else _exact_sizes(P)
    if allow_empty:
        sizes[np.prod(1 - P, axis=1) > best] = 0
    return sizes


def _quick_sizes(P):
    sums = np.cumsum(P, axis=1)
    curve = 2 * sums / (np.arange(1, P.shape[1] + 1) + sums[:, -1:])
    return curve.argmax(axis=1) + 1, curve.max(axis=1)


def _exact_sizes(P):
    sizes = np.ones(len(P), dtype=np.int64)
    best = np.zeros(len(P))
    expected = P.sum(axis=1)
    # 2m / (k + m) with m the expected hits among the top k bounds E[F1(top k)] by Jensen's
    # inequality, and falls with k: it tells how deep a row has to be searched.
    hits = np.cumsum(P, axis=1)
    bound = 2 * hits / (np.arange(1, P.shape[1] + 1) + hits)
    depth = min(8, P.shape[1])
    rows = np.argsort(expected, kind="stable")  # similar rows need tables of similar size
    while rows.size:
        for chunk in _row_chunks(rows, depth, expected):
            curve = expected_f1_curve(P[chunk], depth)
            sizes[chunk], best[chunk] = curve.argmax(axis=1) + 1, curve.max(axis=1)
        needed = np.count_nonzero(bound[rows] > best[rows, None], axis=1)
        rows = rows[needed > depth]
        depth = min(2 * depth, P.shape[1])
        if depth > _MAX_DEPTH and rows.size:
            sizes[rows], best[rows] = _quick_sizes(P[rows])
            break
    return sizes, best


def _row_chunks(rows, depth, expected):
    size = max(1, int(_CHUNK_NUMBERS / (depth * (depth + _support(expected[rows[-1]])))))
    return (rows[start : start + size] for start in range(0, len(rows), size))


def _support(expected):
    """Return a number of positives exceeded with probability below `_TAIL` (Bernstein)."""
    log = -np.log(_TAIL)
    return int(expected + log / 3 + np.sqrt(log**2 / 9 + 2 * log * expected)) + 1


def expected_f1_curve(P, depth):
    """Compute the expected F1 of the top 1, …, `depth` labels of each row.

    Parameters
    ----------
    P : ndarray of shape (n_samples, n_labels)
        Probabilities, each row falling.
    depth : int
        Largest set.

    Returns
    -------
    curve : ndarray of shape (n_samples, depth)
        Expected F1.
    """
    top = _hits_of_top(P, depth)
    rest = _positives(P[:, depth:], min(P.shape[1], _support(P.sum(axis=1).max())))
    curve = np.empty((len(P), depth))
    r = np.arange(rest.shape[1])
    for k in range(depth, 0, -1):
        s = np.arange(1, k + 1)
        gain = 2 * s / (k + s + r[:, None])
        curve[:, k - 1] = np.einsum("ns,ns->n", rest @ gain, top[k][:, 1:])
        rest = _convolve(rest, P[:, k - 1])
    return curve


def _hits_of_top(P, depth):
    """Distributions of the hits among the top 0, …, `depth` labels, (n, k + 1) each."""
    top = [np.ones((len(P), 1))]
    for k in range(depth):
        top.append(_convolve(np.pad(top[-1], ((0, 0), (0, 1))), P[:, k]))
    return top


def _positives(P, largest):
    """Distribution of the number of positives, (n, largest + 1)."""
    distribution = np.zeros((len(P), largest + 1))
    distribution[:, 0] = 1
    left = np.cumsum(P[:, ::-1].max(axis=0, initial=0.0))[::-1]
    for label in range(np.count_nonzero(left > _TAIL)):  # the rest is never positive
        distribution = _convolve(distribution, P[:, label])
    return distribution


def _convolve(distribution, p):
    """Add one label of probability `p` to the count; counts past the end are dropped."""
    p = p[:, None]
    added = distribution * (1 - p)
    added[:, 1:] += distribution[:, :-1] * p
    return added
