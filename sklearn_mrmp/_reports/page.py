"""The page of a `LabelReport`: scores, charts, a table of all labels, the label graph, settings.

Knows the attributes of a report, the parts of pages, and how a graph is shown.
"""

from html import escape

import numpy as np

from sklearn_mrmp._graph.page import graph_part
from sklearn_mrmp._host.html import html_table
from sklearn_mrmp._pages.charts import point_chart
from sklearn_mrmp._pages.settings import settings_section
from sklearn_mrmp._pages.template import Section, html_page, write_page

# Columns of the table: attributes of a report, and what they are called.
COLUMNS = {
    "support": "support",
    "n_predicted": "predicted",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "average_precision": "AP",
    "cut": "cut",
    "brier": "Brier",
    "calibration_error": "ECE",
}
_EXPLAINED = (
    "support: rows that carry the label. AP: average precision of its scores. cut: what the score "
    "has to reach, where that is one number. Brier: mean squared difference of probability and "
    "label. ECE: expected calibration error over ten bins of equal width. A dash is a measure that "
    "is not defined. Click a column to sort by it."
)


def write_label_page(report, path, title):
    """`LabelReport.to_html`."""
    title = "Label report" if title is None else title
    sections = [_scores(report), _charts(report), _table(report)]
    if report.graph is not None:
        sections.append(graph_part(report.graph))
    sections.append(settings_section(report.settings or {}))
    lead = f"{report.n_samples:,} rows, {len(report.label_names):,} labels."
    write_page(path, html_page(title, sections, lead=lead))


def _scores(report):
    rows = [[name, f"{value:.4f}"] for name, value in report.scores.items()]
    return Section("Scores", html_table(["metric", "value"], rows))


def _charts(report):
    """F1 by frequency, and probabilities against what came true."""
    names, f1 = report.label_names, report.f1
    charts = [
        point_chart(
            "F1 by support",
            [
                f"{n}: F1 {v:.3f}, support {s}"
                for n, v, s in zip(names, f1, report.support, strict=True)
            ],
            report.support,
            f1,
            x_label="rows that carry the label",
            y_label="F1",
            y_limits=(-0.03, 1.03),
            log_x=True,
        )
    ]
    if len(report.reliability):
        charts.append(_reliability(report.reliability))
    return Section("Charts", f'<div class="charts">{"".join(charts)}</div>')


def _reliability(bins):
    bins = bins[bins[:, 0] > 0]
    entries, predicted, true = bins.T
    return point_chart(
        "Calibration of all labels together",
        [f"{n:,.0f} entries" for n in entries],
        predicted / entries,
        true / entries,
        x_label="mean probability in a bin",
        y_label="share of true labels",
        y_limits=(-0.03, 1.03),
        diagonal=True,
    )


def _table(report):
    order = np.argsort(-report.support, kind="stable")
    kind = {"css_class": "sortable filtered"}
    table = html_table(["label", *COLUMNS.values()], report._cells(order), **kind)
    return Section("Labels", f'<p>{escape(_EXPLAINED)}</p><div class="scroll">{table}</div>')
