"""Weights of a stranger's file and the torch module that is made for them.

A module is first made in outline, without memory and never with more weights than the file has; and
weights are put only into a module that has exactly their names, shapes and dtypes. Knows torch.
"""

import threading
from contextlib import contextmanager

import numpy as np
import torch
from torch.nn.modules.module import register_module_parameter_registration_hook

from sklearn_mrmp._host.torch_state import float32_default
from sklearn_mrmp._model_files.part import require

_MAX_WEIGHTS = 10_000


@contextmanager
def in_outline(weights):
    """Make a module without memory, and only if it needs no more weights than these.

    Parameters
    ----------
    weights : object
        Out of a file: should be arrays by their names.
    """
    require(isinstance(weights, dict) and len(weights) <= _MAX_WEIGHTS, "weights of the network")
    require(all(type(weight) is np.ndarray for weight in weights.values()), "weights that are not")
    with float32_default(), torch.device("meta"), at_most(len(weights)):
        yield


@contextmanager
def at_most(n_weights):
    """Refuse to make a module with more weights than this, in this thread."""
    thread, n_made = threading.get_ident(), 0

    def count(module, name, parameter):
        nonlocal n_made
        if threading.get_ident() == thread:
            n_made += parameter is not None
            require(n_made <= n_weights, "number of layers and weights")

    handle = register_module_parameter_registration_hook(count)
    try:
        yield
    finally:
        handle.remove()


def check_weights(module, weights, dtype=None):
    """Require the names, shapes and dtypes of a module's own weights.

    Parameters
    ----------
    module : torch.nn.Module
        The module, in outline.
    weights : dict of str to ndarray
        Out of a file.
    dtype : dtype, default=None
        What all of them must have; None is what the module has.
    """
    expected = dict(module.named_parameters())
    strange = sorted(weights.keys() ^ expected.keys())
    require(not strange, f"weights and the network's own, {strange!r:.100}")
    for name, parameter in expected.items():
        weight, wanted = weights[name], _numpy_dtype(parameter) if dtype is None else dtype
        same = weight.shape == tuple(parameter.shape) and weight.dtype == wanted
        shown = f"{wanted} {tuple(parameter.shape)}"
        require(same, f"{name} is {weight.dtype} {weight.shape}, not {shown}")


def _numpy_dtype(tensor):
    return torch.empty(0, dtype=tensor.dtype).numpy().dtype
