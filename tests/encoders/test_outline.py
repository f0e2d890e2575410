"""Outlines of transformers: made again without weights, and harmless from a stranger."""

import copy

import pytest
import torch

from sklearn_mrmp._encoders.outline import TYPES, outline_of, transformer_of, without_pooler
from tests.tiny_encoder import tiny_encoder

transformers = pytest.importorskip("transformers")
SMALL = {
    "vocab_size": 20,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 12,
    "pad_token_id": 0,
}
OTHERS = {
    "albert": {**SMALL, "embedding_size": 8},
    "deberta": {**SMALL, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]},
    "deberta-v2": {**SMALL, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]},
    "distilbert": {
        **{name: SMALL[name] for name in ("vocab_size", "max_position_embeddings")},
        **{"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 24},
    },
    "electra": {**SMALL, "embedding_size": 8},
    "modernbert": {**SMALL, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1},
}
IDS = {"input_ids": torch.tensor([[2, 5, 7, 3]]), "attention_mask": torch.ones(1, 4).long()}


@pytest.fixture(scope="module")
def outline():
    return outline_of(without_pooler(tiny_encoder(["sea"])[0]))


@pytest.mark.parametrize("kind", TYPES)
def test_each_type_is_made_again_of_its_outline(kind):
    config = transformers.AutoConfig.for_model(kind, **OTHERS.get(kind, SMALL))
    model = without_pooler(transformers.AutoModel.from_config(config).eval())
    again = transformer_of(outline_of(model)).eval()
    again.load_state_dict(model.state_dict())
    with torch.inference_mode():
        expected = model(**IDS).last_hidden_state
        assert torch.equal(again(**IDS).last_hidden_state, expected)


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_attention_is_computed_in_the_same_way(attention):
    config = transformers.AutoConfig.for_model("bert", **SMALL)
    model = transformers.AutoModel.from_config(config, attn_implementation=attention).train()
    before = torch.get_rng_state()
    assert outline_of(model)["attention"] == attention
    assert model.training
    assert torch.equal(torch.get_rng_state(), before)


def test_an_outline_is_plain_and_says_nothing_of_where_it_comes_from(outline):
    assert outline["type"] == "bert"
    assert not outline["config"].keys() & {"_name_or_path", "auto_map", "dtype", "id2label"}
    plain = (bool, int, float, str, list, dict, type(None))
    assert all(isinstance(value, plain) for value in outline["config"].values())


def test_it_needs_no_memory_on_the_meta_device(outline):
    large = copy.deepcopy(outline)
    large["config"]["vocab_size"] = 2**24
    with torch.device("meta"):
        model = transformer_of(large)
    assert all(weight.is_meta for weight in model.parameters())


def test_transformers_that_are_not_made_of_their_configuration_have_none():
    model = without_pooler(tiny_encoder(["sea"])[0])
    model.encoder.layer[0].output.dense = torch.nn.Linear(32, 16, bias=False)
    assert outline_of(model) is None
    config = transformers.GPT2Config(n_embd=8, n_layer=1, n_head=2, vocab_size=10)
    assert outline_of(transformers.GPT2Model(config)) is None


@pytest.mark.parametrize(
    "change",
    [
        {"type": "gpt2"},
        {"type": "timm_backbone"},
        {"type": ["bert"]},
        {"attention": "kernels-community/flash-attn"},
        {"attention": "flash_attention_2"},
        {"config": []},
        {"more": 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_strange_outlines_are_refused(outline, change):
    with pytest.raises(ValueError, match="encoder"):
        transformer_of({**outline, **change})


@pytest.mark.parametrize(
    "change",
    [
        {"auto_map": {"AutoModel": "stranger/code--model.Model"}},
        {"_attn_implementation": "kernels-community/flash-attn"},
        {"attn_implementation": "kernels-community/flash-attn"},
        {"quantization_config": {"quant_method": "gptq"}},
        {"dtype": "float64"},
        {"forward": 1},
        {"vocab_size": 10**12},
        {"num_hidden_layers": 10**6},
        {"hidden_size": float("inf")},
        {"hidden_act": "x" * 10_000},
        {"pad_token_id": [[[[[0]]]]]},
        {"hidden_dropout_prob": object()},
    ],
    ids=lambda change: next(iter(change)),
)
def test_strange_settings_are_refused_before_anything_is_made(outline, change, monkeypatch):
    monkeypatch.setattr(transformers.AutoModel, "from_config", None)
    with pytest.raises(ValueError, match="an encoder"):
        transformer_of({**outline, "config": {**outline["config"], **change}})
