"""Logistic regressions of many labels on the same rows, solved together by Newton's method.

The labels share the design matrix, so each step of many of them is two matrix products, and a label
leaves the computation as soon as it has converged. Intercepts are free: a penalty on them would
push every rare label's probability towards one half. Knows numpy, scipy, scikit-learn's batches and
weights of entries.
"""

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.utils import gen_batches

from sklearn_mrmp._numerics.entry_weights import label_totals

# A design matrix with a larger share of non-zeros is multiplied as a dense one, which is faster.
_DENSE_FROM = 0.05
# Labels solved together: enough to share the reading of the rows, few enough for the caches.
_BLOCK_LABELS = 32
_MAX_NEWTON_STEPS = 15
_MAX_CG_STEPS = 12
_MAX_HALVINGS = 6
# A label has converged when its gradient is this small relative to that of the empty model: its
# logits are then those of the minimum but for a few hundredths, whatever the rounding on the way.
TOLERANCE = 1e-3
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
        X = X.astype(np.float32)
        # No row says anything about the other features, and their weights are zero.
        self.used = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))
        if len(self.used) < X.shape[1]:
            X = X[:, self.used]
        self.shape = X.shape
        self.rows = X.toarray() if X.nnz > _DENSE_FROM * X.shape[0] * X.shape[1] else X

    def times(self, W, b):
        """Logits ``X W + b``."""
        Z = self.rows @ W
        Z += b
        return Z

    def gradient(self, R):
        """Gradient of weights and intercepts for residuals `R` (n_samples, n_labels)."""
        return self.rows.T @ R, R.sum(axis=0)


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
        W[:, block] = 0
        W[place], b[block] = _solve_block(
            design, targets, np.float32(penalty), *start, tolerance, _columns(weights, block), free
        )


def _solve_block(design, Y, penalty, W, b, tolerance, weights, free):
    """Newton's method for a block of labels; `active` are those that have not converged."""
    solved_W, solved_b, active = W.copy(), b.copy(), np.arange(Y.shape[1])
    means = Y.mean(axis=0) if weights is None else _weighted_means(Y, weights)
    empty = design.gradient(_weighted(means - Y, weights))[0]
    limit = tolerance * np.linalg.norm(empty, axis=0) + 1e-12
    Z = design.times(W, b)
    P = expit(Z)
    for _ in range(_MAX_NEWTON_STEPS):
        G, g = design.gradient(_weighted(P - Y, weights))
        G += penalty * W
        G = _weighted(G, free)
        size = np.sqrt(_dots(G, G) + g * g) / limit
        solved_W[:, active], solved_b[active] = W, b
        going = size > 1
        if not going.any():
            break
        if not going.all():
            active, limit, size, b, g = (part[going] for part in (active, limit, size, b, g))
            W, Z, P, Y, G = (part[:, going] for part in (W, Z, P, Y, G))
            weights, free = _columns(weights, going), _columns(free, going)
        curvature = _weighted(np.maximum(P * (1 - P), 1e-6), weights)
        precision = np.minimum(0.5, np.sqrt(size * tolerance)) / 2
        S, s, step = _newton_direction(design, curvature, penalty, G, g, precision, free)
        t, P = _step_length(Z, step, Y, W, S, penalty, _dots(G, S) + g * s, weights)
        W += t * S
        b += t * s
        Z += t * step
    return solved_W, solved_b


def _newton_direction(design, curvature, penalty, G, g, precision, free):
    """Solve ``H S = −G`` by conjugate gradients, each label to its own relative precision.

    Weights that are not `free` do not change: `G` is 0 there.

    Returns
    -------
    S, s : change of weights and of intercepts
    step : ndarray of shape (n_samples, n_labels)
        Change of the logits.
    """
    S, s = np.zeros_like(G), np.zeros_like(g)
    step = np.zeros_like(curvature)
    r, q = -G, -g
    p, c = r.copy(), q
    size = _dots(r, r) + q * q
    enough = precision**2 * size
    for _ in range(_MAX_CG_STEPS):
        going = size > enough
        if not going.any():
            break
        change = design.times(p, c)
        Hp, Hc = design.gradient(curvature * change)
        Hp += penalty * p
        Hp = _weighted(Hp, free)
        along = _dots(p, Hp) + c * Hc
        length = np.where(going, size / np.maximum(along, 1e-20), 0).astype(np.float32)
        S += length * p
        s += length * c
        step += length * change
        r -= length * Hp
        q = q - length * Hc
        new_size = np.where(going, _dots(r, r) + q * q, size)
        ratio = (new_size / np.maximum(size, 1e-20)).astype(np.float32)
        p *= ratio
        p += r
        c, size = q + ratio * c, new_size
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
        P = expit(Z + t * step)
        too_long = _dots(_weighted(P - Y, weights), step) + pull + t * bend > -_RISE * slope
        if not too_long.any():
            break
        t[too_long] /= 2
    else:
        P = expit(Z + t * step)
    return t, P


def _dots(A, B):
    """Scalar product of each column of `A` with that of `B`."""
    return np.einsum("ij,ij->j", A, B)


def _weighted(values, weights):
    """Values times their weights; None is 1."""
    return values if weights is None else values * weights


def _weighted_means(Y, weights):
    """Weighted mean of each column."""
    return (weights * Y).sum(axis=0) / np.broadcast_to(weights, Y.shape).sum(axis=0)


def _columns(weights, chosen):
    """Weights of some labels; they may be the same for all, or None."""
    return weights if weights is None or weights.shape[1] == 1 else weights[:, chosen]
