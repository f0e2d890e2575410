"""Label errors: planted ones come first, relations are witnesses, and no row speaks for itself."""

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp import LabelErrors, LabelGraph, label_errors, label_graph
from sklearn_mrmp.datasets import make_related_labels


def entries(errors):
    return list(zip(errors.rows.tolist(), errors.labels.tolist(), strict=True))


def test_an_entry_that_the_classifier_contradicts_comes_first():
    truth = np.arange(60)[:, None] % [2, 3] == 0
    Y, P = truth.astype(int), np.where(truth, 0.9, 0.1)
    Y[6, 0], Y[8, 1] = 0, 1  # a label that was forgotten, and one that is wrong
    errors = label_errors(Y, P)
    assert isinstance(errors, LabelErrors)
    assert set(entries(errors)) == {(6, 0), (8, 1)}
    assert errors.given.tolist() == [Y[at] for at in entries(errors)]
    assert (errors.suggested == 1 - errors.given).all()
    assert (np.diff(errors.scores) <= 0).all()
    assert (errors.because == -1).all()


def test_nothing_looks_wrong_where_labels_and_probabilities_agree():
    truth = np.arange(60)[:, None] % [2, 3] == 0
    assert len(label_errors(truth, np.where(truth, 0.9, 0.1))) == 0


def test_a_label_that_nobody_can_predict_is_not_suspected_for_being_rare():
    """The probability is no lower where it is given than elsewhere."""
    Y = np.zeros((200, 2), dtype=int)
    Y[::50, 0], Y[::2, 1] = 1, 1
    P = np.column_stack([np.full(200, 0.02), np.where(Y[:, 1], 0.8, 0.2)])
    assert 0 not in label_errors(Y, P, min_score=0.51).labels


@pytest.fixture
def family():
    """Labels of animals: a cat is an animal, and no animal is a stone. Nobody can predict them."""
    Y = np.tile([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]], (50, 1))
    return Y, np.tile(Y.mean(axis=0), (200, 1))


def test_a_child_without_its_parent_is_found_by_the_hierarchy(family):
    Y, P = family
    Y[0] = [0, 1, 0]
    hierarchy = LabelGraph({"parent": [[0, 1, 0], [0, 0, 0], [0, 0, 0]]})
    errors = label_errors(Y, P, hierarchy, n_most=1)
    assert errors.rows.tolist() == [0]
    assert errors.because.tolist() == [1 - errors.labels[0]]
    assert 0 not in label_errors(Y, P, n_most=1).rows[:1] or len(label_errors(Y, P)) == 0


def test_two_labels_that_never_come_together_are_found(family):
    Y, P = family
    Y[2] = [1, 0, 1]
    errors = label_errors(Y, P, label_graph(Y))
    assert errors.rows[0] == 2
    assert {int(errors.labels[0]), int(errors.because[0])} == {0, 2}


def test_a_row_does_not_speak_for_itself():
    """A pair that occurs once is no sign that both labels belong together."""
    Y = np.zeros((100, 3), dtype=int)
    Y[:50, 0], Y[50:, 1] = 1, 1
    Y[7, 2] = Y[7, 1] = 1  # the only row of label 2, beside a label that is wrong
    graph = LabelGraph({"any": np.ones((3, 3))})
    P = np.tile(Y.mean(axis=0), (100, 1))
    errors = label_errors(Y, P, graph)
    assert entries(errors)[0] in {(7, 1), (7, 0)}


def test_relations_help_to_find_planted_errors():
    """Mean precision over draws of the errors, with labels that follow from each other."""
    _, truth, _ = make_related_labels(400, 6, n_features=30, random_state=0)
    truth = np.asarray(truth.toarray() if sp.issparse(truth) else truth) > 0
    truth = np.hstack([truth, truth])  # every label has a twin
    found = {}
    rng = np.random.RandomState(0)
    Y = truth.copy()
    planted = rng.permutation(Y.size)[:60]
    Y.ravel()[planted] ^= True
    P = np.clip(np.where(truth, 0.6, 0.4) + rng.normal(0, 0.2, Y.shape), 0.01, 0.99)
    for name, graph in (("alone", None), ("graph", label_graph(Y))):
        errors = label_errors(Y, P, graph, min_score=0.0, n_most=60)
        found[name] = np.isin(np.ravel_multi_index((errors.rows, errors.labels), Y.shape), planted)
    assert found["graph"].mean() > found["alone"].mean() + 0.2


def test_unknown_entries_are_not_judged():
    truth = np.arange(60)[:, None] % [2, 3] == 0
    Y, P = truth.astype(float), np.where(truth, 0.9, 0.1)
    Y[0, 0], P[1] = np.nan, np.nan
    Y[2, 0] = 0.0
    graph = label_graph(truth.astype(int))
    judged = entries(label_errors(Y, P, graph, min_score=0.0))
    assert len(judged) == 120 - 3
    assert (0, 0) not in judged
    assert (1, 0) not in judged
    assert judged[0] == (2, 0)


def test_limits_containers_and_names():
    pd = pytest.importorskip("pandas")
    truth = np.arange(60)[:, None] % [2, 3] == 0
    Y, P = truth.astype(int), np.where(truth, 0.9, 0.1)
    Y[6, 0], Y[8, 1] = 0, 1
    graph = label_graph(Y, label_names=["even", "third"])
    expected = entries(label_errors(Y, P, graph))
    assert entries(label_errors(sp.csr_array(Y), P, graph)) == expected
    frames = pd.DataFrame(Y, columns=["even", "third"]), pd.DataFrame(P, columns=["even", "third"])
    turned = graph.subgraph(["third", "even"])
    errors = label_errors(frames[0], frames[1][["third", "even"]], turned)
    assert entries(errors) == expected
    frame = errors.to_frame()
    assert set(zip(frame["row"], frame["label"], strict=True)) == {(6, "even"), (8, "third")}
    assert "even" in errors._repr_html_()
    assert len(label_errors(Y, P, n_most=1)) == 1
    assert len(label_errors(Y, P, min_score=0.0)) == 120


def test_what_cannot_be_used_is_refused():
    Y, P = np.eye(4, 2, dtype=int), np.full((4, 2), 0.5)
    with pytest.raises(TypeError, match="LabelGraph or None"):
        label_errors(Y, P, np.ones((2, 2)))
    with pytest.raises(ValueError, match="graph has 3 labels"):
        label_errors(Y, P, LabelGraph({"any": np.ones((3, 3))}))
    with pytest.raises(ValueError, match="min_score"):
        label_errors(Y, P, min_score=2)
    with pytest.raises(ValueError, match="n_most"):
        label_errors(Y, P, n_most=-1)
    with pytest.raises(ValueError, match="probabilities from 0 to 1"):
        label_errors(Y, P * 7)
