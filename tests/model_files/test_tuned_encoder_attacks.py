"""Files with a fine-tuned encoder that are made to do harm."""

import numpy as np
import pytest

import sklearn_mrmp
from sklearn_mrmp import ModelFileError
from tests.model_files.test_model_file_attacks import Editor, net_of, objects_of
from tests.tiny import PLAIN, tiny
from tests.tiny_encoder import tiny_encoder

transformers = pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder")
    texts = ["sea and ship", "desert"] * 10
    for part in tiny_encoder(texts):
        part.save_pretrained(folder)
    clf = tiny(encoder=str(folder), encoder_lr=1e-3, max_epochs=1, **PLAIN)
    clf.fit(texts, np.array([[1, 0], [0, 1]] * 10)).save(folder / "model")
    return (folder / "model").read_bytes()


def load(editor, folder):
    (folder / "attack").write_bytes(editor.pack())
    return sklearn_mrmp.load(folder / "attack")


def encoders_of(editor):
    """Return the encoder of the rows, and that of each network."""
    return objects_of(editor, "TunableEncoder") + objects_of(editor, "TrainedEncoder")


def change_outlines(editor, **settings):
    for encoder in encoders_of(editor):
        encoder["params"]["outline"]["dict"]["config"]["dict"].update(settings)


def test_an_editor_that_changes_nothing_makes_a_good_file(raw, tmp_path):
    assert load(Editor(raw), tmp_path).predict(["sea"]).shape == (1, 2)


@pytest.mark.parametrize(
    "settings",
    [
        {"vocab_size": 2**24},
        {"max_position_embeddings": 2**24},
        {"intermediate_size": 2**24},
        {"num_hidden_layers": 1_000},
        {"num_hidden_layers": 1},
        {"hidden_size": 32},
        {"auto_map": {"dict": {"AutoModel": "stranger/code--model.Model"}}},
        {"hidden_act": "os.system"},
        {"is_decoder": True, "add_cross_attention": True},
    ],
    ids=str,
)
def test_encoders_of_other_sizes_than_their_weights_are_refused(raw, tmp_path, settings):
    editor = Editor(raw)
    change_outlines(editor, **settings)
    with pytest.raises(ModelFileError):
        load(editor, tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("window", 0), ("window", 2**40), ("width", 8), ("width", "16"), ("unknown", -1)),
        *(("outline", None), ("outline", {"dict": {}}), ("name", 3), ("vocabulary", None)),
        ("pretrained", None),
    ],
)
def test_descriptions_of_encoders_that_are_wrong_are_refused(raw, tmp_path, name, value):
    editor = Editor(raw)
    for encoder in encoders_of(editor):
        encoder["params"][name] = value
    with pytest.raises(ModelFileError):
        load(editor, tmp_path)


def test_a_network_with_another_encoder_than_its_rows_is_refused(raw, tmp_path):
    editor = Editor(raw)
    embedding = net_of(editor)["params"]["module"]["dict"]["embedding"]["dict"]
    embedding["source"]["object"]["params"]["vocabulary"] = "0" * 64
    with pytest.raises(ModelFileError, match="network and rows"):
        load(editor, tmp_path)


@pytest.mark.parametrize("source", [None, 1, "bert", {"dict": {}}])
def test_a_transformer_comes_from_an_encoder(raw, tmp_path, source):
    editor = Editor(raw)
    net_of(editor)["params"]["module"]["dict"]["embedding"]["dict"]["source"] = source
    with pytest.raises(ModelFileError):
        load(editor, tmp_path)


def test_no_code_is_asked_for_and_no_weights_are_loaded_by_a_name(raw, tmp_path, monkeypatch):
    calls, plain = [], transformers.AutoModel.from_config

    def recorded(config, **options):
        calls.append(options)
        return plain(config, **options)

    monkeypatch.setattr(transformers.AutoModel, "from_config", recorded)
    monkeypatch.setattr(transformers.AutoModel, "from_pretrained", None)
    load(Editor(raw), tmp_path)
    assert calls
    assert not any("trust_remote_code" in options for options in calls)
