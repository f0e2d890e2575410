"""Cuts for micro and macro F1 that lean on probabilities where labels are few."""

import numpy as np
import pytest
from scipy.special import expit, logit

from sklearn_mrmp import _expected_cut_rules as rules_module
from sklearn_mrmp._decision_rules import fit_decision_rules
from sklearn_mrmp._expected_cut_rules import Calibration, MacroF1Rule, MicroF1Rule
from sklearn_mrmp._threshold_rules import GlobalThresholdRule, LabelThresholdRule
from sklearn_mrmp._threshold_sweep import metric_value


def drawn_labels(n_samples, n_labels=6, seed=0, dtype=np.float64):
    """Labels drawn from their probabilities."""
    rng = np.random.default_rng(seed)
    P = expit(1.5 * rng.normal(size=(n_samples, n_labels)) + rng.normal(size=n_labels) - 1.5)
    return rng.random(P.shape) < P, P.astype(dtype)


def mean_score(rule, metric, transform=lambda P: P, n_valid=25):
    """Score on new rows of cuts tuned on few, mean of some draws."""
    scores = []
    for seed in range(30):
        Y, P = drawn_labels(1_000, seed=seed)
        S = transform(P)
        rule.fit(Y[:n_valid], S[:n_valid])
        scores.append(metric_value(Y[n_valid:], rule.decide(S[n_valid:]), metric))
    return np.mean(scores)


def test_few_rows_give_better_cuts_than_their_labels_alone():
    assert mean_score(MicroF1Rule(), "f1_micro") > mean_score(GlobalThresholdRule(), "f1_micro")
    assert mean_score(MacroF1Rule(), "f1_macro") > mean_score(LabelThresholdRule(), "f1_macro")


def test_overconfident_probabilities_are_calibrated_first():
    def sharper(P):
        return expit(3 * logit(P) + 1)

    plain, sharp = (mean_score(MicroF1Rule(), "f1_micro", f) for f in (lambda P: P, sharper))
    assert sharp == pytest.approx(plain, abs=0.01)


def test_margins_of_any_scale_do_as_well_as_probabilities():
    plain = mean_score(MicroF1Rule(), "f1_micro")
    for scale in (1e-9, 40.0, 1e9):
        rule = MicroF1Rule(from_logits=True)
        by_margin = mean_score(rule, "f1_micro", lambda P, scale=scale: scale * logit(P))
        assert by_margin == pytest.approx(plain, abs=0.01)


def test_many_rows_decide_as_their_labels_do():
    Y, P = drawn_labels(40_000)
    assert MicroF1Rule().fit(Y, P).validation_score == pytest.approx(
        GlobalThresholdRule().fit(Y, P).validation_score, abs=1e-3
    )


@pytest.mark.parametrize("rule", [MicroF1Rule(), MacroF1Rule()])
@pytest.mark.parametrize("value", [0, 1])
def test_labels_that_none_or_all_have_give_finite_cuts(rule, value):
    P = drawn_labels(8)[1]
    rule.fit(np.full(P.shape, value), P)
    assert rule.decide(P).shape == P.shape
    assert np.isfinite(rule.validation_score)


def test_scores_that_all_are_equal_are_predicted_together():
    Y, S = np.array([[1, 0], [0, 0], [1, 0]]), np.full((3, 2), 0.3)
    assert len(np.unique(MicroF1Rule().fit(Y, S).decide(S))) == 1


@pytest.mark.parametrize("n_looked_at", [1, 7])
def test_looking_at_the_highest_scores_first_finds_the_same_cut(n_looked_at, monkeypatch):
    Y, P = drawn_labels(50, dtype=np.float32)
    P[P < 0.05] = 0.05  # ties
    whole = MicroF1Rule().fit(Y, P), MacroF1Rule().fit(Y, P)
    monkeypatch.setattr(rules_module, "_FEWEST_LOOKED_AT", n_looked_at)
    monkeypatch.setattr(rules_module, "_ENTRIES_AT_ONCE", n_looked_at)
    assert MicroF1Rule().fit(Y, P).threshold == pytest.approx(whole[0].threshold, abs=1e-6)
    np.testing.assert_array_equal(MacroF1Rule().fit(Y, P).thresholds, whole[1].thresholds)


def test_calibrated_probabilities_rise_with_scores_that_mislead():
    Y, P = drawn_labels(100)
    Q = Calibration.fit(~Y, P)(P)
    assert (np.diff(Q.ravel()[np.argsort(P.ravel())]) >= 0).all()


def test_they_are_the_optimal_rules_and_cuts_stay_exact():
    Y, P = drawn_labels(60)
    optimal, cuts = (fit_decision_rules(Y, P, decision=name) for name in ("optimal", "threshold"))
    assert isinstance(optimal["f1_micro"], MicroF1Rule)
    assert isinstance(optimal["f1_macro"], MacroF1Rule)
    assert cuts["f1_micro"].threshold == GlobalThresholdRule().fit(Y, P).threshold
