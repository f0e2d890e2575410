"""One pass of a trained network over new rows, at a low rate.

There are no held-out rows and no schedule: what the network has learned is moved a little towards
the new rows. Knows the net, the batches and torch.
"""

import copy

import numpy as np
import torch

from sklearn_mrmp._host.torch_state import seeded_torch
from sklearn_mrmp._network.batches import TokenBatches
from sklearn_mrmp._network.loop.callbacks import MAX_GRADIENT_NORM
from sklearn_mrmp._network.training import OPTIMIZER, weight_groups

# Share of the rate of training. Larger ones forget more than they learn (docs/dev/more_rows.md).
_RATE = 0.03


def after_pass(net, dataset, seed, encoder_lr=0.0):
    """Return a copy of a trained net that has seen some rows once.

    Parameters
    ----------
    net : MultilabelNet
        Trained; it stays as it is.
    dataset : TokenDataset
        The rows.
    seed : int
        Where their order and dropout come from.
    encoder_lr : float, default=0.0
        Rate at which an encoder inside the network was trained.

    Returns
    -------
    net : MultilabelNet
    """
    net = copy.deepcopy(net)
    with seeded_torch(seed, net.device):
        _pass(net, dataset, np.random.default_rng(seed), encoder_lr)
    net.module_.zero_grad(set_to_none=True)
    return net


def _pass(net, dataset, rng, encoder_lr):
    module, loss = net.module_.train(), net.criterion_.train()
    options = {"takes_labels": module.takes_labels}
    dropout = net.iterator_train__feature_dropout
    batches = TokenBatches(dataset, net.batch_size, rng, dropout, **options)
    groups = weight_groups(module, _RATE * net.lr, _RATE * encoder_lr)
    optimizer = OPTIMIZER(groups, weight_decay=net.optimizer__weight_decay, fused=True)
    for inputs, targets in batches:
        output = module(**{name: part.to(net.device) for name, part in inputs.items()})
        value = net.get_loss(output, targets)
        if not torch.isfinite(value):
            raise ValueError(
                f"The loss of the new rows became {value.item()}, and nothing was learned from "
                "them. Check X for extreme values."
            )
        optimizer.zero_grad()
        value.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), MAX_GRADIENT_NORM)
        optimizer.step()
    module.eval(), loss.eval()
