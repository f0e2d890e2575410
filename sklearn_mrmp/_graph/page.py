"""A label graph as a page to explore: links with what is known about them, and example rows.

Computes the arrays that `_pages.graph` draws. Knows `LabelGraph` by its public attributes, numpy
and scipy.
"""

import numpy as np
import scipy.sparse as sp
from scipy.special import log_ndtr

from sklearn_mrmp._graph.adjacency import canonical_labels
from sklearn_mrmp._graph.chi2 import label_counts
from sklearn_mrmp._graph.export import edge_columns
from sklearn_mrmp._graph.relation_style import relation_styles
from sklearn_mrmp._numerics.label_frames import in_order
from sklearn_mrmp._numerics.unknown import split_unknown
from sklearn_mrmp._pages.graph import GraphData, graph_section
from sklearn_mrmp._pages.template import html_page, write_page

MOST_LINKS = 200_000
_EXAMPLES_OF_LABEL = 3
# Of each label, the strongest links whose common rows are looked for.
_LINKS_WITH_EXAMPLE = 15
_TEXT_LENGTH = 300
_CORRELATION = (
    "Strength is the absolute correlation (phi coefficient) of two labels over the rows, from 0 "
    "to 1."
)
_WEIGHT = "Strength is the weight of a link, divided by the largest one of its relation."
_MIXED = (
    f"{_CORRELATION} Where rows were not counted, it is the weight, divided by the largest one."
)


def write_graph_page(graph, path, Y, rows, title, max_links):
    """`LabelGraph.to_html`."""
    title = "Label graph" if title is None else title
    section = graph_part(graph, Y, rows, max_links)
    write_page(path, html_page(title, [section], lead=_lead(graph)))


def _lead(graph):
    """Say what the graph is, in a line."""
    text = f"{graph.n_labels:,} labels that are linked by {' and '.join(graph.relations)}"
    return text + ("." if graph.n_samples is None else f", learned from {graph.n_samples:,} rows.")


def graph_part(graph, Y=None, rows=None, max_links=MOST_LINKS):
    """Return the section of a page that shows a graph.

    Parameters
    ----------
    graph : LabelGraph
        The graph.
    Y, rows, max_links
        As of `LabelGraph.to_html`.

    Returns
    -------
    section : Section
    """
    if max_links < 1:
        raise ValueError(f"max_links must be at least 1, got {max_links!r}.")
    Y, has_unknown = _checked_labels(graph, Y)
    rows = _checked_rows(rows, Y)
    counts, n_samples = graph.counts, graph.n_samples
    if counts is None and Y is not None:
        counts, n_samples = label_counts(Y), Y.shape[0]
    counted = None if has_unknown else _pairs_to_count(Y, counts, n_samples)
    links = _all_links(graph, counts, n_samples, counted)
    n_links = np.bincount(links["relation"], minlength=len(graph.relations))
    order = np.lexsort([links["source"], links["relation"], -links["strength"]])[:max_links]
    links = {name: values[order] for name, values in links.items()}
    unknown = np.isnan(links["together"])
    meaning = _WEIGHT if unknown.all() else _MIXED if unknown.any() else _CORRELATION
    data = GraphData(
        names=graph.label_names.tolist(),
        relations=_relations(graph, n_links.tolist()),
        strength_meaning=meaning,
        counts=counts,
        n_samples=n_samples,
        examples=[] if Y is None else _examples(links, Y, rows),
        **links | dict.fromkeys(("together", "log10_p") if unknown.all() else ()),
    )
    return graph_section(data)


def _checked_labels(graph, Y):
    """0/1 labels as csr_array, or None; and whether some entries were unknown."""
    if Y is None:
        return None, False
    Y, known = split_unknown(in_order(Y, graph.label_names, "Y"))
    Y = canonical_labels(Y)
    if Y.shape[1] != graph.n_labels:
        raise ValueError(f"Y has {Y.shape[1]} labels, but the graph has {graph.n_labels}.")
    return Y, known is not None


def _checked_rows(rows, Y):
    """Texts of the rows, a list, or None."""
    if rows is None:
        return None
    if Y is None:
        raise ValueError("rows are shown for the labels they carry: give their labels Y, too.")
    if getattr(rows, "ndim", 1) != 1:
        raise ValueError(
            f"rows must be one text for each row of Y, got {type(rows).__name__} with "
            f"{rows.ndim} dimensions. Write, for instance, [str(row) for row in rows]."
        )
    rows = list(rows)
    if len(rows) != Y.shape[0]:
        raise ValueError(f"rows has {len(rows)} texts, but Y has {Y.shape[0]} rows.")
    return rows


def _pairs_to_count(Y, counts, n_samples):
    """Labels to count pairs in, for relations without counts; None if they are of other rows."""
    if Y is None or n_samples != Y.shape[0] or not np.array_equal(counts, label_counts(Y)):
        return None
    return Y


def _relations(graph, n_links):
    styles = relation_styles(graph.relations)
    return [
        {
            "name": name,
            "color": color,
            "dashes": [] if line == "solid" else list(line[1]),
            "pushes": name == "pushing",
            "n_links": n,
        }
        for (name, (color, line)), n in zip(styles.items(), n_links, strict=True)
    ]


def _all_links(graph, counts, n_samples, Y):
    """All links of all relations, as equally long arrays by name."""
    together = None if Y is None else (Y.T @ Y).tocsr()
    parts = [
        _links(edge_columns(graph, name), position, counts, n_samples, together)
        for position, name in enumerate(graph.relations)
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _links(columns, position, counts, n_samples, together):
    """Links of one relation, with what is known about them."""
    source, target, out, back, first = _joined_edges(columns)
    both = np.full(len(first), np.nan)
    if "co_occurrence" in columns:
        both = columns["co_occurrence"][first].astype(float)
    elif together is not None and len(first):
        both = np.asarray(together[source, target], dtype=float).ravel()
    correlation = _correlation(both, counts, n_samples, source, target)
    weight = np.maximum(out, back)
    is_known = not np.isnan(both).any()
    return {
        "source": source,
        "target": target,
        "relation": np.full(len(first), position),
        "strength": np.nan_to_num(correlation) if is_known else weight / weight.max(initial=1e-300),
        "out": out,
        "back": back,
        "together": both,
        # 2 Phi(-|z|) is the p-value of chi2 = z² with one degree of freedom
        "log10_p": (np.log(2) + log_ndtr(-correlation * np.sqrt(n_samples or 0))) / np.log(10),
    }


def _joined_edges(columns):
    """Join the two edges between two labels: ends, weights both ways, position of the first."""
    ends = np.sort(np.stack([columns["source"], columns["target"]]).astype(np.int64), axis=0)
    key = ends[0] * (ends[1].max(initial=0) + 1) + ends[1]
    _, first, link = np.unique(key, return_index=True, return_inverse=True)
    forward = columns["source"] < columns["target"]
    out, back = (
        np.bincount(link, columns["weight"] * chosen, minlength=len(first))
        for chosen in (forward, ~forward)
    )
    return *ends[:, first], out, back, first


def _correlation(together, counts, n, source, target):
    """Absolute phi coefficient of pairs; NaN where it is unknown, or a label is constant."""
    if counts is None or n is None:
        return np.full(len(together), np.nan)
    c_i, c_j = (counts[end].astype(float) for end in (source, target))
    spread = np.sqrt(c_i * (n - c_i)) * np.sqrt(c_j * (n - c_j))
    excess = np.abs(n * together - c_i * c_j)
    return np.divide(excess, spread, out=np.full(len(together), np.nan), where=spread > 0)


def _examples(links, Y, rows):
    """Return a few rows of each label, and one of each of its strongest links that has any."""
    by_label = sp.csc_array(Y)
    by_label.sort_indices()
    carriers = np.split(by_label.indices, by_label.indptr[1:-1])
    chosen = {int(row) for rows_of in carriers for row in rows_of[:_EXAMPLES_OF_LABEL]}
    looked_at = np.zeros(Y.shape[1], dtype=int)
    for i, j in zip(links["source"], links["target"], strict=True):
        if min(looked_at[i], looked_at[j]) < _LINKS_WITH_EXAMPLE:
            both = np.intersect1d(carriers[i], carriers[j], assume_unique=True)[:1]
            chosen.update(both.tolist())
            looked_at[[i, j]] += len(both)
    return [
        (_text(row, rows), Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tolist())
        for row in sorted(chosen)
    ]


def _text(row, rows):
    """Text of a row, or its number; a long one ends in an ellipsis."""
    if rows is None:
        return f"row {row}"
    text = " ".join(str(rows[row]).split())
    return text if len(text) <= _TEXT_LENGTH else text[: _TEXT_LENGTH - 1] + "…"
