"""Logistic regressions of many labels on the same rows, solved together by Newton's method.

The labels share the design matrix, so each step of all of them is two matrix products, and a label
leaves the computation as soon as it has converged. Intercepts are free: a penalty on them would
push every rare label's probability towards one half. Knows numpy, scipy and blocks of rows.
"""

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from sklearn_mrmp._numerics.rows import row_blocks

# A design matrix with a larger share of non-zeros is multiplied as a dense one, which is faster.
_DENSE_FROM = 0.05
_MAX_NEWTON_STEPS = 15
_MAX_CG_STEPS = 12
_MAX_HALVINGS = 6
# A label has converged when its gradient is this small relative to that of the empty model: its
# logits are then those of the minimum but for a few hundredths, whatever the rounding on the way.
_TOLERANCE = 1e-3
_SUFFICIENT_DECREASE = 1e-4


class LogisticDesign:
    """Rows of a matrix, ready for products from both sides.

    Parameters
    ----------
    X : csr_array of shape (n_samples, n_features)
        Rows.
    """

    def __init__(self, X):
        X = X.astype(np.float32)
        self.shape = X.shape
        if X.nnz > _DENSE_FROM * X.shape[0] * X.shape[1]:
            self.rows = X.toarray()
            self.columns = self.rows.T
        else:
            self.rows = X
            self.columns = sp.csr_array(X.T)

    def times(self, W, b):
        """Logits ``X W + b``."""
        return self.rows @ W + b

    def gradient(self, R):
        """Gradient of weights and intercepts for residuals `R` (n_samples, n_labels)."""
        return self.columns @ R, R.sum(axis=0)


def frequency_intercepts(Y):
    """Return the intercepts of a model without features: logits of smoothed label frequencies."""
    counts = np.asarray(Y.sum(axis=0), dtype=np.float64).ravel()
    return np.log((counts + 0.5) / (Y.shape[0] - counts + 0.5)).astype(np.float32)


def log_loss(Z, Y):
    """Sum over all entries of the log loss of logits `Z`, an ndarray, for sparse 0/1 labels `Y`."""
    return np.logaddexp(0, Z).sum(dtype=np.float64) - Y.multiply(Z).sum()


def solve_logistic(design, Y, penalty, W, b):
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
    counts = np.asarray(Y.sum(axis=0)).ravel()
    varies = np.flatnonzero((counts > 0) & (counts < Y.shape[0]))
    columns = sp.csc_array(Y)
    for part in row_blocks(len(varies), max(design.shape)):
        block = varies[part]
        targets = columns[:, block].toarray().astype(np.float32)
        W[:, block], b[block] = _solve_block(
            design, targets, np.float32(penalty), W[:, block], b[block]
        )


def _solve_block(design, Y, penalty, W, b):
    """Newton's method for a block of labels; `active` are those that have not converged."""
    Z = design.times(W, b)
    scale = np.linalg.norm(design.gradient(Y.mean(axis=0) - Y)[0], axis=0) + 1e-12
    active = np.arange(Y.shape[1])
    for _ in range(_MAX_NEWTON_STEPS):
        P = expit(Z[:, active])
        G, g = design.gradient(P - Y[:, active])
        G += penalty * W[:, active]
        size = np.sqrt((G * G).sum(axis=0) + g * g) / scale[active]
        open_ = size > _TOLERANCE
        if not open_.any():
            break
        active, P, G, g = active[open_], P[:, open_], G[:, open_], g[open_]
        curvature = np.maximum(P * (1 - P), 1e-6)
        precision = np.minimum(0.5, np.sqrt(size[open_])) / 2
        S, s, step = _newton_direction(design, curvature, penalty, G, g, precision)
        slope = (G * S).sum(axis=0) + g * s
        t = _step_length(Z[:, active], step, Y[:, active], W[:, active], S, penalty, slope)
        W[:, active] += t * S
        b[active] += t * s
        Z[:, active] += t * step
    return W, b


def _newton_direction(design, curvature, penalty, G, g, precision):
    """Solve ``H S = −G`` by conjugate gradients, each label to its own relative precision.

    Returns
    -------
    S, s : change of weights and of intercepts
    step : ndarray of shape (n_samples, n_labels)
        Change of the logits.
    """
    S, s = np.zeros_like(G), np.zeros_like(g)
    step = np.zeros_like(curvature)
    r, q = -G, -g
    p, c = r, q
    size = (r * r).sum(axis=0) + q * q
    enough = precision**2 * size
    for _ in range(_MAX_CG_STEPS):
        going = size > enough
        if not going.any():
            break
        change = design.times(p, c)
        Hp, Hc = design.gradient(curvature * change)
        Hp += penalty * p
        along = (p * Hp).sum(axis=0) + c * Hc
        length = np.where(going, size / np.maximum(along, 1e-20), 0).astype(np.float32)
        S, s, step = S + length * p, s + length * c, step + length * change
        r, q = r - length * Hp, q - length * Hc
        new_size = np.where(going, (r * r).sum(axis=0) + q * q, size)
        ratio = (new_size / np.maximum(size, 1e-20)).astype(np.float32)
        p, c, size = r + ratio * p, q + ratio * c, new_size
    return S, s, step


def _step_length(Z, step, Y, W, S, penalty, slope):
    """Halve each label's step until its loss falls; logits are linear in it, so this is cheap."""
    t = np.ones(Z.shape[1], dtype=np.float32)
    start = _loss(Z, Y, W, penalty)
    for _ in range(_MAX_HALVINGS):
        loss = _loss(Z + t * step, Y, W + t * S, penalty)
        too_long = loss > start + _SUFFICIENT_DECREASE * t * slope
        if not too_long.any():
            break
        t[too_long] /= 2
    return t


def _loss(Z, Y, W, penalty):
    return (np.logaddexp(0, Z) - Y * Z).sum(axis=0) + penalty / 2 * (W * W).sum(axis=0)
