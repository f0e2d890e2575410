"""ComparisonDisplay: a comparison of classifiers as one small panel per metric.

Draws a `ComparisonResult`; matplotlib is imported when something is drawn.
"""

import numpy as np

from sklearn_mrmp._compare.report import PAPER_NAMES, deviation, mean
from sklearn_mrmp._host.optional import import_optional

_COLORS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd")
_MARKERS = ("o", "D", "s", "^")


class ComparisonDisplay:
    """Picture of a comparison: test scores per metric and classifier, and the time to fit.

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
        handles, labels = self.axes_[0].get_legend_handles_labels()
        if axes is None:
            if len(handles) > 1:
                self.figure_.legend(
                    handles, labels, loc="outside lower center", ncols=len(handles), frameon=False
                )
            if self.title:
                self.figure_.suptitle(self.title)
        return self

    def _axes(self, axes, n_panels):
        if axes is None:
            plt = import_optional("matplotlib.pyplot", "plot")
            size = (2.1 * n_panels + 1, 0.42 * len(self.methods) + 1.5)
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
                ax.plot(*(means[best], best + shift), "o", ms=11, mfc="none", mec=color, alpha=0.6)
        ax.set_title(PAPER_NAMES.get(metric, metric))
        ax.set_xlabel(metric)
        ax.grid(axis="x", alpha=0.3)
        ax.margins(x=0.15)

    def _plot_times(self, ax):
        # Points and not bars: the length of a bar means nothing on a logarithmic axis.
        rows = np.arange(len(self.methods))
        ax.plot(self.fit_times, rows, "o", color="#555555")
        for row, seconds in zip(rows, self.fit_times, strict=True):
            if seconds > 0:
                text = f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"
                ax.annotate(text, (seconds, row), (0, 6), textcoords="offset points", ha="center")
        if np.nan_to_num(self.fit_times).max(initial=0) > 0:
            ax.set_xscale("log")
        ax.set_title("fit time")
        ax.set_xlabel("seconds")
        ax.grid(axis="x", alpha=0.3)
        ax.margins(x=0.25)

    def _label_methods(self):
        for ax in self.axes_:
            ax.set_ylim(len(self.methods) - 0.5, -0.5)
            ax.set_yticks(np.arange(len(self.methods)))
        failed = np.isnan(self.fit_times)
        names = [f"{m} (failed)" if f else m for m, f in zip(self.methods, failed, strict=True)]
        self.axes_[0].set_yticks(np.arange(len(names)), names)
