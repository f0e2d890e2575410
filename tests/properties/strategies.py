"""What the property tests draw: matrices in every form a caller may pass, good and bad.

`holds_for` makes a property test and counts its examples. ``SKLEARN_MRMP_FUZZ=n`` multiplies the
examples by n and draws new ones each time; without it they are few and always the same.
"""

import functools
import os
from collections import Counter

import numpy as np
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FACTOR = int(os.environ.get("SKLEARN_MRMP_FUZZ", "1"))
EXAMPLES = Counter()

settings.register_profile(
    "quick", deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
settings.register_profile("fuzz", settings.get_profile("quick"), derandomize=False)
PROFILE = settings.get_profile("quick" if FACTOR == 1 else "fuzz")

# Errors that are part of the contract; anything else is a crash.
DOCUMENTED = (ValueError, TypeError)


def holds_for(n_examples, **drawn):
    """Make a property test of a function, with `n_examples` examples (times the factor)."""

    def decorate(function):
        @functools.wraps(function)
        def counted(*args, **kwargs):
            EXAMPLES[f"{function.__module__.rpartition('.')[2]}.{function.__name__}"] += 1
            return function(*args, **kwargs)

        return settings(PROFILE, max_examples=n_examples * FACTOR)(given(**drawn)(counted))

    return decorate


# --- the same matrix in other forms ---


def strided(A):
    """Every second row and column of a larger array."""
    larger = np.full((2 * A.shape[0] + 1, 2 * A.shape[1] + 1), 7, dtype=A.dtype)
    larger[1::2, 1::2] = A
    return larger[1::2, 1::2]


def read_only(A):
    A = A.copy()
    A.flags.writeable = False
    return A


def frame(A):
    import pandas as pd

    return pd.DataFrame(A, columns=[f"c{j}" for j in range(A.shape[1])])


def shuffled_csr(A):
    """CSR with the entries of each row in falling order of columns."""
    A = sp.csr_array(A)
    order = np.lexsort((-A.indices, np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))))
    out = sp.csr_array((A.data[order], A.indices[order], A.indptr), shape=A.shape)
    out.has_sorted_indices = False
    return out


def duplicated_csr(A):
    """CSR with each entry stored as two halves (a half and a zero for 0/1 and integers)."""
    A = sp.csr_array(A)
    exact = A.dtype.kind == "f" and not np.isin(A.data, (0, 1)).all()
    parts = [A.data / 2, A.data - A.data / 2] if exact else [A.data, np.zeros_like(A.data)]
    data = np.column_stack(parts).ravel()
    return sp.csr_array((data, np.repeat(A.indices, 2), 2 * A.indptr), shape=A.shape)


def zero_padded_csr(A):
    """CSR with every cell stored, zeros too."""
    n_rows, n_columns = A.shape
    indices = np.tile(np.arange(n_columns), n_rows)
    return sp.csr_array((A.ravel(), indices, np.arange(n_rows + 1) * n_columns), shape=A.shape)


def long_csr(A):
    """CSR with 64-bit indices."""
    A = sp.csr_array(A)
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    return A


DENSE_FORMS = {
    "C": np.array,
    "F": np.asfortranarray,
    "strided": strided,
    "read-only": read_only,
    "reversed": lambda A: A[::-1].copy()[::-1],
    "object": lambda A: A.astype(object),
    "frame": frame,
}
SPARSE_FORMS = {
    **{
        f"{name}_{kind}": functools.partial(
            lambda name, kind, A: getattr(sp, f"{name}_{kind}")(A), name, kind
        )
        for name in ("csr", "csc", "coo", "lil", "dok", "bsr")
        for kind in ("array", "matrix")
    },
    "shuffled": shuffled_csr,
    "duplicated": duplicated_csr,
    "explicit zeros": zero_padded_csr,
    "64-bit indices": long_csr,
    "read-only csr": lambda A: frozen_csr(sp.csr_array(A)),
}
FORMS = {**DENSE_FORMS, **SPARSE_FORMS}


def frozen_csr(A):
    for part in (A.data, A.indices, A.indptr):
        part.flags.writeable = False
    return A


# --- matrices ---

ORDINARY = st.sampled_from([0.0, 0.0, 0.0, 1.0, 1.0, -1.0, 0.5, 2.0, 3.0, -2.5])
# Exact in float32 as well, so that a form in float32 holds the same numbers.
EXTREME = st.sampled_from(
    [0.0, 1.0, -1.0, 1e-300, -1e-300, 5e-324, 1e300, -1e300, 1.7e308, -1.7e308, 1e150, 1e-150, 3.0]
)


def matrices(n_rows, n_columns, cells=ORDINARY):
    """Float64 arrays of a drawn or given shape."""
    return st.lists(cells, min_size=n_rows * n_columns, max_size=n_rows * n_columns).map(
        lambda values: np.array(values, dtype=np.float64).reshape(n_rows, n_columns)
    )


@st.composite
def label_matrices(draw, n_rows, n_labels):
    """0/1 matrices, among them the degenerate ones."""
    kind = draw(
        st.sampled_from(
            ["any", "any", "any", "zeros", "ones", "constant columns", "equal rows", "one-hot"]
        )
    )
    if kind == "zeros":
        return np.zeros((n_rows, n_labels), dtype=int)
    if kind == "ones":
        return np.ones((n_rows, n_labels), dtype=int)
    if kind == "one-hot":
        return np.eye(n_labels, dtype=int)[np.arange(n_rows) % n_labels]
    cells = st.lists(st.integers(0, 1), min_size=n_labels, max_size=n_labels)
    if kind == "equal rows":
        return np.array([draw(cells)] * n_rows)
    Y = np.array(draw(st.lists(cells, min_size=n_rows, max_size=n_rows)))
    if kind == "constant columns":
        Y[:, draw(st.integers(0, n_labels - 1))] = draw(st.integers(0, 1))
    return Y


LABEL_TYPES = st.sampled_from([np.int64, np.int8, np.uint8, np.bool_, np.float64, np.float32])


@st.composite
def problems(draw, cells=ORDINARY, max_rows=9, min_rows=1):
    """Training rows, their labels, and rows to predict."""
    n_rows = draw(st.integers(min_rows, max_rows))
    n_features, n_labels = draw(st.integers(1, 6)), draw(st.integers(2, 12))
    X = draw(matrices(n_rows, n_features, cells))
    Y = draw(label_matrices(n_rows, n_labels))
    X_new = draw(matrices(draw(st.integers(1, 5)), n_features, cells))
    return X, Y, X_new


# --- checks ---


def snapshot(A):
    """Everything about an input that a call might change, as comparable values."""
    if sp.issparse(A):
        if A.format == "dok":
            return sorted((key, repr(value)) for key, value in A.items())
        if A.format == "lil":
            return repr([list(row) for row in A.rows]), repr([list(row) for row in A.data])
        names = ("data", "indices", "indptr", "row", "col", "offsets")
        return [
            (name, np.asarray(getattr(A, name)).tobytes()) for name in names if hasattr(A, name)
        ]
    values = np.asarray(A)
    content = repr(values.tolist()) if values.dtype == object else values.tobytes()
    return str(values.dtype), values.shape, content


def plain(A):
    """An answer as a dense array."""
    return A.toarray() if sp.issparse(A) else np.asarray(A)
