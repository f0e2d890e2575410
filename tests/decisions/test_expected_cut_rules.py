"""Cuts for micro and macro F1 that lean on probabilities where labels are few."""

import numpy as np
import pytest
from scipy.special import expit, logit

from sklearn_mrmp._decisions import sweep as _threshold_sweep
from sklearn_mrmp._decisions.calibration import Calibration
from sklearn_mrmp._decisions.choice import fit_decision_rules
from sklearn_mrmp._decisions.rules import expected_cuts as rules_module
from sklearn_mrmp._decisions.rules.cuts import GlobalThresholdRule, LabelThresholdRule
from sklearn_mrmp._decisions.rules.expected_cuts import MacroF1Rule, MicroF1Rule
from sklearn_mrmp._decisions.sweep import metric_value


def drawn_labels(n_samples, n_labels=6, seed=0, dtype=np.float64):
    """Labels drawn from their probabilities."""
    rng = np.random.default_rng(seed)
    P = expit(1.5 * rng.normal(size=(n_samples, n_labels)) + rng.normal(size=n_labels) - 1.5)
    return rng.random(P.shape) < P, P.astype(dtype)


def mean_score(make_rule, metric, transform=lambda P: P, n_valid=25):
    """Score on new rows of cuts tuned on few, mean of some draws."""
    scores = []
    for seed in range(30):
        Y, P = drawn_labels(1_000, seed=seed)
        S = transform(P)
        rule = make_rule(Y[:n_valid], S[:n_valid])
        scores.append(metric_value(Y[n_valid:], rule.decide(S[n_valid:]), metric))
    return np.mean(scores)


def optimal(metric, from_logits=False):
    """Return what fits the rule that `decision="optimal"` takes."""

    def make_rule(Y, S):
        return fit_decision_rules(Y, S, metrics=metric, from_logits=from_logits)[metric]

    return make_rule


LABELS_ALONE = {
    "f1_micro": GlobalThresholdRule().fit,
    "f1_macro": LabelThresholdRule().fit,
}


@pytest.mark.parametrize(("metric", "rule"), [("f1_micro", MicroF1Rule), ("f1_macro", MacroF1Rule)])
def test_few_rows_give_better_cuts_than_their_labels_alone(metric, rule):
    assert mean_score(rule().fit, metric) > mean_score(LABELS_ALONE[metric], metric) + 0.005


@pytest.mark.parametrize("metric", ["f1_micro", "f1_macro"])
@pytest.mark.parametrize("scale", [1e-9, 40.0, 1e9])
@pytest.mark.parametrize("offset", [0.0, -10.0])
def test_margins_of_any_scale_and_offset_do_as_well_as_probabilities(metric, scale, offset):
    def margins(P):
        return scale * (logit(P) + offset)

    rule = {"f1_micro": MicroF1Rule, "f1_macro": MacroF1Rule}[metric]
    by_margin = mean_score(rule(from_logits=True).fit, metric, margins)
    assert by_margin == pytest.approx(mean_score(rule().fit, metric), abs=0.01)


def test_one_margin_far_away_changes_little():
    def margins(P):
        Z = logit(P)
        Z[0, 0] = -1e6
        return Z

    plain = mean_score(MicroF1Rule().fit, "f1_micro")
    disturbed = mean_score(MicroF1Rule(from_logits=True).fit, "f1_micro", margins)
    assert disturbed == pytest.approx(plain, abs=0.01)


@pytest.mark.parametrize(
    "transform",
    [
        lambda P: expit(3 * logit(P) + 1),
        lambda P: np.where(P < 0.1, 0.0, P),  # zeros that are none, as forests have
        lambda P: P / 100,
        lambda P: expit(logit(P) + 5),
        lambda P: expit(0.1 * logit(P)),
    ],
)
def test_probabilities_that_are_none_are_never_much_worse_than_labels_alone(transform):
    alone = mean_score(LABELS_ALONE["f1_micro"], "f1_micro", transform)
    assert mean_score(optimal("f1_micro"), "f1_micro", transform) > alone - 0.01


def test_zeros_that_are_none_do_not_spoil_the_calibration():
    def with_zeros(P):
        return np.where(P < 0.1, 0.0, P)

    plain, zeros = (mean_score(MicroF1Rule().fit, "f1_micro", f) for f in (lambda P: P, with_zeros))
    assert zeros == pytest.approx(plain, abs=0.015)


def test_many_labels_outweigh_probabilities_of_the_wrong_shape():
    Y, P = drawn_labels(40_000)
    bent = np.where(P < 0.5, P / 4, 0.2 + 0.6 * P)  # no slope and shift straighten it
    exact = GlobalThresholdRule().fit(Y, bent).validation_score
    assert MicroF1Rule().fit(Y, bent).validation_score == pytest.approx(exact, abs=2e-3)


@pytest.mark.parametrize("value", [0, 1])
def test_labels_that_none_or_all_have_give_finite_cuts(value):
    P = drawn_labels(8)[1]
    Y = np.full(P.shape, value)
    micro, macro = MicroF1Rule().fit(Y, P), MacroF1Rule().fit(Y, P)
    assert np.isfinite(micro.threshold)
    assert np.isfinite(macro.thresholds).all()
    if value:
        assert micro.validation_score == 1.0


def best_drawn_f1(Y, S, rule):
    """Highest F1 of the drawn labels over all cuts, and that at the rule's cut, by brute force."""
    w = 1000 / (1000 + Y.sum())
    drawn = w * Calibration.fit(Y, S)(S) + (1 - w) * Y

    def value(cut):
        predicted = cut <= S
        return 2 * drawn[predicted].sum() / (predicted.sum() + drawn.sum())

    return max(value(cut) for cut in np.unique(S)), value(rule.threshold)


@pytest.mark.parametrize("n_at_once", [1, 7, 2**20])
@pytest.mark.parametrize("n_values", [2, 5, 1_000])
def test_the_cut_is_the_best_of_all_whatever_is_tied_or_in_a_chunk(
    n_at_once, n_values, monkeypatch
):
    monkeypatch.setattr(_threshold_sweep, "CHUNK_ENTRIES", n_at_once)
    monkeypatch.setattr(rules_module, "_ENTRIES_AT_ONCE", n_at_once)
    for seed in range(5):
        Y, P = drawn_labels(20, seed=seed, dtype=np.float32)
        S = np.ceil(P * n_values) / np.float32(n_values + 1)
        order = np.lexsort((~Y[:, 0], -S[:, 0]))  # positive rows first among equals
        best, reached = best_drawn_f1(Y[order], S[order], MicroF1Rule().fit(Y[order], S[order]))
        assert reached == pytest.approx(best, abs=1e-9)


def test_chunks_of_labels_change_no_cut(monkeypatch):
    Y, P = drawn_labels(50, dtype=np.float32)
    whole = MacroF1Rule().fit(Y, P).thresholds
    monkeypatch.setattr(rules_module, "_ENTRIES_AT_ONCE", 120)
    np.testing.assert_array_equal(MacroF1Rule().fit(Y, P).thresholds, whole)


def test_the_cut_lies_in_the_middle_between_two_scores(monkeypatch):
    monkeypatch.setattr(_threshold_sweep, "CHUNK_ENTRIES", 64)
    S = np.full((64, 4), 0.1)
    S[:32] = 0.9
    assert MicroF1Rule().fit(S > 0.5, S).threshold == pytest.approx(0.5)


def test_macro_cuts_lie_in_the_middle_between_tuned_and_expected_ones():
    Y, P = drawn_labels(40)
    tuned = LabelThresholdRule().fit(Y, P).thresholds
    Q = Calibration.fit(Y, P)(P)
    cuts = 2 * MacroF1Rule().fit(Y, P).thresholds - tuned
    for label, cut in enumerate(cuts):
        values = [
            2 * Q[P[:, label] >= c, label].sum() / ((P[:, label] >= c).sum() + Q[:, label].sum())
            for c in [*P[:, label], cut]
        ]
        assert values[-1] == pytest.approx(max(values), abs=1e-9)


def test_calibrated_probabilities_rise_with_scores_that_mislead():
    Y, P = drawn_labels(100)
    Q = Calibration.fit(~Y, P)(P)
    assert (np.diff(Q.ravel()[np.argsort(P.ravel())]) >= 0).all()


def test_rare_labels_are_calibrated_as_well():
    rng = np.random.default_rng(0)
    P = expit(rng.normal(size=(4_000, 100)) - 7)
    Y = rng.random(P.shape) < P
    S = expit(2 * logit(P) + 12)  # sharper, and far too high
    calibrate = Calibration.fit(Y, S)
    assert calibrate(S).sum() == pytest.approx(Y.sum(), rel=0.12)
    assert calibrate.slope == pytest.approx(0.5, abs=0.05)


def test_they_are_the_optimal_rules_and_cuts_stay_exact():
    Y, P = drawn_labels(60)
    best, cuts = (fit_decision_rules(Y, P, decision=name) for name in ("optimal", "threshold"))
    assert isinstance(best["f1_micro"], MicroF1Rule)
    assert isinstance(best["f1_macro"], MacroF1Rule)
    assert cuts["f1_micro"].threshold == GlobalThresholdRule().fit(Y, P).threshold
