"""Who may import whom: by room, transitively, and without cycles.

Imports inside functions count like those at the top. The only imports that are not seen here are
those by name: the public face loads classifiers that need torch when they are first asked for, and
model files and architectures load a class of a closed list when a file names it.
"""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import sklearn_mrmp

PACKAGE = Path(sklearn_mrmp.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
OPTIONAL = {"matplotlib", "pandas", "networkx"}

# What each room, or module at the top, may import of ours. Everybody may import the leaves.
LEAVES = {"_settings", "_sklearn_compat", "_version"}
ROOMS = {
    "_numerics": set(),
    "_host": set(),
    "nn": set(),
    "datasets": {"_host", "_numerics"},
    "_splits": {"_numerics"},
    "_model_files": {"_host"},
    "_input": {"_numerics", "_host", "_model_files"},
    "_pages": {"_numerics", "_host"},
    "_graph": {"_pages", "_numerics", "_host", "_model_files"},
    "_decisions": {"_numerics", "_host", "_model_files"},
    "_voters": {"_input", "_decisions", "_numerics", "_host", "_model_files"},
    "_ensemble": {"_voters", "_input", "_decisions", "_numerics", "_host", "_model_files"},
    "_explain": {"_ensemble", "_decisions", "_input", "_host"},
    "_onnx": {"_voters", "_decisions", "_host"},
    "_checkpoints": {"_host", "_model_files"},
    "_encoders": {"_input", "_host", "_model_files"},
    "_network": {"nn", "_voters", "_checkpoints", "_numerics", "_host", "_model_files"},
    "_targets": {"_numerics", "_model_files"},
    "_trust": {"_base", "_targets", "_decisions", "_graph", "_numerics", "_host", "_model_files"},
    "metrics": {"_targets", "_decisions", "_numerics"},
    "_reports": {"_pages", "_graph", "_decisions", "_numerics", "_host"},
    "_base": {"_targets", "_numerics", "_host", "_model_files"},
    "_deciding": {"_numerics", "_decisions", "_reports"},
    "_parameters": {"_decisions", "_graph", "_input"},
    "_text": {"_input", "_model_files"},
    "_text_encoder": {"_encoders", "_input", "_host", "_model_files"},
    "_neural": {
        "_encoders",
        "_text_encoder",
        "_base",
        "_deciding",
        "_targets",
        "_ensemble",
        "_explain",
        "_onnx",
        "_voters",
        "_network",
        "_checkpoints",
        "_decisions",
        "_graph",
        "_input",
        "_numerics",
        "_host",
        "_model_files",
    },
    "_mrmp": {"_neural", "_parameters"},
    "_peers": {"_neural", "_network", "nn", "_parameters", "_graph"},
    "_tuned_decision": {
        "_base",
        "_deciding",
        "_targets",
        "_decisions",
        "_graph",
        "_numerics",
        "_host",
        "_model_files",
    },
    "_voting": {"_base", "_targets", "_decisions", "_numerics", "_model_files"},
    "_hub": {"_targets", "_decisions", "_pages", "_numerics", "_host", "_model_files"},
    "_baselines": {"_base", "_targets", "_decisions", "_numerics", "_host", "_model_files"},
}
# On top of all, the public face included: they may import whatever needs no torch.
TOP = ("_cli", "_compare", "_plot", "__init__", "__main__")
ROOMS |= {name: {*ROOMS, *TOP} for name in TOP}

TORCH = {
    "nn",
    "_encoders",
    "_text_encoder",
    "_network",
    "_checkpoints",
    "_neural",
    "_mrmp",
    "_peers",
}
TORCH_FILES = {"_host/torch_state.py", "_model_files/torch_weights.py"}


def module_name(path):
    parts = ["sklearn_mrmp", *path.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


def room(module):
    """Folder below the package, or module at its top."""
    name = module.removeprefix("sklearn_mrmp").lstrip(".").partition(".")[0]
    return name or "__init__"


@cache
def imported(path, top_level_only=False):
    """Modules that a file imports; of ours by their full name."""
    tree, found = ast.parse(path.read_text(encoding="utf-8")), set()
    for node in tree.body if top_level_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (inside & MODULES.keys()) or {node.module}
    return frozenset(found)


def ours(path):
    return {name for name in imported(path) if name in MODULES} - {module_name(path)}


def reached(module, seen=None):
    """All modules that are loaded with a module, ours and others."""
    seen = set() if seen is None else seen
    for name in imported(MODULES[module]):
        if name not in seen:
            seen.add(name)
            if name in MODULES:
                reached(name, seen)
    return seen


def ids(path):
    return path.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_rooms_import_only_the_rooms_below_them(path):
    own = room(module_name(path))
    allowed = ROOMS.get(own, set()) | LEAVES | {own}
    if own in LEAVES:
        allowed = set()
    assert {room(name) for name in ours(path)} <= allowed


@pytest.mark.parametrize("module", MODULES)
def test_torch_is_reached_only_where_it_belongs(module):
    place = MODULES[module].relative_to(PACKAGE).as_posix()
    if room(module) in TORCH or place in TORCH_FILES:
        return
    roots = {name.partition(".")[0] for name in reached(module)}
    assert not roots & {"torch", "skorch"}


def test_there_is_no_import_cycle():
    graph = {module: ours(path) for module, path in MODULES.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_optional_packages_are_imported_where_they_are_used(path):
    top_level = {name.partition(".")[0] for name in imported(path, top_level_only=True)}
    assert not top_level & OPTIONAL


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_private_parts_of_other_packages_are_left_alone(path):
    """scikit-learn's are gathered in one file; loky's processes are the one exception of joblib."""
    private = {
        name
        for name in imported(path)
        if name not in MODULES and any(part.startswith("_") for part in name.split("."))
    }
    if path.name != "_sklearn_compat.py":
        assert not private - {"__future__"}
    text = path.read_text(encoding="utf-8")
    for word in ("mallopt", "_getframe", "_foreach_", "ops.aten._", "inspect.unwrap"):
        assert word not in text


def test_torch_modules_know_torch_alone():
    plain = {"dataclasses", "functools", "math", "typing", "warnings"}
    for path in (PACKAGE / "nn").rglob("*.py"):
        roots = {name.partition(".")[0] for name in imported(path)} - {"sklearn_mrmp"}
        assert roots <= {"torch", *plain}, path


def test_no_room_is_crowded():
    for folder in {path.parent for path in FILES}:
        assert len(list(folder.glob("*.py"))) <= 14, folder


def test_tests_lie_in_the_same_rooms():
    rooms = {
        path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"
    }
    tests = {path.name for path in Path(__file__).parent.iterdir() if path.is_dir()}
    assert {name.lstrip("_") for name in rooms} <= tests
