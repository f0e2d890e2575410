"""Drawing a label graph as nodes and edges on a matplotlib axes.

Knows matplotlib objects it is handed, and networkx for the spring layout; the choice of labels and
edges is made in `_graph_selection`.
"""

from collections.abc import Mapping

import numpy as np

from sklearn_mrmp._host.optional import import_optional
from sklearn_mrmp._plot._graph_selection import (
    association,
    cluster_order,
    cluster_tree,
    edge_widths,
    signed_association,
)

# Dark green and red differ in lightness too, and no two relations share a line style.
STYLES = {"pulling": ("#117733", "solid"), "pushing": ("#d62f27", (0, (4, 2)))}
_OTHER_STYLES = [
    ("#3366bb", (0, (6, 1, 1, 1))),
    ("#aa4499", (0, (1, 1))),
    ("#b8860b", (0, (8, 2, 2, 2, 2, 2))),
    ("#555555", (0, (3, 3))),
]


def relation_styles(relations):
    """Colour and line style of each relation: green pulling, red dashed pushing, others apart."""
    others = [name for name in relations if name not in STYLES]
    styles = dict(STYLES)
    for position, name in enumerate(others):
        styles[name] = _OTHER_STYLES[position % len(_OTHER_STYLES)]
    return {name: styles[name] for name in relations}


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
    """Marker areas: in proportion to the label's frequency, never too small to see."""
    if graph.counts is None or not graph.counts.max(initial=0):
        return np.full(graph.n_labels, 60.0)
    return 18 + 380 * graph.counts / graph.counts.max()


def draw_network(ax, graph, edges, positions, *, radial_names):
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
    radial_names : bool
        Write names outwards, as spokes of a wheel; else above the nodes.

    Returns
    -------
    arrows : list of FancyArrowPatch
        One per edge.
    """
    sizes = node_sizes(graph)
    styles = relation_styles([drawn.relation for drawn in edges])
    arrows = []
    for drawn, widths in zip(edges, edge_widths(edges), strict=True):
        style = styles[drawn.relation]
        arrows += _draw_edges(ax, drawn, widths, positions, sizes, style, radial_names)
    ax.scatter(*positions.T, s=sizes, color="#f2e2b8", edgecolor="#333333", linewidth=0.8, zorder=3)
    _draw_names(ax, graph.label_names, positions, sizes, radial_names)
    _draw_legend(ax, edges, styles)
    _frame(ax, positions, 0.2 if radial_names else 0.08)
    return arrows


def _frame(ax, positions, margin):
    """Square limits around the nodes, of some size even for a single one."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    half = (0.5 + margin) * (np.max(high - low) or 1.0)
    (x, y) = (low + high) / 2
    ax.set(xlim=(x - half, x + half), ylim=(y - half, y + half), aspect="equal")
    ax.set_axis_off()


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


def _draw_names(ax, names, positions, sizes, radial):
    for name, (x, y), size in zip(names, positions, sizes, strict=True):
        distance = np.sqrt(size) / 2 + 3
        if not radial:
            ax.annotate(
                name, (x, y), (0, distance), textcoords="offset points", ha="center", va="bottom",
                fontsize=9, zorder=5,
                bbox={"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.65},
            )  # fmt: skip
            continue
        angle = np.degrees(np.arctan2(y, x))
        left = abs(angle) > 90 + 1e-6
        offset = distance * np.array([x, y]) / max(np.hypot(x, y), 1e-12)
        ax.annotate(
            name, (x, y), offset, textcoords="offset points", fontsize=9, zorder=5,
            rotation=angle - 180 if left else angle, rotation_mode="anchor",
            ha="right" if left else "left", va="center",
        )  # fmt: skip


def _draw_legend(ax, edges, styles):
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
    ax.legend(
        handles=handles, loc="lower center", bbox_to_anchor=(0.5, -0.03), ncols=len(handles),
        frameon=False, fontsize=9,
    )  # fmt: skip
