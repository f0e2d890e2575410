"""Methods of the command line that read texts with a pretrained encoder."""

import hashlib
import shutil
import tempfile

import joblib
import numpy as np
import pytest

from sklearn_mrmp import TextEncoder
from sklearn_mrmp._cli import compare as _cli
from sklearn_mrmp._cli.main import main
from sklearn_mrmp._compare.api import compare_classifiers
from sklearn_mrmp._compare.methods import METHODS, make_method
from sklearn_mrmp._compare.store import run_key
from sklearn_mrmp._compare.text_methods import TEXT_METHODS
from sklearn_mrmp._compare.text_parts import load_text_parts
from sklearn_mrmp._encoders.text import PretrainedEncoder
from tests.tiny_encoder import tiny_encoder

pytest.importorskip("transformers")
pytest.importorskip("matplotlib").use("Agg")
DEFAULT = ["tuned-lr", "pooled-lr", "both-lr", "mrmp-text-network", "mrmp-text"]
WORDS = {"corn": "maize harvest acres", "gold": "ounce mine metal"}


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """Processes of their own are tested with compare_classifiers; here they only take time."""

    def compare(*args, **options):
        return compare_classifiers(*args, **options, isolate=False)

    monkeypatch.setattr(_cli, "compare_classifiers", compare)


def run(*arguments):
    return main(["compare", *map(str, arguments)])


@pytest.fixture
def home(tmp_path):
    """A data home with few comments of GoEmotions' form."""
    folder = tmp_path / "home" / "text" / "goemotions"
    folder.mkdir(parents=True)
    (folder / "emotions.txt").write_text("\n".join(WORDS))
    for part, n_rows in (("train", 48), ("test", 16)):
        labels = ["corn", "gold"] * (n_rows // 4) + ["gold", "corn"] * (n_rows // 4)
        rows = [
            f"{WORDS[label]} {i}\t{list(WORDS).index(label)}\t{i}" for i, label in enumerate(labels)
        ]
        (folder / f"{part}.tsv").write_text("\n".join(rows))
    return tmp_path / "home"


def save_encoder(folder, seed=0):
    for part in tiny_encoder([*WORDS.values()], seed=seed):
        part.save_pretrained(folder)
    return folder


@pytest.fixture
def encoder(tmp_path):
    return save_encoder(tmp_path / "encoder")


@pytest.fixture
def arguments(home, encoder, tmp_path):
    common = ("--dataset", "goemotions", "--data-home", home, "--out", tmp_path / "out")
    return (*common, "--encoder", encoder)


def test_an_encoder_adds_the_methods_for_texts(arguments, home, tmp_path, capsys, monkeypatch):
    seen, encoded = [], PretrainedEncoder._encoded

    def counted(self, texts, *args):
        seen.extend(texts.values())
        return encoded(self, texts, *args)

    monkeypatch.setattr(PretrainedEncoder, "_encoded", counted)
    assert run(*arguments, "--cache-dir", tmp_path / "states") == 0
    printed = capsys.readouterr().out
    for name in DEFAULT:
        assert f"| {name} | optimal |" in printed
    # All methods together have encoded each text once.
    texts = [text for part in load_text_parts("goemotions", home) for text in part.data]
    assert sorted(seen) == sorted(set(texts))


def test_a_folder_for_the_run_is_removed_afterwards(arguments, tmp_path, monkeypatch):
    place, seen = tmp_path / "temporary", []
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    transform = TextEncoder.transform

    def watched(self, X):
        seen.append(self.cache_dir)
        return transform(self, X)

    monkeypatch.setattr(TextEncoder, "transform", watched)
    assert run(*arguments, "--methods", "pooled-lr,both-lr") == 0
    assert len(set(seen)) == 1
    assert str(seen[0]).startswith(str(place))
    assert list(place.iterdir()) == []


def test_runs_are_resumed_whatever_the_places_of_encoder_and_states(
    arguments, encoder, tmp_path, capsys
):
    methods = ("--methods", "pooled-lr,both-lr,mrmp-text-network")
    run(*arguments, *methods)
    capsys.readouterr()
    moved = shutil.copytree(encoder, tmp_path / "moved")
    run(*arguments[:-1], moved, *methods, "--cache-dir", tmp_path / "states")
    assert "3 of 3 runs were done before" in capsys.readouterr().out
    save_encoder(encoder, seed=1)
    run(*arguments, "--methods", "pooled-lr")
    assert "done before" not in capsys.readouterr().out


def test_estimators_without_folders_keep_their_keys():
    estimator = make_method("tuned-lr", "bibtex")
    text = "\n".join(["data", "tuned-lr", joblib.hash(estimator, hash_name="sha1"), "0"])
    expected = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
    assert run_key("data", "tuned-lr", estimator, 0) == expected


@pytest.mark.parametrize("name", TEXT_METHODS)
def test_methods_for_texts_want_an_encoder(name, home, tmp_path, capsys):
    arguments = ("--dataset", "goemotions", "--data-home", home, "--out", tmp_path / "out")
    assert run(*arguments, "--methods", f"tuned-lr,{name}") == 1
    message = capsys.readouterr().err
    assert f"{name} reads texts with a pretrained encoder: give --encoder" in message
    assert not (tmp_path / "out").exists()
    with pytest.raises(ValueError, match="give --encoder"):
        make_method(name, "goemotions", text=True)


def test_an_encoder_of_features_is_refused(encoder, tmp_path, capsys):
    folder = tmp_path / "tiny"
    folder.mkdir()
    header = "@relation tiny\n@attribute w numeric\n@attribute l {0,1}\n@data\n"
    (folder / "tiny.xml").write_text('<labels><label name="l"/></labels>')
    for part in ("train", "test"):
        (folder / f"tiny-{part}.arff").write_text(header + "1,0\n2,1\n")
    arguments = ("--dataset", folder, "--out", tmp_path / "out")
    assert run(*arguments, "--encoder", encoder) == 1
    assert "--encoder is for texts, and the rows of tiny are features" in capsys.readouterr().err
    assert run(*arguments, "--cache-dir", tmp_path) == 1
    assert "--cache-dir keeps what --encoder makes" in capsys.readouterr().err


def test_methods_are_what_their_names_say(encoder, tmp_path):
    options = {"text": True, "encoder": str(encoder), "cache_dir": tmp_path}
    made = {name: make_method(name, "goemotions", **options) for name in TEXT_METHODS}
    assert made["mrmp-text-network"].voters == ("network",)
    assert made["mrmp-text"].voters == ("network", "linear", "neighbors")
    assert made["pooled-lr"][0].pooling == "mean"
    assert [name for name, _ in made["both-lr"].estimators] == ["words", "states"]
    # Without rows set aside they choose their penalty themselves, and then use all rows.
    assert all(member[-1].refit for _, member in made["both-lr"].estimators)
    for estimator in made.values():
        params = estimator.get_params(deep=True)
        assert [v for k, v in params.items() if k.endswith("cache_dir")] == [tmp_path]
    titled = make_method("both-lr", "goemotions", titles=True, **options)
    assert len(titled.estimators[0][1][0].transformer_list) == 2


def test_all_stands_for_what_can_be_done():
    assert _cli._chosen(["all"], None) == list(METHODS)
    assert _cli._chosen(["all"], "folder") == [*METHODS, *TEXT_METHODS]
    assert _cli._chosen(None, None) == ["mlknn", "br-lr", "mrmp"]
    assert _cli._chosen(None, "folder") == DEFAULT
    assert _cli._chosen(["lp", "cc", "lp"], None) == ["lp", "cc"]


def test_help_lists_the_methods_for_texts(capsys):
    with pytest.raises(SystemExit):
        run("--help")
    printed = capsys.readouterr().out
    assert all(f"  {name} " in printed for name in TEXT_METHODS)
    assert "--encoder" in printed


def test_labels_are_predicted_from_texts(home, encoder, tmp_path):
    train, test = load_text_parts("goemotions", home)
    Y = np.asarray(train.target)
    for name in ("pooled-lr", "both-lr"):
        method = make_method(name, "goemotions", text=True, encoder=str(encoder))
        assert method.fit(train.data, Y).predict_proba(test.data).shape == (16, 2)
