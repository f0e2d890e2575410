"""Examples compile, and the notebook is its script, executed. They run when the docs are built."""

import ast
import json
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(FOLDER.glob("*.py"))
NOTEBOOK = FOLDER / "compare_baselines.ipynb"


def source(cell):
    return "".join(cell["source"]).strip()


@pytest.fixture(scope="module")
def cells():
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_examples_compile_and_have_cells(path):
    text = path.read_text(encoding="utf-8")
    compile(text, path.name, "exec")
    assert text.count("\n# %%") + text.startswith("# %%") >= 3


@pytest.mark.parametrize("path", sorted(FOLDER.glob("plot_*.py")), ids=lambda path: path.stem)
def test_gallery_examples_open_with_a_title_and_say_what_they_show(path):
    title, underline, *text = ast.get_docstring(ast.parse(path.read_text("utf-8"))).splitlines()
    assert underline == "=" * len(title)
    assert len(" ".join(text).strip()) > 40


def test_notebook_has_the_cells_of_its_script(cells):
    script = NOTEBOOK.with_suffix(".py").read_text(encoding="utf-8")
    parts = re.split(r"^# %%(.*)\n", script, flags=re.MULTILINE)[1:]
    expected = []
    for kind, text in zip(parts[::2], parts[1::2], strict=True):
        if kind.strip() == "[markdown]":
            text = re.sub(r"^# ?", "", text, flags=re.MULTILINE)
        expected.append(text.strip())
    assert [source(cell) for cell in cells] == expected


def test_notebook_was_executed_in_order_without_errors(cells):
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    kinds = {output["output_type"] for output in outputs}
    assert "error" not in kinds
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= 2


def test_notebook_is_small_and_names_no_machine():
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert len(text) < 500_000
    assert not re.search(r"(/home/|/Users/|/tmp/|site-packages)", text)
