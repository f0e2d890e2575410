"""The part of a page in which a label graph is explored: links as arrays, drawn by a script.

The script draws the strongest links and, of a label that is chosen, its neighbours; all links are
in the page, packed. Knows arrays; what they are computed from is the business of `_graph`.
"""

from dataclasses import dataclass, field
from html import escape

import numpy as np

from sklearn_mrmp._host.html import json_block
from sklearn_mrmp._pages.layout import force_layout
from sklearn_mrmp._pages.template import Section, packed

# More labels in one picture cannot be told apart; the others are found by their names.
MOST_DRAWN = 1500
SCRIPTS = ("cytoscape.min.js", "graph_data.js", "graph_names.js", "graph_panel.js", "graph.js")
_LINKS = ("source", "target", "relation", "strength", "out", "back", "together", "log10_p")
# Of each label, the strongest links that shape the picture.
_SHAPING_LINKS = 5


@dataclass(frozen=True, eq=False)
class GraphData:
    """What a page shows of a label graph; each pair of linked labels is one link.

    Attributes
    ----------
    names : list of str
        Names of the labels.
    relations : list of dict
        For each relation its ``name``, ``color``, ``dashes`` (list of int), ``pushes`` (whether
        linked labels avoid each other) and ``n_links``, how many the graph has.
    source, target, relation : ndarray of int of shape (n_links,)
        Ends of the links, and position of their relation; strongest first.
    strength : ndarray of shape (n_links,)
        From 0 to 1, what links are compared by.
    out, back : ndarray of shape (n_links,)
        Weight of the edge from source to target, and of the other one; 0 where there is none.
    together : ndarray of shape (n_links,), or None
        Rows that carry both labels; NaN where unknown.
    log10_p : ndarray of shape (n_links,), or None
        Decimal logarithm of the p-value; NaN where unknown.
    counts : ndarray of shape (n_labels,), or None
        Rows that carry each label.
    n_samples : int, float or None
        Number of rows.
    examples : list of (str, list of int)
        Example rows: their text and their labels.
    strength_meaning : str
        A sentence that says what the strength is.
    """

    names: list
    relations: list
    source: np.ndarray
    target: np.ndarray
    relation: np.ndarray
    strength: np.ndarray
    out: np.ndarray
    back: np.ndarray
    strength_meaning: str
    together: np.ndarray | None = None
    log10_p: np.ndarray | None = None
    counts: np.ndarray | None = None
    n_samples: float | None = None
    examples: list = field(default_factory=list)


def graph_section(data, title="Label graph"):
    """Return the part of a page that shows a label graph.

    Parameters
    ----------
    data : GraphData
        The graph.
    title : str, default="Label graph"
        Heading.

    Returns
    -------
    section : Section
    """
    drawn = _drawn_labels(data)
    content = {
        "names": data.names,
        "relations": data.relations,
        "nSamples": data.n_samples,
        "examples": [{"text": text, "labels": labels} for text, labels in data.examples],
        "drawn": drawn.tolist(),
        "positions": packed(_positions(data, drawn).ravel()),
        "strengthMeaning": data.strength_meaning,
        "isWeighted": _is_weighted(data),
    }
    for name in (*_LINKS, "counts"):
        values = getattr(data, name)
        content[name] = None if values is None else packed(values)
    html = f"{_note(data, drawn)}<div class='label-graph'>{json_block(content, 'graph-data')}</div>"
    return Section(title, html, SCRIPTS)


def _note(data, drawn):
    """Say what is not in the page, or not in the picture."""
    notes, n_all = [], sum(relation["n_links"] for relation in data.relations)
    if len(data.source) < n_all:
        notes.append(
            f"The graph has {n_all:,} links; this page holds the {len(data.source):,} strongest."
        )
    if len(drawn) < len(data.names):
        notes.append(
            f"The picture of all labels shows the {len(drawn):,} with the strongest links; the "
            f"search finds all {len(data.names):,}."
        )
    return "".join(f"<p>{escape(note)}</p>" for note in notes)


def _is_weighted(data):
    """Whether weights say more than that there is an edge."""
    return any(len(np.unique(weights[weights > 0])) > 1 for weights in (data.out, data.back))


def _drawn_labels(data):
    """Labels of the picture of all: those that come first among the links, strongest first."""
    if len(data.names) <= MOST_DRAWN:
        return np.arange(len(data.names))
    ends = np.stack([data.source, data.target], axis=1).ravel()
    _, first = np.unique(ends, return_index=True)
    return np.sort(ends[np.sort(first)[:MOST_DRAWN]])


def _positions(data, drawn):
    """Places of the drawn labels; links of labels that avoid each other have no say."""
    place = np.full(len(data.names), -1)
    place[drawn] = np.arange(len(drawn))
    pushes = np.array([relation["pushes"] for relation in data.relations], dtype=bool)
    inside = (place[data.source] >= 0) & (place[data.target] >= 0) & ~pushes[data.relation]
    source, target = place[data.source[inside]], place[data.target[inside]]
    keep = _strongest_of_each(source, target, len(drawn))
    return force_layout(len(drawn), source[keep], target[keep], data.strength[inside][keep])


def _strongest_of_each(source, target, n_labels):
    """Mask of links, sorted by strength, that are among the first few of one of their ends."""
    ends = np.stack([source, target], axis=1).ravel()
    order = np.argsort(ends, kind="stable")
    begins = np.searchsorted(ends[order], np.arange(n_labels))
    rank = np.empty(len(ends), dtype=np.int64)
    rank[order] = np.arange(len(ends)) - begins[ends[order]]
    return (rank.reshape(-1, 2) < _SHAPING_LINKS).any(axis=1)
