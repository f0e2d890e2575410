"""Sequences as tokens: in order, with one token for all that is unknown."""

import numpy as np
import pytest

from sklearn_mrmp import TokenSequenceVectorizer
from sklearn_mrmp._input.features import FeatureInput
from sklearn_mrmp._input.kinds import input_kind
from sklearn_mrmp._input.rows import EncodedRows
from sklearn_mrmp._input.sequence import SequenceInput
from tests.tiny import sequence_input, tokens


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


def test_the_output_of_the_vectorizer_is_recognised_and_plain_arrays_are_not():
    ids = TokenSequenceVectorizer().fit_transform(["a b", "b"])
    assert input_kind("auto", ids) is SequenceInput
    assert input_kind("auto", np.asarray(ids)) is FeatureInput
    assert input_kind("sequence", np.asarray(ids)) is SequenceInput
