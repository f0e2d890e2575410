"""ONNX models run in onnxruntime, and rows as these take them."""

import numpy as np
import scipy.sparse as sp
from numpy.testing import assert_allclose


def run(model, **inputs):
    """Return the outputs of a model by name."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))


def entries(X, n_more=0):
    """Return the columns and values of sparse rows, padded to one length and `n_more`."""
    X = sp.csr_array(X)
    lengths = np.diff(X.indptr)
    mask = np.arange(max(lengths.max(), 1) + n_more) < lengths[:, None]
    columns, values = np.zeros(mask.shape, np.int64), np.zeros(mask.shape, np.float32)
    columns[mask], values[mask] = X.indices, X.data
    return {"columns": columns, "values": values}


def log_odds(P):
    P = np.clip(P.astype(np.float64), 1e-3, 1 - 1e-3)  # float32 has no more digits near 1
    return np.log(P / (1 - P))


def assert_same(P, expected):
    """Probabilities, and log odds as far as float32 tells them, are the same."""
    assert P.dtype == np.float32
    assert_allclose(P, expected, rtol=0, atol=1e-5)
    assert_allclose(log_odds(P), log_odds(expected), rtol=0, atol=1e-3)
