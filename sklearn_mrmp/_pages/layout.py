"""Where the labels of a graph are drawn: linked labels near each other, all apart.

Fruchterman and Reingold's forces (1991), with a pull to the middle that keeps unlinked parts in
sight, on arrays. Nothing is random: equal graphs are drawn alike. Knows numpy and scipy.
"""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee

# Pairs of labels whose distances are computed in all, which takes a second or two.
_WORK = 1e8
_STEPS = (40, 300)  # fewest and most
# Distances held at once: few enough for a processor's cache.
_BLOCK = 2**17
# Squares of distances are not taken for smaller, lest nodes fly away.
_NEAREST = np.float32(0.01)
# Unlinked nodes fill a disc in which each has about pi / _GRAVITY of room.
_GRAVITY = np.float32(0.5)


def force_layout(n_nodes, source, target, strength):
    """Positions of nodes in the plane.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    source, target : ndarray of int of shape (n_links,)
        The links, each once.
    strength : ndarray of shape (n_links,)
        How strongly the ends attract each other, from 0 to 1.

    Returns
    -------
    positions : ndarray of shape (n_nodes, 2), float32
        Inside the circle of radius 1 around 0.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp._pages.layout import force_layout
    >>> places = force_layout(3, np.array([0]), np.array([1]), np.array([1.0]))
    >>> near, far = (np.hypot(*(places[0] - places[k])) for k in (1, 2))
    >>> bool(near < far)
    True
    """
    places = _spiral(n_nodes, source, target)
    if n_nodes < 2:
        return np.zeros((n_nodes, 2), dtype=np.float32)
    n_steps = int(np.clip(_WORK / n_nodes**2, *_STEPS))
    pull = np.sqrt(np.asarray(strength, dtype=np.float32))[:, None]
    for reach in np.geomspace(1.0 + 0.1 * np.sqrt(n_nodes), 0.05, n_steps, dtype=np.float32):
        force = _repulsion(places) - _GRAVITY * places
        apart = places[source] - places[target]
        spring = apart * np.sqrt((apart**2).sum(axis=1, keepdims=True)) * pull
        for axis in (0, 1):
            force[:, axis] -= np.bincount(source, spring[:, axis], minlength=n_nodes)
            force[:, axis] += np.bincount(target, spring[:, axis], minlength=n_nodes)
        size = np.sqrt((force**2).sum(axis=1, keepdims=True)) + 1e-9
        places = places + force * np.minimum(reach / size, 1.0)
    return _in_circle(places - places.mean(axis=0))


def _in_circle(places):
    """Spread places over the circle: crowds in the middle get room, outliers come nearer."""
    radius = np.sqrt((places**2).sum(axis=1)) + 1e-9
    even = np.sqrt((np.argsort(np.argsort(radius, kind="stable")) + 1) / len(places))
    usual = np.log1p(radius / np.median(radius))
    usual /= usual.max()
    return (places * ((0.5 * even + 0.5 * usual) / radius)[:, None]).astype(np.float32)


def _spiral(n_nodes, source, target):
    """Return a start: along a spiral, in an order in which linked nodes are close."""
    ones = np.ones(2 * len(source), dtype=np.int8)
    ends = np.concatenate([source, target]), np.concatenate([target, source])
    links = sp.csr_array((ones, ends), shape=(n_nodes, n_nodes))
    rank = np.empty(n_nodes)
    rank[reverse_cuthill_mckee(links, symmetric_mode=True)] = np.arange(n_nodes)
    angle, radius = rank * (np.pi * (3 - np.sqrt(5))), np.sqrt(rank + 0.5)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).astype(np.float32)


def _repulsion(places):
    """Every node pushes every other by one over their distance."""
    force, squares = np.empty_like(places), (places**2).sum(axis=1)
    block = max(1, _BLOCK // len(places))
    for start in range(0, len(places), block):
        some = places[start : start + block]
        # |a - b|² as |a|² + |b|² - 2ab, a product of matrices
        distance = some @ (-2 * places.T) + squares + squares[start : start + block, None]
        inverse = 1.0 / np.maximum(distance, _NEAREST)
        force[start : start + block] = some * inverse.sum(axis=1, keepdims=True) - inverse @ places
    return force
