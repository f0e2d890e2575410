"""The paper's ablation: what the label relations are worth, label by label and by node degree.

`auc_gain_by_degree` is the computation on probabilities that are there already; `relation_ablation`
makes them by fitting a classifier with and without its relations. Knows numpy, scikit-learn and
`LabelGraph`; the classifier is passed in.
"""

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import Pipeline

from sklearn_mrmp._compare.run import label_probabilities, set_random_states
from sklearn_mrmp._decisions.thresholds import check_labels
from sklearn_mrmp._graph.learning import LabelGraph
from sklearn_mrmp._host.optional import import_optional
from sklearn_mrmp._numerics.label_frames import in_order_of


@dataclass(frozen=True)
class DegreeGroup:
    """Labels of similar degree in one relation, and what the relations are worth to them.

    Attributes
    ----------
    relation : str
        The relation in which neighbours were counted.
    min_degree, max_degree : int
        Smallest and largest number of neighbours in the group.
    labels : tuple of int
        Positions of the labels.
    gain : float
        Mean over labels and seeds of the ROC-AUC with minus without relations.
    gain_std : float
        Standard deviation of the group's mean over seeds; NaN for a single seed.
    """

    relation: str
    min_degree: int
    max_degree: int
    labels: tuple
    gain: float
    gain_std: float

    @property
    def degrees(self):
        """The range of degrees as text, such as ``"3–7"``."""
        if self.min_degree == self.max_degree:
            return str(self.min_degree)
        return f"{self.min_degree}–{self.max_degree}"


@dataclass(frozen=True, eq=False)
class AblationResult:
    """What the relations are worth; made by `relation_ablation` or `auc_gain_by_degree`.

    Attributes
    ----------
    auc_with, auc_without : ndarray of shape (n_seeds, n_labels)
        Test ROC-AUC of each label; NaN for labels that have none.
    graph : LabelGraph
        The relations in which neighbours were counted.
    groups : tuple of DegreeGroup
        By relation, and by rising degree within it.
    n_undefined : int
        Number of labels left out because the test rows lack one of their two classes.
    """

    auc_with: np.ndarray
    auc_without: np.ndarray
    graph: LabelGraph
    groups: tuple
    n_undefined: int

    @property
    def gain(self):
        """ROC-AUC with minus without relations, mean over seeds; NaN for labels without AUC."""
        return (self.auc_with - self.auc_without).mean(axis=0)

    def to_frame(self):
        """Return one row per relation and group of labels.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``relation``, ``min_degree``, ``max_degree``, ``n_labels``, ``gain`` and
            ``gain_std``.
        """
        names = ("relation", "min_degree", "max_degree", "n_labels", "gain", "gain_std")
        rows = [
            (g.relation, g.min_degree, g.max_degree, len(g.labels), g.gain, g.gain_std)
            for g in self.groups
        ]
        return import_optional("pandas", "data").DataFrame(rows, columns=names)

    def to_label_frame(self):
        """Return one row per label, in the order of the labels.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``label``, ``auc_with``, ``auc_without``, ``gain`` (means over seeds) and, for
            each relation, ``degree_<relation>``.
        """
        columns = {
            "label": self.graph.label_names,
            "auc_with": self.auc_with.mean(axis=0),
            "auc_without": self.auc_without.mean(axis=0),
            "gain": self.gain,
        }
        degrees = {f"degree_{name}": self.graph.degree(name) for name in self.graph.relations}
        return import_optional("pandas", "data").DataFrame(columns | degrees)

    def __repr__(self):
        left_out = f", {self.n_undefined} without AUC left out" if self.n_undefined else ""
        mean = f"; mean gain {np.nanmean(self.gain):+.4f}" if self.groups else ""
        return f"AblationResult({self.graph.n_labels} labels{left_out}{mean})"


def auc_gain_by_degree(Y_true, P_with, P_without, graph, *, n_groups=4):
    """ROC-AUC with minus without relations, for groups of labels by node degree.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
        True 0/1 labels of the test rows.
    P_with, P_without : array-like of shape (n_samples, n_labels) or (n_seeds, n_samples, n_labels)
        Probabilities from the model with its relations, and from the model without them; several
        seeds may be stacked.
    graph : LabelGraph
        Relations between the labels. Each relation gives its own grouping.
    n_groups : int, default=4
        Number of groups per relation, of about the same size. Labels of equal degree stay
        together, so there are fewer groups when many labels have the same degree.

    Returns
    -------
    result : AblationResult
        Labels without both classes in `Y_true` have no AUC: they are in no group, and
        ``n_undefined`` counts them.

    Examples
    --------
    >>> from sklearn_mrmp import LabelGraph
    >>> from sklearn_mrmp import auc_gain_by_degree
    >>> graph = LabelGraph({"pulling": [[0, 1, 0], [1, 0, 0], [0, 0, 0]]}, ["sea", "ship", "sand"])
    >>> Y = [[1, 1, 0], [1, 0, 1], [0, 0, 0], [0, 0, 1]]
    >>> P_without = [[0.9, 0.2, 0.1], [0.3, 0.1, 0.8], [0.4, 0.3, 0.2], [0.1, 0.1, 0.7]]
    >>> P_with = [[0.9, 0.8, 0.1], [0.6, 0.1, 0.8], [0.4, 0.3, 0.2], [0.1, 0.1, 0.7]]
    >>> result = auc_gain_by_degree(Y, P_with, P_without, graph)
    >>> result.to_frame()[["relation", "min_degree", "n_labels", "gain"]].round(2)
      relation  min_degree  n_labels  gain
    0  pulling           0         1  0.00
    1  pulling           1         2  0.29
    """
    _check_n_groups(n_groups)
    Y_true = check_labels(Y_true, "Y_true")
    P_with, P_without = _check_probabilities(Y_true, P_with, P_without)
    if graph.n_labels != Y_true.shape[1]:
        raise ValueError(f"graph has {graph.n_labels} labels, Y_true has {Y_true.shape[1]}.")
    auc_with, auc_without = (
        np.array([_label_aucs(Y_true, P) for P in stack]) for stack in (P_with, P_without)
    )
    defined = ~np.isnan(auc_with[0])
    gain = auc_with - auc_without
    groups = [
        _summarise(relation, members, graph, gain)
        for relation in graph.relations
        for members in _split_by_degree(graph.degree(relation), defined, n_groups)
    ]
    return AblationResult(auc_with, auc_without, graph, tuple(groups), int(np.sum(~defined)))


def _check_n_groups(n_groups):
    if not isinstance(n_groups, Integral) or isinstance(n_groups, bool) or n_groups < 1:
        raise ValueError(f"n_groups must be an integer of at least 1, got {n_groups!r}.")


def _check_probabilities(Y_true, *stacks):
    """Return both stacks as (n_seeds, n_samples, n_labels)."""
    stacks = [np.asarray(P, dtype=float) for P in stacks]
    stacks = [P[np.newaxis] if P.ndim == 2 else P for P in stacks]
    shapes = [P.shape for P in stacks]
    if shapes[0] != shapes[1] or shapes[0][1:] != Y_true.shape:
        raise ValueError(
            "P_with and P_without must have the shape of Y_true, for the same number of seeds; "
            f"got {shapes[0]} and {shapes[1]} for Y_true of shape {Y_true.shape}."
        )
    return stacks


def _label_aucs(Y_true, P):
    """ROC-AUC of each label; NaN where the rows lack one of its classes."""
    count = Y_true.sum(axis=0)
    defined = np.flatnonzero((count > 0) & (count < len(Y_true)))
    aucs = np.full(Y_true.shape[1], np.nan)
    if defined.size:
        aucs[defined] = roc_auc_score(Y_true[:, defined], P[:, defined], average=None)
    return aucs


def _split_by_degree(degree, defined, n_groups):
    """Positions of the labels with an AUC, in groups by degree; equal degrees stay together."""
    labels = np.flatnonzero(defined)
    if not labels.size:
        return []
    shares = np.arange(1, n_groups) / n_groups
    # A cut is the highest degree of its group, so equal cuts leave groups empty, to be dropped.
    cuts = np.quantile(degree[labels], shares, method="lower")
    group = np.searchsorted(cuts, degree[labels], side="left")
    return [labels[group == k] for k in np.unique(group)]


def _summarise(relation, members, graph, gain):
    degree = graph.degree(relation)[members]
    means = gain[:, members].mean(axis=1)
    return DegreeGroup(
        relation=relation,
        min_degree=int(degree.min()),
        max_degree=int(degree.max()),
        labels=tuple(members.tolist()),
        gain=float(means.mean()),
        gain_std=float(means.std(ddof=1)) if len(means) > 1 else np.nan,
    )


def relation_ablation(
    estimator,
    X_train,
    Y_train,
    X_test,
    Y_test,
    *,
    estimator_without=None,
    graph=None,
    seeds=1,
    n_groups=4,
):
    """Fit a classifier with and without its label relations, and compare label by label.

    Parameters
    ----------
    estimator : MrMPClassifier, or a pipeline that ends with one
        The classifier with relations.
    X_train, Y_train : array-likes
        Training rows and their 0/1 label matrix.
    X_test, Y_test : array-likes
        Test rows and their 0/1 label matrix; labels of data frames are matched by name.
    estimator_without : estimator, default=None
        The classifier without relations; None is `estimator` with ``relations=None``.
    graph : LabelGraph, default=None
        Where neighbours are counted; None takes the graph the first fit has learned.
    seeds : int or sequence of int, default=1
        Number of repetitions, or the random states of each. Both classifiers of a repetition
        have the same seed, and thereby hold out the same rows.
    n_groups : int, default=4
        Number of groups of labels per relation.

    Returns
    -------
    result : AblationResult
        AUC of each label, and gains by node degree for each relation.

    See Also
    --------
    AblationDisplay : The picture.
    auc_gain_by_degree : The same from probabilities.

    Examples
    --------
    >>> from sklearn_mrmp import MrMPClassifier
    >>> from sklearn_mrmp import relation_ablation
    >>> from sklearn_mrmp.datasets import make_related_labels
    >>> X, Y, _ = make_related_labels(120, 6, n_features=30, random_state=0)
    >>> clf = MrMPClassifier(d_model=8, max_epochs=1)
    >>> result = relation_ablation(clf, X[:80], Y[:80], X[80:], Y[80:], n_groups=2)
    >>> result
    AblationResult(6 labels; mean gain ...)
    """
    _check_n_groups(n_groups)
    Y_test = in_order_of(Y_train, Y_test, "Y_test")
    if estimator_without is None:
        estimator_without = _without_relations(estimator)
    stacks = ([], [])
    for seed in range(seeds) if isinstance(seeds, Integral) else seeds:
        for stack, one in zip(stacks, (estimator, estimator_without), strict=True):
            fitted = set_random_states(clone(one), seed).fit(X_train, Y_train)
            graph = _learned_graph(fitted) if graph is None else graph
            stack.append(label_probabilities(fitted, X_test, Y_train.shape[1]))
    if not stacks[0]:
        raise ValueError(f"seeds must name at least one repetition, got {seeds!r}.")
    return auc_gain_by_degree(Y_test, *stacks, graph, n_groups=n_groups)


def _without_relations(estimator):
    """Return a copy with ``relations=None``, wherever in a pipeline that parameter is."""
    names = [name for name in estimator.get_params() if name.split("__")[-1] == "relations"]
    if len(names) != 1:
        raise ValueError(
            f"{type(estimator).__name__} has {len(names)} parameters named 'relations' where one "
            "is needed; pass estimator_without."
        )
    return clone(estimator).set_params(**{names[0]: None})


def _learned_graph(fitted):
    last = fitted[-1] if isinstance(fitted, Pipeline) else fitted
    learned = getattr(last, "label_graph_", None)
    if learned is None:
        raise ValueError(
            f"{type(last).__name__} has learned no label graph (label_graph_); pass graph, or an "
            "estimator with relations."
        )
    return learned
