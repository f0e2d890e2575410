"""Text to token ids."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer

from sklearn_mrmp import TokenSequenceVectorizer
from sklearn_mrmp._input.token_marks import is_token_sequence
from tests.tiny import tiny

TEXTS = ["The cat sat.", "the dog sat on the cat", "Été!"]


def test_ids_follow_frequency_and_leave_room_for_padding_and_unknown():
    vectorizer = TokenSequenceVectorizer().fit(TEXTS)
    assert vectorizer.vocabulary_["the"] == 2  # the most frequent
    X = vectorizer.transform(["the cat", "a bird sat"])
    assert X.shape == (2, 6)
    assert X[0].tolist() == [2, vectorizer.vocabulary_["cat"], 0, 0, 0, 0]
    assert X[1, :3].tolist() == [1, 1, vectorizer.vocabulary_["sat"]]


def test_fit_transform_equals_fit_then_transform():
    vectorizer = TokenSequenceVectorizer(max_len=4)
    together = vectorizer.fit_transform(TEXTS)
    np.testing.assert_array_equal(together, vectorizer.transform(TEXTS))
    assert together.dtype == np.int32


@pytest.mark.parametrize(
    ("options", "vocabulary"),
    [
        ({"max_features": 1}, {"the"}),
        ({"min_df": 2}, {"the", "cat", "sat"}),
        ({"max_df": 1}, {".", "dog", "on", "été", "!"}),
        ({"max_df": 0.4, "min_df": 0.3}, {".", "dog", "on", "été", "!"}),
        ({"lowercase": False, "max_features": 2}, {"cat", "sat"}),
        ({"strip_accents": True, "token_pattern": r"\bete\b"}, {"ete"}),
        ({"tokenizer": str.split, "max_features": 1}, {"the"}),
    ],
)
def test_vocabulary_limits(options, vocabulary):
    assert set(TokenSequenceVectorizer(**options).fit(TEXTS).vocabulary_) == vocabulary


def test_without_unknown_token_other_words_are_left_out():
    vectorizer = TokenSequenceVectorizer(unknown_token=None).fit(TEXTS)
    assert min(vectorizer.vocabulary_.values()) == 1
    X = vectorizer.transform(["zebra cat"])
    assert X[0].tolist() == [vectorizer.vocabulary_["cat"], 0, 0, 0, 0, 0]


def test_max_len_keeps_the_start():
    X = TokenSequenceVectorizer(max_len=2).fit_transform(TEXTS)
    assert X.shape == (3, 2)


def test_column_names_are_positions():
    vectorizer = TokenSequenceVectorizer(max_len=2).fit(TEXTS)
    assert vectorizer.get_feature_names_out().tolist() == ["token0", "token1"]


def test_output_is_recognised_as_a_sequence_also_as_rows_and_as_data_frame():
    vectorizer = TokenSequenceVectorizer()
    X = vectorizer.fit_transform(TEXTS)
    assert is_token_sequence(X)
    assert is_token_sequence(X[[2, 0]])
    assert not is_token_sequence(np.asarray(X))
    assert is_token_sequence(vectorizer.set_output(transform="pandas").transform(TEXTS))


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_a_column_of_text_is_recognised_behind_a_column_transformer(output):
    table = pd.DataFrame({"text": TEXTS, "n": [1.5, 2, 3]})
    columns = ColumnTransformer([("text", TokenSequenceVectorizer(), "text"), ("n", "drop", ["n"])])
    columns.set_output(transform=output)
    assert is_token_sequence(columns.fit_transform(table))
    assert is_token_sequence(columns.transform(table))


def test_rows_put_together_are_recognised_and_columns_put_together_are_not():
    X = TokenSequenceVectorizer().fit_transform(TEXTS)
    for rows in (np.vstack([X, X]), np.concatenate((X, X)), np.concatenate([X], axis=1)):
        assert is_token_sequence(rows)
    assert is_token_sequence(make_union(TokenSequenceVectorizer()).fit_transform(TEXTS))
    assert is_token_sequence(FunctionTransformer().fit_transform(X))
    numbers = np.arange(3)[:, None]
    for columns in (np.hstack([X, numbers]), np.hstack([X, X]), np.vstack([X, np.asarray(X)])):
        assert not is_token_sequence(columns)


@pytest.mark.parametrize("output", ["default", "pandas"])
@pytest.mark.parametrize("order", [1, -1])
def test_token_ids_beside_other_columns_are_warned_about(output, order):
    table = pd.DataFrame({"text": ["a b", "b", "c a"] * 8, "n": np.arange(24)})
    parts = [("text", TokenSequenceVectorizer(), "text"), ("n", "passthrough", ["n"])]
    columns = ColumnTransformer(parts[::order]).set_output(transform=output)
    model = make_pipeline(columns, tiny(max_epochs=1))
    with pytest.warns(UserWarning, match="input_type"):
        model.fit(table, np.tile([[1, 0], [0, 1]], (12, 1)))
    assert model[-1].input_type_ == "features"


def test_bad_texts_are_refused():
    with pytest.raises(ValueError, match="string object received"):
        TokenSequenceVectorizer().fit("one text")
    with pytest.raises(TypeError, match="got int: 3"):
        TokenSequenceVectorizer().fit(["a", 3])
    with pytest.raises(ValueError, match="Empty vocabulary"):
        TokenSequenceVectorizer().fit(["", " "])
    with pytest.raises(ValueError, match="'max_len' parameter"):
        TokenSequenceVectorizer(max_len=0).fit(TEXTS)


def test_pipeline_on_strings_reads_them_as_sequences():
    texts = ["good film", "bad film", "good book", "bad book"] * 10
    Y = np.array([[1, 0], [0, 0], [1, 1], [0, 1]] * 10)
    model = make_pipeline(
        TokenSequenceVectorizer(),
        tiny(d_model=16, max_epochs=15, lr=0.01, batch_size=32),
    ).fit(texts, Y)
    assert model[-1].input_type_ == "sequence"
    np.testing.assert_array_equal(model.predict(texts[:4]), Y[:4])
