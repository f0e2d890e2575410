"""The target contract: what goes in, what comes out, what is refused."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning

from sklearn_mrmp import MLKNNClassifier
from sklearn_mrmp._targets import TargetEncoding, read_target

MATRIX = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 0]])


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32])
def test_label_matrix_comes_back_in_the_callers_dtype(dtype):
    encoding = TargetEncoding.from_target(MATRIX.astype(dtype))
    Y = encoding.encode(MATRIX.astype(dtype))
    decoded = encoding.decode_labels(Y)
    assert decoded.dtype == dtype
    np.testing.assert_array_equal(decoded, MATRIX)


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array])
def test_sparse_label_matrix_comes_back_in_its_container(container):
    encoding = TargetEncoding.from_target(container(MATRIX))
    decoded = encoding.decode_labels(MATRIX == 1)
    assert isinstance(decoded, container)
    np.testing.assert_array_equal(decoded.toarray(), MATRIX)


def test_classes_are_a_list_so_that_two_labels_are_no_binary_task():
    encoding = TargetEncoding.from_target(MATRIX[:, :2])
    assert [classes.tolist() for classes in encoding.classes] == [[0, 1], [0, 1]]


@pytest.mark.parametrize("value", [0, 1])
def test_constant_label_matrices_are_targets(value):
    Y = np.full((4, 3), value)
    assert TargetEncoding.from_target(Y).encode(Y).toarray().tolist() == Y.tolist()


def test_binary_vector_is_one_label():
    y = np.array(["no", "yes", "no"])
    encoding = TargetEncoding.from_target(y)
    assert encoding.n_labels == 1
    assert encoding.encode(y).toarray().ravel().tolist() == [0, 1, 0]
    P = np.array([[0.2], [0.7]])
    np.testing.assert_allclose(encoding.shape_probabilities(P), [[0.8, 0.2], [0.3, 0.7]])
    assert encoding.decode_scores(P).tolist() == ["no", "yes"]


def test_multiclass_vector_is_one_hot_and_rows_sum_to_one():
    y = np.array([5, 2, 9, 2])
    encoding = TargetEncoding.from_target(y)
    assert encoding.encode(y).toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1], [1, 0, 0]]
    P = encoding.shape_probabilities(np.array([[0.2, 0.2, 0.6]]) / 2)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert encoding.decode_scores(P).tolist() == [9]


@pytest.mark.parametrize("y", [np.array([[0], [1]]), sp.csr_array([[0], [1]]), np.zeros((2, 1))])
def test_a_column_of_0_and_1_is_a_matrix_of_one_label(y):
    encoding = TargetEncoding.from_target(y, ["spam"])
    assert (encoding.kind, encoding.n_labels) == ("multilabel", 1)
    assert encoding.label_names.tolist() == ["spam"]
    decoded = encoding.decode_labels(np.array([[True], [False]]))
    assert decoded.shape == (2, 1)
    assert type(decoded) is type(y)


@pytest.mark.parametrize("values", [["no", "yes"], [1, 2], [3, 4]])
def test_a_column_of_other_values_is_a_vector_with_a_warning(values):
    with pytest.warns(DataConversionWarning):
        encoding = TargetEncoding.from_target(np.array(values)[:, None])
    assert encoding.kind == "binary"
    assert encoding.classes.tolist() == values


def test_data_frame_columns_become_label_names():
    frame = pd.DataFrame(MATRIX, columns=["sea", "ship", 3])
    encoding = TargetEncoding.from_target(*read_target(frame))
    assert encoding.label_names.tolist() == ["sea", "ship", "3"]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.array([[-1, 1], [1, -1]]), r"only 0 and 1.*holds -1, 1"),
        (np.array([[0, 2], [1, 0]]), r"multiclass-multioutput target holds 0, 1, 2"),
        (np.array([[0, 2], [2, 0]]), r"holds 0, 2"),
        (np.array([[0.5, 1.0], [0.0, 1.0]]), "continuous-multioutput"),
        (sp.csr_matrix([[0, 3], [1, 0]]), r"holds 1, 3"),
        (np.array([0.1, 0.7]), "Unknown label type"),
        (np.zeros((3, 0)), "no columns"),
    ],
)
def test_other_targets_are_refused_by_what_was_seen(y, message):
    with pytest.raises(ValueError, match=message):
        TargetEncoding.from_target(y)


def test_held_out_targets_must_fit_the_training_target():
    matrix = TargetEncoding.from_target(MATRIX)
    with pytest.raises(ValueError, match="3 columns"):
        matrix.encode(MATRIX[:, :2])
    vector = TargetEncoding.from_target(np.array([0, 1, 2]))
    with pytest.raises(ValueError, match="not seen in training"):
        vector.encode(np.array([0, 7]))
    with pytest.raises(ValueError, match="label matrix"):
        vector.encode(MATRIX)


def test_explicit_zeros_and_duplicates_do_not_count_as_labels():
    Y = sp.csr_matrix((np.array([1, 0]), np.array([0, 1]), np.array([0, 2, 2])), shape=(2, 2))
    assert TargetEncoding.from_target(Y).encode(Y).nnz == 1


FRAMES = {
    "object": (object, np.int64),
    "category": ("category", np.int64),
    "Int64": ("Int64", np.int64),
    "boolean": ("boolean", np.bool_),
    "float16": (np.float16, np.float16),
    "Sparse": (pd.SparseDtype(np.int64), np.int64),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_any_type_that_holds_0_and_1_are_label_matrices(kind):
    dtype, expected = FRAMES[kind]
    y, names = read_target(pd.DataFrame(MATRIX, columns=list("abc")).astype(dtype))
    encoding = TargetEncoding.from_target(y, names)
    assert encoding.encode(y).toarray().tolist() == MATRIX.tolist()
    decoded = encoding.decode_labels(MATRIX == 1)
    assert decoded.dtype == expected
    assert decoded.tolist() == MATRIX.tolist()


@pytest.mark.parametrize(
    ("value", "message"), [("1", "holds '0', '1'"), (pd.NA, "nan"), (None, "None"), (2, "0, 1, 2")]
)
def test_objects_that_are_not_0_or_1_are_refused_by_what_was_seen(value, message):
    zero = "0" if isinstance(value, str) else 0
    y = np.array([[zero, value], [value, zero], [1 if zero == 0 else "1", zero]], dtype=object)
    with pytest.raises(ValueError, match=message):
        TargetEncoding.from_target(*read_target(pd.DataFrame(y)))


@pytest.mark.parametrize("dtype", ["Int64", "boolean"])
def test_missing_labels_are_refused_by_who_cannot_learn_from_them_and_count_in_no_score(dtype):
    Y = pd.DataFrame(np.tile(MATRIX, (5, 1))).astype(dtype)
    X, with_missing = np.arange(len(Y))[:, None], Y.copy()
    with_missing.iloc[0, 0] = pd.NA
    with pytest.raises(ValueError, match="cannot learn from unknown labels"):
        MLKNNClassifier().fit(X, with_missing)
    clf = MLKNNClassifier(n_neighbors=1).fit(X, Y)
    is_right = clf.predict(X) == Y.to_numpy(dtype=int)
    is_right[0, 0] = True
    assert clf.score(X, with_missing) == is_right.all(axis=1).mean()


def test_scores_know_labels_of_half_precision():
    X, Y = np.arange(30)[:, None], np.tile(MATRIX, (10, 1))
    clf = MLKNNClassifier().fit(X, Y.astype(np.float16))
    assert clf.score(X, Y.astype(np.float16)) == clf.score(X, Y)
