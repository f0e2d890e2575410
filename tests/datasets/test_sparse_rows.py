"""Sparse rows in a folder: what is opened is what was written, or it is refused."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp.datasets import _sparse_rows, open_sparse_rows, save_sparse_rows


@pytest.fixture
def X():
    return sp.random_array((50, 7), density=0.3, format="csr", random_state=0)


def assert_same(opened, X):
    assert opened.shape == X.shape
    np.testing.assert_array_equal(opened.toarray(), X.toarray())


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_matrix])
def test_rows_of_any_sparse_type_come_back(X, kind, tmp_path):
    save_sparse_rows(tmp_path / "new" / "folder", kind(X))
    assert_same(open_sparse_rows(tmp_path / "new" / "folder"), X)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (4, 3)])
def test_rows_without_entries_come_back(shape, tmp_path):
    save_sparse_rows(tmp_path, sp.csr_array(shape))
    assert open_sparse_rows(tmp_path).shape == shape


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, bool])
def test_values_keep_their_type(X, dtype, tmp_path):
    X = (X * 10).astype(dtype)
    save_sparse_rows(tmp_path, X)
    assert open_sparse_rows(tmp_path).dtype == dtype
    assert_same(open_sparse_rows(tmp_path), X)


def test_values_are_cast_where_a_type_is_asked_for(X, tmp_path):
    save_sparse_rows(tmp_path, X, dtype=np.float32)
    np.testing.assert_array_equal(open_sparse_rows(tmp_path).data, X.data.astype(np.float32))


def test_blocks_are_put_together_in_their_order_and_not_kept(X, tmp_path):
    alive = []

    def blocks():
        for start in range(0, 50, 20):
            alive.append(start)
            yield X[start : start + 20]

    save_sparse_rows(tmp_path, blocks())
    assert alive == [0, 20, 40]
    assert_same(open_sparse_rows(tmp_path), X)


def test_opened_rows_are_mapped_and_read_only(X, tmp_path):
    save_sparse_rows(tmp_path, X)
    opened = open_sparse_rows(tmp_path)
    for name in ("data", "indices"):
        base = getattr(opened, name)
        while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
            base = base.base
        assert isinstance(base, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        opened.data[0] = 1.0


def test_what_is_written_is_in_canonical_form(tmp_path):
    X = sp.csr_array(([1.0, 2.0, 3.0, 0.0], [2, 0, 2, 1], [0, 3, 4]), shape=(2, 3))
    assert not X.has_canonical_format
    save_sparse_rows(tmp_path, X)
    opened = open_sparse_rows(tmp_path)
    assert opened.has_canonical_format
    assert opened.indices.tolist() == [0, 2]
    assert opened.data.tolist() == [2.0, 4.0]
    assert X.nnz == 4


def test_large_blocks_are_written_in_parts(X, tmp_path, monkeypatch):
    monkeypatch.setattr("sklearn_mrmp._numerics.sparse.LARGE", 20)
    monkeypatch.setattr("sklearn_mrmp._numerics.sparse._PART", 10)
    save_sparse_rows(tmp_path, X)
    assert_same(open_sparse_rows(tmp_path), X)


def test_more_entries_than_32_bits_count_have_wide_indices(X, tmp_path, monkeypatch):
    monkeypatch.setattr(_sparse_rows, "_MOST_OF_32_BITS", 20)
    monkeypatch.setattr(_sparse_rows, "_BLOCK", 9)
    save_sparse_rows(tmp_path, X)
    assert np.load(tmp_path / "indices.npy").dtype == np.int64
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "data.npy",
        "indices.npy",
        "indptr.npy",
        "shape.npy",
    ]
    assert_same(open_sparse_rows(tmp_path), X)


def test_the_files_are_plain_arrays_of_numpy(X, tmp_path):
    save_sparse_rows(tmp_path, X)
    arrays = [np.load(tmp_path / f"{name}.npy") for name in ("data", "indices", "indptr")]
    assert_same(sp.csr_array(tuple(arrays), shape=tuple(np.load(tmp_path / "shape.npy"))), X)


def test_rows_that_are_there_are_not_overwritten(X, tmp_path):
    save_sparse_rows(tmp_path, X)
    with pytest.raises(FileExistsError, match="choose another folder"):
        save_sparse_rows(tmp_path, X)
    assert_same(open_sparse_rows(tmp_path), X)


def test_a_writing_that_failed_is_not_opened_and_can_be_repeated(X, tmp_path):
    def blocks():
        yield X
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        save_sparse_rows(tmp_path, blocks())
    with pytest.raises(ValueError, match="written to the end"):
        open_sparse_rows(tmp_path)
    save_sparse_rows(tmp_path, X)
    assert_same(open_sparse_rows(tmp_path), X)


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([], "no block"),
        ([sp.csr_array((1, 2)), sp.csr_array((1, 3))], "first has 2 of them, another 3"),
        ([sp.csr_array([[1]]), sp.csr_array([[0.5]])], "float64, which int64 cannot hold"),
        ([sp.csr_array([[1j]])], "real numbers"),
    ],
)
def test_blocks_that_do_not_fit_are_refused(blocks, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        save_sparse_rows(tmp_path, blocks)


def test_values_that_become_infinite_are_refused(tmp_path):
    with pytest.raises(ValueError, match="too large for float32"):
        save_sparse_rows(tmp_path, sp.csr_array([[1e300]]), dtype=np.float32)


def test_dense_rows_are_refused(tmp_path):
    with pytest.raises(TypeError, match="csr_array"):
        save_sparse_rows(tmp_path, np.eye(2))


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        open_sparse_rows(tmp_path / "nowhere")


def damage(folder, name, change):
    array = np.load(folder / f"{name}.npy")
    np.save(folder / f"{name}.npy", change(array))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("indptr", lambda a: np.r_[a[:3], a[2] - 1, a[4:]], "fall"),
        ("indptr", lambda a: a[:-1], "begin 50 rows"),
        ("indptr", lambda a: a + 1, "begin 50 rows"),
        ("indices", lambda a: np.r_[a[:-1], 7], "outside of 0 to 6"),
        ("indices", lambda a: np.r_[-1, a[1:]], "outside of 0 to 6"),
        ("indices", lambda a: a.astype(float), "vector of numbers"),
        ("data", lambda a: a[:-1], "indptr.npy ends"),
        ("data", lambda a: a[:, None], "vector of numbers"),
        ("shape", lambda a: a[:1], "two numbers"),
        ("shape", lambda a: -a, "two numbers"),
    ],
)
def test_damaged_arrays_are_refused(X, name, change, message, tmp_path, monkeypatch):
    monkeypatch.setattr(_sparse_rows, "_BLOCK", 3)  # errors at the ends of blocks, too
    save_sparse_rows(tmp_path, X)
    damage(tmp_path, name, change)
    with pytest.raises(ValueError, match=message):
        open_sparse_rows(tmp_path)


@pytest.mark.parametrize("content", [b"", b"no array at all" * 20, b"\x93NUMPY\x01\x00\xff"])
@pytest.mark.parametrize("name", ["data", "shape"])
def test_files_that_are_no_arrays_are_refused(X, name, content, tmp_path):
    save_sparse_rows(tmp_path, X)
    (tmp_path / f"{name}.npy").write_bytes(content)
    with pytest.raises(ValueError, match=rf"{name}\.npy cannot be read"):
        open_sparse_rows(tmp_path)


def test_a_file_that_was_cut_off_is_refused(X, tmp_path):
    save_sparse_rows(tmp_path, X)
    path = tmp_path / "data.npy"
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(ValueError, match="cannot be read"):
        open_sparse_rows(tmp_path)


def test_a_folder_of_other_things_is_refused(tmp_path):
    with pytest.raises(ValueError, match="missing"):
        open_sparse_rows(tmp_path)
