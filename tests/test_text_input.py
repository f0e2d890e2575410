"""`MrMPClassifier(encoder=...)` on raw texts, from strings to a saved model."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_mrmp import MrMPClassifier, load
from sklearn_mrmp._encoders.text import PretrainedEncoder
from tests.tiny import tiny
from tests.tiny_encoder import tiny_encoder

pytest.importorskip("transformers")
WORDS = np.array(["sea", "ship", "desert", "sun", "sand", "wave", "boat", "camel", "fish", "rock"])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, size=rng.integers(1, 16))) for _ in range(100)]
    return texts, np.array([[w in t for w in ("sea", "ship", "camel")] for t in texts]).astype(int)


@pytest.fixture(scope="module")
def encoder(data):
    return tiny_encoder(data[0])


@pytest.fixture(scope="module")
def folder(encoder, tmp_path_factory):
    path = tmp_path_factory.mktemp("encoder")
    for part in encoder:
        part.save_pretrained(path)
    return str(path)


@pytest.fixture(scope="module")
def fitted(data, folder):
    return tiny(encoder=folder).fit(*data)


FORMS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "objects": lambda texts: np.array(texts, dtype=object),
    "Series": pd.Series,
    "frame": lambda texts: pd.DataFrame({"text": texts}),
    "column": lambda texts: np.array(texts, dtype=object)[:, None],
}


@pytest.mark.parametrize("form", FORMS)
def test_texts_come_in_any_form(data, fitted, folder, form):
    texts, Y = data
    P = fitted.predict_proba(texts)
    np.testing.assert_array_equal(fitted.predict_proba(FORMS[form](texts)), P)
    clf = tiny(encoder=folder).fit(FORMS[form](texts), Y)
    assert clf.input_type_ == "text"
    np.testing.assert_array_equal(clf.predict_proba(texts), P)


def test_the_network_reads_states_and_the_others_words(fitted):
    assert fitted.net_.module__embedding == {"kind": "states", "width": 32}
    assert len(fitted.net_.module_.encoder.layers) == 0
    assert fitted.voters_.linear.model.coef_.shape == (len(WORDS), 3)


def test_each_text_is_encoded_once_per_fit(data, encoder, monkeypatch):
    texts, Y = data
    seen, encode = [], PretrainedEncoder.encode

    def counted(self, texts, *args):
        seen.extend(texts)
        return encode(self, texts, *args)

    monkeypatch.setattr(PretrainedEncoder, "encode", counted)
    for options in ({}, {"cv": 2}, {"refit": True}):
        seen.clear()
        tiny(encoder=encoder, max_epochs=1, **options).fit(texts, Y)
        assert sorted(seen) == sorted(texts)


def test_progress_is_shown_when_asked_for(data, folder, capsys):
    texts, Y = data
    tiny(encoder=folder, max_epochs=1, voters=("linear",), verbose=1).fit(texts, Y)
    lines = capsys.readouterr().out.splitlines()
    told = [line for line in lines if "texts:" in line]
    assert told[-1] == "[sklearn_mrmp] texts: 100 % of 100 encoded"
    assert len(told) <= 10


def test_targets_are_checked_before_texts_are_encoded(data, folder, monkeypatch):
    monkeypatch.setattr(PretrainedEncoder, "encode", None)
    with pytest.raises(ValueError, match="only 0 and 1"):
        tiny(encoder=folder).fit(data[0], 2 * data[1])


def test_a_text_does_not_depend_on_the_others(data, fitted):
    texts, _ = data
    P = fitted.predict_proba(texts)
    alone = np.vstack([fitted.predict_proba(texts[i : i + 1]) for i in range(10)])
    np.testing.assert_allclose(alone, P[:10], rtol=2e-2, atol=1e-3)  # states are half precision


def test_model_files_name_the_encoder_and_refuse_another(data, fitted, encoder, tmp_path):
    texts, Y = data
    fitted.save(tmp_path / "by_name.mrmp")
    P = fitted.predict_proba(texts)
    np.testing.assert_array_equal(load(tmp_path / "by_name.mrmp").predict_proba(texts), P)
    assert (tmp_path / "by_name.mrmp").stat().st_size < 200_000
    given = tiny(encoder=encoder).fit(texts, Y)
    with pytest.warns(UserWarning, match="Not saved"):
        given.save(tmp_path / "given.mrmp")
    loaded = load(tmp_path / "given.mrmp")
    with pytest.raises(ValueError, match=r"set_params\(encoder=\(model, tokenizer\)\)"):
        loaded.predict(texts)
    with pytest.raises(ValueError, match="is not the one that this model was fitted with"):
        loaded.set_params(encoder=tiny_encoder(texts, seed=1)).predict(texts)
    np.testing.assert_array_equal(loaded.set_params(encoder=encoder).predict_proba(texts), P)


def test_pickles_clones_searches_and_pipelines(data, fitted, folder):
    texts, Y = data
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(texts), fitted.predict_proba(texts))
    assert clone(fitted).encoder == folder
    clf = tiny(encoder=folder, max_epochs=1)
    search = GridSearchCV(clf, {"max_tokens": [4, None]}, cv=2, n_jobs=2).fit(texts, Y)
    assert search.predict(texts).shape == Y.shape
    assert cross_val_predict(clf, texts, Y, cv=2).shape == Y.shape
    pipeline = make_pipeline(FunctionTransformer(), clf).fit(texts, Y)
    assert pipeline.predict(texts).shape == Y.shape


def test_checkpoints_know_the_encoder(data, folder, encoder, tmp_path):
    texts, Y = data
    expected = tiny(encoder=folder, checkpoint_dir=tmp_path).fit(texts, Y).predict_proba(texts)
    again = tiny(encoder=encoder, checkpoint_dir=tmp_path).fit(texts, Y).predict_proba(texts)
    np.testing.assert_array_equal(again, expected)
    other = tiny_encoder(texts, seed=1)
    with pytest.raises(ValueError, match="encoder was"):
        tiny(encoder=other, checkpoint_dir=tmp_path).fit(texts, Y)


def test_texts_without_words_are_texts(data, fitted, encoder):
    _, Y = data
    assert np.isfinite(fitted.predict_proba(["", "!?", "never seen"])).all()
    clf = tiny(encoder=encoder, max_epochs=1).fit(["?"] * 100, Y)
    assert np.isfinite(clf.predict_proba(["sea"])).all()


def test_what_is_missing_or_wrong_is_said(data, fitted, encoder):
    texts, Y = data
    with pytest.raises(ValueError, match=r"encoder='.*make_pipeline\(TfidfVectorizer\(\)"):
        MrMPClassifier().fit(texts, Y)
    with pytest.raises(ValueError, match="encoder= is for texts"):
        tiny(encoder=encoder).fit(np.ones((100, 2)), Y)
    with pytest.raises(ValueError, match="Row 1 is no text but 3"):
        tiny(encoder=encoder).fit(["a", 3], Y[:2])
    with pytest.raises(ValueError, match="must be a list, a vector or a single column of str"):
        fitted.predict("one text")
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        tiny(encoder=encoder).fit(texts[1:], Y)
