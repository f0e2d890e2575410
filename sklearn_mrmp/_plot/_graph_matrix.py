"""Drawing a label graph as a heat map, for hundreds of labels.

Knows matplotlib objects it is handed; the numbers come from `_graph_selection`.
"""

import numpy as np
from scipy.cluster.hierarchy import fcluster

from sklearn_mrmp._host.optional import import_optional
from sklearn_mrmp._plot._graph_selection import cluster_order, cluster_tree, signed_association

_NAMED_LABELS = 60  # more names than that cannot be read along an axis
_MOST_CLUSTERS = 200
_N_PUSHERS = 12
_SMALLEST_NAMED = 0.022  # share of the axis that a line of text needs


def draw_matrix(ax, graph, relations):
    """Draw the signed associations, labels ordered by clustering; return the image.

    Parameters
    ----------
    ax : matplotlib Axes
        Where to draw.
    graph : LabelGraph
        The labels to draw.
    relations : list of str
        The relations to draw; ``"pushing"`` counts negative.

    Returns
    -------
    image : matplotlib AxesImage
        The heat map, source labels along the rows.
    """
    colors = import_optional("matplotlib.colors", "plot")
    signed = signed_association(graph, relations)
    tree = cluster_tree(signed)
    order = cluster_order(tree, graph.n_labels)
    low, high = _limits(signed)
    norm = colors.TwoSlopeNorm(0.0, vmin=low, vmax=high)
    image = ax.imshow(signed[np.ix_(order, order)], cmap="PiYG", norm=norm)
    if graph.n_labels <= _NAMED_LABELS:
        _name_all(ax, graph.label_names[order])
    else:
        _name_clusters(ax, graph, tree, order)
        _name_pushers(ax, graph.label_names, signed, order)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.6, pad=0.02, extend="both")
    bar.set_ticks([low, low / 2, 0, high / 2, high], labels=_tick_texts(low, high))
    bar.set_label("push  ←  association  →  pull" if "pushing" in relations else "association")
    return image


def _tick_texts(low, high):
    return [f"{value:+.2f}" for value in (low, low / 2, 0, high / 2, high)]


def _limits(signed):
    """Colour limits on both sides of 0: most entries in range, a few extreme ones saturated."""
    low, high = signed[signed < 0], signed[signed > 0]
    return (
        float(np.percentile(low, 2)) if low.size else -1.0,
        float(np.percentile(high, 98)) if high.size else 1.0,
    )


def _name_all(ax, names):
    ticks = np.arange(len(names))
    ax.set_xticks(ticks, names, rotation=90, fontsize=8)
    ax.set_yticks(ticks, names, fontsize=8)


def _name_clusters(ax, graph, tree, order):
    """Frame clusters and name each by its most frequent labels."""
    patches = import_optional("matplotlib.patches", "plot")
    importance = graph.degree() if graph.counts is None else graph.counts
    ticks, names = [], []
    for start, stop in _named_clusters(tree, order):
        members = order[start:stop]
        top = members[np.argsort(-importance[members], kind="stable")[:3]]
        ticks.append((start + stop - 1) / 2)
        names.append(", ".join(graph.label_names[top]))
        corner, side = (start - 0.5, start - 0.5), stop - start
        ax.add_patch(patches.Rectangle(corner, side, side, fill=False, linewidth=0.8))
    ax.set_yticks(ticks, names, fontsize=8)


def _name_pushers(ax, names, signed, order):
    """Name the columns of the labels that push most, as far as the names have room."""
    push = -np.minimum(signed, 0).sum(axis=0)[order]
    positions = []
    for position in np.argsort(-push, kind="stable"):
        if len(positions) == _N_PUSHERS or push[position] == 0:
            break
        if all(abs(position - other) >= _SMALLEST_NAMED * len(order) for other in positions):
            positions.append(int(position))
    ax.set_xticks(positions, names[order[positions]], rotation=90, fontsize=8)


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
