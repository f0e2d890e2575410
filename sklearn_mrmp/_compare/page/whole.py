"""The page of a comparison: table, charts, curves, results of each label, label graph, settings.

Knows a `ComparisonResult` by its methods, the parts of pages, and how a graph is shown.
"""

from html import escape

import numpy as np

from sklearn_mrmp._compare.details import CUTS
from sklearn_mrmp._compare.page.labels import label_results_section
from sklearn_mrmp._compare.statistics import PAPER_NAMES, deviation, mean
from sklearn_mrmp._graph.adjacency import check_label_names
from sklearn_mrmp._graph.learning import label_graph
from sklearn_mrmp._graph.page import graph_part
from sklearn_mrmp._host.html import html_table
from sklearn_mrmp._pages.charts import curve_chart, legend, limits, row_chart
from sklearn_mrmp._pages.settings import settings_section
from sklearn_mrmp._pages.template import Section, html_page, write_page

_CURVES = (
    "The metric on the test rows when every label is predicted whose probability reaches one cut, "
    "the same for all labels; means over seeds. A dotted line is the cut that was chosen on "
    "validation rows. The curves are for looking at: a cut that is chosen by them is chosen on the "
    "test rows."
)


def write_comparison_page(result, path, title, label_names, graph):
    """`ComparisonResult.to_html`."""
    title = "Comparison of classifiers" if title is None else title
    setting = result.setting
    sections = [_table(result), _charts(result)]
    if any(run.details for run in result.runs):
        sections.append(_curves(result))
    if setting is not None:
        names = setting.label_names if label_names is None else label_names
        names = check_label_names(names, setting.Y_train.shape[1])
        sections += label_results_section(result, names)
        if graph is None:
            graph = label_graph(setting.Y_train, label_names=names)
    if graph:
        sections.append(graph_part(graph))
    sections += _warnings(result)
    described = {} if setting is None else setting.described(result.metrics, result.decisions)
    sections.append(settings_section(described))
    write_page(path, html_page(title, sections, lead=_lead(result)))


def _lead(result):
    n_seeds = len({run.seed for run in result.runs})
    seeds = "1 seed" if n_seeds == 1 else f"{n_seeds} seeds"
    return f"{len(result.methods)} classifiers, {seeds}."


def _table(result):
    note = (
        "Scores on test rows, means ± standard deviations over seeds; the best of each decision is "
        "bold. Click a column to sort by it."
    )
    table = result._html_table(css_class="sortable")
    return Section("Scores", f"<p>{escape(note)}</p>{table}")


def _charts(result):
    """One chart for each metric, a dot for each decision; and the time to fit."""

    def group(decision, metric):
        scores = [result.scores(method, decision, metric) for method in result.methods]
        statistics = (np.array([f(values) for values in scores]) for f in (mean, deviation))
        return (f"decision {decision}", *statistics)

    charts = [
        row_chart(
            _metric_name(metric), result.methods, [group(d, metric) for d in result.decisions]
        )
        for metric in result.metrics
    ]
    times = [result.cost(method, "fit_time") for method in result.methods]
    times = ("seconds to fit", *(np.array([f(t) for t in times]) for f in (mean, deviation)))
    charts.append(row_chart("seconds to fit", result.methods, [times], log=True))
    decisions = legend([f"decision {decision}" for decision in result.decisions])
    return Section("Charts", f'{decisions}<div class="charts">{"".join(charts)}</div>')


def _metric_name(metric):
    short = PAPER_NAMES.get(metric)
    return metric if short is None else f"{short} ({metric})"


def _curves(result):
    """Metrics over cuts, a curve for each classifier."""
    charts = []
    for metric in result.metrics:
        curves = [_mean_detail(result, method, "curves", metric) for method in result.methods]
        cuts = [_mean_detail(result, method, "thresholds", metric) for method in result.methods]
        series = [(m, CUTS, c) for m, c in zip(result.methods, curves, strict=True)]
        marks = [(k, float(cut)) for k, cut in enumerate(cuts) if 0 <= cut <= 1]
        known = np.concatenate([np.ravel(curve) for curve in curves])
        charts.append(
            curve_chart(
                _metric_name(metric),
                [(name, x, y) for name, x, y in series if np.ndim(y)],
                x_label="cut",
                y_label=metric,
                x_limits=(0.0, 1.0),
                y_limits=limits(known, within=(0.0, 1.0)),
                marks=marks,
            )
        )
    charts = f'<div class="charts">{"".join(charts)}</div>'
    return Section("Decision curves", f"<p>{escape(_CURVES)}</p>{legend(result.methods)}{charts}")


def _mean_detail(result, method, name, metric):
    """Mean over seeds of a detail of one metric; NaN if no run has it."""
    runs = [run for run in result.runs if run.method == method and run.details]
    values = [run.details[name][metric] for run in runs if metric in run.details[name]]
    return np.mean(values, axis=0) if values else np.nan


def _warnings(result):
    """Warnings of the runs, each once for each classifier; no section without any."""
    rows = sorted({(run.method, text) for run in result.runs for text in run.warnings})
    if not rows:
        return []
    return [Section("Warnings", html_table(["classifier", "warning"], rows, css_class="two"))]
