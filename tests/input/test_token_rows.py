"""Token rows: taken, left out, told apart and padded."""

import numpy as np
import scipy.sparse as sp

from tests.tiny import feature_input, sequence_input, tokens


def rows_of(rows):
    return [part.tolist() for part in np.split(rows.tokens, rows.starts[1:-1])]


def test_take_returns_rows_in_the_asked_order():
    X = np.array([[1, 2, 3, 0], [4, 0, 0, 0], [0, 0, 0, 0], [5, 6, 0, 0]])
    rows = tokens(sequence_input(X), X)
    assert rows_of(rows.take(np.array([3, 2, 0]))) == [[5, 6], [], [1, 2, 3]]


def test_drop_leaves_tokens_out_but_never_empties_a_row():
    X = np.random.default_rng(0).random((200, 30))
    X[3] = 0
    rows = tokens(feature_input(X), X)
    dropped = rows.drop(0.9, np.random.default_rng(1))
    assert 0.08 < len(dropped.tokens) / len(rows.tokens) < 0.14
    assert (dropped.lengths[rows.lengths > 0] >= 1).all()
    assert dropped.lengths[3] == 0
    assert len(dropped.values) == len(dropped.tokens)


def test_drop_keeps_the_positions_of_a_sequence():
    X = np.tile(np.arange(1, 31), (50, 1))
    rows = tokens(sequence_input(X), X)
    dropped = rows.take(np.arange(50)).drop(0.5, np.random.default_rng(0))
    np.testing.assert_array_equal(dropped.lengths, rows.lengths)
    replaced = dropped.tokens != rows.tokens
    assert 0.4 < replaced.mean() < 0.6
    assert (dropped.tokens[replaced] == 31).all()


def test_fingerprints_depend_on_content_alone():
    X = np.array([[1, 2, 3], [2, 1, 3], [1, 2, 3], [0, 0, 0], [1, 2, 0]])
    prints = tokens(sequence_input(X), X).fingerprints()
    assert prints[0] == prints[2]
    assert len(set(prints.tolist())) == 4
    values = tokens(feature_input(X[:2]), X[:2]).fingerprints()
    assert values[0] != values[1]


def test_they_stay_with_their_tokens():
    rng = np.random.default_rng(0)
    X = sp.csr_array((rng.random((30, 25)) < 0.2) * rng.integers(1, 5, (30, 25)))
    rows = tokens(feature_input(X, weighted=True), X)
    some = rows.take(np.array([7, 3])).drop(0.5, rng)
    for number, row in enumerate((7, 3)):
        whole = slice(rows.starts[row], rows.starts[row + 1])
        known = dict(zip(rows.tokens[whole], rows.weights[whole], strict=True))
        part = slice(some.starts[number], some.starts[number + 1])
        assert [known[t] for t in some.tokens[part]] == some.weights[part].tolist()


def test_words_that_are_left_out_weigh_nothing():
    ids = np.array([[1, 2, 3, 4], [1, 5, 0, 0], [1, 6, 7, 0]])
    rows = tokens(sequence_input(ids, weighted=True), ids)
    dropped = rows.drop(0.6, np.random.default_rng(0))
    is_unknown = dropped.tokens == dropped.unknown
    assert is_unknown.any()
    assert (dropped.weights[is_unknown] == 0).all()
    np.testing.assert_array_equal(dropped.weights[~is_unknown], rows.weights[~is_unknown])


def test_padded_batch_has_mask_only_where_padding_is():
    X = np.array([[1, 2, 3], [4, 0, 0], [0, 0, 0]])
    rows = tokens(sequence_input(X), X)
    batch = rows.padded()
    assert batch["tokens"].tolist() == X.tolist()
    assert batch["mask"].tolist() == (X > 0).tolist()
    assert "values" not in batch
    assert "mask" not in rows.take(np.array([0])).padded()


def test_batch_of_empty_rows_keeps_a_place_for_them():
    X = np.zeros((2, 3), dtype=int)
    batch = tokens(sequence_input(X), X).padded()
    assert batch["tokens"].shape == (2, 1)
    assert not batch["mask"].any()


def test_weights_are_the_mask_and_padding_is_minus_infinity():
    X = sp.csr_array([[0, 1.0, 3, 0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0, 0, 0], [0] * 9])
    rows = tokens(feature_input(X, weighted=True), X)
    mask = rows.padded()["mask"]
    assert mask.dtype == np.float32
    assert np.isfinite(mask).tolist() == [[True, True], [True, False], [False, False]]
    np.testing.assert_array_equal(mask[np.isfinite(mask)], rows.weights)
