"""Files about the project agree: bounds, versions, and links that lead somewhere."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from sklearn_mrmp import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ROOT_PAGES = sorted(ROOT.glob("*.md"))
EXTRAS = ("plot", "data", "text", "onnx", "hub")


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def bounds():
    """Lower bounds of what the package needs, and of what its extras bring."""
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *(line for extra in EXTRAS for line in extras[extra])]
    return dict(re.fullmatch(r"([\w-]+)>=([\d.]+)", line).groups() for line in wanted)


def release(version):
    """Version as numbers, without zeros at the end: 1.26 and 1.26.0 are the same."""
    return tuple(int(part) for part in re.sub(r"(\.0)+$", "", version).split("."))


def test_lower_bounds_are_the_versions_of_the_oldest_tests():
    tested = dict(re.findall(r"^([\w-]+)==([\d.]+)$", text("constraints-oldest.txt"), re.M))
    for name, bound in bounds().items():
        assert release(tested[name]) == release(bound), name


def test_the_conda_recipe_has_the_same_bounds():
    stated = dict(re.findall(r"^    - ([\w-]+) >=([\d.]+)$", text("conda/meta.yaml"), re.M))
    other_names = {"torch": "pytorch", "matplotlib": "matplotlib-base"}
    for name, bound in bounds().items():
        assert stated[other_names.get(name, name)] == bound, name
    assert f">={stated['python']}" == PROJECT["requires-python"]


def test_the_version_is_the_same_everywhere():
    assert f"\nversion: {__version__}\n" in text("CITATION.cff")
    assert f'set version = "{__version__}"' in text("conda/meta.yaml")
    assert f"\n## {__version__}" in text("CHANGELOG.md")
    versions = json.loads(text("docs/_static/switcher.json"))
    assert any(entry["name"].startswith(__version__.rpartition(".")[0]) for entry in versions)


@pytest.mark.parametrize("page", ROOT_PAGES, ids=lambda page: page.stem)
def test_links_of_pages_at_the_root_lead_to_files(page):
    targets = re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (ROOT / target).exists()] == []
