"""Label hierarchies at work: whoever has a label has its ancestors.

Scores become consistent by the highest score among a label and its descendants. This is the
smallest change upwards that makes no parent less probable than a child: it leaves consistent scores
as they are, needs no scale, so that margins will do, and cutting the outcome at one cut gives just
what one gets by cutting the scores and adding ancestors. Knows numpy and scipy; `priors` reads what
users give.
"""

from graphlib import TopologicalSorter

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._graph.priors import hierarchy_relation
from sklearn_mrmp._model_files.part import Part, require
from sklearn_mrmp._numerics.label_frames import column_names
from sklearn_mrmp._numerics.labels import check_label_matrix


def add_ancestors(Y, hierarchy, *, label_names=None):
    """Add to the labels of each row all ancestors of them in a hierarchy.

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        0/1 label matrix.
    hierarchy : sequence, mapping or sparse matrix
        As `hierarchy_relation` takes it, or what it returns: a parent for each label, pairs
        ``(parent, child)``, a mapping of child to parent, or an adjacency.
    label_names : sequence of str, default=None
        Names of the labels, if the hierarchy is given by name; None takes those of a data frame.

    Returns
    -------
    Y : {ndarray, csr_array} of shape (n_samples, n_labels)
        The labels and their ancestors, in the dtype of `Y`; sparse if `Y` is.

    Examples
    --------
    >>> from sklearn_mrmp import add_ancestors
    >>> add_ancestors([[0, 0, 1], [0, 1, 0]], [-1, 0, 1])
    array([[1, 1, 1],
           [1, 1, 0]])
    """
    names = column_names(Y) if label_names is None else label_names
    Y = check_label_matrix(Y)
    tree = make_hierarchy(hierarchy, Y.shape[1], names)
    return tree.with_ancestors(Y) if sp.issparse(Y) else tree.lifted(Y)


def make_hierarchy(hierarchy, n_labels, label_names=None):
    """Return the `Hierarchy` of labels that a user describes."""
    if sp.issparse(hierarchy):
        if hierarchy.shape != (n_labels, n_labels):
            raise ValueError(
                f"The adjacency of the hierarchy has shape {hierarchy.shape}, but there are "
                f"{n_labels} labels."
            )
        pairs = np.column_stack(hierarchy.nonzero())
        return Hierarchy(hierarchy_relation(pairs, n_labels=n_labels))
    relation = hierarchy_relation(hierarchy, n_labels=n_labels, label_names=label_names)
    return Hierarchy(relation)


def check_labels_respect(tree, Y, label_names):
    """Raise ValueError if a row of a 0/1 CSR array has a label without its parent."""
    violation = tree.first_violation(Y)
    if violation is None:
        return
    row, parent, child, count = violation
    raise ValueError(
        f"y does not respect the hierarchy: row {row} has label {label_names[child]} without its "
        f"parent {label_names[parent]}, and there are {count} such cases. add_ancestors(y, "
        "hierarchy) adds what is missing."
    )


class Hierarchy:
    """Parents of labels, in an order that serves children first.

    Parameters
    ----------
    adjacency : sparse matrix of shape (n_labels, n_labels)
        Not zero at ``[parent, child]``; without a cycle.

    Attributes
    ----------
    edges : ndarray of shape (n_edges, 2)
        Pairs (parent, child); all pairs below a label come before those above it.

    Examples
    --------
    >>> from sklearn_mrmp import hierarchy_relation
    >>> tree = Hierarchy(hierarchy_relation([-1, 0, 1]))
    >>> tree.lifted(np.array([[0.1, 0.2, 0.3]]))
    array([[0.3, 0.3, 0.3]])
    """

    def __init__(self, adjacency):
        self.adjacency = sp.csr_array(adjacency)
        parents, children = self.adjacency.nonzero()
        below = {}
        for parent, child in zip(parents.tolist(), children.tolist(), strict=True):
            below.setdefault(parent, []).append(child)
        order = TopologicalSorter(below).static_order()
        pairs = [(parent, child) for parent in order for child in below.get(parent, ())]
        self.edges = np.array(pairs, dtype=np.intp).reshape(-1, 2)

    @property
    def n_labels(self):
        """Number of labels."""
        return self.adjacency.shape[0]

    def lifted(self, scores):
        """Return scores in which no label has less than its descendants.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_labels)
            Scores, or bool labels, to which ancestors are then added.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels)
        """
        columns = np.array(scores.T, order="C")
        for parent, child in self.edges:
            np.maximum(columns[parent], columns[child], out=columns[parent])
        return np.ascontiguousarray(columns.T)

    def with_ancestors(self, Y):
        """Return sparse 0/1 labels, in their dtype, with all ancestors of each row's labels."""
        closed, n_before = sp.csr_array(Y), -1
        upwards = sp.csr_array(self.adjacency.T).astype(closed.dtype)
        while closed.nnz > n_before:  # at most as often as the hierarchy is deep
            n_before = closed.nnz
            closed = closed + closed @ upwards
            closed.data[:] = 1
        return closed

    def first_violation(self, Y):
        """Return (row, parent, child) where a label lacks its parent, and the number; or None.

        Parameters
        ----------
        Y : sparse matrix of shape (n_samples, n_labels)
            0/1 labels.
        """
        Y = sp.csc_array(Y)
        first, count = None, 0
        for parent, child in self.edges:
            having = Y.indices[Y.indptr[child] : Y.indptr[child + 1]]
            alone = np.setdiff1d(having, Y.indices[Y.indptr[parent] : Y.indptr[parent + 1]])
            count += len(alone)
            if len(alone) and first is None:
                first = (int(alone[0]), int(parent), int(child))
        return None if first is None else (*first, count)


def _take(hierarchy):
    return {"adjacency": hierarchy.adjacency}, {}


def _make(params, fitted):
    adjacency = params.get("adjacency")
    is_square = isinstance(adjacency, sp.csr_array) and adjacency.shape[0] == adjacency.shape[1]
    require(is_square, "a hierarchy of labels")
    return Hierarchy(adjacency)


Hierarchy._model_part = Part(take=_take, make=_make)
