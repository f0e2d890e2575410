"""`MrMPClassifier` on token states: all that holds for other rows holds for these."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_mrmp import MrMPClassifier, load
from tests.tiny import tiny


@pytest.fixture(scope="module")
def data():
    """Rows of 0 to 8 tokens; a label is there when one of its tokens is extreme."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(rng.integers(9), 6)).astype(np.float16) for _ in range(160)]
    Y = np.array([[(x[:, j] > 1).any() for j in range(4)] for x in X]).astype(int)
    return X, Y


def as_array(X, n_tokens=9):
    out = np.zeros((len(X), n_tokens, 6), np.float16)
    for row, states in zip(out, X, strict=True):
        row[: len(states)] = states
    return out


@pytest.fixture(scope="module")
def fitted(data):
    return tiny().fit(*data)


def test_states_are_recognised_and_read_by_a_network_without_an_encoder(fitted):
    assert fitted.input_type_ == "states"
    assert fitted.n_features_in_ == 6
    assert len(fitted.net_.module_.encoder.layers) == 0
    assert len(fitted.net_.module_.decoder.layers) == 1


def test_what_auto_stands_for_depends_on_the_rows(data):
    X, Y = data
    states = MrMPClassifier(max_epochs=1, voters=("network",)).fit(X[:40], Y[:40])
    pooled = np.array([x.sum(axis=0) for x in X[:40]])
    features = MrMPClassifier(max_epochs=1, voters=("network",)).fit(pooled, Y[:40])
    widths = [clf.net_.module__d_model for clf in (states, features)]
    assert widths == [128, 64]
    assert [clf.net_.module__n_heads for clf in (states, features)] == [4, 2]
    assert [clf.net_.lr for clf in (states, features)] == [1e-3, 3e-3]
    odd = MrMPClassifier(d_model=9, max_epochs=1, voters=("network",)).fit(X[:40], Y[:40])
    assert odd.net_.module__n_heads == 3


def test_the_network_learns_what_means_of_tokens_do_not_tell(data):
    X, Y = data
    clf = tiny(d_model=16, max_epochs=40, lr=0.01, voters=("network",)).fit(X[:120], Y[:120])
    linear = tiny(voters=("linear",)).fit(X[:120], Y[:120])
    assert clf.score(X, Y) > linear.score(X, Y)


def test_the_form_of_the_rows_does_not_matter(data, fitted):
    X, Y = data
    P = fitted.predict_proba(X)
    np.testing.assert_array_equal(fitted.predict_proba(as_array(X)), P)
    np.testing.assert_array_equal(tiny().fit(as_array(X), Y).predict_proba(X), P)


def test_a_row_does_not_depend_on_the_others(data, fitted, monkeypatch):
    X, _ = data
    P = fitted.predict_proba(X)
    np.testing.assert_array_equal(fitted.predict_proba(X[::-1])[::-1], P)
    alone = np.vstack([fitted.predict_proba(X[i : i + 1]) for i in range(20)])
    np.testing.assert_allclose(alone, P[:20], rtol=1e-4, atol=1e-6)
    monkeypatch.setattr("sklearn_mrmp._host.chunks.CHUNK_CELLS", 64)
    np.testing.assert_allclose(fitted.predict_proba(X), P, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("form", [list, as_array])
def test_searches_folds_and_pipelines(data, form):
    X, Y = form(data[0]), data[1]
    search = GridSearchCV(tiny(max_epochs=1), {"max_tokens": [2, None]}, cv=2).fit(X, Y)
    assert search.predict(X).shape == Y.shape
    P = cross_val_predict(tiny(max_epochs=1), X, Y, cv=2, method="predict_proba")
    assert P.shape == Y.shape
    pipeline = make_pipeline(FunctionTransformer(), tiny(max_epochs=1, cv=2)).fit(X, Y)
    assert pipeline.predict(X).shape == Y.shape


def test_held_out_rows_and_refits(data):
    X, Y = data
    clf = tiny(max_epochs=1).fit(X[:100], Y[:100], X_val=X[100:], y_val=Y[100:])
    assert clf.predict(X).shape == Y.shape
    assert tiny(max_epochs=1, refit=True).fit(X, Y).predict(X).shape == Y.shape


def test_model_files_and_checkpoints(data, fitted, tmp_path):
    X, Y = data
    fitted.save(tmp_path / "model.mrmp")
    P = fitted.predict_proba(X)
    np.testing.assert_array_equal(load(tmp_path / "model.mrmp").predict_proba(X), P)
    for _ in range(2):
        clf = tiny(checkpoint_dir=tmp_path / "run").fit(X, Y)
        np.testing.assert_array_equal(clf.predict_proba(X), P)
    with pytest.raises(ValueError, match="other data: X"):
        tiny(checkpoint_dir=tmp_path / "run").fit([*X[1:], X[0]], Y)


def test_max_tokens_are_the_first(data):
    X, Y = data
    clf = tiny(max_tokens=3).fit(X, Y)
    np.testing.assert_array_equal(clf.predict_proba([x[:3] for x in X]), clf.predict_proba(X))


def test_vectors_of_another_width_are_refused(data, fitted):
    X, Y = data
    with pytest.raises(ValueError, match=r"vectors of width 5, but MrMPClassifier is expecting 6"):
        fitted.predict([x[:, :5] for x in X])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        tiny().fit(X[1:], Y)
    with pytest.raises(ValueError, match="requires y"):
        tiny().fit(X, None)


def test_labels_keep_their_names(data):
    pd = pytest.importorskip("pandas")
    X, Y = data
    clf = tiny(max_epochs=1).fit(X, pd.DataFrame(Y, columns=list("abcd")))
    assert clf.label_names_.tolist() == list("abcd")
