"""``graph``: which labels of a file pull and push each other."""

import csv

import numpy as np

from sklearn_mrmp._cli.console import note, say
from sklearn_mrmp._cli.labels import LabelReader
from sklearn_mrmp._cli.options import (
    add_data,
    add_labels,
    described,
    label_columns,
    new_file,
    positive,
    training_rows,
)
from sklearn_mrmp._graph.export import edge_columns
from sklearn_mrmp._graph.learning import label_graph

_CHUNK = 10_000
_KNOWN = ("lift", "chi2", "p_value", "co_occurrence")
_EXAMPLES = """\
examples:
  sklearn-mrmp graph posts.csv --label-column tags --html graph.html
  sklearn-mrmp graph genes.csv --labels 'class_*' --correction fdr_bh --csv edges.csv
  sklearn-mrmp graph bibtex-train.arff --picture graph.png
"""


def add(commands):
    """Describe the command and its arguments."""
    parser = described(
        commands,
        "graph",
        help="learn which labels of a file pull and push each other",
        description="Test every pair of labels of a file for independence, and show the label "
        "graph: labels that occur together more often than by chance, or less often.",
        epilog=_EXAMPLES,
    )
    add_data(parser, "rows with labels: CSV, TSV, JSON lines, parquet, ARFF with XML, or libsvm")
    add_labels(parser)
    parser.add_argument("--alpha", type=float, default=0.05, help="level of the tests (0.05)")
    parser.add_argument(
        "--correction", choices=("bonferroni", "fdr_bh"), help="for many tests (none)"
    )
    parser.add_argument("--min-count", type=int, default=0, help="rows that a label needs (0)")
    parser.add_argument("--top", type=positive, default=20, help="edges to print (20)")
    parser.add_argument("--html", type=new_file, help="write a page to explore the graph")
    parser.add_argument("--csv", type=new_file, help="write all edges")
    parser.add_argument("--picture", type=new_file, help="draw the graph: PNG, SVG or PDF")
    parser.set_defaults(run=_graph)


def _graph(arguments):
    data = training_rows(arguments)
    labels = LabelReader(label_columns(arguments), data)
    for chunk in data.chunks(_CHUNK):
        labels.read(chunk)
    graph = label_graph(
        labels.table(),
        alpha=arguments.alpha,
        correction=arguments.correction,
        min_count=arguments.min_count,
    )
    edges = _edges(graph)
    say(graph)
    for edge in edges[: arguments.top]:
        say("  " + _sentence(edge))
    if len(edges) > arguments.top:
        say(f"  and {len(edges) - arguments.top} more")
    _write(graph, edges, arguments)
    return 0


def _edges(graph):
    """Return every pair of labels that an edge links, the surest first, as dicts."""
    edges = []
    for relation in graph.relations:
        columns = edge_columns(graph, relation)
        known = [name for name in _KNOWN if name in columns]
        for k in np.flatnonzero(columns["source"] < columns["target"]):
            ends = {end: str(graph.label_names[columns[end][k]]) for end in ("source", "target")}
            numbers = {name: columns[name][k].item() for name in known}
            edges.append({**ends, "relation": relation, **dict.fromkeys(_KNOWN, ""), **numbers})
    return sorted(edges, key=lambda edge: -(edge["chi2"] or 0))


def _sentence(edge):
    text = f"{edge['source']} and {edge['target']}: {edge['relation']}"
    if edge["lift"] == "":
        return text
    together = f"together in {edge['co_occurrence']:g} rows"
    return f"{text}, {together}, {edge['lift']:.1f} times as often as expected"


def _write(graph, edges, arguments):
    """Write what was asked for."""
    if arguments.html is not None:
        graph.to_html(arguments.html)
    if arguments.csv is not None:
        with arguments.csv.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, ["source", "target", "relation", *_KNOWN])
            writer.writeheader()
            writer.writerows(edges)
    if arguments.picture is not None:
        from sklearn_mrmp._plot.label_graph import LabelGraphDisplay

        LabelGraphDisplay.from_graph(graph).figure_.savefig(arguments.picture, dpi=150)
    for path in (arguments.html, arguments.csv, arguments.picture):
        if path is not None:
            note(f"wrote {path}")
