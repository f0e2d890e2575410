"""Pictures of label graphs: what is chosen, and what ends up on the axes."""

from types import SimpleNamespace

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._graph.learning import LabelGraph, label_graph
from sklearn_mrmp._host import optional as _optional
from sklearn_mrmp._plot._graph_selection import edge_widths, select_edges, select_labels
from sklearn_mrmp._plot.label_graph import LabelGraphDisplay

NAMES = ["sea", "ship", "beach", "desert", "camel"]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def Y():
    rng = np.random.default_rng(0)
    sea = rng.random(300) < 0.5
    chance = rng.random((4, 300))
    columns = [sea, sea & (chance[0] < 0.4), sea & (chance[1] < 0.6), ~sea & (chance[2] < 0.7)]
    columns.append(columns[3] & (chance[3] < 0.5))
    return np.column_stack(columns).astype(int)


@pytest.fixture(scope="module")
def graph(Y):
    return label_graph(Y, label_names=NAMES)


@pytest.fixture(scope="module")
def large_graph():
    """30 groups of 4 labels; a group excludes all others."""
    rng = np.random.default_rng(1)
    group = rng.integers(0, 30, size=20_000)
    Y = (group[:, None] == np.repeat(np.arange(30), 4)) & (rng.random((20_000, 120)) < 0.6)
    return label_graph(Y)


def texts(ax):
    return {text.get_text() for text in ax.texts}


def legend_texts(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_every_way_of_making_the_display_draws_the_same_graph(Y, graph):
    estimator = SimpleNamespace(label_graph_=graph)
    for display in (
        LabelGraphDisplay.from_graph(graph),
        LabelGraphDisplay.from_estimator(estimator),
        LabelGraphDisplay.from_labels(Y, label_names=NAMES),
    ):
        assert display.drawn_graph_ == graph
        assert texts(display.ax_) == set(NAMES)
        assert display.figure_ is display.ax_.figure


def test_an_estimator_without_a_graph_is_refused_with_the_reason(graph):
    with pytest.raises(ValueError, match="no label_graph_"):
        LabelGraphDisplay.from_estimator(SimpleNamespace())
    with pytest.raises(ValueError, match="relations=None"):
        LabelGraphDisplay.from_estimator(SimpleNamespace(label_graph_=None))


def test_an_unfitted_classifier_is_refused():
    with pytest.raises(NotFittedError):
        LabelGraphDisplay.from_estimator(make_pipeline(MaxAbsScaler(), MrMPClassifier()))


def test_pulling_is_solid_blue_and_pushing_dashed_red(graph):
    pulling = LabelGraphDisplay.from_graph(graph, relations="pulling").edges_
    pushing = LabelGraphDisplay.from_graph(graph, relations=["pushing"]).edges_
    red, _, blue = to_rgb(pulling[0].get_edgecolor())
    assert blue > 2 * red
    assert pulling[0].get_linestyle() == "solid"
    red, _, blue = to_rgb(pushing[0].get_edgecolor())
    assert red > 2 * blue
    assert pushing[0].get_linestyle() != "solid"


def test_networks_and_matrices_have_the_same_two_colours(graph):
    network = LabelGraphDisplay.from_graph(graph)
    cmap = LabelGraphDisplay.from_graph(graph, kind="matrix").image_.get_cmap()
    drawn = sorted({to_rgb(edge.get_edgecolor()) for edge in network.edges_})  # blue, then red
    np.testing.assert_allclose(drawn, [to_rgb(cmap(0.9)), to_rgb(cmap(0.1))], atol=0.01)


def test_other_relations_get_styles_of_their_own(graph):
    four = {name: np.triu(np.ones((5, 5)), 1) for name in ("pulling", "parent", "similar")}
    display = LabelGraphDisplay.from_graph(LabelGraph(four))
    styles = {(edge.get_edgecolor()[:3], str(edge.get_linestyle())) for edge in display.edges_}
    assert len(styles) == 3
    assert len({style for _, style in styles}) == 3


def test_edges_are_drawn_once_per_pair_unless_directed(Y, graph):
    n_edges = sum(A.nnz for A in graph.relations.values())
    assert len(LabelGraphDisplay.from_graph(graph, max_edges=100).edges_) == n_edges // 2
    directed = LabelGraphDisplay.from_labels(Y, edge_weight="conditional", max_edges=100)
    assert len(directed.edges_) == n_edges


def test_arrows_only_where_direction_matters(Y, graph):
    def heads(display):
        return {type(edge.get_arrowstyle()).__name__ for edge in display.edges_}

    assert heads(LabelGraphDisplay.from_graph(graph)) == {"Curve"}
    directed = LabelGraphDisplay.from_labels(Y, edge_weight="conditional")
    assert heads(directed) == {"CurveFilledB"}


def test_node_area_grows_with_frequency(graph):
    sizes = LabelGraphDisplay.from_graph(graph).ax_.collections[0].get_sizes()
    assert np.argsort(sizes).tolist() == np.argsort(graph.counts).tolist()


def test_wider_edges_are_stronger_on_a_scale_shared_by_the_learned_pair(graph):
    edges = [select_edges(graph, name, 100) for name in ("pulling", "pushing")]
    strength = np.concatenate([drawn.strength for drawn in edges])
    width = np.concatenate(edge_widths(edges))
    assert np.argsort(strength).tolist() == np.argsort(width).tolist()
    assert width.max() == pytest.approx(1)


def test_a_large_graph_shows_its_most_frequent_labels_and_strongest_edges(large_graph):
    display = LabelGraphDisplay.from_graph(large_graph, max_labels=20, max_edges=7)
    drawn = display.drawn_graph_
    assert drawn.n_labels == 20
    assert drawn.counts.min() >= np.sort(large_graph.counts)[-20]
    hidden = drawn.relations["pushing"].nnz // 2
    assert f"pushing: 7 strongest of {hidden} pairs" in legend_texts(display)
    shown = select_edges(drawn, "pushing", 7).strength
    everything = select_edges(drawn, "pushing", 10_000).strength
    np.testing.assert_array_equal(np.sort(shown), np.sort(everything)[-7:])
    assert "20 of 120 labels" in display.ax_.get_title()


def test_without_counts_the_best_connected_labels_are_shown():
    star = np.zeros((6, 6))
    star[3, [1, 5]] = 1
    part = select_labels(LabelGraph({"near": star}), ["near"], None, 3)
    assert part.label_names.tolist() == ["1", "3", "5"]


def test_chosen_labels_are_drawn_by_name_or_index(graph):
    display = LabelGraphDisplay.from_graph(graph, labels=["ship", 0])
    assert display.drawn_graph_.label_names.tolist() == ["ship", "sea"]
    assert texts(display.ax_) == {"ship", "sea"}


def test_an_axes_can_be_given_and_plot_draws_again(graph):
    _, (left, right) = plt.subplots(1, 2)
    display = LabelGraphDisplay.from_graph(graph, ax=left)
    assert display.ax_ is left
    assert display.plot(ax=right, kind="matrix") is display
    assert display.ax_ is right
    assert display.edges_ is None


def test_circular_layout_puts_related_labels_side_by_side(graph):
    display = LabelGraphDisplay.from_graph(graph)
    places = dict(zip(NAMES, display.ax_.collections[0].get_offsets(), strict=True))

    def distance(a, b):
        return np.linalg.norm(places[a] - places[b])

    assert distance("desert", "camel") < distance("camel", "ship")
    for place in places.values():
        assert np.hypot(*place) == pytest.approx(1)


def test_spring_layout_pulls_related_labels_together_every_time(graph):
    first, second = (
        LabelGraphDisplay.from_graph(graph, layout="spring").ax_.collections[0].get_offsets()
        for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)
    places = dict(zip(NAMES, first, strict=True))
    gap = np.linalg.norm(places["desert"] - places["sea"])
    assert np.linalg.norm(places["desert"] - places["camel"]) < gap


@pytest.mark.parametrize("as_callable", [False, True])
def test_positions_can_be_given(graph, as_callable):
    places = {name: (k, k**2) for k, name in enumerate(NAMES)}
    layout = (lambda graph: places) if as_callable else places
    offsets = LabelGraphDisplay.from_graph(graph, layout=layout).ax_.collections[0].get_offsets()
    np.testing.assert_array_equal(offsets, list(places.values()))


def test_matrix_colours_pull_and_push_on_both_sides_of_zero(graph):
    display = LabelGraphDisplay.from_graph(graph, kind="matrix")
    values = display.image_.get_array()
    assert values.min() < 0 < values.max()
    names = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert sorted(names) == sorted(NAMES)
    i, j = names.index("sea"), names.index("ship")
    assert values[i, j] == pytest.approx(np.sqrt(graph.statistic["pulling"][0, 1] / 300))


def test_equal_strengths_have_colours_of_equal_strength_in_a_matrix(graph):
    norm = LabelGraphDisplay.from_graph(graph, kind="matrix").image_.norm
    assert norm.vmin == -norm.vmax
    strengths = norm.vmax * np.array([0.01, 0.2, 0.7, 1])
    np.testing.assert_allclose(norm(strengths) + norm(-strengths), 1)
    assert (np.diff(norm(strengths)) > 0).all()


@pytest.mark.parametrize(
    ("relations", "low", "high"),
    [(None, "pushing", "pulling"), ("pulling", None, "pulling"), ("pushing", "pushing", None)],
)
def test_the_colour_bar_says_what_its_numbers_and_ends_are(graph, relations, low, high):
    display = LabelGraphDisplay.from_graph(graph, kind="matrix", relations=relations)
    bar = display.image_.colorbar.ax
    assert "phi coefficient" in bar.get_ylabel()
    assert bar.get_ylabel().startswith(low or "phi")
    assert bar.get_ylabel().endswith(high or ")")
    limit = display.image_.norm.vmax
    assert bar.get_ylim() == (-limit if low else 0, limit if high else 0)


def test_the_colour_bar_of_given_weights_speaks_of_weights():
    display = LabelGraphDisplay.from_graph(LabelGraph({"near": np.eye(3, k=1)}), kind="matrix")
    assert display.image_.colorbar.ax.get_ylabel() == "edge weight  →  near"


LONG = "a name of sixty characters, which nobody would like to read"


def matrix_share(names, **options):
    graph = LabelGraph({"near": np.eye(20, k=1)}, names)
    display = LabelGraphDisplay.from_graph(graph, kind="matrix", **options)
    display.figure_.draw_without_rendering()
    return display.ax_.get_position().height


def test_a_long_name_is_shortened_and_leaves_the_matrix_its_room():
    names = [f"label number {k}" for k in range(20)]
    usual = matrix_share(names)
    assert matrix_share([LONG, *names[1:]]) > 0.9 * usual
    assert matrix_share([LONG, *names[1:]], max_name_length=None) < 0.8 * usual


@pytest.mark.parametrize("options", [{}, {"layout": "spring"}, {"kind": "matrix"}], ids=str)
def test_full_names_stay_reachable(graph, options):
    renamed = graph.rename([LONG, *NAMES[1:]])
    display = LabelGraphDisplay.from_graph(renamed, **options)
    assert display.drawn_graph_.label_names[0] == LONG
    written = texts(display.ax_) | {t.get_text() for t in display.ax_.get_yticklabels()}
    (short,) = (text for text in written if "…" in text)
    assert len(short) <= 24
    assert LONG.startswith(short.partition("…")[0])
    assert LONG.endswith(short.partition("…")[2])
    display = LabelGraphDisplay.from_graph(renamed, **options, max_name_length=None)
    assert LONG in texts(display.ax_) | {t.get_text() for t in display.ax_.get_yticklabels()}


@pytest.mark.parametrize("layout", ["circular", "spring"])
@pytest.mark.parametrize("given_axes", [False, True])
def test_names_end_inside_the_axes_below_the_title_and_above_the_legend(layout, given_axes):
    graph = LabelGraph(
        {"near": np.eye(30, k=1), "far": np.eye(30, k=2)}, [f"{LONG} {k}" for k in range(30)]
    )
    ax = plt.figure(figsize=(10, 5)).subplots(1, 2)[1] if given_axes else None
    display = LabelGraphDisplay.from_graph(graph, layout=layout, ax=ax)
    display.figure_.draw_without_rendering()
    frame, legend = display.ax_.get_window_extent(), display.ax_.get_legend().get_window_extent()
    title = display.ax_.title.get_window_extent()
    for text in display.ax_.texts:
        box = text.get_window_extent()
        assert frame.x0 <= box.x0
        assert box.x1 <= frame.x1
        assert legend.y1 <= box.y0
        assert box.y1 <= min(frame.y1, title.y0)


@pytest.mark.parametrize("options", [{}, {"layout": "spring"}, {"kind": "matrix"}], ids=str)
@pytest.mark.parametrize("n_labels", [5, 70])
def test_names_with_dollars_are_shown_as_they_are(options, n_labels):
    names = [rf"$\frac$ {k}" for k in range(n_labels)]
    graph = LabelGraph({r"$\near$": np.eye(n_labels, k=1)}, names)
    display = LabelGraphDisplay.from_graph(graph, **options)
    display.figure_.draw_without_rendering()
    written = [*display.ax_.texts, *display.ax_.get_yticklabels(), *display.ax_.get_xticklabels()]
    shown = {name for text in written for name in text.get_text().split(", ")}
    assert shown & set(names)


def test_a_network_is_limited_to_labels_that_can_be_read():
    graph = LabelGraph({"near": np.eye(130, k=1)})
    with pytest.warns(UserWarning, match=r"130 labels cannot be read.*kind='matrix'"):
        display = LabelGraphDisplay.from_graph(graph, max_labels=130, max_edges=1)
    assert display.drawn_graph_.n_labels == 100
    with pytest.raises(ValueError, match=r"130 labels cannot be read.*kind='matrix'"):
        LabelGraphDisplay.from_graph(graph, labels=range(130))
    matrix = LabelGraphDisplay.from_graph(graph, kind="matrix", max_labels=130)
    assert matrix.drawn_graph_.n_labels == 130


@pytest.mark.filterwarnings("error")
def test_a_small_graph_takes_any_limit(graph):
    assert LabelGraphDisplay.from_graph(graph, max_labels=983).drawn_graph_ == graph


def test_matrix_of_many_labels_names_clusters_and_pushers(large_graph):
    display = LabelGraphDisplay.from_graph(large_graph, kind="matrix")
    names = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert len(names) == 30
    for name in names:
        members = {int(label) // 4 for label in name.split(", ")}
        assert len(members) == 1
    assert len(display.ax_.get_xticklabels()) == 12
    values = display.image_.get_array()
    assert np.diagonal(values, 1).mean() > values.mean()


@pytest.mark.parametrize("kind", ["network", "matrix"])
@pytest.mark.parametrize("n_labels", [1, 2, 70])
def test_graphs_without_edges_or_counts_can_be_drawn(kind, n_labels):
    graph = LabelGraph({"near": np.zeros((n_labels, n_labels))})
    display = LabelGraphDisplay.from_graph(graph, kind=kind)
    assert display.drawn_graph_.n_labels == (
        40 if (kind, n_labels) == ("network", 70) else n_labels
    )
    display.figure_.canvas.draw()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "tree"}, "kind must be .*'tree'"),
        ({"relations": "pull"}, "'pulling', 'pushing', got 'pull'"),
        ({"relations": []}, r"got \[\]"),
        ({"max_labels": 0}, "max_labels must be .*0"),
        ({"max_edges": 1.5}, "max_edges must be .*1.5"),
        ({"max_name_length": 3}, "max_name_length must be .*3"),
        ({"layout": "star"}, "layout must be .*'star'"),
        ({"layout": {"sea": (0, 0)}}, "no position for 'ship'"),
        ({"labels": ["lake"]}, "'lake' is not in the graph"),
    ],
)
def test_bad_options_are_named(graph, options, message):
    with pytest.raises(ValueError, match=message):
        LabelGraphDisplay.from_graph(graph, **options)


def test_without_matplotlib_the_display_says_what_to_install(graph, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(_optional, "import_module", missing)
    with pytest.raises(ImportError, match=r"matplotlib.*sklearn-mrmp\[plot\]"):
        LabelGraphDisplay.from_graph(graph)
