"""Token states: ragged rows of vectors, in any of the forms that callers have them."""

import numpy as np
import pytest

from sklearn_mrmp._input.state_rows import as_state_rows
from sklearn_mrmp._input.states import StateInput


def ragged(n_rows=7, width=3, dtype=np.float32, seed=0):
    """Rows of 0 to 4 tokens."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(rng.integers(5), width)).astype(dtype) for _ in range(n_rows)]


def padded(rows, n_tokens=6):
    out = np.zeros((len(rows), n_tokens, rows[0].shape[1]), rows[0].dtype)
    for row, states in zip(out, rows, strict=True):
        row[: len(states)] = states
    return out


def content(rows):
    """Return the vectors of each row, as a batch shows them."""
    batch = rows.padded()
    mask = batch.get("mask", np.ones(batch["states"].shape[:2], dtype=bool))
    return [states[there].tolist() for states, there in zip(batch["states"], mask, strict=True)]


FORMS = {
    "list": lambda rows: rows,
    "array": padded,
    "object array": lambda rows: np.array([*rows, None], dtype=object)[:-1],
    "masked": lambda rows: np.ma.masked_equal(padded(rows), 0),
    "Fortran": lambda rows: np.asfortranarray(padded(rows)),
}


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_holds_the_same_rows(form, dtype):
    rows = ragged(dtype=dtype)
    found = as_state_rows(FORMS[form](rows))
    assert found.shape == (7, 3)
    assert found.lengths.tolist() == [len(row) for row in rows]
    assert content(found) == [row.astype(np.float32).tolist() for row in rows]
    assert found.states.dtype == dtype


def test_tokens_between_others_can_be_padding():
    X = padded(ragged(seed=1))
    X[2, 1] = 0
    assert content(as_state_rows(X))[2] == [x.tolist() for x in X[2] if x.any()]


def test_arrays_are_not_copied(tmp_path):
    X = padded(ragged(dtype=np.float16))
    np.save(tmp_path / "states.npy", X)
    mapped = np.load(tmp_path / "states.npy", mmap_mode="r")
    rows = as_state_rows(mapped)
    assert np.shares_memory(rows.states, mapped)
    assert rows.take([3, 1]).states is rows.states
    assert rows.take([3]).padded()["states"].dtype == np.float16


def test_picking_rows_and_leaving_tokens_out():
    rows = as_state_rows(ragged(20))
    assert content(rows.take([4, 2])) == [content(rows)[4], content(rows)[2]]
    assert content(rows[3:5]) == content(rows)[3:5]
    assert content(rows[np.arange(20) % 2 == 0]) == content(rows)[::2]
    dropped = rows.drop(0.5, np.random.default_rng(0))
    assert ((dropped.lengths > 0) == (rows.lengths > 0)).all()
    assert dropped.lengths.sum() < rows.lengths.sum()
    for left, row in zip(content(dropped), content(rows), strict=True):
        assert all(states in row for states in left)
    assert content(rows.first(2)) == [row[:2] for row in content(rows)]


def test_means_of_rows(monkeypatch):
    X = ragged(40, dtype=np.float64)
    expected = [row.mean(axis=0) if len(row) else np.zeros(3) for row in X]
    for block in (1, 7, 10_000):
        monkeypatch.setattr("sklearn_mrmp._input.state_rows._BLOCK", block)
        np.testing.assert_allclose(as_state_rows(X).pooled(), expected, atol=1e-6)


def test_a_fingerprint_depends_on_the_content_of_the_row_alone(monkeypatch):
    X = ragged(40, dtype=np.float16)
    marks = as_state_rows(X).fingerprints()
    assert len(set(marks[[len(row) > 0 for row in X]])) == sum(len(row) > 0 for row in X)
    monkeypatch.setattr("sklearn_mrmp._input.state_rows._BLOCK", 3)
    np.testing.assert_array_equal(as_state_rows(padded(X)[::-1]).fingerprints()[::-1], marks)


def test_rows_without_any_token_are_rows():
    rows = as_state_rows([np.zeros((0, 3), np.float32)] * 2)
    batch = rows.padded()
    assert batch["states"].shape == (2, 1, 3)
    assert not batch["mask"].any()
    assert np.isfinite(batch["states"]).all()
    assert not rows.pooled().any()


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([np.ones((2, 3)), np.ones((2, 4))], r"first has the shape \(2, 3\), another \(2, 4\)"),
        ([np.ones(3)], r"must be an array \(n_tokens, width\)"),
        (np.ones((2, 3)), r"\(n_samples, n_tokens, width\), got \(2, 3\)"),
        ([np.full((2, 3), np.nan)], "NaN or infinity"),
        (np.full((1, 2, 3), np.inf), "NaN or infinity"),
        (np.ones((1, 2, 3), dtype=int), "must be floats, got an array of int64"),
        (np.ones((1, 2, 3), dtype=complex), "must be numbers, got an array of complex128"),
        ([], "0 sample"),
    ],
)
def test_what_is_wrong_is_said(X, message):
    with pytest.raises(ValueError, match=message):
        as_state_rows(X)


@pytest.mark.parametrize("X", ["text", 3])
def test_other_things_are_refused(X):
    with pytest.raises(TypeError, match="must be arrays"):
        as_state_rows(X)


@pytest.mark.parametrize(
    ("X", "is_one"),
    [
        (np.zeros((2, 3, 4)), True),
        (ragged(), True),
        (np.zeros((2, 3)), False),
        ([[1, 2], [3, 4]], False),
        (["a text", "another"], False),
        ([], False),
    ],
)
def test_rows_are_recognised(X, is_one):
    assert StateInput.recognises(X) == is_one
