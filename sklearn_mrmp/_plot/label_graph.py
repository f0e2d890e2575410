"""`LabelGraphDisplay`: a label graph as a picture, in scikit-learn's Display style.

The public face; what is drawn is chosen in `_graph_selection`, and drawn by `_graph_network` and
`_graph_matrix`. Knows no estimator beyond its attribute ``label_graph_``.
"""

import warnings
from numbers import Integral

from sklearn_mrmp._graph.learning import label_graph
from sklearn_mrmp._host.optional import import_optional
from sklearn_mrmp._plot._graph_matrix import draw_matrix
from sklearn_mrmp._plot._graph_network import draw_network, node_positions
from sklearn_mrmp._plot._graph_selection import (
    check_drawn_relations,
    select_edges,
    select_labels,
)
from sklearn_mrmp._plot._text import shorten
from sklearn_mrmp._plot._unwrap import find_fitted

_MAX_LABELS = {"network": 40, "matrix": 1000}
_NETWORK_LIMIT = 100  # names of more labels overlap around the circle
_FIGURE = {  # names and colour bar are beside the matrix; names are inside the axes of a network
    "network": {"figsize": (8, 8), "layout": "constrained"},
    "matrix": {"figsize": (10, 7.5), "layout": "compressed"},
}


class LabelGraphDisplay:
    """Picture of a label graph.

    Make it with `from_estimator`, `from_graph` or `from_labels`; `plot` draws it again with other
    options.

    Parameters
    ----------
    graph : LabelGraph
        The graph to draw.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the graph was drawn.
    figure_ : matplotlib Figure
        The figure of the axes.
    drawn_graph_ : LabelGraph
        The part of the graph that was drawn, with the names of its labels in full.
    edges_ : list of FancyArrowPatch
        The edges of a network, weakest first within each relation; None for a matrix.
    image_ : matplotlib AxesImage
        The heat map of a matrix; None for a network.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn_mrmp import LabelGraphDisplay
    >>> Y = [[1, 1, 0], [1, 1, 0], [0, 0, 1]] * 4
    >>> display = LabelGraphDisplay.from_labels(Y, label_names=["sea", "ship", "desert"])
    >>> len(display.edges_)
    3
    """

    def __init__(self, graph):
        self.graph = graph

    @classmethod
    def from_graph(cls, graph, **plot_options):
        """Draw a label graph.

        Parameters
        ----------
        graph : LabelGraph
            The graph to draw.
        **plot_options
            Passed to `plot`.

        Returns
        -------
        display : LabelGraphDisplay
            The drawn display.
        """
        return cls(graph).plot(**plot_options)

    @classmethod
    def from_estimator(cls, estimator, **plot_options):
        """Draw the label graph of a fitted classifier.

        Parameters
        ----------
        estimator : MrMPClassifier, or a pipeline or search that ends in one
            Fitted: a classifier with the attribute ``label_graph_``, or one inside pipelines,
            searches or a `TunedDecisionClassifier`.
        **plot_options
            Passed to `plot`.

        Returns
        -------
        display : LabelGraphDisplay
            The drawn display.
        """
        classifier = find_fitted(estimator, "label_graph_")
        if classifier.label_graph_ is None:
            name = type(classifier).__name__
            raise ValueError(f"This {name} was fitted without a label graph (relations=None).")
        return cls.from_graph(classifier.label_graph_, **plot_options)

    @classmethod
    def from_labels(
        cls,
        Y,
        *,
        alpha=0.05,
        correction=None,
        edge_weight="binary",
        min_count=0,
        label_names=None,
        **plot_options,
    ):
        """Learn the label graph of a label matrix and draw it.

        Parameters
        ----------
        Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            0/1 label matrix.
        alpha, correction, edge_weight, min_count, label_names
            Passed to `label_graph`.
        **plot_options
            Passed to `plot`.

        Returns
        -------
        display : LabelGraphDisplay
            The drawn display.
        """
        graph = label_graph(
            Y,
            alpha=alpha,
            correction=correction,
            edge_weight=edge_weight,
            min_count=min_count,
            label_names=label_names,
        )
        return cls.from_graph(graph, **plot_options)

    def plot(
        self,
        *,
        ax=None,
        kind="network",
        relations=None,
        labels=None,
        max_labels=None,
        max_edges=None,
        layout="circular",
        max_name_length=24,
    ):
        """Draw the graph.

        Pulling is blue and pushing red. In a network, node size is the frequency of a label; the
        width of an edge is its weight or, when all weights are 1, the strength of the association
        (phi coefficient). Relations that differ by direction get arrows. The colours of a matrix
        show the phi coefficient, which is the correlation of two labels (the weight for relations
        without counts), on one scale for pulling and pushing; the scale is that of the square
        root, so that weak associations can be seen.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure when None.
        kind : {"network", "matrix"}, default="network"
            Nodes and edges; or a heat map of all labels ordered by clustering, for hundreds.
        relations : str or sequence of str, default=None
            The relations to draw; all when None.
        labels : sequence of str or int, default=None
            The labels to draw, by name or index; when None, the `max_labels` most frequent labels
            that have an edge. A network takes 100 at most.
        max_labels : int, default=None
            Most labels to draw when `labels` is None: 40 in a network and 1000 in a matrix. The
            names of more than 100 labels cannot be read in a network: a larger number warns and
            draws 100. A matrix draws as many as you ask for.
        max_edges : int, default=None
            Most edges per relation in a network, the strongest; as many as labels when None.
        layout : {"circular", "spring"}, mapping or callable, default="circular"
            Where the nodes of a network go: around a circle with related labels side by side;
            pulled together by springs; as a mapping of label name to (x, y) says; or as a
            callable says that takes the graph and returns such a mapping.
        max_name_length : int, default=24
            Longer names are shortened with an ellipsis; None writes them in full. The full names
            are always in ``drawn_graph_.label_names``.

        Returns
        -------
        display : LabelGraphDisplay
            This object, with `ax_` and `figure_` set.
        """
        if kind not in _MAX_LABELS:
            raise ValueError(f"kind must be 'network' or 'matrix', got {kind!r}.")
        _check_count("max_labels", max_labels)
        _check_count("max_edges", max_edges)
        _check_count("max_name_length", max_name_length, smallest=4)
        relations = check_drawn_relations(self.graph, relations)
        if kind == "network":
            max_labels = self._readable(labels, max_labels)
        graph = select_labels(self.graph, relations, labels, max_labels or _MAX_LABELS[kind])
        self._set_axes(ax, kind)
        self._set_title(graph)
        self.edges_ = self.image_ = None
        if kind == "matrix":
            self.image_ = draw_matrix(self.ax_, graph, relations, max_name_length)
        else:
            self.edges_ = self._draw_network(graph, relations, layout, max_edges, max_name_length)
        self.drawn_graph_ = graph
        return self

    def _readable(self, labels, max_labels):
        """Return how many labels a network may draw; warn, or refuse labels that were named."""
        hint = "pass kind='matrix', which shows hundreds of labels"
        if labels is not None and len(labels) > _NETWORK_LIMIT:
            raise ValueError(
                f"A network of {len(labels)} labels cannot be read; name at most {_NETWORK_LIMIT}, "
                f"or {hint}."
            )
        if labels is None and max_labels is not None and max_labels > _NETWORK_LIMIT:
            if self.graph.n_labels > _NETWORK_LIMIT:
                warnings.warn(
                    f"A network of {max_labels} labels cannot be read: the {_NETWORK_LIMIT} most "
                    f"frequent ones are drawn; for more, {hint}.",
                    stacklevel=3,
                )
            return _NETWORK_LIMIT
        return max_labels

    def _set_axes(self, ax, kind):
        if ax is None:
            plt = import_optional("matplotlib.pyplot", "plot")
            _, ax = plt.subplots(**_FIGURE[kind])
        self.ax_, self.figure_ = ax, ax.figure

    def _draw_network(self, graph, relations, layout, max_edges, max_name_length):
        max_edges = max_edges or max(graph.n_labels, 1)
        edges = [select_edges(graph, name, max_edges) for name in relations]
        positions = node_positions(graph, relations, layout)
        names = [shorten(name, max_name_length) for name in graph.label_names]
        radial = isinstance(layout, str) and layout == "circular"
        return draw_network(self.ax_, graph, edges, positions, names, radial_names=radial)

    def _set_title(self, graph):
        whole = self.graph.n_labels
        shown = (
            f"{whole} labels" if graph.n_labels == whole else f"{graph.n_labels} of {whole} labels"
        )
        samples = "" if graph.n_samples is None else f", {graph.n_samples} samples"
        self.ax_.set_title(f"Label graph: {shown}{samples}", fontsize=11)


def _check_count(name, value, smallest=1):
    if value is not None and (not isinstance(value, Integral) or value < smallest):
        raise ValueError(
            f"{name} must be None or an integer of at least {smallest}, got {value!r}."
        )
