"""`LabelGraph`: named relations between labels as an immutable value.

It holds any relations, learned or given, and answers questions about them; it does not know how
they came about. Knows numpy and scipy only; its exports know pandas, networkx and pages.
"""

import copy
from numbers import Integral
from types import MappingProxyType

import numpy as np

from sklearn_mrmp._graph.adjacency import (
    check_co_occurrence,
    check_counts,
    check_label_names,
    check_relations,
    endpoints,
    equal_arrays,
    equal_matrices,
    joined,
    known_names,
    with_data,
)
from sklearn_mrmp._graph.chi2 import chi2_p_value, chi2_statistic
from sklearn_mrmp._graph.exporting import GraphExports
from sklearn_mrmp._model_files.part import Part


class LabelGraph(GraphExports):
    """Named relations between labels, with the counts they were learned from.

    A graph does not change: it copies its input, its arrays are read-only, and graphs with equal
    content are equal and have the same hash.

    Parameters
    ----------
    relations : mapping of str to {array-like, sparse matrix} of shape (n_labels, n_labels)
        One adjacency per relation. Entry ``[i, j]`` is the weight of the edge from label `i`
        (source) to label `j` (target); weights are finite and not negative, 0 means no edge.
        The diagonal is dropped: a label is not a neighbour of itself. Rows and columns of a data
        frame are matched by name.
    label_names : sequence of str, default=None
        One name per label; those of a data frame in `relations`, or ``"0"``, ``"1"``, … when None.
    n_samples : int or float, default=None
        Number of rows the graph was learned from, or their weight.
    counts : array-like of int or float of shape (n_labels,), default=None
        Number of rows that carry each label, or their weight.
    co_occurrence : mapping of str to sparse matrix, default=None
        For some or all relations, how many rows carry both labels of each edge: a CSR matrix with
        the same stored positions as the relation. Needs `n_samples` and `counts`; the test
        statistics follow from it.

    See Also
    --------
    label_graph : Learn the pulling / pushing graph from a label matrix.

    Examples
    --------
    >>> from sklearn_mrmp import LabelGraph
    >>> graph = LabelGraph({"parent": [[0, 1, 1], [0, 0, 0], [0, 0, 0]]},
    ...                    label_names=["animal", "cat", "dog"])
    >>> graph
    LabelGraph(3 labels; parent: 2 edges)
    >>> graph.neighbors("cat")
    ['animal']
    """

    __slots__ = ("_co_occurrence", "_counts", "_label_names", "_n_samples", "_relations")

    def __init__(
        self, relations, label_names=None, *, n_samples=None, counts=None, co_occurrence=None
    ):
        label_names = None if label_names is None else list(label_names)
        self._relations = check_relations(relations, label_names=label_names)
        label_names = known_names(relations, label_names)
        n_labels = next(iter(self._relations.values())).shape[0]
        self._label_names = check_label_names(label_names, n_labels)
        self._n_samples = None if n_samples is None else _number(n_samples)
        self._counts = check_counts(counts, n_labels, n_samples)
        self._co_occurrence = check_co_occurrence(
            co_occurrence or {}, self._relations, self._counts, n_samples
        )

    @property
    def relations(self):
        """Mapping of relation name to CSR array (n_labels, n_labels); ``[i, j]`` is i → j."""
        # A CSR array is a mutable shell around the read-only arrays: hand out fresh shells.
        return MappingProxyType({name: copy.copy(A) for name, A in self._relations.items()})

    @property
    def label_names(self):
        """Names of the labels, a read-only array of str."""
        return self._label_names

    @property
    def n_labels(self):
        """Number of labels."""
        return len(self._label_names)

    @property
    def n_samples(self):
        """Number of rows the graph was learned from, or None."""
        return self._n_samples

    @property
    def counts(self):
        """Number of rows that carry each label, or None."""
        return self._counts

    @property
    def co_occurrence(self):
        """Mapping of relation to CSR array: rows that carry both labels of each edge; or None."""
        shells = {name: copy.copy(A) for name, A in self._co_occurrence.items()}
        return MappingProxyType(shells) if shells else None

    @property
    def statistic(self):
        """Mapping of relation to CSR array with the chi-squared statistic of each edge; or None."""
        return self._per_edge(chi2_statistic)

    @property
    def p_value(self):
        """Mapping of relation to CSR array with the plain p-value of each edge; or None.

        p-values below the smallest float are stored as explicit zeros.
        """
        return self._per_edge(lambda *table: chi2_p_value(chi2_statistic(*table)))

    def _per_edge(self, function):
        """Evaluate ``function(n11, c_i, c_j, n)`` on all edges with a known table; or None."""
        matrices = {}
        for name, together in self._co_occurrence.items():
            source, target = endpoints(together)
            c_i, c_j = self._counts[source], self._counts[target]
            matrices[name] = with_data(together, function(together.data, c_i, c_j, self.n_samples))
        return MappingProxyType(matrices) if matrices else None

    def degree(self, relation=None):
        """Return the number of neighbours of each label.

        Parameters
        ----------
        relation : str, default=None
            The relation to count in; None counts labels linked by any relation.

        Returns
        -------
        degree : ndarray of int of shape (n_labels,)
            A neighbour linked in both directions counts once.

        Examples
        --------
        >>> from sklearn_mrmp import label_graph
        >>> label_graph([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]] * 3).degree("pushing")
        array([1, 1, 2])
        """
        return np.diff(self._links(relation).indptr).astype(np.int64)

    def neighbors(self, label, relation=None):
        """Labels linked with `label` in either direction, strongest first.

        Parameters
        ----------
        label : str or int
            Name or index of a label.
        relation : str, default=None
            The relation to follow; None follows all.

        Returns
        -------
        names : list of str
            By falling weight (of the stronger direction), then in the order of the labels.

        Examples
        --------
        >>> from sklearn_mrmp import label_graph
        >>> graph = label_graph([[1, 1, 0], [1, 1, 0], [0, 0, 1]] * 4,
        ...                     label_names=["sea", "ship", "desert"])
        >>> graph.neighbors("sea", "pulling"), graph.neighbors("sea", "pushing")
        (['ship'], ['desert'])
        """
        index = self.index(label)
        links = self._links(relation)
        stored = slice(links.indptr[index], links.indptr[index + 1])
        strongest = np.argsort(-links.data[stored], kind="stable")
        return self._label_names[links.indices[stored][strongest]].tolist()

    def index(self, label):
        """Return the position of a label given by name or index."""
        if isinstance(label, Integral) and not isinstance(label, bool):
            if not 0 <= label < self.n_labels:
                raise ValueError(f"Label index {label} is outside 0 … {self.n_labels - 1}.")
            return int(label)
        found = np.flatnonzero(self._label_names == str(label))
        if len(found) != 1:
            problem = "is not in the graph" if len(found) == 0 else f"names {len(found)} labels"
            raise ValueError(f"Label {label!r} {problem}; pass one of label_names or an index.")
        return int(found[0])

    def subgraph(self, labels):
        """Return the graph of some labels, in the given order.

        Parameters
        ----------
        labels : sequence of str or int
            Names or indices of the labels to keep.

        Returns
        -------
        graph : LabelGraph
            All relations between these labels; counts and statistics stay those of the rows.

        Examples
        --------
        >>> from sklearn_mrmp import LabelGraph
        >>> graph = LabelGraph({"near": [[0, 1, 0], [1, 0, 1], [0, 1, 0]]})
        >>> graph.subgraph(["2", "1"])
        LabelGraph(2 labels; near: 2 edges)
        """
        keep = np.array([self.index(label) for label in labels], dtype=np.intp)
        if len(np.unique(keep)) != len(keep):
            raise ValueError("labels of a subgraph must be distinct.")

        def restrict(matrices):
            return {name: A[keep][:, keep] for name, A in matrices.items()}

        counts = None if self._counts is None else self._counts[keep]
        relations, together = restrict(self._relations), restrict(self._co_occurrence)
        return _rebuild(relations, self._label_names[keep], self._n_samples, counts, together)

    def rename(self, label_names):
        """Return the same graph with other label names.

        Parameters
        ----------
        label_names : sequence of str
            One name per label.

        Returns
        -------
        graph : LabelGraph
            The renamed graph.
        """
        return _rebuild(
            self._relations, label_names, self._n_samples, self._counts, self._co_occurrence
        )

    def _links(self, relation):
        """Symmetric CSR array of links: the stronger direction, of one relation or of all."""
        if relation is not None and relation not in self._relations:
            known = ", ".join(map(repr, self._relations))
            raise ValueError(f"No relation {relation!r} in this graph, which has {known}.")
        chosen = self._relations.values() if relation is None else [self._relations[relation]]
        return joined(chosen, self.n_labels)

    def __repr__(self):
        samples = "" if self._n_samples is None else f", {self._n_samples} samples"
        relations = ", ".join(f"{name}: {A.nnz} edges" for name, A in self._relations.items())
        return f"LabelGraph({self.n_labels} labels{samples}; {relations})"

    def __eq__(self, other):
        if not isinstance(other, LabelGraph):
            return NotImplemented
        return (
            self._n_samples == other._n_samples
            and np.array_equal(self._label_names, other._label_names)
            and equal_arrays(self._counts, other._counts)
            and equal_matrices(self._relations, other._relations)
            and equal_matrices(self._co_occurrence, other._co_occurrence)
        )

    def __hash__(self):
        sizes = frozenset((name, A.nnz) for name, A in self._relations.items())
        return hash((tuple(self._label_names), self._n_samples, sizes))

    def __reduce__(self):
        # Through the constructor: unpickled numpy arrays would be writeable again.
        arguments = (dict(self._relations), self._label_names.tolist())
        extras = (self._n_samples, self._counts, dict(self._co_occurrence))
        return _rebuild, (*arguments, *extras)


def _number(n_samples):
    """Return a number of rows as an int, or as a float if it is a sum of weights."""
    return int(n_samples) if n_samples == int(n_samples) else float(n_samples)


def _rebuild(relations, label_names, n_samples, counts, co_occurrence):
    return LabelGraph(
        relations, label_names, n_samples=n_samples, counts=counts, co_occurrence=co_occurrence
    )


LabelGraph._model_part = Part()
