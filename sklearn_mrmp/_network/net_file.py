"""The fitted network in a model file: how it was made, its weights, and its history.

Weights are copied only into a network that has exactly their names, shapes and dtypes. It is first
made in outline, without memory, and never with more weights than the file has. What follows from
the label graph (the buffers of its operators) is made of the graph, not read. Knows architectures
by their seam; names no layer.
"""

import inspect

import numpy as np
import scipy.sparse as sp
import torch
from skorch.history import History

from sklearn_mrmp._host.torch_state import is_present, load_compiler, seeded_torch
from sklearn_mrmp._model_files.errors import ModelFileError
from sklearn_mrmp._model_files.part import Part, require
from sklearn_mrmp._model_files.torch_weights import check_weights, in_outline
from sklearn_mrmp._network.architecture import find_architecture, relation_tensors
from sklearn_mrmp._network.batches import TokenBatches
from sklearn_mrmp._network.net import MultilabelNet
from sklearn_mrmp._network.training import OPTIMIZER

# Arguments whose sizes depend on the data of a graph; they are checked on their own.
_RELATIONS = "relations"
# Settings of training, kept so that ``net_`` tells how it was trained.
_SETTINGS = (
    "lr",
    "max_epochs",
    "batch_size",
    "verbose",
    "optimizer__weight_decay",
    "iterator_train__feature_dropout",
)
_MAX_RELATIONS = 64


def take_net(net):
    """Parameters and weights of a fitted net, as plain values and arrays."""
    module, loss = (_arguments(net, prefix) for prefix in ("module__", "criterion__"))
    relations = module.pop(_RELATIONS, None)
    loss.pop(_RELATIONS, None)
    start_only = find_architecture(net.architecture).start_only
    params = {
        "architecture": net.architecture,
        "module": {name: value for name, value in module.items() if name not in start_only},
        "loss": loss,
        "relations": relations and {name: _to_csr(A) for name, A in relations.items()},
        "settings": {name: vars(net)[name] for name in _SETTINGS if name in vars(net)},
        "device": str(net.device),
        "history": plain_history(net.history),
    }
    weights = {
        name: weight.detach().cpu().numpy() for name, weight in net.module_.named_parameters()
    }
    return params, {"weights": weights}


def _arguments(net, prefix):
    return {k.removeprefix(prefix): v for k, v in vars(net).items() if k.startswith(prefix)}


def plain_history(history):
    """Numbers and texts of a training history; callbacks may have recorded anything."""
    plain = (bool, int, float, str, np.generic)
    return [
        {name: value for name, value in epoch.items() if isinstance(value, plain)}
        for epoch in history
    ]


def _to_csr(adjacency):
    coo = adjacency.detach().cpu().to_sparse_coo().coalesce()
    places = tuple(coo.indices().numpy())
    return sp.csr_array((coo.values().numpy(), places), shape=tuple(coo.shape))


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
    net : MultilabelNet
    """
    names = {"architecture", "module", "loss", "relations", "settings", "device", "history"}
    require(params.keys() == names and fitted.keys() == {"weights"}, "a network")
    architecture, weights = _checked_architecture(params["architecture"]), fitted["weights"]
    arguments = _checked_arguments(architecture, params["module"])
    if params["relations"] is not None:
        relations = _checked_relations(params["relations"], arguments["n_labels"])
        arguments = {**arguments, _RELATIONS: relations}
    load_compiler()
    with in_outline(weights):
        outline = architecture.module(**arguments)
    check_weights(outline, weights)
    net = _build(architecture, arguments, params)
    with torch.no_grad():
        for name, parameter in net.module_.named_parameters():
            parameter.copy_(torch.from_numpy(weights[name]))
    net.history_ = History(_checked_history(params["history"]))
    return net


def _checked_architecture(name):
    try:
        return find_architecture(name)
    except (KeyError, TypeError):
        raise ModelFileError(
            f"The file has a network of {name!r:.50}, which is not known."
        ) from None


def _checked_arguments(architecture, arguments):
    require(isinstance(arguments, dict), "arguments of the network")
    known = inspect.signature(architecture.module).parameters.keys()
    strange = arguments.keys() - (known - {*architecture.start_only, _RELATIONS})
    require(not strange, f"the network has no argument {sorted(strange)!r:.100}")
    require(type(arguments.get("n_labels")) is int, "number of labels of the network")
    require(isinstance(arguments.get("embedding"), dict), "embedding of the network")
    try:
        architecture.check_arguments(arguments)
    except ValueError as error:
        raise ModelFileError(f"Parts of the model do not fit each other: {error}.") from None
    return arguments


def _checked_relations(relations, n_labels):
    require(isinstance(relations, dict) and len(relations) <= _MAX_RELATIONS, "relations")
    for name, adjacency in relations.items():
        is_square = type(adjacency) is sp.csr_array and adjacency.shape == (n_labels, n_labels)
        require(is_square, f"relation {name!r}")
        require(bool(np.isfinite(adjacency.data).all()), f"weights of relation {name!r}")
    return relation_tensors(relations)


def _build(architecture, arguments, params):
    """Make an initialised net, with weights still to come."""
    settings, loss = params["settings"], params["loss"]
    require(isinstance(settings, dict) and settings.keys() <= set(_SETTINGS), "settings")
    loss_names = inspect.signature(architecture.loss).parameters.keys()
    require(isinstance(loss, dict) and loss.keys() <= loss_names, "settings of the loss")
    numbers = (*settings.values(), *loss.values())
    require(all(type(number) in (bool, int, float) for number in numbers), "settings")
    if _RELATIONS in loss_names:
        loss = {**loss, _RELATIONS: arguments.get(_RELATIONS)}
    device = _present_device(params["device"])
    net = MultilabelNet(
        architecture=architecture.name,
        module=architecture.module,
        **{f"module__{name}": value for name, value in arguments.items()},
        criterion=architecture.loss,
        **{f"criterion__{name}": value for name, value in loss.items()},
        optimizer=OPTIMIZER,
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
    return name if is_present(name) else "cpu"


def _checked_history(history):
    require(isinstance(history, list), "history")
    require(all(type(epoch) is dict for epoch in history), "epochs of the history")
    return history


MultilabelNet._model_part = Part(take=take_net, make=make_net)
