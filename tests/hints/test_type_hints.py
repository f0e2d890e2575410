"""Type hints are apart from the code, in .pyi files: they must have its names, order and defaults.

`make typecheck` asks mypy whether they are right in themselves, and useful.
"""

import ast
import inspect
from pathlib import Path

import pytest

import sklearn_mrmp
from sklearn_mrmp import datasets, metrics

FOLDER = Path(sklearn_mrmp.__file__).parent
EXCEPTIONS = ("FloorNotMetWarning", "ModelFileError")


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def definitions(paths):
    """Classes and functions of stub files, by name."""
    kinds = (ast.ClassDef, ast.FunctionDef)
    found = (node for path in paths for node in parsed(path).body)
    return {node.name: node for node in found if isinstance(node, kinds)}


HINTED = definitions(sorted((FOLDER / "_hints").glob("*.pyi")))
SUBPACKAGES = [(package, name) for package in (datasets, metrics) for name in package.__all__]


def methods(node):
    """Functions of a stub class and of its stub bases; nearer ones win."""
    found = {}
    for base in reversed(node.bases):
        if getattr(base, "id", None) in HINTED:
            found |= methods(HINTED[base.id])
    return found | {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}


def hinted_parameters(node):
    """Names, kinds and defaults of a stub function."""
    kinds, a = inspect.Parameter, node.args
    positional = [(arg, kinds.POSITIONAL_OR_KEYWORD) for arg in a.args]
    defaults = [None] * (len(positional) - len(a.defaults)) + a.defaults + a.kw_defaults
    both = positional + [(arg, kinds.KEYWORD_ONLY) for arg in a.kwonlyargs]
    out = [(arg.arg, kind, value(d)) for (arg, kind), d in zip(both, defaults, strict=True)]
    out += [(a.vararg.arg, kinds.VAR_POSITIONAL, kinds.empty)] if a.vararg else []
    out += [(a.kwarg.arg, kinds.VAR_KEYWORD, kinds.empty)] if a.kwarg else []
    return sorted(out[1:] if out and out[0][0] in ("self", "cls") else out, key=lambda p: p[1])


def value(node):
    """Value of a default in a stub; ``...`` stands for one that is too long to repeat."""
    return inspect.Parameter.empty if node is None else ast.literal_eval(node)


def same_defaults(hinted, real):
    """Pairs of hinted and real parameters with what ``...`` stands for filled in."""
    filled = [(*h[:-1], r[-1]) if h[-1] is ... else h for h, r in zip(hinted, real, strict=False)]
    return filled + hinted[len(real) :] == real


def assert_same(name, node, thing):
    real = inspect.signature(thing).parameters.values()
    real = [(p.name, p.kind, p.default) for p in real if p.name != "self"]
    hinted = hinted_parameters(node)
    assert same_defaults(hinted, real), f"{name}: {hinted} are hinted, but {real} are there"


def is_dataclass(node):
    return any("dataclass" in ast.dump(decorator) for decorator in node.decorator_list)


def fields(node):
    """Fields of a stub dataclass with their defaults."""
    items = [item for item in node.body if isinstance(item, ast.AnnAssign)]
    return [(item.target.id, value(item.value)) for item in items]


def assert_same_class(name, node, thing):
    if is_dataclass(node):
        real = [(p.name, p.default) for p in inspect.signature(thing).parameters.values()]
        assert same_defaults(fields(node), real), f"{name}: {fields(node)} are hinted"
    hinted = methods(node)
    if "__init__" in hinted:
        assert_same(name, hinted["__init__"], thing)
    for method, real in inspect.getmembers(thing, callable):
        ours = str(getattr(real, "__module__", "")).startswith("sklearn_mrmp")
        if ours and not method.startswith("_"):
            assert method in hinted, f"{name}.{method} has no hint"
            assert_same(f"{name}.{method}", hinted[method], real)
    unknown = [m for m in hinted if m != "__init__" and not hasattr(thing, m)]
    assert unknown == [], name


def assert_hints_are_those_of(name, node, thing):
    check = assert_same_class if isinstance(node, ast.ClassDef) else assert_same
    check(name, node, thing)


@pytest.mark.parametrize("name", sorted(set(sklearn_mrmp.__all__) - set(EXCEPTIONS)))
def test_hints_of_a_public_name_are_its_signature(name):
    assert name in HINTED, f"{name} has no hint in sklearn_mrmp/_hints"
    assert_hints_are_those_of(name, HINTED[name], getattr(sklearn_mrmp, name))


@pytest.mark.parametrize(("package", "name"), SUBPACKAGES, ids=lambda part: str(part)[-40:])
def test_hints_of_a_name_in_a_subpackage_are_its_signature(package, name):
    stub = Path(package.__file__).with_suffix(".pyi")
    hinted = definitions([stub])
    assert name in hinted, f"{name} has no hint in {stub.relative_to(FOLDER.parent)}"
    assert_hints_are_those_of(name, hinted[name], getattr(package, name))


def test_the_stub_of_the_package_exports_every_public_name():
    body = parsed(FOLDER / "__init__.pyi").body
    exported = {alias.asname for n in body if isinstance(n, ast.ImportFrom) for alias in n.names}
    listed = next(ast.literal_eval(n.value) for n in body if isinstance(n, ast.Assign))
    assert exported == set(sklearn_mrmp.__all__)
    assert listed == sklearn_mrmp.__all__


def test_a_wrong_default_is_found():
    node = ast.parse("def load_ohsumed(folder, *, subset='train'): ...").body[0]
    with pytest.raises(AssertionError, match="load_ohsumed"):
        assert_same("load_ohsumed", node, datasets.load_ohsumed)


def test_the_package_says_that_it_has_hints():
    assert (FOLDER / "py.typed").exists()
