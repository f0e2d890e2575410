"""Explanations as text, HTML and data frames."""

import re

import numpy as np
import pytest

from sklearn_mrmp import Explanation
from sklearn_mrmp._explain.terms import RelatedLabel, Terms
from sklearn_mrmp._explain.value import LabelExplanation
from sklearn_mrmp._numerics.similar_rows import NearestRows

TEXT = "<script>alert('sea')</script> & sea"


@pytest.fixture
def explanation():
    words = Terms(
        "words",
        np.array(["sea", "<b>", "the"], dtype=object),
        np.array([1.5, -0.5, 0.25]),
        baseline=-0.25,
        spans=(((15, 18), (32, 35)), (), ()),
    )
    near = NearestRows(
        np.array([7, 3]),
        np.array([0.9, 0.5]),
        np.array([1.0, np.nan]),
        np.array([0.6, 0.0]),
        0.25,
    )
    labels = Terms("labels", np.array(["<i>ship"], dtype=object), np.array([0.2]), residual=0.05)
    parts = {"linear": 1.0, "neighbors": 0.5, "frequency": -0.25, "label_sets": 0.25}
    inside = {"linear": words, "neighbors": near, "label_sets": labels}
    related = (RelatedLabel("pulling", "ship & co", 1.0, 0.75),)
    first = LabelExplanation(2, "<sea>", 0.8176, parts, inside, related, ("A <note>.",), TEXT)
    return Explanation([first, LabelExplanation(4, "ship", 0.5, {"network": 0.0}, {})])


def test_items_are_read_by_place_and_by_row_and_label(explanation):
    assert explanation[2, "<sea>"] is explanation[0]
    assert [item.row for item in explanation] == [2, 4]
    assert repr(explanation) == "Explanation(2 labels of 2 rows)"
    assert repr(explanation[1:]) == "Explanation(1 label of 1 row)"
    with pytest.raises(KeyError, match="'ship' of row 2 was not explained"):
        explanation[2, "ship"]
    with pytest.raises(TypeError, match="by place"):
        explanation["ship"]


def test_log_odds_are_the_sum_of_the_parts(explanation):
    assert explanation[0].log_odds == 1.5
    assert explanation[0].inside["linear"].total == 1.0
    assert explanation[0].features() == {"sea": 1.5, "<b>": -0.5, "the": 0.25}
    assert explanation[0].marks() == [(15, 18, 0.75), (32, 35, 0.75)]


def test_plain_text_has_the_parts_and_what_is_inside(explanation):
    text = str(explanation)
    assert "Row 2, label '<sea>': probability 0.818, log odds +1.50" in text
    assert re.search(r"linear +\+1\.00  = sea \+1\.50, <b> -0\.50, the \+0\.25, baseline", text)
    assert "1 of 2 similar training rows have it; nearest: 7 yes (0.90), 3 unknown (0.50)" in text
    assert "<i>ship +0.20, rest +0.05" in text
    assert "pulling labels: ship & co (0.75)" in text
    assert "A <note>." in text


def test_html_escapes_everything_and_marks_words(explanation):
    html = explanation.to_html()
    for raw in ("<script", "<sea>", "<b>", "<i>ship", "<note>", "ship & co"):
        assert raw not in html.replace("<b style", "")
    assert html.count("<mark") == 2
    assert ">sea</mark>" in html
    shown = re.sub(r"<[^>]+>", "", re.search(r"class='text'>(.*?)</div>", html)[1])
    assert shown == "&lt;script&gt;alert(&#x27;sea&#x27;)&lt;/script&gt; &amp; sea"


def test_a_page_is_whole_and_needs_nothing_else(explanation, tmp_path):
    page = explanation.to_html(tmp_path / "why.html")
    assert (tmp_path / "why.html").read_text(encoding="utf-8") == page
    assert page.startswith("<!DOCTYPE html>")
    assert not re.search(r"(src|href|url)\s*[=(]", page)


def test_notebooks_show_some_of_very_many(explanation):
    many = Explanation(list(explanation) * 40)
    assert "30 more labels are not shown" in many._repr_html_()
    assert many._repr_html_().count("class='mrmp-why'") == 50


def test_frames_have_the_parts_and_the_terms(explanation):
    pytest.importorskip("pandas")
    frame = explanation.to_frame()
    assert frame["log_odds"].tolist() == [1.5, 0.0]
    assert frame[["linear", "frequency"]].iloc[0].tolist() == [1.0, -0.25]
    inside = explanation.to_frame(inside=True)
    sums = inside.groupby(["row", "part"])["log_odds"].sum()
    for item in explanation:
        for part, value in item.parts.items():
            assert sums[item.row, part] == pytest.approx(value)
    sea = inside[inside["name"] == "sea"].iloc[0]
    assert (sea["start"], sea["end"]) == (15, 18)
    rows = inside[inside["kind"] == "training row"]
    assert rows["name"].tolist() == ["7", "3"]
