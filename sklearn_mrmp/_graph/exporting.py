"""What a `LabelGraph` can be turned into: tables, other graphs, and a page.

The methods alone; `export` and `page` do the work. Knows the public attributes of a graph.
"""

from sklearn_mrmp._graph.export import edge_frame, edge_html, edge_networkx
from sklearn_mrmp._graph.page import MOST_LINKS, write_graph_page


class GraphExports:
    """Exports of a label graph."""

    __slots__ = ()

    def to_frame(self):
        """Return the edges as a table, strongest first.

        Returns
        -------
        frame : pandas.DataFrame
            One row per edge: ``source``, ``target``, ``relation``, ``weight``, ``lift``, ``chi2``,
            ``p_value``, ``co_occurrence``. Sorted by falling weight, then chi2. A link in both
            directions is two edges. What is unknown (edges given by the user) is missing.

        Examples
        --------
        >>> from sklearn_mrmp import label_graph
        >>> Y = [[1, 1], [1, 1], [1, 0], [0, 0], [0, 0], [0, 0]] * 4
        >>> graph = label_graph(Y, edge_weight="conditional", label_names=["sea", "ship"])
        >>> frame = graph.to_frame()
        >>> frame[["source", "target", "weight", "lift", "co_occurrence"]].round(3)
          source target  weight  lift  co_occurrence
        0   ship    sea   0.500   2.0              8
        1    sea   ship   0.333   2.0              8
        """
        return edge_frame(self)

    def to_networkx(self):
        """Return the graph as a networkx multigraph.

        Returns
        -------
        graph : networkx.MultiDiGraph
            Nodes are label names (attributes ``index`` and, when known, ``count``); edges have the
            relation as their key and the columns of `to_frame` as attributes.

        Examples
        --------
        >>> from sklearn_mrmp import LabelGraph
        >>> graph = LabelGraph({"parent": [[0, 1], [0, 0]]}, ["animal", "cat"]).to_networkx()
        >>> list(graph.edges(keys=True, data="weight"))
        [('animal', 'cat', 'parent', 1.0)]
        """
        return edge_networkx(self)

    def to_html(self, path, Y=None, rows=None, *, title=None, max_links=MOST_LINKS):
        """Write the graph as a page to explore: one file that works offline.

        The page draws the strongest links, finds a label by its name, shows its neighbours with
        all that is known about the links, and filters links by relation and strength.

        Parameters
        ----------
        path : str or path-like
            The file, which is replaced if it exists.
        Y : {array-like, sparse matrix} of shape (n_samples, n_labels), default=None
            0/1 labels, to show example rows for labels and links. A graph that does not know
            how often its labels occur, such as a prior, is shown with the counts of these rows.
        rows : sequence of str of shape (n_samples,), default=None
            A text for each row of `Y`; None shows the numbers of the rows. Texts of more than 300
            characters end in an ellipsis.
        title : str, default=None
            Title of the page; None is "Label graph".
        max_links : int, default=200000
            Most links that are put in the file, the strongest; the page says if there are more.

        See Also
        --------
        LabelGraphDisplay : The graph as a static picture.

        Notes
        -----
        The strength of a link is the absolute correlation (phi coefficient) of its labels, or,
        where no counts are known, its weight divided by the largest one of the relation.

        Examples
        --------
        >>> import os, tempfile
        >>> from sklearn_mrmp import label_graph
        >>> Y = [[1, 1, 0], [1, 1, 0], [0, 0, 1]] * 4
        >>> graph = label_graph(Y, label_names=["sea", "ship", "desert"])
        >>> path = os.path.join(tempfile.mkdtemp(), "graph.html")
        >>> graph.to_html(path, Y)
        >>> os.path.getsize(path) > 100_000    # all that it needs is inside
        True
        """
        write_graph_page(self, path, Y, rows, title, max_links)

    def _repr_html_(self):
        return edge_html(self)
