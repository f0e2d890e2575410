"""Drawing a label graph as nodes and edges on a matplotlib axes.

Knows matplotlib objects it is handed, and networkx for the spring layout; the choice of labels and
edges is made in `_graph_selection`.
"""

from collections.abc import Mapping

import numpy as np

from sklearn_mrmp._graph.relation_style import relation_styles
from sklearn_mrmp._host.optional import import_optional
from sklearn_mrmp._plot._graph_selection import (
    association,
    cluster_order,
    cluster_tree,
    edge_widths,
    signed_association,
)
from sklearn_mrmp._plot._text import PLAIN, set_plain

# Of the axes' side: so many labels, of so many letters in a name, have room at the usual size.
_LABELS_PER_INCH, _LETTERS_PER_INCH = 7, 3.4


def node_positions(graph, relations, layout):
    """Positions of the labels, (n_labels, 2), within about the unit circle.

    Parameters
    ----------
    graph : LabelGraph
        The labels to place.
    relations : list of str
        Relations that count; pushing ones keep labels apart.
    layout : {"circular", "spring"}, mapping of label name to (x, y), or callable
        A callable takes the graph and returns such a mapping.

    Returns
    -------
    positions : ndarray of shape (n_labels, 2)
    """
    if callable(layout):
        layout = layout(graph)
    if isinstance(layout, Mapping):
        missing = [name for name in graph.label_names if name not in layout]
        if missing:
            raise ValueError(f"layout has no position for {', '.join(map(repr, missing[:5]))}.")
        return np.array([layout[name] for name in graph.label_names], dtype=float)
    if layout == "circular":
        return _circle(graph, relations)
    if layout == "spring":
        return _springs(graph, relations)
    raise ValueError(
        f"layout must be 'circular', 'spring', a mapping or a callable, got {layout!r}."
    )


def _circle(graph, relations):
    """Labels on a circle, clockwise from the top, clusters side by side."""
    signed = signed_association(graph, relations)
    order = cluster_order(cluster_tree(signed), graph.n_labels)
    angle = np.empty(graph.n_labels)
    angle[order] = np.pi / 2 - 2 * np.pi * np.arange(graph.n_labels) / graph.n_labels
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _springs(graph, relations):
    """Springs along all relations but pushing; gravity keeps unconnected labels near."""
    nx = import_optional("networkx", "plot")
    n_labels = graph.n_labels
    weights = np.full((n_labels, n_labels), 0.02)
    for name in relations:
        if name != "pushing":
            A = association(graph, name).toarray()
            weights += np.maximum(A, A.T)
    np.fill_diagonal(weights, 0)
    network = nx.from_numpy_array(weights)
    places = nx.spring_layout(
        network, k=2.2 / np.sqrt(max(n_labels, 1)), iterations=300, seed=0, weight="weight"
    )
    return np.array([places[node] for node in range(n_labels)]).reshape(n_labels, 2)


def node_sizes(graph):
    """Marker areas in square points: grow with the label's frequency, never too small to see."""
    if graph.counts is None or not graph.counts.max(initial=0):
        return np.full(graph.n_labels, 60.0)
    return 18 + 380 * graph.counts / graph.counts.max()


def draw_network(ax, graph, edges, positions, names, *, radial_names):
    """Draw edges, nodes and names; return the artists of the edges.

    Parameters
    ----------
    ax : matplotlib Axes
        Where to draw.
    graph : LabelGraph
        The labels that are drawn.
    edges : list of DrawnEdges
        Their edges.
    positions : ndarray of shape (n_labels, 2)
        Where the labels are.
    names : list of str
        What to write beside the labels.
    radial_names : bool
        Write names outwards, as spokes of a wheel; else above the nodes.

    Returns
    -------
    arrows : list of FancyArrowPatch
        One per edge.
    """
    ax.set_axis_off()
    _settle_layout(ax)
    zoom = _zoom(ax, names)
    sizes = node_sizes(graph) * zoom**2
    styles = relation_styles([drawn.relation for drawn in edges])
    arrows = []
    for drawn, widths in zip(edges, edge_widths(edges), strict=True):
        style = styles[drawn.relation]
        arrows += _draw_edges(ax, drawn, widths, positions, sizes, style, radial_names)
    ax.scatter(*positions.T, s=sizes, color="#f2e2b8", edgecolor="#333333", linewidth=0.8, zorder=3)
    legend = _draw_legend(ax, edges, styles, 9 * zoom)
    texts = _draw_names(ax, names, positions, sizes, radial_names, 9 * zoom)
    fit_names(ax, positions, sizes, texts, legend)
    return arrows


def _settle_layout(ax):
    """Let the figure give the axes its final place, which names and legend are then fitted to."""
    figure = ax.figure.figure  # of a subfigure the whole one
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)


def _zoom(ax, names):
    """How much smaller nodes and letters are drawn where labels have less than usual room."""
    box = ax.get_window_extent()
    inches = min(box.width, box.height) / ax.figure.figure.dpi
    crowd = np.sqrt(_LABELS_PER_INCH * inches / max(len(names), 1))
    length = _LETTERS_PER_INCH * inches / max(map(len, names), default=1)
    return float(np.clip(min(crowd, length), 0.6, 1.0))


def fit_names(ax, positions, sizes, texts, legend):
    """Set the limits of the axes such that nodes and names end above the legend and at no edge.

    Parameters
    ----------
    ax : matplotlib Axes
        Where nodes and names are drawn.
    positions : ndarray of shape (n_labels, 2)
        Where the labels are.
    sizes : ndarray of shape (n_labels,)
        Areas of the nodes, in square points.
    texts : list of matplotlib Text
        Their names.
    legend : matplotlib Legend
        At the lower edge of the axes.
    """
    low, high = positions.min(axis=0), positions.max(axis=0)
    ax.set(xlim=(low[0] - 1, high[0] + 1), ylim=(low[1] - 1, high[1] + 1))  # all are visible
    box, pixels = ax.get_window_extent(), ax.transData.transform(positions)
    gap = ax.figure.figure.dpi / 15  # about five points
    bottom = legend.get_window_extent().y1 - box.y0 + gap
    room = np.array([box.width - gap, box.height - bottom - gap])
    reach = np.array([text.get_window_extent().extents for text in texts]).reshape(-1, 2, 2)
    radius = (np.sqrt(sizes) / 2 * ax.figure.figure.dpi / 72 + 2)[:, None]
    before = np.minimum(reach[:, 0] - pixels, -radius)  # from the node to the left and lower end
    after = np.maximum(reach[:, 1] - pixels, radius)
    scale = _largest_scale(positions, before, after, room)
    start, stop = (positions * scale + before).min(axis=0), (positions * scale + after).max(axis=0)
    (x0, y0) = ((start + stop - room) / 2 - [gap / 2, bottom]) / scale
    ax.set(xlim=(x0, x0 + box.width / scale), ylim=(y0, y0 + box.height / scale), aspect="equal")


def _largest_scale(positions, before, after, room):
    """Pixels per unit at which all nodes with their names fit into the room, by bisection.

    Where names alone are longer than the room, an eighth of what the nodes could have.
    """
    spread = np.ptp(positions, axis=0)
    high = np.min(room / np.maximum(spread, 1e-9 + spread.max() / 100)) if spread.max() else 1.0
    low = high / 8
    for _ in range(30):
        middle = (low + high) / 2
        reach = (positions * middle + after).max(axis=0) - (positions * middle + before).min(axis=0)
        low, high = (middle, high) if (reach <= room).all() else (low, middle)
    return low


def _draw_edges(ax, drawn, widths, positions, sizes, style, bend_inwards):
    patches = import_optional("matplotlib.patches", "plot")
    color, dashes = style
    below = 0.0 if drawn.relation == "pushing" else 1.0  # many pushes must not hide the pulls
    for i, j, width in zip(drawn.source, drawn.target, widths, strict=True):
        bend = _inward_bend(positions[i], positions[j]) if bend_inwards else 0.0
        arrow = patches.FancyArrowPatch(
            positions[i],
            positions[j],
            arrowstyle="-|>" if drawn.directed else "-",
            mutation_scale=6 + 6 * width,
            connectionstyle=f"arc3,rad={bend + (0.08 if drawn.directed else 0.0):.3f}",
            shrinkA=np.sqrt(sizes[i]) / 2,
            shrinkB=np.sqrt(sizes[j]) / 2,
            color=color,
            linestyle=dashes,
            linewidth=0.5 + 3.0 * width,
            alpha=0.25 + 0.65 * width,
            zorder=below + width,
        )
        yield ax.add_patch(arrow)


def _inward_bend(start, end):
    """Bend that carries a chord of the unit circle towards its centre, more when it is short."""
    side = start[0] * end[1] - start[1] * end[0]
    return float(np.sign(side) * -0.45 * (1 - np.linalg.norm(end - start) / 2))


def _draw_names(ax, names, positions, sizes, radial, fontsize):
    """Write the names beyond or above the nodes; return the texts."""
    style = {"textcoords": "offset points", "fontsize": fontsize, "zorder": 5, **PLAIN}
    texts = []
    for name, (x, y), size in zip(names, positions, sizes, strict=True):
        distance = np.sqrt(size) / 2 + 3
        if not radial:
            box = {"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.65}
            place = {"xytext": (0, distance), "ha": "center", "va": "bottom", "bbox": box}
        else:
            angle = np.degrees(np.arctan2(y, x))
            left = abs(angle) > 90 + 1e-6
            place = {
                "xytext": distance * np.array([x, y]) / max(np.hypot(x, y), 1e-12),
                "rotation": angle - 180 if left else angle,
                "rotation_mode": "anchor",
                "ha": "right" if left else "left",
                "va": "center",
            }
        texts.append(ax.annotate(name, (x, y), **place, **style))
    return texts


def _draw_legend(ax, edges, styles, fontsize):
    """Explain the relations at the lower edge of the axes; return the legend."""
    lines = import_optional("matplotlib.lines", "plot")
    handles = []
    for drawn in edges:
        color, dashes = styles[drawn.relation]
        shown = len(drawn.source)
        kind = "edges" if drawn.directed else "pairs"
        text = f"{drawn.relation}: {shown} {kind}"
        if drawn.n_hidden:
            text = f"{drawn.relation}: {shown} strongest of {shown + drawn.n_hidden} {kind}"
        handles.append(lines.Line2D([], [], color=color, linestyle=dashes, linewidth=2, label=text))
    for n_columns in (len(handles), 1):
        legend = ax.legend(
            handles=handles, loc="lower center", bbox_to_anchor=(0.5, 0), borderaxespad=0.0,
            ncols=n_columns, frameon=False, fontsize=fontsize,
        )  # fmt: skip
        set_plain(legend.get_texts())
        if legend.get_window_extent().width <= ax.get_window_extent().width:
            break
    return legend
