"""The seam for networks: one module file and one estimator file make a full classifier."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from skorch.callbacks import Callback

from sklearn_mrmp import MrMPClassifier, load
from tests.seams.mean_linear import MeanLinearClassifier
from tests.weight_checks import expected_failures


def make_clf(**options):
    return MeanLinearClassifier(**{"max_epochs": 5, "random_state": 0, **options})


@parametrize_with_checks([MeanLinearClassifier()], expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_an_estimator_file_is_short():
    lines = Path(__file__).with_name("mean_linear.py").read_text().splitlines()
    assert len(lines) < 120


def test_it_learns(related):
    X, Y = related
    clf = make_clf(max_epochs=60).fit(X[:120], Y[:120])
    P, frequency = clf.predict_proba(X[120:]), Y[:120].mean(axis=0)
    truth = Y[120:].astype(bool)
    assert P[truth].mean() > np.broadcast_to(frequency, P.shape)[truth].mean()
    assert clf.label_embeddings_.shape == (Y.shape[1], 16)


@pytest.mark.parametrize("options", [{}, {"cv": 2}, {"voters": ("network", "linear")}])
def test_a_saved_model_predicts_the_same_bits(related, tmp_path, options):
    X, Y = related
    clf = make_clf(**options).fit(X, Y)
    clf.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert type(loaded) is MeanLinearClassifier
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    for metric in ("accuracy", "f1_macro"):
        predicted = (c.set_params(metric=metric).predict(X) for c in (clf, loaded))
        np.testing.assert_array_equal(*predicted)


def test_it_looks_at_candidates_where_others_name_them(related):
    X, Y = related
    clf = make_clf(voters=("network", "linear"), label_shortlist=2).fit(X, Y)
    assert np.isfinite(clf.predict_proba(X)).all()


class Crash(Callback):
    """Stop as a killed process would."""

    def on_epoch_begin(self, net, **kwargs):
        if len(net.history) == 4:
            raise RuntimeError("killed")


def test_a_checkpoint_is_taken_up_bit_for_bit(related, tmp_path):
    X, Y = related
    with pytest.raises(RuntimeError, match="killed"):
        make_clf(checkpoint_dir=tmp_path, callbacks=[Crash()]).fit(X, Y)
    P = make_clf(checkpoint_dir=tmp_path).fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(P, make_clf().fit(X, Y).predict_proba(X))


def test_it_can_be_searched(related):
    X, Y = related
    search = GridSearchCV(make_clf(), {"d_model": [4, 8]}, cv=2).fit(X, Y)
    assert search.best_params_["d_model"] in (4, 8)


def test_an_estimator_of_the_user_votes_beside_the_network(related):
    X, Y = related
    voters = ("network", ("forest of one", OneVsRestClassifier(LogisticRegression())))
    clf = MrMPClassifier(d_model=8, max_epochs=1, voters=voters, random_state=0).fit(X, Y)
    assert set(clf.vote_weights_) == {"network", "forest of one", "frequency"}
    alone = clf.voters_["forest of one"]
    fitted_alone = clone(voters[1][1]).fit(X, Y)
    np.testing.assert_allclose(alone.predict_proba(X), fitted_alone.predict_proba(X), atol=1e-5)
