"""`MrMPClassifier` on wide dense rows, alone and beside a bag: all that holds for other rows."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline

from sklearn_mrmp import MrMPClassifier, load
from tests.tiny import tiny

WIDE = 400


@pytest.fixture(scope="module")
def dense():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, WIDE)) * rng.uniform(0.01, 100, size=WIDE)
    return X, (X[:, :4] > 0).astype(int)


@pytest.fixture(scope="module")
def mixed(dense):
    """A bag of 30 columns before the wide block, and some columns of another bag behind it."""
    rng = np.random.default_rng(1)
    bags = [sp.random_array((160, width), density=0.1, random_state=rng) for width in (30, 5)]
    X = sp.csr_array(sp.hstack([bags[0], dense[0], bags[1]], format="csr"))
    return X, dense[1]


@pytest.fixture(params=["dense", "mixed"])
def data(request):
    return request.getfixturevalue(request.param)


def test_wide_dense_rows_are_vectors_and_the_network_has_one_token_of_them(dense):
    clf = tiny().fit(*dense)
    assert clf.input_type_ == "vectors"
    assert clf.n_features_in_ == WIDE
    assert clf._ensemble.encoder.tokens(dense[0][:5]).lengths.tolist() == [1] * 5


def test_auto_takes_a_token_for_each_column_of_narrow_or_mostly_empty_rows(dense):
    X, Y = dense
    assert tiny().fit(X[:, :200], Y).input_type_ == "features"
    assert tiny().fit(X * (X > 1), Y).input_type_ == "features"
    assert tiny().fit(sp.csr_array(X * (X > 1)), Y).input_type_ == "features"


@pytest.mark.parametrize("form", [list, pd.DataFrame, np.float32, sp.csr_array, sp.csc_matrix])
def test_auto_knows_vectors_in_every_form(dense, form):
    X, Y = dense
    rows = X.tolist() if form is list else form(X)
    clf = tiny().fit(rows, Y)
    assert clf.input_type_ == "vectors"
    assert clf.predict_proba(rows).shape == Y.shape


def test_columns_that_few_rows_have_stay_tokens_beside_the_vector(mixed):
    X, Y = mixed
    clf = tiny().fit(X, Y)
    assert clf.input_type_ == "vectors"
    encoder = clf._ensemble.encoder
    assert encoder.columns_.sum() == WIDE
    rows = encoder.tokens(X)
    np.testing.assert_array_equal(rows.lengths, 1 + np.diff(X.indptr) - WIDE)
    ids = set(rows.others.tokens)
    assert ids
    assert ids <= {*range(1, 31), *range(31 + WIDE, 36 + WIDE)}


def test_rows_to_predict_may_be_dense_where_those_of_fit_were_sparse(mixed):
    X, Y = mixed
    clf = tiny().fit(X, Y)
    np.testing.assert_array_equal(clf.predict_proba(X.toarray()), clf.predict_proba(X))


def test_both_parts_of_mixed_rows_count_alike_for_linear_models(mixed):
    X, Y = mixed
    features = tiny(voters=("linear",)).fit(X, Y).voters_.linear.model.features_
    shown = features.transform(X)
    dense = shown[:, 30 : 30 + WIDE].power(2).sum()
    np.testing.assert_allclose([dense, shown.power(2).sum()], [80, 160], rtol=0.1)


def test_a_union_of_words_and_embeddings_is_read_as_both():
    texts = [f"word{i % 7} word{i % 11} same" for i in range(60)]
    Y = np.array([[i % 7 == 0, i % 11 == 0, i % 2] for i in range(60)]).astype(int)
    words = TfidfVectorizer()
    vectors = make_pipeline(TfidfVectorizer(), TruncatedSVD(6, random_state=0))
    union = FeatureUnion([("words", words), ("vectors", vectors)])
    clf = make_pipeline(union, tiny(input_type="vectors")).fit(texts, Y)
    assert clf[-1]._ensemble.encoder.columns_[-6:].all()
    assert not clf[-1]._ensemble.encoder.columns_[:-6].all()
    assert clf.predict(texts).shape == Y.shape


def test_rows_without_dense_columns_are_refused_as_vectors():
    X = sp.random_array((40, 20), density=0.1, random_state=np.random.default_rng(0), format="csr")
    with pytest.raises(ValueError, match="no column of X is different from zero in half"):
        tiny(input_type="vectors").fit(X, np.eye(40, 3, dtype=int))


def test_units_do_not_matter(dense):
    X, Y = dense
    scale = 2.0 ** np.arange(-20, 20).repeat(10)
    P = tiny().fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(tiny().fit(X * scale, Y).predict_proba(X * scale), P, rtol=1e-4)


def test_a_row_does_not_depend_on_the_others(data, monkeypatch):
    X, Y = data
    clf = tiny().fit(X, Y)
    P = clf.predict_proba(X)
    np.testing.assert_array_equal(clf.predict_proba(X[::-1])[::-1], P)
    alone = np.vstack([clf.predict_proba(X[i : i + 1]) for i in range(20)])
    np.testing.assert_allclose(alone, P[:20], rtol=1e-4, atol=1e-6)
    monkeypatch.setattr("sklearn_mrmp._host.chunks.CHUNK_CELLS", 4 * WIDE)
    np.testing.assert_allclose(clf.predict_proba(X), P, rtol=1e-4, atol=1e-6)


def test_the_same_seed_gives_the_same_bits(data):
    X, Y = data
    P, Q = (tiny(random_state=3).fit(X, Y).predict_proba(X) for _ in range(2))
    np.testing.assert_array_equal(P, Q)


def test_a_resumed_fit_and_a_model_file_give_the_same_bits(data, tmp_path):
    X, Y = data
    clf = tiny(max_epochs=2, checkpoint_dir=tmp_path / "run").fit(X, Y)
    P = clf.predict_proba(X)
    again = tiny(max_epochs=2, checkpoint_dir=tmp_path / "run").fit(X, Y)
    np.testing.assert_array_equal(again.predict_proba(X), P)
    clf.set_params(checkpoint_dir=None).save(tmp_path / "model.mrmp")
    np.testing.assert_array_equal(load(tmp_path / "model.mrmp").predict_proba(X), P)


def test_searches_folds_and_own_estimators(data):
    X, Y = data
    voters = ("network", ("regression", OneVsRestClassifier(LogisticRegression())))
    search = GridSearchCV(tiny(voters=voters, cv=2), {"d_model": [4, 8]}, cv=2).fit(X, Y)
    assert search.best_estimator_.input_type_ == "vectors"


def test_feature_dropout_puts_means_in_the_place_of_values(dense):
    rows = tiny().fit(*dense)._ensemble.encoder.tokens(dense[0])
    dropped = rows.drop(0.25, np.random.default_rng(0)).vectors
    kept = dropped != 0
    assert 0.7 < kept.mean() < 0.8
    np.testing.assert_array_equal(dropped[kept], rows.vectors[kept])


def test_the_paper_reads_a_token_for_each_column(dense):
    clf = MrMPClassifier.paper(max_epochs=1, d_model=8, n_heads=2, voters=("network",))
    assert clf.fit(dense[0][:40], dense[1][:40]).input_type_ == "features"


def test_wide_token_ids_without_a_mark_are_still_asked_about():
    rng = np.random.default_rng(0)
    lengths = rng.integers(380, WIDE, size=300)
    X = rng.integers(1, 5000, size=(300, WIDE)) * (np.arange(WIDE) < lengths[:, None])
    Y = rng.integers(0, 2, size=(300, 2))
    with pytest.warns(UserWarning, match="looks like token ids"):
        tiny(voters=("linear",)).fit(X, Y)


def test_rows_that_are_full_only_at_the_start_are_no_error():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, WIDE))
    X[1000:] = 0
    Y = rng.integers(0, 2, size=(3000, 2))
    assert tiny(voters=("linear",)).fit(sp.csr_array(X), Y).input_type_ == "features"
