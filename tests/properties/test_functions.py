"""Every public function, for every form of input: a documented error, or an answer that is right.

Where there is a simple definition, the answer is compared with it.
"""

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from sklearn_mrmp import (
    LabelGraph,
    MLKNNClassifier,
    MrMPClassifier,
    auc_gain_by_degree,
    compare_classifiers,
    fit_decision_rules,
    hierarchy_relation,
    label_graph,
    relation_ablation,
    similarity_relation,
    tune_thresholds,
)
from sklearn_mrmp.datasets import make_related_labels
from tests.properties.strategies import (
    DOCUMENTED,
    EXTREME,
    FORMS,
    LABEL_TYPES,
    SPARSE_FORMS,
    holds_for,
    label_matrices,
    matrices,
    plain,
    problems,
    snapshot,
)

LABEL_FORMS = st.sampled_from(sorted(FORMS))
METRICS = ("accuracy", "f1_samples", "f1_micro", "f1_macro")
shapes = st.tuples(st.integers(1, 9), st.integers(1, 6))
labels = shapes.flatmap(lambda shape: label_matrices(*shape))
SCORES = st.sampled_from([0.0, 1.0, 0.25, 0.5, 0.75, 1e-300, 5e-324, -1.0, 0.1, 1 - 1e-16])
HUGE_SCORES = st.sampled_from([0.0, 1.0, 1.7e308, -1.7e308, 5e-324, -5e-324, 1e300, 0.5])


def unchanged(call, *inputs):
    """Call a function; None for a documented error. Inputs must stay as they were."""
    before = [snapshot(A) for A in inputs]
    try:
        answer = call(*inputs)
    except DOCUMENTED:
        answer = None
    assert [snapshot(A) for A in inputs] == before, "the caller's arrays were changed"
    return answer


@pytest.mark.filterwarnings("ignore")
@holds_for(
    40,
    Y=labels,
    form=LABEL_FORMS,
    label_type=LABEL_TYPES,
    alpha=st.sampled_from([0.05, 0.5, 1e-300, 1 - 1e-12]),
    correction=st.sampled_from([None, "bonferroni", "fdr_bh"]),
    edge_weight=st.sampled_from(["binary", "conditional"]),
    min_count=st.integers(0, 3),
)
def test_a_label_graph_is_finite_and_the_same_for_every_form(
    Y, form, label_type, alpha, correction, edge_weight, min_count
):
    options = {
        "alpha": alpha,
        "correction": correction,
        "edge_weight": edge_weight,
        "min_count": min_count,
    }
    expected = label_graph(Y, **options)
    found = unchanged(lambda Y: label_graph(Y, **options), FORMS[form](Y.astype(label_type)))
    if form == "frame":
        found = found.rename(expected.label_names)
    assert found == expected
    for name, adjacency in found.relations.items():
        assert np.isfinite(adjacency.data).all()
        assert (adjacency.data > 0).all()
        assert np.isfinite(found.statistic[name].data).all()
        assert ((found.p_value[name].data >= 0) & (found.p_value[name].data <= 1)).all()


@st.composite
def scored_labels(draw, cells=SCORES):
    Y = draw(labels)
    return Y, draw(matrices(*Y.shape, cells))


def score(Y, predicted, metric):
    if metric == "accuracy":
        return np.mean((Y == predicted).all(axis=1))
    return f1_score(Y, predicted, average=metric.removeprefix("f1_"), zero_division=0)


@pytest.mark.filterwarnings("ignore")
@holds_for(
    40,
    data=scored_labels(),
    metric=st.sampled_from(METRICS),
    form=LABEL_FORMS,
    score_type=st.sampled_from([np.float64, np.float32]),
)
def test_no_cut_is_better_than_the_tuned_one(data, metric, form, score_type):
    Y, P = data
    assume(Y.shape[1] > 1)  # scikit-learn takes a single column for a binary target
    P = P.astype(score_type)
    result = unchanged(lambda Y, P: tune_thresholds(Y, P, metrics=metric), FORMS[form](Y), P)
    cut = result.thresholds[metric]
    assert np.isfinite(cut)
    assert result.scores[metric] == pytest.approx(score(Y, (cut <= P).astype(int), metric))
    best = max(score(Y, (value <= P).astype(int), metric) for value in [*np.unique(P), 2.0])
    assert result.scores[metric] == pytest.approx(best)


@pytest.mark.filterwarnings("ignore")
@holds_for(
    30,
    data=st.one_of(scored_labels(), scored_labels(HUGE_SCORES)),
    strategy=st.sampled_from(["global", "per_label"]),
    shrinkage=st.sampled_from([0, 10.0, 1e308, 1e-308]),
    score_form=st.sampled_from(["C", "F", "strided", "read-only", "object", "frame"]),
    form=LABEL_FORMS,
)
def test_thresholds_are_finite_for_any_scores(data, strategy, shrinkage, score_form, form):
    Y, P = data
    result = unchanged(
        lambda Y, P: tune_thresholds(Y, P, strategy=strategy, shrinkage=shrinkage),
        FORMS[form](Y),
        FORMS[score_form](P),
    )
    expected = tune_thresholds(Y, P, strategy=strategy, shrinkage=shrinkage)
    for metric in METRICS:
        assert np.isfinite(result.thresholds[metric]).all()
        assert 0 <= result.scores[metric] <= 1
        np.testing.assert_array_equal(result.thresholds[metric], expected.thresholds[metric])


@pytest.mark.filterwarnings("ignore")
@holds_for(
    30,
    data=st.one_of(scored_labels(), scored_labels(HUGE_SCORES)),
    decision=st.sampled_from(["optimal", "threshold", "label_sets", "top_k", "at_least_one"]),
    from_logits=st.booleans(),
    others=st.integers(0, 3),
    form=LABEL_FORMS,
)
def test_decision_rules_decide_for_any_scores(data, decision, from_logits, others, form):
    Y, P = data
    Y_train = None if not others else FORMS[form](np.tile(Y, (others, 1)))
    rules = fit_decision_rules(
        FORMS[form](Y), P, Y_train=Y_train, decision=decision, from_logits=from_logits
    )
    for metric in METRICS:
        before = snapshot(P)
        decided = rules[metric].decide(P)
        assert decided.dtype == bool
        assert decided.shape == P.shape
        assert snapshot(P) == before
        assert 0 <= rules[metric].validation_score <= 1


def wrong_scores(Y, P):
    """Labels and scores that do not go together, by what is wrong with them."""
    return {
        "NaN": (Y, np.where(P == P.flat[0], np.nan, P)),
        "infinity": (Y, np.where(P == P.flat[0], np.inf, P)),
        "wrong length": (Y, np.vstack([P, P])),
        "wrong width": (Y, np.hstack([P, P])),
        "a vector": (Y, P[:, 0]),
        "no rows": (Y[:0], P[:0]),
        "no columns": (Y[:, :0], P[:, :0]),
        "other labels": (Y + 2, P),
        "missing labels": (np.where(P == P.flat[0], np.nan, Y), P),
        "texts": (Y.astype(str), P),
        "text scores": (Y, np.full(P.shape, "high")),
        "nothing": (None, P),
        "no scores": (Y, None),
    }


@pytest.mark.filterwarnings("ignore")
@holds_for(
    30,
    data=scored_labels(),
    wrong=st.sampled_from(sorted(wrong_scores(np.eye(2), np.eye(2)))),
    function=st.sampled_from([tune_thresholds, fit_decision_rules]),
)
def test_labels_and_scores_that_do_not_match_are_refused(data, wrong, function):
    Y, P = wrong_scores(*data)[wrong]
    with pytest.raises(DOCUMENTED):
        function(Y, P)


@pytest.mark.filterwarnings("ignore")
@holds_for(
    30,
    parents=st.lists(st.one_of(st.none(), st.integers(-2, 7)), min_size=0, max_size=7),
    as_edges=st.booleans(),
    n_labels=st.one_of(st.none(), st.integers(0, 8)),
)
def test_a_hierarchy_is_a_forest_or_refused(parents, as_edges, n_labels):
    given = list(parents)
    if as_edges:
        given = [(parent, child) for child, parent in enumerate(parents) if parent is not None]
    try:
        adjacency = hierarchy_relation(given, n_labels=n_labels)
    except DOCUMENTED:
        return
    n = adjacency.shape[0]
    assert adjacency.shape == (n, n)
    dense = adjacency.toarray()
    assert np.isin(dense, (0, 1)).all()
    assert not np.linalg.matrix_power(dense, max(n, 1)).any()  # no way back to where one was
    edges = {(p, c) for c, p in enumerate(parents) if p not in (None, -1) or (as_edges and p == -1)}
    assert {(int(p), int(c)) for p, c in np.argwhere(dense)} == edges


embeddings = st.tuples(st.integers(1, 6), st.integers(1, 4)).flatmap(
    lambda shape: st.one_of(matrices(*shape), matrices(*shape, EXTREME))
)


@pytest.mark.filterwarnings("ignore")
@holds_for(
    40,
    X=embeddings,
    form=LABEL_FORMS,
    cut=st.sampled_from([None, 0.0, 0.5, -1.0, 1.0]),
    top_k=st.sampled_from([None, 1, 2, 100]),
)
def test_similarities_are_finite_and_do_not_depend_on_scale(X, form, cut, top_k):
    call = lambda X: similarity_relation(X, cut=cut, top_k=top_k)  # noqa: E731
    found = unchanged(call, FORMS[form](X))
    assert (found is None) == (cut is None and top_k is None)
    if found is None:
        return
    dense = found.toarray()
    assert np.isfinite(dense).all()
    assert ((dense >= 0) & (dense <= 1 + 1e-12)).all()
    assert not dense.diagonal().any()
    # Dividing each row by a power of two is exact for ordinary numbers.
    norms = np.frexp(np.abs(X).max(axis=1, keepdims=True))[1]
    if top_k is None and cut not in (1.0, 0.5):
        np.testing.assert_allclose(dense, call(np.ldexp(X, -norms)).toarray(), atol=1e-9)


@pytest.mark.filterwarnings("ignore")
@holds_for(
    20,
    S=st.integers(1, 5).flatmap(lambda n: matrices(n, n)),
    bad=st.sampled_from([None, np.nan, np.inf]),
    place=st.integers(0, 30),
    form=st.sampled_from(sorted(SPARSE_FORMS)),
)
def test_adjacencies_are_taken_as_they_are_or_refused(S, bad, place, form):
    if bad is not None:
        S.flat[place % S.size] = bad
    given = FORMS[form](S)
    graph = unchanged(lambda A: LabelGraph({"relation": A}), given)
    off_diagonal = S * (1 - np.eye(len(S)))
    good = np.isfinite(S).all() and (S >= 0).all()
    assert (graph is not None) == good or (graph is not None and (off_diagonal >= 0).all())
    if graph is not None:
        np.testing.assert_array_equal(graph.relations["relation"].toarray(), off_diagonal)


@pytest.mark.filterwarnings("ignore")
@holds_for(
    20,
    n_samples=st.integers(-1, 12),
    n_labels=st.integers(0, 9),
    options=st.fixed_dictionaries(
        {},
        optional={
            "n_features": st.integers(0, 30),
            "group_size": st.integers(1, 5),
            "n_pulling_groups": st.integers(-1, 3),
            "n_pushing_groups": st.integers(-1, 3),
            "strength": st.sampled_from([0.0, 0.5, 1.0, 2.0, np.nan]),
            "label_frequency": st.sampled_from([(0.1, 0.3), (0.3, 0.1), (0.0, 1.0), (0.9, 0.9)]),
            "weak_fraction": st.sampled_from([0.0, 0.5, 1.0, np.inf]),
        },
    ),
)
def test_synthetic_data_are_labels_and_counts_or_refused(n_samples, n_labels, options):
    try:
        X, Y, planted = make_related_labels(n_samples, n_labels, random_state=0, **options)
    except DOCUMENTED:
        return
    assert Y.shape == (n_samples, n_labels)
    assert X.shape[0] == n_samples
    assert np.isin(plain(Y), (0, 1)).all()
    assert np.isfinite(plain(X)).all()
    assert ((planted.frequencies > 0) & (planted.frequencies < 1)).all()


@pytest.mark.filterwarnings("ignore")
@holds_for(6, problem=problems(min_rows=3), form=LABEL_FORMS, form_labels=LABEL_FORMS)
def test_a_comparison_reports_finite_scores_or_an_error(problem, form, form_labels):
    X, Y, X_new = problem
    X_test, Y_test = X_new, Y[np.arange(len(X_new)) % len(Y)]
    result = unchanged(
        lambda *data: compare_classifiers({"knn": MLKNNClassifier(1)}, *data, isolate=False),
        FORMS[form](X),
        FORMS[form_labels](Y),
        FORMS[form](X_test),
        FORMS[form_labels](Y_test),
    )
    for run in () if result is None else result.runs:
        values = [value for by_metric in run.scores.values() for value in by_metric.values()]
        assert run.error or (values and np.isfinite(values).all())


@pytest.mark.filterwarnings("ignore")
@holds_for(
    20,
    data=scored_labels(),
    seeds=st.integers(1, 3),
    n_groups=st.sampled_from([1, 2, 4, 100]),
    form=LABEL_FORMS,
)
def test_gains_are_finite_where_labels_have_both_classes(data, seeds, n_groups, form):
    Y, P = data
    graph = label_graph(np.vstack([Y, 1 - Y]), alpha=0.5)
    stacked = np.stack([P] * seeds)
    result = unchanged(
        lambda Y, P: auc_gain_by_degree(Y, P, P, graph, n_groups=n_groups), FORMS[form](Y), stacked
    )
    mixed = (Y.min(axis=0) == 0) & (Y.max(axis=0) == 1)
    assert result.n_undefined == (~mixed).sum()
    assert not result.gain[mixed].any()
    assert all(group.gain == 0 for group in result.groups)
    assert repr(result)


@pytest.mark.filterwarnings("ignore")
@holds_for(3, problem=problems(min_rows=4), form=LABEL_FORMS)
def test_an_ablation_has_finite_gains_or_is_refused(problem, form):
    X, Y, X_new = problem
    tiny = MrMPClassifier(d_model=4, n_heads=1, max_epochs=1, random_state=0)
    Y_test = Y[np.arange(len(X_new)) % len(Y)]
    result = unchanged(
        lambda *data: relation_ablation(tiny, *data, seeds=1),
        FORMS[form](X),
        FORMS[form](Y),
        FORMS[form](X_new),
        FORMS[form](Y_test),
    )
    if result is not None:
        assert all(np.isfinite(group.gain) for group in result.groups)
