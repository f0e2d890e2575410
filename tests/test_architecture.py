"""Who may import whom."""

import ast
from pathlib import Path

import pytest

import sklearn_mrmp

PACKAGE = Path(sklearn_mrmp.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
TORCH_ROOMS = ("nn/", "_network/", "_checkpoints/", "_host/torch_state.py", "_mrmp.py")
OPTIONAL = {"matplotlib", "pandas", "networkx"}


def imported(path, *, top_level_only):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if top_level_only else ast.walk(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_keep_the_layers_apart(path):
    modules = set(imported(path, top_level_only=False))
    roots = {name.partition(".")[0] for name in modules}
    inside_nn = path.parent.name == "nn"
    place = path.relative_to(PACKAGE).as_posix()
    if not place.startswith((*TORCH_ROOMS, "_model_files/net_state.py")):
        assert not roots & {"torch", "skorch"}
    if inside_nn:
        assert all(
            name.startswith(("sklearn_mrmp.nn", "torch"))
            or name in {"dataclasses", "functools", "inspect", "math", "warnings"}
            for name in modules
        )
    top_level = {name.partition(".")[0] for name in imported(path, top_level_only=True)}
    assert not top_level & OPTIONAL
