"""Cross-fitting: every row is held out once, all networks vote, and nothing is lost on the way."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from skorch.callbacks import Callback

from sklearn_mrmp import MrMPClassifier, TunedDecisionClassifier, load
from sklearn_mrmp._compare.api import compare_classifiers
from sklearn_mrmp._compare.run import tunes_on_all_rows
from sklearn_mrmp._decisions.operating_points import OperatingPoints
from sklearn_mrmp._ensemble import fitting as _model_fitting

TINY = {
    "d_model": 8,
    "n_heads": 2,
    "max_epochs": 2,
    "batch_size": 16,
    "n_threads": 1,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def fitted(related):
    return MrMPClassifier(**TINY, cv=3).fit(*related)


def test_there_is_a_network_for_each_fold_and_member(related):
    clf = MrMPClassifier(**TINY | {"max_epochs": 1}, cv=2, n_members=2).fit(*related)
    assert len(clf._model.nets) == 4


def test_every_row_is_held_out_once_from_networks_graph_and_paths(related, monkeypatch):
    X, Y = related
    X = sp.csr_array(sp.hstack([X, np.arange(len(Y))[:, None] + 1.0]))  # the row's own number
    seen = []

    def spy(fitting, model, train, valid, stage):
        numbers = [part[0][:, [-1]].toarray().ravel() for part in (train, valid)]
        assert model.neighbors.labels_.shape[0] == len(numbers[0])
        seen.append((*numbers, fitting.graph))
        return original(fitting, model, train, valid, stage)

    original = _model_fitting.ModelFitting.train_members
    monkeypatch.setattr(_model_fitting.ModelFitting, "train_members", spy)
    clf = MrMPClassifier(**TINY, cv=4).fit(X, Y)
    held_out = np.concatenate([valid for _, valid, _ in seen])
    np.testing.assert_array_equal(np.sort(held_out), np.arange(len(Y)) + 1)
    for train, valid, graph in seen:
        assert not set(train) & set(valid)
        rows = (np.sort(train) - 1).astype(int)
        assert graph == clf._learn_graph(sp.csr_array(Y[rows]))


@pytest.fixture
def tunings(monkeypatch):
    """Return what decisions are tuned on from now on: labels, probabilities, other labels."""
    seen, original = [], OperatingPoints.tune

    def spy(Y, P, Y_others=None, **options):
        seen.append((Y, P, Y_others))
        return original(Y, P, Y_others, **options)

    monkeypatch.setattr(OperatingPoints, "tune", spy)
    return seen


def test_decisions_are_tuned_on_all_rows(related, tunings):
    MrMPClassifier(**TINY, cv=3).fit(*related)
    ((Y, P, Y_others),) = tunings
    assert len(Y) == len(P) == related[0].shape[0]
    assert Y_others is None


def test_with_very_many_labels_decisions_are_tuned_on_a_part(related, monkeypatch):
    monkeypatch.setattr("sklearn_mrmp._mrmp.DECISION_ENTRIES", 6 * 60)
    clf = MrMPClassifier(**TINY, cv=3).fit(*related)
    assert clf.predict(related[0]).shape == related[1].shape


def test_labels_are_as_likely_out_of_fold_as_they_are(related, tunings, monkeypatch):
    plain = {**TINY, "cv": 3, "label_sets": False}
    MrMPClassifier(**plain).fit(*related)
    monkeypatch.setattr("sklearn_mrmp._ensemble.cross_fitting.label_shifts", lambda *args: None)
    MrMPClassifier(**plain).fit(*related)
    shifted, unshifted = (np.abs(P.mean(axis=0) - Y.mean(axis=0)).max() for Y, P, _ in tunings)
    assert shifted < 0.01
    assert shifted < unshifted


def test_shortlisted_labels_are_shifted(related):
    clf = MrMPClassifier(**TINY, cv=3, label_shortlist=3, label_sets=False).fit(*related)
    votes = clf._model.votes(sp.csr_array(related[0]))
    shifted = clf._model.mixed(votes)
    clf._model.shifts = clf._model.shifts + 5
    raised = clf._model.mixed(votes) > shifted
    inside = np.zeros(raised.shape, dtype=bool)
    np.put_along_axis(inside, votes.candidates, True, axis=1)
    np.testing.assert_array_equal(raised, inside)


def test_one_held_out_part_is_too_little_for_shifts(related):
    assert MrMPClassifier(**TINY).fit(*related)._model.shifts is None


def test_processes_give_the_same_model(related, fitted):
    clf = MrMPClassifier(**TINY, cv=3, n_jobs=2).fit(*related)
    np.testing.assert_array_equal(clf.predict_proba(related[0]), fitted.predict_proba(related[0]))


def test_model_files_hold_all_networks(related, fitted, tmp_path):
    fitted.save(tmp_path / "model")
    P = load(tmp_path / "model").predict_proba(related[0])
    np.testing.assert_array_equal(P, fitted.predict_proba(related[0]))


def test_without_paths_the_networks_vote_alone(related):
    alone = {"linear_path": False, "neighbor_path": False, "label_sets": False}
    clf = MrMPClassifier(**TINY, cv=2, **alone).fit(*related)
    rows = clf._model.encoder.transform(related[0])
    mean = np.mean([net.label_logits(rows) for net in clf._model.nets], axis=0)
    np.testing.assert_allclose(clf.predict_proba(related[0]), 1 / (1 + np.exp(-mean)), rtol=1e-4)


def test_shortlists_and_vector_targets(related):
    X, Y = related
    short = MrMPClassifier(**TINY, cv=2, label_shortlist=3).fit(X, Y)
    assert short._model.n_candidates == 3
    vector = MrMPClassifier(**TINY, cv=2).fit(X, Y[:, 0] + 2 * Y[:, 1])
    assert vector.predict_proba(X).shape == (len(Y), 4)


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        ({"cv": 3}, True, "X_val has no place beside cv=3"),
        ({"cv": 3, "refit": True}, False, "refit=True has no place beside cv=3"),
        ({"cv": 500}, False, "cv=500 folds need as many rows; got n_samples=160"),
    ],
)
def test_what_does_not_go_together_is_refused(related, options, given, message):
    X, Y = related
    held_out = {"X_val": X, "y_val": Y} if given else {}
    with pytest.raises(ValueError, match=message):
        MrMPClassifier(**TINY, **options).fit(X, Y, **held_out)


class StopIn(Callback):
    """Interrupt an epoch of one of the trainings."""

    trained = 0

    def __init__(self, training, epoch):
        self.training, self.epoch = training, epoch

    def on_train_begin(self, net, **kwargs):
        StopIn.trained += 1

    def on_batch_end(self, net, **kwargs):
        if (StopIn.trained, len(net.history)) == (self.training, self.epoch):
            raise KeyboardInterrupt


@pytest.mark.parametrize(("epoch", "n_kept"), [(1, 1), (2, 2)])
def test_an_interrupt_keeps_the_folds_before(related, epoch, n_kept):
    StopIn.trained = 0
    clf = MrMPClassifier(**TINY, cv=3, callbacks=[StopIn(2, epoch)])
    with pytest.warns(UserWarning, match="interrupted"):
        clf.fit(*related)
    assert len(clf._model.nets) == n_kept
    assert clf.predict(related[0]).shape == related[1].shape


def test_an_interrupt_in_the_first_epoch_leaves_nothing_to_keep(related):
    StopIn.trained = 0
    with pytest.raises(KeyboardInterrupt):
        MrMPClassifier(**TINY, cv=3, callbacks=[StopIn(1, 1)]).fit(*related)


def test_a_killed_fit_goes_on_where_it_was(related, fitted, tmp_path):
    StopIn.trained = 0
    clf = MrMPClassifier(**TINY, cv=3, checkpoint_dir=tmp_path, callbacks=[StopIn(2, 2)])
    with pytest.warns(UserWarning, match="interrupted"):
        clf.fit(*related)
    clf.set_params(callbacks=None).fit(*related)
    np.testing.assert_array_equal(clf.predict_proba(related[0]), fitted.predict_proba(related[0]))


@pytest.mark.parametrize("wrapped", [False, True])
def test_comparisons_leave_all_rows_and_the_decisions_to_it(related, wrapped):
    X, Y = related
    clf = MrMPClassifier(**TINY, cv=2)
    if wrapped:
        clf = TunedDecisionClassifier(MrMPClassifier(**TINY), cv=2, random_state=0)
    result = compare_classifiers(
        {"own": clf}, X[:120], Y[:120], X[120:], Y[120:], isolate=False, metrics=["f1_macro"]
    )
    clf.fit(X[:120], Y[:120])
    clf.set_params(**{"metric" if wrapped else "threshold": "f1_macro"})
    predicted = clf.predict(X[120:])
    hits, sizes = (predicted & Y[120:]).sum(axis=0), (predicted + Y[120:]).sum(axis=0)
    expected = np.mean(2 * hits / np.maximum(sizes, 1))
    assert result.runs[0].scores["optimal"]["f1_macro"] == pytest.approx(expected)


def test_tokens_that_only_the_held_out_rows_have_stay_silent(related):
    X, Y = related
    X = sp.csr_array(sp.hstack([X, sp.eye_array(len(Y))]))  # every row has a token of its own
    clf = MrMPClassifier(**TINY, cv=2).fit(X, Y)
    for net in clf._model.nets:
        table = net.module_.embedding.presence.weight[-len(Y) :]
        assert (table == 0).all(dim=1).sum() == len(Y) // 2


def test_decisions_on_margins_are_left_to_the_comparison(related):
    linear = OneVsRestClassifier(LogisticRegression())
    tuned = {
        method: TunedDecisionClassifier(linear, response_method=method)
        for method in ("predict_proba", "decision_function")
    }
    assert tunes_on_all_rows(tuned["predict_proba"])
    assert not tunes_on_all_rows(tuned["decision_function"])
    assert not tunes_on_all_rows(TunedDecisionClassifier(linear, cv=0.2))
