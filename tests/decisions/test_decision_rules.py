import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import sklearn_mrmp._decisions.expected_f1 as expected_f1
import sklearn_mrmp._decisions.label_set_model as label_set_model
from sklearn_mrmp._decisions.choice import CANDIDATES, fit_decision_rules
from sklearn_mrmp._decisions.expected_f1 import expected_f1_curve, top_k_by_expected_f1
from sklearn_mrmp._decisions.label_set_model import (
    CollectedLabelSets,
    LabelSetModel,
    fit_label_sets,
    to_logits,
)
from sklearn_mrmp._decisions.rules.cuts import AtLeastOneRule, GlobalThresholdRule, TopKRule
from sklearn_mrmp._decisions.rules.expected_f1 import ExpectedF1Rule
from sklearn_mrmp._decisions.rules.label_sets import (
    LabelSetF1Rule,
    LabelSetMarginalRule,
    LabelSetRule,
)
from sklearn_mrmp._decisions.sweep import METRICS, metric_value


def related_labels(n, seed=0):
    """Rows of four label sets, and noisy probabilities of their labels."""
    rng = np.random.default_rng(seed)
    sets = np.array([[1, 1, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 0, 1, 1], [0, 0, 0, 0, 1]])
    Y = sets[rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])]
    P = 1 / (1 + np.exp(-(3 * Y - 2 + 1.5 * rng.standard_normal(Y.shape))))
    return Y, P


def expected_f1_by_enumeration(p):
    values = np.zeros(len(p))
    for y in itertools.product([0, 1], repeat=len(p)):
        weight = np.prod(np.where(y, p, 1 - p))
        for k in range(1, len(p) + 1):
            values[k - 1] += weight * 2 * sum(y[:k]) / (k + sum(y))
    return values


@pytest.mark.parametrize("power", [0.3, 1, 4])
def test_expected_f1_equals_enumeration_of_all_label_sets(power):
    rng = np.random.default_rng(0)
    for n_labels in (1, 2, 5, 9):
        P = -np.sort(-(rng.random((4, n_labels)) ** power), axis=1)
        curves = expected_f1_curve(P, n_labels)
        sizes = top_k_by_expected_f1(P)
        for p, curve, size in zip(P, curves, sizes, strict=True):
            expected = expected_f1_by_enumeration(p)
            np.testing.assert_allclose(curve, expected, atol=1e-8)
            assert size == expected.argmax() + 1


def test_expected_f1_searches_as_deep_as_needed(monkeypatch):
    P = np.full((3, 40), 0.9)
    assert (top_k_by_expected_f1(P) == 40).all()
    monkeypatch.setattr(expected_f1, "_CHUNK_NUMBERS", 1)
    assert (top_k_by_expected_f1(P) == 40).all()


def test_rows_that_need_very_large_sets_use_the_quick_form():
    P = np.full((2, 300), 0.9)
    assert (top_k_by_expected_f1(P) == 300).all()


def test_quick_form_of_expected_f1():
    P = np.array([[0.9, 0.5, 0.2, 0.1]])
    values = 2 * np.cumsum(P) / (np.arange(1, 5) + P.sum())
    assert top_k_by_expected_f1(P, method="quick")[0] == values.argmax() + 1


def test_expected_f1_never_leaves_a_row_empty_unless_asked():
    rule = ExpectedF1Rule(temperature=1.0).fit([[0, 1]], [[0.1, 0.9]])
    assert rule.decide(np.array([[0.01, 0.02]])).any()


def test_allow_empty_decides_for_no_label_when_that_is_most_probable():
    rule = ExpectedF1Rule(temperature=1.0, allow_empty=True).fit([[0, 1]], [[0.1, 0.9]])
    assert rule.decide(np.array([[0.01, 0.02], [0.9, 0.1]])).tolist() == [
        [False, False],
        [True, False],
    ]


def test_temperature_is_tuned_on_the_validation_rows():
    Y, P = related_labels(300)
    sharp = 1 / (1 + np.exp(-6 * to_logits(P)))
    tuned = ExpectedF1Rule().fit(Y, sharp)
    assert tuned.temperature_ > 1
    untuned = ExpectedF1Rule(temperature=1.0).fit(Y, sharp)
    assert tuned.validation_score >= untuned.validation_score


def test_label_set_rule_predicts_only_sets_that_were_seen():
    Y, P = related_labels(60)
    rule = LabelSetRule().fit(Y, P, Y_train=Y)
    seen = {tuple(row) for row in Y}
    assert {tuple(row) for row in rule.decide(related_labels(200, seed=1)[1]).astype(int)} <= seen


@pytest.mark.parametrize("rule", [LabelSetRule, LabelSetF1Rule, LabelSetMarginalRule])
@pytest.mark.parametrize("scores", [[[1, 1, 0, 0, 0]], np.array([[1, 1, 0, 0, 0]], dtype=bool)])
def test_certain_scores_of_any_type_can_be_decided(rule, scores):
    Y, P = related_labels(100)
    fitted = rule().fit(Y, P)
    decided = fitted.decide(np.array([[1.0, 1.0, 0.0, 0.0, 0.0]]))
    np.testing.assert_array_equal(fitted.decide(scores), decided)


def test_rules_for_related_labels_beat_the_threshold_on_fresh_rows():
    Y, P = related_labels(200)
    Y_test, P_test = related_labels(1000, seed=1)
    for decision in ("optimal", "label_sets"):
        rules = fit_decision_rules(Y, P, decision=decision)
        cuts = fit_decision_rules(Y, P, decision="threshold")
        for metric in ("accuracy", "f1_samples"):
            rule, cut = (
                metric_value(Y_test > 0, r[metric].decide(P_test), metric) for r in (rules, cuts)
            )
            assert rule > cut + 0.02


def test_expected_f1_over_label_sets_equals_enumeration():
    Y, P = related_labels(40)
    rule = LabelSetF1Rule().fit(Y, P)
    P_new = related_labels(20, seed=3)[1]
    (_, P_sets), *_ = rule.model_.posterior(to_logits(P_new))
    sets = rule.model_.sets.toarray()
    options = np.array(list(itertools.product([0, 1], repeat=5)))[1:]
    f1 = 2 * (options @ sets.T) / (options.sum(1)[:, None] + sets.sum(1))
    best = (f1 @ P_sets).max(axis=0)
    chosen = rule.decide(P_new).astype(int)
    index = chosen @ (1 << np.arange(5)[::-1]) - 1
    np.testing.assert_allclose((f1 @ P_sets)[index, np.arange(20)], best, rtol=1e-5)


def test_marginals_are_probabilities_summed_over_label_sets():
    Y, P = related_labels(50)
    rule = LabelSetMarginalRule(metric="f1_micro").fit(Y, P)
    (_, P_sets), *_ = rule.model_.posterior(to_logits(P))
    marginals = P_sets.T @ rule.model_.sets.toarray()
    np.testing.assert_array_equal(rule.decide(P), marginals >= rule.threshold)


def test_likelihood_gradient_is_right_so_that_the_true_sets_get_more_probable():
    Y, P = related_labels(150)
    Z = to_logits(P)
    fit = fit_label_sets(CollectedLabelSets.of(Y > 0, None, 100), Z)
    fitted, own = fit.judge, fit.own
    start = LabelSetModel.from_labels(Y > 0, 100)

    def likelihood(model):
        (_, P_sets), *_ = model.posterior(Z, own)
        return np.log(P_sets[own, np.arange(len(Y))]).sum() - 0.5 * np.sum(
            (model.coefficients - start.coefficients) ** 2
        )

    best = likelihood(fitted)
    assert best > likelihood(start) + 1
    for j in range(4):
        for step in (-0.05, 0.05):
            fitted.coefficients[j] += step
            assert likelihood(fitted) < best
            fitted.coefficients[j] -= step


def test_rows_of_unknown_sets_do_not_crowd_out_those_that_tell(monkeypatch):
    Y_train, (Y, P) = related_labels(60, seed=1)[0], related_labels(40)
    strangers = np.tile([1, 0, 1, 0, 1], (360, 1))
    collected = CollectedLabelSets.of(Y > 0, Y_train > 0, 100)
    expected = fit_label_sets(collected, to_logits(P)).model.coefficients
    monkeypatch.setattr(label_set_model, "_FIT_NUMBERS", 40 * 4)  # 40 rows, four sets
    mixed = np.random.default_rng(0).permutation(400)
    Y, P = (np.vstack([some, strangers])[mixed] for some in (Y, P))
    collected = CollectedLabelSets.of(Y > 0, Y_train > 0, 100)
    fitted = fit_label_sets(collected, to_logits(P)).model.coefficients
    np.testing.assert_allclose(fitted, expected, rtol=1e-3, atol=1e-3)


def test_a_set_nobody_else_has_is_not_offered_to_its_own_row():
    Y = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 1]])
    P = np.array([[0.9, 0.1, 0.1], [0.9, 0.1, 0.1], [0.1, 0.9, 0.9]])
    rule = LabelSetRule().fit(Y, P)
    assert rule.validation_score == pytest.approx(2 / 3)
    assert rule.decide(P).astype(int).tolist() == Y.tolist()


def test_number_of_stored_sets_is_bounded_and_pickles_do_not_grow_with_the_rows():
    Y, P = related_labels(50)
    rule = LabelSetRule(max_sets=2).fit(Y, P)
    assert rule.model_.sets.shape == (2, 5)
    many = LabelSetRule().fit(np.tile(Y, (40, 1)), np.tile(P, (40, 1)))
    assert len(pickle.dumps(many)) < len(pickle.dumps(LabelSetRule().fit(Y, P))) + 100


def test_chunks_do_not_change_decisions(monkeypatch):
    Y, P = related_labels(80)
    rules = fit_decision_rules(Y, P, decision="label_sets")
    whole = {name: rule.decide(P) for name, rule in rules.items()}
    monkeypatch.setattr(label_set_model, "_CHUNK_NUMBERS", 17)
    for name, rule in rules.items():
        np.testing.assert_array_equal(rule.decide(P), whole[name])


def test_f1_macro_uses_cuts_of_each_label_and_f1_micro_one_cut():
    Y, P = related_labels(80)
    rules = fit_decision_rules(Y, P)
    assert rules["f1_macro"].thresholds.shape == (5,)
    predicted = rules["f1_micro"].decide(P)
    assert P[predicted].min() > P[~predicted].max()


def test_top_k_predicts_k_labels_and_finds_the_best_k():
    Y, P = related_labels(80)
    ranks = np.argsort(np.argsort(-P, axis=1), axis=1)
    for metric in METRICS:
        rule = TopKRule(metric=metric).fit(Y, P)
        assert (rule.decide(P).sum(axis=1) == rule.k).all()
        scores = [metric_value(Y > 0, ranks < k, metric) for k in range(1, 6)]
        assert rule.validation_score == max(scores)


def test_at_least_one_never_leaves_a_row_empty_and_finds_the_best_cut():
    Y, P = related_labels(80)
    for metric in METRICS:
        rule = AtLeastOneRule(metric=metric).fit(Y, P)
        assert rule.decide(P / 1000).any(axis=1).all()
        best = P == P.max(axis=1, keepdims=True)
        scores = [metric_value(Y > 0, best | (cut <= P), metric) for cut in np.unique(P)]
        assert rule.validation_score == pytest.approx(max(scores))


@pytest.mark.parametrize("decision", CANDIDATES)
@pytest.mark.parametrize("n_train", [None, 0, 3])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (2, 3)])
def test_tiny_and_one_sided_validation_rows_give_working_rules(decision, n_train, share, shape):
    rng = np.random.default_rng(0)
    Y = sp.csr_array((rng.random(shape) < share).astype(np.int32))
    P = rng.random(shape).astype(np.float32)
    Y_train = None
    if n_train is not None:
        Y_train = sp.csr_array((rng.random((n_train, shape[1])) < share).astype(np.int32))
    rules = fit_decision_rules(Y, P, Y_train=Y_train, decision=decision)
    for rule in pickle.loads(pickle.dumps(rules)).values():
        decided = rule.decide(P)
        assert decided.dtype == bool
        assert decided.shape == shape
        assert rule.decide(P[:0]).shape == (0, shape[1])
        assert 0 <= rule.validation_score <= 1


def test_logits_decide_as_their_probabilities_do():
    Y, P = related_labels(100)
    Z = to_logits(P)
    for decision in ("optimal", "label_sets"):
        by_P = fit_decision_rules(Y, P, decision=decision, metrics=["accuracy", "f1_samples"])
        by_Z = fit_decision_rules(
            Y, Z, decision=decision, metrics=["accuracy", "f1_samples"], from_logits=True
        )
        for metric, rule in by_P.items():
            np.testing.assert_array_equal(rule.decide(P), by_Z[metric].decide(Z))


def test_independent_labels_that_never_repeat_a_set_use_the_independent_rule():
    rng = np.random.default_rng(0)
    P = rng.random((400, 40)) ** 2
    Y = rng.random(P.shape) < P
    assert isinstance(fit_decision_rules(Y, P)["f1_samples"], ExpectedF1Rule)


def test_unknown_decision_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"'best'.*optimal, label_sets, threshold"):
        fit_decision_rules([[1, 0]], [[0.5, 0.2]], decision="best")


def test_accuracy_falls_back_to_a_cut_where_label_sets_hardly_repeat():
    rng = np.random.default_rng(0)
    Y = (rng.random((600, 14)) < 0.5).astype(int)  # 16,384 possible sets
    P = np.clip(0.5 + 0.45 * (2 * Y - 1) + rng.normal(0, 0.02, Y.shape), 0.01, 0.99)
    rules = fit_decision_rules(Y[300:], P[300:], Y_train=Y[:300], metrics=["accuracy"])
    assert isinstance(rules["accuracy"], GlobalThresholdRule)
    assert rules["accuracy"].validation_score == 1
