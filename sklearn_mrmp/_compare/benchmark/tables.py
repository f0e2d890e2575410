"""The tables of results in Markdown: means over the seeds, a block of rows for each data set.

Knows the lines of the CSV file, and data sets and methods by name.
"""

import numpy as np

from sklearn_mrmp._compare.benchmark.entrants import METHODS
from sklearn_mrmp._compare.benchmark.lines import SCORES
from sklearn_mrmp._compare.benchmark.sets import DATASETS
from sklearn_mrmp._compare.statistics import PAPER_NAMES

_SHORT = ("regression", "default")


def results_table(lines, methods=tuple(METHODS)):
    """Return all data sets and methods, with average precision, the four metrics and seconds."""
    text = _head("data set", "method", "seeds", *_names(SCORES), "fit, s", n_texts=2)
    for dataset in DATASETS:
        text += _block(_groups(lines, dataset, methods), SCORES)
    return text


def short_table(lines):
    """Return the regression and the default alone, of data sets that both were fitted on."""
    done = {(line.dataset, line.method) for line in lines}
    both = [name for name in DATASETS if {(name, method) for method in _SHORT} <= done]
    return results_table([line for line in lines if line.dataset in both], _SHORT)


def texts_table(lines):
    """Return the data sets of raw texts, with both average precisions, and the network alone."""
    scores = ("AP", "AP_macro", *SCORES[1:])
    names = ("AP", "AP of labels", *_names(SCORES[1:]))
    text = _head("data set", "method", "seeds", *names, "fit, s", n_texts=2)
    for dataset in (name for name in DATASETS if DATASETS[name].texts):
        groups = _groups(lines, dataset, METHODS)
        text += _block(groups, scores)
        if "default" in groups:
            text += _network_row(groups["default"])
    return text


def times_table(lines):
    """Return what the data sets are, and seconds of fitting of methods for features."""
    methods = [name for name in METHODS if METHODS[name].of_features]
    titles = [METHODS[name].of_features for name in methods]
    text = _head("data set", "training rows", *titles, n_texts=2)
    for dataset, its in DATASETS.items():
        groups = _groups(lines, dataset, methods)
        if groups and not its.texts:
            cells = [_seconds(groups[name]) if name in groups else "" for name in methods]
            text += _row(its.title, its.rows, *cells)
    return text


TABLES = {
    "results": results_table,
    "results-short": short_table,
    "results-texts": texts_table,
    "results-times": times_table,
}


def mean_score(lines, name):
    """Mean over lines of one data set and method; NaN where a line lacks it."""
    return float(np.mean([getattr(line, name) for line in lines]))


def _names(scores):
    return [PAPER_NAMES.get(score, score) for score in scores]


def _groups(lines, dataset, methods):
    """Lines of a data set by method, of those methods that have any."""
    groups = {
        method: [line for line in lines if (line.dataset, line.method) == (dataset, method)]
        for method in methods
    }
    return {method: found for method, found in groups.items() if found}


def _block(groups, scores):
    """Return the rows of a data set, the highest mean of each score in bold."""
    means = {m: [mean_score(found, score) for score in scores] for m, found in groups.items()}
    shown = {m: [_digits(value) for value in values] for m, values in means.items()}
    best = [
        max(column) if len(groups) > 1 else None for column in zip(*shown.values(), strict=True)
    ]
    text = ""
    for method, found in groups.items():
        its = DATASETS[found[0].dataset]
        cells = [
            f"**{cell}**" if cell and cell == top else cell
            for cell, top in zip(shown[method], best, strict=True)
        ]
        title = "" if text else its.title
        text += _row(title, METHODS[method].title(its.texts), len(found), *cells, _seconds(found))
    return text


def _network_row(lines):
    """Return the average precisions of the network in the default's vote."""
    cells = [_digits(mean_score(lines, f"{name}_network")) for name in ("AP", "AP_macro")]
    if not all(cells):
        return ""
    return _row("", "… its network alone", len(lines), *cells, *[""] * 5)


def _digits(value):
    """Three digits, and nothing for what was not measured."""
    return "" if np.isnan(value) else f"{value:.3f}".removeprefix("0")


def _seconds(lines):
    seconds = mean_score(lines, "seconds")
    return f"{seconds:.1f}" if seconds < 10 else f"{seconds:.0f}"


def _head(*names, n_texts):
    rule = ["---"] * n_texts + ["---:"] * (len(names) - n_texts)
    return f"{_row(*names)}|{'|'.join(rule)}|\n"


def _row(*cells):
    return f"| {' | '.join(map(str, cells))} |\n"
