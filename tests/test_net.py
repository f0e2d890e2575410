"""Label embeddings of a network that predicts: computed once, and anew when weights change."""

import copy
import gc
import pickle

import pytest
import torch

from sklearn_mrmp import _net
from sklearn_mrmp._net import label_embeddings
from sklearn_mrmp.nn import MrMPModule

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
    "change", [written_in_place, loaded, loaded_by_assignment, given_other_data, in_other_precision]
)
def test_computed_anew_when_weights_change(module, change):
    before = embeddings(module)
    change(module)
    after = embeddings(module)
    assert after is not before
    torch.testing.assert_close(after, module.label_relations())


def test_copies_and_pickles_do_not_carry_them(module):
    size = len(pickle.dumps(module))
    embeddings(module)
    assert len(pickle.dumps(module)) == size
    assert copy.deepcopy(module) not in _net._known_embeddings


def test_they_go_with_their_module(module):
    other = copy.deepcopy(module)
    embeddings(other)
    n_known = len(_net._known_embeddings)
    del other
    gc.collect()
    assert len(_net._known_embeddings) == n_known - 1
