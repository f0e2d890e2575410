"""Sequences as tokens: in order, with one token for all that is unknown."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from sklearn_mrmp import TokenSequenceVectorizer
from sklearn_mrmp._input.features import FeatureInput
from sklearn_mrmp._input.kinds import input_kind
from sklearn_mrmp._input.rows import EncodedRows
from sklearn_mrmp._input.sequence import SequenceInput
from tests.tiny import sequence_input, tiny, tokens


def rows_of(rows):
    return [part.tolist() for part in np.split(rows.tokens, rows.starts[1:-1])]


def test_sequences_keep_order_and_lose_padding():
    X = np.array([[3, 1, 2, 0], [2, 0, 0, 0], [0, 0, 0, 0]])
    encoder = sequence_input(X)
    assert rows_of(tokens(encoder, X)) == [[3, 1, 2], [2], []]
    assert rows_of(tokens(sequence_input(X, max_tokens=2), X)) == [[3, 1], [2], []]


def test_ids_above_those_of_training_share_one_untrained_token():
    encoder = sequence_input(np.array([[1, 3]]))
    rows = tokens(encoder, np.array([[3, 4, 99]]))
    assert rows_of(rows) == [[3, 4, 4]]
    assert encoder.trained_.tolist() == [True, False, True, False]


def test_sequence_ids_must_be_non_negative_integers():
    with pytest.raises(ValueError, match=r"integer token ids, found 1\.5"):
        sequence_input(np.array([[1.5, 0]]))
    with pytest.raises(ValueError, match="found -2"):
        sequence_input(np.array([[1, -2]]))


def test_rare_words_of_a_sequence_weigh_more_and_unknown_ones_nothing():
    ids = np.array([[1, 2, 0], [1, 3, 1], [1, 0, 0]])
    encoder = sequence_input(ids, weighted=True)
    weights = tokens(encoder, np.array([[1, 2, 9]])).weights
    expected = np.log(1 + np.log([4 / 4, 4 / 2]))
    np.testing.assert_allclose(weights, [*expected, 0.0], rtol=1e-6)


def test_linear_voters_read_sequences_as_bags_of_words():
    ids = TokenSequenceVectorizer(token_pattern=r"\w").fit_transform(["a b b", "b c"])
    bag = EncodedRows.of(SequenceInput(), ids).fit_encoder().bag
    assert sorted(bag[[0]].data.tolist()) == [1, 2]
    assert bag.sum() == 5


def test_counting_words_leaves_the_sequences_as_they_are():
    rows = EncodedRows.of(SequenceInput(), np.array([[2, 3, 2], [3, 0, 0]])).fit_encoder()
    before = rows_of(rows.tokens)
    assert rows.bag.sum() == 4
    assert rows_of(rows.tokens) == before == [[2, 3, 2], [3]]


def test_estimators_of_the_user_read_word_counts():
    rows = EncodedRows.of(SequenceInput(), np.array([[2, 3, 2], [3, 0, 0]])).fit_encoder()
    assert rows.table.toarray().tolist() == [[0, 2, 1, 0], [0, 0, 1, 0]]


def padded_ids(n_rows=300, n_columns=12, n_ids=500, seed=0):
    """Return token ids of texts of different lengths, as a plain array."""
    rng = np.random.default_rng(seed)
    ids = rng.integers(1, n_ids, (n_rows, n_columns))
    return ids * (np.arange(n_columns) < rng.integers(0, n_columns + 1, (n_rows, 1)))


def warned(X, input_type="auto"):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kind = input_kind(input_type, X)
    assert kind.name == (input_type if input_type != "auto" else "features")
    assert all("input_type='sequence'" in str(w.message) for w in caught)
    return bool(caught)


@pytest.mark.parametrize("make", [np.array, pd.DataFrame, lambda X: np.array(X, dtype=np.uint16)])
@pytest.mark.parametrize("seed", range(3))
def test_token_ids_that_lost_their_mark_are_warned_about(make, seed):
    assert warned(make(padded_ids(seed=seed)))


def test_fit_warns_about_token_ids_that_lost_their_mark_and_is_silent_when_told():
    X, Y = padded_ids(150, 5), np.tile([[1, 0], [0, 1]], (75, 1))
    model = tiny(max_epochs=1, voters=("linear",))
    with pytest.warns(UserWarning, match="input_type='sequence'"):
        model.fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(input_type="features").fit(X, Y)
        model.set_params(input_type="sequence").fit(X, Y)


def ordinary_matrices(seed):
    """Yield matrices of whole numbers that are what they seem to be."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(100, 400)), int(rng.integers(2, 30))
    for mean in (0.1, 1, 5, 50, 1000):
        yield rng.poisson(mean, (n, d))
        yield rng.geometric(1 / (mean + 1), (n, d)) - 1  # as spread out as counts get
        yield rng.poisson(mean * rng.gamma(0.3, size=(n, d)))
    yield np.eye(d, dtype=int)[rng.integers(0, d, n)]
    yield rng.integers(0, 2, (n, d))
    yield np.full((n, d), 7)
    yield np.zeros((n, d), dtype=int)
    yield np.sort(rng.poisson(3, (n, d)))[:, ::-1]  # few values, zeros last
    yield rng.integers(0, 256, (n, 8 * 8))  # pixels
    income, price = rng.integers(10_000, 90_000, (2, n))
    orders = rng.poisson(1, n)
    yield np.column_stack([income, price, rng.integers(0, 2, n)])
    yield np.column_stack([income, price, orders, rng.binomial(orders, 0.2)])
    yield np.column_stack([rng.integers(18, 90, n), income, np.where(orders > 1, price, 0)])


@pytest.mark.parametrize("seed", range(20))
def test_counts_measurements_and_indicators_are_not_warned_about(seed):
    assert not any(warned(X) for X in ordinary_matrices(seed))


def test_other_input_is_never_warned_about():
    X = padded_ids()
    assert not any(warned(kind(X)) for kind in (sp.csr_array, sp.csc_matrix, sp.coo_array))
    assert not warned(X, "features")
    assert not warned(X, "sequence")
    assert not warned(X + 0.5)
    assert not warned(X[:, ::-1])  # zeros first
    assert not warned(-X)
    assert not warned(X[:0])
    assert not warned(padded_ids(n_ids=50))  # too few to tell them from counts
    assert not warned(X.tolist())


def test_ids_that_no_table_has_room_for_are_refused_with_a_way_out():
    for dtype in (np.int64, np.float64, np.uint64):
        with pytest.raises(ValueError, match=rf"{2**40}.*return_inverse"):
            sequence_input(np.array([[1, 2**40]], dtype=dtype))
    assert sequence_input(np.array([[1, 2**16]])).n_tokens_ == 2**16 + 1


@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.uint64, np.float32])
def test_huge_ids_are_unknown_to_a_fitted_model(dtype):
    encoder = sequence_input(np.array([[1, 3]]))
    huge = np.array([[3, 2.0**40, np.finfo(np.float32).max if dtype != np.uint64 else 2**63]])
    if dtype == np.int64:
        huge[0, 2] = 2.0**62
    assert rows_of(tokens(encoder, huge.astype(dtype))) == [[3, 4, 4]]


def test_the_output_of_the_vectorizer_is_recognised_and_plain_arrays_are_not():
    ids = TokenSequenceVectorizer().fit_transform(["a b", "b"])
    assert input_kind("auto", ids) is SequenceInput
    assert input_kind("auto", np.asarray(ids)) is FeatureInput
    assert input_kind("sequence", np.asarray(ids)) is SequenceInput
