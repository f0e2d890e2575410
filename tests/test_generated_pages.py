"""Tables of the README and of the pages are what their CSV files give: `make results-pages`."""

import csv
import shutil
import sys
from pathlib import Path

import pytest

from sklearn_mrmp._cli.main import main
from sklearn_mrmp._compare.benchmark import picture
from sklearn_mrmp._compare.benchmark.lines import read_lines
from sklearn_mrmp._compare.benchmark.pages import pages_with_tables

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
import paper_table

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
RESULTS = DOCS / "results" / "results.csv"
PAGES = [ROOT / "README.md", *(DOCS / f"{name}.md" for name in ("results", "text", "performance"))]


def test_tables_of_results_are_those_of_the_file(capsys):
    status = main(["results", "--csv", str(RESULTS), "--check", "--pages", *map(str, PAGES)])
    assert (status, capsys.readouterr().err) == (0, "")


def test_a_changed_table_is_found(tmp_path, capsys):
    page = shutil.copy(ROOT / "README.md", tmp_path)
    text = Path(page).read_text(encoding="utf-8")
    Path(page).write_text(text.replace("| Emotions |", "| Emotion |"), encoding="utf-8")
    assert main(["results", "--csv", str(RESULTS), "--check", "--pages", str(page)]) == 1
    assert "its tables are not those of" in capsys.readouterr().err


def test_the_paper_table_is_that_of_its_file(tmp_path):
    page = DOCS / "paper_table.md"
    again = Path(shutil.copy(page, tmp_path))
    with (DOCS / "results" / "paper_table.csv").open(newline="", encoding="utf-8") as file:
        paper_table.write_page(paper_table.tables(list(csv.DictReader(file))), again)
    assert again.read_text(encoding="utf-8") == page.read_text(encoding="utf-8")


def test_every_page_with_tables_of_results_is_tested_here():
    assert pages_with_tables([ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]) == [
        PAGES[0],
        *sorted(PAGES[1:]),
    ]


@pytest.mark.parametrize("name", ["AP", "seconds"])
def test_the_picture_ranks_all_data_sets_of_the_table(name):
    lines = read_lines(RESULTS)
    scores = picture.rank_scores(lines, name)
    assert {len(values) for values in scores.values()} == {len(picture.ranked_sets(lines))}
    assert len(picture.ranked_sets(lines)) >= 9
