"""What a part of the log odds is made of, as values: terms that add up, and linked labels.

Leaf module of the room: numpy.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Terms:
    """Terms that add up to a part of the log odds.

    Attributes
    ----------
    kind : {"features", "words", "tokens", "columns", "labels"}
        What they are about.
    names : ndarray of str of shape (n_terms,)
        What each is about. A name may occur twice, as a word does.
    values : float64 ndarray of shape (n_terms,)
        What each adds to the log odds of the label, the voter's weight included.
    baseline : float, default=0.0
        What is added whatever the row: the intercept, or the vote for the baseline.
    residual : float, default=0.0
        What is left: the error of a numerical integration, or what several labels do together.
    spans : tuple of tuple of (int, int), default=None
        For each term where it stands in the text: first character, and the one after the last.

    Examples
    --------
    >>> terms = Terms("words", np.array(["sea", "the"]), np.array([1.5, -0.25]), baseline=-1.0)
    >>> terms.total
    0.25
    >>> terms.top(1)
    ([('sea', 1.5)], -0.25)
    """

    kind: str
    names: np.ndarray
    values: np.ndarray
    baseline: float = 0.0
    residual: float = 0.0
    spans: tuple | None = None

    def __len__(self):
        return len(self.values)

    @property
    def total(self):
        """The part that they add up to."""
        return float(self.values.sum() + self.baseline + self.residual)

    def top(self, n):
        """Return the `n` largest terms by absolute value, and the sum of all others.

        Terms of the same name are put together.
        """
        return largest(self.by_name(), n)

    def by_name(self):
        """Return what each name adds, a dict."""
        found = {}
        for name, value in zip(self.names.tolist(), self.values.tolist(), strict=True):
            found[name] = found.get(name, 0.0) + value
        return found


def largest(values, n):
    """Return the largest items of a dict by absolute value, and the sum of the others.

    Examples
    --------
    >>> largest({"a": 1.0, "b": -3.0, "c": 0.5}, 1)
    ([('b', -3.0)], 1.5)
    """
    ordered = sorted(values.items(), key=lambda item: -abs(item[1]))
    return ordered[:n], float(sum(value for _, value in ordered[n:]))


def others(n):
    """Return how a number of further things is written.

    Examples
    --------
    >>> others(1), others(2)
    ('1 other', '2 others')
    """
    return f"{n} other" if n == 1 else f"{n} others"


def signed(value):
    """Return log odds as they are written, with a sign and two digits.

    Examples
    --------
    >>> signed(1.234), signed(-0.001)
    ('+1.23', '+0.00')
    """
    return f"{round(value, 2) + 0.0:+.2f}"  # there is no negative zero


@dataclass(frozen=True)
class RelatedLabel:
    """A label that the label graph links with the explained one.

    Attributes
    ----------
    relation : str
        Name of the relation, such as ``"pulling"``.
    label : str
        The linked label.
    weight : float
        Weight of the edge, the larger one of both directions.
    probability : float
        Its own probability in the same row.
    """

    relation: str
    label: str
    weight: float
    probability: float


class LinkedLabels:
    """The labels that a label graph links with each other.

    The graph is the same for all rows, and so are its links; what differs is how probable the
    linked labels are. A network that passes messages within a row would bring strengths of its
    own, and `of` is where they would come in.

    Parameters
    ----------
    graph : LabelGraph or None
        The label graph.
    """

    def __init__(self, graph):
        self.names = None if graph is None else graph.label_names
        relations = {} if graph is None else graph.relations
        self.links = {name: A.maximum(A.T).tocsr() for name, A in relations.items()}

    def of(self, label, P_row):
        """Return the labels linked with one, strongest first in each relation.

        Parameters
        ----------
        label : int
            Which label.
        P_row : ndarray of shape (n_labels,)
            Probabilities of all labels of the row.

        Returns
        -------
        related : tuple of RelatedLabel
        """
        found = []
        for relation, A in self.links.items():
            stored = slice(A.indptr[label], A.indptr[label + 1])
            linked, weights = A.indices[stored], A.data[stored]
            for place in np.lexsort((-P_row[linked], -weights)):
                other = linked[place]
                weight, P = float(weights[place]), float(P_row[other])
                found.append(RelatedLabel(relation, self.names[other], weight, P))
        return tuple(found)
