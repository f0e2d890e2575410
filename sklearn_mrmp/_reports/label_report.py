"""`LabelReport`: how good predictions are, label by label, as a value.

Predictions in, tables and a page out. Knows measures of labels, pages and label graphs; pandas is
imported on demand.
"""

from dataclasses import dataclass, fields

import numpy as np
from sklearn.utils.validation import check_consistent_length

from sklearn_mrmp._decisions.sweep import METRICS, metric_value
from sklearn_mrmp._decisions.thresholds import check_labels
from sklearn_mrmp._graph.adjacency import canonical_labels, check_label_names
from sklearn_mrmp._host.html import html_table
from sklearn_mrmp._host.optional import import_optional
from sklearn_mrmp._numerics.label_frames import column_names, in_order_of
from sklearn_mrmp._numerics.unknown import split_unknown, without_unknown
from sklearn_mrmp._reports.measures import (
    average_precisions,
    calibration_measures,
    count_measures,
    label_counts,
)
from sklearn_mrmp._reports.page import COLUMNS, write_label_page

_SHOWN_LABELS = 20  # in print and in notebooks


@dataclass(frozen=True, eq=False)
class LabelReport:
    """Measures of each label on some rows.

    ``MrMPClassifier.report`` and ``TunedDecisionClassifier.report`` make one; `from_predictions`
    does for any classifier. A measure that is not defined for a label is NaN: precision where
    nothing was predicted, recall and average precision where no row carries the label, F1 where
    both hold.

    Attributes
    ----------
    label_names : ndarray of str of shape (n_labels,)
        Names of the labels.
    n_samples : int
        Number of rows.
    support, n_predicted : ndarray of shape (n_labels,)
        Rows that carry the label, and rows it was predicted for.
    precision, recall, f1 : ndarray of shape (n_labels,)
        Of the predictions.
    average_precision : ndarray of shape (n_labels,)
        Of the scores, whatever the cut.
    cut : ndarray of shape (n_labels,)
        The threshold of the label; NaN if it depends on the row.
    brier : ndarray of shape (n_labels,)
        Mean squared difference of probability and label.
    calibration_error : ndarray of shape (n_labels,)
        Expected calibration error: mean difference between probability and share of true labels,
        over ten bins of equal width.
    reliability : ndarray of shape (10, 3)
        Of all labels together, for each bin of probabilities: number of entries, sum of the
        probabilities, and true entries.
    scores : dict of str to float
        ``"accuracy"``, ``"f1_samples"``, ``"f1_micro"`` and ``"f1_macro"`` of the predictions, as
        scikit-learn computes them with ``zero_division=0``.
    graph : LabelGraph or None
        The label graph, which the page shows.
    settings : dict of str to str, or None
        How the predictions were made, which the page shows.

    See Also
    --------
    compare_classifiers : Several classifiers side by side.

    Examples
    --------
    >>> from sklearn_mrmp import LabelReport
    >>> report = LabelReport.from_predictions(
    ...     [[1, 0], [1, 1], [0, 0]], [[1, 0], [0, 1], [0, 0]],
    ...     [[0.9, 0.2], [0.4, 0.8], [0.3, 0.1]], label_names=["sea", "ship"])
    >>> report.recall
    array([0.5, 1. ])
    >>> print(report)
    3 rows, 2 labels; accuracy 0.667, f1_samples 0.556, f1_micro 0.800, f1_macro 0.833
    label  support  predicted  precision  recall     F1     AP  cut  Brier    ECE
    sea          2          1      1.000   0.500  0.667  1.000    –  0.153  0.333
    ship         1          1      1.000   1.000  1.000  1.000    –  0.030  0.167
    """

    label_names: np.ndarray
    n_samples: int
    support: np.ndarray
    n_predicted: np.ndarray
    precision: np.ndarray
    recall: np.ndarray
    f1: np.ndarray
    average_precision: np.ndarray
    cut: np.ndarray
    brier: np.ndarray
    calibration_error: np.ndarray
    reliability: np.ndarray
    scores: dict
    graph: object = None
    settings: dict | None = None

    @classmethod
    def from_predictions(
        cls,
        Y_true,
        Y_pred,
        Y_score=None,
        *,
        label_names=None,
        cuts=None,
        probabilities=True,
        graph=None,
        settings=None,
    ):
        """Measure predictions of any classifier.

        Parameters
        ----------
        Y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
            0/1 labels; NaN is an unknown entry, which does not count.
        Y_pred : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Predicted 0/1 labels.
        Y_score : array-like of shape (n_samples, n_labels), default=None
            Probabilities, or other scores; without them there is no average precision and no
            calibration.
        label_names : sequence of str, default=None
            Names of the labels; those of a data frame `Y_true`, or numbers, when None.
        cuts : float or array-like of shape (n_labels,), default=None
            The thresholds that the predictions were made with.
        probabilities : bool, default=True
            Whether `Y_score` are probabilities; others have no calibration.
        graph : LabelGraph, default=None
            A graph of the labels, for the page.
        settings : mapping of str to object, default=None
            How the predictions were made, for the page.

        Returns
        -------
        report : LabelReport
        """
        names = column_names(Y_true) if label_names is None else label_names
        predicted = canonical_labels(in_order_of(Y_true, Y_pred, "Y_pred"))
        scores = _checked_scores(in_order_of(Y_true, Y_score, "Y_score"), probabilities)
        Y, known = split_unknown(Y_true)
        Y = canonical_labels(Y)
        for name, other in (("Y_pred", predicted), ("Y_score", scores)):
            if other is not None and other.shape != Y.shape:
                raise ValueError(
                    f"{name} must have the shape of Y_true, {Y.shape}, got {other.shape}."
                )
        if known is not None:
            predicted = without_unknown(predicted, known)
        hits, n_predicted, support = label_counts(Y, predicted)
        return cls(
            label_names=check_label_names(names, Y.shape[1]),
            n_samples=Y.shape[0],
            support=support,
            n_predicted=n_predicted,
            **count_measures(hits, n_predicted, support),
            **_score_measures(Y, scores, known, probabilities),
            cut=_checked_cuts(cuts, Y.shape[1]),
            scores=_overall(Y, predicted),
            graph=graph,
            settings={name: str(value) for name, value in (settings or {}).items()},
        )

    def to_frame(self):
        """Return one row per label.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``label``, ``support``, ``n_predicted``, ``precision``, ``recall``, ``f1``,
            ``average_precision``, ``cut``, ``brier`` and ``calibration_error``.

        Examples
        --------
        >>> from sklearn_mrmp import LabelReport
        >>> LabelReport.from_predictions([[1, 0], [1, 1]], [[1, 0], [0, 0]]).to_frame()[
        ...     ["label", "support", "precision", "recall"]]
          label  support  precision  recall
        0     0        2        1.0     0.5
        1     1        1        NaN     0.0
        """
        pd = import_optional("pandas", "data")
        return pd.DataFrame({"label": self.label_names, **self._columns()})

    def to_html(self, path, *, title=None):
        """Write the report as a page: one file that works offline.

        It has the scores, a chart of the calibration, a chart of F1 by frequency, a table of all
        labels to sort and filter, the label graph to explore if there is one, and the settings.

        Parameters
        ----------
        path : str or path-like
            The file, which is replaced if it exists.
        title : str, default=None
            Title of the page; None is "Label report".
        """
        write_label_page(self, path, title)

    def _columns(self):
        return {
            item.name: getattr(self, item.name) for item in fields(self) if item.name in COLUMNS
        }

    def _cells(self, labels):
        """Texts of some rows of the table."""
        columns = [self._columns()[name] for name in COLUMNS]
        return [[self.label_names[k], *(_text(column[k]) for column in columns)] for k in labels]

    def _shown(self):
        """Labels to print, the most frequent ones, and a note if these are not all."""
        order = np.argsort(-self.support, kind="stable")[:_SHOWN_LABELS]
        n_left = len(self.label_names) - len(order)
        note = f"… and {n_left} labels with fewer rows; to_frame() has all." if n_left else None
        return (order, note) if n_left else (range(len(self.label_names)), None)

    def _headline(self):
        scores = ", ".join(f"{name} {value:.3f}" for name, value in self.scores.items())
        return f"{self.n_samples} rows, {len(self.label_names)} labels; {scores}"

    def __str__(self):
        labels, note = self._shown()
        table = [["label", *COLUMNS.values()], *self._cells(labels)]
        widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
            for row in table
        ]
        return "\n".join([self._headline(), *lines, *([note] if note else [])])

    def __repr__(self):
        return f"LabelReport({self._headline()})"

    def _repr_html_(self):
        labels, note = self._shown()
        notes = [note] if note else []
        header = ["label", *COLUMNS.values()]
        return html_table(header, self._cells(labels), caption=self._headline(), notes=notes)


def _text(value):
    """Return a cell: counts as they are, shares with three digits, a dash for what is unknown."""
    if isinstance(value, np.integer):
        return str(value)
    return "–" if np.isnan(value) else f"{value:.3f}"


def _checked_scores(Y_score, probabilities):
    if Y_score is None:
        return None
    scores = np.asarray(Y_score)
    if scores.ndim != 2 or scores.dtype.kind not in "fiub" or not np.isfinite(scores).all():
        raise ValueError("Y_score must be a matrix of finite numbers, one column for each label.")
    if probabilities and (scores.min(initial=0) < 0 or scores.max(initial=1) > 1):
        raise ValueError(
            f"Y_score holds values from {scores.min():.4g} to {scores.max():.4g}, which are no "
            "probabilities; say probabilities=False."
        )
    return scores


def _checked_cuts(cuts, n_labels):
    cuts = np.asarray(np.nan if cuts is None else cuts, dtype=float)
    if cuts.shape not in ((), (n_labels,)):
        raise ValueError(f"cuts must be a number or {n_labels} numbers, got shape {cuts.shape}.")
    return np.full(n_labels, cuts) if cuts.ndim == 0 else cuts.copy()


def _score_measures(Y, scores, known, probabilities):
    """Return average precision and calibration, as far as scores tell them."""
    unknown = np.full(Y.shape[1], np.nan)
    ranked = unknown if scores is None else average_precisions(Y, scores, known)
    calibrated = unknown, unknown, np.zeros((0, 3))
    if scores is not None and probabilities:
        calibrated = calibration_measures(Y, scores, known)
    names = ("brier", "calibration_error", "reliability")
    return {"average_precision": ranked, **dict(zip(names, calibrated, strict=True))}


def _overall(Y, predicted):
    check_consistent_length(Y, predicted)
    Y, predicted = (check_labels(M, "labels") for M in (Y, predicted))
    return {metric: metric_value(Y, predicted, metric) for metric in METRICS}
