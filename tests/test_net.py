"""A network that predicts: label embeddings computed once, and batches in several threads."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest
import torch
from skorch.callbacks import Callback

from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._net import label_embeddings
from sklearn_mrmp._runtime import torch_threads
from sklearn_mrmp.nn import EagerAdamW, MrMPModule

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
def test_prediction_is_the_same_with_several_threads(related, shortlist):
    X, Y = related
    clf = MrMPClassifier(
        d_model=8, n_heads=2, max_epochs=1, label_shortlist=shortlist, random_state=0
    ).fit(X, Y)
    rows = clf._model.encoder.transform(X)
    with torch_threads(1):
        alone = clf.net_.label_logits(rows)
    with torch_threads(3):
        together = clf.net_.label_logits(rows)
        assert torch.get_num_threads() == 3
    np.testing.assert_allclose(together, alone, rtol=1e-4, atol=1e-5)
    assert (clf.set_params(n_threads=3).predict(X) == clf.set_params(n_threads=1).predict(X)).all()
