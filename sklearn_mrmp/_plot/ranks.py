"""RankDisplay: mean ranks of methods over data sets, as a critical-difference diagram.

Draws what `_compare.ranks` finds; matplotlib is imported when something is drawn.
"""

import numpy as np

from sklearn_mrmp._compare.ranks import compare_ranks
from sklearn_mrmp._host.optional import import_optional
from sklearn_mrmp._plot._text import PLAIN, shorten

_NAME_LENGTH = 40  # longer names would take the room of the ranks
_ROW, _BAR = 1.0, 0.45  # heights: of a row of names, and of a bar that joins a group
_LINE = {"color": "0.2", "lw": 1.0, "solid_capstyle": "butt", "clip_on": False}


class RankDisplay:
    """Critical-difference diagram: mean ranks of methods over data sets.

    Each method stands at its mean rank; rank 1, on the left, is the best. A thick bar joins methods
    that were not told apart.

    It is recommended to use `RankDisplay.from_scores`.

    Parameters
    ----------
    methods : sequence of str
        Names, the best mean rank first.
    mean_ranks : array-like of shape (n_methods,)
        Their mean ranks.
    groups : sequence of (int, int), default=()
        Positions of the first and the last method of each group to be joined by a bar.
    critical_difference : float, default=None
        Difference of mean ranks that is drawn as a scale; None draws none.
    n_datasets : int, default=None
        Number of data sets, for those who look.
    p_value : float, default=None
        Of Friedman's test that all methods are alike.
    title : str, default=None
        Title of the picture.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.

    See Also
    --------
    compare_classifiers : Scores of classifiers on one data set.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from sklearn_mrmp import RankDisplay
    >>> scores = {"guess": [0.2, 0.3, 0.1], "linear": [0.5, 0.6, 0.4], "deep": [0.6, 0.7, 0.3]}
    >>> display = RankDisplay.from_scores(scores)
    >>> display.methods
    ('deep', 'linear', 'guess')
    """

    def __init__(
        self,
        methods,
        mean_ranks,
        groups=(),
        critical_difference=None,
        n_datasets=None,
        p_value=None,
        title=None,
    ):
        self.methods = methods
        self.mean_ranks = mean_ranks
        self.groups = groups
        self.critical_difference = critical_difference
        self.n_datasets = n_datasets
        self.p_value = p_value
        self.title = title

    @classmethod
    def from_scores(
        cls, scores, *, test="nemenyi", alpha=0.05, greater_is_better=True, ax=None, title=None
    ):
        """Rank methods by their scores on several data sets, and draw the mean ranks.

        Parameters
        ----------
        scores : mapping of str to array-like of shape (n_datasets,)
            Scores of each method, one for each data set, in the same order; a data frame with a
            column for each method will do. Three methods or more.
        test : {"nemenyi", "wilcoxon"}, default="nemenyi"
            Which methods were told apart: by the difference of their mean ranks (Nemenyi), or pair
            by pair with Wilcoxon's signed ranks and Holm's correction. In both cases none are where
            Friedman's test finds no difference at all.
        alpha : float, default=0.05
            Level of significance.
        greater_is_better : bool, default=True
            Whether high scores are good; False for times and losses.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure when None.
        title : str, default=None
            Title of the picture.

        Returns
        -------
        display : RankDisplay

        Notes
        -----
        The tests take data sets for independent draws from all data sets that matter, which public
        ones rarely are. With few data sets a missing difference means little.
        """
        found = compare_ranks(scores, test, alpha, greater_is_better)
        display = cls(
            found.methods,
            found.mean_ranks,
            found.groups,
            found.critical_difference,
            found.n_datasets,
            found.p_value,
            title,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax=None):
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure when None.

        Returns
        -------
        display : RankDisplay
        """
        self.ax_ = self._axes() if ax is None else ax
        self.figure_ = self.ax_.figure
        n_left = (len(self.methods) + 1) // 2
        below = _BAR * len(self.groups) + 0.6  # what lies between the axis and the names
        self._draw_scale()
        self._draw_groups()
        for place in range(len(self.methods)):
            is_left = place < n_left
            row = place if is_left else len(self.methods) - 1 - place
            self._draw_method(place, -below - _ROW * row, is_left)
        top = 0.8 if self.critical_difference is None else 2.2
        self.ax_.set_xlim(1, len(self.methods))
        self.ax_.set_ylim(-below - _ROW * (n_left - 1) - 0.4, top)
        self.ax_.set_axis_off()
        if self.title is not None:
            self.ax_.set_title(self.title, **PLAIN)
        return self

    def _axes(self):
        plt = import_optional("matplotlib.pyplot", "plot")
        height = 1.2 + 0.3 * ((len(self.methods) + 1) // 2 + len(self.groups))
        return plt.subplots(figsize=(6.5, height), layout="constrained")[1]

    def _draw_scale(self):
        """Draw the ranks from 1 on, and above them how far apart methods have to be."""
        n_methods = len(self.methods)
        self.ax_.plot([1, n_methods], [0, 0], **_LINE)
        for rank in range(1, n_methods + 1):
            self.ax_.plot([rank, rank], [0, 0.15], **_LINE)
            self.ax_.text(rank, 0.25, str(rank), ha="center", va="bottom", fontsize="small")
        if self.critical_difference is None:
            return
        ends = [1, 1 + self.critical_difference]
        self.ax_.plot(ends, [1.25, 1.25], **_LINE)
        for end in ends:
            self.ax_.plot([end, end], [1.15, 1.35], **_LINE)
        text = f"critical difference {self.critical_difference:.2f}"
        self.ax_.text(np.mean(ends), 1.4, text, ha="center", va="bottom", fontsize="small")

    def _draw_groups(self):
        """Draw a bar below the axis for each group of methods that were not told apart."""
        for row, (first, last) in enumerate(self.groups):
            height, more = -_BAR * (row + 0.75), 0.012 * (len(self.methods) - 1)
            ends = self.mean_ranks[first] - more, self.mean_ranks[last] + more
            self.ax_.plot(ends, [height, height], **_LINE | {"color": "#d62728", "lw": 4})

    def _draw_method(self, place, height, is_left):
        """Draw a method's line from its rank on the axis to its name at the side."""
        rank, side = self.mean_ranks[place], 1 if is_left else len(self.methods)
        self.ax_.plot([rank, rank, side], [0, height, height], **_LINE)
        name = shorten(self.methods[place], _NAME_LENGTH)
        self.ax_.annotate(
            f"{name}  {rank:.2f}" if is_left else f"{rank:.2f}  {name}",
            (side, height),
            xytext=(-4 if is_left else 4, 0),
            textcoords="offset points",
            ha="right" if is_left else "left",
            va="center",
            **PLAIN,
        )
