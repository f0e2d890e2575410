"""Dropout that draws a byte for each entry.

`torch.nn.Dropout` draws a full random number for each entry; on a CPU a whole training took half as
long again with it. Leaf module: torch alone.
"""

import torch
from torch import nn

_BYTES_PER_DRAW = 8


class ByteDropout(nn.Module):
    """Set entries to zero with probability `rate` while training, and scale up the others.

    The rate is rounded to a multiple of 1/256, and the scale goes with the rounded rate, so that
    the expectation is exact.

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
        self.cut = min(round(rate * 256), 255)  # bytes below it are dropped

    def forward(self, x):
        """Map any shape to the same shape."""
        return x if self._is_off else x * self._factor(x)

    def after_relu(self, x):
        """Return ``self(relu(x))``, keeping one tensor for the backward pass instead of three.

        Without gradients `x` is overwritten.
        """
        if self._is_off:
            # In place on a view, as linear layers return, costs the backward pass two copies.
            return torch.relu(x) if torch.is_grad_enabled() else torch.relu_(x)
        # In half precision the factor's scale is a rounded one; gradients have to have the same.
        scale = torch.tensor(self._scale, dtype=x.dtype, device="cpu").item()
        return _DroppedRelu.apply(x, self._factor(x), scale)

    @property
    def _is_off(self):
        return not self.training or self.cut == 0

    @property
    def _scale(self):
        return 256 / (256 - self.cut)

    def _factor(self, x):
        """Draw zeros, where a random byte is below the cut, and scales, in the shape of `x`."""
        factor = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        n_draws = -(-factor.numel() // _BYTES_PER_DRAW)
        draws = torch.empty(n_draws, dtype=torch.int64, device=factor.device)
        draws.random_(torch.iinfo(torch.int64).min, None)  # all 64 bits
        bytes_drawn = draws.view(torch.uint8)[: factor.numel()].view(factor.shape)
        torch.ge(bytes_drawn, self.cut, out=factor)  # 0 or 1 as floats at once, not over booleans
        return factor.mul_(self._scale)

    def extra_repr(self):
        """Show the rate."""
        return f"rate={self.cut / 256:.3f}"


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
