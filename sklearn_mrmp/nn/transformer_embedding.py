"""Token ids of a pretrained encoder as token states, by the encoder itself, which learns as well.

`TransformerEmbedding` is the transformer, a layer norm and a projection to the network's width; it
is what `StateEmbedding` is for states that were computed before. The transformer is made by
whoever describes it. Leaf module: torch alone.
"""

import torch
from torch import nn
from torch.nn import functional as F

# Vectors of a layer's inner width that are kept while a layer's gradients are computed.
_INNER = 4


def half_precision(device):
    """Return the half precision that a device is fast with and that needs no scaled loss, or None.

    Parameters
    ----------
    device : torch.device
        Where to compute. CPUs are left alone: most of them emulate it, slowly.

    Returns
    -------
    dtype : torch.dtype or None

    Examples
    --------
    >>> half_precision(torch.device("cpu")) is None
    True
    """
    if device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False):
        return torch.bfloat16
    return None


class TransformerEmbedding(nn.Module):
    """A transformer that is trained with the network, and its states in the network's width.

    Parameters
    ----------
    source : object
        Has ``make()``, which returns a transformer of its own for each network; it is called with
        ``input_ids`` and ``attention_mask`` and returns ``last_hidden_state``. ``width`` is that of
        its states, ``window`` how many tokens it reads at once.
    d_model : int
        Width of the network.
    trained : Tensor, default=None
        Has no meaning here.
    """

    def __init__(self, source, d_model, *, trained=None):
        super().__init__()
        self.width, self.window = source.width, source.window
        self.transformer = source.make()
        self.norm = nn.LayerNorm(self.width)
        self.projection = nn.Linear(self.width, d_model)

    def forward(self, tokens):
        """Turn ids (B, T), which count from 1 since 0 is padding, into vectors (B, T, d).

        Each `window` tokens of a row are read on their own.
        """
        n_rows, n_tokens = tokens.shape
        window = min(self.window, n_tokens)
        n_windows = -(-n_tokens // window)
        windows = F.pad(tokens, (0, n_windows * window - n_tokens)).view(-1, window)
        states = self._states(windows).view(n_rows, n_windows * window, self.width)
        return self.projection(self.norm(states[:, :n_tokens]))

    def _states(self, windows):
        """Read windows; those without a token stay zeros: no transformer bears them."""
        mask = windows > 0
        filled = mask.any(dim=1)
        states = self.norm.weight.new_zeros(*windows.shape, self.width)
        if filled.any():
            ids = (windows[filled] - 1).clamp(min=0)
            states[filled] = self._read(ids, mask[filled].long()).to(states.dtype)
        return states

    def _read(self, ids, mask):
        # Only in training: what is predicted does not depend on what a device is fast with.
        dtype = half_precision(ids.device) if self.training else None
        if dtype is None:
            return self.transformer(input_ids=ids, attention_mask=mask).last_hidden_state
        with torch.autocast(ids.device.type, dtype=dtype):
            return self.transformer(input_ids=ids, attention_mask=mask).last_hidden_state

    @property
    def widest(self):
        """Width of the transformer's widest layer."""
        linear = (part for part in self.transformer.modules() if isinstance(part, nn.Linear))
        return max((part.out_features for part in linear), default=self.width)

    def activation_numbers(self, batch_size, row_length):
        """Estimate how many numbers a training step keeps: a state per layer, and one layer."""
        depth = getattr(self.transformer.config, "num_hidden_layers", 1)
        return batch_size * row_length * (depth * self.width + _INNER * self.widest)
