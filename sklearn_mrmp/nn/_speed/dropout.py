"""Dropout that takes its masks from a table of random factors, on a CPU.

`torch.nn.Dropout` draws a full random number for each entry there; a whole training took half as
long again with it, and a fourteenth longer when a byte is drawn for each entry of each mask. Leaf
module: torch alone.
"""

from functools import lru_cache

import torch
from torch import nn
from torch.nn import functional as F

_BYTES_PER_DRAW = 8
# Entries of a table, 16 MB; masks of at most half of them are parts of it.
_TABLE_ENTRIES = 2**22
# Which part a mask is depends on the caller's seed; what the table holds does not.
_TABLE_SEED = 20_220_505


class ByteDropout(nn.Module):
    """Set entries to zero with probability `rate` while training, and scale up the others.

    On a CPU the rate is rounded to a multiple of 1/256, and the scale goes with the rounded rate. A
    mask is a part, from a random entry on, of a table of four million factors, whose mean is 1 but
    for a thousandth; masks of more than two million entries are drawn. Elsewhere it is torch's own
    dropout.

    Parameters
    ----------
    rate : float
        Probability of zero, from 0 to below 1.

    Examples
    --------
    >>> import torch
    >>> dropout = ByteDropout(0.5)
    >>> dropout(torch.ones(1000)).unique().tolist()
    [0.0, 2.0]
    >>> dropout.eval()(torch.ones(2)).tolist()
    [1.0, 1.0]
    """

    def __init__(self, rate):
        super().__init__()
        self.rate = rate
        self.cut = min(round(rate * 256), 255)  # bytes below it are dropped

    def forward(self, x):
        """Map any shape to the same shape."""
        if not self.training or self.cut == 0:
            return x
        return x * self._factor(x) if x.device.type == "cpu" else F.dropout(x, self.rate)

    def after_relu(self, x):
        """Return ``self(relu(x))``, keeping one tensor for the backward pass instead of three.

        Without gradients `x` is overwritten.
        """
        if not self.training or self.cut == 0:
            # In place on a view, as linear layers return, costs the backward pass two copies.
            return torch.relu(x) if torch.is_grad_enabled() else torch.relu_(x)
        if x.device.type != "cpu":
            return F.dropout(torch.relu(x), self.rate)
        # In half precision the factor's scale is a rounded one; gradients have to have the same.
        scale = torch.tensor(self._scale, dtype=x.dtype).item()
        return _DroppedRelu.apply(x, self._factor(x), scale)

    @property
    def _scale(self):
        return 256 / (256 - self.cut)

    def _factor(self, x):
        """Return zeros and scales in the shape of `x`; they are not to be written to."""
        n_entries = x.numel()
        if n_entries > _TABLE_ENTRIES // 2:
            return _drawn_factors(n_entries, self.cut).view(x.shape).to(x.dtype)
        start = int(torch.randint(_TABLE_ENTRIES - n_entries + 1, (), device="cpu"))
        return _table(self.cut)[start : start + n_entries].view(x.shape).to(x.dtype)

    def extra_repr(self):
        """Show the rate."""
        return f"rate={self.rate}"


@lru_cache(maxsize=2)  # a search over rates would fill the memory
def _table(cut):
    """Table of factors for a cut, the same in every process."""
    generator = torch.Generator(device="cpu").manual_seed(_TABLE_SEED)
    with torch.inference_mode(False):  # whoever asks first, training has to remember it
        return _drawn_factors(_TABLE_ENTRIES, cut, generator)


def _drawn_factors(n_entries, cut, generator=None):
    """Draw zeros, where a random byte is below the cut, and scales, float32."""
    draws = torch.empty(-(-n_entries // _BYTES_PER_DRAW), dtype=torch.int64, device="cpu")
    draws.random_(torch.iinfo(torch.int64).min, None, generator=generator)  # all 64 bits
    factors = torch.empty(n_entries, dtype=torch.float32, device="cpu")
    # 0 or 1 as floats at once, not over booleans.
    torch.ge(draws.view(torch.uint8)[:n_entries], cut, out=factors)
    return factors.mul_(256 / (256 - cut))


class _DroppedRelu(torch.autograd.Function):
    """``relu(x) * factor``: where the result is positive, its slope is the scale."""

    @staticmethod
    def forward(ctx, x, factor, scale):
        """Compute it, and keep the result alone."""
        output = torch.relu(x).mul_(factor)
        ctx.save_for_backward(output)
        ctx.scale = scale
        return output

    @staticmethod
    def backward(ctx, gradient):
        """Pass gradients on where the result is positive."""
        (output,) = ctx.saved_tensors
        passed = torch.ops.aten.threshold_backward(gradient, output, 0.0)
        return passed.mul_(ctx.scale), None, None
