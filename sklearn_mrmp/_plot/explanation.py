"""ExplanationDisplay: why one label has its probability, as bars by voter and by feature.

Draws an item of an `Explanation`; matplotlib is imported when something is drawn.
"""

import numpy as np

from sklearn_mrmp._explain.terms import largest, others, signed
from sklearn_mrmp._explain.value import Explanation
from sklearn_mrmp._graph.relation_style import relation_styles
from sklearn_mrmp._host.optional import import_optional
from sklearn_mrmp._plot._text import PLAIN, set_plain, shorten

_NAME_LENGTH = 24  # longer names would take the room of the bars


class ExplanationDisplay:
    """Picture of an explanation: what each part adds to the log odds, and what each feature adds.

    Blue bars raise the probability of the label, red ones lower it. The bars of the first panel add
    up to the log odds. Those of the second are sums over the base learners whose terms are known.

    It is recommended to use `ExplanationDisplay.from_explanation` or
    `ExplanationDisplay.from_estimator`.

    Parameters
    ----------
    parts : mapping of str to float
        What each part adds.
    features : mapping of str to float
        What each feature, or word, adds.
    title : str, default=None
        Title of the figure.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    axes_ : ndarray of matplotlib Axes
        The panel of the parts, then that of the features.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from sklearn_mrmp import ExplanationDisplay
    >>> display = ExplanationDisplay({"linear": 1.2, "frequency": -0.4}, {"sea": 1.5}).plot()
    >>> [ax.get_title() for ax in display.axes_]
    ['parts of the log odds', 'features']
    """

    def __init__(self, parts, features, title=None):
        self.parts = parts
        self.features = features
        self.title = title

    @classmethod
    def from_explanation(cls, explanation, which=0, *, n_features=10, axes=None):
        """Draw an item of an explanation.

        Parameters
        ----------
        explanation : Explanation
            As ``explain`` returned it.
        which : int or (int, str), default=0
            Place of the item, or its row and label.
        n_features : int, default=10
            Features that are drawn; the sum of the others is written below.
        axes : sequence of matplotlib Axes, default=None
            Two; a new figure when None.

        Returns
        -------
        display : ExplanationDisplay
        """
        item = explanation[which]
        title = f"{item.label} (row {item.row}): probability {item.probability:.2f}"
        return cls(item.parts, item.features(), title).plot(n_features=n_features, axes=axes)

    @classmethod
    def from_estimator(cls, estimator, X, *, label=None, n_features=10, axes=None):
        """Explain a label of the first row, and draw it.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier with a network, or a pipeline or search that ends in one.
        X : array-like
            Rows as the estimator takes them, of which the first is explained.
        label : str or int, default=None
            Name or number of the label; None is the most probable one of those predicted.
        n_features : int, default=10
            Features that are drawn; the sum of the others is written below.
        axes : sequence of matplotlib Axes, default=None
            Two; a new figure when None.

        Returns
        -------
        display : ExplanationDisplay
        """
        explanation = Explanation.from_estimator(estimator, X[:1], label)
        which = int(np.argmax([item.probability for item in explanation]))
        return cls.from_explanation(explanation, which, n_features=n_features, axes=axes)

    def plot(self, *, n_features=10, axes=None):
        """Draw.

        Parameters
        ----------
        n_features : int, default=10
            Features that are drawn; the sum of the others is written below.
        axes : sequence of matplotlib Axes, default=None
            Two; a new figure when None.

        Returns
        -------
        display : ExplanationDisplay
        """
        features, rest = largest(self.features, n_features)
        is_new = axes is None
        n_bars = max(len(features), len(self.parts), 3)
        self.axes_ = self._axes(axes, n_bars)
        self.figure_ = self.axes_[0].figure
        _draw(self.axes_[0], list(self.parts.items()), n_bars, "parts of the log odds")
        _draw(self.axes_[1], features, n_bars, "features")
        if len(self.features) > n_features:  # as one bar they would often dwarf all others
            text = f"log odds; {others(len(self.features) - n_features)}: {signed(rest)}"
            self.axes_[1].set_xlabel(text)
        if is_new and self.title:
            self.figure_.suptitle(self.title, **PLAIN)
        return self

    def _axes(self, axes, n_bars):
        if axes is None:
            plt = import_optional("matplotlib.pyplot", "plot")
            size = (8.5, 0.3 * n_bars + 1.4)
            _, axes = plt.subplots(1, 2, figsize=size, layout="constrained")
        axes = np.asarray(axes, dtype=object).ravel()
        if len(axes) != 2:
            raise ValueError(f"axes must be 2 Axes, of parts and of features, got {len(axes)}.")
        return axes


def _draw(ax, values, n_bars, title):
    """Draw horizontal bars, the first one on top, with room for so many."""
    styles = relation_styles(["pulling", "pushing"])
    raises, lowers = styles["pulling"][0], styles["pushing"][0]
    heights = [value for _, value in values]
    places = np.arange(len(values))
    colors = [raises if value >= 0 else lowers for value in heights]
    ax.barh(places, heights, color=colors, height=0.7)
    for place, value in zip(places, heights, strict=True):
        # Beyond the end of the bar, on the side it points to.
        shift, side = (3, "left") if value >= 0 else (-3, "right")
        options = {"xytext": (shift, 0), "textcoords": "offset points", "va": "center"}
        ax.annotate(signed(value), (value, place), ha=side, fontsize="small", **options)
    ax.axvline(0, color="0.3", lw=0.8)
    ax.set_yticks(places, [shorten(name, _NAME_LENGTH) for name, _ in values])
    set_plain(ax.get_yticklabels())
    ax.set_ylim(n_bars - 0.5, -0.5)
    ax.margins(x=0.2)
    ax.set_xlabel("log odds")
    ax.set_title(title)
    ax.grid(axis="x", alpha=0.3)
    ax.set_axisbelow(True)
