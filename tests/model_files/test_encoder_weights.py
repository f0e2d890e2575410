"""Files that hold a pretrained encoder: used where it is not, and harmless from a stranger."""

import copy
import pickle
import shutil
import sys

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

import sklearn_mrmp
from sklearn_mrmp import ModelFileError, SoftVotingMultilabelClassifier, TextEncoder, load, save
from tests.model_files.test_model_file_attacks import Editor, objects_of
from tests.tiny import PLAIN, tiny
from tests.tiny_encoder import tiny_encoder

transformers = pytest.importorskip("transformers")
TEXTS = ["sea and ship", "desert", "ship", "a desert by the sea"] * 6
Y = np.array([["sea" in text, "desert" in text] for text in TEXTS]).astype(int)


@pytest.fixture(scope="module")
def pair():
    return tiny_encoder(TEXTS)


@pytest.fixture
def folder(pair, tmp_path):
    path = tmp_path / "encoder"
    for part in pair:
        part.save_pretrained(path)
    return path


def elsewhere(model, folder, **options):
    """Return the model out of a file, on a machine that has no folder with the encoder."""
    path = folder.parent / "model.mrmp"
    save(model, path, encoder_weights=True, **options)
    shutil.rmtree(folder)
    return load(path)


def regression():
    return OneVsRestClassifier(LogisticRegression())


def pooled(folder, **options):
    return make_pipeline(TextEncoder(str(folder), pooling="mean", **options), regression())


def models():
    yield "classifier", lambda folder: tiny(encoder=str(folder), max_epochs=1)
    yield (
        "text encoder",
        lambda folder: tiny(encoder=TextEncoder(str(folder), layers=[0, -1]), max_epochs=1),
    )
    yield "fine-tuned", lambda folder: tiny(encoder=str(folder), encoder_lr=1e-3, **PLAIN)
    yield "pipeline", pooled
    yield "voting", lambda folder: SoftVotingMultilabelClassifier([("a", pooled(folder))])


@pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in models()])
def test_predictions_are_the_same_bits_where_the_encoder_is_not(folder, make):
    model = make(folder).fit(TEXTS, Y)
    P = model.predict_proba(TEXTS)
    loaded = elsewhere(model, folder)
    np.testing.assert_array_equal(loaded.predict_proba(TEXTS), P)
    again = pickle.loads(pickle.dumps(loaded))  # as for a worker process
    np.testing.assert_array_equal(again.predict_proba(TEXTS), P)
    save(loaded, folder.parent / "again.mrmp")  # what came along goes on
    np.testing.assert_array_equal(load(folder.parent / "again.mrmp").predict_proba(TEXTS), P)


def test_the_best_model_of_a_search_and_a_transformer_alone(folder):
    search = GridSearchCV(pooled(folder), {"textencoder__max_tokens": [3, None]}, cv=2)
    best = search.fit(TEXTS, Y).best_estimator_
    P, states = best.predict_proba(TEXTS), best[0].transform(TEXTS)
    path = folder.parent / "encoder.mrmp"
    save(best[0], path, encoder_weights=True)
    np.testing.assert_array_equal(elsewhere(best, folder).predict_proba(TEXTS), P)
    np.testing.assert_array_equal(load(path).transform(TEXTS), states)


@pytest.mark.parametrize("rate", [0.0, 1e-3])
def test_encoders_given_as_objects_need_not_be_given_again(pair, tmp_path, rate):
    clf = tiny(encoder=pair, encoder_lr=rate, max_epochs=1, **PLAIN).fit(TEXTS, Y)
    with pytest.warns(UserWarning, match="matters for fit alone: encoder"):
        clf.save(tmp_path / "model.mrmp", encoder_weights=True)
    loaded = load(tmp_path / "model.mrmp")
    np.testing.assert_array_equal(loaded.predict_proba(TEXTS), clf.predict_proba(TEXTS))
    with pytest.warns(UserWarning, match="Not saved"):
        clf.save(tmp_path / "model.mrmp")
    with pytest.raises(ValueError, match="encoder_weights=True"):
        load(tmp_path / "model.mrmp").predict(TEXTS)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_weights_of_other_precision_are_kept_bit_for_bit(pair, tmp_path, dtype):
    encoder = TextEncoder((copy.deepcopy(pair[0]).to(dtype), pair[1])).fit()
    with pytest.warns(UserWarning, match="Not saved"):
        save(encoder, tmp_path / "model.mrmp", encoder_weights=True)
    found, expected = load(tmp_path / "model.mrmp").transform(TEXTS), encoder.transform(TEXTS)
    np.testing.assert_array_equal(found.states, expected.states)


def n_array_bytes(model, path, **options):
    save(model, path, **options)
    return len(Editor(path.read_bytes()).data)


def test_weights_are_in_the_file_once_and_only_if_asked_for(folder, tmp_path):
    encoder, path = TextEncoder(str(folder), pooling="mean").fit(), tmp_path / "model.mrmp"
    n_bytes = n_array_bytes(encoder, path, encoder_weights=True)
    assert n_array_bytes(encoder, path) == 0
    two = SoftVotingMultilabelClassifier([("a", pooled(folder)), ("b", pooled(folder))])
    rest = n_array_bytes(two.fit(TEXTS, Y), path)
    assert n_array_bytes(two, path, encoder_weights=True) == n_bytes + rest


def test_other_models_are_saved_as_ever(tmp_path):
    clf = sklearn_mrmp.MLKNNClassifier(2).fit(np.eye(24), Y)
    clf.save(tmp_path / "asked", encoder_weights=True)
    clf.save(tmp_path / "plain")
    assert (tmp_path / "asked").read_bytes() == (tmp_path / "plain").read_bytes()


def test_states_of_a_strangers_encoder_are_kept_apart(folder, tmp_path):
    cached = {"cache_dir": str(tmp_path / "states")}
    mine = pooled(folder, **cached).fit(TEXTS, Y)
    loaded = elsewhere(mine, folder).set_params(textencoder__cache_dir=cached["cache_dir"])
    loaded.predict(TEXTS)
    assert len(list((tmp_path / "states").iterdir())) == 2
    assert loaded[0].encoder_.fingerprint_ == mine[0].encoder_.fingerprint_


class Slow:
    """A tokenizer without the JSON of the package tokenizers."""

    is_fast = False

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.model_max_length = tokenizer.model_max_length

    def __call__(self, *args, **options):
        return self.tokenizer(*args, **options)

    def get_vocab(self):
        return self.tokenizer.get_vocab()


def with_hook(model):
    # Of a dense layer, whose output is a tensor with every version of transformers.
    dense = model.encoder.layer[1].output.dense
    dense.register_forward_hook(lambda layer, inputs, output: output * 2)
    return model


def of_two_precisions(model):
    model.embeddings.word_embeddings.half()
    return model


def refused():
    yield "slow", lambda model, tokenizer: (model, Slow(tokenizer)), "which is written in Python"
    yield "hook", lambda model, tokenizer: (with_hook(model), tokenizer), "of the types albert"
    yield (
        "precisions",
        lambda model, tokenizer: (of_two_precisions(model), tokenizer),
        "of the types albert",
    )
    config = transformers.GPT2Config(n_embd=16, n_layer=1, n_head=2, n_positions=12, vocab_size=30)
    yield "type", lambda _, tokenizer: (transformers.GPT2Model(config), tokenizer), "of the types"


@pytest.mark.parametrize(
    ("change", "message"),
    [pytest.param(change, message, id=name) for name, change, message in refused()],
)
def test_what_cannot_be_stored_is_refused_with_what_to_do(pair, tmp_path, change, message):
    encoder = TextEncoder(change(copy.deepcopy(pair[0]), pair[1])).fit()
    with pytest.raises(ModelFileError, match=rf"(?s){message}.*without encoder_weights"):
        save(encoder, tmp_path / "model.mrmp", encoder_weights=True)
    assert not (tmp_path / "model.mrmp").exists()


@pytest.fixture(scope="module")
def raw(pair, tmp_path_factory):
    path = tmp_path_factory.mktemp("file") / "model.mrmp"
    with pytest.warns(UserWarning, match="Not saved"):
        save(TextEncoder(pair).fit(), path, encoder_weights=True)
    return path.read_bytes()


def encoder_of(editor):
    return objects_of(editor, "PretrainedEncoder")[0]


def read(editor, folder):
    (folder / "attack").write_bytes(editor.pack())
    return load(folder / "attack")


def test_loading_runs_no_code_loads_nothing_by_a_name_and_draws_no_numbers(
    raw, tmp_path, monkeypatch
):
    calls, plain = [], transformers.AutoModel.from_config

    def recorded(config, **options):
        calls.append(options)
        return plain(config, **options)

    for name in ("AutoModel", "AutoTokenizer", "AutoConfig", "PreTrainedTokenizerFast"):
        monkeypatch.setattr(getattr(transformers, name), "from_pretrained", None)
    monkeypatch.setattr(transformers.AutoModel, "from_config", recorded)
    before = torch.get_rng_state()
    assert read(Editor(raw), tmp_path).transform(["sea"]).shape == (1, 32)
    assert torch.equal(torch.get_rng_state(), before)
    assert calls
    assert not any("trust_remote_code" in options for options in calls)


@pytest.mark.parametrize(
    ("place", "name", "value"),
    [
        *(("fitted", "fingerprint_", "0" * 64), ("fitted", "width_", 64)),
        *(("params", "layers", {"tuple": [0, 9]}), ("params", "layers", {"tuple": [-1, 1]})),
        *(("params", "carried", None), ("params", "carried", {"dict": {}}), ("params", "more", 1)),
    ],
)
def test_claims_that_do_not_fit_the_weights_are_refused(raw, tmp_path, place, name, value):
    editor = Editor(raw)
    encoder_of(editor)[place][name] = value
    with pytest.raises(ModelFileError):
        read(editor, tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("dtype", "float16"), ("dtype", "float8"), ("dtype", ["float32"]), ("outline", None)),
        *(("weights", None), ("weights", {"dict": {"x": 1}}), ("tokenizer", None), ("more", 1)),
    ],
)
def test_parts_that_are_wrong_are_refused(raw, tmp_path, name, value):
    editor = Editor(raw)
    encoder_of(editor)["params"]["carried"]["dict"][name] = value
    with pytest.raises(ModelFileError):
        read(editor, tmp_path)


@pytest.mark.parametrize(
    "settings",
    [
        *({"vocab_size": 2**24}, {"max_position_embeddings": 2**24}, {"intermediate_size": 2**24}),
        *({"num_hidden_layers": 1_000}, {"num_hidden_layers": 1}, {"hidden_act": "os.system"}),
        {"auto_map": {"dict": {"AutoModel": "stranger/code--model.Model"}}},
    ],
    ids=str,
)
def test_transformers_of_other_sizes_than_their_weights_are_refused(raw, tmp_path, settings):
    editor = Editor(raw)
    outline = encoder_of(editor)["params"]["carried"]["dict"]["outline"]["dict"]
    outline["config"]["dict"].update(settings)
    with pytest.raises(ModelFileError):
        read(editor, tmp_path)


def test_changed_weights_are_another_encoder(raw, tmp_path):
    editor = Editor(raw)
    weights = encoder_of(editor)["params"]["carried"]["dict"]["weights"]["dict"]
    start, _ = editor.table[next(iter(weights.values()))["array"]]["data_offsets"]
    editor.data = editor.data[:start] + b"\x00\x00\x80\x3f" + editor.data[start + 4 :]
    with pytest.raises(ModelFileError, match="an encoder and its weights"):
        read(editor, tmp_path)


def test_a_missing_package_is_named(raw, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ModelFileError, match=r"sklearn-mrmp\[text\]"):
        read(Editor(raw), tmp_path)
