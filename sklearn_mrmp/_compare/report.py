"""The outcome of a comparison as a value: runs in, tables out.

Means and standard deviations over seeds, the best value of each metric marked, as data frame,
Markdown, LaTeX or HTML. Knows nothing of how the runs came about; pandas is imported on demand.
"""

import numpy as np

from sklearn_mrmp._compare.page.whole import write_comparison_page
from sklearn_mrmp._compare.statistics import PAPER_NAMES, deviation, mean
from sklearn_mrmp._host.html import Bold, html_table
from sklearn_mrmp._host.optional import import_optional

_COSTS = {
    "fit_time": "fit [s]",
    "predict_time": "predict [s]",
    "peak_memory": "memory [MB]",
    "n_weights": "weights",
}


class ComparisonResult:
    """What `compare_classifiers` found.

    Parameters
    ----------
    runs : list of ComparisonRun
        One run per classifier and seed.
    methods : list of str
        Names of the classifiers, in the order of the tables.
    metrics : sequence of str
        Reported metrics.
    decisions : sequence of str
        Reported decision rules.
    setting : ComparisonSetting, default=None
        Data and classifiers, for the page; `compare_classifiers` provides it.

    Attributes
    ----------
    errors : dict of str to str
        For each classifier that failed with some seed, the first error.
    best : dict of (str, str) to str
        For each decision and metric the classifier with the highest mean test score, the first
        of several; classifiers that failed with some seed take no part.
    """

    def __init__(self, runs, methods, metrics, decisions, setting=None):
        self.runs = list(runs)
        self.methods = list(methods)
        self.metrics = tuple(metrics)
        self.decisions = tuple(decisions)
        self.setting = setting

    @property
    def errors(self):
        """The first error of each classifier that failed."""
        return {run.method: run.error for run in reversed(self.runs) if run.error is not None}

    @property
    def best(self):
        """The best classifier by decision and metric."""
        complete = [method for method in self.methods if method not in self.errors]
        return {
            (decision, metric): max(complete, key=lambda m: self.scores(m, decision, metric).mean())
            for decision in self.decisions
            for metric in self.metrics
            if complete
        }

    def scores(self, method, decision, metric):
        """Test scores of one classifier, an array with one value per successful seed."""
        runs = self._finished(method)
        return np.array([run.scores[decision][metric] for run in runs], dtype=float)

    def cost(self, method, name):
        """``fit_time``, ``predict_time``, ``peak_memory`` or ``n_weights``, one per seed."""
        return np.array([getattr(run, name) for run in self._finished(method)], dtype=float)

    def _finished(self, method):
        return [run for run in self.runs if run.method == method and run.error is None]

    def to_frame(self):
        """Return one row per decision and classifier: means and deviations over seeds, and costs.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``decision``, ``method``, then for each metric its mean, ``<metric>_std``
            (deviation over seeds; NaN for a single one) and ``<metric>_best`` (whether it is the
            best of the decision), then means of ``fit_time`` and ``predict_time`` (seconds),
            ``peak_memory`` (MB) and ``n_weights``, ``n_seeds`` and ``error``.
        """
        pd = import_optional("pandas", "data")
        return pd.DataFrame(table_rows(self))

    def _row(self, decision, method):
        best = self.best
        row = {"decision": decision, "method": method}
        for metric in self.metrics:
            values = self.scores(method, decision, metric)
            row[metric] = mean(values)
            row[f"{metric}_std"] = deviation(values)
            row[f"{metric}_best"] = best.get((decision, metric)) == method
        row |= {name: mean(self.cost(method, name)) for name in _COSTS}
        return row | {"n_seeds": len(self._finished(method)), "error": self.errors.get(method)}

    def runs_to_frame(self):
        """Return one row per run, decision and metric: the long form, for plots and statistics.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``method``, ``seed``, ``decision``, ``metric``, ``score``, ``fit_time``,
            ``predict_time``, ``peak_memory`` and ``n_weights``; failed runs have no rows.
        """
        pd = import_optional("pandas", "data")
        costs = list(_COSTS)
        rows = [
            [run.method, run.seed, decision, metric, value, *(getattr(run, c) for c in costs)]
            for run in self.runs
            for decision, by_metric in run.scores.items()
            for metric, value in by_metric.items()
        ]
        names = ["method", "seed", "decision", "metric", "score"]
        return pd.DataFrame(rows, columns=names + costs)

    def to_markdown(self):
        """Return the table in Markdown, the best value of each metric and decision in bold.

        Returns
        -------
        text : str
        """
        header, rows = self._cells(lambda text: f"**{text}**", "±")
        lines = [
            "| " + " | ".join(_escape_markdown(cell) for cell in cells) + " |"
            for cells in [header, *rows]
        ]
        lines.insert(1, "|---|---|" + "---:|" * (len(header) - 2))
        notes = [f"\n`{_one_line(m)}` failed: {_one_line(e)}" for m, e in self.errors.items()]
        return "\n".join(lines + notes) + "\n"

    def to_latex(self):
        """Return the table as a LaTeX ``tabular`` with ``booktabs`` rules, best values in bold.

        Returns
        -------
        text : str
        """
        header, rows = self._cells(lambda text: rf"\textbf{{{text}}}", r"$\pm$")
        escaped = [[_escape_latex(cell) for cell in row[:2]] + row[2:] for row in rows]
        header = [_escape_latex(cell) for cell in header]
        lines = [" & ".join(cells) + r" \\" for cells in [header, *escaped]]
        return "\n".join(
            [
                rf"\begin{{tabular}}{{ll{'r' * (len(header) - 2)}}}",
                r"\toprule",
                lines[0],
                r"\midrule",
                *lines[1:],
                r"\bottomrule",
                r"\end{tabular}",
                "",
            ]
        )

    def to_html(self, path, *, title=None, label_names=None, graph=None):
        """Write the comparison as a page: one file that works offline.

        It has the table, charts of the scores and times, the metrics at every cut, the results of
        each label to sort and filter, the label graph to explore, settings, seeds and versions.
        Charts need no matplotlib.

        Parameters
        ----------
        path : str or path-like
            The file, which is replaced if it exists.
        title : str, default=None
            Title of the page; None is "Comparison of classifiers".
        label_names : sequence of str, default=None
            Names of the labels; columns of a data frame ``Y_train``, or numbers, when None.
        graph : LabelGraph or False, default=None
            The label graph to show: None learns it from the training labels, False shows none.

        Examples
        --------
        >>> import os, tempfile
        >>> from sklearn.dummy import DummyClassifier
        >>> from sklearn_mrmp import compare_classifiers
        >>> from sklearn_mrmp.datasets import make_related_labels
        >>> X, Y, _ = make_related_labels(100, 4, random_state=0)
        >>> result = compare_classifiers({"guess": DummyClassifier(strategy="prior")},
        ...                              X[:80], Y[:80], X[80:], Y[80:], isolate=False)
        >>> path = os.path.join(tempfile.mkdtemp(), "report.html")
        >>> result.to_html(path, label_names=["sea", "ship", "port", "desert"])
        >>> os.path.exists(path)
        True
        """
        write_comparison_page(self, path, title, label_names, graph)

    def _cells(self, mark, plus_minus):
        """Return the header and the rows of the printed table."""
        header = ["method", "decision"]
        header += [PAPER_NAMES.get(metric, metric) for metric in self.metrics]
        header += list(_COSTS.values())
        best = self.best
        rows = []
        for decision in self.decisions:
            for method in self.methods:
                cells = [method, decision]
                for metric in self.metrics:
                    text = _format(self.scores(method, decision, metric), plus_minus)
                    is_best = best.get((decision, metric)) == method
                    cells.append(mark(text) if is_best else text)
                costs = [mean(self.cost(method, name)) for name in _COSTS]
                rows.append(cells + [_format_cost(cost) for cost in costs])
        return header, rows

    def _repr_html_(self):
        """Return the table for notebooks, best values in bold; needs no pandas."""
        return self._html_table(caption=repr(self))

    def _html_table(self, **options):
        header, rows = self._cells(Bold, "±")
        notes = [f"{method} failed: {_one_line(e)}" for method, e in self.errors.items()]
        return html_table(header, rows, notes=notes, **options)

    def __repr__(self):
        seeds = len({run.seed for run in self.runs})
        failed = f", {len(self.errors)} failed" if self.errors else ""
        return f"ComparisonResult({len(self.methods)} classifiers, {seeds} seeds{failed})"

    def __str__(self):
        return self.to_markdown()


def table_rows(result):
    """Return the rows of ``result.to_frame()`` as dictionaries; needs no pandas."""
    return [result._row(decision, m) for decision in result.decisions for m in result.methods]


def _format(values, plus_minus):
    if not len(values):
        return "error"
    spread = f" {plus_minus} {deviation(values):.3f}" if len(values) > 1 else ""
    return f"{mean(values):.3f}{spread}"


def _format_cost(value):
    if np.isnan(value):
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _one_line(text):
    return " ".join(text.split())


def _escape_markdown(cell):
    """Return a cell on one line, in which a vertical bar does not begin another cell."""
    return _one_line(cell).replace("|", r"\|")


_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_LATEX |= {char: f"\\{char}" for char in "&%$#_{}"}


def _escape_latex(text):
    return "".join(_LATEX.get(char, char) for char in text)
