"""`LaMPClassifier`: graphs by name, and the publication's settings."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp import LabelGraph, LaMPClassifier, label_graph
from tests.peers.networks import lamp


def test_the_prior_graph_links_labels_that_occur_together(related):
    X, _ = related
    Y = np.zeros((len(X.toarray()), 4), dtype=int)
    Y[::2, :2], Y[1::2, 2] = 1, 1
    graph = lamp(relations="prior").fit(X, Y).label_graph_
    assert graph.neighbors(0) == ["1"]
    assert graph.neighbors(2) == graph.neighbors(3) == []


@pytest.mark.parametrize("relations", ["full", "edgeless", None])
def test_graphs_that_need_no_list_have_none(related, relations):
    clf = lamp(relations=relations).fit(*related)
    assert clf.label_graph_ is None
    assert clf.net_.module_.pairs is None


def test_no_relations_is_a_graph_without_edges(related):
    X, Y = related
    without, edgeless = (lamp(relations=r).fit(X, Y) for r in (None, "edgeless"))
    np.testing.assert_array_equal(without.predict_proba(X), edgeless.predict_proba(X))


def test_full_and_edgeless_graphs_differ(related):
    X, Y = related
    full, edgeless = (lamp(relations=r).fit(X, Y) for r in ("full", "edgeless"))
    assert np.abs(full.predict_proba(X) - edgeless.predict_proba(X)).max() > 1e-3


def test_relations_of_mrmp_say_who_hears_whom(related):
    X, Y = related
    learned = lamp(relations="chi2", cv=0.1).fit(X, Y)
    given = lamp(relations=lambda labels: label_graph(labels)).fit(X, Y)
    np.testing.assert_array_equal(learned.predict_proba(X), given.predict_proba(X))
    linked = sum(A.toarray() for A in learned.label_graph_.relations.values()) > 0
    pairs = learned.net_.module_.pairs.numpy()
    np.testing.assert_array_equal(pairs, linked | linked.T | np.eye(len(pairs), dtype=bool))


def test_a_directed_relation_is_heard_in_both_directions(related):
    X, Y = related
    parents = np.zeros((Y.shape[1],) * 2)
    parents[0, 1] = 0.5
    pairs = lamp(relations=LabelGraph({"parent": parents})).fit(X, Y).net_.module_.pairs
    assert pairs[0, 1]
    assert pairs[1, 0]
    assert pairs.sum() == Y.shape[1] + 2


def test_an_unknown_graph_is_refused(related):
    with pytest.raises(ValueError, match="The 'relations' parameter of LaMPClassifier"):
        lamp(relations="tree").fit(*related)


def test_label_embeddings_have_the_width_of_the_network(related):
    assert lamp().fit(*related).label_embeddings_.shape == (6, 8)


def test_bags_of_words_have_one_round_and_a_short_cycle_unless_asked_for(related):
    bags = sp.random_array(
        (160, 50), density=0.1, random_state=np.random.default_rng(0), format="csr"
    )
    short = LaMPClassifier(d_model=8, random_state=0).fit(bags, related[1])
    layers = short.net_.module_
    assert (len(layers.encoder.layers), len(layers.from_input), short.max_epochs_) == (0, 1, 8)
    longer = LaMPClassifier(d_model=8, n_decoder_layers=2, max_epochs=1, random_state=0)
    assert len(longer.fit(bags, related[1]).net_.module_.from_labels) == 2


def test_the_papers_settings(related):
    clf = LaMPClassifier.paper("Bibtex", relations="full")
    assert (clf.d_model, clf.d_inner, clf.n_heads, clf.dropout, clf.lr) == (512, 512, 4, 0.2, 2e-4)
    assert (clf.relations, clf.voters) == ("full", ("network",))
    assert LaMPClassifier.paper().dropout == 0.1
    small = LaMPClassifier.paper(d_model=8, d_inner=8, n_heads=2, max_epochs=1).fit(*related)
    assert small.net_.module_.bias is None
