"""Dropout that takes a random byte for each entry, on a CPU.

`torch.nn.Dropout` draws a full random number for each entry there; a whole training took half as
long again with it. Leaf module: torch and numpy.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

_BYTES_PER_DRAW = 8


class ByteDropout(nn.Module):
    """Set entries to zero with probability `rate` while training, and scale up the others.

    On a CPU the rate is rounded to a multiple of 1/256, and the scale goes with the rounded rate,
    so that the expectation is exact. Elsewhere it is torch's own dropout.

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
        """Draw zeros, where a random byte is below the cut, and scales, in the shape of `x`."""
        # numpy's generator is several times as fast as torch's, which gives it its seed.
        generator = np.random.SFC64(int(torch.randint(2**62, (), device="cpu")))
        draws = generator.random_raw(-(-x.numel() // _BYTES_PER_DRAW))
        kept = draws.view(np.uint8)[: x.numel()] >= self.cut
        return torch.from_numpy(kept * np.float32(self._scale)).view(x.shape).to(x.dtype)

    def extra_repr(self):
        """Show the rate."""
        return f"rate={self.rate}"


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
