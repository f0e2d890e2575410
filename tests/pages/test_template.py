"""Pages as one file: what is inside, and what is kept out."""

import re

import numpy as np
import pytest

from sklearn_mrmp._host.html import html_table, json_block
from sklearn_mrmp._pages.graph import SCRIPTS
from sklearn_mrmp._pages.template import Section, html_page, packed, write_page
from tests.pages.reading import allowed_hashes, block, digest, scripts

EVIL = "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>"


def test_names_cannot_end_a_block_or_become_elements():
    table = html_table([EVIL], [[EVIL]], caption=EVIL, notes=[EVIL])
    section = Section(EVIL, json_block({"names": [EVIL]}, "data") + table)
    html = html_page(EVIL, [section, section], lead=EVIL)
    assert "<script>alert" not in html
    assert "<img" not in html
    assert block(html, "data") == {"names": [EVIL]}


def test_only_the_page_s_own_scripts_may_run_and_nothing_is_requested():
    html = html_page("page", [Section("graph", "", SCRIPTS)])
    assert [digest(text) for text in scripts(html)] == allowed_hashes(html)
    assert len(scripts(html)) == 1 + len(SCRIPTS)
    assert "default-src 'none'" in html
    assert not re.search(r"<(?:link|script|img|iframe)[^>]+(?:src|href)=", html)


def test_a_script_that_two_sections_need_is_there_once():
    html = html_page("page", [Section("a", "", SCRIPTS), Section("b", "", SCRIPTS)])
    assert len(scripts(html)) == 1 + len(SCRIPTS)


@pytest.mark.parametrize(
    ("values", "n_bytes"),
    [([0, 255], 1), ([0, 256.0], 2), ([70_000], 4), ([0.5, 1], 4), ([-1, 2], 4), ([np.nan], 4)],
)
def test_packed_arrays_come_out_as_they_were_in_as_few_bytes_as_they_need(values, n_bytes):
    html = json_block({"values": packed(np.array(values)), "none": packed(np.array([]))}, "data")
    found = block(html, "data")
    np.testing.assert_array_equal(found["values"], values)
    assert found["values"].itemsize == n_bytes
    assert len(found["none"]) == 0


def test_nan_is_refused_in_a_block_since_browsers_cannot_read_it():
    with pytest.raises(ValueError, match="JSON"):
        json_block([float("nan")], "data")


def test_a_page_is_written_with_the_line_ends_that_its_fingerprints_are_of(tmp_path):
    html = html_page("é", [Section("a", "")])
    write_page(tmp_path / "page.html", html)
    assert (tmp_path / "page.html").read_bytes() == html.encode()
    assert "\r" not in html
