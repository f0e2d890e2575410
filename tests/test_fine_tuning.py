"""`MrMPClassifier(encoder=..., encoder_lr=...)`: the encoder learns with the network."""

import pickle

import numpy as np
import pytest
import torch
from skorch.callbacks import Callback

from sklearn_mrmp import MrMPClassifier, load
from tests.tiny import PLAIN, tiny
from tests.tiny_encoder import tiny_encoder

pytest.importorskip("transformers")
WORDS = np.array(["sea", "ship", "desert", "sun", "sand", "wave", "boat", "camel", "fish", "rock"])
RATE = 1e-3


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, size=rng.integers(1, 16))) for _ in range(80)]
    return texts, np.array([[w in t for w in ("sea", "ship", "camel")] for t in texts]).astype(int)


@pytest.fixture(scope="module")
def encoder(data):
    return tiny_encoder(data[0])


@pytest.fixture(scope="module")
def folder(encoder, tmp_path_factory):
    path = tmp_path_factory.mktemp("encoder")
    for part in encoder:
        part.save_pretrained(path)
    return str(path)


def tuned(encoder, **options):
    return tiny(**{"encoder": encoder, "encoder_lr": RATE, **PLAIN, **options})


@pytest.fixture(scope="module")
def fitted(data, folder):
    return MrMPClassifier(
        encoder=folder, encoder_lr=RATE, d_model=8, batch_size=16, n_threads=1, random_state=0
    ).fit(*data)


def weights_of(model):
    return {name: w.detach().clone() for name, w in model.state_dict().items()}


def transformer(clf, member=0):
    return clf._ensemble.voters["network"].nets[member].module_.embedding.transformer


class AtStart(Callback):
    """Keep what the encoder's weights are when a training begins, and the rates of each step."""

    def __init__(self):
        self.seen = []
        self.rates = []

    def on_train_begin(self, net, **kwargs):
        self.seen.append(weights_of(net.module_.embedding.transformer))

    def on_grad_computed(self, net, named_parameters=None, **kwargs):
        self.rates.append([group["lr"] for group in net.optimizer_.param_groups])


def test_the_encoder_learns_and_the_users_own_is_left_alone(data, encoder):
    model = encoder[0].train()
    before, random = weights_of(model), torch.get_rng_state()
    clf = tuned(encoder).fit(*data)
    clf.predict(data[0])
    assert model.training
    assert torch.equal(torch.get_rng_state(), random)
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())
    assert not any(weight.grad is not None for weight in model.parameters())
    assert not any(getattr(part, "gradient_checkpointing", False) for part in model.modules())
    model.eval()
    learned = weights_of(transformer(clf))
    name = "encoder.layer.0.attention.self.query.weight"
    assert not torch.equal(learned[name], before[name])


def test_without_a_rate_no_weight_of_the_encoder_changes(data, encoder):
    before = weights_of(encoder[0])
    clf = tuned(encoder, encoder_lr=0.0).fit(*data)
    assert clf.net_.module__embedding == {"kind": "states", "width": 32}
    assert all(torch.equal(w, before[name]) for name, w in encoder[0].state_dict().items())


@pytest.mark.parametrize("options", [{"cv": 2}, {"n_members": 2}, {"refit": True}])
def test_every_training_starts_from_the_pretrained_weights(data, encoder, options):
    start, before = AtStart(), weights_of(encoder[0])
    tuned(encoder, max_epochs=1, callbacks=[("start", start)], **options).fit(*data)
    assert len(start.seen) == 2
    for seen in start.seen:
        assert all(torch.equal(weight, before[name]) for name, weight in seen.items())


def test_folds_in_processes_are_those_of_one_process(data, encoder, folder):
    texts, Y = data
    expected = tuned(folder, cv=2, max_epochs=1).fit(texts, Y).predict_proba(texts)
    for source in (folder, encoder):
        found = tuned(source, cv=2, max_epochs=1, n_jobs=2).fit(texts, Y).predict_proba(texts)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("schedule", ["onecycle", "cosine", "step", "constant"])
def test_encoder_and_labels_have_learning_rates_of_their_own(data, encoder, schedule):
    start = AtStart()
    options = {"lr": 0.01, "lr_schedule": schedule, "callbacks": [("start", start)]}
    clf = tuned(encoder, max_epochs=4, **options).fit(*data)
    rates = np.array(start.rates)
    np.testing.assert_allclose(rates[:, 0] / rates[:, 1], RATE / 0.01)
    # The highest rate of one cycle is between two steps.
    np.testing.assert_allclose(rates.max(axis=0), [RATE, 0.01], rtol=0.05)
    of_encoder, of_others = (group["params"] for group in clf.net_.optimizer_.param_groups)
    names = {id(weight): name for name, weight in clf.net_.module_.named_parameters()}
    assert all("embedding.transformer." in names[id(weight)] for weight in of_encoder)
    assert not any("embedding.transformer." in names[id(weight)] for weight in of_others)


def test_auto_has_values_for_an_encoder_that_learns(data, fitted):
    assert fitted.max_epochs_ == 3
    assert fitted.feature_dropout_ == 0.0
    assert fitted.net_.lr == 1e-3
    assert len(fitted.net_.module_.encoder.layers) == 0


def test_layers_are_computed_twice_in_training_alone(fitted):
    layers = transformer(fitted).encoder.layer
    assert all(layer.gradient_checkpointing for layer in layers)
    assert not transformer(fitted).training


def test_fitted_attributes_and_voters_are_there(data, fitted):
    texts, Y = data
    assert fitted.input_type_ == "text"
    assert fitted.n_features_in_ == 1
    assert fitted.label_embeddings_.shape == (3, 8)
    assert fitted.voters_.network.predict_proba(texts).shape == Y.shape
    assert fitted.voters_.linear.model.coef_.shape == (len(WORDS), 3)


def test_other_estimators_read_words(data, encoder):
    from sklearn.multioutput import MultiOutputClassifier
    from sklearn.naive_bayes import MultinomialNB

    voters = ["network", ("bayes", MultiOutputClassifier(MultinomialNB()))]
    clf = tuned(encoder, voters=voters, max_epochs=1).fit(*data)
    assert clf.voters_.bayes.model.estimator_.estimators_[0].n_features_in_ == len(WORDS)


def test_fits_are_the_same_with_the_same_seed(data, encoder, folder):
    texts, Y = data
    sources = (folder, folder, encoder)
    fits = [tuned(source, feature_dropout=0.2).fit(texts, Y) for source in sources]
    expected, *others = [clf.predict_proba(texts) for clf in fits]
    for found in others:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("max_tokens", [None, 5, 100])
def test_a_text_does_not_depend_on_the_others(data, encoder, max_tokens):
    texts, Y = data
    clf = tuned(encoder, max_epochs=1, max_tokens=max_tokens).fit(texts, Y)
    P = clf.predict_proba(texts)
    alone = np.vstack([clf.predict_proba(texts[i : i + 1]) for i in range(20)])
    np.testing.assert_allclose(alone, P[:20], rtol=1e-4, atol=1e-6)
    halves = np.vstack([clf.predict_proba(texts[:33]), clf.predict_proba(texts[33:])])
    np.testing.assert_allclose(halves, P, rtol=1e-4, atol=1e-6)


def test_threads_change_nothing(data, fitted, monkeypatch):
    texts = data[0] * 5
    expected = fitted.predict_proba(texts)
    monkeypatch.setattr("sklearn_mrmp._network.batches._ON_CPU", (2**9, 2**9))
    several = fitted.set_params(n_threads=4).predict_proba(texts)
    fitted.set_params(n_threads=1)
    np.testing.assert_allclose(several, expected, rtol=1e-4, atol=1e-6)


def test_memory_that_is_not_there_is_the_encoders(data, monkeypatch):
    encoder = tiny_encoder(data[0], width=512)
    monkeypatch.setattr("sklearn_mrmp._network.memory.available_bytes", lambda device: 2**10)
    with pytest.raises(MemoryError, match="a smaller encoder, or leave encoder_lr at 0"):
        tuned(encoder, batch_size=1).fit(*data)


def test_texts_without_tokens_of_their_own_are_texts(data, fitted):
    assert np.isfinite(fitted.predict_proba(["", "!?", "never seen"])).all()


def test_pickles_predict_the_same_and_go_without_the_pretrained_weights(data, fitted, folder):
    texts, _ = data
    stored = pickle.dumps(fitted)
    again = pickle.loads(stored)
    np.testing.assert_array_equal(again.predict_proba(texts), fitted.predict_proba(texts))
    source = again._ensemble.encoder.encoder
    assert source._pretrained._loaded is None
    assert again.net_.module__embedding == {"kind": "transformer", "source": source}
    assert again.net_.module__embedding["source"]._pretrained is None


def test_model_files_hold_the_weights_and_ask_for_the_same_tokenizer(
    data, fitted, tmp_path, monkeypatch
):
    texts, _ = data
    fitted.save(tmp_path / "by_name.mrmp")
    P = fitted.predict_proba(texts)
    with monkeypatch.context() as patch:  # the weights are those of the file
        patch.setattr("transformers.AutoModel.from_pretrained", None)
        loaded = load(tmp_path / "by_name.mrmp")
        np.testing.assert_array_equal(loaded.predict_proba(texts), P)
    loaded.save(tmp_path / "again.mrmp")
    np.testing.assert_array_equal(load(tmp_path / "again.mrmp").predict_proba(texts), P)


def test_model_files_of_an_encoder_given_as_objects_want_them_again(data, encoder, tmp_path):
    texts, Y = data
    given = tuned(encoder, cv=2, max_epochs=1).fit(texts, Y)
    with pytest.warns(UserWarning, match="Not saved"):
        given.save(tmp_path / "given.mrmp")
    loaded = load(tmp_path / "given.mrmp")
    with pytest.raises(ValueError, match=r"set_params\(encoder=\(model, tokenizer\)\)"):
        loaded.predict(texts)
    with pytest.raises(ValueError, match="its vocabulary differs"):
        loaded.set_params(encoder=tiny_encoder(["other words"])).predict(texts)
    # Its weights do not matter: those of the file are used.
    loaded.set_params(encoder=tiny_encoder(texts, seed=1))
    np.testing.assert_array_equal(loaded.predict_proba(texts), given.predict_proba(texts))


def test_a_fit_that_was_broken_off_ends_like_one_that_was_not(data, folder, tmp_path):
    texts, Y = data

    class Crash(Callback):
        def on_epoch_begin(self, net, **kwargs):
            if len(net.history) == 2:
                raise RuntimeError("crash")

    options = {"max_epochs": 3, "feature_dropout": 0.1}
    expected = tuned(folder, **options).fit(texts, Y)
    options["checkpoint_dir"] = tmp_path
    with pytest.raises(RuntimeError, match="crash"):
        tuned(folder, callbacks=[("crash", Crash())], **options).fit(texts, Y)
    start = AtStart()
    resumed = tuned(folder, callbacks=[("start", start)], **options).fit(texts, Y)
    assert len(start.rates) < 3 * len(range(0, 72, 16))
    for name, weight in transformer(expected).state_dict().items():
        assert torch.equal(weight, transformer(resumed).state_dict()[name]), name
    np.testing.assert_array_equal(resumed.predict_proba(texts), expected.predict_proba(texts))
    with pytest.raises(ValueError, match=r"encoder_lr was 0\.001, is 0\.002"):
        tuned(folder, **options | {"encoder_lr": 0.002}).fit(texts, Y)
    with pytest.raises(ValueError, match="encoder was"):
        tuned(tiny_encoder(texts, seed=1), **options).fit(texts, Y)


def test_a_rate_without_an_encoder_is_refused():
    with pytest.raises(ValueError, match=r"encoder_lr=0.001 fine-tunes .* read as features"):
        tiny(encoder_lr=RATE).fit(np.eye(20), np.eye(20, dtype=int)[:, :3])
    with pytest.raises(ValueError, match="'encoder_lr' parameter"):
        tiny(encoder_lr=-1.0).fit(np.eye(20), np.eye(20, dtype=int)[:, :3])
