"""A network that reads told labels: learned in addition, switched by evidence, kept in files."""

import pickle

import numpy as np
import pytest

from sklearn_mrmp import LaMPClassifier, load
from sklearn_mrmp._ensemble import told_tuning
from sklearn_mrmp._network import told_training, voter
from tests.tiny import PLAIN, TINY, tiny

RELATED = {**PLAIN, "max_epochs": 4, "lr": 0.02}


@pytest.fixture(scope="module")
def data():
    """Rows that say nothing, and labels of which two groups come together."""
    rng = np.random.default_rng(0)
    wet = rng.random(300) < 0.5
    Y = np.column_stack([wet, wet, wet, ~wet, ~wet]) ^ (rng.random((300, 5)) < 0.1)
    return rng.random((300, 12)) * (rng.random((300, 12)) < 0.4), Y.astype(int)


@pytest.fixture(scope="module")
def fitted(data):
    X, Y = data
    return tiny(**RELATED).fit(X[:240], Y[:240], known_rate=0.5)


@pytest.fixture(scope="module")
def told(data):
    known = data[1][240:].astype(float)
    known[:, 1:] = np.nan
    known[::2] = np.nan
    return known


def reads(clf):
    return clf._ensemble.voters["network"].reads_told


def test_the_network_learns_what_told_labels_say_of_their_neighbours(fitted, data):
    X = data[0][240:]
    plain, known = fitted.predict_proba(X), np.full((60, 5), np.nan)
    known[:, 0] = 1
    wet = fitted.predict_proba(X, known=known)
    assert reads(fitted)
    assert fitted._told.weights["network"] > 0
    assert (wet[:, 1:3].mean(axis=0) > plain[:, 1:3].mean(axis=0) + 0.1).all()
    assert (wet[:, 3:].mean(axis=0) < plain[:, 3:].mean(axis=0) - 0.1).all()


@pytest.mark.parametrize("options", [RELATED, {}], ids=["alone", "voters"])
def test_plain_predictions_and_decisions_stay_to_the_last_bit(data, options):
    X, Y = data
    plain, trained = (tiny(**options).fit(X[:240], Y[:240], known_rate=r) for r in (None, 0.5))
    np.testing.assert_array_equal(trained.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(trained.predict(X), plain.predict(X))
    assert trained.history_[-1]["train_loss"] == plain.history_[-1]["train_loss"]


def test_files_and_pickles_hold_what_reads_told_labels(fitted, data, told, tmp_path):
    X = data[0][240:]
    P = fitted.predict_proba(X, known=told)
    fitted.save(tmp_path / "model.mrmp")
    for copy in (load(tmp_path / "model.mrmp"), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(copy.predict_proba(X, known=told), P)


@pytest.mark.parametrize(
    "options", [{"cv": 3}, {"refit": True}, {"n_members": 2}, {"label_shortlist": 2}]
)
def test_folds_refits_members_and_candidates_read_told_labels(data, told, options):
    X, Y = data
    beside = {"voters": ("network", "linear")} if "label_shortlist" in options else {}
    options = {**RELATED, **beside, **options}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(told_tuning, "_ERRORS", -np.inf)  # whatever it is worth
        one, other = (tiny(**options).fit(X[:240], Y[:240], known_rate=0.5) for _ in range(2))
    assert reads(one)
    P = one.predict_proba(X[240:], known=told)
    np.testing.assert_array_equal(other.predict_proba(X[240:], known=told), P)
    np.testing.assert_array_equal(P[::2], one.predict_proba(X[240:])[::2])


def test_a_network_that_gains_nothing_from_told_labels_forgets_how_to_read_them(data, monkeypatch):
    monkeypatch.setattr(told_tuning, "_ERRORS", np.inf)
    X, Y = data
    with pytest.warns(UserWarning, match="did not make the network better"):
        clf = tiny(**RELATED).fit(X, Y, known_rate=0.5)
    assert not reads(clf)
    assert "network" not in clf._told.weights
    assert not any("told" in name for name, _ in clf.net_.module_.named_parameters())


def test_ctrl_c_while_the_network_learns_to_read_keeps_the_network(data, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    X, Y = data
    plain = tiny(**RELATED).fit(X, Y)
    monkeypatch.setattr(told_training, "_train", interrupted)
    clf = tiny(**RELATED)
    with pytest.warns(UserWarning, match="has no effect"), pytest.raises(KeyboardInterrupt):
        clf.fit(X, Y, known_rate=0.5)
    assert not reads(clf)
    np.testing.assert_array_equal(clf.predict_proba(X), plain.predict_proba(X))


def test_a_fit_that_was_killed_learns_to_read_the_same(data, told, tmp_path, monkeypatch):
    def killed(*arguments):
        raise RuntimeError("killed")

    X, Y = data
    whole = tiny(**RELATED).fit(X[:240], Y[:240], known_rate=0.5)
    broken = tiny(**RELATED, checkpoint_dir=tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(voter, "learn_told", killed)
        with pytest.raises(RuntimeError, match="killed"):
            broken.fit(X[:240], Y[:240], known_rate=0.5)
    again = broken.fit(X[:240], Y[:240], known_rate=0.5)
    P = whole.predict_proba(X[240:], known=told)
    np.testing.assert_array_equal(again.predict_proba(X[240:], known=told), P)


def test_unknown_and_weighted_entries_are_borne(data, told):
    X, Y = data
    hidden = np.where(np.random.default_rng(5).random(Y.shape) < 0.2, np.nan, Y)
    clf = tiny(**RELATED).fit(X[:240], hidden[:240], np.linspace(1, 2, 240), known_rate=0.5)
    assert reads(clf)
    assert np.isfinite(clf.predict_proba(X[240:], known=told)).all()


def test_networks_that_cannot_read_told_labels_say_so(data):
    X, Y = data
    with pytest.raises(ValueError, match="'linear' is not among the voters"):
        tiny(**PLAIN, relations=None).fit(X, Y, known_rate=0.5)
    with pytest.raises(ValueError, match="'linear' is not among the voters"):
        LaMPClassifier(**TINY).fit(X, Y, known_rate=0.5)


def test_what_the_network_reads_takes_part_in_explanations(fitted, data):
    X, known = data[0][240:243], np.full((3, 5), np.nan)
    known[:, 0] = 1
    P = fitted.predict_proba(X, known=known).astype(float)
    explanation = fitted.explain(X, labels=range(1, 5), known=known)
    totals = [pair.log_odds for pair in explanation]
    np.testing.assert_allclose(totals, np.log(P / (1 - P))[:, 1:].ravel(), atol=1e-4)
    assert "network that reads told labels" in str(explanation)
