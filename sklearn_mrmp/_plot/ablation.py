"""AblationDisplay: what label relations are worth to labels of few and of many neighbours.

Draws an `AblationResult`; matplotlib is imported when something is drawn.
"""

import numpy as np

from sklearn_mrmp._graph.relation_style import relation_styles
from sklearn_mrmp._host.optional import import_optional
from sklearn_mrmp._plot._text import PLAIN


def _labels(count):
    return f"{count} label" if count == 1 else f"{count} labels"


class AblationDisplay:
    """Picture of an ablation: one panel per relation, one bar per group of labels.

    It is recommended to use `AblationDisplay.from_result`.

    Parameters
    ----------
    result : AblationResult
        The outcome of `relation_ablation` or `auc_gain_by_degree`.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    axes_ : ndarray of matplotlib Axes
        One panel per relation.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from sklearn_mrmp import LabelGraph
    >>> from sklearn_mrmp import auc_gain_by_degree
    >>> from sklearn_mrmp import AblationDisplay
    >>> graph = LabelGraph({"pulling": [[0, 1], [1, 0]]})
    >>> Y = [[1, 1], [0, 1], [1, 0]]
    >>> result = auc_gain_by_degree(Y, [[1, 1], [0, 1], [1, 0]], [[0, 1], [0, 1], [1, 0]], graph)
    >>> [ax.get_title() for ax in AblationDisplay.from_result(result).axes_]
    ['pulling']
    """

    def __init__(self, result):
        self.result = result

    @classmethod
    def from_result(cls, result, *, axes=None):
        """Draw the outcome of an ablation.

        Parameters
        ----------
        result : AblationResult
            The outcome.
        axes : sequence of matplotlib Axes, default=None
            One per relation; a new figure when None.

        Returns
        -------
        display : AblationDisplay
        """
        return cls(result).plot(axes=axes)

    def plot(self, *, axes=None):
        """Draw.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, default=None
            One per relation; a new figure when None.

        Returns
        -------
        display : AblationDisplay
        """
        relations = list(self.result.graph.relations)
        new_figure = axes is None
        self.axes_ = self._axes(axes, len(relations))
        self.figure_ = self.axes_[0].figure
        styles = relation_styles(relations)
        for ax, relation in zip(self.axes_, relations, strict=True):
            self._plot_relation(ax, relation, styles[relation][0])
        self.axes_[0].set_ylabel("ROC-AUC, with minus without")
        if new_figure and self.result.n_undefined:
            count = _labels(self.result.n_undefined)
            text = f"{count} without both classes in the test rows left out"
            self.figure_.supxlabel(text, fontsize="small")
        return self

    def _axes(self, axes, n_panels):
        if axes is None:
            plt = import_optional("matplotlib.pyplot", "plot")
            size = (3.4 * n_panels + 0.6, 3.4)
            _, axes = plt.subplots(1, n_panels, sharey=True, figsize=size, layout="constrained")
        axes = np.asarray(axes, dtype=object).ravel()
        if len(axes) != n_panels:
            raise ValueError(f"axes must be {n_panels} Axes, one per relation, got {len(axes)}.")
        return axes

    def _plot_relation(self, ax, relation, color):
        groups = [group for group in self.result.groups if group.relation == relation]
        for x, group in enumerate(groups):
            # The labels themselves, lest a mean of a few extreme ones deceive.
            values = np.sort(self.result.gain[list(group.labels)])
            spread = np.linspace(-0.25, 0.25, len(values)) if len(values) > 1 else np.zeros(1)
            ax.bar(x, group.gain, width=0.75, color=color, alpha=0.35)
            ax.plot(x + spread, values, ".", color=color, ms=4)
            if not np.isnan(group.gain_std):
                ax.errorbar(x, group.gain, yerr=group.gain_std, color="0.2", capsize=4)
        ax.axhline(0, color="0.3", lw=0.8)
        ticks = [f"{group.degrees}\n({_labels(len(group.labels))})" for group in groups]
        ax.set_xticks(range(len(groups)), ticks, fontsize="small")
        ax.set_title(relation, **PLAIN)
        ax.set_xlabel("neighbours in the label graph")
        ax.grid(axis="y", alpha=0.3)
