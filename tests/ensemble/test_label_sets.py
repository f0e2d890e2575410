"""Label sets in the probabilities: only where they help, and never a row's own."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import log_loss

from sklearn_mrmp import load
from sklearn_mrmp._decisions.label_set_model import LabelSetModel
from sklearn_mrmp._ensemble import label_sets as _label_sets
from sklearn_mrmp._ensemble.label_sets import LabelSetVote
from tests.tiny import tiny

SETS = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0]], dtype=bool)


def noisy(Y, rng, noise=1.5):
    return 1 / (1 + np.exp(-(3.0 * Y - 1.5 + noise * rng.normal(size=Y.shape))))


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    Y = SETS[rng.integers(3, size=400)]
    return Y, noisy(Y, rng)


def test_labels_that_come_together_help_each_other(problem):
    Y, P = problem
    vote, mixed = LabelSetVote.fit(Y[:200], P[:200], Y[200:])
    assert log_loss(Y[:200].ravel(), mixed.ravel()) < log_loss(Y[:200].ravel(), P[:200].ravel())
    new = vote.mix(P[200:])
    assert log_loss(Y[200:].ravel(), new.ravel()) < log_loss(Y[200:].ravel(), P[200:].ravel())


def test_sets_that_say_nothing_are_left_out():
    rng = np.random.default_rng(0)
    Y = rng.random((300, 6)) < 0.5  # independent labels, known as well as can be
    P = np.full(Y.shape, 0.5)
    vote, mixed = LabelSetVote.fit(Y, P, rng.random((20, 6)) < 0.1)
    assert vote is None
    assert mixed is P


def test_a_row_does_not_vouch_for_its_own_set():
    """Each row has a set of its own: judged by those of the others, sets are no help."""
    rng = np.random.default_rng(0)
    Y = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(bool)
    P = noisy(Y, rng)
    vote, _ = LabelSetVote.fit(Y, P)
    assert vote is None or vote.share <= 0.25


def test_held_out_sets_can_be_left_out_of_the_model(problem):
    Y, P = problem
    others = SETS[np.repeat([0, 1], 50)]
    whole, _ = LabelSetVote.fit(Y, P, others)
    part, _ = LabelSetVote.fit(Y, P, others, forget_held_out=True)
    assert whole.model.sets.shape[0] == 3
    assert part.model.sets.shape[0] == 2


def test_a_row_depends_on_itself_alone(problem):
    Y, P = problem
    vote, _ = LabelSetVote.fit(Y, P.astype(np.float32))
    P = P.astype(np.float32)
    alone = np.vstack([vote.mix(P[[i]]) for i in range(50)])
    np.testing.assert_array_equal(vote.mix(P)[:50], alone)


def test_very_many_labels_have_no_sets_to_speak_of(problem, monkeypatch):
    monkeypatch.setattr(_label_sets, "_MOST_LABELS", 3)
    vote, mixed = LabelSetVote.fit(*problem)
    assert vote is None
    assert mixed is problem[1]


@pytest.fixture(scope="module")
def sets():
    rng = np.random.default_rng(1)
    Y = SETS[rng.integers(3, size=240)]
    X = np.hstack([Y + rng.normal(size=Y.shape), rng.normal(size=(240, 3))])
    return X, Y.astype(int)


def test_sets_are_used_and_can_be_left_out(sets, tmp_path):
    clf = tiny().fit(*sets)
    assert clf.label_sets_ is not None
    clf.save(tmp_path / "model")
    P = load(tmp_path / "model").predict_proba(sets[0])
    np.testing.assert_array_equal(P, clf.predict_proba(sets[0]))
    without = tiny(label_sets=False).fit(*sets)
    assert without.label_sets_ is None
    assert clf.label_sets_.share in (0.25, 0.5, 0.75)


def test_given_held_out_rows_do_not_vouch_for_themselves(sets):
    X, Y = sets
    Y = Y.copy()
    Y[200:] = [0, 1, 1, 1]  # a set that only held-out rows have
    clf = tiny().fit(X[:200], Y[:200], X_val=X[200:], y_val=Y[200:])
    known = clf.label_sets_
    assert known is None or [0, 1, 1, 1] not in known.model.sets.toarray().tolist()


def test_vector_targets_have_none(sets):
    X, Y = sets
    assert tiny().fit(X, Y[:, 0]).label_sets_ is None


def test_what_follows_from_the_sets_is_computed_once_and_not_pickled(problem, monkeypatch):
    Y, P = problem
    vote, _ = LabelSetVote.fit(Y[:200], P[:200], Y[200:])
    fresh = pickle.loads(pickle.dumps(vote))
    size, mixed = len(pickle.dumps(fresh)), vote.mix(P)
    np.testing.assert_array_equal(fresh.mix(P), mixed)
    assert len(pickle.dumps(fresh)) == size
    for name in ("features", "_sets_by_label", "_all_sets"):
        monkeypatch.delattr(LabelSetModel, name)
    np.testing.assert_array_equal(fresh.mix(P), mixed)


def brute_force(model, z, told):
    """Marginals of one row by listing the sets that agree."""
    sets = model.sets.toarray()
    size, log_count, prior = model.features
    a, b, c, d = model.coefficients
    P = np.exp(a * sets @ z + b * size + c * log_count + d * prior)
    P *= [all(s[j] == (t > 0) for j, t in enumerate(told) if t) for s in sets]
    return sets.T @ P / P.sum()


TELLINGS = [[1, 0, 0], [0, -1, 0], [1, -1, 0], [-1, 0, 1], [0, 0, 1]]


@pytest.mark.parametrize("told", TELLINGS)
def test_told_labels_leave_the_sets_that_agree(told):
    rng = np.random.default_rng(0)
    Y = rng.random((60, 3)) < 0.5
    model = LabelSetModel.from_labels(Y, 100, [0.8, -0.2, 0.6, 0.3])
    Z = rng.normal(size=(4, 3)).astype(np.float32)
    found = model.told_marginals(Z, sp.csr_array(np.tile(np.float32(told), (4, 1))))
    expected = [brute_force(model, z, told) for z in Z]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_sets_abstain_where_none_agrees():
    vote = LabelSetVote(LabelSetModel.from_labels(SETS, 100), 0.5)
    P, told = np.full((2, 4), 0.3, np.float32), np.float32([[1, 0, 1, 0], [1, 1, 0, 0]])
    mixed = vote.mix_told(P, P, sp.csr_array(told))
    assert (mixed[0] == P[0]).all()
    np.testing.assert_allclose(mixed[1], [0.65, 0.65, 0.15, 0.15], rtol=1e-4)
