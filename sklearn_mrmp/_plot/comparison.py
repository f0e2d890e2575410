"""ComparisonDisplay: a comparison of classifiers as one small panel per metric.

Draws a `ComparisonResult`; matplotlib is imported when something is drawn.
"""

import numpy as np

from sklearn_mrmp._compare.statistics import PAPER_NAMES, deviation, mean
from sklearn_mrmp._host.optional import import_optional
from sklearn_mrmp._plot._text import PLAIN, set_plain, shorten

_NAME_LENGTH = 32  # longer names of classifiers would take the room of the panels
_COLORS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd")
_MARKERS = ("o", "D", "s", "^")
_RING = {"marker": "o", "ms": 11, "mfc": "none", "alpha": 0.6}


class ComparisonDisplay:
    """Picture of a comparison: test scores per metric and classifier, and the time to fit.

    For each decision a ring marks the classifier with the highest mean. Long names are shortened
    with an ellipsis; ``methods`` has them in full.

    It is recommended to use `ComparisonDisplay.from_result`.

    Parameters
    ----------
    methods : list of str
        Names of the classifiers, from top to bottom.
    means, deviations : dict of (str, str) to ndarray of shape (n_methods,)
        For each decision and metric the mean test score over seeds and its standard deviation;
        NaN where a classifier failed or has a single seed.
    fit_times : ndarray of shape (n_methods,)
        Mean seconds to fit.
    title : str, default=None
        Title of the figure.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    axes_ : ndarray of matplotlib Axes
        One panel per metric, then that of the times.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import numpy as np
    >>> from sklearn_mrmp import ComparisonDisplay
    >>> display = ComparisonDisplay(
    ...     ["guess", "logistic"], {("optimal", "f1_micro"): np.array([0.3, 0.8])},
    ...     {("optimal", "f1_micro"): np.array([0.01, 0.02])}, np.array([0.1, 2.0])).plot()
    >>> [ax.get_title() for ax in display.axes_]
    ['miF1', 'fit time']
    """

    def __init__(self, methods, means, deviations, fit_times, title=None):
        self.methods = methods
        self.means = means
        self.deviations = deviations
        self.fit_times = fit_times
        self.title = title

    @classmethod
    def from_result(cls, result, *, axes=None, title=None):
        """Draw the outcome of `compare_classifiers`.

        Parameters
        ----------
        result : ComparisonResult
            The outcome.
        axes : sequence of matplotlib Axes, default=None
            One per metric and one more; a new figure when None.
        title : str, default=None
            Title of the figure.

        Returns
        -------
        display : ComparisonDisplay
        """

        def over_methods(statistic, decision, metric):
            scores = [result.scores(method, decision, metric) for method in result.methods]
            return np.array([statistic(s) for s in scores])

        keys = [(d, m) for d in result.decisions for m in result.metrics]
        means = {key: over_methods(mean, *key) for key in keys}
        deviations = {key: over_methods(deviation, *key) for key in keys}
        times = np.array([mean(result.cost(method, "fit_time")) for method in result.methods])
        return cls(result.methods, means, deviations, times, title).plot(axes=axes)

    def plot(self, *, axes=None):
        """Draw.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, default=None
            One per metric and one more; a new figure when None.

        Returns
        -------
        display : ComparisonDisplay
        """
        metrics = list(dict.fromkeys(metric for _, metric in self.means))
        self.axes_ = self._axes(axes, len(metrics) + 1)
        self.figure_ = self.axes_[0].figure
        for ax, metric in zip(self.axes_, metrics, strict=False):
            self._plot_metric(ax, metric)
        self._plot_times(self.axes_[-1])
        self._label_methods()
        if axes is None:
            self._draw_legend()
            if self.title:
                self.figure_.suptitle(self.title, **PLAIN)
        return self

    def _draw_legend(self):
        """Explain the decisions and the ring; a single decision without a best one needs none."""
        lines = import_optional("matplotlib.lines", "plot")
        handles, _ = self.axes_[0].get_legend_handles_labels()
        if any(not np.isnan(means).all() for means in self.means.values()):
            text = "best mean of the decision"
            handles.append(lines.Line2D([], [], color="0.3", **_RING, ls="", label=text))
        if len(handles) > 1:
            legend = self.figure_.legend(
                handles=handles, loc="outside lower center", ncols=len(handles), frameon=False
            )
            set_plain(legend.get_texts())

    def _axes(self, axes, n_panels):
        if axes is None:
            plt = import_optional("matplotlib.pyplot", "plot")
            names = max((len(name) for name in self._names()), default=0)
            size = (2.1 * n_panels + 0.08 * names, 0.42 * len(self.methods) + 1.5)
            _, axes = plt.subplots(1, n_panels, sharey=True, figsize=size, layout="constrained")
        axes = np.asarray(axes, dtype=object).ravel()
        if len(axes) != n_panels:
            raise ValueError(
                f"axes must be {n_panels} Axes, one per metric and one, got {len(axes)}."
            )
        return axes

    def _plot_metric(self, ax, metric):
        decisions = [decision for decision, name in self.means if name == metric]
        rows = np.arange(len(self.methods))
        for k, decision in enumerate(decisions):
            # Side by side, so that equal values do not hide each other.
            shift = 0.24 * (k - (len(decisions) - 1) / 2)
            means = self.means[decision, metric]
            color = _COLORS[k % len(_COLORS)]
            ax.errorbar(
                means,
                rows + shift,
                xerr=np.nan_to_num(self.deviations[decision, metric]),
                fmt=_MARKERS[k % len(_MARKERS)],
                color=color,
                markersize=5,
                capsize=2,
                label=f"decision: {decision}",
            )
            if not np.isnan(means).all():
                best = int(np.nanargmax(means))
                ax.plot(means[best], best + shift, color=color, **_RING)
        ax.set_title(PAPER_NAMES.get(metric, metric), **PLAIN)
        ax.set_xlabel(metric, **PLAIN)
        ax.grid(axis="x", alpha=0.3)
        ax.margins(x=0.15)

    def _plot_times(self, ax):
        # Points and not bars: the length of a bar means nothing on a logarithmic axis.
        rows = np.arange(len(self.methods))
        ax.plot(self.fit_times, rows, "o", color="#555555")
        for row, seconds in zip(rows, self.fit_times, strict=True):
            if seconds > 0:
                # Beside the point, where no other row can be.
                text = f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"
                place = {"xytext": (7, 0), "textcoords": "offset points", "va": "center"}
                ax.annotate(text, (seconds, row), **place, fontsize="small")
        self._scale_times(ax)
        ax.set_title("fit time")
        ax.set_xlabel("seconds")
        ax.grid(axis="x", alpha=0.3)

    def _scale_times(self, ax):
        """Logarithmic axis with room for the longest time's text on the right."""
        positive = self.fit_times[np.nan_to_num(self.fit_times) > 0]
        if len(positive):
            low, high = np.log10([positive.min(), positive.max()])
            width = max(high - low, 1.0)
            ax.set_xscale("log")
            ax.set_xlim(10 ** (low - 0.15 * width), 10 ** (high + 0.55 * width))

    def _names(self):
        """Names as they are written, with a note on those that failed."""
        short = [shorten(method, _NAME_LENGTH) for method in self.methods]
        failed = np.isnan(self.fit_times)
        return [f"{m} (failed)" if f else m for m, f in zip(short, failed, strict=True)]

    def _label_methods(self):
        rows = np.arange(len(self.methods))
        for ax in self.axes_:
            ax.set_ylim(len(self.methods) - 0.5, -0.5)
            ax.set_yticks(rows)
        self.axes_[0].set_yticks(rows, self._names())
        for ax in self.axes_:
            set_plain(ax.get_yticklabels())  # all, because axes that share y share the names
