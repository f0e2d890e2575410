"""What users may write as ``voters=``, and what comes of it."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_mrmp._voters.choice import check_voters
from tests.tiny import tiny


@pytest.mark.parametrize(
    ("voters", "message"),
    [
        ((), "voters is empty; name at least one"),
        (("network", "forest"), r"names \(network, linear, neighbors\) or pairs .* found 'forest'"),
        (("network", LogisticRegression()), r"found LogisticRegression\(\)"),
        (("network", ("mine", "linear")), r"found \('mine', 'linear'\)"),
        ((("mine", LogisticRegression(), 1),), "voters must be names"),
        ((3,), "found 3"),
        (("linear", "linear"), "name 'linear' of a voter is taken"),
        (("network", ("linear", LogisticRegression())), "name 'linear' of a voter is taken"),
        ((("network", LogisticRegression()),), "name 'network' of a voter is taken"),
        (("network", ("frequency", LogisticRegression())), "name 'frequency' of a voter is taken"),
        ((("a", LogisticRegression()), ("a", LogisticRegression())), "name 'a' of a voter is"),
    ],
)
def test_wrong_voters_are_refused_with_what_was_found(related, voters, message):
    with pytest.raises(ValueError, match=message):
        tiny(voters=voters).fit(*related)


@pytest.mark.parametrize("voters", ["network", None, 3, {"network"}])
def test_voters_are_a_list_or_a_tuple(related, voters):
    with pytest.raises(ValueError, match="'voters' parameter"):
        tiny(voters=voters).fit(*related)


def test_names_and_pairs_become_pairs_in_their_order():
    mine = LogisticRegression()
    assert check_voters(["linear", ("mine", mine), "network"]) == [
        ("linear", None),
        ("mine", mine),
        ("network", None),
    ]


@pytest.mark.parametrize("cv", [0.1, 2])
def test_fitted_voters_and_weights_stand_in_the_order_they_were_named(related, cv):
    voters = ("neighbors", "network", "linear")
    clf = tiny(max_epochs=1, voters=voters, cv=cv).fit(*related)
    assert tuple(clf.voters_) == voters
    assert tuple(clf.vote_weights_) == (*voters, "frequency")


def test_the_order_of_voters_changes_nothing_but_rounding(related):
    P = [
        tiny(voters=voters, label_sets=False).fit(*related).predict_proba(related[0])
        for voters in (("network", "linear", "neighbors"), ("neighbors", "linear", "network"))
    ]
    np.testing.assert_allclose(*P, atol=1e-3)


@pytest.mark.parametrize("cv", [0.1, 2])
@pytest.mark.parametrize("voters", [("linear",), ("linear", "neighbors")])
def test_voters_need_no_network(related, voters, cv):
    X, Y = related
    clf = tiny(voters=voters, cv=cv).fit(X, Y)
    assert clf.predict_proba(X).shape == clf.predict(X).shape == Y.shape
    for name in ("net_", "label_embeddings_", "history_", "n_iter_", "best_epoch_"):
        assert not hasattr(clf, name)


def test_what_a_network_left_behind_goes_when_fitted_without_one(related):
    clf = tiny(max_epochs=1).fit(*related)
    assert clf.n_iter_ == 1
    clf.set_params(voters=("linear",)).fit(*related)
    assert not hasattr(clf, "n_iter_")
    assert not hasattr(clf, "net_")


def test_a_single_voter_is_the_whole_classifier(related):
    X, Y = related
    clf = tiny(voters=("linear",), label_sets=False).fit(X, Y)
    assert clf.vote_weights_ == {"linear": 1.0}
    np.testing.assert_allclose(clf.predict_proba(X), clf.voters_.linear.predict_proba(X), atol=1e-6)
