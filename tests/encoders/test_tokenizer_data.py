"""Tokenizers as data: the same tokens again, and harmless from a stranger."""

import base64
import copy
import json

import numpy as np
import pytest

from sklearn_mrmp import ModelFileError
from sklearn_mrmp._encoders.tokenizer_data import tokenizer_data, tokenizer_of
from sklearn_mrmp._encoders.windows import token_windows
from tests.tiny_encoder import tiny_encoder

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
TEXTS = ["sea ship", "", "The  SEA,\tÉté ``sun''", "shipsea zz 日本", "sea " * 40]
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "[CLS]", "[SEP]", "[UNK]", "[PAD]", "[MASK]"]
LETTERS = [*"▁abcdefghijklmnopqrstuvwxyzĠ,.'\"", *(f"##{sign}" for sign in "aeinps")]
WORDS = dict(zip([*SPECIAL, *LETTERS, "se", "▁s", "sea", "Ġs"], range(200), strict=False))
SCORES = [(word, -0.1 * number**0.3) for word, number in WORDS.items()]
MERGES = [("s", "e"), ("Ġ", "s"), ("▁", "s")]
# A map of one sign, whose first entry leads nowhere.
CHARSMAP = base64.b64encode((1024).to_bytes(4, "little") + bytes(1024) + b"x\0").decode()
MADE = {
    "AlbertTokenizer": {"vocab": SCORES},
    "BertTokenizer": {"vocab": WORDS},
    "CamembertTokenizer": {"vocab": SCORES},
    "DebertaTokenizer": {"vocab": WORDS, "merges": MERGES},
    "DebertaV2Tokenizer": {"vocab": SCORES},
    "MPNetTokenizer": {"vocab": WORDS},
    "RobertaTokenizer": {"vocab": WORDS, "merges": MERGES},
    "XLMRobertaTokenizer": {"vocab": SCORES},
}


def tiny_tokenizer(model=None, **steps):
    backend = tokenizers.Tokenizer(model or tokenizers.models.WordPiece(WORDS, unk_token="[UNK]"))
    for name, step in steps.items():
        setattr(backend, name, step)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=backend, model_max_length=12)


def again(tokenizer):
    return tokenizer_of(tokenizer_data(tokenizer, 1_000, {}), 1_000)


def assert_same_tokens(found, expected):
    for max_tokens in (None, 30):
        ids, rows = token_windows(found, TEXTS, 12, max_tokens)
        expected_ids, expected_rows = token_windows(expected, TEXTS, 12, max_tokens)
        assert ids == expected_ids
        np.testing.assert_array_equal(rows, expected_rows)


@pytest.mark.parametrize("name", MADE)
def test_tokenizers_of_each_type_of_encoder_are_made_again(name):
    if int(transformers.__version__.partition(".")[0]) < 5:
        pytest.skip("transformers makes tokenizers of a vocabulary from version 5 on")
    tokenizer = getattr(transformers, name)(**MADE[name])
    assert_same_tokens(again(tokenizer), tokenizer)
    assert again(tokenizer).get_vocab() == tokenizer.get_vocab()


def steps():
    normalizers, splits = tokenizers.normalizers, tokenizers.pre_tokenizers
    ends, regex = tokenizers.processors, tokenizers.Regex
    yield {"normalizer": normalizers.Precompiled(base64.b64decode(CHARSMAP))}
    replaced = [normalizers.Replace("``", '"'), normalizers.Replace(regex(" {2,}"), " ")]
    plain = [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
    yield {"normalizer": normalizers.Sequence([*replaced, *plain, normalizers.Prepend("▁")])}
    yield {"pre_tokenizer": splits.Sequence([splits.Digits(), splits.Punctuation()])}
    bert = ends.BertProcessing(("[SEP]", 6), ("[CLS]", 5))
    yield {"pre_tokenizer": splits.Metaspace(), "post_processor": bert}
    yield {"pre_tokenizer": splits.ByteLevel(), "post_processor": ends.Sequence([ends.ByteLevel()])}


@pytest.mark.parametrize("chosen", list(steps()), ids=lambda chosen: "-".join(chosen))
def test_steps_are_kept(chosen):
    tokenizer = tiny_tokenizer(**chosen)
    assert_same_tokens(again(tokenizer), tokenizer)


def test_scores_are_kept_to_the_last_digit():
    rng = np.random.default_rng(0)
    pairs = [("<unk>", 0.0), *((f"word{i}", -20 * rng.random()) for i in range(500))]
    tokenizer = tiny_tokenizer()
    tokenizer.backend_tokenizer.model = tokenizers.models.Unigram(pairs, unk_id=0)
    found = json.loads(again(tokenizer).backend_tokenizer.to_str())["model"]["vocab"]
    assert [tuple(pair) for pair in found] == pairs


def test_limits_are_kept_and_the_users_tokenizer_stays_as_it_is():
    tokenizer = tiny_encoder(TEXTS, window=7)[1]
    tokenizer.truncation_side = "left"
    tokenizer(TEXTS, truncation=True, max_length=5, padding="max_length")
    before = tokenizer.backend_tokenizer.to_str()
    found = again(tokenizer)
    assert tokenizer.backend_tokenizer.to_str() == before
    assert (found.model_max_length, found.truncation_side) == (7, "left")
    assert_same_tokens(found, tokenizer)
    tokenizer.model_max_length = 10**30
    assert again(tokenizer).model_max_length > 10**20


def test_the_same_tokenizer_is_stored_once():
    known, tokenizer = {}, tiny_tokenizer()
    one, two = (tokenizer_data(copy.deepcopy(tokenizer), 1_000, known) for _ in range(2))
    assert one["json"] is two["json"]


def test_what_cannot_be_stored_is_refused_with_what_to_do():
    class Slow:
        is_fast = False

    with pytest.raises(ModelFileError, match=r"Slow.*use_fast=True.*Save without encoder_weights"):
        tokenizer_data(Slow(), 1_000, {})
    own = tokenizers.pre_tokenizers.Split(tokenizers.Regex("(a|b)+"), "isolated")
    with pytest.raises(ModelFileError, match=r"Split with pattern.*Save without encoder_weights"):
        tokenizer_data(tiny_tokenizer(pre_tokenizer=own), 1_000, {})
    with pytest.raises(ModelFileError, match=r"vocab=.*Save without encoder_weights"):
        tokenizer_data(tiny_tokenizer(), 3, {})


def step(kind, **fields):
    return {"type": kind, **fields}


NFC = step("NFC")
TEXT, TOKEN = {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "a", "type_id": 0}}
NAMED = {"a": {"id": "a", "ids": [1], "tokens": ["a"]}}
ADDED = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
MANY = {"a": {"id": "a", "ids": [1] * 10**4, "tokens": ["a"] * 10**4}}
TEMPLATE = {"single": [TOKEN, TEXT], "pair": [TEXT], "special_tokens": NAMED}
LONG_MAP = base64.b64encode((4).to_bytes(4, "little") + bytes(4) + b"x" * 1_000 + b"\0").decode()
HOSTILE = [
    {"truncation": {"max_length": 2**60}},
    {"padding": {"strategy": {"Fixed": 2**40}}},
    {"decoder": step("ByteLevel")},
    {"more": 1},
    {"normalizer": step("Script", path="os.system")},
    {"normalizer": {"type": ["NFC"]}},
    {"normalizer": [NFC]},
    {"normalizer": step("Sequence", normalizers=[NFC] * 2)},
    {"normalizer": step("Sequence", normalizers=[step("Sequence", normalizers=[NFC])])},
    {"normalizer": step("Replace", pattern={"String": "a"}, content="aa")},
    {"normalizer": step("Replace", pattern={"String": ""}, content="a")},
    {"normalizer": step("Replace", pattern={"Regex": "(a+)+b"}, content="")},
    {"normalizer": step("Replace", pattern={"Regex": ""}, content=" ")},
    {"normalizer": step("Prepend", prepend="x" * 10**6)},
    {"normalizer": step("Precompiled", precompiled_charsmap=LONG_MAP)},
    {"normalizer": step("Precompiled", precompiled_charsmap="no base64!")},
    {"normalizer": step("Precompiled", precompiled_charsmap="")},
    {"pre_tokenizer": step("Split", pattern={"Regex": "(a|a)*b"}, behavior="Isolated")},
    {"pre_tokenizer": step("FixedLength", length=0)},
    {"post_processor": step("BertProcessing", sep=["a", 2**31], cls=["b", 1])},
    {"post_processor": step("TemplateProcessing", **TEMPLATE | {"single": [TEXT] * 100})},
    {"post_processor": step("TemplateProcessing", **TEMPLATE | {"special_tokens": MANY})},
    {"added_tokens": [{"id": i, "content": f"t{i}", **ADDED} for i in range(2_000)]},
    {"added_tokens": [{"id": 1, "content": "a"}]},
    {"model": step("WordLevel", vocab={"a": 2**31}, unk_token="a")},
    {"model": step("WordLevel", vocab={"a": -1}, unk_token="a")},
    {"model": step("WordPiece", vocab={"a": 0}, unk_token="a", max_input_chars_per_word=10**12)},
    {"model": step("BPE", vocab={"a": 0}, merges=[["a", "b"]])},
    {"model": step("BPE", vocab={"a": 0}, merges=[], dropout=0.5)},
    {"model": step("BPE", vocab=["a"], merges=[])},
    {"model": step("Unigram", vocab={"a": 0}, unk_id=0)},
    {"model": step("Unigram", vocab=[["a", "b"]], unk_id=0)},
    {"model": step("Unigram", vocab=[["a", 0.0]] * 2_000, unk_id=0)},
    {"model": step("Unigram", vocab=[["a", 0.0]], unk_id=10**9)},
    {"model": step("Other", vocab={})},
    {"model": None},
]


@pytest.mark.parametrize("change", HOSTILE, ids=lambda change: next(iter(change)))
def test_hostile_parts_are_refused(change):
    data = tokenizer_data(tiny_tokenizer(), 1_000, {})
    content = json.loads(data["json"].tobytes()) | change
    raw = np.frombuffer(json.dumps(content).encode(), np.uint8)
    with pytest.raises(ValueError):  # noqa: PT011
        tokenizer_of({**data, "json": raw}, 1_000)


def test_parts_that_are_no_tokenizer_are_refused():
    data = tokenizer_data(tiny_tokenizer(), 1_000, {})
    deep = np.frombuffer(b"[" * 10**5 + b"]" * 10**5, np.uint8)
    changes = [{"json": "{}"}, {"json": data["json"].astype(float)}, {"json": deep}]
    changes += [{"json": data["json"][:-1]}, {"limit": 0}, {"limit": 2**40}, {"limit": "12"}]
    changes += [{"side": "up"}, {"side": None}, {"more": 1}]
    for change in changes:
        with pytest.raises(ModelFileError):
            tokenizer_of({**data, **change}, 1_000)
    with pytest.raises(ModelFileError):
        tokenizer_of(None, 1_000)
