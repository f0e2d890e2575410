"""Texts are explained in their words, with the characters where they stand."""

import numpy as np
import pytest
from scipy.special import logit
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from sklearn_mrmp import Explanation
from tests.tiny import tiny

TEXTS = ["oak buys elm", "elm sells ash today", "ash, buys oak", "pine sells elm at sea"] * 10
Y = np.array([[1, 0], [0, 1], [1, 0], [0, 1]] * 10)
TEXT = "Oak SELLS, 3 <b>ash</b> trees; oak!"


@pytest.fixture(scope="module")
def encoder():
    pytest.importorskip("transformers")
    from tests.tiny_encoder import tiny_encoder

    return tiny_encoder(TEXTS, window=12)


@pytest.mark.parametrize("options", [{}, {"max_tokens": 30}, {"encoder_lr": 1e-4}])
def test_words_of_a_text_are_those_of_its_characters(encoder, options):
    clf = tiny(encoder=encoder, **options).fit(TEXTS, Y)
    (item,) = clf.explain([TEXT], labels=[1])
    p = float(clf.predict_proba([TEXT])[0, 1])
    assert item.log_odds == pytest.approx(logit(p), abs=1e-4)
    assert item.text == TEXT
    for part in ("network", "linear"):
        terms = item.inside[part]
        assert terms.total == pytest.approx(item.parts[part], abs=1e-9)
        for name, spans in zip(terms.names, terms.spans, strict=True):
            assert all(TEXT[start:end].lower() == name for start, end in spans)
    network = item.inside["network"]
    assert network.names[0] == "[CLS]"
    assert network.spans[0] == ()
    assert network.names[1:4].tolist() == ["oak", "sells", ","]
    linear = dict(zip(item.inside["linear"].names, item.inside["linear"].spans, strict=True))
    assert linear["oak"] == ((0, 3), (31, 34))


def test_pieces_of_a_word_are_put_together():
    from sklearn_mrmp._explain.naming import TextNames

    class Encoder:
        max_tokens = None

        def token_spans(self, text, max_tokens):
            return ["[CLS]", "un", "##known", "▁word"], [None, (0, 2), (2, 7), (7, 12)]

    class Kind:
        encoder, max_tokens = Encoder(), None
        words_ = TfidfVectorizer().fit(["unknown word"])

    class Rows:
        class canonical:
            texts = ("Unknown word",)

    names, spans, groups = TextNames(Kind(), Rows()).of_tokens(0)
    assert names.tolist() == ["[CLS]", "unknown", "word"]
    assert spans == ((), ((0, 7),), ((8, 12),))
    assert groups.tolist() == [0, 1, 1, 2]


def test_pipelines_bring_their_names_and_texts():
    clf = tiny(voters=("linear",), label_sets=False)
    pipeline = make_pipeline(TfidfVectorizer(), clf).fit(TEXTS, Y)
    explanation = Explanation.from_estimator(pipeline, [TEXT], labels=[0, 1])
    p = pipeline.predict_proba([TEXT])[0].astype(float)
    for item in explanation:
        assert item.log_odds == pytest.approx(logit(p[int(item.label)]), abs=1e-4)
        assert item.text == TEXT
    marks = {TEXT[start:end] for start, end, _ in explanation[0].marks()}
    assert {"Oak", "SELLS", "ash", "oak"} <= marks
    # "buys" and "sells" are the only words that tell the two labels apart.
    values = Explanation.from_estimator(pipeline, ["buys oak"], labels=[0])[0].features()
    assert next(iter(values)).startswith(("buys", "sells"))
