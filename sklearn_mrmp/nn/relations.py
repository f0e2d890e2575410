"""A label relation as a linear operator: dense when small or full, sparse otherwise.

The graph enters the network only through these operators. They are constants: buffers that move
with the module and have no gradient. Leaf module: torch alone.
"""

import warnings
from dataclasses import dataclass
from functools import cache

import torch
from torch import nn
from torch.nn import functional as F

# Below this many labels a dense product is faster than a sparse one whatever the density.
_ALWAYS_DENSE_BELOW = 256
# From this share of non-zeros on, a dense product wins at any size.
_DENSE_FROM_DENSITY = 0.1


@cache
def _acknowledge_csr_beta():
    """Let torch say once, unheard, that CSR tensors are in beta: products are all we use."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        torch.sparse_csr_tensor([0, 0], [], [], (1, 1), check_invariants=False)


class _SparseProduct(torch.autograd.Function):
    """A @ x for constant sparse A, with Aᵀ at hand for the backward pass."""

    @staticmethod
    def forward(ctx, x, matrix, transpose):
        ctx.transpose = transpose
        return matrix @ x

    @staticmethod
    def backward(ctx, grad):
        return ctx.transpose @ grad.contiguous(), None, None


@dataclass(frozen=True, eq=False)
class RelationPart:
    """Some rows of a relation: what they receive, and from whom.

    Attributes
    ----------
    counts : int64 Tensor of shape (n_rows,)
        Entries of each row.
    columns : int64 Tensor of shape (n_entries,)
        Sending labels, or their places among those that are given to the call.
    weights : float Tensor of shape (n_entries,)
        Weights of the entries.
    """

    counts: torch.Tensor
    columns: torch.Tensor
    weights: torch.Tensor

    def __call__(self, x):
        """Map vectors (n, d) to (n_rows, d); columns are places in `x`."""
        starts = self.counts.cumsum(0) - self.counts
        weights = self.weights.to(x.dtype)
        return F.embedding_bag(self.columns, x, starts, mode="sum", per_sample_weights=weights)


class RelationOperator(nn.Module):
    """Multiply by a constant matrix given by its non-zero entries.

    Parameters
    ----------
    rows, columns : int64 Tensor of shape (n_entries,)
        Where the entries are; each place at most once.
    weights : float Tensor of shape (n_entries,)
        Their values.
    size : int
        The matrix is (size, size).

    Examples
    --------
    >>> import torch
    >>> operator = RelationOperator(torch.tensor([0]), torch.tensor([1]), torch.tensor([2.0]), 2)
    >>> operator(torch.tensor([[1.0], [10.0]]))    # row 0 receives twice row 1
    tensor([[20.],
            [ 0.]])
    """

    def __init__(self, rows, columns, weights, size):
        super().__init__()
        self.size = size
        weights = weights.to(torch.float32)
        n_entries = len(weights)
        self.mean_total = float(weights.sum()) / size
        self.is_dense = size < _ALWAYS_DENSE_BELOW or n_entries >= _DENSE_FROM_DENSITY * size**2
        if self.is_dense:
            matrix = weights.new_zeros(size, size)
            matrix[rows, columns] = weights
            self.register_buffer("matrix", matrix)
        else:
            self._register_csr("forward", rows, columns, weights)
            self._register_csr("backward", columns, rows, weights)

    def _register_csr(self, name, rows, columns, weights):
        """Keep a CSR matrix as three plain buffers, which every file format can hold."""
        order = torch.argsort(rows * self.size + columns)
        counts = torch.bincount(rows, minlength=self.size)
        starts = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        self.register_buffer(f"{name}_starts", starts)
        self.register_buffer(f"{name}_columns", columns[order])
        self.register_buffer(f"{name}_weights", weights[order])

    def _csr(self, name):
        _acknowledge_csr_beta()
        starts, columns, weights = (
            getattr(self, f"{name}_{part}") for part in ("starts", "columns", "weights")
        )
        size = (self.size, self.size)
        return torch.sparse_csr_tensor(starts, columns, weights, size, check_invariants=False)

    def forward(self, x):
        """Map label vectors (L, d) to (L, d)."""
        if self.is_dense:
            return self.matrix @ x
        return _SparseProduct.apply(x, self._csr("forward"), self._csr("backward"))

    def rows(self, chosen):
        """Return the chosen rows of the matrix.

        Parameters
        ----------
        chosen : int64 Tensor of shape (n_rows,)
            Row numbers.

        Returns
        -------
        part : RelationPart
            Its columns are those of the matrix.
        """
        if self.is_dense:
            places, columns = self.matrix[chosen].nonzero(as_tuple=True)
            counts = torch.bincount(places, minlength=len(chosen))
            return RelationPart(counts, columns, self.matrix[chosen[places], columns])
        begins = self.forward_starts[chosen]
        counts = self.forward_starts[chosen + 1] - begins
        # The entries of a row lie together in both: from `begins` on here, behind the rows before
        # it there.
        shifts = begins - (counts.cumsum(0) - counts)
        entries = shifts.repeat_interleave(counts)
        entries += torch.arange(len(entries), device=entries.device)
        return RelationPart(counts, self.forward_columns[entries], self.forward_weights[entries])


def edges(adjacency):
    """Non-zero entries of a dense or sparse square tensor.

    Returns
    -------
    rows, columns, weights : Tensor of shape (n_entries,)
    """
    sparse = adjacency.to_sparse_coo().coalesce()
    rows, columns = sparse.indices()
    present = sparse.values() != 0
    return rows[present], columns[present], sparse.values()[present]


def neighbourhoods(adjacency, aggregation, with_itself=True):
    """Operators of one relation: a single one when it is symmetric, else original and inverse.

    Parameters
    ----------
    adjacency : Tensor of shape (L, L)
        Dense or sparse; entry [i, j] is the weight of the edge from label i to label j.
    aggregation : {"sum", "mean"}
        How a label's messages are put together.
    with_itself : bool, default=True
        Whether a label is a neighbour of itself, over the original edges.

    Yields
    ------
    RelationOperator
    """
    size = adjacency.shape[0]
    sources, targets, weights = edges(adjacency)
    off_diagonal = sources != targets
    sources, targets, weights = (part[off_diagonal] for part in (sources, targets, weights))
    is_symmetric = _is_symmetric(sources, targets, weights, size)
    # Messages flow along edges: row = receiving label, column = sending label.
    original = targets, sources, weights
    if with_itself:
        itself = torch.arange(size, device=sources.device)
        ones = torch.ones(size, dtype=weights.dtype, device=weights.device)
        pairs = zip(original, (itself, itself, ones), strict=True)
        original = tuple(torch.cat(pair) for pair in pairs)
    yield _aggregator(*original, size, aggregation)
    if not is_symmetric:
        yield _aggregator(sources, targets, weights, size, aggregation)


def _is_symmetric(sources, targets, weights, size):
    forward = torch.argsort(sources * size + targets)
    backward = torch.argsort(targets * size + sources)
    return bool(
        (sources[forward] == targets[backward]).all()
        and (targets[forward] == sources[backward]).all()
        and (weights[forward] == weights[backward]).all()
    )


def _aggregator(rows, columns, weights, size, aggregation):
    if aggregation == "mean":
        totals = weights.new_zeros(size).index_add(0, rows, weights)
        weights = weights / totals[rows]
    return RelationOperator(rows, columns, weights, size)
