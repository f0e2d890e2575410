"""The ablation compares AUCs label by label and groups labels by their degree."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_mrmp._compare.ablation import AblationResult, auc_gain_by_degree, relation_ablation
from sklearn_mrmp._graph.learning import LabelGraph, label_graph

rng = np.random.default_rng(0)
N_ROWS, N_LABELS = 60, 8
Y = (rng.random((N_ROWS, N_LABELS)) < 0.4).astype(int)
GOOD = 0.7 * Y + 0.6 * rng.random(Y.shape)
BAD = 0.2 * Y + rng.random(Y.shape)


def star(n_spokes):
    """Label 0 is linked with the next `n_spokes` labels."""
    A = np.zeros((N_LABELS, N_LABELS))
    A[0, 1 : n_spokes + 1] = 1
    return A


class Oracle(ClassifierMixin, BaseEstimator):
    """Knows the labels (they are its input), better with relations than without."""

    def __init__(self, relations="chi2", random_state=None):
        self.relations = relations
        self.random_state = random_state

    def fit(self, X, y):
        self.label_graph_ = None if self.relations is None else label_graph(y, alpha=0.5)
        return self

    def predict_proba(self, X):
        noise = np.random.default_rng(self.random_state).random(X.shape)
        return noise + (0.9 if self.relations is not None else 0.1) * X


def test_gain_is_the_difference_of_scikit_learns_aucs():
    result = auc_gain_by_degree(Y, GOOD, BAD, LabelGraph({"near": star(3)}))
    expected = [
        roc_auc_score(Y[:, j], GOOD[:, j]) - roc_auc_score(Y[:, j], BAD[:, j])
        for j in range(N_LABELS)
    ]
    np.testing.assert_allclose(result.gain, expected)
    assert result.n_undefined == 0


def test_groups_hold_every_label_once_per_relation_by_rising_degree():
    A = np.triu(np.ones((N_LABELS, N_LABELS)), 1) * (np.arange(N_LABELS) % 2)
    graph = LabelGraph({"a": A, "b": star(5)})
    result = auc_gain_by_degree(Y, GOOD, BAD, graph)
    for relation in graph.relations:
        groups = [g for g in result.groups if g.relation == relation]
        assert sorted(sum((g.labels for g in groups), ())) == list(range(N_LABELS))
        assert all(a.max_degree < b.min_degree for a, b in pairwise(groups))
        for group in groups:
            degree = graph.degree(relation)[list(group.labels)]
            assert (degree.min(), degree.max()) == (group.min_degree, group.max_degree)
            assert group.gain == pytest.approx(result.gain[list(group.labels)].mean())


def test_groups_are_quarters_but_for_equal_degrees():
    i, j = np.indices((N_LABELS, N_LABELS))
    graph = LabelGraph({"near": i + j >= N_LABELS})
    assert graph.degree("near").tolist() == [0, 1, 2, 3, 3, 4, 5, 6]
    groups = auc_gain_by_degree(Y, GOOD, BAD, graph).groups
    assert [group.labels for group in groups] == [(0, 1), (2, 3, 4), (5,), (6, 7)]
    assert [group.degrees for group in groups] == ["0–1", "2–3", "4", "5–6"]


def test_labels_of_equal_degree_are_one_group():
    ring = np.roll(np.eye(N_LABELS), 1, axis=1)
    (group,) = auc_gain_by_degree(Y, GOOD, BAD, LabelGraph({"ring": ring})).groups
    assert (group.degrees, len(group.labels)) == ("2", N_LABELS)


def test_labels_without_both_classes_are_left_out_and_counted():
    Y_gaps = Y.copy()
    Y_gaps[:, 0], Y_gaps[:, 1] = 0, 1
    result = auc_gain_by_degree(sp.csr_array(Y_gaps), GOOD, BAD, LabelGraph({"near": star(3)}))
    assert result.n_undefined == 2
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(result.gain)), [0, 1])
    assert not {0, 1} & set(sum((g.labels for g in result.groups), ()))
    assert "2 without AUC left out" in repr(result)


def test_no_label_with_an_auc_gives_no_groups():
    result = auc_gain_by_degree(np.zeros_like(Y), GOOD, BAD, LabelGraph({"near": star(3)}))
    assert result.groups == ()
    assert result.n_undefined == N_LABELS
    assert repr(result) == "AblationResult(8 labels, 8 without AUC left out)"


def test_several_seeds_are_averaged_and_spread_is_over_group_means():
    graph = LabelGraph({"near": star(7)})
    both = auc_gain_by_degree(Y, [GOOD, BAD], [BAD, BAD], graph)
    one = auc_gain_by_degree(Y, GOOD, BAD, graph)
    np.testing.assert_allclose(both.gain, one.gain / 2)
    for two_seeds, single in zip(both.groups, one.groups, strict=True):
        assert two_seeds.gain_std == pytest.approx(abs(single.gain) / np.sqrt(2))
        assert np.isnan(single.gain_std)


def test_frames_have_a_row_per_group_and_a_row_per_label():
    pytest.importorskip("pandas")
    graph = LabelGraph({"near": star(7), "far": star(0)}, [f"l{j}" for j in range(N_LABELS)])
    result = auc_gain_by_degree(Y, GOOD, BAD, graph)
    frame = result.to_frame()
    assert list(frame["relation"]) == ["near", "near", "far"]
    assert list(frame["n_labels"]) == [7, 1, 8]
    labels = result.to_label_frame()
    assert list(labels["degree_near"]) == [7] + [1] * 7
    np.testing.assert_allclose(labels["auc_with"] - labels["auc_without"], labels["gain"])


@pytest.mark.parametrize("n_groups", [0, 2.5, True])
def test_n_groups_must_be_a_positive_integer(n_groups):
    with pytest.raises(ValueError, match="n_groups must be an integer"):
        auc_gain_by_degree(Y, GOOD, BAD, LabelGraph({"a": star(1)}), n_groups=n_groups)


def test_shapes_that_do_not_match_are_named():
    with pytest.raises(ValueError, match=r"\(1, 60, 8\) and \(1, 60, 7\)"):
        auc_gain_by_degree(Y, GOOD, BAD[:, 1:], LabelGraph({"a": star(1)}))
    with pytest.raises(ValueError, match="graph has 2 labels, Y_true has 8"):
        auc_gain_by_degree(Y, GOOD, BAD, LabelGraph({"a": [[0, 1], [1, 0]]}))


def test_relations_are_taken_out_of_a_pipeline_and_the_learned_graph_groups():
    model = make_pipeline(FunctionTransformer(), Oracle())
    result = relation_ablation(model, Y, Y, Y, Y, seeds=[3, 4])
    assert isinstance(result, AblationResult)
    assert result.auc_with.shape == (2, N_LABELS)
    assert result.graph == label_graph(Y, alpha=0.5)
    assert np.all(result.gain > 0.1)


def test_classifier_without_relations_and_graph_may_be_given():
    graph = LabelGraph({"near": star(2)})
    result = relation_ablation(
        Oracle(None), Y, Y, Y, Y, estimator_without=Oracle(None), graph=graph, n_groups=2
    )
    assert result.graph is graph
    np.testing.assert_array_equal(result.gain, 0)


def test_what_cannot_be_ablated_is_refused():
    class Plain(Oracle):
        def __init__(self, random_state=None):
            self.random_state = random_state

    with pytest.raises(ValueError, match="0 parameters named 'relations'"):
        relation_ablation(Plain(), Y, Y, Y, Y)
    with pytest.raises(ValueError, match="has learned no label graph"):
        relation_ablation(Oracle(None), Y, Y, Y, Y)
    with pytest.raises(ValueError, match="at least one repetition"):
        relation_ablation(Oracle(), Y, Y, Y, Y, seeds=0)
