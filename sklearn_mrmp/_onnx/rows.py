"""The kinds of rows inside a graph: its inputs, and what network and linear voter read of them.

A kind is a class that declares the inputs of the model and has ``tokens``, the `TokenBatch` for the
network, and ``matrix``, the `MatrixRows` for the linear voter, each written when first asked for;
it is found by the name of the input kind. Knows the input kinds by their attributes, and numpy.
"""

from functools import cached_property

import numpy as np

from sklearn_mrmp._onnx.layers import TokenBatch
from sklearn_mrmp._onnx.matrix import MatrixRows, presented, scattered, squashed, unit_rows

# As in `_input.features`: bounds of standardised values, and the smallest share of a row.
_HUGE, _VALUE_BOUND, _SMALLEST_SHARE = 1e30, 5.0, 1e-2

_TEXTS = (
    "to_onnx cannot write a classifier of texts: a pretrained encoder and its tokenizer are not "
    "part of the model. Encode the texts yourself, with TextEncoder or what you serve it with, fit "
    "on the token states (input_type='states') or on vectors, and export that classifier."
)


def rows_of(op, encoder, sparse_rows=False):
    """Declare the inputs of a model.

    Parameters
    ----------
    op : GraphWriter
        Where to.
    encoder : input kind
        Fitted.
    sparse_rows : bool, default=False
        Whether rows of a matrix come as entries.

    Returns
    -------
    rows : object
        With ``tokens`` and ``matrix``.
    """
    if encoder.name == "text":
        raise ValueError(_TEXTS)
    if sparse_rows and encoder.name not in ("features", "vectors"):
        raise ValueError(
            f"sparse_rows=True is for rows of a feature matrix, but the classifier was fitted with "
            f"input_type={encoder.name!r}. Leave it out."
        )
    with op.scope("rows"):
        return _KINDS[encoder.name](op, encoder, sparse_rows)


class _FeatureRows:
    """`FeatureInput`: a token for each entry that tells training rows apart."""

    def __init__(self, op, encoder, sparse_rows):
        self.op, self.encoder = op, encoder
        self.matrix = _matrix(op, encoder.n_tokens_, sparse_rows)

    @cached_property
    def tokens(self):
        """Rows for the network."""
        with self.op.scope("tokens"):
            return _feature_tokens(self.op, self.encoder, self.matrix)


def _matrix(op, n_features, sparse_rows):
    """Declare a feature matrix: ``X``, or ``columns`` and ``values`` of its entries."""
    if not sparse_rows:
        return MatrixRows(op.input("X", np.float32, ("n_rows", n_features)), n_features)
    columns = op.input("columns", np.int64, ("n_rows", "n_entries"))
    return MatrixRows(op.input("values", np.float32, ("n_rows", "n_entries")), n_features, columns)


def _feature_tokens(op, encoder, matrix):
    x = matrix.values
    trained = matrix.of_columns(op, encoder.trained_.astype(np.float32))
    size = op("Abs", x)
    is_there = op.cast(op("Greater", size, np.float32(0)), np.float32)
    limited = encoder.max_tokens is not None
    # Of too many tokens those with the largest values are kept.
    places, present = _kept(op, op("Mul", size if limited else is_there, trained), encoder)
    columns = places
    if matrix.columns is not None:
        columns = op("GatherElements", matrix.columns, places, axis=1)
    inputs = {"tokens": _as_ids(op, op("Add", columns, np.int64(1)), present)}
    if encoder.has_values_:
        x = op("GatherElements", x, places, axis=1)
        inputs["values"] = op("Mul", _standardised(op, encoder, x, columns), present)
    weights = None
    if encoder.weighted and encoder.has_values_ and encoder.features_.kind_ != "measurements":
        weights = op("GatherElements", _log_shares(op, encoder, matrix, is_there), places, axis=1)
    return TokenBatch(inputs, present, weights)


def _kept(op, sizes, encoder):
    """Places of the largest sizes above 0 of each row, equal ones in their order.

    Returns
    -------
    places : str
        int64 (B, T); T is the most that a row has, at least 1.
    present : str
        1 where a place is one, 0 for padding, float32 (B, T).
    """
    is_there = op.cast(op("Greater", sizes, np.float32(0)), np.int64)
    counts = op("ReduceSum", is_there, [1], keepdims=0)
    longest = op("ReduceMax", op("Concat", [1], counts, axis=0), [0], keepdims=1)
    if encoder.max_tokens is not None:
        longest = op("Min", longest, [int(encoder.max_tokens)])
    found, places = op("TopK", sizes, longest, n_outputs=2, axis=1, largest=1, sorted=1)
    return places, op.cast(op("Greater", found, np.float32(0)), np.float32)


def _as_ids(op, ids, present):
    """Token ids with 0 where there is no token."""
    return op("Mul", ids, op.cast(present, np.int64))


def _standardised(op, encoder, x, columns):
    spread = np.where(encoder.spread_ > 0, encoder.spread_, 1.0)
    t = op("Sub", op.cast(x, np.float64), op("Gather", encoder.mean_, columns))
    t = op("Div", t, op("Gather", spread, columns))
    t = op("Clip", t, np.float64(-_HUGE), np.float64(_HUGE))
    varies = op("Gather", (encoder.spread_ > 0).astype(np.float64), columns)
    return op.cast(op("Mul", squashed(op, t, _VALUE_BOUND), varies), np.float32)


def _log_shares(op, encoder, matrix, is_there):
    """Logarithm of each entry's share of its row, 0 for one as large as the mean."""
    shares = unit_rows(op, op.cast(presented(op, matrix, encoder.features_), np.float64))
    n_entries = op.cast(op("ReduceSum", is_there, [1], keepdims=1), np.float64)
    shares = op("Mul", op("Abs", shares), op("Sqrt", n_entries))
    return op.cast(op("Log", op("Max", shares, np.float64(_SMALLEST_SHARE))), np.float32)


class _VectorRows:
    """`VectorInput`: the dense columns of a row are one token, the others tokens of their own."""

    def __init__(self, op, encoder, sparse_rows):
        self.op, self.encoder = op, encoder
        self.matrix = _matrix(op, encoder.n_tokens_, sparse_rows)

    @cached_property
    def tokens(self):
        """Rows for the network."""
        op, encoder = self.op, self.encoder
        with op.scope("tokens"):
            width = int(np.count_nonzero(encoder.columns_))
            dense = MatrixRows(self.matrix.taken(op, encoder.columns_), width)
            # Rows of mean squared length 1 become values of mean square 1.
            vectors = op("Mul", presented(op, dense, encoder.dense_), np.float32(np.sqrt(width)))
            shape = op("Concat", op("Shape", vectors, start=0, end=1), [1], axis=0)
            present = op.constant_of_shape(shape, np.float32(1))
            if encoder.others_ is None:
                return TokenBatch({"vectors": vectors}, present)
            others = self.matrix.without(op, encoder.columns_)
            others = _feature_tokens(op, encoder.others_, others)
            weights = others.weights
            if weights is not None:
                first = op.constant_of_shape(shape, np.float32(0))
                weights = op("Concat", first, weights, axis=1)
            present = op("Concat", present, others.present, axis=1)
            return TokenBatch({"vectors": vectors, **others.inputs}, present, weights)


class _SequenceRows:
    """`SequenceInput`: token ids in order, 0 = padding wherever it stands."""

    def __init__(self, op, encoder, sparse_rows):
        self.op, self.encoder = op, encoder
        self.X = op.input("X", np.int64, ("n_rows", "length"))

    @cached_property
    def tokens(self):
        """Rows for the network."""
        op, encoder = self.op, self.encoder
        with op.scope("tokens"):
            is_there = op.cast(op("Greater", self.X, np.int64(0)), np.float32)
            places, present = _kept(op, is_there, encoder)
            # Ids above the largest one of training are one unknown token.
            ids = op("GatherElements", self.X, places, axis=1)
            ids = _as_ids(op, op("Min", ids, np.int64(encoder.n_tokens_)), present)
            weights = None
            if encoder.weighted:
                weights = op("Gather", np.append(np.float32(0), encoder.log_idf_), ids)
            return TokenBatch({"tokens": ids}, present, weights)

    @cached_property
    def matrix(self):
        """How often each token occurs."""
        op, n_tokens, tokens = self.op, self.encoder.n_tokens_, self.tokens
        with op.scope("counts"):
            counts = scattered(op, tokens.inputs["tokens"], tokens.present, n_tokens + 1)
            return MatrixRows(op("Slice", counts, [1], [n_tokens + 1], [1]), n_tokens)


class _StateRows:
    """`StateInput`: a vector for each token, and how many tokens rows have."""

    def __init__(self, op, encoder, sparse_rows):
        self.op, self.encoder = op, encoder
        self.states = op.input("states", np.float32, ("n_rows", "length", encoder.n_tokens_))
        self.lengths = op.input("lengths", np.int64, ("n_rows",))

    @cached_property
    def tokens(self):
        """Rows for the network."""
        op, states = self.op, self.states
        with op.scope("tokens"):
            if self.encoder.max_tokens is not None:
                states = op("Slice", states, [0], [int(self.encoder.max_tokens)], [1])
            n_places = op("Gather", op("Shape", states), np.int64(1))
            places = op("Range", np.int64(0), n_places, np.int64(1))
            present = op("Less", places, op("Unsqueeze", self.lengths, [1]))
            # Whatever stands in padding, it must be a number.
            states = op("Where", op("Unsqueeze", present, [2]), states, np.float32(0))
            return TokenBatch({"states": states}, op.cast(present, np.float32))

    @cached_property
    def matrix(self):
        """The mean vector of each row; zeros for a row without tokens."""
        op, tokens = self.op, self.tokens
        with op.scope("means"):
            total = op("ReduceSum", tokens.inputs["states"], [1], keepdims=0)
            size = op("Max", op("ReduceSum", tokens.present, [1], keepdims=1), np.float32(1))
            return MatrixRows(op("Div", total, size), self.encoder.n_tokens_)


_KINDS = {
    "features": _FeatureRows,
    "vectors": _VectorRows,
    "sequence": _SequenceRows,
    "states": _StateRows,
}
