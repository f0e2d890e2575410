"""Whatever a name is, it stays in its cell of a table and in its string of a YAML head."""

import re
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_mrmp._hub.markup import markdown_table, markdown_text, one_line, yaml_mapping

NASTY = [
    "<script>alert(1)</script>",
    "a | b",
    "two\nlines\r\n# and a heading",
    "\\| `code` \\",
    "[link](https://example.org) ![image](x)",
    "*a* _b_ __c__ ~~d~~ f1_micro",
    "https://example.org www.example.org a@example.org",
    "&lt;b&gt; &#124;",
    "---",
    ": - ? # 'x' \"y\"",
    "\u202eright to left\x00\x1b",
    "$x$ {{ y }} :emoji:",
    "家族 👨\u200d👩\u200d👧",
]
# The same draws in every run; the first of them also pays for imports.
repeatable = settings(derandomize=True, deadline=None)
names = st.sampled_from(NASTY) | st.text(max_size=60)


@repeatable
@given(st.lists(names, min_size=1, max_size=4))
def test_names_stay_in_their_cells(found):
    markdown_it = pytest.importorskip("markdown_it")
    renderer = markdown_it.MarkdownIt("commonmark", {"html": True}).enable("table")
    renderer.enable("strikethrough")
    table = markdown_table(
        ["number", "name"], [[str(i), markdown_text(n)] for i, n in enumerate(found)]
    )
    html = renderer.render(table)
    cells = re.findall(r"<td>(.*?)</td>", html, re.S)
    assert [unescape(cell) for cell in cells[1::2]] == [
        one_line(name).strip(" \u3000\xa0") for name in found
    ]
    assert cells[::2] == [str(i) for i in range(len(found))]


@repeatable
@given(names)
def test_a_name_is_one_line_of_characters_that_can_be_seen(name):
    line = one_line(name)
    assert len(line) <= 100
    assert all(c.isprintable() or c in "\u200c\u200d" for c in line)
    line.encode("utf-8")


def test_long_names_are_cut():
    assert one_line("a" * 500) == "a" * 99 + "…"


def test_a_word_with_underscores_stays_readable():
    assert markdown_text("f1_micro, a__b") == "f1_micro, a__b"


@repeatable
@given(names, st.lists(names, max_size=3), st.floats(allow_nan=False, allow_infinity=False))
def test_yaml_gives_back_every_text_and_number(text, texts, number):
    yaml = pytest.importorskip("yaml")
    values = {"text": text, "results": [{"name": text, "value": number, "all": {"texts": texts}}]}
    if not texts:
        values["results"][0].pop("all")
    written = "\n".join(yaml_mapping(values))
    assert yaml.safe_load(written) == values


def test_half_a_character_is_replaced():
    yaml = pytest.importorskip("yaml")
    written = "\n".join(yaml_mapping({"name": "a\ud800"}))
    assert yaml.safe_load(written.encode("utf-8")) == {"name": "a\N{REPLACEMENT CHARACTER}"}
