"""`TextEncoder`: token states or mean states of texts, for any estimator."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_param_validation

import sklearn_mrmp
from sklearn_mrmp import MrMPClassifier, TextEncoder, load
from sklearn_mrmp._encoders.text import PretrainedEncoder
from tests.tiny import tiny
from tests.tiny_encoder import tiny_encoder

pytest.importorskip("transformers")
WORDS = np.array(["sea", "ship", "desert", "sun", "sand", "wave", "boat", "camel", "fish", "rock"])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, size=rng.integers(1, 16))) for _ in range(60)]
    return texts, np.array([[w in t for w in ("sea", "ship", "camel")] for t in texts]).astype(int)


@pytest.fixture(scope="module")
def pair(data):
    return tiny_encoder(data[0])


@pytest.fixture(scope="module")
def folder(pair, tmp_path_factory):
    path = tmp_path_factory.mktemp("encoder")
    for part in pair:
        part.save_pretrained(path)
    return str(path)


@pytest.fixture
def n_encoded(monkeypatch):
    """Collect the numbers of texts that are encoded and not found."""
    seen, encoded = [], PretrainedEncoder._encoded

    def counted(self, texts, *args):
        seen.append(len(texts))
        return encoded(self, texts, *args)

    monkeypatch.setattr(PretrainedEncoder, "_encoded", counted)
    return seen


def regression(**options):
    return OneVsRestClassifier(LogisticRegression(**options))


def test_states_are_rows_of_tokens_that_the_classifier_reads(data, folder):
    texts, Y = data
    rows = TextEncoder(folder).fit_transform(texts)
    assert rows.shape == (60, 32)
    assert rows.states.dtype == np.float16
    clf = tiny().fit(rows, Y)
    assert clf.input_type_ == "states"
    assert clf.predict(rows).shape == Y.shape
    train, test, Y_train, Y_test = train_test_split(rows, Y, random_state=0)
    assert tiny(max_epochs=1).fit(train, Y_train).predict(test).shape == Y_test.shape


def test_mean_states_are_a_matrix(data, folder):
    texts, _ = data
    states = TextEncoder(folder, layers="last").fit_transform(texts)
    means = TextEncoder(folder, pooling="mean").fit(texts).transform(texts)
    assert isinstance(means, np.ndarray)
    assert means.dtype == np.float32
    np.testing.assert_allclose(means, states.pooled(), atol=2e-3)
    one = states.take(np.array([3])).padded()["states"][0].astype(np.float32)
    np.testing.assert_allclose(means[3], one.mean(axis=0), atol=2e-3)


def test_columns_of_mean_states_have_names(folder):
    encoder = TextEncoder(folder, pooling="mean").fit()
    names = encoder.get_feature_names_out()
    assert names.tolist() == [f"textencoder{i}" for i in range(16)]
    with pytest.raises(ValueError, match="pooling='mean'"):
        TextEncoder(folder).fit().get_feature_names_out()
    with pytest.raises(NotFittedError):
        TextEncoder(folder, pooling="mean").get_feature_names_out()


def test_tokens_are_limited(data, folder):
    rows = TextEncoder(folder, max_tokens=5).fit_transform(data[0])
    assert rows.lengths.max() == 5
    assert TextEncoder(folder, max_tokens=100).fit_transform(data[0]).lengths.max() > 12


def test_it_works_in_pipelines_searches_and_beside_other_columns(data, folder, tmp_path):
    texts, Y = data
    encoder = TextEncoder(folder, pooling="mean", cache_dir=tmp_path)
    model = make_pipeline(encoder, StandardScaler(), regression())
    grid = {"textencoder__max_tokens": [4, None]}
    search = GridSearchCV(model, grid, cv=2, n_jobs=2).fit(texts, Y)
    assert search.predict(texts).shape == Y.shape
    assert cross_val_predict(model, texts, Y, cv=2).shape == Y.shape
    union = make_union(TfidfVectorizer(), encoder)
    assert union.fit_transform(texts).shape == (60, len(WORDS) + 16)
    frame = pd.DataFrame({"text": texts, "length": [len(text) for text in texts]})
    columns = ColumnTransformer([("text", encoder, "text")], remainder="passthrough")
    assert columns.fit_transform(frame).shape == (60, 17)
    names = columns.get_feature_names_out()
    assert names[0] == "text__textencoder0"
    pipeline = make_pipeline(TextEncoder(folder), tiny(max_epochs=1)).fit(texts, Y)
    assert pipeline.predict(texts).shape == Y.shape


def test_clones_and_parameters(pair, folder):
    encoder = TextEncoder(folder, pooling="mean", max_tokens=3, cache_dir="states")
    params = {"encoder": folder, "pooling": "mean", "max_tokens": 3, "cache_dir": "states"}
    rest = {"revision": None, "layers": "auto", "device": "auto", "verbose": 0}
    assert encoder.get_params() == {**params, **rest}
    assert clone(encoder.fit()).get_params() == encoder.get_params()
    assert not hasattr(clone(encoder), "encoder_")
    assert clone(TextEncoder(pair)).fit().encoder_.fingerprint_ == encoder.encoder_.fingerprint_


@pytest.mark.parametrize("form", ["by name", "given"])
def test_pickles(data, pair, folder, form):
    encoder = TextEncoder(folder if form == "by name" else pair, pooling="mean").fit()
    stored = pickle.dumps(encoder)
    assert (len(stored) < 2_000) == (form == "by name")
    X = encoder.transform(data[0])
    np.testing.assert_array_equal(pickle.loads(stored).transform(data[0]), X)


def test_model_files_name_the_encoder_and_refuse_another(data, pair, folder, tmp_path):
    texts, Y = data
    encoder = TextEncoder(folder, pooling="mean", cache_dir=tmp_path / "states")
    model = make_pipeline(encoder, StandardScaler(), regression()).fit(texts, Y)
    path = tmp_path / "model.mrmp"
    sklearn_mrmp.save(model, path)
    assert path.stat().st_size < 20_000
    loaded = load(path)
    assert loaded[0].cache_dir is None  # a stranger's file names no folder here
    P = model.predict_proba(texts)
    np.testing.assert_allclose(loaded.predict_proba(texts), P, atol=1e-3)
    model.set_params(textencoder__encoder=pair).fit(texts, Y)
    with pytest.warns(UserWarning, match="Not saved"):
        sklearn_mrmp.save(model, path)
    loaded = load(path)
    with pytest.raises(ValueError, match=r"set_params\(encoder=\(model, tokenizer\)\)"):
        loaded.predict(texts)
    with pytest.raises(ValueError, match="is not the one that this model was fitted with"):
        loaded.set_params(textencoder__encoder=tiny_encoder(texts, seed=1)).predict(texts)
    loaded.set_params(textencoder__encoder=pair)
    np.testing.assert_allclose(loaded.predict_proba(texts), P, atol=1e-3)


def test_states_are_kept_between_transformers_and_classifiers(data, folder, tmp_path, n_encoded):
    texts, Y = data
    n_texts = len(set(texts))
    TextEncoder(folder, cache_dir=tmp_path).fit_transform(texts)
    assert n_encoded == [n_texts]
    rows = TextEncoder(folder, cache_dir=tmp_path).fit_transform(texts[:30])
    assert isinstance(rows.states, np.memmap)
    TextEncoder(folder, pooling="mean", cache_dir=tmp_path).fit_transform(texts)
    encoder = TextEncoder(folder, cache_dir=tmp_path)
    clf = tiny(encoder=encoder, max_epochs=1).fit(texts, Y)
    clf.predict(texts[:10])
    GridSearchCV(clf, {"batch_size": [16, 32]}, cv=2).fit(texts, Y)
    assert n_encoded == [n_texts]
    clf.predict(["a boat at sea"])
    assert n_encoded == [n_texts, 1]


def test_a_classifier_with_a_text_encoder_is_one_with_its_encoder(data, folder, tmp_path):
    texts, Y = data
    plain = tiny(encoder=folder, max_tokens=4).fit(texts, Y)
    given = tiny(encoder=TextEncoder(folder, max_tokens=4, cache_dir=tmp_path)).fit(texts, Y)
    assert given.input_type_ == "text"
    P = plain.predict_proba(texts)
    np.testing.assert_allclose(given.predict_proba(texts), P, rtol=2e-2, atol=1e-3)
    lengths = [
        clf._checked(clf._ensemble.encoder, texts).lengths
        for clf in (
            given,
            tiny(encoder=TextEncoder(folder), max_epochs=1).fit(texts, Y),
            tiny(encoder=TextEncoder(folder, max_tokens=4), max_epochs=1, max_tokens=7).fit(
                texts, Y
            ),
        )
    ]
    assert [part.max() for part in lengths] == [4, 12, 7]


def test_a_text_encoder_that_is_given_stays_as_it_is(data, folder, pair, tmp_path):
    texts, Y = data
    encoder = TextEncoder(pair, cache_dir=tmp_path)
    before = dict(vars(encoder))
    clf = tiny(encoder=encoder, max_epochs=1).fit(texts, Y)
    clf.predict(texts)
    assert vars(encoder) == before
    assert clf.encoder is encoder
    assert clone(clf).get_params()["encoder__cache_dir"] == tmp_path
    search = GridSearchCV(
        tiny(encoder=TextEncoder(folder), max_epochs=1), {"encoder__max_tokens": [3, 5]}, cv=2
    )
    assert search.fit(texts, Y).predict(texts).shape == Y.shape


def test_classifiers_with_a_text_encoder_are_saved(data, folder, pair, tmp_path):
    texts, Y = data
    encoder = TextEncoder(folder, cache_dir=tmp_path / "states")
    clf = tiny(encoder=encoder, max_epochs=1).fit(texts, Y)
    clf.save(tmp_path / "model.mrmp")
    loaded = load(tmp_path / "model.mrmp")
    P = clf.predict_proba(texts)
    np.testing.assert_allclose(loaded.predict_proba(texts), P, rtol=2e-2, atol=1e-3)
    assert loaded.encoder.cache_dir is None
    assert loaded._ensemble.encoder.cache_dir is None
    clf = tiny(encoder=TextEncoder(pair), max_epochs=1).fit(texts, Y)
    with pytest.warns(UserWarning, match="Not saved"):
        clf.save(tmp_path / "model.mrmp")
    loaded = load(tmp_path / "model.mrmp")
    with pytest.raises(ValueError, match="Give them again"):
        loaded.predict(texts)
    loaded.set_params(encoder=TextEncoder(pair))
    np.testing.assert_allclose(loaded.predict_proba(texts), P, rtol=2e-2, atol=1e-3)


def test_what_is_wrong_is_said(data, folder):
    texts, Y = data
    with pytest.raises(ValueError, match=r"pooling='mean'.*pooling=None"):
        tiny(encoder=TextEncoder(folder, pooling="mean")).fit(texts, Y)
    with pytest.raises(ValueError, match="'max_tokens' parameter of TextEncoder"):
        tiny(encoder=TextEncoder(folder, max_tokens=0)).fit(texts, Y)
    with pytest.raises(TypeError, match="or a TextEncoder"):
        tiny(encoder=StandardScaler()).fit(texts, Y)
    with pytest.raises(TypeError, match=r"encoder must be the name.*got None"):
        TextEncoder(None).fit(texts)
    with pytest.raises(ValueError, match="device='gpu' is not a device"):
        TextEncoder(folder, device="gpu").fit(texts)
    with pytest.raises(NotFittedError):
        TextEncoder(folder).transform(texts)
    fitted = TextEncoder(folder).fit(texts)
    with pytest.raises(ValueError, match="Row 1 is no text but 3"):
        fitted.transform(["a", 3])
    with pytest.raises(ValueError, match="must be a list, a vector or a single column of str"):
        fitted.transform("one text")
    with pytest.raises(ValueError, match="0 sample"):
        fitted.transform([])


def test_parameters_are_checked(folder):
    check_param_validation("TextEncoder", TextEncoder(folder))


def test_progress_is_shown_when_asked_for(data, folder, capsys):
    TextEncoder(folder).fit_transform(data[0])
    assert capsys.readouterr().out == ""
    TextEncoder(folder, verbose=1).fit_transform(data[0])
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "[sklearn_mrmp] texts: 100 % of 60 encoded"


def test_defaults_of_the_classifier_know_a_text_encoder(folder):
    clf = MrMPClassifier(encoder=TextEncoder(folder))
    assert clf.get_params()["encoder__encoder"] == folder
    assert "TextEncoder" in repr(clf)


@pytest.fixture
def revisions(monkeypatch):
    """Collect the revisions that transformers is asked for."""
    import transformers

    seen = []
    for kind in (transformers.AutoModel, transformers.AutoTokenizer):
        plain = kind.from_pretrained

        def recorded(name, *, plain=plain, **options):
            assert "trust_remote_code" not in options
            seen.append(options.get("revision"))
            return plain(name, **options)

        monkeypatch.setattr(kind, "from_pretrained", recorded)
    return seen


@pytest.mark.parametrize("rate", [0.0, 1e-3])
def test_a_revision_is_loaded_and_kept_in_files(data, folder, tmp_path, revisions, rate):
    texts, Y = data
    encoder = TextEncoder(folder, revision="v1")
    clf = tiny(encoder=encoder, encoder_lr=rate, max_epochs=1).fit(texts, Y)
    assert revisions == ["v1", "v1"]
    clf.save(tmp_path / "model.mrmp")
    revisions.clear()
    loaded = load(tmp_path / "model.mrmp")
    assert revisions == []
    assert loaded.encoder.revision == "v1"
    loaded.predict(texts)
    assert set(revisions) == {"v1"}


def test_without_a_revision_none_is_asked_for(folder, revisions):
    TextEncoder(folder).fit()
    assert revisions == [None, None]


def test_objects_with_a_revision_are_refused(data, pair):
    with pytest.raises(ValueError, match=r"revision='v1' .* given as \(model, tokenizer\)"):
        TextEncoder(pair, revision="v1").fit()
    with pytest.raises(ValueError, match="revision='v1'"):
        tiny(encoder=TextEncoder(pair, revision="v1")).fit(*data)
