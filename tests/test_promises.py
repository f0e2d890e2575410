"""The page of promises names tests that exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`((?:tests|benchmarks)/[\w/]+\.py(?:::\w+)*)`", PAGE)))


def has(tree, names):
    """Whether a module has the class or function at this path of names."""
    for name in names:
        tree = next((node for node in tree.body if getattr(node, "name", None) == name), None)
        if tree is None:
            return False
    return True


@pytest.mark.parametrize("named", NAMED)
def test_a_named_test_exists(named):
    path, *names = named.split("::")
    assert has(ast.parse((ROOT / path).read_text(encoding="utf-8")), names)


def test_every_promise_names_something_that_holds_it():
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", PAGE, flags=re.MULTILINE)
    assert len(rows) > 15
    for promise, held_by in rows:
        assert held_by == "tested by" or any(f"`{named}`" in held_by for named in NAMED), promise


def test_every_property_file_is_on_the_page():
    for path in sorted((ROOT / "tests" / "properties").glob("test_*.py")):
        assert f"tests/properties/{path.name}" in PAGE
