"""Plain values as trees: each comes back as it was, and what has no place is named."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp import ModelFileError
from sklearn_mrmp._model_files import bounded_json
from sklearn_mrmp._model_files.decoding import Decoder
from sklearn_mrmp._model_files.encoding import Encoder
from sklearn_mrmp._model_files.objects import decode_object, encode_object


def again(value):
    encoder = Encoder(encode_object)
    tree = bounded_json.parse(bounded_json.dump(encoder.encode(value, ("value",))).encode())
    decoder = Decoder(encoder.arrays, decode_object)
    decoded = decoder.decode(tree)
    decoder.check_all_used()
    return decoded


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 0, -(2**63), 0.1, 5e-324, math.inf, -math.inf, "é\0\ud800", "", [], (), {}),
        *([1, [2.5, (None,)]], {"a": {"b": 1}}, {1: "x", None: 2, (1, "a"): 3, 0.5: 4, False: 5}),
        *(np.float32(0.1), np.int64(7), np.bool_(True), np.str_("x"), np.float16(2)),
        *(np.float64, sp.csr_matrix, np.dtype("<f4"), np.dtype("U7"), np.dtype(object)),
    ],
    ids=repr,
)
def test_plain_values_come_back_with_their_types(value):
    decoded = again(value)
    assert decoded == value
    assert type(decoded) is type(value)


def test_nan_comes_back():
    assert math.isnan(again(math.nan))
    assert np.isnan(again(np.float32(np.nan)))


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(12.0).reshape(3, 4)[:, ::2],
        np.zeros((0, 5), dtype=np.int8),
        np.array(3.0),
        np.array([True, False]),
        np.array(["a", "bcd"]),
        np.array([["x"], ["ü"]], dtype=object),
    ],
    ids=repr,
)
def test_arrays_come_back_with_dtype_and_layout(array):
    decoded = again(array)
    np.testing.assert_array_equal(decoded, array)
    assert decoded.dtype == array.dtype
    if array.flags.f_contiguous:
        assert decoded.flags.f_contiguous


def test_a_part_of_an_array_keeps_the_order_of_its_axes():
    part = np.arange(30.0).reshape(6, 5)[:, :3]
    for array in (part, part.T, part[::-1], part[::-1].T):  # the second as of a decomposition
        decoded = again(array)
        np.testing.assert_array_equal(decoded, array)
        assert np.argsort(np.abs(decoded.strides)).tolist() == (
            np.argsort(np.abs(array.strides)).tolist()
        )


@pytest.mark.parametrize(
    "items", [["a", None, math.nan], [1, 2.5, True, np.int64(3), np.str_("x")], [None], []]
)
def test_arrays_of_plain_values_come_back_with_the_type_of_each(items):
    array = np.array([*items, "x"], dtype=object)[:-1]
    decoded = again(array)
    assert decoded.dtype == object
    assert list(map(type, decoded)) == list(map(type, array))
    assert list(map(repr, decoded)) == list(map(repr, array))


def test_an_array_of_arrays_comes_back():
    edges = np.empty(2, dtype=object)
    edges[:] = [np.array([0.0, 0.5]), np.array([1, 2, 3])]
    decoded = again(edges)
    assert decoded.shape == (2,)
    for ours, theirs in zip(edges, decoded, strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype


@pytest.mark.parametrize("value", [slice(1, 3), slice("a", "c"), slice(None, None, 2)])
def test_slices_come_back(value):
    assert again(value) == value


def test_sparse_matrices_come_back():
    for kind in (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix):
        decoded = again(kind([[0, 1.5], [2, 0], [0, 0]]))
        assert type(decoded) is kind
        np.testing.assert_array_equal(decoded.toarray(), [[0, 1.5], [2, 0], [0, 0]])


def test_an_array_in_several_places_is_stored_once_and_shared_again():
    array = np.arange(3)
    encoder = Encoder(encode_object)
    tree = encoder.encode([array] * 20)
    assert len(encoder.arrays) == 3  # at most 8 places for each copy
    first, second, *_ = Decoder(encoder.arrays, decode_object).decode(tree)
    assert first is second


@pytest.mark.parametrize(
    ("value", "match"),
    [
        (2**64, "more than 64 bits"),
        (np.longdouble(1), "longdouble"),
        (np.array([1], dtype="datetime64[s]"), "datetime64"),
        (np.array([1, {}], dtype=object), "objects other than plain values"),
        (slice(0, 1.5), "slice"),
        (np.zeros(2, dtype=[("a", "f4")]), "dtype"),
        ({1, 2}, "builtins.set"),
        (1j, "builtins.complex"),
        (len, "function or class"),
        (int.__add__, "function or class"),
        (ValueError, "function or class"),
    ],
    ids=repr,
)
def test_other_values_are_refused(value, match):
    with pytest.raises(ModelFileError, match=match):
        again({"inside": [value]})


def test_values_that_contain_themselves_are_refused():
    value = []
    value.append(value)
    with pytest.raises(ModelFileError, match="nested deeper"):
        again(value)
