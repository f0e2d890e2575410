"""The rank picture of the results: a critical-difference diagram for each score, and for seconds.

Knows the lines of the CSV file; matplotlib is imported when something is drawn.
"""

from sklearn_mrmp._compare.benchmark.lines import SCORES
from sklearn_mrmp._compare.benchmark.sets import DATASETS
from sklearn_mrmp._compare.benchmark.tables import mean_score
from sklearn_mrmp._compare.statistics import PAPER_NAMES
from sklearn_mrmp._host.optional import import_optional

# Methods that are there for features and for texts.
RANKED = {
    "regression": "logistic regressions",
    "voters": "linear + neighbours",
    "default": "MrMPClassifier",
}


def ranked_sets(lines):
    """Return the data sets that all ranked methods were fitted on, the same rows once."""
    done = {(line.dataset, line.method) for line in lines}
    complete = [name for name in DATASETS if {(name, method) for method in RANKED} <= done]
    return [name for name in complete if DATASETS[name].same_rows_as not in complete]


def rank_scores(lines, name):
    """Return the mean scores of each ranked method, one for each of `ranked_sets`."""
    return {
        title: [
            mean_score([x for x in lines if (x.dataset, x.method) == (dataset, method)], name)
            for dataset in ranked_sets(lines)
        ]
        for method, title in RANKED.items()
    }


def draw_ranks(lines, path):
    """Draw a panel for each score and one for seconds, and write the picture.

    Parameters
    ----------
    lines : list of ResultLine
        The results.
    path : path-like
        The file; its ending is the format.
    """
    from sklearn_mrmp._plot.ranks import RankDisplay

    figures = import_optional("matplotlib.figure", "plot")
    figure = figures.Figure(figsize=(11, 6), layout="constrained")
    panels = {PAPER_NAMES.get(name, name): name for name in SCORES} | {"fit time": "seconds"}
    for ax, (title, name) in zip(figure.subplots(3, 2).flat, panels.items(), strict=True):
        RankDisplay.from_scores(
            rank_scores(lines, name), greater_is_better=name != "seconds", ax=ax, title=title
        )
    figure.suptitle(f"Mean ranks on {len(ranked_sets(lines))} data sets; 1 is the best")
    figure.savefig(path, dpi=100)
