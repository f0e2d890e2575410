"""``partial_fit``: what learns from rows that come later, and what stays."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.exceptions import NotFittedError

from sklearn_mrmp import load
from tests.peers.networks import PEERS
from tests.tiny import PLAIN, tiny

ALL = ("network", "linear", "neighbors")
MAKERS = {"mrmp": tiny, **PEERS}
each = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@pytest.fixture(scope="module")
def parts(related):
    X, Y = related
    return (X[:100], Y[:100]), (X[100:], Y[100:])


@each
def test_the_first_call_is_a_fit(make, parts):
    (X, Y), _ = parts
    first, fitted = make(voters=ALL).partial_fit(X, Y), make(voters=ALL).fit(X, Y)
    np.testing.assert_array_equal(first.predict_proba(X), fitted.predict_proba(X))


@each
def test_networks_and_neighbours_learn_and_all_else_stays(make, parts):
    (X, Y), (X_new, Y_new) = parts
    clf = make(voters=ALL, max_epochs=1).fit(X, Y)
    before = clf._ensemble
    voters = {name: clf.voters_[name].decision_function(X_new) for name in ALL}
    kept = clf.label_graph_, clf.vote_weights_, clf.thresholds_, clf.label_sets_, clf.history_
    clf.partial_fit(X_new, Y_new)
    assert (clf.label_graph_, clf.vote_weights_, clf.thresholds_) == kept[:3]
    assert (clf.label_sets_, clf.history_) == kept[3:]
    for name in ALL:
        is_same = np.array_equal(clf.voters_[name].decision_function(X_new), voters[name])
        assert is_same == (name == "linear"), name
    np.testing.assert_array_equal(before.frequency, clf._ensemble.frequency)
    assert clf.voters_.neighbors.model.labels_.shape == (160, 6)


def test_a_remembered_row_finds_itself(parts):
    (X, Y), (X_new, Y_new) = parts
    clf = tiny(voters=("neighbors",)).fit(X, Y).partial_fit(X_new, Y_new)
    near = clf._ensemble.similar_rows(clf._encoded(clf._check_rows(X_new)))
    np.testing.assert_allclose(near.similarities[:, 0], 1.0, rtol=1e-5)
    numbers = clf._ensemble.voters["neighbors"]._numbers[near.rows[:, 0]]
    rows = sp.vstack([X, X_new]).tocsr()[numbers]
    np.testing.assert_array_equal(rows.toarray(), X_new.toarray())


def loss(clf, X, Y):
    P = clf.voters_.network.predict_proba(X)
    return -np.log(np.where(Y > 0, P, 1 - P)).mean()


@each
def test_the_network_moves_towards_the_new_rows(make, parts):
    (X, Y), (X_new, _) = parts
    always = np.ones((60, 6), dtype=int)  # what no old row is like
    clf = make(voters=("network",), dropout=0.0, lr=0.05).fit(X, Y)
    before = loss(clf, X_new, always)
    for _ in range(3):
        clf.partial_fit(X_new, always)
    assert loss(clf, X_new, always) < before


def test_the_earlier_network_and_copies_of_it_stay_as_they_are(parts):
    (X, Y), (X_new, Y_new) = parts
    clf = tiny(**PLAIN).fit(X, Y)
    net = clf.net_
    weights = {name: w.detach().clone() for name, w in net.module_.named_parameters()}
    clf.partial_fit(X_new, Y_new)
    assert clf.net_ is not net
    assert all(torch.equal(w, weights[name]) for name, w in net.module_.named_parameters())
    assert not any(w.grad is not None for w in clf.net_.module_.parameters())


def test_the_same_seed_gives_the_same_bits_and_leaves_random_numbers_alone(parts):
    before = torch.get_rng_state()
    first, second = (tiny().partial_fit(*parts[0]).partial_fit(*parts[1]) for _ in range(2))
    X = parts[1][0]
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("options", [{"cv": 2}, {"n_members": 2}, {"label_shortlist": 3}], ids=str)
def test_every_network_takes_the_pass(parts, options):
    (X, Y), (X_new, Y_new) = parts
    clf = tiny(max_epochs=1, **options).fit(X, Y)
    before = [net.module_.bias.detach().clone() for net in clf.voters_.network.model.nets]
    clf.partial_fit(X_new, Y_new)
    after = [net.module_.bias for net in clf.voters_.network.model.nets]
    assert len(after) == len(before)
    assert not any(torch.equal(a, b) for a, b in zip(after, before, strict=True))
    assert np.isfinite(clf.predict_proba(X)).all()


def test_a_model_file_holds_what_was_learned_and_goes_on(parts, tmp_path):
    (X, Y), (X_new, Y_new) = parts
    clf = tiny().partial_fit(X, Y).partial_fit(X_new[:30], Y_new[:30])
    clf.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    both = (c.partial_fit(X_new[30:], Y_new[30:]).predict_proba(X) for c in (clf, loaded))
    np.testing.assert_array_equal(*both)


def test_a_call_that_fails_changes_nothing(parts, monkeypatch):
    (X, Y), (X_new, Y_new) = parts
    clf = tiny(max_epochs=1).fit(X, Y)
    expected = clf.predict_proba(X)
    for wrong, message in (
        ((X_new[:, :9], Y_new), "X has 9 features, but MrMPClassifier is expecting 40"),
        ((X_new, Y_new[:, :3]), "Expected a label matrix with 6 columns"),
        ((X_new, Y_new[:9]), "inconsistent numbers of samples"),
        ((X_new, [["7"]] * 60), "1 labels that were not seen in training: '7'"),
    ):
        with pytest.raises(ValueError, match=message):
            clf.partial_fit(*wrong)

    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("sklearn_mrmp._voters.neighbors.NeighborVoter.remembering", stop)
    with pytest.raises(KeyboardInterrupt):
        clf.partial_fit(X_new, Y_new)
    np.testing.assert_array_equal(clf.predict_proba(X), expected)


def test_a_first_call_that_fails_leaves_nothing(parts):
    clf = tiny()
    with pytest.raises(ValueError, match="inconsistent numbers"):
        clf.partial_fit(parts[0][0], parts[1][1])
    with pytest.raises(NotFittedError):
        clf.predict(parts[0][0])


def test_voters_that_need_all_rows_have_nothing_to_do(parts):
    clf = tiny(voters=("linear",)).partial_fit(*parts[0])
    with pytest.raises(ValueError, match=r"only 'network' and 'neighbors' learn.*\['linear'\]"):
        clf.partial_fit(*parts[1])


def test_classes_of_a_vector_that_come_later_are_named_at_first(parts):
    (X, _), (X_new, _) = parts
    y, y_new = np.arange(100) % 2, np.arange(60) % 3
    clf = tiny(max_epochs=1).partial_fit(X, y, classes=[2, 1, 0]).partial_fit(X_new, y_new)
    assert clf.classes_.tolist() == [0, 1, 2]
    assert clf.predict_proba(X).shape == (100, 3)
    with pytest.raises(ValueError, match="not the same as in the first call"):
        clf.partial_fit(X_new, y_new, classes=[0, 1])
    with pytest.raises(ValueError, match=r"classes that were not seen in training: \[5\]"):
        clf.partial_fit(X_new, np.full(60, 5))
    with pytest.raises(ValueError, match=r"not among `classes`: \[1\]"):
        tiny().partial_fit(X, y, classes=[0, 2])


def test_names_of_labels_that_come_later_are_named_at_first(parts):
    (X, Y), (X_new, _) = parts
    lists = [[f"l{j}" for j in np.flatnonzero(row)] for row in Y]
    names = [f"l{j}" for j in range(8)]
    clf = tiny(max_epochs=1).partial_fit(X, lists, classes=names)
    clf.partial_fit(X_new, [["l7"]] * 60, classes=names)
    assert clf.label_names_.tolist() == names
    with pytest.raises(ValueError, match="6 columns, but there are 3 `classes`"):
        tiny().partial_fit(X, Y, classes=[0, 1, 2])
    assert tiny(max_epochs=1).partial_fit(X, Y, classes=range(6)).label_names_.shape == (6,)


def test_rows_have_weights_and_labels_may_be_unknown(parts):
    (X, Y), (X_new, Y_new) = parts
    weight = np.where(np.arange(60) % 2, 2.0, 0.0)
    unknown = Y_new.astype(float)
    unknown[1, 2] = np.nan
    clf = tiny(max_epochs=1).fit(X, Y).partial_fit(X_new, unknown, sample_weight=weight)
    voter = clf.voters_.neighbors.model
    assert voter.counts_.tolist() == [1.0] * 100 + [2.0] * 30
    assert np.argwhere(voter.unknown_.toarray()).tolist() == [[100, 2]]
    assert np.isfinite(clf.predict_proba(X)).all()


def test_rows_of_a_pass_are_not_held_out_by_a_fit_that_goes_on(parts):
    (X, Y), (X_new, Y_new) = parts
    clf = tiny(**PLAIN, warm_start=True, max_epochs=1).fit(X, Y).partial_fit(X_new, Y_new)
    held_out_before = np.count_nonzero(clf._row_marks.parts == 0)
    clf.fit(sp.vstack([X, X_new]).tocsr(), np.vstack([Y, Y_new]))
    assert held_out_before == np.count_nonzero(clf._row_marks.parts == 0) == 10


def test_explanations_count_on_behind_the_rows_of_the_fit(parts):
    (X, Y), (X_new, Y_new) = parts
    clf = tiny(max_epochs=1).fit(X, Y).partial_fit(X_new, Y_new)
    voter = clf.voters_.neighbors.model
    near = voter.nearest_rows(clf._encoded(clf._check_rows(X_new)), 0, 0)
    assert 100 in near.rows[near.similarities > 0.999]
