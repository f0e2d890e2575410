"""Which layers of an encoder are read."""

import copy

import numpy as np
import pytest

from sklearn_mrmp import MrMPClassifier, TextEncoder, load
from sklearn_mrmp._encoders.layers import chosen_layers, layers_of
from tests.tiny_encoder import tiny_encoder

TEXTS = ["red green blue", "green", "blue blue red green"]


@pytest.fixture(scope="module")
def encoder():
    pytest.importorskip("transformers")
    return tiny_encoder(TEXTS)


@pytest.mark.parametrize(
    ("n_layers", "numbers"), [(1, ()), (2, (1, 2)), (3, (1, 2)), (6, (2, 4)), (12, (4, 8))]
)
def test_auto_is_one_and_two_thirds_of_the_depth(n_layers, numbers):
    assert chosen_layers("auto", n_layers) == numbers


def test_an_encoder_that_does_not_tell_its_depth_is_read_at_its_end():
    assert chosen_layers("auto", None) == ()
    with pytest.raises(ValueError, match="does not say how many layers"):
        chosen_layers(3, None)


@pytest.mark.parametrize(
    ("layers", "numbers"), [("last", ()), (2, ()), (-1, ()), ([0, -2], (0, 1))]
)
def test_numbers_count_from_the_embeddings_or_from_the_end(layers, numbers):
    assert chosen_layers(layers, 2) == numbers


@pytest.mark.parametrize(
    ("layers", "said"),
    [(3, "names layer 3, but .* 0 .the embeddings. to 2"), (-4, "layer -4"), ([], "must be"),
     (["first"], "must be"), ([0] * 65, "more than 64")],
)  # fmt: skip
def test_what_is_no_layer_is_refused(layers, said):
    with pytest.raises(ValueError, match=said):
        chosen_layers(layers, 2)


@pytest.mark.parametrize("layers", [[0, 1], [1], [0], [2, 0], [0, 1, 2]])
def test_states_are_those_of_the_layers_side_by_side(encoder, layers):
    got = TextEncoder(encoder, layers=layers).fit_transform(TEXTS)[[1]].padded()["states"][0]
    model, tokenizer = copy.deepcopy(encoder)
    inputs = tokenizer(TEXTS[1], return_tensors="pt")
    states = model(**inputs, output_hidden_states=True).hidden_states
    wanted = np.concatenate([states[i][0].detach().numpy() for i in layers], axis=1)
    np.testing.assert_allclose(got, wanted, atol=2e-3)


def test_a_users_model_is_as_before(encoder):
    TextEncoder(encoder, layers=[0, 1]).fit_transform(TEXTS)
    copy.deepcopy(encoder[0])
    assert not any(part._forward_hooks for part in encoder[0].modules())


@pytest.mark.parametrize("max_tokens", [None, 30])
def test_mean_states_are_those_of_the_last_layer_whatever_else_is_read(
    encoder, tmp_path, max_tokens
):
    texts = [*TEXTS, " ".join(TEXTS * 3)]  # the last one has several windows
    options = {"pooling": "mean", "max_tokens": max_tokens}
    alone = TextEncoder(encoder, **options).fit_transform(texts)
    states = TextEncoder(encoder, layers="last", max_tokens=max_tokens).fit_transform(texts)
    np.testing.assert_allclose(alone, states.pooled(), atol=2e-3)
    beside = TextEncoder(encoder, cache_dir=tmp_path, **options).fit_transform(texts)
    np.testing.assert_allclose(beside, alone, atol=2e-3)


def test_an_encoder_whose_layers_are_not_one_by_one_is_read_at_its_end():
    transformers = pytest.importorskip("transformers")
    config = transformers.AlbertConfig(
        vocab_size=9, embedding_size=4, hidden_size=8, num_attention_heads=2, intermediate_size=8
    )
    model = transformers.AlbertModel(config)
    assert layers_of(model) is None
    encoder = TextEncoder((model, tiny_encoder(["red"])[1])).fit()
    assert encoder.transform(["red"]).shape == (1, 8)


def test_token_states_read_the_middle_and_mean_states_the_end(encoder):
    assert TextEncoder(encoder).fit_transform(TEXTS).shape == (3, 32)
    pooled = TextEncoder(encoder, pooling="mean").fit(TEXTS)
    assert pooled.transform(TEXTS).shape == (3, 16)
    assert len(pooled.get_feature_names_out()) == 16
    assert (
        TextEncoder(encoder, pooling="mean", layers=(0, 1, 2)).fit_transform(TEXTS).shape[1] == 48
    )


def test_layers_have_folders_of_their_own_in_a_cache(encoder, tmp_path):
    for layers in ("auto", "last", 0, "auto"):
        states = TextEncoder(encoder, layers=layers, cache_dir=tmp_path).fit_transform(TEXTS)
        fresh = TextEncoder(encoder, layers=layers).fit_transform(TEXTS)
        np.testing.assert_allclose(states.pooled(), fresh.pooled(), atol=2e-3)


def test_a_classifier_and_its_file_read_the_layers_it_was_fitted_with(encoder, tmp_path):
    texts, Y = TEXTS * 10, np.tile(np.eye(3, dtype=int), (10, 1))
    clf = MrMPClassifier(
        encoder=TextEncoder(encoder, layers=[0, 2]), d_model=8, max_epochs=1, random_state=0
    ).fit(texts, Y)
    assert clf.net_.module_.embedding.projection.in_features == 32
    P = clf.predict_proba(texts)
    clf.save(tmp_path / "model.mrmp")
    loaded = load(tmp_path / "model.mrmp").set_params(encoder=encoder)
    np.testing.assert_array_equal(loaded.predict_proba(texts), P)
