"""Dropout that looks its masks up in a table of random numbers.

`torch.nn.Dropout` draws a full random number for each entry; on a CPU that was a fifth of a
training step, and drawing a byte for each still a tenth. Leaf module: torch alone.
"""

import torch
from torch import nn

_BYTES_PER_DRAW = 8
# A table has this many times the entries of a mask, within these bounds (4 and 64 MB).
_MASKS_PER_TABLE = 4
_TABLE_BOUNDS = (2**20, 2**24)
# Where the bytes of all tables start; which part of them a mask is depends on the caller's seed.
_TABLE_SEED = 20_220_505


class ByteDropout(nn.Module):
    """Set entries to zero with probability `rate` while training, and scale up the others.

    The rate is rounded to a multiple of 1/256, and the scale goes with the rounded rate, so the
    expectation is exact for masks that are drawn. On a CPU a mask of float32 numbers is a part,
    from a random entry on, of a table of a million and more, whose mean is 1 but for a few
    thousandths; larger ones than 8 million, and others, are drawn.

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
        scale = torch.tensor(self._scale, dtype=x.dtype).item()
        return _DroppedRelu.apply(x, self._factor(x), scale)

    @property
    def _is_off(self):
        return not self.training or self.cut == 0

    @property
    def _scale(self):
        return 256 / (256 - self.cut)

    def _factor(self, x):
        """Draw zeros and scales in the shape of `x`; they are not to be written to."""
        n_entries = x.numel()
        size = table_size(n_entries)
        if x.device.type != "cpu" or x.dtype != torch.float32 or not size:
            factor = torch.empty(x.shape, dtype=x.dtype, device=x.device)
            return _fill_with_factors(factor, self.cut, self._scale)
        start = int(torch.randint(size - n_entries + 1, (), device="cpu"))
        table = _table(self.cut, self._scale, size)
        return table[start : start + n_entries].view(x.shape)

    def extra_repr(self):
        """Show the rate."""
        return f"rate={self.cut / 256:.3f}"


def _fill_with_factors(factor, cut, scale, generator=None):
    """Overwrite a tensor with zeros, where a random byte is below `cut`, and scales."""
    n_draws = -(-factor.numel() // _BYTES_PER_DRAW)
    draws = torch.empty(n_draws, dtype=torch.int64, device=factor.device)
    # All 64 bits, not only positive numbers.
    draws.random_(torch.iinfo(torch.int64).min, None, generator=generator)
    bytes_drawn = draws.view(torch.uint8)[: factor.numel()].view(factor.shape)
    torch.ge(bytes_drawn, cut, out=factor)  # 0 or 1 as floats at once, not over booleans
    return factor.mul_(scale)


def table_size(n_entries):
    """Entries of the table for a mask: a power of two, so that few sizes occur.

    Parameters
    ----------
    n_entries : int
        Entries of the mask.

    Returns
    -------
    size : int
        0 for a mask that is too large for a table.

    Examples
    --------
    >>> table_size(1000), table_size(1_000_000), table_size(100_000_000)
    (1048576, 4194304, 0)
    """
    smallest, largest = _TABLE_BOUNDS
    if n_entries > largest // 2:
        return 0
    return min(max(2 ** (_MASKS_PER_TABLE * n_entries - 1).bit_length(), smallest), largest)


# Factors by `cut`, the last ones used; a larger table begins with the entries of a smaller one.
_tables = {}
_MOST_TABLES = 2


def _table(cut, scale, size):
    """Return a table of at least `size` factors, made when first needed."""
    table = _tables.get(cut)
    if table is None or len(table) < size:
        generator = torch.Generator(device="cpu").manual_seed(_TABLE_SEED)
        with torch.inference_mode(False):  # whoever asks first, training has to remember it
            table = torch.empty(size, dtype=torch.float32, device="cpu")
            _fill_with_factors(table, cut, scale, generator)
        for old in list(_tables)[: 1 - _MOST_TABLES]:  # a search over rates would fill the memory
            _tables.pop(old, None)
        _tables[cut] = table
    return table


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
