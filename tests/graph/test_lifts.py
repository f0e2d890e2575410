"""Lifts of told labels, against tables counted by hand."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logit

from sklearn_mrmp import LabelGraph, label_graph
from sklearn_mrmp._graph.lifts import label_lifts, linked
from sklearn_mrmp._numerics.entry_weights import EntryWeights


@pytest.fixture
def labels():
    rng = np.random.default_rng(0)
    first = rng.random(200) < 0.4
    noise = rng.random((200, 2))
    second, third = np.where(noise[:, 0] < 0.2, ~first, first), noise[:, 1] < 0.3
    return sp.csr_array(np.column_stack([first, second, third]), dtype=np.int32)


def by_hand(Y, k, j, present):
    """Change of the log odds of j when k is told, from counted rows."""
    Y = Y.toarray()
    share = (Y[:, j].sum() + 0.5) / (len(Y) + 1)
    rows = Y[Y[:, k] == (1 if present else 0)]
    return logit((rows[:, j].sum() + share) / (len(rows) + 1)) - logit(share)


def all_linked(n_labels=3):
    return sp.csr_array(1.0 - np.eye(n_labels))


@pytest.mark.parametrize("present", [True, False])
def test_lifts_are_those_counted_by_hand(labels, present):
    lifts = label_lifts(all_linked(), labels)[0 if present else 1].toarray()
    for k, j in [(0, 1), (1, 0), (2, 0), (1, 2)]:
        assert lifts[k, j] == pytest.approx(by_hand(labels, k, j, present), rel=1e-5)


def test_labels_that_come_together_rise_and_absent_ones_lower_each_other(labels):
    present, absent = label_lifts(all_linked(), labels)
    assert present.toarray()[0, 1] > 0 > absent.toarray()[0, 1]


def test_only_edges_of_the_graph_have_lifts_in_either_direction(labels):
    graph = LabelGraph({"parent": [[0, 0, 1], [0, 0, 0], [0, 0, 0]]})
    present, absent = label_lifts(linked(graph), labels)
    for lifts in (present, absent):
        assert np.argwhere(lifts.toarray()).tolist() == [[0, 2], [2, 0]]


def test_weighted_rows_are_repeated_rows(labels):
    weights = np.random.default_rng(1).integers(1, 4, size=200)
    links = linked(label_graph(labels))
    once = label_lifts(links, labels, EntryWeights.of(rows=weights.astype(float)))
    repeated = label_lifts(links, labels[np.repeat(np.arange(200), weights)])
    for one, other in zip(once, repeated, strict=True):
        np.testing.assert_allclose(one.toarray(), other.toarray(), rtol=1e-5)


def test_pairs_are_counted_where_both_are_known(labels):
    known = np.ones((200, 3), dtype=bool)
    known[:80, 0] = False
    Y = sp.csr_array(labels.toarray() * known)
    lifts = label_lifts(all_linked(), Y, EntryWeights.of(known=known))
    rest = label_lifts(all_linked(), labels[80:])
    for one, other in zip(lifts, rest, strict=True):
        assert one.toarray()[0, 1] == pytest.approx(other.toarray()[0, 1])
        assert one.toarray()[2, 0] == pytest.approx(other.toarray()[2, 0])


def test_lifts_of_permuted_labels_are_the_permuted_lifts(labels):
    order = [2, 0, 1]
    plain = label_lifts(all_linked(), labels)
    for one, other in zip(label_lifts(all_linked(), labels[:, order]), plain, strict=True):
        np.testing.assert_array_equal(one.toarray(), other.toarray()[np.ix_(order, order)])
