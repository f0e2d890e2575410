"""Where a training starts that goes on from the weights of an earlier one.

Knows the net, architectures by their seam, and how modules hand on their weights.
"""

import hashlib
from dataclasses import dataclass

import numpy as np
import torch

from sklearn_mrmp._network.net import MultilabelNet
from sklearn_mrmp.nn.carrying import carry_over

_PREFIX = "module__"
_WAY_OUT = "Give it the value that it had, or set warm_start=False to start anew."


@dataclass(frozen=True, eq=False)
class Start:
    """A trained network, from whose weights another one starts.

    Attributes
    ----------
    net : MultilabelNet
        The trained one.
    labels : int64 ndarray of shape (n_labels,)
        Number of each label there; -1 for a new one.
    """

    net: MultilabelNet
    labels: np.ndarray

    def continued(self, architecture, settings, arguments):
        """Return arguments of the module that is to start from here."""
        return architecture.continued(settings, arguments, self.net.module_, self.labels)

    def begin(self, net):
        """Put the weights into an initialised net."""
        try:
            carry_over(net.module_, self.net.module_, torch.from_numpy(self.labels))
        except ValueError as error:
            raise ValueError(
                f"warm_start=True cannot go on from the earlier fit: {error}. Set warm_start=False "
                "to start anew."
            ) from error


def made_with(net):
    """Return the arguments that the module of a fitted net was made with, by name."""
    return {
        name.removeprefix(_PREFIX): value
        for name, value in vars(net).items()
        if name.startswith(_PREFIX)
    }


def changed_sizes(architecture, settings, arguments):
    """Names of the settings by which a network differs from one whose weights it is to start from.

    Parameters
    ----------
    architecture : Architecture
        Of both.
    settings : Settings
        Of the new one.
    arguments : dict of str to object
        What the module of the other one was made with.

    Returns
    -------
    names : list of str
    """
    wanted = settings.as_dict()
    fixed = [name for name in wanted if name in arguments and name not in architecture.changeable]
    return [name for name in fixed if wanted[name] != arguments[name]]


def check_sizes_kept(architecture, settings, arguments):
    """Raise ValueError if there are such names; the parameters are those of `changed_sizes`."""
    for name in changed_sizes(architecture, settings, arguments):
        raise ValueError(
            f"warm_start=True goes on from a network with {name}={arguments[name]!r}, but {name} "
            f"is now {getattr(settings, name)!r}. {_WAY_OUT}"
        )


def weights_digest(nets):
    """SHA-256 of the weights of some networks, as an array, by which checkpoints know them.

    Parameters
    ----------
    nets : list of MultilabelNet
        Fitted.

    Returns
    -------
    digest : ndarray of uint8
    """
    digest = hashlib.sha256()
    for net in nets:
        for name, weight in net.module_.named_parameters():
            digest.update(f"{name}{tuple(weight.shape)}".encode())
            digest.update(np.ascontiguousarray(weight.detach().cpu().numpy()).data)
    return np.frombuffer(digest.digest(), dtype=np.uint8)
