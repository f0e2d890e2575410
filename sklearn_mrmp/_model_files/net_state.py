"""The fitted network in a model file: how it was made, its weights, and its history.

Weights are copied only into a network that has exactly their names, shapes and dtypes, and that
network is made only after its sizes were compared with the weights that are really in the file.
What follows from the label graph (the buffers of its operators) is made of the graph, not read.
"""

import inspect

import numpy as np
import scipy.sparse as sp
import torch
from skorch.history import History

from sklearn_mrmp._host.torch_state import seeded_torch
from sklearn_mrmp._model_files.own_hooks import plain_history, require
from sklearn_mrmp._network.batches import TokenBatches
from sklearn_mrmp._network.net import MrMPNet
from sklearn_mrmp.nn import EagerAdamW, MrMPLoss, MrMPModule

# Arguments of the module that only say where training starts.
_START_ONLY = ("prior", "trained_tokens")
# Arguments whose sizes depend on the data of a graph; they are checked on their own.
_RELATIONS = "relations"
_COUNTS = (
    "n_tokens",
    "n_labels",
    "d_model",
    "n_heads",
    "d_inner",
    "n_encoder_layers",
    "n_relation_layers",
    "n_decoder_layers",
)
_CHOICES = {
    "architecture": ("default", "paper"),
    "composition": ("sum", "sub", "mult"),
    "values": (False, True),
    "positions": (False, True),
}
# Settings of training, kept so that ``net_`` tells how it was trained.
_SETTINGS = (
    "lr",
    "max_epochs",
    "batch_size",
    "verbose",
    "criterion__weight",
    "optimizer__weight_decay",
    "iterator_train__feature_dropout",
)
_MAX_WEIGHTS = 10_000
_MAX_RELATIONS = 64


def take_net(net):
    """Parameters and weights of a fitted net, as plain values and arrays."""
    known = vars(net)
    arguments = {
        name.removeprefix("module__"): value
        for name, value in known.items()
        if name.startswith("module__")
    }
    relations = arguments.pop(_RELATIONS, None)
    params = {
        "module": {k: v for k, v in arguments.items() if k not in _START_ONLY},
        "relations": relations and {name: _to_csr(A) for name, A in relations.items()},
        "settings": {name: known[name] for name in _SETTINGS if name in known},
        "device": str(net.device),
        "history": plain_history(net.history),
        "interrupted": bool(net.interrupted_),
    }
    weights = {
        name: weight.detach().cpu().numpy() for name, weight in net.module_.named_parameters()
    }
    return params, {"weights": weights}


def _to_csr(adjacency):
    coo = adjacency.detach().cpu().to_sparse_coo().coalesce()
    places = tuple(coo.indices().numpy())
    return sp.csr_array((coo.values().numpy(), places), shape=tuple(coo.shape))


def _to_tensor(adjacency):
    coo = adjacency.tocoo()
    places = torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64))
    weights = torch.from_numpy(coo.data.astype(np.float32))
    return torch.sparse_coo_tensor(places, weights, coo.shape, check_invariants=False).coalesce()


def make_net(params, fitted):
    """Fitted net of what `take_net` returned, on the device it was on if there is one.

    Parameters
    ----------
    params : dict
        How the net was made, out of a file.
    fitted : dict
        The weights.

    Returns
    -------
    net : MrMPNet
    """
    names = {"module", "relations", "settings", "device", "history", "interrupted"}
    require(params.keys() == names and fitted.keys() == {"weights"}, "a network")
    arguments, relations, weights = params["module"], params["relations"], fitted["weights"]
    _check_arguments(arguments)
    _check_weights(weights)
    _check_relations(arguments, relations)
    _check_sizes(arguments, relations or {}, weights)
    net = _build(params, {name: _to_tensor(A) for name, A in (relations or {}).items()})
    _copy_weights(net.module_, weights)
    net.history_ = History(_checked_history(params["history"]))
    net.interrupted_ = params["interrupted"] is True
    return net


def _check_arguments(arguments):
    require(isinstance(arguments, dict), "arguments of the network")
    known = inspect.signature(MrMPModule).parameters.keys() - {*_START_ONLY, _RELATIONS}
    strange = arguments.keys() - known
    require(not strange, f"the network has no argument {sorted(strange)!r:.100}")
    for name in _COUNTS:
        least = 0 if name in ("n_encoder_layers", "n_tokens") else 1
        count = arguments.get(name)
        require(type(count) is int and count >= least, f"{name}={count!r:.50}")
    for name, choices in _CHOICES.items():
        choice = arguments.get(name, choices[0])
        require(type(choice) is type(choices[0]) and choice in choices, f"{name}={choice!r:.50}")


def _check_weights(weights):
    require(isinstance(weights, dict) and len(weights) <= _MAX_WEIGHTS, "weights of the network")
    require(all(type(weight) is np.ndarray for weight in weights.values()), "weights that are not")


def _check_relations(arguments, relations):
    if relations is None:
        return
    require(isinstance(relations, dict) and len(relations) <= _MAX_RELATIONS, "relations")
    square = (arguments["n_labels"],) * 2
    for name, adjacency in relations.items():
        require(type(adjacency) is sp.csr_array and adjacency.shape == square, f"relation {name!r}")
        require(bool(np.isfinite(adjacency.data).all()), f"weights of relation {name!r}")


def _check_sizes(arguments, relations, weights):
    """Compare the sizes the network will have with the weights there are, allocating nothing."""
    depths = (arguments[name] for name in _COUNTS if name.endswith("layers"))
    require(max(depths) <= len(weights), "number of layers and weights")
    with torch.device("meta"):  # shapes without memory
        outline = MrMPModule(**arguments)
    for name, weight in outline.named_parameters():
        _check_weight(name, weight, weights)
    square = (arguments["d_model"],) * 2
    for layer in range(arguments["n_relation_layers"] if relations else 0):
        for transform in range(len(relations)):
            name = f"label_relations.layers.{layer}.transforms.{transform}.weight"
            require(name in weights and weights[name].shape == square, f"shape of {name}")


def _check_weight(name, expected, weights):
    require(name in weights, f"the network has no weight {name}")
    weight = weights[name]
    same = weight.shape == tuple(expected.shape) and weight.dtype == _numpy_dtype(expected)
    require(same, f"{name} is {weight.dtype} {weight.shape}, not {tuple(expected.shape)}")


def _numpy_dtype(tensor):
    return torch.empty(0, dtype=tensor.dtype).numpy().dtype


def _build(params, relations):
    """Make an initialised net, with weights still to come."""
    settings = params["settings"]
    require(isinstance(settings, dict) and settings.keys() <= set(_SETTINGS), "settings")
    device = _present_device(params["device"])
    arguments = {f"module__{name}": value for name, value in params["module"].items()}
    net = MrMPNet(
        module=MrMPModule,
        **arguments,
        module__relations=relations or None,
        criterion=MrMPLoss,
        criterion__relations=relations or None,
        optimizer=EagerAdamW,
        optimizer__foreach=True,
        iterator_train=TokenBatches,
        iterator_valid=TokenBatches,
        train_split=None,
        callbacks=None,
        device=device,
        **settings,
    )
    with seeded_torch(0, device):  # initial weights are drawn, and then replaced
        net.initialize()
    net.forget_training()
    return net


def _present_device(name):
    """`name`, or the CPU where this machine has no such device."""
    kind, _, index = name.partition(":") if isinstance(name, str) else ("", "", "")
    require(kind in ("cpu", "cuda", "mps") and (not index or index.isdigit()), "device")
    if kind == "cuda" and torch.cuda.device_count() > int((index or "0")[:9]):
        return name
    if kind == "mps" and torch.backends.mps.is_available():
        return name
    return "cpu"


def _copy_weights(module, weights):
    """Copy the weights in; names, shapes and dtypes must be those of the network."""
    parameters = dict(module.named_parameters())
    strange = weights.keys() - parameters.keys()
    require(not strange, f"weights the network does not have, {sorted(strange)!r:.100}")
    with torch.no_grad():
        for name, parameter in parameters.items():
            _check_weight(name, parameter, weights)
            parameter.copy_(torch.from_numpy(weights[name]))


def _checked_history(history):
    require(isinstance(history, list), "history")
    require(all(type(epoch) is dict for epoch in history), "epochs of the history")
    return history
