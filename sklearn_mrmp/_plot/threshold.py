"""The metrics as functions of the threshold, with the chosen cut and what a rule reaches."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_mrmp._deciding import TunedDecisionsMixin
from sklearn_mrmp._decisions.operating_points import OperatingPoints
from sklearn_mrmp._decisions.responses import (
    choose_response_method,
    label_scores,
    last_step,
    rows_of_last_step,
)
from sklearn_mrmp._decisions.sweep import METRICS, TOLERANCE, metric_value, sweep_cuts
from sklearn_mrmp._decisions.thresholds import (
    best_thresholds,
    check_labels,
    check_labels_and_scores,
    check_metrics,
)
from sklearn_mrmp._host.optional import import_optional
from sklearn_mrmp._plot._text import set_plain
from sklearn_mrmp._targets import in_known_order

_POINTS = 4_000


class ThresholdDisplay:
    """Each metric at every cut of the scores.

    Use `from_estimator` or `from_predictions` to make one. A dotted line marks the chosen cut, a
    shade the plateau of cuts that are best on the rows shown, and a dashed horizontal line what
    the rule made for the metric reaches on the same rows. Where all cuts are equally good there is
    no shade, and the legend says so.

    Parameters
    ----------
    curves : dict of str to (ndarray, ndarray)
        Cuts, rising, and the metric there; by metric.
    thresholds : dict of str to float
        The chosen cuts.
    plateaus : dict of str to (float, float), default=None
        Intervals to shade; none for a metric that is missing.
    rule_scores : dict of str to float, default=None
        What the metric's own rule reaches.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    lines_ : dict of str to matplotlib Line2D
        The curves, by metric.

    Examples
    --------
    >>> from sklearn_mrmp import ThresholdDisplay
    >>> display = ThresholdDisplay.from_predictions(
    ...     [[1, 0], [1, 1]], [[0.75, 0.25], [0.75, 0.5]], metrics=["accuracy"]
    ... )
    >>> display.thresholds
    {'accuracy': 0.375}
    """

    def __init__(self, curves, thresholds, plateaus=None, rule_scores=None):
        self.curves = curves
        self.thresholds = thresholds
        self.plateaus = plateaus
        self.rule_scores = rule_scores

    @classmethod
    def from_estimator(cls, estimator, X, y, *, metrics=METRICS, ax=None):
        """Draw the metrics of a fitted classifier on some rows.

        A classifier that has chosen its cuts and rules in ``fit`` (`MrMPClassifier`,
        `TunedDecisionClassifier`) is shown with those; of any other the best cuts on the given
        rows are marked.

        Parameters
        ----------
        estimator : classifier, or a pipeline or search that ends in one
            Fitted on a label matrix, with ``predict_proba`` or ``decision_function``.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, best such as `estimator` was not fitted on.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Their labels; those of a data frame are matched by name.
        metrics : str or sequence of str, default=("accuracy", "f1_samples", "f1_micro", "f1_macro")
            Which to draw.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : ThresholdDisplay
        """
        check_is_fitted(estimator)
        metrics, thresholds, rule_scores = check_metrics(metrics), None, None
        classifier = last_step(estimator)
        # decisions are shown on the kind of scores that they were tuned on
        method = choose_response_method(estimator, getattr(classifier, "response_method", "auto"))
        Y = check_labels(in_known_order(y, classifier), "y")
        Y, S = check_labels_and_scores(Y, label_scores(estimator, X, Y.shape[1], method))
        if isinstance(classifier, TunedDecisionsMixin):
            thresholds, rows = classifier.thresholds_, rows_of_last_step(estimator, X)
            rule_scores = {
                name: metric_value(Y, classifier._labels_at(S, rows, name, "optimal"), name)
                for name in metrics
            }
        return cls._make(Y, S, metrics, thresholds, rule_scores).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls, Y_true, Y_score, *, metrics=METRICS, show_rule=False, Y_train=None, ax=None
    ):
        """Draw the metrics of given scores, with the best cuts.

        Parameters
        ----------
        Y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
            0/1 label matrix.
        Y_score : array-like of shape (n_samples, n_labels)
            Probabilities.
        metrics : str or sequence of str, default=("accuracy", "f1_samples", "f1_micro", "f1_macro")
            Which to draw.
        show_rule : bool, default=False
            Whether to fit the rule made for each metric on the same rows and show its score.
        Y_train : {array-like, sparse matrix} of shape (n_train, n_labels), default=None
            Further labels for the rules; see `fit_decision_rules`.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : ThresholdDisplay
        """
        metrics, rule_scores = check_metrics(metrics), None
        if show_rule:
            tune = {"decisions": ("optimal",), "metrics": metrics}
            rules = OperatingPoints.tune(Y_true, Y_score, Y_train, **tune).rules["optimal"]
            rule_scores = {name: rule.validation_score for name, rule in rules.items()}
        Y, S = check_labels_and_scores(Y_true, Y_score)
        return cls._make(Y, S, metrics, None, rule_scores).plot(ax=ax)

    @classmethod
    def _make(cls, Y, S, metrics, thresholds, rule_scores):
        """Compute the curves; without thresholds the best ones on these rows are marked."""
        tuned = best_thresholds(Y, S, metrics)
        thresholds = tuned.thresholds if thresholds is None else thresholds
        chosen = {name: float(thresholds[name]) for name in metrics}
        return cls(_curves(Y, S, metrics, tuned), chosen, _shades(S, tuned.plateaus), rule_scores)

    def plot(self, *, ax=None):
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : ThresholdDisplay
            Itself.
        """
        if ax is None:
            plt = import_optional("matplotlib.pyplot", "plot")
            _, ax = plt.subplots(figsize=(6, 4), layout="constrained")
        self.ax_, self.figure_, self.lines_ = ax, ax.figure, {}
        for name, (cuts, values) in self.curves.items():
            label = f"{name}, cut {self.thresholds[name]:.3g}"
            if np.ptp(values) < TOLERANCE:
                label += f" ({values[0]:.3g} at every cut)"
            (line,) = ax.plot(cuts, values, drawstyle="steps-pre", label=label)
            self.lines_[name] = line
            self._mark(name, line.get_color(), cuts)
        if self.rule_scores is not None:
            ax.plot([], [], color="0.4", ls="--", label="the metric's own rule")
        # a little beyond 0 and 1, lest a curve be hidden by the frame
        ax.set(xlabel="threshold", ylabel="score", ylim=(-0.02, 1.02))
        set_plain(ax.legend(fontsize="small", loc="best", framealpha=0.8).get_texts())
        return self

    def _mark(self, name, color, cuts):
        self.ax_.axvline(self.thresholds[name], color=color, ls=":", lw=1)
        if self.plateaus is not None and name in self.plateaus:
            low, high = np.clip(self.plateaus[name], cuts[0], cuts[-1])
            self.ax_.axvspan(low, high, color=color, alpha=0.15, lw=0)
        if self.rule_scores is not None:
            self.ax_.axhline(self.rule_scores[name], color=color, ls="--", lw=1)


def _shades(S, plateaus):
    """Return the parts of the plateaus among the scores, without those that hold all or none."""
    smallest, largest = float(S.min()), float(S.max())
    shades = {name: tuple(np.clip(ends, smallest, largest)) for name, ends in plateaus.items()}
    return {n: (a, b) for n, (a, b) in shades.items() if a < b and (a, b) != (smallest, largest)}


def _curves(Y, S, metrics, tuned):
    """At most a few thousand points of each curve, with the ends and the best one among them."""
    step = -(-S.size // _POINTS)
    parts = [
        (values[::step], {name: curve[::step] for name, curve in curves.items()})
        for values, curves in sweep_cuts(Y, S, metrics)
    ][1:]  # without "predict nothing", whose cut is infinite
    cuts = np.concatenate([values for values, _ in parts])
    low, high = _ends(float(S.min()), float(S.max()))
    result = {}
    for name in metrics:
        ends = [metric_value(Y, cut <= S, name) for cut in (low, high)]
        x = np.concatenate([cuts, [tuned.thresholds[name], low, high]])
        y = np.concatenate([*(curves[name] for _, curves in parts), [tuned.scores[name], *ends]])
        order = np.argsort(x, kind="stable")
        result[name] = (x[order], y[order])
    return result


def _ends(smallest, largest):
    """Where curves begin and end: beyond all scores, but probabilities stay between 0 and 1."""
    margin = 0.03 * (largest - smallest) or 1.0
    low, high = smallest - margin, largest + margin
    if 0 <= smallest and largest <= 1:
        low, high = max(low, 0.0), min(high, 1.0)
    return low, high
