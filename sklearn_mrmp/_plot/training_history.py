"""The course of training: losses per epoch, with the epoch whose weights are used."""

from sklearn_mrmp._host.optional import import_optional
from sklearn_mrmp._plot._unwrap import find_fitted


class TrainingHistoryDisplay:
    """Training and validation loss of each epoch.

    Use `from_estimator` to make one.

    Parameters
    ----------
    history : list of dict
        One per epoch, as `MrMPClassifier` keeps it in ``history_``; shows ``train_loss`` and,
        where there is one, ``valid_loss``.
    best_epoch : int, default=None
        Epoch to mark, from 1.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    lines_ : list of matplotlib Line2D
        The curves.

    Examples
    --------
    >>> from sklearn_mrmp import TrainingHistoryDisplay
    >>> history = [{"train_loss": 0.5, "valid_loss": 0.4}, {"train_loss": 0.3, "valid_loss": 0.35}]
    >>> display = TrainingHistoryDisplay(history, best_epoch=2).plot()
    >>> display.ax_.get_xlabel()
    'epoch'
    """

    def __init__(self, history, best_epoch=None):
        self.history = history
        self.best_epoch = best_epoch

    @classmethod
    def from_estimator(cls, estimator, *, ax=None):
        """Draw the history of a fitted classifier.

        Parameters
        ----------
        estimator : MrMPClassifier, or a pipeline or search that ends in one
            Fitted; the classifier may also be inside a `TunedDecisionClassifier`.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : TrainingHistoryDisplay
        """
        classifier = find_fitted(estimator, "history_")
        return cls(classifier.history_, classifier.best_epoch_).plot(ax=ax)

    def plot(self, *, ax=None):
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : TrainingHistoryDisplay
            Itself.
        """
        if ax is None:
            plt = import_optional("matplotlib.pyplot", "plot")
            _, ax = plt.subplots(figsize=(5, 3.5), layout="constrained")
        self.ax_, self.figure_, self.lines_ = ax, ax.figure, []
        for name, label in (("train_loss", "training"), ("valid_loss", "validation")):
            points = [(i + 1, e[name]) for i, e in enumerate(self.history) if name in e]
            if points:
                self.lines_ += ax.plot(*zip(*points, strict=True), marker="o", ms=3, label=label)
        if self.best_epoch is not None:
            ax.axvline(self.best_epoch, color="0.5", ls=":", label=f"used: epoch {self.best_epoch}")
        ax.set(xlabel="epoch", ylabel="loss")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(frameon=False)
        return self
