"""A network that predicts: label embeddings computed once, and batches in several threads."""

import copy
import gc
import pickle
import subprocess
import sys
import weakref

import numpy as np
import pytest
import torch
from skorch.callbacks import Callback, EpochScoring

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._host.torch_state import torch_threads
from sklearn_mrmp._network import batches as _batches
from sklearn_mrmp._network.net import ShortGradients, label_embeddings
from sklearn_mrmp.nn import EagerAdamW, MrMPModule, model

PULLING = {"pulling": torch.tensor([[0.0, 1.0], [1.0, 0.0]])}


@pytest.fixture
def module():
    torch.manual_seed(0)
    return MrMPModule(5, 2, PULLING, d_model=4, n_heads=1, d_inner=4).eval()


def embeddings(module):
    with torch.inference_mode():
        return label_embeddings(module)


def test_the_same_tensor_as_long_as_nothing_changes(module):
    first = embeddings(module)
    torch.testing.assert_close(first, module.label_relations())
    assert embeddings(module) is first


def written_in_place(module):
    with torch.no_grad():
        next(module.label_relations.parameters()).add_(1.0)


def trained(module):
    optimizer = EagerAdamW(module.parameters(), lr=0.1, fused=True)
    module(torch.tensor([[1, 2]]))[0].sum().backward()
    optimizer.step()


def written_through_numpy(module):
    next(module.label_relations.parameters()).detach().numpy()[:] += 1.0


def loaded(module):
    module.load_state_dict({name: 2 * x for name, x in module.state_dict().items()})


def loaded_by_assignment(module):
    module.load_state_dict({name: 2 * x for name, x in module.state_dict().items()}, assign=True)


def given_other_data(module):
    weight = next(module.label_relations.parameters())
    weight.data = weight.data + 1.0


def in_other_precision(module):
    module.double()


@pytest.mark.parametrize(
    "change",
    [
        written_in_place,
        trained,
        written_through_numpy,
        loaded,
        loaded_by_assignment,
        given_other_data,
        in_other_precision,
    ],
)
def test_computed_anew_when_weights_change(module, change):
    before = embeddings(module)
    change(module)
    after = embeddings(module)
    assert after is not before
    torch.testing.assert_close(after, module.label_relations())


def test_half_precision_around_them_does_not_round_them(module):
    with torch.autocast("cpu", torch.bfloat16):
        rounded = embeddings(module)
    assert rounded.dtype == torch.float32
    torch.testing.assert_close(rounded, module.label_relations())


def test_modules_made_in_inference_mode_have_them(module):
    with torch.inference_mode():
        other = pickle.loads(pickle.dumps(module))
        torch.testing.assert_close(label_embeddings(other), label_embeddings(module))


def test_pickles_do_not_carry_them(module):
    size = len(pickle.dumps(module))
    embeddings(module)
    assert len(pickle.dumps(module)) == size


def test_they_go_with_their_module(module):
    other = copy.deepcopy(module)
    known = weakref.ref(embeddings(other))
    del other
    gc.collect()
    assert known() is None


class PredictingCallback(Callback):
    """Ask the network for its opinion after every epoch."""

    def on_epoch_end(self, net, dataset_train=None, **kwargs):
        net.label_logits(dataset_train.rows)


def test_predictions_during_training_do_not_change_the_model(related):
    small = {"d_model": 8, "max_epochs": 3, "early_stopping": False, "random_state": 0}
    plain = MrMPClassifier(**small).fit(*related)
    asked = MrMPClassifier(**small, callbacks=[("ask", PredictingCallback())]).fit(*related)
    np.testing.assert_array_equal(plain.predict_proba(related[0]), asked.predict_proba(related[0]))


@pytest.mark.parametrize("shortlist", [None, 3])
def test_prediction_is_the_same_with_several_threads(related, shortlist, monkeypatch):
    X, Y = related
    clf = MrMPClassifier(
        d_model=8, n_heads=2, max_epochs=1, label_shortlist=shortlist, random_state=0
    ).fit(X, Y)
    rows = clf._model.encoder.transform(X)
    monkeypatch.setattr(_batches, "_ON_CPU", (2**10, 2**9))  # else these rows are too few
    with torch_threads(1):
        alone = clf.net_.label_logits(rows)
    with torch_threads(3):
        together = clf.net_.label_logits(rows)
        assert torch.get_num_threads() == 3
    np.testing.assert_array_equal(together, alone)
    assert (clf.set_params(n_threads=3).predict(X) == clf.set_params(n_threads=1).predict(X)).all()


def test_half_precision_is_for_rows_of_any_number(related, monkeypatch):
    clf = MrMPClassifier(d_model=8, n_heads=2, max_epochs=1, random_state=0).fit(*related)
    rows = clf._model.encoder.transform(related[0])
    monkeypatch.setattr(_batches, "_ON_CPU", (2**10, 2**9))
    whole = clf.net_.label_logits(rows)
    with torch_threads(2), torch.autocast("cpu", torch.bfloat16):
        rounded = clf.net_.label_logits(rows)
    assert 1e-4 < np.abs(rounded - whole).max() < 0.2


def test_prediction_works_when_the_main_thread_has_ended():
    script = """
import threading, time, numpy as np
from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._network import batches as _batches
_batches._ON_CPU = (2**10, 2**9)
X = np.random.default_rng(0).random((80, 5)); Y = (X[:, :2] > 0.5).astype(int)
clf = MrMPClassifier(d_model=8, n_heads=2, max_epochs=1, n_threads=2).fit(X, Y)

def later():
    threading.main_thread().join()
    print(clf.predict_proba(X).shape)

threading.Thread(target=later).start()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "(80, 2)", done.stderr


@pytest.mark.parametrize("options", [{}, {"architecture": "paper"}, {"relations": None}])
def test_networks_of_very_many_labels_train_alike(related, monkeypatch, options):
    options = {"d_model": 8, "n_heads": 2, "max_epochs": 2, "label_shortlist": 3, **options}
    scoring = EpochScoring(lambda net, X, y: 1.0, name="score", use_caching=False)
    options |= {"relation_loss": 0.0, "random_state": 0, "n_threads": 1, "callbacks": [scoring]}
    whole = MrMPClassifier(**options).fit(*related).predict_proba(related[0])
    monkeypatch.setattr(model, "_PARTS_FROM", 2)
    parts = MrMPClassifier(**options).fit(*related).predict_proba(related[0])
    np.testing.assert_allclose(parts, whole, atol=1e-4)
    clf = MrMPClassifier(**options | {"relation_loss": 0.1})
    with torch.autocast("cpu", torch.bfloat16):
        assert np.isfinite(clf.fit(*related).history_[-1]["train_loss"])


class OptimizerOf:
    """What `ShortGradients` reads of a net."""

    def __init__(self, weights):
        self.optimizer_ = torch.optim.SGD(weights)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 50.0, np.inf, np.nan])
def test_gradients_are_scaled_down_as_torch_does_it(scale):
    torch.manual_seed(0)
    ours, theirs = ([torch.nn.Parameter(torch.ones(n)) for n in (3, 100, 7)] for _ in range(2))
    for weight, same in zip(ours, theirs, strict=True):
        weight.grad = torch.randn_like(weight)
        weight.grad[0] *= scale
        same.grad = weight.grad.clone()
    unused = torch.nn.Parameter(torch.ones(2))
    ShortGradients(1.0).on_grad_computed(OptimizerOf([*ours, unused]))
    torch.nn.utils.clip_grad_norm_(theirs, 1.0)
    for weight, same in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(weight.grad, same.grad)
    assert unused.grad is None


def test_gradients_elsewhere_are_scaled_without_looking_at_them(monkeypatch):
    scaled = []
    monkeypatch.setattr(torch, "_foreach_mul_", lambda *arguments: scaled.append(arguments))
    weight = torch.nn.Parameter(torch.ones(3, device="meta"))
    weight.grad = torch.ones(3, device="meta")
    ShortGradients(1.0).on_grad_computed(OptimizerOf([weight]))  # a meta tensor has no value
    ((gradients, factor),) = scaled
    assert gradients[0] is weight.grad
    assert factor.device.type == "meta"


def test_no_gradients_are_short_enough():
    ShortGradients(1.0).on_grad_computed(OptimizerOf([torch.nn.Parameter(torch.ones(2))]))


def test_every_epoch_trains_with_dropout_and_is_judged_without(related):
    seen = []

    class Modes(Callback):
        def on_batch_end(self, net, training=False, **kwargs):
            modules = [*net.module_.modules(), *net.criterion_.modules()]
            seen.append((training, {module.training for module in modules}))

        def on_batch_begin(self, net, **kwargs):
            net.module_.encoder.train(not net.module_.encoder.training)  # it is set anew

    MrMPClassifier(d_model=8, max_epochs=2, callbacks=[Modes()], random_state=0).fit(*related)
    assert {training for training, _ in seen} == {True, False}
    assert all(modes == {training} for training, modes in seen)


def test_large_predictions_prepare_malloc(related, monkeypatch):
    calls = []
    monkeypatch.setattr("sklearn_mrmp._network.net.expect_large_blocks", lambda: calls.append(1))
    X, Y = related
    clf = MrMPClassifier(d_model=8, max_epochs=1, random_state=0).fit(X, Y)
    assert not calls
    monkeypatch.setattr(_batches, "_ON_CPU", (2**6, 2**9))
    clf.predict_proba(X)
    assert calls == [1]
