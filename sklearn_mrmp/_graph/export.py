"""A label graph for other tools: a pandas table of edges, a networkx graph, HTML for notebooks.

Knows numpy and the public attributes of `LabelGraph`; pandas and networkx are imported on use.
"""

import numpy as np

from sklearn_mrmp._graph.adjacency import endpoints
from sklearn_mrmp._graph.chi2 import chi2_p_value, chi2_statistic
from sklearn_mrmp._host.html import html_table
from sklearn_mrmp._host.optional import import_optional

_SHOWN_EDGES = 5  # of each relation in a notebook


def edge_columns(graph, relation):
    """All that is known about the edges of one relation, as equally long arrays by column name.

    Parameters
    ----------
    graph : LabelGraph
        Any graph.
    relation : str
        One of its relations.

    Returns
    -------
    columns : dict of str to ndarray
        ``source`` and ``target`` (indices), ``weight`` and, when the counts of the edges are
        known, ``lift``, ``chi2``, ``p_value``, ``co_occurrence``.

    Examples
    --------
    >>> from sklearn_mrmp import LabelGraph
    >>> from sklearn_mrmp._graph.export import edge_columns
    >>> edge_columns(LabelGraph({"near": [[0, 2], [0, 0]]}), "near")["weight"]
    array([2.])
    """
    adjacency = graph.relations[relation]
    source, target = endpoints(adjacency)
    columns = {"source": source, "target": target, "weight": adjacency.data}
    together = (graph.co_occurrence or {}).get(relation)
    if together is None:
        return columns
    n11, n = together.data, graph.n_samples
    c_i, c_j = graph.counts[source], graph.counts[target]
    chi2 = chi2_statistic(n11, c_i, c_j, n)
    return {
        **columns,
        "lift": n11 * (n / (c_i * c_j)),
        "chi2": chi2,
        "p_value": chi2_p_value(chi2),
        "co_occurrence": n11,
    }


def edge_frame(graph):
    """`LabelGraph.to_frame`."""
    pd = import_optional("pandas", "data")
    parts = []
    for name in graph.relations:
        columns = edge_columns(graph, name)
        n_edges = len(columns["weight"])
        missing = np.full(n_edges, np.nan)
        parts.append(
            pd.DataFrame(
                {
                    "source": columns["source"],
                    "target": columns["target"],
                    "relation": np.full(n_edges, name, dtype=object),
                    "weight": columns["weight"],
                    **{key: columns.get(key, missing) for key in ("lift", "chi2", "p_value")},
                    "co_occurrence": columns.get("co_occurrence", missing),
                }
            )
        )
    frame = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    frame = frame.sort_values(["weight", "chi2"], ascending=False, kind="stable", ignore_index=True)
    return frame.assign(
        source=graph.label_names[frame["source"]], target=graph.label_names[frame["target"]]
    )


def edge_networkx(graph):
    """`LabelGraph.to_networkx`."""
    nx = import_optional("networkx", "plot")
    names = graph.label_names.tolist()
    if len(set(names)) != len(names):
        raise ValueError("Nodes of a networkx graph need distinct label names; some names repeat.")
    result = nx.MultiDiGraph()
    for index, name in enumerate(names):
        known = {} if graph.counts is None else {"count": int(graph.counts[index])}
        result.add_node(name, index=index, **known)
    for relation in graph.relations:
        columns = edge_columns(graph, relation)
        source, target = columns.pop("source").tolist(), columns.pop("target").tolist()
        values = zip(*(column.tolist() for column in columns.values()), strict=True)
        for i, j, row in zip(source, target, values, strict=True):
            attributes = dict(zip(columns, row, strict=True))
            result.add_edge(names[i], names[j], key=relation, relation=relation, **attributes)
    return result


def edge_html(graph):
    """`LabelGraph._repr_html_`: the strongest edges of each relation, without pandas."""
    header = ["relation", "source", "target", "weight", "lift", "chi2", "rows with both"]
    rows, notes = [], []
    for relation in graph.relations:
        columns = edge_columns(graph, relation)
        missing = np.full(len(columns["weight"]), np.nan)
        lift, chi2, together = (columns.get(k, missing) for k in ("lift", "chi2", "co_occurrence"))
        order = _strongest(graph.relations[relation], columns)
        for k in order[:_SHOWN_EDGES]:
            names = [graph.label_names[columns[end][k]] for end in ("source", "target")]
            numbers = [_number(column[k]) for column in (columns["weight"], lift, chi2, together)]
            rows.append([relation, *names, *numbers])
        if len(order) > _SHOWN_EDGES:
            notes.append(f"{relation}: the {_SHOWN_EDGES} strongest of {len(order)}")
    return html_table(header, rows, caption=repr(graph), notes=notes)


def _strongest(adjacency, columns):
    """Positions of the edges, strongest first; of two equal directions the first alone."""
    order = np.lexsort([-columns.get("chi2", columns["weight"]), -columns["weight"]])
    if (adjacency != adjacency.T).nnz:
        return order
    return order[columns["source"][order] < columns["target"][order]]


def _number(value):
    return "" if np.isnan(value) else f"{value:.4g}"
