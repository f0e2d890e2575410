"""Fitting: every row is held out once, all networks vote, and nothing is lost on the way."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.multiclass import OneVsRestClassifier
from skorch.callbacks import Callback

from sklearn_mrmp import TunedDecisionClassifier, label_graph, load
from sklearn_mrmp._compare.api import compare_classifiers
from sklearn_mrmp._compare.run import tunes_on_all_rows
from sklearn_mrmp._decisions.operating_points import OperatingPoints
from sklearn_mrmp._ensemble.fitting import EnsemblePlan
from sklearn_mrmp._network import voter as _network_voter
from sklearn_mrmp._network.voter import NetworkTrainer
from tests.tiny import PLAIN, tiny


@pytest.fixture(scope="module")
def fitted(related):
    return tiny(cv=3).fit(*related)


def nets(clf):
    return clf.voters_.network.model.nets


def test_there_is_a_network_for_each_fold_and_member(related):
    clf = tiny(max_epochs=1, cv=2, n_members=2).fit(*related)
    assert len(nets(clf)) == 4


def test_every_row_is_held_out_once_from_all_voters_and_the_graph(related, monkeypatch):
    X, Y = related
    X = sp.csr_array(sp.hstack([X, np.arange(len(Y))[:, None] + 1.0]))  # the row's own number
    seen, remembered, graphs = [], [], []
    for_split, fit = NetworkTrainer.for_split, NetworkTrainer.fit
    train_network = _network_voter.train_network

    def spy_for_split(trainer, number, n_splits, ensemble):
        remembered.append(ensemble.voters["neighbors"].labels_.shape[0])
        return for_split(trainer, number, n_splits, ensemble)

    def spy_fit(trainer, rows, Y_train, rows_valid, Y_valid, *weights):
        seen.append([part.X[:, [-1]].toarray().ravel() for part in (rows, rows_valid)])
        return fit(trainer, rows, Y_train, rows_valid, Y_valid, *weights)

    def spy_train(recipe, encoder, train, valid, graph, **options):
        graphs.append(graph)
        return train_network(recipe, encoder, train, valid, graph, **options)

    monkeypatch.setattr(NetworkTrainer, "for_split", spy_for_split)
    monkeypatch.setattr(NetworkTrainer, "fit", spy_fit)
    monkeypatch.setattr(_network_voter, "train_network", spy_train)
    clf = tiny(max_epochs=1, cv=4).fit(X, Y)
    held_out = np.concatenate([valid for _, valid in seen])
    np.testing.assert_array_equal(np.sort(held_out), np.arange(len(Y)) + 1)
    for (train, valid), n_rows, graph in zip(seen, remembered, graphs, strict=True):
        assert not set(train) & set(valid)
        assert n_rows == len(train)
        rows = (np.sort(train) - 1).astype(int)
        assert graph == label_graph(Y[rows], label_names=clf.label_names_)
    assert clf.label_graph_ == label_graph(Y, label_names=clf.label_names_)


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
    tiny(cv=3).fit(*related)
    ((Y, P, Y_others),) = tunings
    assert len(Y) == len(P) == related[0].shape[0]
    assert Y_others is None


def test_with_very_many_labels_decisions_are_tuned_on_a_part(related, tunings, monkeypatch):
    plan = partial(EnsemblePlan, most_entries=6 * 60)
    monkeypatch.setattr("sklearn_mrmp._neural.learning.EnsemblePlan", plan)
    tiny(max_epochs=1, cv=3).fit(*related)
    ((Y, P, Y_others),) = tunings
    assert len(Y) == len(P) == 60  # twenty of each fold
    assert len(Y_others) == related[0].shape[0] - 60


def test_labels_are_as_likely_out_of_fold_as_they_are(related, tunings, monkeypatch):
    tiny(cv=3, label_sets=False).fit(*related)
    monkeypatch.setattr("sklearn_mrmp._ensemble.fitting.label_shifts", lambda *args: None)
    tiny(cv=3, label_sets=False).fit(*related)
    shifted, unshifted = (np.abs(P.mean(axis=0) - Y.mean(axis=0)).max() for Y, P, _ in tunings)
    assert shifted < 0.01
    assert shifted < unshifted


def test_shortlisted_labels_are_shifted(related):
    clf = tiny(cv=3, label_shortlist=3, label_sets=False).fit(*related)
    ensemble = clf._ensemble
    votes = ensemble.votes(clf._encoded(related[0]))
    shifted = ensemble.combined(votes)
    raised = replace(ensemble, shifts=ensemble.shifts + 5).combined(votes) > shifted
    inside = np.zeros(raised.shape, dtype=bool)
    np.put_along_axis(inside, votes.candidates, True, axis=1)
    np.testing.assert_array_equal(raised, inside)


def test_one_held_out_part_is_too_little_for_shifts(related):
    assert tiny().fit(*related)._ensemble.shifts is None


def test_processes_give_the_same_model(related, fitted):
    clf = tiny(cv=3, n_jobs=2).fit(*related)
    np.testing.assert_array_equal(clf.predict_proba(related[0]), fitted.predict_proba(related[0]))


def test_model_files_hold_all_networks(related, fitted, tmp_path):
    fitted.save(tmp_path / "model")
    P = load(tmp_path / "model").predict_proba(related[0])
    np.testing.assert_array_equal(P, fitted.predict_proba(related[0]))


def test_without_other_voters_the_networks_vote_alone(related):
    clf = tiny(cv=2, **PLAIN).fit(*related)
    rows = clf._encoded(related[0]).tokens
    mean = np.mean([net.label_logits(rows) for net in nets(clf)], axis=0)
    np.testing.assert_allclose(clf.predict_proba(related[0]), 1 / (1 + np.exp(-mean)), rtol=1e-4)


def test_shortlists_and_vector_targets(related):
    X, Y = related
    short = tiny(cv=2, label_shortlist=3).fit(X, Y)
    assert short._ensemble.n_candidates == 3
    vector = tiny(cv=2).fit(X, Y[:, 0] + 2 * Y[:, 1])
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
        tiny(**options).fit(X, Y, **held_out)


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
def test_an_interrupt_keeps_the_folds_before(related, fitted, epoch, n_kept):
    StopIn.trained = 0
    clf = tiny(cv=3, callbacks=[StopIn(2, epoch)])
    with pytest.raises(KeyboardInterrupt):
        clf.fit(*related)
    assert len(nets(clf)) == n_kept
    # What is kept of whole folds is what they would have been.
    rows = clf._encoded(related[0]).tokens
    whole = nets(fitted)[0].label_logits(rows)
    np.testing.assert_array_equal(nets(clf)[0].label_logits(rows), whole)
    assert clf.predict(related[0]).shape == related[1].shape
    assert set(clf.vote_weights_) == set(fitted.vote_weights_)


def test_an_interrupt_in_the_first_epoch_leaves_nothing_to_keep(related):
    StopIn.trained = 0
    clf = tiny(cv=3, callbacks=[StopIn(1, 1)])
    with pytest.raises(KeyboardInterrupt):
        clf.fit(*related)
    with pytest.raises(NotFittedError):
        clf.predict(related[0])


def test_a_killed_fit_goes_on_where_it_was(related, fitted, tmp_path):
    StopIn.trained = 0
    clf = tiny(cv=3, checkpoint_dir=tmp_path, callbacks=[StopIn(2, 2)])
    with pytest.raises(KeyboardInterrupt):
        clf.fit(*related)
    clf.set_params(callbacks=None).fit(*related)
    np.testing.assert_array_equal(clf.predict_proba(related[0]), fitted.predict_proba(related[0]))


@pytest.mark.parametrize("wrapped", [False, True])
def test_comparisons_leave_all_rows_and_the_decisions_to_it(related, wrapped):
    X, Y = related
    clf = tiny(cv=2)
    if wrapped:
        clf = TunedDecisionClassifier(tiny(), cv=2, random_state=0)
    result = compare_classifiers(
        {"own": clf}, X[:120], Y[:120], X[120:], Y[120:], isolate=False, metrics=["f1_macro"]
    )
    clf.fit(X[:120], Y[:120])
    clf.set_params(metric="f1_macro")
    predicted = clf.predict(X[120:])
    hits, sizes = (predicted & Y[120:]).sum(axis=0), (predicted + Y[120:]).sum(axis=0)
    expected = np.mean(2 * hits / np.maximum(sizes, 1))
    assert result.runs[0].scores["optimal"]["f1_macro"] == pytest.approx(expected)


def test_tokens_that_only_the_held_out_rows_have_stay_silent(related):
    X, Y = related
    X = sp.csr_array(sp.hstack([X, sp.eye_array(len(Y))]))  # every row has a token of its own
    clf = tiny(cv=2).fit(X, Y)
    for net in nets(clf):
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


@pytest.mark.parametrize(("cv", "n_held_out"), [(0.25, 40), (0.5, 80), (1e-9, 1), (0.999, 159)])
def test_a_share_of_the_rows_is_held_out_once(related, tunings, cv, n_held_out):
    clf = tiny(max_epochs=1, cv=cv).fit(*related)
    ((Y, P, Y_others),) = tunings
    assert len(nets(clf)) == 1
    assert len(Y) == len(P) == n_held_out
    assert len(Y_others) == len(related[1]) - n_held_out


@pytest.mark.parametrize("cv", [2, KFold(2), np.int64(2)], ids=["int", "splitter", "numpy"])
def test_folds_hold_out_all_rows(related, tunings, cv):
    clf = tiny(max_epochs=1, cv=cv).fit(*related)
    ((Y, _, Y_others),) = tunings
    assert len(nets(clf)) == 2
    assert len(Y) == len(related[1])
    assert Y_others is None


def test_a_splitter_that_holds_out_a_part_tunes_on_that_part(related, tunings):
    class Ends:
        """Hold out the first ten rows, then the last twenty."""

        def get_n_splits(self, X=None, y=None, groups=None):
            return 2

        def split(self, X, y=None, groups=None):
            rows = np.arange(X.shape[0])
            yield rows[10:], rows[:10]
            yield rows[:-20], rows[-20:]

    X, Y = related
    clf = tiny(max_epochs=1, cv=Ends()).fit(X, Y)
    ((Y_tuned, P, Y_others),) = tunings
    assert len(nets(clf)) == 2
    np.testing.assert_array_equal(Y_tuned, np.vstack([Y[:10], Y[-20:]]) > 0)
    np.testing.assert_array_equal(Y_others, Y[10:-20] > 0)
    assert len(P) == 30
    assert clf.voters_.neighbors.model.labels_.shape[0] == len(Y)  # in the end all rows


def test_a_splitter_of_one_split_is_like_a_share(related, tunings):
    clf = tiny(max_epochs=1, cv=ShuffleSplit(1, test_size=30, random_state=0)).fit(*related)
    assert len(nets(clf)) == 1
    assert len(tunings[0][0]) == 30
    assert clf._ensemble.shifts is None


def test_rows_that_are_held_out_twice_are_no_other_rows(related, tunings):
    splits = ShuffleSplit(3, test_size=100, random_state=0)
    tiny(max_epochs=1, cv=splits).fit(*related)
    ((Y, P, Y_others),) = tunings
    held_out = np.unique(np.concatenate([test for _, test in splits.split(related[0])]))
    assert len(Y) == len(P) == 300
    assert (0 if Y_others is None else len(Y_others)) == len(related[1]) - len(held_out)


def test_other_voters_are_cross_fitted_as_well(related, tunings):
    """Held-out votes come from voters that have not seen the row: it is not its own neighbour."""
    rng = np.random.default_rng(0)
    X, Y = related[0], (rng.random(related[1].shape) < 0.5).astype(int)  # nothing to learn
    clf = tiny(cv=4, voters=("neighbors",), label_sets=False).fit(X, Y)
    ((truth, P, _),) = tunings
    own = ((clf.predict_proba(X) > 0.5) == Y).mean()
    assert ((P > 0.5) == truth).mean() < 0.6 < own
