"""How a trained network learns to read labels that are told of rows.

Its weights stay as they are. What it gets in addition, `nn.ToldMessages`, is trained on random
tellings of its training rows, for a few epochs, so that rows of which nothing is told are predicted
as before, to the last bit. Knows the net, the batches and torch.
"""

from contextlib import contextmanager

import numpy as np
import torch
from torch.optim.lr_scheduler import OneCycleLR

from sklearn_mrmp._host.torch_state import seeded_torch
from sklearn_mrmp._network.batches import TokenBatches
from sklearn_mrmp.nn.loss import mean_cross_entropy
from sklearn_mrmp.nn.module import log_odds

_EPOCHS, _LR, _MAX_GRADIENT_NORM = 6, 1e-2, 1.0
# A network knows its training rows better than new ones: with all it knows of them nothing would be
# left for told labels to say. So much of it counts while these learn to speak.
_KNOWLEDGE = 0.5


def can_learn_told(net):
    """Whether a fitted net has a module that can read told labels, and a label graph with edges."""
    relations = vars(net).get("module__relations") or {}
    has_edges = any(bool(A.to_sparse_coo().coalesce().values().any()) for A in relations.values())
    return net.module_.can_read_told and has_edges


def learn_told(net, dataset, rate, training, seed):
    """Teach a fitted net to read told labels, in place.

    Parameters
    ----------
    net : MultilabelNet
        One that `can_learn_told`.
    dataset : TokenDataset
        The rows it was trained on.
    rate : float
        Mean share of a row's labels that are told.
    training : TrainingSettings
        Resolved: how it was trained.
    seed : int
        Where chance comes from.
    """
    with seeded_torch(seed, net.device):
        net.module_.read_told(net.module__relations)
        try:
            _train(net, dataset, rate, training, np.random.default_rng(seed))
        except BaseException:  # Ctrl-C, too: half of this training is worth nothing
            forget_told(net)
            raise
    net.module__reads_told = True  # so that files tell how the module was made


def forget_told(net):
    """Take from a net what reads told labels, in place."""
    net.module_.told_messages = None
    net.module__reads_told = False


def _train(net, dataset, rate, training, rng):
    module, learning = net.module_.eval(), list(net.module_.told_messages.parameters())
    batches = TokenBatches(
        dataset, training.batch_size, rng, training.feature_dropout, known_rate=rate
    )
    optimizer = torch.optim.AdamW(learning, lr=_LR, weight_decay=0.0, fused=True)
    schedule = OneCycleLR(optimizer, max_lr=_LR, total_steps=_EPOCHS * len(batches))
    prior = log_odds(net.module__prior, module.n_labels).to(net.device)
    with _frozen(module):
        with torch.no_grad():
            prepared = module.prepared()
        for _ in range(_EPOCHS):
            for batch, (targets, weights, *total) in batches:
                batch = {name: part.to(net.device) for name, part in batch.items()}
                weights = None if weights is None else weights.to(net.device)
                logits = _with_less_knowledge(module, {**batch, **prepared}, prior)
                loss = mean_cross_entropy(logits, targets.to(net.device), weights, *total)
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(learning, _MAX_GRADIENT_NORM)
                optimizer.step()
                schedule.step()


def _with_less_knowledge(module, batch, prior):
    """Logits given what is told, with a part of what the network knows without it."""
    candidates = batch.get("candidates")
    prior = prior if candidates is None else prior[candidates]
    with torch.no_grad():
        plain = module(**{name: part for name, part in batch.items() if name != "told"}).logits
    return module(**batch).logits - (1 - _KNOWLEDGE) * (plain - prior)


@contextmanager
def _frozen(module):
    """Let nothing but what reads told labels have gradients."""
    own = {id(weight) for weight in module.told_messages.parameters()}
    frozen = [w for w in module.parameters() if w.requires_grad and id(w) not in own]
    for weight in frozen:
        weight.requires_grad_(False)
    try:
        yield
    finally:
        for weight in frozen:
            weight.requires_grad_(True)
