"""Sparse rows in a folder: three arrays that are mapped into memory, for rows larger than it.

A folder holds the arrays of a CSR matrix as ``data.npy``, ``indices.npy`` and ``indptr.npy``, which
any program that knows numpy reads, and ``shape.npy``, which is written last. Knows sparse rows,
paths, numpy and scipy.
"""

from contextlib import ExitStack
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from sklearn_mrmp._host.files import user_path
from sklearn_mrmp._numerics.sparse import RowParts, as_csr

_ARRAYS = ("data", "indices", "indptr")
# Numbers of a file that are looked at or written at once.
_BLOCK = 2**22
# With more entries scipy wants all indices to be of 64 bits.
_MOST_OF_32_BITS = np.iinfo(np.int32).max
_HEADER_BYTES = 128


def save_sparse_rows(folder, X, dtype=None):
    """Write sparse rows into a folder, from which they can be used without reading them.

    Parameters
    ----------
    folder : path-like
        Made if needed. It must not hold rows yet.
    X : sparse matrix of shape (n_samples, n_features), or iterable of such
        Rows, or blocks of rows one after the other, so that all of them need not fit into memory.
    dtype : dtype, default=None
        Type of the values; None is that of the first block. ``fit`` uses rows of float32 and
        float64 where they lie. Values of other types it copies.

    Raises
    ------
    FileExistsError
        When there are rows in the folder.
    ValueError
        When blocks have different numbers of columns, or values that the type cannot hold.

    See Also
    --------
    open_sparse_rows : The way back.

    Examples
    --------
    >>> import tempfile
    >>> from scipy.sparse import csr_array
    >>> from sklearn_mrmp.datasets import open_sparse_rows, save_sparse_rows
    >>> blocks = (csr_array([[0.0, float(i)]]) for i in range(1, 4))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_sparse_rows(folder, blocks)
    ...     open_sparse_rows(folder).toarray()
    array([[0., 1.],
           [0., 2.],
           [0., 3.]])
    """
    folder = user_path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "shape.npy").exists():
        raise FileExistsError(
            f"There are sparse rows in {folder}; choose another folder, or delete this one."
        )
    with ExitStack() as stack:
        files = {name: stack.enter_context(_GrowingArray(folder, name)) for name in _ARRAYS}
        shape = _append_all(files, [X] if sp.issparse(X) else X, dtype)
    if files["data"].n_numbers > _MOST_OF_32_BITS:
        _widen(folder)
    np.save(folder / "shape.npy", np.array(shape, dtype=np.int64))


class _GrowingArray:
    """A file of ``.npy`` whose length is known when it is closed."""

    def __init__(self, folder, name):
        self.path = folder / f"{name}.npy"
        self.dtype = None
        self.n_numbers = 0

    def __enter__(self):
        self._file = self.path.open("wb")
        self._file.write(bytes(_HEADER_BYTES))
        return self

    def append(self, values):
        self._file.write(np.ascontiguousarray(values, dtype=self.dtype).data)
        self.n_numbers += len(values)

    def __exit__(self, *error):
        with self._file:
            if self.dtype is not None:
                self._file.seek(0)
                self._file.write(self._header())

    def _header(self):
        described = {"descr": self.dtype.str, "fortran_order": False, "shape": (self.n_numbers,)}
        text = repr(described).ljust(_HEADER_BYTES - 11) + "\n"
        return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode("ascii")


def _append_all(files, blocks, dtype):
    """Append blocks of rows to the three files, and return the shape of all of them."""
    n_features = None
    for block in blocks:
        if not sp.issparse(block):
            raise TypeError(
                f"X must be a sparse matrix or an iterable of such, got {type(block).__name__}; "
                "scipy.sparse.csr_array(X) makes one of a dense array."
            )
        if n_features is None:
            n_features = block.shape[1]
            _start(files, np.dtype(dtype or block.dtype))
        if block.shape[1] != n_features:
            raise ValueError(
                f"Blocks must have the same columns; the first has {n_features} of them, another "
                f"{block.shape[1]}."
            )
        for _, part in RowParts(sp.csr_array(block)).parts():
            _append(files, as_csr(part))
    if n_features is None:
        raise ValueError("There is no block of rows to write.")
    return files["indptr"].n_numbers - 1, n_features


def _start(files, dtype):
    if dtype.kind not in "biuf":
        raise ValueError(f"Values must be real numbers, got the type {dtype}.")
    for name, kind in zip(_ARRAYS, (dtype, np.dtype(np.int32), np.dtype(np.int64)), strict=True):
        files[name].dtype = kind
    files["indptr"].append([0])


def _append(files, rows):
    dtype, n_before = files["data"].dtype, files["data"].n_numbers
    if not np.can_cast(rows.dtype, dtype, "same_kind"):
        raise ValueError(f"A block has values of the type {rows.dtype}, which {dtype} cannot hold.")
    with np.errstate(over="ignore"):
        values = rows.data.astype(dtype)
    if dtype.kind == "f" and np.isinf(values).any() and not np.isinf(rows.data).any():
        raise ValueError(f"A block has values that are too large for {dtype}; use float64.")
    files["data"].append(values)
    files["indices"].append(rows.indices)
    files["indptr"].append(n_before + rows.indptr[1:].astype(np.int64))


def _widen(folder):
    """Write the indices anew with 64 bits each, as scipy would in memory."""
    narrow, wide = folder / "indices.npy", folder / "indices-64.npy"
    with _GrowingArray(folder, "indices-64") as file:
        file.dtype = np.dtype(np.int64)
        for block in _blocks(np.load(narrow, mmap_mode="r")):
            file.append(block)
    wide.replace(narrow)


def open_sparse_rows(folder):
    """Open the rows that `save_sparse_rows` has written; they stay on disk.

    Rows, or blocks of them, are read when they are used, and memory that holds them is given up
    again when it is wanted elsewhere. Opening looks at the whole folder once, since wrong
    indices would let programs crash.

    Parameters
    ----------
    folder : path-like
        Where the rows are.

    Returns
    -------
    X : csr_array of shape (n_samples, n_features)
        Its arrays are mapped from the files and read-only.

    Raises
    ------
    FileNotFoundError
        When there is no such folder.
    ValueError
        When its files are missing, damaged, or do not belong together.

    See Also
    --------
    save_sparse_rows : The way here, with an example.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn_mrmp.datasets import make_related_labels, open_sparse_rows, save_sparse_rows
    >>> X, Y, _ = make_related_labels(20, 5, n_features=30, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_sparse_rows(folder, X)
    ...     bool((open_sparse_rows(folder) != X).nnz == 0)
    True
    """
    folder = user_path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}.")
    shape = _mapped(folder, "shape")
    data, indices, indptr = (_mapped(folder, name) for name in _ARRAYS)
    _check(folder, data, indices, indptr, shape)
    if indptr[-1] <= _MOST_OF_32_BITS:  # scipy would copy indices of another type than this
        indptr = indptr.astype(indices.dtype)
    return sp.csr_array((data, indices, indptr), shape=tuple(shape.tolist()))


def _mapped(folder, name):
    path = folder / f"{name}.npy"
    if not path.is_file():
        raise _unusable(folder, f"{path.name} is missing; were the rows written to the end?")
    try:
        # A file without numbers cannot be mapped.
        mode = "r" if path.stat().st_size > _HEADER_BYTES else None
        values = np.load(path, mmap_mode=mode, allow_pickle=False)
    except Exception as error:  # a damaged header makes numpy raise almost anything
        raise _unusable(folder, f"{path.name} cannot be read: {error}") from error
    kinds = "biuf" if name == "data" else "i"
    if not isinstance(values, np.ndarray) or values.ndim != 1 or values.dtype.kind not in kinds:
        raise _unusable(folder, f"{path.name} has to be a vector of numbers")
    return values


def _check(folder, data, indices, indptr, shape):
    """Refuse arrays that are no matrix in canonical form."""
    if len(shape) != 2 or min(shape) < 0:
        raise _unusable(folder, "shape.npy has to be two numbers")
    n_samples, n_features = shape.tolist()
    if len(indptr) != n_samples + 1 or indptr[0] != 0:
        raise _unusable(folder, f"indptr.npy does not begin {n_samples} rows")
    if not len(data) == len(indices) == indptr[-1]:
        raise _unusable(
            folder,
            f"data.npy has {len(data)} numbers and indices.npy {len(indices)}, but indptr.npy ends "
            f"with {indptr[-1]}",
        )
    if any((np.diff(block) < 0).any() for block in _blocks(indptr, overlap=1)):
        raise _unusable(folder, "the numbers in indptr.npy fall")
    if any(block.min() < 0 or block.max() >= n_features for block in _blocks(indices)):
        raise _unusable(folder, f"indices.npy names columns outside of 0 to {n_features - 1}")


def _blocks(values, overlap=0):
    """Cut an array into blocks; each has the first numbers of the next one, too."""
    ends = [*range(0, len(values), _BLOCK), len(values)]
    return (values[start : end + overlap] for start, end in pairwise(ends))


def _unusable(folder, problem):
    return ValueError(f"{folder} does not hold sparse rows that can be used: {problem}.")
