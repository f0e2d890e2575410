"""Logistic regressions of many labels on the same rows, solved together by Newton's method.

The labels share the design matrix, so each step of many of them is two matrix products, and a label
leaves the computation as soon as it has converged. Intercepts are free: a penalty on them would
push every rare label's probability towards one half. Knows numpy, scipy, scikit-learn's batches and
weights of entries.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.utils import gen_batches

from sklearn_mrmp._numerics.entry_weights import label_totals
from sklearn_mrmp._numerics.sparse import RowParts

# A design matrix with a larger share of non-zeros is multiplied as a dense one, which is faster.
_DENSE_FROM = 0.05
# Labels solved together: enough to share the reading of the rows, few enough for the caches.
_BLOCK_LABELS = 32
_MAX_NEWTON_STEPS = 15
_MAX_CG_STEPS = 12
_MAX_HALVINGS = 6
# A label has converged when its gradient is this small relative to that of the empty model: the
# logits of rows of length 1 are then those of the minimum but for a few hundredths, wherever it
# started.
TOLERANCE = 3e-4
# Conjugate gradients go on while more than this share of the labels needs them: what the others
# gain by it on the way costs nothing.
_NEED_MORE = 0.5
# A step is too long if the loss rises at its end more than this share of the fall at its start.
_RISE = 0.5


class LogisticDesign:
    """Rows of a matrix, ready for products from both sides.

    Parameters
    ----------
    X : csr_array of shape (n_samples, n_features)
        Rows.
    """

    def __init__(self, X):
        X = X.astype(np.float32, copy=False)
        # No row says anything about the other features, and their weights are zero.
        self.used = np.flatnonzero(RowParts(X).column_counts())
        if len(self.used) < X.shape[1]:
            X = _with_columns(X, self.used)
        self.shape = X.shape
        self.rows = X.toarray() if X.nnz > _DENSE_FROM * X.shape[0] * X.shape[1] else X

    def times(self, W):
        """Logits ``X W``, without intercepts."""
        return self.rows @ W

    def gradient(self, R):
        """Gradient of the weights for residuals `R` (n_samples, n_labels)."""
        return self.rows.T @ R


def _with_columns(X, used):
    """Leave out columns without entries; the values of the others are shared."""
    places = np.zeros(X.shape[1], X.indices.dtype)
    places[used] = np.arange(len(used))
    return sp.csr_array((X.data, places[X.indices], X.indptr), (X.shape[0], len(used)))


def frequency_intercepts(Y, weights=None):
    """Return the intercepts of a model without features: logits of smoothed label frequencies.

    `weights` are those of the entries, an `EntryWeights` or None.
    """
    counts, totals = label_totals(Y, weights)
    return np.log((counts + 0.5) / (totals - counts + 0.5)).astype(np.float32)


def log_loss(Z, Y, weights=None):
    """Sum over all entries of the log loss of logits `Z`, an ndarray, for sparse 0/1 labels `Y`.

    `weights` of the entries are an array that can be broadcast to `Z`, or None.
    """
    losses = _weighted(np.logaddexp(0, Z), weights)
    return losses.sum(dtype=np.float64) - Y.multiply(_weighted(Z, weights)).sum()


def solve_logistic(design, Y, penalty, W, b, tolerance=TOLERANCE, weights=None, fixed=None):
    """Minimise the log loss plus ``penalty / 2 · ‖w‖²`` of every label, in place.

    Parameters
    ----------
    design : LogisticDesign
        Rows.
    Y : csr_array of shape (n_samples, n_labels)
        0/1 labels.
    penalty : float
        Weight of the squared norm, which leaves out the intercept.
    W : float32 ndarray of shape (n_features, n_labels)
        Where to start, and afterwards the solution.
    b : float32 ndarray of shape (n_labels,)
        Intercepts likewise. A label that all rows or none have keeps what it started with.
    tolerance : float, default=TOLERANCE
        Gradient at which a label has converged, relative to that of the empty model.
    weights : float32 ndarray of shape (n_samples, n_labels), either of which may be 1, default=None
        How much each entry counts in the loss; None is 1.
    fixed : bool ndarray of shape (n_features, n_labels), default=None
        Weights that stay what they are; None is none.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> X = sp.csr_array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = sp.csr_array([[0], [1], [0], [1]])
    >>> W, b = np.zeros((1, 1), np.float32), np.zeros(1, np.float32)
    >>> solve_logistic(LogisticDesign(X), Y, 1.0, W, b)
    >>> bool(W[0, 0] > 0)
    True
    """
    counts, totals = np.asarray(Y.sum(axis=0)).ravel(), Y.shape[0]
    if weights is not None:
        counts_at_all = np.broadcast_to(weights > 0, Y.shape)
        counts, totals = Y.multiply(counts_at_all).sum(axis=0), counts_at_all.sum(axis=0)
    varies = np.flatnonzero((counts > 0) & (counts < totals))
    # Labels of similar frequency take a similar number of steps.
    varies = varies[np.argsort(counts[varies], kind="stable")]
    columns = sp.csc_array(Y)
    for part in gen_batches(len(varies), _BLOCK_LABELS) if len(varies) else ():
        block = varies[part]
        targets = columns[:, block].toarray().astype(np.float32)
        place = np.ix_(design.used, block)
        start, free = (W[place], b[block]), None if fixed is None else ~fixed[place]
        entries = columns_of(weights, block)
        W[:, block] = 0
        W[place], b[block] = _solve_block(
            design, targets, np.float32(penalty), *start, tolerance, entries, free
        )


def _solve_block(design, Y, penalty, W, b, tolerance, weights, free):
    """Newton's method for a block of labels; `active` are those that have not converged.

    The gradient is that after the intercepts' own Newton step, whose length is ``−rise``.
    """
    solved_W, solved_b, active = W.copy(), b.copy(), np.arange(Y.shape[1])
    means = Y.mean(axis=0) if weights is None else _weighted_means(Y, weights)
    empty = design.gradient(_weighted(means - Y, weights))
    limit = tolerance * np.linalg.norm(empty, axis=0) + 1e-12
    Z = design.times(W) + b
    P = _expit(Z)
    for _ in range(_MAX_NEWTON_STEPS):
        curvature = _weighted(np.maximum(P * (1 - P), 1e-6), weights)
        residual, total = _weighted(P - Y, weights), _sums(curvature)
        g = _sums(residual)
        rise = g / total
        residual -= rise * curvature
        G = design.gradient(residual)
        G += penalty * W
        G = _weighted(G, free)
        size = np.sqrt(_dots(G, G) + g * g) / limit
        solved_W[:, active], solved_b[active] = W, b
        going = size > 1
        if not going.any():
            break
        if not going.all():
            active, limit, size, b = (part[going] for part in (active, limit, size, b))
            total, g, rise = (part[going] for part in (total, g, rise))
            W, Z, Y, G, curvature = (part[:, going] for part in (W, Z, Y, G, curvature))
            weights, free = columns_of(weights, going), columns_of(free, going)
        precision = np.minimum(0.8, np.sqrt(size * tolerance))
        S, s, step = _newton_direction(design, curvature, total, penalty, G, -rise, precision, free)
        t, P = _step_length(Z, step, Y, W, S, penalty, _dots(G, S) - g * rise, weights)
        W += t * S
        b += t * s
        Z += t * step
    return solved_W, solved_b


def _newton_direction(design, curvature, total, penalty, G, s, precision, free):
    """Solve ``H S = −G`` by conjugate gradients, each label to about its relative precision.

    The intercept goes along with the weights so that its own gradient stays zero. As a further
    unknown it would take half as many steps again. Weights that are not `free` do not change: `G`
    is 0 there.

    Returns
    -------
    S, s : change of weights and of intercepts
    step : ndarray of shape (n_samples, n_labels)
        Change of the logits.
    """
    S, step = np.zeros_like(G), np.zeros_like(curvature) + s
    r = -G
    p = r.copy()
    size = _dots(r, r)
    enough = precision**2 * size
    for _ in range(_MAX_CG_STEPS):
        if np.mean(size > enough) <= _NEED_MORE:
            break
        change = design.times(p)
        c = -_dots(curvature, change) / total
        change += c
        Hp = design.gradient(curvature * change)
        Hp += penalty * p
        Hp = _weighted(Hp, free)
        length = size / np.maximum(_dots(p, Hp), 1e-20)
        S += length * p
        s = s + length * c
        step += length * change
        r -= length * Hp
        size, before = _dots(r, r), size
        p *= size / np.maximum(before, 1e-20)
        p += r
    return S, s, step


def _step_length(Z, step, Y, W, S, penalty, slope, weights):
    """Halve each label's step until the loss no longer rises steeply at its end.

    The slope, unlike the loss, is not lost in rounding where the loss hardly changes any more.

    Returns
    -------
    t : ndarray of shape (n_labels,)
        Shares of the step.
    P : ndarray of shape (n_samples, n_labels)
        Probabilities after it.
    """
    t = np.ones(Z.shape[1], dtype=np.float32)
    pull, bend = penalty * _dots(W, S), penalty * _dots(S, S)
    for _ in range(_MAX_HALVINGS):
        P = _expit(Z + t * step)
        too_long = _dots(_weighted(P - Y, weights), step) + pull + t * bend > -_RISE * slope
        if not too_long.any():
            break
        t[too_long] /= 2
    else:
        P = _expit(Z + t * step)
    return t, P


def _expit(Z):
    """Logistic function; scipy's own takes seven times as long as the hyperbolic tangent."""
    P = np.tanh(Z / 2)
    P += 1
    P /= 2
    return P


def _sums(A):
    """Sum of each column."""
    return np.ones(len(A), A.dtype) @ A


def _dots(A, B):
    """Scalar product of each column of `A` with that of `B`."""
    return np.einsum("ij,ij->j", A, B)


def _weighted(values, weights):
    """Values times their weights; None is 1."""
    return values if weights is None else values * weights


def _weighted_means(Y, weights):
    """Weighted mean of each column."""
    return (weights * Y).sum(axis=0) / np.broadcast_to(weights, Y.shape).sum(axis=0)


def columns_of(weights, chosen):
    """Weights of some labels; they may be the same for all, or None."""
    return weights if weights is None or weights.shape[1] == 1 else weights[:, chosen]
