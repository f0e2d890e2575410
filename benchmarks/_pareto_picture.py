"""The chart of `pareto.py`: means over seeds, the front, what beats ours, and the pictures.

Helper of `pareto.py`. Knows rows of its CSV file, as dicts of texts or numbers.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from _pareto_methods import GROWTH, METHODS

_TITLES = {"rcv1": "RCV1", "imdb": "IMDB"}
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
    """Colour and marker of each method: ours are of one colour, the first of them large."""
    import matplotlib as mpl

    ours = [name for name in METHODS if is_ours(name)]
    others = [name for name in METHODS if not is_ours(name)]
    styles = {
        name: {"color": "black", "marker": marker, "s": 130 if marker == "*" else 45}
        for name, marker in zip(ours, "*o^sDP", strict=True)
    }
    for number, name in enumerate(others):
        colour = mpl.color_sequences["tab20"][number % 20]
        styles[name] = {"color": colour, "marker": "ov<>spXdPh"[number % 10], "s": 35}
    return styles


def _panel(ax, rows, dataset, measure, styles):
    """Draw the points of a data set; what was stopped stands at the right edge."""
    of_all = points(rows, dataset, measure)
    for point in of_all:
        ax.scatter(point.seconds, point.score, zorder=3, **styles[point.method])
    line = front(of_all)
    where = [p.seconds for p in line], [p.score for p in line]
    ax.step(*where, where="post", color="grey", lw=0.8)
    for place, name in enumerate(stopped(rows, dataset)):
        height = 0.04 + 0.05 * place
        ax.scatter(1.0, height, transform=ax.transAxes, clip_on=False, **styles[name])


def _growth_panel(ax, rows, dataset, styles):
    """Draw the seconds of a data set at shares of its training rows."""
    for name in GROWTH:
        mine = sorted(
            (int(row["n_rows"]), float(row["fit_seconds"]))
            for row in rows
            if (row["dataset"], row["method"], row["status"]) == (dataset, name, "ok")
            and int(row["seed"]) == 0
        )
        style = {"color": styles[name]["color"], "marker": styles[name]["marker"]}
        ax.plot(*np.reshape(mine, (-1, 2)).T, **style)


def _legend(ax, names, styles):
    """Fill an empty panel with the names of methods."""
    for name in names:
        ax.scatter([], [], label=METHODS[name].label, **styles[name])
    ax.legend(loc="center", fontsize=8, ncols=2 if len(names) > 8 else 1)


def _picture(datasets, names, styles, draw_panel):
    """Return a picture with a panel for each data set, and the names of the methods."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 4, figsize=(15, 7), layout="constrained")
    for ax, dataset in zip(axes.flat, datasets, strict=False):
        draw_panel(ax, dataset)
        ax.set(xscale="log", title=_TITLES.get(dataset, dataset.capitalize()))
        ax.grid(alpha=0.3)
    for ax in axes.flat[len(datasets) :]:
        ax.axis("off")
    _legend(axes.flat[-1], names, styles)
    return figure


def _save(figure, path, below, beside):
    """Write a picture with the names of its axes."""
    import matplotlib.pyplot as plt

    figure.supxlabel(below)
    figure.supylabel(beside)
    figure.savefig(path, dpi=80)
    plt.close(figure)


def draw(rows, datasets, folder):
    """Write ``pareto_<measure>.png`` and ``pareto_growth.png`` into a folder.

    Data sets of which no run is there have no panel.
    """
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    styles = _styles()
    done = {(row["dataset"], row["method"]) for row in rows if row["status"] == "ok"}
    known = [name for name in datasets if name in {dataset for dataset, _ in done}]
    for measure, title in MEASURES.items():

        def panel(ax, dataset, measure=measure):
            _panel(ax, rows, dataset, measure, styles)

        figure = _picture(known, METHODS, styles, panel)
        below = "seconds of fitting, one thread (at the right edge: stopped)"
        _save(figure, folder / f"pareto_{measure}.png", below, title)

    def growth_panel(ax, dataset):
        _growth_panel(ax, rows, dataset, styles)
        ax.set_yscale("log")

    grown = [name for name in known if any((name, method) in done for method in GROWTH)]
    figure = _picture(grown, GROWTH, styles, growth_panel)
    seconds = "seconds of fitting, one thread"
    _save(figure, folder / "pareto_growth.png", "training rows", seconds)
