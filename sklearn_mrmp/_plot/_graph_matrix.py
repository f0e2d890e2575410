"""Drawing a label graph as a heat map, for hundreds of labels.

Knows matplotlib objects it is handed; the numbers come from `_graph_selection`.
"""

import numpy as np
from scipy.cluster.hierarchy import fcluster

from sklearn_mrmp._graph.relation_style import SIGNED_COLORS
from sklearn_mrmp._host.optional import import_optional
from sklearn_mrmp._plot._graph_selection import cluster_order, cluster_tree, signed_association
from sklearn_mrmp._plot._text import PLAIN, shorten

_NAMED_LABELS = 60  # more names than that cannot be read along an axis
_LARGE_NAMES = 45  # of those, as many as fit in letters of the usual size
_ROUND = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)
_MOST_CLUSTERS = 200
_N_PUSHERS = 12
_SMALLEST_NAMED = 0.022  # share of the axis that a line of text needs


def draw_matrix(ax, graph, relations, max_name_length):
    """Draw the signed associations, labels ordered by clustering; return the image.

    Parameters
    ----------
    ax : matplotlib Axes
        Where to draw.
    graph : LabelGraph
        The labels to draw.
    relations : list of str
        The relations to draw; ``"pushing"`` counts negative.
    max_name_length : int or None
        Longer names are shortened.

    Returns
    -------
    image : matplotlib AxesImage
        The heat map, source labels along the rows.
    """
    colors = import_optional("matplotlib.colors", "plot")
    signed = signed_association(graph, relations)
    tree = cluster_tree(signed)
    order = cluster_order(tree, graph.n_labels)
    limit = color_limit(signed)
    norm = colors.FuncNorm((_signed_root, _signed_square), vmin=-limit, vmax=limit)
    image = ax.imshow(signed[np.ix_(order, order)], cmap=SIGNED_COLORS, norm=norm)
    names = np.array([shorten(name, max_name_length) for name in graph.label_names], dtype=object)
    if graph.n_labels <= _NAMED_LABELS:
        _name_all(ax, names[order])
    else:
        _name_clusters(ax, graph, names, tree, order, max_name_length)
        _name_pushers(ax, names, signed, order)
    _draw_color_bar(image, signed, limit, _unit(graph, relations), relations)
    return image


def _signed_root(values):
    """Scale of the colours: equal strengths look alike on both sides, and weak ones are seen."""
    return np.sign(values) * np.sqrt(np.abs(values))


def _signed_square(values):
    return np.sign(values) * np.square(values)


def color_limit(signed):
    """Return the strength at which colours end, on both sides of 0; a few entries are beyond it.

    Parameters
    ----------
    signed : ndarray
        Associations, negative for pushing.

    Returns
    -------
    limit : float
        Rounded up, for ticks that can be read.
    """
    sides = (signed[signed > 0], -signed[signed < 0])
    largest = max((np.percentile(side, 98) for side in sides if side.size), default=1.0)
    digit = 10.0 ** np.floor(np.log10(largest))
    return float(next(step for step in _ROUND if step * digit >= largest * (1 - 1e-9)) * digit)


def _unit(graph, relations):
    """Say what the numbers are: phi coefficients where counts are known, else weights."""
    known = [name in (graph.statistic or {}) for name in relations]
    if all(known):
        return "phi coefficient (correlation of two labels)"
    return "phi coefficient, or weight" if any(known) else "edge weight"


def _draw_color_bar(image, signed, limit, unit, relations):
    """Draw the sides of the scale that the relations use, with the unit."""
    beyond = (signed.min(initial=0) < -limit, signed.max(initial=0) > limit)
    extend = {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[beyond]
    bar = image.axes.figure.colorbar(image, ax=image.axes, shrink=0.75, pad=0.02, extend=extend)
    ticks = limit * np.array([-1, -0.4, -0.1, 0, 0.1, 0.4, 1])
    bar.set_ticks(ticks, labels=[f"{value:+.2g}" if value else "0" for value in ticks])
    others = [shorten(name, 24) for name in relations if name != "pushing"]
    pushing = "pushing" in relations
    bar.ax.set_ylim(-limit if pushing else 0, limit if others else 0)
    low, high = "pushing  ←  " if pushing else "", "  →  " if others else ""
    bar.set_label(f"{low}{unit}{high}{', '.join(others)}", fontsize=9, **PLAIN)


def _name_all(ax, names):
    ticks, fontsize = np.arange(len(names)), 8 if len(names) <= _LARGE_NAMES else 6
    ax.set_xticks(ticks, names, rotation=90, fontsize=fontsize, **PLAIN)
    ax.set_yticks(ticks, names, fontsize=fontsize, **PLAIN)


def _name_clusters(ax, graph, names, tree, order, max_name_length):
    """Frame clusters and name each by its most frequent labels."""
    patches = import_optional("matplotlib.patches", "plot")
    importance = graph.degree() if graph.counts is None else graph.counts
    ticks, titles = [], []
    for start, stop in _named_clusters(tree, order):
        members = order[start:stop]
        top = members[np.argsort(-importance[members], kind="stable")[:3]]
        ticks.append((start + stop - 1) / 2)
        titles.append(_join(names[top], max_name_length))
        corner, side = (start - 0.5, start - 0.5), stop - start
        ax.add_patch(patches.Rectangle(corner, side, side, fill=False, linewidth=0.8))
    ax.set_yticks(ticks, titles, fontsize=8, **PLAIN)


def _join(names, max_name_length):
    """As many of the names as have the room of two long ones, at least one."""
    text = names[0]
    for name in names[1:]:
        longer = f"{text}, {name}"
        if max_name_length is not None and len(longer) > 2 * max_name_length:
            break
        text = longer
    return text


def _name_pushers(ax, names, signed, order):
    """Name the columns of the labels that push most, as far as the names have room."""
    push = -np.minimum(signed, 0).sum(axis=0)[order]
    positions = []
    for position in np.argsort(-push, kind="stable"):
        if len(positions) == _N_PUSHERS or push[position] == 0:
            break
        if all(abs(position - other) >= _SMALLEST_NAMED * len(order) for other in positions):
            positions.append(int(position))
    ax.set_xticks(positions, names[order[positions]], rotation=90, fontsize=8, **PLAIN)


def _named_clusters(tree, order):
    """(start, stop) of clusters along `order`, cut where most of them have room for a name."""
    best = []
    for n_clusters in range(2, min(len(order) // 2, _MOST_CLUSTERS) + 1):
        cluster = fcluster(tree, n_clusters, criterion="maxclust")[order]
        starts = np.flatnonzero(np.diff(cluster, prepend=-1))
        stops = np.append(starts[1:], len(order))
        roomy = stops - starts >= _SMALLEST_NAMED * len(order)
        if roomy.sum() > len(best):
            best = list(zip(starts[roomy].tolist(), stops[roomy].tolist(), strict=True))
    return best
