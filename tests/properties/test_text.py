"""The vectorizer, for any texts: a documented error, or ids that lead back to the tokens."""

import re

import numpy as np
import pytest
from hypothesis import strategies as st

from sklearn_mrmp import MrMPClassifier, TokenSequenceVectorizer
from tests.properties.strategies import DOCUMENTED, holds_for

SIGNS = st.one_of(st.characters(), st.sampled_from(list("ab  \n\t\0é̈ß中😀\u202e\ud800_1.,!")))
texts = st.lists(st.text(SIGNS, max_size=12), min_size=0, max_size=6)
options = st.fixed_dictionaries(
    {},
    optional={
        "max_len": st.integers(0, 6),
        "max_features": st.one_of(st.none(), st.integers(0, 4)),
        "min_df": st.sampled_from([0.0, 0.5, 1, 2]),
        "max_df": st.sampled_from([0.0, 0.5, 1.0, 3]),
        "lowercase": st.booleans(),
        "strip_accents": st.booleans(),
        "token_pattern": st.sampled_from([r"\w+", r".", r"(", r"(\w)(\w)", r"", r"\b"]),
        "unknown_token": st.sampled_from(["<unk>", None]),
    },
)


@holds_for(80, train=texts, new=texts, options=options)
def test_ids_stand_for_the_tokens_of_the_vocabulary(train, new, options):
    vectorizer = TokenSequenceVectorizer(**options)
    try:
        X = np.asarray(vectorizer.fit_transform(train))
        X_new = np.asarray(vectorizer.transform(new))
    except DOCUMENTED:
        return
    assert X.shape == (len(train), vectorizer.max_len_)
    assert X_new.shape == (len(new), vectorizer.max_len_)
    first = 1 if vectorizer.unknown_token is None else 2
    ids = sorted(vectorizer.vocabulary_.values())
    assert ids == list(range(first, first + len(ids)))
    assert min(X.min(initial=0), X_new.min(initial=0)) == 0
    assert max(X.max(initial=0), X_new.max(initial=0)) <= max(ids)
    np.testing.assert_array_equal(np.asarray(vectorizer.transform(train)), X)
    token_of = {i: token for token, i in vectorizer.vocabulary_.items()}
    find = re.compile(vectorizer.token_pattern).findall
    for row, text in zip(X_new.tolist(), new, strict=True):
        known = [token_of[i] for i in row if i >= first]
        tokens = iter(find(vectorizer._prepared(text)))
        assert all(token in tokens for token in known)  # in the same order


@pytest.mark.parametrize(
    "wrong", ["one text", None, 3, [b"bytes"], [None], [1.5], [["a", "b"]], np.ones((2, 2))]
)
def test_what_is_not_a_list_of_texts_is_refused(wrong):
    with pytest.raises(DOCUMENTED):
        TokenSequenceVectorizer().fit(wrong)


@pytest.mark.filterwarnings("ignore")
@holds_for(8, train=texts, new=texts, max_len=st.integers(1, 5))
def test_any_texts_can_be_classified(train, new, max_len):
    try:
        vectorizer = TokenSequenceVectorizer(max_len=max_len).fit(train)
    except DOCUMENTED:
        return
    X, X_new = vectorizer.transform(train), vectorizer.transform(new)
    Y = np.arange(2 * len(train)).reshape(-1, 2) // 2 % 2
    clf = MrMPClassifier(d_model=4, n_heads=1, max_epochs=1, random_state=0)
    try:
        P = clf.fit(X, Y).predict_proba(X_new)
    except ValueError:
        assert min(len(train), len(new)) < 2
        return
    assert P.shape == (len(new), 2)
    assert np.isfinite(P).all()
