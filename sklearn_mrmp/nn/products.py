"""Attention by plain products, for CPUs: scores, softmax, weighted sum, and their gradients.

torch's fused kernel hardly gains by a second thread at the sizes of a batch, and takes the scores
of short rows one at a time. Shapes are those of the legend in `sklearn_mrmp.nn`. Leaf module: torch
alone.
"""

import torch
from torch.autograd.function import once_differentiable

# Score of padding: its weight is exactly zero beside any token's, in half precision, too.
NEVER = -3e4
# Plain products hold at most this many scores (16 MB).
_MOST_SCORES = 2**22
# Rows with fewer tokens are short: along so few numbers torch's softmax takes one at a time.
_SHORT = 16


def products_pay(q, k):
    """Whether plain products beat the fused kernel: on a CPU, for short rows or several threads.

    On two threads they took 0.6 to 1.0 of its time, on one thread 0.7 to 1.2, and for short rows
    0.2 to 1.0. They hold all scores, so long rows are left to the kernel.

    Parameters
    ----------
    q, k : Tensor of shape (B, H, Q, d/H) and (B, H, T, d/H)
        Queries and keys of the heads.

    Returns
    -------
    bool
    """
    n_tokens = k.shape[-2]
    is_suited = n_tokens < _SHORT or torch.get_num_threads() > 1
    n_scores = q.shape[:-1].numel() * n_tokens
    # Mixed precision, where the user has it, is the kernel's.
    is_plain = q.device.type == "cpu" and not torch.is_autocast_enabled("cpu")
    return is_plain and is_suited and n_scores <= _MOST_SCORES


def added_to_scores(mask, x):
    """Turn a mask into what it adds to scores, finite and in the dtype of `x`, (B, T) or None."""
    if mask is None:
        return None
    if mask.dtype == torch.bool:
        return x.new_zeros(mask.shape).masked_fill_(~mask, NEVER)
    return mask.to(x.dtype).clamp(min=NEVER)


def attend_by_products(queries, fused, mask, n_heads):
    """Attend from queries to tokens.

    Parameters
    ----------
    queries : Tensor of shape (B, Q, d) or (Q, d), or None
        Projected queries, also the same for all rows; None is self-attention, whose queries come
        first in `fused`.
    fused : Tensor of shape (B, T, 2 d) or (B, T, 3 d)
        Projected keys and values.
    mask : bool or float Tensor of shape (B, T) or None
        As for `MultiHeadAttention`.
    n_heads : int
        Number of heads.

    Returns
    -------
    Tensor of shape (B, Q, d)
        The heads' results side by side; zeros for a row without tokens.
    """
    added = added_to_scores(mask, fused)
    attend = _attend_to_short_rows if fused.shape[1] < _SHORT else _HeadProducts.apply
    out = attend(queries, fused, added, n_heads)
    if added is not None:
        has_tokens = (added > NEVER).any(dim=1)
        if not has_tokens.all():  # such a row has weighed its padding
            out = out * has_tokens[:, None, None]
    return out


def _attend_to_short_rows(queries, fused, added, n_heads):
    """Do the same with all heads in one product; `added` is (B, T) or None."""
    q, k, v = _queries_keys_values(queries, fused)
    n_rows, n_tokens, _ = k.shape
    q, k, v = (
        part.unflatten(-1, (n_heads, -1)).transpose(1, 2).flatten(0, 1)  # (B H, ·, d/H)
        for part in (q, k, v)
    )
    if added is None:
        added = q.new_zeros(1, n_tokens)
    else:
        added = added.repeat_interleave(n_heads, dim=0)
    out = torch.bmm(weights_on_tokens(q, k, added, scale=q.shape[-1] ** -0.5), v)
    return out.unflatten(0, (n_rows, n_heads)).transpose(1, 2).flatten(2)


def weights_on_tokens(queries, keys, added, n_heads=1, scale=1.0):
    """Weights of queries (n, Q, w) on keys (n, H T, w), softmax over each head's T: (n, Q, H T).

    `added`, (n, H T), is added to the scaled scores. Those of short rows are laid out by token and
    then by query, so that the softmax works on several queries at a time: 2 to 5 times as fast.
    """
    n_tokens = keys.shape[1] // n_heads
    if n_tokens < _SHORT:
        scores = torch.baddbmm(added[:, :, None], keys, queries.transpose(1, 2), alpha=scale)
        weights = torch.softmax(scores.unflatten(1, (n_heads, n_tokens)), dim=2)
        return weights.flatten(1, 2).transpose(1, 2)
    scores = torch.baddbmm(added[:, None], queries, keys.transpose(1, 2), alpha=scale)
    return torch.softmax(scores.unflatten(-1, (n_heads, n_tokens)), dim=-1).flatten(2)


def _queries_keys_values(queries, fused):
    """Parts (B, ·, d) of the projections."""
    if queries is None:
        return fused.chunk(3, dim=-1)
    if queries.dim() == 2:
        queries = queries.expand(len(fused), -1, -1)
    return queries, *fused.chunk(2, dim=-1)


class _HeadProducts(torch.autograd.Function):
    """Attention head by head, on parts of the projections as they lie in memory.

    Nothing is copied to bring a head's numbers together, on the way back neither: gradients of
    parts would otherwise each be padded to the whole. 1.03 to 1.06 times as fast a training step.
    There are no second derivatives.
    """

    @staticmethod
    def forward(ctx, queries, fused, added, n_heads):
        """Attend; `added` is (B, T) or None."""
        added = fused.new_zeros(1, fused.shape[1]) if added is None else added
        outputs, weights = [], []
        for q, k, v in _heads(n_heads, *_queries_keys_values(queries, fused)):
            weights.append(weights_on_tokens(q, k, added, scale=q.shape[-1] ** -0.5))
            outputs.append(torch.bmm(weights[-1], v))
        ctx.save_for_backward(queries, fused, *weights)
        return torch.cat(outputs, dim=-1)

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient):
        """Gradients of the projections."""
        queries, fused, *weights = ctx.saved_tensors
        parts = (gradient, *_queries_keys_values(queries, fused))
        gradients = [
            _head_gradients(P, *head, of_added=ctx.needs_input_grad[2])
            for P, head in zip(weights, _heads(len(weights), *parts), strict=True)
        ]
        dq, dk, dv, added = zip(*gradients, strict=True)
        added = sum(added) if ctx.needs_input_grad[2] else None
        if queries is None:
            return None, torch.cat([*dq, *dk, *dv], dim=-1), added, None
        dq = torch.cat(dq, dim=-1)
        if queries.dim() == 2:
            dq = dq.sum(dim=0)
        return dq, torch.cat([*dk, *dv], dim=-1), added, None


def _heads(n_heads, *parts):
    """Cut parts (B, ·, d) into those of each head."""
    return zip(*(part.chunk(n_heads, dim=-1) for part in parts), strict=True)


def _head_gradients(P, gradient, q, k, v, of_added):
    """Gradients of a head's queries, keys, values and mask, given its weights `P` (B, Q, T)."""
    scale, nothing = q.shape[-1] ** -0.5, q.new_zeros(1, 1, 1)
    dv = torch.bmm(P.transpose(1, 2), gradient)
    dP = torch.bmm(gradient, v.transpose(1, 2))
    dS = torch.ops.aten._softmax_backward_data(dP, P, -1, P.dtype)
    dq = torch.baddbmm(nothing, dS, k, beta=0, alpha=scale)
    dk = torch.baddbmm(nothing, dS.transpose(1, 2), q, beta=0, alpha=scale)
    return dq, dk, dv, dS.sum(dim=1) if of_added else None
