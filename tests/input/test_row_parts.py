"""Rows in parts: many rows are read a part at a time, and nothing else changes by it."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

from sklearn_mrmp._input.features import FeatureInput
from sklearn_mrmp._input.presentation import LinearFeatures
from sklearn_mrmp._input.rows import EncodedRows
from sklearn_mrmp._input.token_rows import FeatureRows
from sklearn_mrmp._numerics.sparse import RowParts, column_sums
from sklearn_mrmp._voters.logistic import LogisticDesign
from sklearn_mrmp.datasets import open_sparse_rows, save_sparse_rows
from tests.tiny import tiny


@pytest.fixture
def many(monkeypatch):
    """Let every matrix have too many entries to be read at once."""

    def start():
        for module in ("_numerics.sparse", "_input.features", "_input.rows"):
            monkeypatch.setattr(f"sklearn_mrmp.{module}.LARGE", 30)
        monkeypatch.setattr("sklearn_mrmp._numerics.sparse._PART", 25)

    return start


@pytest.fixture
def X():
    return sp.random_array((60, 20), density=0.2, format="csr", random_state=0)


def counts(X):
    X = X.copy()
    X.data = np.ceil(5 * X.data)
    return X


def signed(X):
    return X * 2 - X.power(2) * 3


def full(X):
    return sp.csr_array(X.toarray() + 1)


def same_lengths(X):
    X = X.copy()
    X.data /= np.repeat(np.sqrt(X.power(2).sum(axis=1)), np.diff(X.indptr))
    return X


KINDS = pytest.mark.parametrize("kind", [abs, counts, signed, full, same_lengths])


@pytest.mark.parametrize("chosen", [None, np.array([5, 2, 40, 41, 3] * 9)])
def test_the_parts_are_the_rows(X, chosen, many):
    many()
    rows = RowParts(X, chosen)
    plain = X if chosen is None else X[chosen]
    places, parts = zip(*rows.parts(), strict=True)
    assert len(parts) > 2
    assert all(part.nnz <= 50 for part in parts)
    numbers = np.concatenate([np.arange(len(rows))[place] for place in places])
    np.testing.assert_array_equal(numbers, np.arange(len(rows)))
    np.testing.assert_array_equal(sp.vstack(parts).toarray(), plain.toarray())
    np.testing.assert_array_equal(rows.whole().toarray(), plain.toarray())
    np.testing.assert_array_equal(rows.column_counts(), np.bincount(plain.indices, minlength=20))
    assert (rows.shape, rows.nnz) == (plain.shape, plain.nnz)


def test_rows_are_taken_of_taken_ones(X):
    rows = RowParts(X, np.array([9, 8, 7, 6]), np.float32).take(np.array([2, 0]))
    assert rows.chosen.tolist() == [7, 9]
    assert rows[:].dtype == np.float32
    assert RowParts(X).take(X.indptr[1:] > X.indptr[:-1]).nnz == X.nnz


def test_sums_of_parts_are_those_of_all_to_the_last_bit():
    rng = np.random.default_rng(0)
    columns, values = rng.integers(7, size=1000), rng.normal(size=1000)
    parts = zip(np.split(columns, [3, 500]), np.split(values, [3, 500]), strict=True)
    np.testing.assert_array_equal(column_sums(parts, 7), np.bincount(columns, values, 7))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rarity_is_that_of_scikit_learn(X, dtype):
    X = counts(X).astype(dtype)
    features = LinearFeatures().fit(X, kind="bag")
    np.testing.assert_array_equal(features.idf_, TfidfTransformer().fit(X).idf_)


@KINDS
@pytest.mark.parametrize("weighted", [False, True])
def test_a_representation_is_learned_alike_in_parts(X, kind, weighted, many):
    X = kind(X)
    weights = np.random.default_rng(0).random(60) if weighted else None
    whole = LinearFeatures().fit(X, weights=weights)
    presented = whole.transform(X)
    many()
    in_parts = LinearFeatures().fit(X, weights=weights)
    assert in_parts.kind_ == whole.kind_
    np.testing.assert_allclose(in_parts.length_, whole.length_, rtol=1e-5)
    np.testing.assert_allclose(
        in_parts.transform(X).toarray(), presented.toarray(), rtol=1e-5, atol=1e-7
    )


@KINDS
@pytest.mark.parametrize("max_tokens", [None, 2])
def test_tokens_made_when_asked_for_are_those_of_all_rows(X, kind, max_tokens, many):
    X = kind(X)
    encoder = FeatureInput(max_tokens, weighted=True).fit(X)
    whole = encoder.tokens(X)
    many()
    rows = encoder.tokens(X)
    assert isinstance(rows, FeatureRows)
    assert len(rows) == 60
    np.testing.assert_array_equal(rows.lengths, whole.lengths)
    np.testing.assert_array_equal(rows.fingerprints(), whole.fingerprints())
    np.testing.assert_array_equal(rows.contained(20), whole.contained(20))
    chosen = np.array([7, 50, 8])
    made, expected = rows.take(chosen).padded(), whole.take(chosen).padded()
    assert made.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(made[name], array)


@KINDS
def test_statistics_of_features_are_those_of_all_rows(X, kind, many):
    X = kind(X)
    whole = FeatureInput().fit(X)
    many()
    in_parts = FeatureInput().fit(RowParts(X, np.arange(60)))
    for name in ("trained_", "mean_", "spread_"):
        np.testing.assert_array_equal(getattr(in_parts, name), getattr(whole, name))


def test_chosen_rows_are_not_copied_where_they_are_many(X, many):
    many()
    rows = EncodedRows.of(FeatureInput(), X).take(np.arange(50))
    assert np.shares_memory(rows.canonical.X.data, X.data)
    assert rows.X.X is X
    assert len(rows) == 50
    some = rows.take(slice(10, 45))
    assert some.X.X is X
    np.testing.assert_array_equal(some.bag[:].toarray(), X[10:45].toarray())
    np.testing.assert_array_equal(some.table.toarray(), X[10:45].toarray())
    few = rows.take(slice(3))
    np.testing.assert_array_equal(few.canonical.toarray(), X[:3].toarray())


def test_presented_rows_share_their_places_with_the_rows(X):
    X = signed(X)
    presented = LinearFeatures().fit(X).transform(X)
    assert np.shares_memory(presented.indices, X.indices)
    assert not np.shares_memory(presented.data, X.data)


def test_a_design_leaves_out_columns_without_a_copy_of_the_values(X, monkeypatch):
    monkeypatch.setattr("sklearn_mrmp._voters.logistic._DENSE_FROM", 1.0)
    wide = sp.csr_array((60, 300))
    X = sp.csr_array(sp.hstack([wide, X, wide, X]), dtype=np.float32)
    design = LogisticDesign(X)
    assert design.shape == (60, 40)
    assert np.shares_memory(design.rows.data, X.data)
    np.testing.assert_array_equal(design.rows.toarray(), X[:, design.used].toarray())


@pytest.mark.parametrize("options", [{}, {"cv": 2}, {"refit": True, "max_tokens": 3}])
def test_a_fit_on_mapped_rows_is_that_on_rows_in_memory(related, options, many, tmp_path):
    X, Y = related
    many()
    save_sparse_rows(tmp_path / "X", X)
    save_sparse_rows(tmp_path / "Y", sp.csr_array(Y))
    in_memory = tiny(**options).fit(X, Y)
    mapped = open_sparse_rows(tmp_path / "X")
    on_disk = tiny(**options).fit(mapped, open_sparse_rows(tmp_path / "Y"))
    np.testing.assert_array_equal(in_memory.predict_proba(X), on_disk.predict_proba(mapped))
    assert in_memory.vote_weights_ == on_disk.vote_weights_
    np.testing.assert_array_equal(X.toarray(), mapped.toarray())


def test_a_fit_in_parts_is_that_of_all_rows_at_once(related, many):
    X, Y = related
    options = {"sample_weight": np.tile([1.0, 2.0], 80)}
    whole = tiny().fit(X, Y, **options).predict_proba(X)
    many()
    in_parts = tiny().fit(X, Y, **options).predict_proba(X)
    np.testing.assert_allclose(in_parts, whole, atol=1e-4)


def test_estimators_among_the_voters_get_a_matrix(related, many):
    from sklearn.linear_model import SGDClassifier
    from sklearn.multiclass import OneVsRestClassifier

    X, Y = related
    many()
    voter = OneVsRestClassifier(SGDClassifier(loss="log_loss", random_state=0))
    clf = tiny(voters=(("sgd", voter), "neighbors")).fit(X, Y)
    assert clf.predict_proba(X).shape == Y.shape


def test_a_fit_goes_on_with_more_mapped_rows_as_with_rows_in_memory(related, many, tmp_path):
    X, Y = related
    many()
    save_sparse_rows(tmp_path, X)
    found = []
    for rows in (X, open_sparse_rows(tmp_path)):
        clf = tiny(warm_start=True).fit(X[:100], Y[:100])
        found.append(clf.fit(rows, Y).predict_proba(X))
    np.testing.assert_array_equal(*found)
