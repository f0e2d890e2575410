"""Labels told at prediction: they come back as told, the others follow, all else stays."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from sklearn_mrmp import load
from sklearn_mrmp._decisions.label_set_model import LabelSetModel
from sklearn_mrmp._ensemble.label_sets import LabelSetVote
from sklearn_mrmp._host import chunks
from tests.tiny import tiny

NAMES = ["sea", "ship", "port", "sand", "camel"]
CHEAP = {"voters": ("linear", "neighbors")}


@pytest.fixture(scope="module")
def data():
    """Rows that say little, and labels of which two groups come together."""
    rng = np.random.default_rng(0)
    wet = rng.random(240) < 0.5
    Y = np.column_stack([wet, wet, wet, ~wet, ~wet]) ^ (rng.random((240, 5)) < 0.1)
    X = rng.random((240, 12)) * (rng.random((240, 12)) < 0.4)
    X[:, 0] += 0.3 * wet
    return X, pd.DataFrame(Y.astype(int), columns=NAMES)


@pytest.fixture(scope="module", params=[None, 0.5], ids=["untrained", "trained"])
def fitted(request, data):
    X, Y = data
    return tiny(**CHEAP).fit(X[:200], Y[:200], known_rate=request.param)


@pytest.fixture(scope="module")
def told(data):
    """Every other row is told something; NaN is not known."""
    Y = data[1].to_numpy()[200:].astype(float)
    rng = np.random.default_rng(1)
    known = np.where(rng.random(Y.shape) < 0.5, Y, np.nan)
    known[::2] = np.nan
    return known


def test_told_labels_come_back_as_told(fitted, data, told):
    X = data[0][200:]
    P, predicted = fitted.predict_proba(X, known=told), fitted.predict(X, known=told)
    is_told = ~np.isnan(told)
    assert ((P > 0) & (P < 1)).all()
    np.testing.assert_allclose(P[is_told], told[is_told], atol=1e-6)
    np.testing.assert_array_equal(predicted[is_told], told[is_told])


def test_rows_of_which_nothing_is_told_are_predicted_as_ever(fitted, data, told):
    X = data[0][200:]
    plain, P = fitted.predict_proba(X), fitted.predict_proba(X, known=told)
    np.testing.assert_array_equal(P[::2], plain[::2])
    np.testing.assert_array_equal(fitted.predict(X, known=told)[::2], fitted.predict(X)[::2])
    nothing = np.full(told.shape, np.nan)
    np.testing.assert_array_equal(fitted.predict_proba(X, known=nothing), plain)


def test_training_to_read_told_labels_changes_nothing_else(data):
    X, Y = data
    plain, trained = (tiny(**CHEAP).fit(X[:200], Y[:200], known_rate=r) for r in (None, 0.3))
    np.testing.assert_array_equal(plain.predict_proba(X), trained.predict_proba(X))
    assert plain.thresholds_ == trained.thresholds_


def test_related_labels_follow_what_is_told(fitted, data):
    X = data[0][200:]
    plain = fitted.predict_proba(X)
    wet = fitted.predict_proba(X, known=pd.DataFrame({"sea": np.ones(40), "port": np.ones(40)}))
    dry = fitted.predict_proba(X, known=pd.DataFrame({"sea": np.zeros(40)}))
    ship, camel = NAMES.index("ship"), NAMES.index("camel")
    assert (wet[:, ship] > plain[:, ship]).all()
    assert (wet[:, camel] < plain[:, camel]).all()
    assert dry[:, ship].mean() < plain[:, ship].mean()


def test_a_row_depends_on_what_is_told_of_it_alone(fitted, data, told, monkeypatch):
    X = data[0][200:]
    P, predicted = fitted.predict_proba(X, known=told), fitted.predict(X, known=told)
    alone = [fitted.predict_proba(X[i : i + 1], known=told[i : i + 1])[0] for i in range(40)]
    np.testing.assert_array_equal(P, alone)
    monkeypatch.setattr(chunks, "CHUNK_CELLS", 7 * X.shape[1])
    np.testing.assert_array_equal(fitted.predict_proba(X, known=told), P)
    np.testing.assert_array_equal(fitted.predict(X, known=told), predicted)


def test_all_containers_say_the_same(fitted, data, told):
    X = data[0][200:]
    P = fitted.predict_proba(X, known=told)
    rows, columns = np.nonzero(~np.isnan(told))
    stored = sp.csr_array((told[rows, columns], (rows, columns)), shape=told.shape)
    frame = pd.DataFrame(told, columns=NAMES)[NAMES[::-1]]
    for known in (told.tolist(), stored, sp.csr_matrix(stored), frame):
        np.testing.assert_array_equal(fitted.predict_proba(X, known=known), P)


def test_rows_that_are_told_completely_are_predicted_so(fitted, data):
    X, Y = data[0][200:], data[1].to_numpy()[200:]
    np.testing.assert_array_equal(fitted.predict(X, known=Y), Y)
    np.testing.assert_array_equal(fitted.predict(X, known=1 - Y), 1 - Y)


def test_a_telling_that_no_label_set_agrees_with_is_borne(data):
    X, Y = data
    clf = tiny(**CHEAP).fit(X, Y)
    sets = np.array([[1, 1, 1, 0, 0], [0, 0, 0, 1, 1]], dtype=bool)
    clf._label_sets = LabelSetVote(LabelSetModel.from_labels(sets, 2), 0.5)
    P = clf.predict_proba(X, known=pd.DataFrame({"sea": np.ones(240), "ship": np.zeros(240)}))
    assert np.isfinite(P).all()
    np.testing.assert_allclose(P[:, :2], np.tile([1, 0], (240, 1)), atol=1e-6)
    agrees = clf.predict_proba(X, known=pd.DataFrame({"sea": np.ones(240)}))
    assert (agrees[:, 1:3] > 0.5).all()  # the one set that agrees has half of the vote


@pytest.mark.parametrize("metric", ["accuracy", "f1_samples", "f1_macro"])
@pytest.mark.parametrize("decision", ["optimal", 0.4])
def test_every_decision_keeps_what_is_told(data, told, metric, decision):
    X, Y = data
    clf = tiny(**CHEAP, metric=metric, decision=decision).fit(X[:200], sp.csr_array(Y[:200]))
    predicted = clf.predict(X[200:], known=told)
    assert sp.issparse(predicted)
    is_told = ~np.isnan(told)
    np.testing.assert_array_equal(predicted.toarray()[is_told], told[is_told])


def test_files_and_pickles_hold_what_was_learned_of_told_labels(fitted, data, told, tmp_path):
    X = data[0][200:]
    P = fitted.predict_proba(X, known=told)
    fitted.save(tmp_path / "model.mrmp")
    for copy in (load(tmp_path / "model.mrmp"), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(copy.predict_proba(X, known=told), P)


@pytest.mark.parametrize("options", [{}, {"cv": 3, "max_epochs": 1}, {"refit": True}])
def test_the_network_votes_with_told_labels_and_a_seed_gives_the_same_again(data, told, options):
    X, Y = data
    one, other = (tiny(**options).fit(X[:200], Y[:200], known_rate=0.5) for _ in range(2))
    P = one.predict_proba(X[200:], known=told)
    np.testing.assert_array_equal(other.predict_proba(X[200:], known=told), P)
    truth, untold = Y.to_numpy()[200:] > 0, np.isnan(told)
    untold[::2] = False
    gain = P - one.predict_proba(X[200:])
    assert gain[untold & truth].mean() > 0.1 > -0.1 > gain[untold & ~truth].mean()


def test_told_labels_go_with_candidates(data, told):
    X, Y = data
    clf = tiny(label_shortlist=2).fit(X[:200], Y[:200])
    P = clf.predict_proba(X[200:], known=told)
    np.testing.assert_array_equal(P[::2], clf.predict_proba(X[200:])[::2])


@pytest.mark.parametrize("known_rate", [None, 0.5])
def test_labels_that_are_partly_unknown_in_training_can_be_told(data, told, known_rate):
    X, Y = data
    hidden = Y.astype(float).mask(np.random.default_rng(5).random(Y.shape) < 0.2)
    clf = tiny(**CHEAP).fit(X[:200], hidden[:200], np.linspace(1, 2, 200), known_rate=known_rate)
    P = clf.predict_proba(X[200:], known=told)
    assert np.isfinite(P).all()
    assert (P != clf.predict_proba(X[200:])).any(axis=1)[1::2].any()


def test_without_a_graph_the_others_condition(data, told):
    X, Y = data
    clf = tiny(**CHEAP, relations=None).fit(X[:200], Y[:200])
    assert clf.predict_proba(X[200:], known=told).shape == told.shape


def test_known_goes_through_pipelines_and_routing(data, told):
    X, Y = data
    clf = make_pipeline(MaxAbsScaler(), tiny(**CHEAP)).fit(X[:200], Y[:200])
    P = clf.predict_proba(X[200:], known=told)
    with config_context(enable_metadata_routing=True):
        routed = (
            tiny(**CHEAP).set_predict_proba_request(known=True).set_fit_request(known_rate=True)
        )
        pipeline = make_pipeline(MaxAbsScaler(), routed).fit(X[:200], Y[:200], known_rate=0.5)
        assert pipeline.predict_proba(X[200:], known=told).shape == P.shape


@pytest.mark.parametrize("known_rate", [0, 1, 1.5, "half", True])
def test_shares_that_are_none_are_refused(data, known_rate):
    X, Y = data
    with pytest.raises(ValueError, match="known_rate"):
        tiny(**CHEAP).fit(X, Y, known_rate=known_rate)


def test_training_needs_somebody_who_reads_told_labels(data):
    X, Y = data
    with pytest.raises(ValueError, match="'linear' is not among the voters"):
        tiny(voters=("neighbors",)).fit(X, Y, known_rate=0.5)


def test_vectors_of_classes_have_no_labels_to_tell(data):
    X, y = data[0], np.arange(240) % 3
    clf = tiny(**CHEAP).fit(X, y)
    with pytest.raises(ValueError, match="multiclass vector"):
        clf.predict_proba(X, known=np.zeros((240, 3)))
    with pytest.raises(ValueError, match="needs a label matrix"):
        tiny(**CHEAP).fit(X, y, known_rate=0.5)


def test_what_is_told_must_be_of_the_same_rows(fitted, data, told):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fitted.predict_proba(data[0][200:], known=told[:-1])
    with pytest.raises(ValueError, match="each of the 5 labels"):
        fitted.predict(data[0][200:], known=told[:, :-1])
