"""Device placement without a GPU: each architecture under torch's fake tensors.

A tensor that was left on the CPU fails here as it would on a GPU: operations on tensors of two
devices raise. A build of torch without CUDA cannot pretend that device, so one is made up, as torch
lets other vendors do.
"""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional as F
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from sklearn_mrmp import label_graph
from sklearn_mrmp._input.features import FeatureInput
from sklearn_mrmp._input.rows import EncodedRows
from sklearn_mrmp._input.sequence import SequenceInput
from sklearn_mrmp._input.states import StateInput
from sklearn_mrmp._network.architecture import NetworkData, find_architecture
from sklearn_mrmp._network.batches import TokenBatches, TokenDataset
from sklearn_mrmp._network.net import MultilabelNet
from sklearn_mrmp._network.training import OPTIMIZER
from sklearn_mrmp._voters.shortlist import Shortlist
from sklearn_mrmp.nn import NetworkOutput
from tests.seams import mean_linear

N_LABELS = 6


def features():
    rng = np.random.default_rng(0)
    X = sp.random_array((12, 9), density=0.4, random_state=rng, format="csr")
    return EncodedRows.of(FeatureInput(weighted=True), X).fit_encoder()


def sequences():
    rng = np.random.default_rng(0)
    X = np.sort(rng.integers(0, 8, size=(12, 5)), axis=1)[:, ::-1].copy()
    return EncodedRows.of(SequenceInput(weighted=True), X).fit_encoder()


def states():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(row % 4, 5)).astype(np.float16) for row in range(12)]
    encoder = StateInput()
    return EncodedRows.of(encoder, encoder.checked(X)).fit_encoder()


def settings_of(name):
    if name == "mean_linear":
        return mean_linear.MeanLinearSettings(d_model=4)
    if name.startswith("lamp"):
        sizes = {
            "d_model": 4,
            "d_inner": 6,
            "n_heads": 2,
            "n_encoder_layers": 1,
            "n_decoder_layers": 2,
        }
        graphs = {"lamp-full": "full"}
        return find_architecture("lamp").settings(
            **sizes, dropout=0.1, relations=graphs.get(name, "chi2")
        )
    if name.startswith("mlrnn"):
        orders = {"mlrnn": "f2r", "mlrnn-free": "free"}
        sizes = {"d_model": 4, "d_inner": 6, "d_label": 3, "beam_width": 3}
        return find_architecture("mlrnn").settings(**sizes, dropout=0.1, label_order=orders[name])
    if name == "mpvae":
        return find_architecture("mpvae").settings(d_model=4, d_inner=6, dropout=0.1)
    variant = {"mrmp": "default", "mrmp-paper": "paper"}[name]
    architecture = find_architecture("mrmp")
    sizes = architecture.automatic({}, "features") | {"d_model": 4, "architecture": variant}
    return architecture.settings.from_params(sizes)


@cache
def made_up_device():
    """Name of a device that only fake tensors can be on, with gradients."""
    _setup_privateuseone_for_python_backend("made_up")
    return "made_up:0"


def moved(module, fake, device):
    """Do what ``module.to(device)`` does: move parameters and buffers, and nothing else."""
    for part in module.modules():
        for name, weight in list(part.named_parameters(recurse=False)):
            on_device = fake.from_tensor(weight.detach()).to(device)
            part.register_parameter(name, torch.nn.Parameter(on_device))
        for name, constant in list(part.named_buffers(recurse=False)):
            part.register_buffer(name, fake.from_tensor(constant).to(device))
    return module


def network(name, rows, shortlisted):
    """Module, loss and training batches of an architecture, all on the CPU."""
    Y = sp.csr_array((np.random.default_rng(1).random((12, N_LABELS)) < 0.4).astype(np.int32))
    candidates = np.tile(np.arange(3, dtype=np.int32), (12, 1))
    shortlist = Shortlist(candidates, N_LABELS) if shortlisted else None
    dataset = TokenDataset(rows.tokens, Y, shortlist)
    architecture, settings = find_architecture(name.partition("-")[0]), settings_of(name)
    data = NetworkData.of(rows.encoder, dataset, label_graph(Y, alpha=0.5))
    module = architecture.module(**architecture.module_arguments(settings, data))
    loss = architecture.loss(**architecture.loss_arguments(settings, data))
    options = {"feature_dropout": 0.3, "takes_labels": module.takes_labels}
    batches = TokenBatches(dataset, 4, np.random.default_rng(0), **options)
    return module.train(), loss.train(), list(batches)


def on(device, fake, **tensors):
    """Fake tensors like the given ones, moved to a device."""
    present = {name: tensor for name, tensor in tensors.items() if tensor is not None}
    return {name: fake.from_tensor(tensor).to(device) for name, tensor in present.items()}


def all_places(ended):
    """Numbers of all rows and places."""
    rows, places = (torch.arange(size, device=ended.device) for size in ended.shape)
    return rows.repeat_interleave(ended.shape[1]), places.repeat(ended.shape[0])


def plain_gru(gru, x, h=None):
    """Do what a recurrent layer does, gate by gate: (N, S, d) and (1, N, d') to the same."""
    h = x.new_zeros(len(x), gru.hidden_size) if h is None else h[0]
    states = []
    for step in x.unbind(dim=1):
        of_x = F.linear(step, gru.weight_ih_l0, gru.bias_ih_l0).chunk(3, dim=1)
        of_h = F.linear(h, gru.weight_hh_l0, gru.bias_hh_l0).chunk(3, dim=1)
        reset, update = (torch.sigmoid(of_x[gate] + of_h[gate]) for gate in range(2))
        h = update * h + (1 - update) * torch.tanh(of_x[2] + reset * of_h[2])
        states.append(h)
    return torch.stack(states, dim=1), h[None]


def test_the_plain_recurrent_layer_is_torchs():
    torch.manual_seed(0)
    gru, x, h = torch.nn.GRU(3, 4, batch_first=True), torch.randn(2, 5, 3), torch.randn(1, 2, 4)
    for plain, fused in zip(plain_gru(gru, x, h), gru(x, h), strict=True):
        torch.testing.assert_close(plain, fused)


@pytest.fixture(params=["made up", "cuda:0"])
def device(request):
    if request.param == "made up":
        return made_up_device()
    if torch.version.cuda is None:
        pytest.skip("a build of torch without CUDA cannot pretend it")
    return request.param


@pytest.mark.parametrize("shortlisted", [False, True])
@pytest.mark.parametrize("make_rows", [features, sequences, states])
@pytest.mark.parametrize(
    "name",
    ["mrmp", "mrmp-paper", "lamp", "lamp-full", "mlrnn", "mlrnn-free", "mpvae", "mean_linear"],
)
def test_training_and_prediction_stay_on_the_device(
    name, make_rows, shortlisted, device, monkeypatch
):
    """Forward, loss, backward, the optimiser's step, and what prediction computes."""
    # Fake tensors have no values, which say how many steps there are, and no fused recurrent layer.
    monkeypatch.setattr("sklearn_mrmp.nn.mlrnn._longest", lambda y: 2)
    monkeypatch.setattr("sklearn_mrmp.nn._recurrent.beam._live", all_places)
    monkeypatch.setattr(torch.nn.GRU, "forward", plain_gru)
    module, loss, batches = network(name, make_rows(), shortlisted)
    with FakeTensorMode(allow_non_fake_inputs=True) as fake:
        moved(module, fake, device), moved(loss, fake, device)
        optimizer = OPTIMIZER(module.parameters(), lr=2e-3)
        for inputs, (targets, weights) in batches:
            inputs = on(device, fake, **inputs)
            output = module(**inputs)
            value = loss(output, **on(device, fake, y_true=targets, weights=weights))
            value.backward()
            optimizer.step()
            assert {str(output.logits.device), str(value.device)} == {device}
        assert {str(weight.grad.device) for weight in module.parameters()} == {device}
        with torch.no_grad():
            prepared = module.eval().prepared()
            logits = module.predict_logits(**inputs, **prepared)
        assert {str(tensor.device) for tensor in (logits, *prepared.values())} == {device}


class Forgetful(torch.nn.Module):
    """A module with a constant that is no buffer."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))
        self.constant = torch.ones(3)

    def forward(self, x):
        return x * self.weight + self.constant


def test_a_tensor_left_on_the_cpu_is_found(device):
    module = Forgetful()
    with torch.no_grad(), FakeTensorMode(allow_non_fake_inputs=True) as fake:
        moved(module, fake, device)
        with pytest.raises(Exception, match=r"same device|two different devices"):
            module(**on(device, fake, x=torch.ones(3)))


class Elsewhere(torch.Tensor):
    """A tensor that remembers where it was moved to, and stays."""

    moves = []  # noqa: RUF012 - shared on purpose

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function is torch.Tensor.to:
            cls.moves.append(args[1])
            return args[0]
        return super().__torch_function__(function, types, args, kwargs or {})


def test_targets_and_weights_follow_the_logits_to_their_device():
    net = MultilabelNet(torch.nn.Identity, criterion=torch.nn.MSELoss)
    net.criterion_ = lambda output, targets, weights: (targets + weights).sum()
    logits = torch.zeros(2, 3, device="meta")
    targets, weights = (torch.ones(2, 3).as_subclass(Elsewhere) for _ in range(2))
    Elsewhere.moves.clear()
    net.get_loss(NetworkOutput(logits), (targets, weights))
    assert Elsewhere.moves == [logits.device] * 2
