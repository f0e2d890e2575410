"""What every neural peer has in common with `MrMPClassifier`."""

import io
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_param_validation,
    parametrize_with_checks,
)
from skorch.callbacks import Callback

from sklearn_mrmp import MrMPClassifier, load
from tests.peers.networks import PEERS
from tests.tiny_encoder import tiny_encoder
from tests.weight_checks import expected_failures

each_peer = pytest.mark.parametrize("make", PEERS.values(), ids=PEERS)

# Of check_estimator, a classifier has to learn something.
LEARNS = {"max_epochs": 20, "lr": 0.01, "random_state": None}


@parametrize_with_checks(
    [make(**LEARNS) for make in PEERS.values()], expected_failed_checks=expected_failures
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@each_peer
@pytest.mark.parametrize(
    "check", [check_param_validation, check_dataframe_column_names_consistency]
)
def test_checks_that_scikit_learn_keeps_for_itself(make, check):
    check(type(make()).__name__, make())


@each_peer
def test_parameters_in_common_have_the_same_names_and_values_for_searches(make):
    shared = set(MrMPClassifier().get_params()) & set(make().get_params())
    assert {"metric", "decision", "voters", "cv", "checkpoint_dir", "device"} <= shared
    assert make().voters == ("network",)


@each_peer
def test_the_same_seed_gives_the_same_bits(make, related):
    X, Y = related
    first, second = (make().fit(X, Y).predict_proba(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@each_peer
def test_predictions_are_the_same_bits_twice(make, related):
    X, Y = related
    clf = make().fit(X, Y)
    np.testing.assert_array_equal(clf.predict_proba(X), clf.predict_proba(X))


@each_peer
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"cv": 2},
        {"voters": ("network", "linear", "neighbors"), "label_sets": True},
        {"voters": ("network", "linear"), "label_shortlist": 3},
        {"refit": True},
        {"n_members": 2},
    ],
    ids=lambda options: ", ".join(options) or "plain",
)
def test_a_saved_model_predicts_the_same_bits(make, related, tmp_path, options):
    X, Y = related
    clf = make(**options).fit(X, Y)
    clf.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert type(loaded) is type(clf)
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    for metric in ("accuracy", "f1_samples", "f1_macro"):
        predicted = (c.set_params(metric=metric).predict(X) for c in (clf, loaded))
        np.testing.assert_array_equal(*predicted)


class Crash(Callback):
    """Stop as a killed process would."""

    def on_epoch_begin(self, net, **kwargs):
        if len(net.history) == 2:
            raise RuntimeError("killed")


@each_peer
def test_a_checkpoint_is_taken_up_bit_for_bit(make, related, tmp_path):
    X, Y = related
    with pytest.raises(RuntimeError, match="killed"):
        make(checkpoint_dir=tmp_path, callbacks=[Crash()]).fit(X, Y)
    P = make(checkpoint_dir=tmp_path).fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(P, make().fit(X, Y).predict_proba(X))


def rows_of(kind):
    """Rows of a kind, with rows that have no token where the kind permits it."""
    rng = np.random.default_rng(0)
    if kind == "sequence":
        return rng.integers(1, 20, (60, 7)) * (np.arange(7) < rng.integers(0, 8, (60, 1)))
    if kind == "states":
        return [rng.normal(size=(n, 5)).astype(np.float32) for n in rng.integers(0, 4, 60)]
    if kind == "vectors":
        return rng.normal(size=(60, 9))
    return sp.random_array((60, 12), density=0.1, random_state=rng, format="csr")


@each_peer
@pytest.mark.parametrize("kind", ["features", "vectors", "sequence", "states"])
def test_every_kind_of_rows_is_read(make, kind, tmp_path):
    X, Y = rows_of(kind), (np.random.default_rng(1).random((60, 4)) < 0.4).astype(int)
    clf = make(input_type=kind).fit(X, Y)
    P = clf.predict_proba(X)
    assert clf.input_type_ == kind
    assert P.shape == (60, 4)
    assert np.isfinite(P).all()
    clf.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict_proba(X), P)


WORDS = np.array(["sea", "ship", "desert", "sun", "camel", "fish"])


@each_peer
@pytest.mark.parametrize("encoder_lr", [0.0, 1e-3], ids=["as it is", "fine-tuned"])
def test_texts_are_read_by_an_encoder(make, encoder_lr):
    pytest.importorskip("transformers")
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, size=rng.integers(1, 9))) for _ in range(40)]
    Y = np.array([[word in text for word in ("sea", "camel")] for text in texts]).astype(int)
    clf = make(encoder=tiny_encoder(texts), encoder_lr=encoder_lr, max_epochs=1).fit(texts, Y)
    assert clf.input_type_ == "text"
    assert np.isfinite(clf.predict_proba(texts)).all()


@each_peer
def test_sparse_labels_come_back_sparse_and_equal_dense_ones(make, related):
    X, Y = related
    dense = make().fit(X, Y).predict(X)
    predicted = make().fit(X, sp.csr_array(Y)).predict(X)
    assert sp.issparse(predicted)
    np.testing.assert_array_equal(predicted.toarray(), dense)


@each_peer
def test_label_names_are_those_of_the_columns(make, related):
    pd = pytest.importorskip("pandas")
    X, Y = related
    names = [f"topic {number}" for number in range(Y.shape[1])]
    clf = make().fit(X, pd.DataFrame(Y, columns=names))
    assert clf.label_names_.tolist() == names


@each_peer
def test_labels_that_no_or_all_training_rows_have_are_borne(make, related):
    X, Y = related
    Y = Y.copy()
    Y[:, 0], Y[:, 1] = 0, 1
    P = make().fit(X, Y).predict_proba(X)
    assert np.isfinite(P).all()
    assert (P[:, 0] < P[:, 1]).all()


@each_peer
def test_unknown_labels_and_rows_without_weight_are_borne(make, related):
    X, Y = related
    Y = Y.astype(float)
    Y[::3, 1], Y[5] = np.nan, np.nan
    weight = np.where(np.arange(len(Y)) % 4 == 0, 0.0, 2.0)
    P = make().fit(X, Y, sample_weight=weight).predict_proba(X)
    assert np.isfinite(P).all()
    np.testing.assert_array_equal(make().fit(X[weight > 0], Y[weight > 0]).predict_proba(X), P)


@each_peer
def test_it_can_be_searched(make, related):
    X, Y = related
    search = GridSearchCV(make(max_epochs=1), {"d_model": [4, 8]}, cv=2).fit(X, Y)
    assert search.best_params_["d_model"] in (4, 8)


@each_peer
def test_a_progress_bar_names_the_network(make, related, monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    clf = make(progress_bar=True, max_epochs=1).fit(*related)
    assert sys.stderr.getvalue().startswith(type(clf).__name__.removesuffix("Classifier"))
