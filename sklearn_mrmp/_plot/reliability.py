"""How often labels are there, by the probability they were given: a reliability diagram."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_mrmp._decisions.responses import label_scores, last_step
from sklearn_mrmp._host.optional import import_optional
from sklearn_mrmp._numerics.label_frames import plain_labels
from sklearn_mrmp._numerics.labels import check_label_matrix
from sklearn_mrmp._numerics.unknown import split_unknown
from sklearn_mrmp._plot._text import set_plain
from sklearn_mrmp._targets import in_known_order
from sklearn_mrmp._trust.entries import checked_entries

_GROUP_NAMES = {1: ("all labels",), 2: ("rare", "frequent"), 3: ("rare", "medium", "frequent")}
STRATEGIES = ("uniform", "quantile")


class ReliabilityDisplay:
    """Share of entries that are true, by the probability they were given.

    The entries of all labels together make one curve; groups of labels, from rare to frequent, make
    others. Calibrated probabilities lie on the diagonal. Use `from_estimator` or `from_predictions`
    to make one.

    Parameters
    ----------
    curves : dict of str to (ndarray, ndarray, ndarray)
        By the name of a group: mean probability, share that is true, and number of entries of each
        bin that has any.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    lines_ : dict of str to matplotlib Line2D
        The curves, by the name of the group.
    calibration_errors : dict of str to float
        Expected calibration error of each group: the mean distance from the diagonal, weighted by
        the number of entries.

    See Also
    --------
    LabelCalibrator : Calibrates probabilities.
    sklearn.calibration.CalibrationDisplay : The same for two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp import ReliabilityDisplay
    >>> Y = np.arange(400)[:, None] % [4, 2] == 0
    >>> display = ReliabilityDisplay.from_predictions(Y, np.full((400, 2), 0.5))
    >>> display.calibration_errors    # 0.375 are true
    {'all labels': 0.125}
    """

    def __init__(self, curves):
        self.curves = curves

    @property
    def calibration_errors(self):
        """Expected calibration error of each group."""
        return {
            name: float(np.average(np.abs(predicted - true), weights=counts))
            for name, (predicted, true, counts) in self.curves.items()
        }

    @classmethod
    def from_estimator(
        cls, estimator, X, y, *, n_bins=10, strategy="quantile", n_groups=1, ax=None
    ):
        """Draw the probabilities of a fitted classifier.

        Parameters
        ----------
        estimator : classifier, or a pipeline or search that ends in one
            Fitted on a label matrix, with ``predict_proba``.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that `estimator` was not fitted on.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Their labels; those of a data frame are matched by name. NaN is unknown.
        n_bins, strategy, n_groups, ax
            As of `from_predictions`.

        Returns
        -------
        display : ReliabilityDisplay
        """
        check_is_fitted(estimator)
        y = in_known_order(y, last_step(estimator))
        n_labels = check_label_matrix(split_unknown(y)[0], "y").shape[1]
        P = label_scores(estimator, X, n_labels, "predict_proba")
        options = {"n_bins": n_bins, "strategy": strategy, "n_groups": n_groups, "ax": ax}
        return cls.from_predictions(plain_labels(y), P, **options)

    @classmethod
    def from_predictions(
        cls, Y_true, Y_prob, *, n_bins=10, strategy="quantile", n_groups=1, ax=None
    ):
        """Draw given probabilities.

        Parameters
        ----------
        Y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
            0/1 label matrix; NaN is unknown, and left out.
        Y_prob : array-like of shape (n_samples, n_labels)
            Probabilities of rows that the classifier was not fitted on; rows of NaN are left out.
        n_bins : int, default=10
            Number of bins.
        strategy : {"quantile", "uniform"}, default="quantile"
            Bins of an equal sum of probabilities, or of equal width.
        n_groups : {1, 2, 3}, default=1
            1 draws all labels together. 2 and 3 also draw groups of equally many labels, from
            rare to frequent.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : ReliabilityDisplay

        Notes
        -----
        Most entries of a label matrix are 0 and have tiny probabilities. Bins of equally many
        entries would all lie in the corner. With ``"quantile"`` each bin is expected to hold
        equally many true entries instead.
        """
        _check_options(n_bins, strategy, n_groups)
        Y, P, known = checked_entries(Y_true, Y_prob, ("Y_true", "Y_prob"))
        curves = {"all labels": _curve(Y[known], P[known], n_bins, strategy)}
        by_count = np.argsort((Y & known).sum(axis=0), kind="stable")
        names = _GROUP_NAMES[n_groups] if n_groups > 1 else ()
        for name, labels in zip(names, np.array_split(by_count, n_groups), strict=False):
            of_group = known[:, labels]
            if of_group.any():
                entries = Y[:, labels][of_group], P[:, labels][of_group]
                curves[f"{name} ({len(labels)} labels)"] = _curve(*entries, n_bins, strategy)
        return cls(curves).plot(ax=ax)

    def plot(self, *, ax=None):
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : ReliabilityDisplay
            Itself.
        """
        if ax is None:
            plt = import_optional("matplotlib.pyplot", "plot")
            _, ax = plt.subplots(figsize=(5, 4.5), layout="constrained")
        self.ax_, self.figure_, self.lines_ = ax, ax.figure, {}
        ax.plot([0, 1], [0, 1], color="0.6", ls="--", lw=1, label="calibrated")
        errors = self.calibration_errors
        for name, (predicted, true, _) in self.curves.items():
            label = f"{name}, error {errors[name]:.2g}"
            (self.lines_[name],) = ax.plot(predicted, true, marker="o", ms=4, label=label)
        ax.set(
            xlabel="probability",
            ylabel="share of entries that are true",
            xlim=(-0.02, 1.02),
            ylim=(-0.02, 1.02),
        )
        set_plain(ax.legend(fontsize="small", loc="best").get_texts())
        return self


def _curve(y, p, n_bins, strategy):
    """Mean probability, share that is true, and number of entries, of each bin that has any."""
    p = p.astype(np.float64)
    if strategy == "uniform":
        bins = np.minimum((p * n_bins).astype(int), n_bins - 1)
    else:
        order = np.argsort(p, kind="stable")
        so_far = np.cumsum(p[order])
        bins = np.empty(len(p), dtype=int)
        bins[order] = np.minimum(so_far / max(so_far[-1], 1e-300) * n_bins, n_bins - 1)
        # Equal probabilities belong together.
        _, first, where = np.unique(p, return_index=True, return_inverse=True)
        bins = bins[first][where]
    counts = np.bincount(bins, minlength=n_bins)
    used = counts > 0
    sums = np.bincount(bins, weights=p, minlength=n_bins), np.bincount(bins, y, n_bins)
    return *(total[used] / counts[used] for total in sums), counts[used]


def _check_options(n_bins, strategy, n_groups):
    if not isinstance(n_bins, int) or n_bins < 1:
        raise ValueError(f"n_bins must be a whole number of at least 1, got {n_bins!r}.")
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy must be 'quantile' or 'uniform', got {strategy!r}.")
    if n_groups not in _GROUP_NAMES:
        raise ValueError(f"n_groups must be 1, 2 or 3, got {n_groups!r}.")
