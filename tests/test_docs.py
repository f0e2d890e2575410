"""Python blocks of the documentation and of the README run as printed, page by page."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# A block after this comment is shown, not run.
BLOCK = re.compile(
    r"^(?P<skip><!-- skip: [^>]+-->\n)?```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)


def blocks(page):
    """Python blocks to run, each with empty lines before it so that errors name the page's line."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        if match["skip"] is None:
            yield "\n" * text.count("\n", 0, match.start("code")) + match["code"]


TESTED = [page for page in PAGES if any(blocks(page))]


@pytest.fixture(autouse=True)
def no_windows(tmp_path, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)  # what a page writes is thrown away
    yield
    plt.close("all")


@pytest.mark.parametrize("page", TESTED, ids=lambda page: page.stem)
def test_python_blocks_of_a_page_run_in_order(page):
    pytest.importorskip("pandas")
    pytest.importorskip("networkx")
    namespace = {"__name__": page.stem}
    for code in blocks(page):
        exec(compile(code, str(page), "exec"), namespace)


def test_pages_and_readme_have_something_to_run():
    assert {"README", "index", "quickstart", "label_graph"} <= {page.stem for page in TESTED}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pictures_of_a_page_exist_and_are_small(page):
    for target in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).stat().st_size < 150_000
