"""The chart of `pareto.py`: means over seeds, the front, what beats ours, and the pictures.

Helper of `pareto.py`. Knows rows of its CSV file, as dicts of texts or numbers.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from _pareto_methods import GROWTH, METHODS

MEASURES = {"f1_micro": "micro-F1", "average_precision": "average precision (micro)"}


@dataclass(frozen=True)
class Point:
    """A method on a data set: means over its seeds."""

    method: str
    seconds: float
    score: float

    def beats(self, other):
        """Whether it is both faster and better."""
        return self.seconds < other.seconds and self.score > other.score


def points(rows, dataset, measure):
    """Return the points of a data set, fastest first."""
    found = defaultdict(list)
    for row in rows:
        if row["dataset"] == dataset and float(row["share"]) == 1 and row["status"] == "ok":
            found[row["method"]].append((float(row["fit_seconds"]), float(row[measure])))
    means = [Point(name, *np.mean(pairs, axis=0)) for name, pairs in found.items()]
    return sorted(means, key=lambda point: point.seconds)


def stopped(rows, dataset):
    """Names of methods that were stopped before they were done, for their seconds or memory."""
    return sorted(
        {
            row["method"]
            for row in rows
            if row["dataset"] == dataset and float(row["share"]) == 1 and row["status"] != "ok"
        }
    )


def front(of_points):
    """Return the points that no other is faster and better than."""
    return [p for p in of_points if not any(other.beats(p) for other in of_points)]


def is_ours(name):
    """Whether a method is one of this package's network and voters."""
    return METHODS[name].kind == "ours"


def _text(point):
    return f"{METHODS[point.method].label} ({point.seconds:.1f} s, {point.score:.3f})"


def verdicts(rows, datasets):
    """Lines that say, for each data set and measure, who is on the front and who beats ours."""
    for dataset in datasets:
        for measure, title in MEASURES.items():
            of_all = points(rows, dataset, measure)
            if not of_all:
                continue
            yield f"{dataset}, {title}: on the front {', '.join(map(_text, front(of_all)))}"
            others = [p for p in of_all if not is_ours(p.method)]
            for mine in (p for p in of_all if is_ours(p.method)):
                beating = [_text(other) for other in others if other.beats(mine)]
                said = f"beaten by {', '.join(beating)}" if beating else "beaten by no other method"
                yield f"  {_text(mine)}: {said}"
        if names := stopped(rows, dataset):
            yield f"  stopped: {', '.join(METHODS[name].label for name in names)}"


def _styles():
    """Colour and marker of each method: ours are filled and of one colour."""
    import matplotlib as mpl

    colours, styles = mpl.color_sequences["tab20"], {}
    others = [name for name in METHODS if not is_ours(name)]
    for place, marker in zip([name for name in METHODS if is_ours(name)], "*o^sDP", strict=True):
        styles[place] = {"color": "crimson", "marker": marker, "s": 130 if marker == "*" else 45}
    for number, name in enumerate(others):
        marker = "ov<>spXdPh"[number % 10]
        styles[name] = {"color": colours[number % 20], "marker": marker, "s": 35}
    return styles


def _panel(ax, rows, dataset, measure, styles):
    """Draw the points of a data set; what was stopped stands at the right edge."""
    of_all = points(rows, dataset, measure)
    for point in of_all:
        ax.scatter(point.seconds, point.score, zorder=3, **styles[point.method])
    line = front(of_all)
    ax.step([p.seconds for p in line], [p.score for p in line], where="post", color="grey", lw=0.8)
    for place, name in enumerate(stopped(rows, dataset)):
        ax.scatter(
            0.985, 0.04 + 0.05 * place, transform=ax.transAxes, clip_on=False, **styles[name]
        )
    ax.set_xscale("log")
    ax.set_title(dataset.upper() if dataset in ("rcv1", "imdb") else dataset.capitalize())
    ax.grid(alpha=0.3)


def _legend(ax, plt, styles):
    """Fill an empty panel with the names of all methods."""
    ax.axis("off")
    handles = [
        plt.Line2D([], [], linestyle="", color=style["color"], marker=style["marker"])
        for style in styles.values()
    ]
    ax.legend(handles, [METHODS[name].label for name in styles], loc="center", fontsize=7, ncols=2)


def _chart(plt, rows, datasets, measure, styles):
    """Return a picture with a panel for each data set."""
    figure, axes = plt.subplots(2, 4, figsize=(15, 7), layout="constrained")
    for ax, dataset in zip(axes.flat, datasets, strict=False):
        _panel(ax, rows, dataset, measure, styles)
    _legend(axes.flat[-1], plt, styles)
    figure.supxlabel("seconds of fitting, one thread (marks at the right edge: stopped)")
    figure.supylabel(MEASURES[measure])
    return figure


def _growth(plt, rows, datasets, styles):
    """Return a picture of the seconds at shares of the training rows."""
    figure, axes = plt.subplots(2, 4, figsize=(15, 7), layout="constrained")
    for ax, dataset in zip(axes.flat, datasets, strict=False):
        for name in GROWTH:
            mine = [
                (int(row["n_rows"]), float(row["fit_seconds"]))
                for row in rows
                if (row["dataset"], row["method"], row["status"]) == (dataset, name, "ok")
                and int(row["seed"]) == 0
            ]
            style = {"color": styles[name]["color"], "marker": styles[name]["marker"]}
            ax.plot(*np.reshape(sorted(mine), (-1, 2)).T, label=METHODS[name].label, **style)
        ax.set(xscale="log", yscale="log", title=dataset)
        ax.grid(alpha=0.3)
    axes.flat[-1].axis("off")
    axes.flat[-1].legend(*axes.flat[0].get_legend_handles_labels(), loc="center")
    figure.supxlabel("training rows")
    figure.supylabel("seconds of fitting, one thread")
    return figure


def draw(rows, datasets, folder):
    """Write ``pareto_<measure>.png`` and ``pareto_growth.png`` into a folder."""
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    styles = _styles()
    pictures = {measure: _chart(plt, rows, datasets, measure, styles) for measure in MEASURES}
    pictures["growth"] = _growth(plt, rows, datasets, styles)
    for name, figure in pictures.items():
        figure.savefig(folder / f"pareto_{name}.png", dpi=90)
        plt.close(figure)
