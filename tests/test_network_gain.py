"""Where the vote gains by the network it is trained at full length, and briefly elsewhere."""

import numpy as np
import pytest
import scipy.sparse as sp

import sklearn_mrmp
from sklearn_mrmp import MrMPClassifier
from sklearn_mrmp._ensemble import fitting
from sklearn_mrmp._ensemble.gain import VoteGain
from sklearn_mrmp.datasets import make_related_labels

SMALL = {"d_model": 8, "random_state": 0, "n_threads": 1}


@pytest.fixture(scope="module")
def bag():
    X, Y, _ = make_related_labels(150, 4, n_features=80, random_state=0)
    return X, Y


@pytest.fixture
def judged(monkeypatch):
    """Set what the held-out rows say of the network, so that no training has to turn out well."""

    def say(gain, standard_error=0.01):
        answer = VoteGain(gain, standard_error)
        monkeypatch.setattr(fitting, "vote_gain", lambda evidence, name: answer)

    return say


def depth(clf):
    return len(clf.net_.module_.encoder.layers)


@pytest.mark.parametrize("options", [{}, {"cv": 2}, {"refit": True}, {"n_members": 2}])
def test_a_network_that_adds_little_is_trained_briefly(bag, judged, options):
    judged(0.03)
    clf = MrMPClassifier(**SMALL, **options).fit(*bag)
    assert (clf.n_iter_, depth(clf)) == (8, 0)
    assert clf.network_gain_.gain == 0.03


def test_a_gain_that_is_not_sure_is_little(bag, judged):
    judged(0.2, standard_error=0.1)
    assert MrMPClassifier(**SMALL).fit(*bag).n_iter_ == 8


@pytest.mark.parametrize("options", [{}, {"cv": 2}])
def test_a_network_that_adds_much_is_trained_as_if_nothing_had_been_tried(bag, judged, options):
    judged(0.3)
    tried = MrMPClassifier(**SMALL, **options).fit(*bag)
    forced = MrMPClassifier(**SMALL, **options, early_stopping=False).fit(*bag)
    assert (tried.n_iter_, depth(tried)) == (30, 2)
    np.testing.assert_array_equal(tried.predict_proba(bag[0]), forced.predict_proba(bag[0]))


@pytest.mark.parametrize(
    "options",
    [{"max_epochs": 9}, {"early_stopping": False}, {"voters": ("network",)}],
    ids=["a length", "no stopping", "no others"],
)
def test_what_is_asked_for_is_trained_at_once(bag, judged, options):
    judged(0.0)
    clf = MrMPClassifier(**SMALL, **options).fit(*bag)
    assert (clf.n_iter_, depth(clf)) == (options.get("max_epochs", 30), 2)


def test_dense_measurements_are_trained_at_full_length(judged):
    judged(0.0)
    rng = np.random.default_rng(0)
    clf = MrMPClassifier(**SMALL).fit(rng.normal(size=(80, 5)), rng.integers(0, 2, (80, 3)))
    assert clf.n_iter_ == 30


def test_no_gain_is_told_where_there_is_nothing_to_compare(bag):
    for voters in (("network",), ("linear", "neighbors")):
        clf = MrMPClassifier(**SMALL, voters=voters, max_epochs=1).fit(*bag)
        assert clf.network_gain_ is None


def test_labels_of_pairs_of_words_gain_by_the_network_and_labels_of_words_do_not():
    rng = np.random.default_rng(0)
    has = rng.random((900, 12)) < 0.5
    X = sp.csr_array(np.hstack([has, np.zeros((900, 60))]).astype(float))  # a sparse bag
    pairs, single = has[:, :4] ^ has[:, 4:8], has[:, :4]
    options = {**SMALL, "d_model": 32, "max_epochs": 20}
    gains = [MrMPClassifier(**options).fit(X, Y.astype(int)).network_gain_ for Y in (pairs, single)]
    assert gains[0].gain > 0.1
    assert gains[0].gain > gains[1].gain


def test_the_decision_is_one_printed_sentence(bag, judged, capsys):
    judged(0.03)
    MrMPClassifier(**SMALL, verbose=1).fit(*bag)
    assert capsys.readouterr().out.count("lowers the held-out log loss of the vote by 3.0%") == 1


def test_checkpoints_of_both_trainings_are_taken_up(bag, judged, tmp_path):
    judged(0.3)
    clf = MrMPClassifier(**SMALL, checkpoint_dir=tmp_path).fit(*bag)
    again = MrMPClassifier(**SMALL, checkpoint_dir=tmp_path).fit(*bag)
    np.testing.assert_array_equal(again.predict_proba(bag[0]), clf.predict_proba(bag[0]))


def test_model_files_hold_the_gain(bag, judged, tmp_path):
    judged(0.03)
    clf = MrMPClassifier(**SMALL).fit(*bag)
    sklearn_mrmp.save(clf, tmp_path / "model.mrmp")
    assert sklearn_mrmp.load(tmp_path / "model.mrmp").network_gain_ == clf.network_gain_
