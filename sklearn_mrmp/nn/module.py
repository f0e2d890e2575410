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
    """

    n_labels: int
    d_inner: int
    takes_labels = False

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
