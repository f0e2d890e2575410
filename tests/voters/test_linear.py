"""The linear path: solver, representation, and the choice of the penalty."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

from sklearn_mrmp import MrMPClassifier, TokenSequenceVectorizer, load
from sklearn_mrmp._ensemble import fitting as _model_fitting
from sklearn_mrmp._input.presentation import LinearFeatures
from sklearn_mrmp._input.tokens import SequenceTokens
from sklearn_mrmp._voters.centroids import LabelCentroids
from sklearn_mrmp._voters.linear import LinearPath
from sklearn_mrmp._voters.logistic import LogisticDesign, frequency_intercepts, solve_logistic
from sklearn_mrmp.datasets import make_related_labels


@pytest.fixture(scope="module")
def rows():
    X, Y, _ = make_related_labels(300, 6, n_features=60, random_state=0)
    return sp.csr_array(X), sp.csr_array(Y)


def solved(X, Y, penalty):
    W = np.zeros((X.shape[1], Y.shape[1]), np.float32)
    b = frequency_intercepts(Y)
    solve_logistic(LogisticDesign(X), Y, penalty, W, b)
    return W, b


class TestSolver:
    @pytest.mark.parametrize("dense", [False, True])
    def test_finds_what_scikit_learn_finds_label_by_label(self, rows, dense):
        X, Y = rows
        if dense:
            X = sp.csr_array(X.toarray() + 0.1)
        W, b = solved(X, Y, 1.0)
        for label in range(Y.shape[1]):
            reference = LogisticRegression(C=1.0, tol=1e-6, max_iter=1000)
            reference.fit(X, Y[:, [label]].toarray().ravel())
            ours, theirs = X @ W[:, label] + b[label], reference.decision_function(X)
            np.testing.assert_allclose(ours, theirs, rtol=0.05, atol=0.1)

    def test_label_blocks_do_not_change_the_solution(self, rows, monkeypatch):
        X, Y = rows
        # Down to the minimum itself: on the way there each block is rounded in its own way.
        monkeypatch.setattr("sklearn_mrmp._voters.logistic._TOLERANCE", 1e-6)
        whole = solved(X, Y, 1.0)
        monkeypatch.setattr("sklearn_mrmp._voters.logistic._BLOCK_FLOATS", 2 * X.shape[0])
        for part, other in zip(whole, solved(X, Y, 1.0), strict=True):
            np.testing.assert_allclose(part, other, atol=1e-4)

    def test_constant_labels_keep_their_frequency(self, rows):
        X, Y = rows
        Y = sp.csr_array(np.column_stack([np.zeros(300), np.ones(300), Y[:, [0]].toarray()]))
        W, b = solved(X, Y, 1.0)
        assert not W[:, :2].any()
        np.testing.assert_allclose(b[:2], [-np.log(601), np.log(601)], rtol=1e-5)
        assert W[:, 2].any()

    def test_separable_labels_stay_finite(self):
        X = sp.csr_array(np.eye(6))
        W, b = solved(X, sp.csr_array(np.eye(6)), 1e-3)
        assert np.isfinite(W).all()
        assert np.isfinite(b).all()


class TestFeatures:
    def test_measurements_are_standardised_whatever_their_unit(self):
        rng = np.random.default_rng(0)
        A = rng.normal(size=(50, 4)) * [1.0, 1e-3, 1e6, 1.0] + [0, 1, 0, 5.0]
        X = sp.csr_array(A)
        features = LinearFeatures().fit(X)
        assert features.kind_ == "measurements"
        out = features.transform(X).toarray()
        np.testing.assert_allclose(out.std(axis=0), out.std(), rtol=0.1)

    def test_bags_are_weighted_by_rarity(self):
        X = sp.csr_array([[1, 1, 0, 0, 0, 0, 0, 0, 0], [1, 0, 2, 0, 0, 0, 0, 0, 0.0]])
        features = LinearFeatures().fit(X)
        assert features.kind_ == "bag"
        out = features.transform(X).toarray()
        assert out[0, 1] > out[0, 0] > 0
        np.testing.assert_allclose((out**2).sum(axis=1), 1, rtol=1e-6)

    def test_rows_of_one_length_are_taken_as_they_are(self):
        X = sp.csr_array(np.eye(8)[[0, 1, 2]] * 0.5)
        features = LinearFeatures().fit(X)
        assert features.kind_ == "as_is"
        np.testing.assert_allclose(features.transform(X).toarray(), np.eye(8)[[0, 1, 2]])

    @pytest.mark.parametrize("scale", [1e-300, 1e300])
    @pytest.mark.parametrize("sign", [1, -1])
    def test_huge_and_tiny_values_stay_finite(self, scale, sign):
        A = np.zeros((4, 12))
        A[[0, 1, 2, 3], [0, 1, 2, 0]] = [1, sign * 2, 3, 4]
        for X in (sp.csr_array(A * scale), sp.csr_array((A + 1) * scale)):
            out = LinearFeatures().fit(X).transform(X)
            assert np.isfinite(out.data).all()

    def test_empty_rows_stay_empty(self):
        X = sp.csr_array((3, 4))
        assert LinearFeatures().fit(X).transform(X).nnz == 0


class TestPath:
    def test_held_out_rows_choose_the_penalty(self, rows):
        X, Y = rows
        path = LinearPath().fit(X[:200], Y[:200], X[200:], Y[200:])
        assert average_precision_score(Y[200:].toarray(), path.logits(X[200:])) > 0.6
        noise = sp.csr_array(np.random.default_rng(0).integers(2, size=(300, 6)))
        cautious = LinearPath().fit(X[:200], noise[:200], X[200:], noise[200:])
        assert cautious.strength_ == 0.1 < path.strength_

    def test_refit_keeps_the_penalty_and_uses_the_new_rows(self, rows):
        X, Y = rows
        path = LinearPath().fit(X[:200], Y[:200], X[200:], Y[200:])
        again = path.refit(X, Y)
        assert again.strength_ == path.strength_
        assert not np.allclose(again.coef_, path.coef_)

    def test_logits_of_a_row_do_not_depend_on_other_rows(self, rows):
        X, Y = rows
        path = LinearPath().fit(X[:200], Y[:200], X[200:], Y[200:])
        np.testing.assert_array_equal(path.logits(X)[[7]], path.logits(X[[7]]))

    def test_sequences_are_read_as_bags_of_words(self):
        texts = ["a b b", "b c"]
        ids = TokenSequenceVectorizer(token_pattern=r"\w").fit_transform(texts)
        bag = SequenceTokens().fit(ids).bag(ids)
        assert sorted(bag[[0]].data.tolist()) == [1, 2]
        assert bag.sum() == 5


class TestCentroids:
    def test_their_labels_are_ranked_above_chance_and_calibrated(self, rows):
        X, Y = rows
        path = LabelCentroids().fit(X[:200], Y[:200], X[200:], Y[200:])
        Z, truth = path.logits(X[200:]), Y[200:].toarray()
        assert average_precision_score(truth, Z) > 2 * truth.mean()
        assert (1 / (1 + np.exp(-Z))).mean() == pytest.approx(truth.mean(), rel=0.2)

    def test_a_label_keeps_its_largest_features(self, rows, monkeypatch):
        monkeypatch.setattr("sklearn_mrmp._voters.centroids._FEATURES_PER_LABEL", 3)
        X, Y = rows
        path = LabelCentroids().fit(X[:200], Y[:200], X[200:], Y[200:])
        assert np.diff(sp.csc_array(path.centroids_).indptr).max() == 3
        assert path.shape == (60, 6)

    def test_rows_without_any_label_calibrate_nothing(self, rows):
        X, Y = rows
        path = LabelCentroids().fit(X[:200], Y[:200], X[200:], sp.csr_array((100, 6), dtype=int))
        np.testing.assert_array_equal(path.calibration_, [1, 1, 0])

    def test_stand_in_for_regressions_of_too_many_labels(self, rows, monkeypatch, tmp_path):
        monkeypatch.setattr(_model_fitting, "_REGRESSION_PRODUCTS", 0)
        X, Y = rows
        clf = MrMPClassifier(d_model=8, max_epochs=1, label_shortlist=3, random_state=0).fit(X, Y)
        assert isinstance(clf._model.linear, LabelCentroids)
        clf.save(tmp_path / "model")
        loaded = load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
