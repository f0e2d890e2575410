"""Pretrained text encoders: loaded, recognised, and applied to texts of any length."""

import copy
import pickle
import sys

import numpy as np
import pytest
import torch

from sklearn_mrmp import ModelFileError
from sklearn_mrmp._encoders import pieces
from sklearn_mrmp._encoders.encoder_file import require_revision
from sklearn_mrmp._encoders.text import PretrainedEncoder
from sklearn_mrmp._encoders.windows import token_windows, windows_by_length
from tests.tiny_encoder import tiny_encoder

pytest.importorskip("transformers")
TEXTS = ["sea", "ship at sea", "", "a very long way from the sea to the desert and back again home"]


@pytest.fixture(scope="module")
def pair():
    return tiny_encoder(TEXTS)


@pytest.fixture(scope="module")
def folder(pair, tmp_path_factory):
    path = tmp_path_factory.mktemp("encoder")
    for part in pair:
        part.save_pretrained(path)
    return path


def states_of(pair, text, window=12):
    """Token states of a text, one at a time, in full precision."""
    model, tokenizer = pair
    ids = tokenizer([text], truncation=True, max_length=window)["input_ids"]
    with torch.inference_mode():
        return model(input_ids=torch.tensor(ids)).last_hidden_state[0].numpy()


def rows_of(states):
    batch = states.padded()
    return [row[:n] for row, n in zip(batch["states"], states.lengths, strict=True)]


def test_states_are_those_of_each_text_alone(pair):
    states = PretrainedEncoder.of(pair).encode(TEXTS)[0]
    assert states.states.dtype == np.float16
    assert states.shape == (4, 16)
    for text, row in zip(TEXTS, rows_of(states), strict=True):
        np.testing.assert_allclose(row, states_of(pair, text), atol=2e-3)


def test_batches_change_nothing_but_the_last_digits(pair, monkeypatch):
    expected = PretrainedEncoder.of(pair).encode(TEXTS)[0]
    monkeypatch.setattr("sklearn_mrmp._encoders.windows._BATCH_WINDOWS", 1)
    found = PretrainedEncoder.of(pair).encode(TEXTS)[0]
    np.testing.assert_allclose(found.states, expected.states, atol=2e-3)


@pytest.mark.parametrize("max_tokens", [None, 3, 12, 15, 100])
def test_long_texts_are_read_in_windows_up_to_max_tokens(pair, max_tokens):
    lengths = PretrainedEncoder.of(pair).encode(TEXTS, max_tokens)[0].lengths
    # Twelve words of 14 fill more than one window of 12 tokens, two of which are special.
    whole = [3, 5, 2, 14 + 2 * 2]
    expected = [min(n, 12 if max_tokens is None else max_tokens) for n in whole]
    assert lengths.tolist() == expected


def test_windows_are_cut_by_the_tokenizer_with_its_special_tokens(pair):
    windows, rows = token_windows(pair[1], [TEXTS[3]], 12, 100)
    assert [len(window) for window in windows] == [12, 6]
    assert all(window[0] == 2 and window[-1] == 3 for window in windows)
    assert rows.tolist() == [0, 0]


def test_batches_hold_each_window_once():
    lengths = np.random.default_rng(0).integers(1, 3000, size=200)
    batches = list(windows_by_length(lengths))
    assert sorted(np.concatenate(batches)) == list(range(200))
    assert all(len(b) == 1 or len(b) * lengths[b].max() <= 2**12 for b in batches)


def test_states_beyond_a_limit_are_kept_in_a_file(pair, monkeypatch):
    expected = PretrainedEncoder.of(pair).encode(TEXTS)[0]
    monkeypatch.setattr(pieces, "_MOST_BYTES", 10)
    found = PretrainedEncoder.of(pair).encode(TEXTS)[0]
    assert isinstance(found.states, np.memmap)
    np.testing.assert_array_equal(found.states, expected.states)


def test_the_users_model_is_as_before(pair):
    model, _ = pair
    model.train()
    before = torch.get_rng_state()
    PretrainedEncoder.of(pair).encode(TEXTS)[0]
    assert model.training
    assert torch.equal(torch.get_rng_state(), before)
    model.eval()


def test_a_folder_and_the_objects_from_it_are_the_same_encoder(pair, folder):
    by_name, given = PretrainedEncoder.of(str(folder)), PretrainedEncoder.of(pair)
    assert by_name.fingerprint_ == given.fingerprint_
    assert PretrainedEncoder.of(folder).width_ == 16
    np.testing.assert_array_equal(by_name.encode(TEXTS)[0].states, given.encode(TEXTS)[0].states)


def test_other_weights_or_words_are_another_encoder(pair):
    mark = PretrainedEncoder.of(pair).fingerprint_
    assert PretrainedEncoder.of(tiny_encoder(TEXTS, seed=1)).fingerprint_ != mark
    assert PretrainedEncoder.of((pair[0], tiny_encoder(["sea"])[1])).fingerprint_ != mark


def test_what_transformers_draws_at_random_is_no_part_of_an_encoder(pair, tmp_path):
    model = copy.deepcopy(pair[0])
    model.pooler = None  # as in many checkpoints: a new one is drawn whenever they are loaded
    for part in (model, pair[1]):
        part.save_pretrained(tmp_path)
    known = PretrainedEncoder.of(tmp_path)
    again = pickle.loads(pickle.dumps(known))
    np.testing.assert_array_equal(again.encode(TEXTS)[0].states, known.encode(TEXTS)[0].states)
    assert known.fingerprint_ == PretrainedEncoder.of(pair).fingerprint_


def test_pickles_hold_no_weights_that_can_be_loaded_by_name(pair, folder):
    by_name = PretrainedEncoder.of(str(folder))
    assert len(pickle.dumps(by_name)) < 1_000
    again = pickle.loads(pickle.dumps(by_name))
    np.testing.assert_array_equal(again.encode(TEXTS)[0].states, by_name.encode(TEXTS)[0].states)
    given = pickle.loads(pickle.dumps(PretrainedEncoder.of(pair)))
    np.testing.assert_array_equal(given.encode(TEXTS)[0].states, by_name.encode(TEXTS)[0].states)


def test_an_encoder_that_has_changed_under_its_name_is_refused(folder, tmp_path):
    known = pickle.loads(pickle.dumps(PretrainedEncoder.of(str(folder))))
    for part in tiny_encoder(TEXTS, seed=1):
        part.save_pretrained(tmp_path)
    known.name = str(tmp_path)
    with pytest.raises(ValueError, match="is not the one that this model was fitted with"):
        known.encode(TEXTS)[0]


def test_what_cannot_be_loaded_is_explained(tmp_path):
    with pytest.raises(OSError, match=r"could not be loaded. Check its name; without a network"):
        PretrainedEncoder.of(str(tmp_path))


def test_a_missing_package_is_named_with_what_to_install(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ImportError, match=r"sklearn-mrmp\[text\]"):
        PretrainedEncoder.of(str(folder))


@pytest.mark.parametrize("wrong", [3, ("a", "b"), (1, 2, 3)])
def test_other_things_are_refused(wrong):
    with pytest.raises(TypeError, match="encoder must be the name or folder"):
        PretrainedEncoder.of(wrong)


@pytest.mark.parametrize(
    ("revision", "name"), [(7, "folder"), (["main"], "folder"), ("main", None)]
)
def test_a_revision_out_of_a_file_is_text_and_belongs_to_a_name(revision, name):
    with pytest.raises(ModelFileError, match="revision of an encoder"):
        require_revision(revision, name)
