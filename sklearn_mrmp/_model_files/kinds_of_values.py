"""What kinds of values a model file may hold, for those who write them and those who read them.

Leaf module: numpy and scipy.
"""

import numpy as np
import scipy.sparse as sp

# An array may stand in several places of a model; a file that multiplies its size by naming the
# same array in millions of places is refused.
MAX_USES = 8
MAX_INT = 2**64

SPARSE = {
    "csr_array": sp.csr_array,
    "csr_matrix": sp.csr_matrix,
    "csc_array": sp.csc_array,
    "csc_matrix": sp.csc_matrix,
}
SCALARS = {
    kind.__name__: kind
    for kind in (
        *(np.bool_, np.str_, np.float16, np.float32, np.float64),
        *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
    )
}
# Types that are values themselves: the dtype of a vectorizer, the container of a target, the
# dtypes of a selection of columns.
TYPES = {**SPARSE, **SCALARS, "float": float, "int": int, "bool": bool, "object": object}
TYPES |= {"str": str, "number": np.number, "integer": np.integer, "floating": np.floating}
TYPE_NAMES = {kind: name for name, kind in TYPES.items()}


def may_be_item(item):
    """Whether a value may stand in an array of objects: plain values, and arrays such as edges."""
    if isinstance(item, np.ndarray):
        return item.dtype != object
    return item is None or type(item) in (bool, int, float, str) or isinstance(item, np.generic)
