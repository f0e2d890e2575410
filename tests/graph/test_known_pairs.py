"""Label graphs of weighted rows and of labels that are partly known."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chi2_contingency

from sklearn_mrmp import label_graph

OPTIONS = [{}, {"edge_weight": "conditional"}, {"correction": "fdr_bh"}, {"min_count": 30}]


@pytest.fixture
def labels():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 8)) + rng.normal(size=(200, 8))
    return (Z > 0.8).astype(float)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("rare", [False, True])
def test_whole_weights_equal_repeated_rows(labels, options, rare):
    labels = labels * (np.random.default_rng(2).random(labels.shape) < 0.3) if rare else labels
    counts = np.random.default_rng(1).integers(0, 4, len(labels))
    repeated = label_graph(np.repeat(labels, counts, axis=0), **options)
    assert label_graph(labels, sample_weight=counts, **options) == repeated


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_unknown_entries_may_be_repeated_too(labels, options):
    labels[np.random.default_rng(2).random(labels.shape) < 0.2] = np.nan
    counts = np.random.default_rng(1).integers(0, 4, len(labels))
    repeated = label_graph(np.repeat(labels, counts, axis=0), **options)
    assert label_graph(labels, sample_weight=counts, **options) == repeated


def test_each_pair_is_tested_on_the_rows_where_both_are_known(labels):
    labels[np.random.default_rng(2).random(labels.shape) < 0.4] = np.nan
    graph = label_graph(labels, alpha=0.01, edge_weight="conditional")
    found = {name: A.toarray() for name, A in graph.relations.items()}
    for i in range(8):
        for j in set(range(8)) - {i}:
            both = labels[~np.isnan(labels[:, [i, j]]).any(axis=1)][:, [i, j]].astype(int)
            table = np.histogram2d(*both.T, bins=2)[0]
            lift = both[both[:, 0] == 1, 1].mean() - both[:, 1].mean()
            is_edge = chi2_contingency(table, correction=False).pvalue <= 0.01
            expected = abs(lift) if is_edge else 0
            name, other = ("pulling", "pushing") if lift > 0 else ("pushing", "pulling")
            assert found[name][i, j] == pytest.approx(expected)
            assert found[other][i, j] == 0


def test_a_few_unknown_entries_hardly_change_the_graph_and_counts_are_those_known(labels):
    full = label_graph(labels, alpha=1e-4)
    labels[0] = np.nan
    part = label_graph(labels, alpha=1e-4)
    assert part.counts.tolist() == np.nansum(labels, axis=0).tolist()
    same = full.relations["pulling"] - part.relations["pulling"]
    assert np.abs(same).sum() <= 4


def test_blocks_of_labels_give_the_same_graph(labels, monkeypatch):
    labels[np.random.default_rng(2).random(labels.shape) < 0.2] = np.nan
    whole = label_graph(labels, correction="bonferroni")
    monkeypatch.setattr("sklearn_mrmp._graph.known_pairs._PAIRS_AT_ONCE", 16)
    assert label_graph(sp.csr_array(labels), correction="bonferroni") == whole


def test_fractions_of_weights_are_kept(labels):
    graph = label_graph(labels, sample_weight=np.full(len(labels), 0.5))
    plain = label_graph(labels)
    np.testing.assert_allclose(graph.counts, plain.counts / 2)
    assert graph.n_samples == len(labels) / 2


@pytest.mark.parametrize("weights", [[1.0], -np.ones(200), np.zeros(200)])
def test_weights_that_are_none_are_refused(labels, weights):
    with pytest.raises(ValueError, match=r"[Ww]eight"):
        label_graph(labels, sample_weight=weights)
