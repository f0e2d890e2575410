"""Whatever ``relations=`` accepts, as a `LabelGraph`: learned, given, or both mixed.

Knows numpy and scipy only.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sklearn_mrmp._graph.adjacency import check_label_names, check_relations, known_names
from sklearn_mrmp._graph.learning import LabelGraph, co_occurrence_graph, label_graph
from sklearn_mrmp._numerics.label_frames import are_numbers, one_is_anonymous

LEARNED = "chi2"
# Graphs by name that are no tests: labels that occur together; no edges; and all pairs, which
# whoever knows the name needs no edges for.
CO_OCCURRENCE, NO_EDGES, ALL_PAIRS = "prior", "edgeless", "full"
_LEARNED_NAMES = ("pulling", "pushing")


@dataclass(frozen=True, eq=False)
class GraphLearner:
    """Learns the label graph of training labels, as the parameters say.

    Attributes
    ----------
    relations : object
        As `resolve_relations` takes it.
    alpha : float
        Level of the tests.
    label_names : sequence of str
        Names of the labels.
    """

    relations: object
    alpha: float
    label_names: object

    def __call__(self, Y, weights=None):
        """Return a LabelGraph, or None, of labels and what their entries count."""
        known, rows = (None, None) if weights is None else (weights.known, weights.rows)
        Y = Y if known is None else np.where(known, Y.toarray(), np.nan)
        options = {"alpha": self.alpha, "label_names": self.label_names}
        return resolve_relations(self.relations, Y, **options, sample_weight=rows)


@dataclass(frozen=True, eq=False)
class KnownGraph:
    """A graph that was learned already, whatever the labels."""

    graph: LabelGraph | None

    def __call__(self, Y, weights=None):
        """Return the graph."""
        return self.graph


def resolve_relations(relations, Y, *, alpha=0.05, label_names=None, sample_weight=None):
    """Turn what a user passes as `relations` into a label graph.

    Parameters
    ----------
    relations : "chi2", "prior", "edgeless", "full", None, LabelGraph, mapping or callable
        - ``"chi2"``: learn pulling and pushing from `Y`, see `label_graph`.
        - ``"prior"``: an edge between labels that any row of `Y` has both of.
        - ``None``, ``"edgeless"``, ``"full"``: no graph.
        - a `LabelGraph`: taken as it is; when both sides have label names, labels are matched by
          name.
        - a mapping of relation name to adjacency of shape (n_labels, n_labels), dense or sparse,
          weighted, directed (row → column); data frames are matched by name. The value
          ``"chi2"`` under the name ``"pulling"`` or ``"pushing"`` stands for the learned relation,
          so that
          ``{"pulling": "chi2", "pushing": "chi2", "parent": hierarchy}`` mixes both kinds.
        - a callable that takes `Y` and returns one of these.
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        0/1 label matrix of the training rows; NaN is unknown.
    alpha : float, default=0.05
        Level of the tests when something is learned. A function such as
        ``functools.partial(label_graph, correction="fdr_bh")`` as `relations` has more options.
    label_names : sequence of str, default=None
        Names of the columns of `Y`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, when something is learned; a callable does not see them.

    Returns
    -------
    graph : LabelGraph or None
        The graph over the columns of `Y`, in their order.

    Examples
    --------
    >>> from sklearn_mrmp import hierarchy_relation
    >>> from sklearn_mrmp._graph.resolve import resolve_relations
    >>> Y = [[1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 0]] * 5
    >>> tree = hierarchy_relation([None, 0, 0])
    >>> resolve_relations({"pulling": "chi2", "parent": tree}, Y)
    LabelGraph(3 labels, 20 samples; pulling: 2 edges, parent: 2 edges)
    """
    if isinstance(relations, str) and relations in (NO_EDGES, ALL_PAIRS):
        return None
    if callable(relations):
        relations = relations(Y)
        if callable(relations):
            raise TypeError("The callable passed as relations returned another callable.")
    if relations is None:
        return None

    def learn():
        return label_graph(Y, label_names=label_names, alpha=alpha, sample_weight=sample_weight)

    if isinstance(relations, str) and relations == LEARNED:
        return learn()
    if isinstance(relations, str) and relations == CO_OCCURRENCE:
        return co_occurrence_graph(Y, label_names)
    n_labels = np.shape(Y)[1]
    if isinstance(relations, LabelGraph):
        return _align(relations, n_labels, label_names)
    if isinstance(relations, Mapping):
        return _mix(relations, n_labels, label_names, learn)
    raise TypeError(
        "relations must be 'chi2', None, a LabelGraph, a mapping of name to adjacency or a "
        f"callable that returns one of these, got {relations!r:.80}."
    )


def _align(graph, n_labels, label_names):
    """`graph` over the labels of `Y`: matched by name when both sides have names."""
    if graph.n_labels != n_labels:
        name, adjacency = next(iter(graph.relations.items()))
        raise ValueError(
            f"Relation {name!r} of the LabelGraph has shape {adjacency.shape}; expected "
            f"({n_labels}, {n_labels}), one row and column per label of Y."
        )
    names = list(check_label_names(label_names, n_labels))
    if names == list(graph.label_names):
        return graph
    if one_is_anonymous(list(graph.label_names), names):  # columns match by position
        return graph if are_numbers(names) else graph.rename(names)
    unknown = sorted(set(names) ^ set(graph.label_names))
    if unknown:
        raise ValueError(
            "The LabelGraph and Y name their labels differently; only one of them has: "
            f"{', '.join(unknown[:5])}{' …' if len(unknown) > 5 else ''}."
        )
    return graph.subgraph(names)


def _mix(relations, n_labels, label_names, learn):
    """Graph of given adjacencies and of learned relations where the value is "chi2"."""
    wanted = [name for name, value in relations.items() if _is_learned(name, value)]
    learned = learn() if wanted else None
    chosen = {
        name: learned.relations[name] if name in wanted else value
        for name, value in relations.items()
    }
    checked, names = (
        check_relations(chosen, n_labels, label_names),
        known_names(chosen, label_names),
    )
    if learned is None:
        return LabelGraph(checked, names)
    return LabelGraph(
        checked,
        names,
        n_samples=learned.n_samples,
        counts=learned.counts,
        co_occurrence={name: learned.co_occurrence[name] for name in wanted},
    )


def _is_learned(name, value):
    if not isinstance(value, str):
        return False
    if value == LEARNED and name in _LEARNED_NAMES:
        return True
    raise ValueError(
        f"Relation {name!r} is given as {value!r}; the only text allowed is 'chi2', for the "
        "names 'pulling' and 'pushing'. Pass an (n_labels, n_labels) adjacency instead."
    )
