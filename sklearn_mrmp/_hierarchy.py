"""Label hierarchies as users give them, and label matrices that respect them.

Knows `hierarchy_relation`, which reads a hierarchy, and `Hierarchy`, which applies it.
"""

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._decisions.hierarchy import Hierarchy
from sklearn_mrmp._graph.priors import hierarchy_relation
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
