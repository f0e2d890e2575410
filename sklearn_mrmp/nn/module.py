"""What a network is to the rest of the package: the base class, and what it returns.

Shapes are those of the legend in `sklearn_mrmp.nn`. Leaf module: torch alone.
"""

from typing import Any, NamedTuple

import torch
from torch import nn


class NetworkOutput(NamedTuple):
    """What a network returns for a batch.

    Attributes
    ----------
    logits : Tensor of shape (B, L) or (B, k)
        Of all labels, or of each row's candidates.
    extras : object
        Whatever its loss wants besides, such as label embeddings.
    """

    logits: torch.Tensor
    extras: Any = None


class LabelModule(nn.Module):
    """Base of the networks: batches of rows in, logits of labels out.

    A subclass has a ``forward`` that takes what its embedding takes (``tokens``, ``values``, …),
    ``mask``, ``candidates`` and whatever `prepared` returns, all by name, and returns a
    `NetworkOutput`.

    Attributes
    ----------
    n_labels : int
        Number of labels, L.
    d_inner : int
        Width of its widest layer; prediction batches are as large as this permits.
    takes_labels : bool
        Whether ``forward`` wants the true labels of training rows, as ``targets``.
    finds_sets : bool
        Whether it has ``predict_sets``, which takes what ``forward`` takes and returns the most
        probable label sets of a batch, bool (B, L).
    can_read_told : bool
        Whether it has ``read_told(relations)``, which adds a module ``told_messages``, after which
        ``forward`` takes the labels that are told of each row, as ``told``.
    """

    n_labels: int
    d_inner: int
    takes_labels = False
    finds_sets = False
    can_read_told = False

    @property
    def reads_told(self):
        """Whether ``forward`` takes known labels of rows, as ``told``."""
        return getattr(self, "told_messages", None) is not None

    def prepared(self):
        """Return what is the same for all batches of a prediction, by the names ``forward`` has."""
        return {}

    def prepared_from(self):
        """Return the weights that alone decide what `prepared` returns, a list of tensors, or None.

        Prediction keeps what was prepared as long as these weights are the same; with None it is
        computed in each call.
        """
        return None

    def label_embeddings(self):
        """Return one vector per label, (L, d), or None if the network has none."""
        return None

    def predict_logits(self, **batch):
        """Logits of a batch in prediction; a network that searches for label sets overrides it."""
        return self(**batch).logits


def log_odds(prior, n_labels):
    """Logits of label frequencies (L,), finite also for labels never or always present.

    Parameters
    ----------
    prior : Tensor of shape (L,) or None
        Share of training rows with each label; None is one half.
    n_labels : int
        Number of labels, L.
    """
    if prior is None:
        return torch.zeros(n_labels)
    return torch.logit(prior.to(torch.float32), eps=1e-4)
