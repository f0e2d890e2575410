"""Text sets by name on the command line: where they are read, and which rows train and test."""

import json

import numpy as np
import pytest

from sklearn_mrmp._cli import compare as _cli
from sklearn_mrmp._cli.main import main
from sklearn_mrmp._compare.api import compare_classifiers
from sklearn_mrmp._compare.text_parts import load_text_parts
from sklearn_mrmp.datasets import load_tagged_texts

pytest.importorskip("matplotlib").use("Agg")


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """Processes of their own are tested with compare_classifiers; here they only take time."""

    def compare(*args, **options):
        return compare_classifiers(*args, **options, isolate=False)

    monkeypatch.setattr(_cli, "compare_classifiers", compare)


def run(*arguments):
    return main(["compare", *map(str, arguments)])


WORDS = {"corn": "maize harvest acres", "gold": "ounce mine metal"}


def texts(n_rows):
    """Rows of made texts: a number, one of two labels, and words that give it away."""
    labels = ["corn", "gold"] * (n_rows // 4) + ["gold", "corn"] * (n_rows // 4)
    return [(i, label, f"{WORDS[label]} {i % 5}") for i, label in enumerate(labels)]


def write_goemotions(folder):
    (folder / "emotions.txt").write_text("\n".join([*WORDS, "never"]))
    for part, n_rows in (("train", 48), ("test", 16)):
        rows = [f"{text}\t{list(WORDS).index(label)}\t{i}" for i, label, text in texts(n_rows)]
        (folder / f"{part}.tsv").write_text("\n".join(rows))


def write_ohsumed(folder):
    for part, n_rows in (("train", 48), ("test", 16)):
        rows = [{"id": str(i), "text": text, "labels": [label]} for i, label, text in texts(n_rows)]
        (folder / f"{part}.jsonl").write_text("\n".join(map(json.dumps, rows)))


def write_cooking(folder):
    rows = [f"__label__{label} __label__{i} {text}" for i, label, text in texts(80)]
    (folder / "cooking.stackexchange.txt").write_text("\n".join(rows))


WRITERS = {"goemotions": write_goemotions, "ohsumed": write_ohsumed, "cooking": write_cooking}


@pytest.fixture
def text_home(tmp_path):
    """A data home with small text sets in the folders of the real ones."""
    for name, write in WRITERS.items():
        folder = tmp_path / "home" / "text" / name
        folder.mkdir(parents=True)
        write(folder)
    return tmp_path / "home"


@pytest.mark.parametrize("name", WRITERS)
def test_text_sets_are_read_from_the_data_home(name, text_home, tmp_path, capsys):
    arguments = ("--dataset", name, "--data-home", text_home, "--out", tmp_path / "out")
    assert run(*arguments, "--methods", "br-lr,tuned-lr") == 0
    assert run(*arguments, "--methods", "br-lr", "--titles") == 0
    printed = capsys.readouterr().out
    assert "(train rows" in printed
    assert "(test rows" in printed
    assert "| br-lr | optimal | **1.000** |" in printed
    assert (tmp_path / "out" / f"{name}.csv").is_file()


@pytest.mark.parametrize("name", WRITERS)
def test_a_missing_text_set_is_reported_with_its_place(name, tmp_path, capsys):
    assert run("--dataset", name, "--data-home", tmp_path) == 1
    assert str(tmp_path / "text" / name) in capsys.readouterr().err


def test_official_parts_train_and_test(text_home):
    for name in ("goemotions", "ohsumed"):
        train, test = load_text_parts(name, text_home)
        assert (len(train.data), len(test.data)) == (48, 16)
        assert train.target_names == test.target_names
    assert load_text_parts("goemotions", text_home)[0].target_names[-1] == "never"


def test_cooking_is_divided_by_a_fixed_permutation(text_home):
    path = text_home / "text" / "cooking" / "cooking.stackexchange.txt"
    whole = load_tagged_texts(path)
    order = np.random.default_rng(0).permutation(80)
    train, test = load_text_parts("cooking", text_home)
    columns = [whole.target_names.index(name) for name in ("corn", "gold")]
    for part, rows in ((train, order[:64]), (test, order[64:])):
        assert part.data == [whole.data[i] for i in rows]
        assert part.target_names == ["corn", "gold"]  # the other tags have a row each
        assert part.target.dtype == np.int32
        np.testing.assert_array_equal(part.target, whole.target[rows][:, columns])


def test_tags_are_counted_in_the_training_rows_alone(text_home):
    path = text_home / "text" / "cooking" / "cooking.stackexchange.txt"
    order = np.random.default_rng(0).permutation(80)
    lines = path.read_text().split("\n")
    for name, rows in (("nine", [*order[:9], *order[64:]]), ("ten", order[:10])):
        for i in rows:
            lines[i] = f"__label__{name} {lines[i]}"
    path.write_text("\n".join(lines))
    assert load_text_parts("cooking", text_home)[0].target_names == ["corn", "gold", "ten"]


def test_cooking_without_frequent_tags_is_refused(text_home, capsys):
    path = text_home / "text" / "cooking" / "cooking.stackexchange.txt"
    path.write_text("__label__a one\n__label__a two\n")
    assert run("--dataset", "cooking", "--data-home", text_home) == 1
    assert "no tag has 10 training rows" in capsys.readouterr().err


@pytest.mark.data
def test_real_text_sets_have_their_known_parts(data_home):
    sizes = {"goemotions": (43410, 5427), "ohsumed": (6286, 7643), "cooking": (12323, 3081)}
    for name, (n_train, n_test) in sizes.items():
        train, test = load_text_parts(name, data_home)
        assert (len(train.data), len(test.data)) == (n_train, n_test)
        assert train.target.shape == (n_train, len(train.target_names))
        assert test.target.shape == (n_test, len(train.target_names))
