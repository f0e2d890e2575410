"""The part of a comparison's page with the results of each label: a table by a script.

Knows a `ComparisonResult` by its methods, and measures from counts.
"""

import numpy as np

from sklearn_mrmp._host.html import json_block
from sklearn_mrmp._pages.template import Section, packed
from sklearn_mrmp._reports.measures import count_measures

_MEASURES = ("f1", "precision", "recall")


def label_results_section(result, label_names):
    """Return the section, in a list; an empty list if no run has counts.

    Parameters
    ----------
    result : ComparisonResult
        With its setting.
    label_names : ndarray of str
        Names of the labels.

    Returns
    -------
    sections : list of Section
    """
    known = {run.method for run in result.runs if run.details}
    methods = [method for method in result.methods if method in known]
    if not methods:
        return []
    runs = {m: [r for r in result.runs if r.method == m and r.details] for m in methods}
    points = [[decision, metric] for decision in result.decisions for metric in result.metrics]
    support = result.setting.support
    counted = [_measures(runs[m], *point, support) for point in points for m in methods]
    ranked = [_seed_means([r.details["average_precision"] for r in runs[m]]) for m in methods]
    content = {
        "names": label_names.tolist(),
        "methods": methods,
        "decisions": list(result.decisions),
        "metrics": list(result.metrics),
        "measures": list(_MEASURES),
        "support": packed(support),
        # by decision, metric, classifier, measure and label, one after the other
        "counted": packed(np.ravel(counted)),
        "ranked": packed(np.ravel(ranked)),
    }
    html = f"<div class='label-results'>{json_block(content, 'results-data')}</div>"
    return [Section("Labels", html, ("label_results.js",))]


def _measures(runs, decision, metric, support):
    """F1, precision and recall of each label, means over seeds."""
    counts = [run.details["counts"][decision][metric] for run in runs]
    by_seed = [
        count_measures(np.array(c["hits"]), np.array(c["predicted"]), support) for c in counts
    ]
    return [_seed_means([measures[name] for measures in by_seed]) for name in _MEASURES]


def _seed_means(values):
    """Means over the seeds in which something is known; NaN where it never is."""
    values = np.array(values, dtype=float)
    known = ~np.isnan(values)
    total = np.where(known, values, 0).sum(axis=0)
    n_known = known.sum(axis=0)
    return np.divide(total, n_known, out=np.full(total.shape, np.nan), where=n_known > 0)
