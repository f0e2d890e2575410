"""Python blocks of the documentation and of the README run as printed, page by page.

They, the examples and the docstrings of public names import public names alone.
"""

import ast
import doctest
import inspect
import json
import re
from pathlib import Path

import pytest

import sklearn_mrmp
import sklearn_mrmp.datasets
import sklearn_mrmp.metrics
import sklearn_mrmp.nn

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
EXAMPLES = sorted((ROOT / "examples").glob("*.*"))
PUBLIC = {
    module.__name__: module
    for module in (
        sklearn_mrmp,
        sklearn_mrmp.datasets,
        sklearn_mrmp.metrics,
        sklearn_mrmp.nn,
    )
}


@pytest.fixture(autouse=True)
def no_windows(tmp_path, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.close("all")  # matplotlib 3.8 warns when a backend is changed under open figures
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


def printed_code(path):
    """All Python of a page, script or notebook, also what is shown and not run."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        one_liners = re.findall(r"""^python -c "(.*)"$""", text, re.MULTILINE)
        return [match["code"] for match in BLOCK.finditer(text)] + one_liners
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return [text] if path.suffix == ".py" else []


def private_imports(code):
    """Modules and names of this package that code imports though they are not public."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            yield from (name for name in names if is_ours(name) and name not in PUBLIC)
        elif isinstance(node, ast.ImportFrom) and is_ours(node.module or ""):
            if node.module not in PUBLIC:
                yield node.module
                continue
            public = {"__version__", *PUBLIC[node.module].__all__}
            public |= {name.rpartition(".")[2] for name in PUBLIC}
            yield from (alias.name for alias in node.names if alias.name not in public)


def is_ours(module):
    return module.partition(".")[0] == "sklearn_mrmp"


def public_objects():
    """Everything that is public, and the public methods and properties of its classes."""
    for module in PUBLIC.values():
        for name in module.__all__:
            thing = getattr(module, name)
            yield f"{module.__name__}.{name}", thing
            for attribute in dir(thing) if inspect.isclass(thing) else ():
                if not attribute.startswith("_"):
                    yield f"{module.__name__}.{name}.{attribute}", getattr(thing, attribute)


@pytest.mark.parametrize("path", [*PAGES, *EXAMPLES], ids=lambda path: path.name)
def test_pages_and_examples_import_public_names_alone(path):
    assert [name for code in printed_code(path) for name in private_imports(code)] == []


def test_docstrings_of_public_names_import_public_names_alone():
    found, n_imports = {}, 0
    for name, thing in public_objects():
        examples = doctest.DocTestParser().get_examples(inspect.getdoc(thing) or "")
        code = "".join(example.source for example in examples)
        n_imports += "import" in code
        if private := list(private_imports(code)):
            found[name] = private
    assert found == {}
    assert n_imports > 20


def test_a_private_import_is_found():
    assert list(private_imports("from sklearn_mrmp._mrmp import MrMPClassifier")) == [
        "sklearn_mrmp._mrmp"
    ]
    assert list(private_imports("import sklearn_mrmp._base")) == ["sklearn_mrmp._base"]
    assert list(private_imports("from sklearn_mrmp import _base, label_graph")) == ["_base"]
    assert list(private_imports("from sklearn_mrmp import datasets, __version__")) == []
