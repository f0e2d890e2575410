"""What `import sklearn_mrmp` offers, and what it costs."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import sklearn_mrmp
from sklearn_mrmp import datasets, metrics, nn

REFERENCE = Path(__file__).parents[1] / "docs" / "api.md"
each_package = pytest.mark.parametrize(
    "package", [sklearn_mrmp, datasets, metrics, nn], ids=lambda package: package.__name__
)


def imported_names(package):
    """Names that a package's own file imports from elsewhere in this package, or on demand."""
    names = set()
    for node in ast.parse(Path(package.__file__).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module.startswith("sklearn_mrmp"):
            names |= {alias.asname or alias.name for alias in node.names}
        if isinstance(node, ast.Assign) and node.targets[0].id == "_IMPORTED_LATE":
            names |= set(ast.literal_eval(node.value))
    return {name for name in names if not name.startswith("_")}


@each_package
def test_every_public_name_exists_and_is_documented(package):
    for name in package.__all__:
        assert getattr(package, name).__doc__, name


@each_package
def test_the_public_names_are_those_imported_in_order(package):
    assert list(package.__all__) == sorted(imported_names(package))


def test_a_listing_shows_late_names_and_no_private_ones():
    assert {"MrMPClassifier", "MLKNNClassifier"} <= set(dir(sklearn_mrmp))
    assert not [name for name in dir(sklearn_mrmp) if name.startswith("_")]


@each_package
def test_every_public_name_is_in_the_api_reference(package):
    words = set(re.findall(r"^   (?:\w+\.)*(\w+)$", REFERENCE.read_text(encoding="utf-8"), re.M))
    assert set(package.__all__) <= words


def test_the_api_reference_names_nothing_else():
    words = re.findall(r"^   ((?:\w+\.)*\w+)$", REFERENCE.read_text(encoding="utf-8"), re.M)
    packages = sklearn_mrmp, datasets, metrics, nn
    public = {name for package in packages for name in package.__all__}
    assert {word.rpartition(".")[2] for word in words} <= public


def test_everything_public_is_in_a_module_of_the_package():
    for name in sklearn_mrmp.__all__:
        assert getattr(sklearn_mrmp, name).__module__.startswith("sklearn_mrmp."), name


def test_unknown_names_raise():
    with pytest.raises(AttributeError, match="no attribute 'MrMP'"):
        _ = sklearn_mrmp.MrMP


def test_torch_is_loaded_only_with_the_classifier_that_needs_it():
    code = (
        "import sys, sklearn_mrmp, sklearn_mrmp.datasets; early = 'torch' in sys.modules;"
        "sklearn_mrmp.MrMPClassifier; print(early, 'torch' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "True"]


def test_the_html_of_every_estimator_links_to_its_page():
    found = [getattr(sklearn_mrmp, name) for name in sklearn_mrmp.__all__]
    found = [one for one in found if isinstance(one, type) and issubclass(one, BaseEstimator)]
    for estimator in found:
        link = estimator.__new__(estimator)._get_doc_link()
        assert link.endswith(f"/generated/sklearn_mrmp.{estimator.__name__}.html"), estimator
    assert len(found) > 10
