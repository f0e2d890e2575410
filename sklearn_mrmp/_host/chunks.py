"""Prediction in chunks of rows, so that memory grows with the output alone.

Cuts input rows into chunks of bounded size and puts the answers together again. It knows numpy,
scipy and scikit-learn's way of picking rows, and nothing of any classifier.
"""

from functools import partial

import numpy as np
import scipy.sparse as sp
from sklearn.utils import gen_batches

from sklearn_mrmp._sklearn_compat import _num_samples, _safe_indexing

# Cells (labels, or features that may be non-zero) of a chunk; at about fifty bytes for a cell, in
# tokens, scores and decisions, a chunk takes some 200 MB.
CHUNK_CELLS = 2**22


def predict_in_chunks(predict, X, n_labels, beside=None):
    """Apply a row-wise function to chunks of rows.

    Parameters
    ----------
    predict : callable
        Maps rows, in the form of `X`, to an array or CSR matrix with as many rows.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Input rows; anything scikit-learn can pick rows of.
    n_labels : int
        Number of labels, which limits the rows of a chunk as the features do.
    beside : csr_array of shape (n_samples, n), default=None
        Something about each row that `predict` takes as its second argument.

    Returns
    -------
    answer : {ndarray, sparse matrix}
        What ``predict(X)`` would be, row by row.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_mrmp._host.chunks import predict_in_chunks
    >>> predict_in_chunks(lambda rows: rows.sum(axis=1), np.eye(3), n_labels=1)
    array([1., 1., 1.])
    """
    if sp.issparse(X):
        X = X.tocsr()
    n_samples = _num_samples(X)
    size = chunk_rows(X, n_samples, n_labels)
    if n_samples <= size:
        return predict(X) if beside is None else predict(X, beside)
    # Rows of our own kinds know how to be picked.
    pick = X.__getitem__ if hasattr(X, "lengths") else partial(_safe_indexing, X)
    parts = (
        (rows, predict(pick(rows)) if beside is None else predict(pick(rows), beside[rows]))
        for rows in gen_batches(n_samples, size)
    )
    return _put_together(parts, n_samples)


def _put_together(parts, n_samples):
    """One array of the parts, or one CSR matrix; no dense part is kept beside the array."""
    sparse, answer = [], None
    for rows, part in parts:
        if sp.issparse(part):
            sparse.append(part)
            continue
        if answer is None:
            answer = np.empty((n_samples, *part.shape[1:]), dtype=part.dtype)
        answer[rows] = part
        del part  # before the next one is made
    if sparse:
        return sp.vstack(sparse, format="csr", dtype=sparse[0].dtype)
    return answer


def chunk_rows(X, n_samples, n_labels):
    """Rows of a chunk: as many as have `CHUNK_CELLS` labels or features, and at least one."""
    if sp.issparse(X):
        n_features = -(-X.nnz // max(n_samples, 1))
    elif hasattr(X, "lengths"):  # ragged rows, whose vectors are read batch by batch
        n_features = int(X.lengths.max(initial=1))
    else:
        shape = getattr(X, "shape", ())
        n_features = shape[1] if len(shape) > 1 else 1
    return max(1, CHUNK_CELLS // max(n_features, n_labels, 1))
