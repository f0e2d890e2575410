"""Paths as users write them."""

import json

import numpy as np
import pytest

from sklearn_mrmp import MLKNNClassifier, compare_classifiers, datasets, load
from sklearn_mrmp._cli.main import main
from sklearn_mrmp._host.files import user_path
from sklearn_mrmp.datasets import make_related_labels
from tests.tiny import tiny

ARFF = "@relation t\n@attribute x numeric\n@attribute sea {0,1}\n@attribute sky {0,1}\n@data\n"
XML = '<labels><label name="sea"/><label name="sky"/></labels>'
WIRE = (
    '<REUTERS TOPICS="YES" LEWISSPLIT="{0}" NEWID="{1}"><TOPICS><D>wheat</D></TOPICS>'
    "<TEXT><TITLE>A</TITLE><BODY>b</BODY></TEXT></REUTERS>\n"
)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Make a home folder, and work in another one, where nothing may appear."""
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for name in ("home", "elsewhere"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    yield tmp_path / "home"
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.fixture
def rows():
    X, Y, _ = make_related_labels(40, 3, n_features=8, random_state=0)
    return X, Y


def test_only_a_leading_tilde_is_the_home_folder(home):
    assert user_path("~/x") == home / "x"
    assert str(user_path("a/~b")) == "a/~b"
    assert str(user_path("~nobody-of-this-name/x")) == "~nobody-of-this-name/x"


def test_models_are_saved_to_and_loaded_from_the_home_folder(home, rows):
    MLKNNClassifier(3).fit(*rows).save("~/model")
    assert (home / "model").is_file()
    assert isinstance(load("~/model"), MLKNNClassifier)


def test_checkpoints_are_written_to_the_home_folder(home, rows):
    tiny(checkpoint_dir="~/run/one", max_epochs=1).fit(*rows)
    assert list((home / "run" / "one").iterdir())


def test_runs_of_a_comparison_are_written_to_the_home_folder(home, rows):
    X, Y = rows
    compare_classifiers({"knn": MLKNNClassifier(3)}, X, Y, X, Y, results_path="~/runs.jsonl")
    assert json.loads((home / "runs.jsonl").read_text())["error"] is None


@pytest.fixture
def tiny_mulan(home):
    folder = home / "mulan" / "tiny"
    folder.mkdir(parents=True)
    table = np.random.default_rng(0).integers(0, 2, (30, 3))
    text = ARFF + "\n".join(",".join(map(str, row)) for row in table)
    (folder / "tiny.xml").write_text(XML)
    for part in ("train", "test"):
        (folder / f"tiny-{part}.arff").write_text(text)
    return folder


def test_data_sets_are_read_from_the_home_folder(home, tiny_mulan):
    assert datasets.load_mulan("~/mulan/tiny").data.shape == (60, 1)
    fetched = datasets.fetch_mulan("tiny", data_home="~", download_if_missing=False)
    assert fetched.data.shape == (60, 1)
    (home / "wires").mkdir()
    wires = WIRE.format("TRAIN", 1) + WIRE.format("TEST", 2)
    (home / "wires" / "reut2-000.sgm").write_text(wires)
    assert len(datasets.load_reuters21578("~/wires").data) == 2


@pytest.mark.parametrize("dataset", [["~/mulan/tiny"], ["tiny", "--data-home", "~"]])
def test_the_command_line_reads_from_and_writes_to_the_home_folder(home, tiny_mulan, dataset):
    assert main(["compare", "--dataset", *dataset, "--methods", "mlknn", "--out", "~/out"]) == 0
    assert (home / "out" / "tiny.jsonl").is_file()
