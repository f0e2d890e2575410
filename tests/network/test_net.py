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

from sklearn_mrmp._host.torch_state import torch_threads
from sklearn_mrmp._network import batches as _batches
from sklearn_mrmp.nn import LabelModule, LabelRelationModule, MrMPModule, model
from tests.tiny import PLAIN, feature_rows, tiny

PULLING = {"pulling": torch.tensor([[0.0, 1.0], [1.0, 0.0]])}


@pytest.fixture
def module():
    torch.manual_seed(0)
    embedding = {"kind": "tokens", "n_tokens": 5}
    return MrMPModule(embedding, 2, PULLING, d_model=4, n_heads=1, d_inner=4).eval()


def embeddings(module):
    with torch.inference_mode():
        return module.prepared()["label_embeddings"]


def test_label_embeddings_are_computed_once_for_all_batches(related, monkeypatch):
    clf = copy.deepcopy(tiny(max_epochs=1, **PLAIN).fit(*related))  # a copy forgets them
    rows, calls = clf._encoded(related[0]).tokens, []
    forward = LabelRelationModule.forward

    def spy(*arguments):
        calls.append(1)
        return forward(*arguments)

    monkeypatch.setattr(LabelRelationModule, "forward", spy)
    monkeypatch.setattr(_batches, "_ON_CPU", (2**10, 2**9))
    assert len(_batches.prediction_batches(rows, 6, 16, "cpu")) > 1
    clf.net_.label_logits(rows)
    assert len(calls) == 1


def test_label_embeddings_are_kept_from_one_prediction_to_the_next(related, monkeypatch):
    clf, calls = tiny(max_epochs=1, **PLAIN).fit(*related), []
    first = clf.predict_proba(related[0][:1])
    monkeypatch.setattr(LabelRelationModule, "forward", lambda *arguments: calls.append(1))
    np.testing.assert_array_equal(clf.predict_proba(related[0][:1]), first)
    assert not calls


def written_in_place(module):
    with torch.no_grad():
        next(module.label_relations.parameters()).add_(1.0)


def trained(module):
    optimizer = torch.optim.AdamW(module.parameters(), lr=0.1)
    module(tokens=torch.tensor([[1, 2]]), values=torch.zeros(1, 2))[0].sum().backward()
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


changes = pytest.mark.parametrize(
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


@changes
def test_computed_anew_when_weights_change(module, change):
    before = embeddings(module)
    change(module)
    after = embeddings(module)
    assert after.dtype != before.dtype or not torch.equal(after, before)
    torch.testing.assert_close(after, module.label_relations())


@changes
def test_predictions_follow_the_weights(related, change):
    net = tiny(max_epochs=1, **PLAIN).fit(*related).net_
    rows = feature_rows(related[0]).tokens
    before = net.label_logits(rows)
    change(net.module_)
    after = net.label_logits(rows)
    assert not np.array_equal(after, before)
    np.testing.assert_array_equal(after, copy.deepcopy(net).label_logits(rows))


def test_a_network_that_does_not_say_what_it_prepares_from_prepares_in_each_call(
    related, monkeypatch
):
    net = tiny(max_epochs=1, **PLAIN).fit(*related).net_
    rows, calls, prepared = feature_rows(related[0]).tokens, [], MrMPModule.prepared

    def spy(module):
        calls.append(1)
        return prepared(module)

    monkeypatch.setattr(MrMPModule, "prepared", spy)
    monkeypatch.setattr(MrMPModule, "prepared_from", LabelModule.prepared_from)
    net.label_logits(rows)
    net.label_logits(rows)
    assert len(calls) == 2


def test_pickles_of_a_net_do_not_carry_what_was_prepared(related):
    net = tiny(max_epochs=1, **PLAIN).fit(*related).net_
    net._kept = None
    size = len(pickle.dumps(net))
    net.label_logits(feature_rows(related[0]).tokens)
    assert net._kept is not None
    assert len(pickle.dumps(net)) == size


@pytest.mark.parametrize("options", [{}, {"architecture": "paper"}])
def test_half_precision_around_them_does_not_round_them(related, options, monkeypatch):
    net, seen = tiny(max_epochs=1, **PLAIN, **options).fit(*related).net_, []
    predict_logits = MrMPModule.predict_logits

    def spy(module, **batch):
        seen.append(batch["label_embeddings"])
        return predict_logits(module, **batch)

    monkeypatch.setattr(MrMPModule, "predict_logits", spy)
    rows = feature_rows(related[0]).tokens
    with torch.autocast("cpu", torch.bfloat16):
        Z = net.label_logits(rows)
    assert Z.dtype == np.float32
    assert seen[0].dtype == torch.float32
    torch.testing.assert_close(seen[0], net.module_.label_embeddings())


def test_modules_made_in_inference_mode_have_them(module):
    with torch.inference_mode():
        other = pickle.loads(pickle.dumps(module))
        torch.testing.assert_close(embeddings(other), embeddings(module))


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
    small = {"max_epochs": 3, "early_stopping": False}
    plain = tiny(**small).fit(*related)
    asked = tiny(**small, callbacks=[("ask", PredictingCallback())]).fit(*related)
    np.testing.assert_array_equal(plain.predict_proba(related[0]), asked.predict_proba(related[0]))


@pytest.mark.parametrize("shortlist", [None, 3])
def test_prediction_is_the_same_with_several_threads(related, shortlist, monkeypatch):
    X, Y = related
    clf = tiny(max_epochs=1, label_shortlist=shortlist).fit(X, Y)
    rows = clf._encoded(X).tokens
    monkeypatch.setattr(_batches, "_ON_CPU", (2**10, 2**9))  # else these rows are too few
    with torch_threads(1):
        alone = clf.net_.label_logits(rows)
    with torch_threads(3):
        together = clf.net_.label_logits(rows)
        assert torch.get_num_threads() == 3
    np.testing.assert_array_equal(together, alone)
    assert (clf.set_params(n_threads=3).predict(X) == clf.set_params(n_threads=1).predict(X)).all()


@pytest.mark.parametrize(("most_floats", "expected"), [(2**18, 1), (1, 2)])
def test_few_rows_are_predicted_by_one_thread(related, most_floats, expected, monkeypatch):
    clf, seen = tiny(max_epochs=1, n_threads=2).fit(*related), []
    predict_logits = MrMPModule.predict_logits

    def spy(module, **batch):
        seen.append(torch.get_num_threads())
        return predict_logits(module, **batch)

    monkeypatch.setattr(MrMPModule, "predict_logits", spy)
    monkeypatch.setattr(_batches, "_FOR_ONE_THREAD", most_floats)
    before = torch.get_num_threads()
    clf.predict_proba(related[0][:1])
    assert seen == [expected]
    assert torch.get_num_threads() == before


def test_half_precision_is_for_rows_of_any_number(related, monkeypatch):
    clf = tiny(max_epochs=1).fit(*related)
    rows = clf._encoded(related[0]).tokens
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
    scoring = EpochScoring(lambda net, X, y: 1.0, name="score", use_caching=False)
    options = {"label_shortlist": 3, "relation_loss": 0.0, "callbacks": [scoring], **options}
    whole = tiny(**options).fit(*related).predict_proba(related[0])
    monkeypatch.setattr(model, "_PARTS_FROM", 2)
    parts = tiny(**options).fit(*related).predict_proba(related[0])
    np.testing.assert_allclose(parts, whole, atol=1e-4)
    clf = tiny(**options | {"relation_loss": 0.1})
    with torch.autocast("cpu", torch.bfloat16):
        assert np.isfinite(clf.fit(*related).history_[-1]["train_loss"])


def test_every_epoch_trains_with_dropout_and_is_judged_without(related):
    seen = []

    class Modes(Callback):
        def on_batch_end(self, net, training=False, **kwargs):
            modules = [*net.module_.modules(), *net.criterion_.modules()]
            seen.append((training, {module.training for module in modules}))

        def on_batch_begin(self, net, **kwargs):
            net.module_.encoder.train(not net.module_.encoder.training)  # it is set anew

    tiny(callbacks=[Modes()]).fit(*related)
    assert {training for training, _ in seen} == {True, False}
    assert all(modes == {training} for training, modes in seen)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_nets_are_restored_from_copies_and_pickles(related, again):
    clf = tiny(max_epochs=1).fit(*related)
    rows, other = clf._encoded(related[0]).tokens, again(clf.net_)
    np.testing.assert_array_equal(other.label_logits(rows), clf.net_.label_logits(rows))
    assert other.architecture == clf.net_.architecture == "mrmp"
    assert [epoch["train_loss"] for epoch in other.history] == [
        epoch["train_loss"] for epoch in clf.history_
    ]


def test_a_net_keeps_no_rows_of_its_training(related):
    net = tiny(max_epochs=1).fit(*related).net_
    assert net.train_split is None
    assert net.callbacks_ == []
    assert not net.optimizer_.state
    assert all(weight.grad is None for weight in net.module_.parameters())
    assert all("batches" not in epoch for epoch in net.history)


def test_whole_epochs_are_counted(related):
    net = tiny(max_epochs=2).fit(*related).net_
    assert net.n_epochs_done == 2
    del net.history[-1]["train_loss"]  # as in an epoch that was interrupted
    assert net.n_epochs_done == 1
