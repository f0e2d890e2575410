"""Encoders that learn with a network: their tokens, and the transformers they make."""

import pickle

import numpy as np
import pytest
import torch

from sklearn_mrmp._encoders.text import PretrainedEncoder
from sklearn_mrmp._encoders.tunable import TunableEncoder
from sklearn_mrmp._model_files.errors import UnsupportedPartError
from sklearn_mrmp.nn import make_embedding
from tests.tiny import PLAIN, tiny
from tests.tiny_encoder import tiny_encoder

transformers = pytest.importorskip("transformers")
TEXTS = ["sea", "ship at sea", "", "a very long way from the sea to the desert and back again home"]


@pytest.fixture(scope="module")
def pair():
    return tiny_encoder(TEXTS)


@pytest.fixture(scope="module")
def folder(pair, tmp_path_factory):
    path = tmp_path_factory.mktemp("encoder")
    for part in pair:
        part.save_pretrained(path)
    return str(path)


@pytest.mark.parametrize("max_tokens", [None, 3, 15, 100])
def test_rows_have_the_tokens_that_a_frozen_encoder_has_states_of(pair, max_tokens):
    rows = TunableEncoder.of(pair).encode(TEXTS, max_tokens)[0]
    frozen = PretrainedEncoder.of(pair).encode(TEXTS, max_tokens)[0]
    np.testing.assert_array_equal(rows.lengths, frozen.lengths)


def test_ids_count_from_one_and_what_is_left_out_is_unknown(pair):
    tokenizer, rows = pair[1], TunableEncoder.of(pair).encode(TEXTS)[0]
    expected = np.concatenate(tokenizer(TEXTS, truncation=True, max_length=12)["input_ids"])
    np.testing.assert_array_equal(rows.tokens, expected + 1)
    dropped = rows.drop(0.5, np.random.default_rng(0))
    changed = dropped.tokens != rows.tokens
    assert changed.any()
    assert (dropped.tokens[changed] == tokenizer.unk_token_id + 1).all()


def test_the_network_starts_with_the_states_of_a_frozen_encoder(pair):
    encoder = TunableEncoder.of(pair)
    tuned = make_embedding({"kind": "transformer", "source": encoder}, d_model=4).eval()
    plain = make_embedding({"kind": "states", "width": 16}, d_model=4)
    plain.load_state_dict(tuned.state_dict(), strict=False)
    states = PretrainedEncoder.of(pair).encode(TEXTS, 100)[0].padded()["states"]
    batch = encoder.encode(TEXTS, 100)[0].padded()
    with torch.inference_mode():
        found = tuned(torch.from_numpy(batch["tokens"]))
        expected = plain(torch.from_numpy(states))
    np.testing.assert_allclose(found[batch["mask"]], expected[batch["mask"]], atol=5e-3)


def test_every_transformer_is_a_copy_of_its_own(pair):
    encoder = TunableEncoder.of(pair)
    one, two = encoder.make(), encoder.make()
    assert one.pooler is None
    assert pair[0].pooler is not None
    pretrained = pair[0].state_dict()
    for name, weight in one.state_dict().items():
        assert torch.equal(weight, pretrained[name])
        assert weight.data_ptr() not in (
            pretrained[name].data_ptr(),
            two.state_dict()[name].data_ptr(),
        )


def test_weights_of_half_precision_learn_in_single_precision(pair):
    model = tiny_encoder(TEXTS)[0].to(torch.bfloat16)
    encoder = TunableEncoder.of((model, pair[1]))
    assert all(weight.dtype == torch.float32 for weight in encoder.make().parameters())
    assert all(weight.dtype == torch.bfloat16 for weight in model.parameters())


def test_frozen_weights_stay_frozen_unless_all_of_them_are(pair):
    model = tiny_encoder(TEXTS)[0]
    model.embeddings.requires_grad_(False)
    made = TunableEncoder.of((model, pair[1])).make()
    learns = {name.partition(".")[0]: w.requires_grad for name, w in made.named_parameters()}
    assert learns == {"embeddings": False, "encoder": True}
    model.requires_grad_(False)
    made = TunableEncoder.of((model, pair[1])).make()
    assert all(weight.requires_grad for weight in made.parameters())
    assert not any(weight.requires_grad for weight in model.parameters())


def test_pickles_hold_no_weights_that_can_be_loaded_by_name(pair, folder):
    by_name = TunableEncoder.of(folder)
    stored = pickle.dumps(by_name)
    assert len(stored) < 3_000
    again = pickle.loads(stored)
    assert again == by_name
    np.testing.assert_array_equal(again.encode(TEXTS)[0].tokens, by_name.encode(TEXTS)[0].tokens)
    with torch.device("meta"):  # an outline of the network is made first
        again.make()
    assert torch.equal(
        again.make().embeddings.word_embeddings.weight, pair[0].embeddings.word_embeddings.weight
    )


def test_a_tokenizer_that_has_changed_under_its_name_is_refused(folder, tmp_path):
    known = TunableEncoder.of(folder).without_start()
    for part in tiny_encoder(["other", "words"]):
        part.save_pretrained(tmp_path)
    known.name = str(tmp_path)
    with pytest.raises(ValueError, match="its vocabulary differs"):
        known.encode(TEXTS)[0]


def test_an_encoder_that_files_cannot_hold_is_refused_when_saving(pair, tmp_path):
    config = transformers.GPT2Config(
        n_embd=16, n_layer=1, n_head=2, n_positions=12, vocab_size=30, bos_token_id=0
    )
    model = transformers.GPT2Model(config)
    Y = np.array([[0, 1], [1, 0]] * 10)
    options = {"encoder": (model, pair[1]), "encoder_lr": 1e-3, "max_epochs": 1, **PLAIN}
    clf = tiny(**options).fit(["sea", "ship"] * 10, Y)
    with pytest.raises(UnsupportedPartError, match=r"of the types albert, bert, .*use joblib"):
        clf.save(tmp_path / "model")
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.predict_proba(TEXTS), clf.predict_proba(TEXTS))
