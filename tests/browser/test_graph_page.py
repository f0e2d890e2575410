"""The page of a label graph, used as a person would; it must be quiet and ask for nothing."""

import numpy as np
import pytest

from sklearn_mrmp import LabelGraph, label_graph

EVIL = '</script><script>window.bad = 1</script><img src="https://x.test/x" onerror="window.bad=1">'
NAMES = ["sea", "ship", "desert", "seaweed", EVIL]
Y = np.array(
    [[1, 1, 0, 1, 0]] * 12 + [[1, 1, 0, 0, 1]] * 6 + [[0, 0, 1, 0, 0]] * 15 + [[1, 0, 0, 0, 1]] * 4
)
TEXTS = [f"text number {k}" for k in range(len(Y))]


@pytest.fixture
def page(open_page, tmp_path):
    path = tmp_path / "graph.html"
    label_graph(Y, label_names=NAMES).to_html(path, Y, TEXTS, title=f"Labels {EVIL}")
    return open_page(path)


def state(page, name):
    return page.locator(".label-graph").get_attribute(f"data-{name}")


def n_links(page):
    return int(state(page, "links"))


def listed(page):
    """Names of the neighbours in the panel, in the order shown."""
    return page.locator(".panel tbody tr td:first-child .name").all_inner_texts()


def after_a_frame(page):
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30)))")


def test_all_labels_and_links_are_drawn_and_no_name_becomes_code(page):
    graph = label_graph(Y, label_names=NAMES)
    assert state(page, "labels") == "5"
    assert n_links(page) == sum(A.nnz for A in graph.relations.values()) // 2
    assert page.evaluate("window.bad") is None
    assert page.title() == f"Labels {EVIL}"


def test_search_finds_labels_by_a_part_of_their_name(page):
    page.fill(".search", "SEA")
    assert page.locator(".found button").all_inner_texts() == ["sea", "seaweed"]
    page.locator(".found button", has_text="seaweed").click()
    assert state(page, "focus") == "seaweed"
    page.fill(".search", "onerror")
    page.press(".search", "Enter")
    assert state(page, "focus") == EVIL
    assert page.locator(".panel h3").inner_text() == EVIL
    page.fill(".search", "nothing of this name")
    assert "No label" in page.locator(".found").inner_text()


def test_a_click_on_a_label_shows_its_neighbours_strongest_first(page):
    graph = label_graph(Y, label_names=NAMES)
    place = page.evaluate(
        """() => {
            const {cy} = document.querySelector('.label-graph').view;
            const {x, y} = cy.$id('n2').renderedPosition();
            const box = cy.container().getBoundingClientRect();
            return [box.left + x, box.top + y];
        }"""
    )
    page.mouse.click(*place)
    page.wait_for_function("document.querySelector('.label-graph').dataset.focus === 'desert'")
    assert sorted(listed(page)) == sorted(graph.neighbors("desert"))
    strengths = [float(t) for t in page.locator(".panel tbody td:nth-child(3)").all_inner_texts()]
    assert strengths == sorted(strengths, reverse=True)
    assert "In 15 of 37 rows" in page.locator(".panel").inner_text()


def test_a_neighbour_leads_on_and_escape_leads_back(page):
    page.fill(".search", "sea")
    page.press(".search", "Enter")
    page.locator(".panel .name", has_text="ship").first.click()
    assert state(page, "focus") == "ship"
    page.keyboard.press("Escape")
    assert state(page, "focus") == ""
    assert state(page, "labels") == "5"


def test_filters_change_what_is_drawn_and_listed(page):
    before = n_links(page)
    page.locator(".relation", has_text="pushing").locator("input").uncheck()
    after_a_frame(page)
    pulling = n_links(page)
    assert 0 < pulling < before
    page.locator("input.strength").fill(page.locator("input.strength").get_attribute("max"))
    after_a_frame(page)
    assert n_links(page) < pulling
    page.locator(".relation", has_text="pulling").locator("input").uncheck()
    after_a_frame(page)
    assert n_links(page) == 0
    assert "No link passes" in page.locator(".panel").inner_text()


def test_rows_with_both_labels_are_shown(page):
    page.fill(".search", "ship")
    page.press(".search", "Enter")
    page.locator("tr", has_text="seaweed").locator(".both").click()
    examples = page.locator(".examples")
    assert "“ship” and “seaweed”" in examples.inner_text()
    assert "text number 0" in examples.inner_text()
    assert "text number 12" not in examples.inner_text()


def test_the_panel_sorts_by_its_columns(page):
    page.fill(".search", "ship")
    page.press(".search", "Enter")
    page.locator(".panel th", has_text="neighbour").click()
    names = listed(page)
    assert names == sorted(names, key=str.lower)
    page.locator(".panel th", has_text="neighbour").click()
    assert listed(page) == names[::-1]
    page.locator(".panel th", has_text="p-value").click()
    shown = page.locator(".panel tbody td:last-child").all_inner_texts()
    assert [float(p) for p in shown] == sorted(map(float, shown), reverse=True)


def test_zoom_and_fit(page):
    zoom = "document.querySelector('.label-graph').view.cy.zoom()"
    before = page.evaluate(zoom)
    box = page.locator(".canvas").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, -300)
    page.wait_for_function(f"{zoom} > {before}")
    page.locator("button.fit").click()
    assert page.evaluate(zoom) == pytest.approx(before)


def test_a_prior_shows_directions_and_leaves_unknown_columns_out(open_page, tmp_path):
    path = tmp_path / "prior.html"
    parents = [[0, 1, 1], [0, 0, 0], [0, 0, 0]]
    LabelGraph({"parent": parents}, ["animal", "cat", "dog"]).to_html(path)
    page = open_page(path)
    page.fill(".search", "cat")
    page.press(".search", "Enter")
    assert page.locator(".panel td").first.inner_text() == "← animal"
    header = page.locator(".panel th").all_inner_texts()
    assert header == ["neighbour", "relation", "strength"]


def test_a_large_graph_draws_what_the_slider_says_and_lists_every_neighbour(open_page, tmp_path):
    path, rng = tmp_path / "large.html", np.random.default_rng(0)
    n_labels = 600
    weights = np.triu(rng.random((n_labels, n_labels)), k=1)
    relations = {"near": weights * (weights > 0.75), "far": weights * (weights < 0.2)}
    graph = LabelGraph(relations)
    graph.to_html(path)
    page = open_page(path)
    assert (state(page, "labels"), n_links(page)) == ("600", 2 * 300)
    page.locator("input.links").fill("8")
    after_a_frame(page)
    assert n_links(page) == 2 * 4000
    page.fill(".search", "17")
    page.press(".search", "Enter")
    assert state(page, "focus") == "17"
    assert len(listed(page)) == graph.degree()[17]
    assert n_links(page) <= 40


def test_a_graph_without_links_is_shown(open_page, tmp_path):
    path = tmp_path / "empty.html"
    LabelGraph({"near": [[0, 0], [0, 0]]}).to_html(path)
    page = open_page(path)
    assert (state(page, "labels"), state(page, "links")) == ("2", "0")
