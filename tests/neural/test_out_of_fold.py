"""Out-of-fold probabilities: whose they are, in which order, and when there are none."""

import pickle

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, PredefinedSplit, RepeatedKFold

from sklearn_mrmp import load
from sklearn_mrmp.datasets import make_related_labels
from tests.tiny import tiny

X, Y, _ = make_related_labels(60, 4, n_features=20, random_state=0)
LINEAR = {"voters": ("linear",), "label_sets": False}


def test_each_row_has_the_probabilities_of_the_fold_that_held_it_out():
    """A voter that says how frequent a label was in training tells which rows it has seen."""
    frequency = [("prior", DummyClassifier(strategy="prior"))]
    clf = tiny(voters=frequency, label_sets=False, cv=KFold(3)).fit(X, Y)
    for train, held_out in KFold(3).split(X):
        expected = np.tile(Y[train].mean(axis=0), (len(held_out), 1))
        np.testing.assert_allclose(clf.oof_proba_[held_out], expected, rtol=1e-3)


def test_the_labels_of_a_row_have_no_part_in_its_own_probabilities():
    """A voter that remembers its training rows cannot have seen the row itself."""
    X_own = np.eye(12)  # each row has a feature of its own, so others say nothing about it
    Y_own = np.arange(12)[:, None] % 2 == [0, 1]
    clf = tiny(voters=("neighbors",), label_sets=False, cv=4).fit(X_own, Y_own)
    told = clf.oof_proba_
    seen = clf.predict_proba(X_own)
    assert log_loss(Y_own.ravel(), told.ravel()) > log_loss(Y_own.ravel(), seen.ravel())


class ReadsProbabilities(ClassifierMixin, BaseEstimator):
    """Says what the features say."""

    def fit(self, X, y):
        self.classes_ = [np.array([0, 1])] * y.shape[1]
        return self

    def predict_proba(self, X):
        return np.asarray(X)


def test_label_sets_take_part_as_in_prediction():
    """Three labels that come together or not at all know more than each of them."""
    rng = np.random.RandomState(0)
    together = np.tile(rng.rand(300, 1) < 0.5, (1, 3))
    P = expit(rng.normal(np.where(together, 0.5, -0.5)))
    clf = tiny(voters=[("own", ReadsProbabilities())], cv=3)
    np.testing.assert_allclose(
        clf.set_params(label_sets=False).fit(P, together).oof_proba_, P, rtol=1e-4
    )
    mixed = clf.set_params(label_sets=True).fit(P, together).oof_proba_
    loss, plain = (log_loss(together.ravel(), Q.ravel()) for Q in (mixed, P))
    assert loss < plain


def test_rows_that_no_fold_held_out_are_nan():
    test_fold = np.where(np.arange(60) < 20, -1, np.arange(60) % 2)
    clf = tiny(**LINEAR, cv=PredefinedSplit(test_fold)).fit(X, Y)
    assert np.isnan(clf.oof_proba_[:20]).all()
    assert np.isfinite(clf.oof_proba_[20:]).all()


def test_rows_that_several_folds_held_out_have_the_mean():
    folds = RepeatedKFold(n_splits=2, n_repeats=2, random_state=0)
    clf = tiny(**LINEAR, cv=folds).fit(X, Y)
    assert np.isfinite(clf.oof_proba_).all()


@pytest.mark.parametrize("weight", [0.0, 1e-3])
def test_rows_of_little_or_no_weight_keep_their_place(weight):
    weights = np.where(np.arange(60) < 6, weight, 1.0)
    P = tiny(voters=("linear",), cv=3).fit(X, Y, sample_weight=weights).oof_proba_
    assert P.shape == Y.shape
    assert np.isnan(P[:6]).all() == (weight == 0)
    assert np.isfinite(P[6:]).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_have_the_columns_of_predict_proba(n_classes):
    A, y = make_classification(60, n_classes=n_classes, n_informative=4, random_state=0)
    clf = tiny(**LINEAR, cv=3).fit(A, y)
    assert clf.oof_proba_.shape == (60, n_classes)
    np.testing.assert_allclose(clf.oof_proba_.sum(axis=1), 1, rtol=1e-5)


def test_a_share_that_is_held_out_once_gives_none_and_says_what_does():
    clf = tiny(**LINEAR, cv=3).fit(X, Y).set_params(cv=0.2).fit(X, Y)
    assert not hasattr(clf, "oof_proba_")
    with pytest.raises(AttributeError, match="cv=5"):
        _ = clf.oof_proba_
    given = tiny(**LINEAR).fit(X[:40], Y[:40], X_val=X[40:], y_val=Y[40:])
    assert not hasattr(given, "oof_proba_")


def test_pickles_keep_them_and_model_files_do_not(tmp_path):
    clf = tiny(**LINEAR, cv=3).fit(X, Y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(clf)).oof_proba_, clf.oof_proba_)
    clf.save(tmp_path / "model")
    assert not hasattr(load(tmp_path / "model"), "oof_proba_")
