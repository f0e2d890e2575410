"""Decision objects: each against brute force, and what they say when they cannot be met."""

import itertools
import warnings

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import fbeta_score, jaccard_score, precision_score, recall_score

from sklearn_mrmp import (
    AtLeastOne,
    FBeta,
    FloorNotMetWarning,
    Jaccard,
    LabelCosts,
    LabelCuts,
    PrecisionFloor,
    RecallFloor,
    TopK,
    tune_thresholds,
)
from sklearn_mrmp._decisions.sweep import metric_value

AVERAGES = ("micro", "macro", "samples")
SEEDS = range(8)


def noisy(seed, n=25, n_labels=4, ties=True):
    """Labels, and scores that follow them a little; many scores are equal."""
    rng = np.random.default_rng(seed)
    Y = rng.random((n, n_labels)) < rng.uniform(0.2, 0.6, n_labels)
    P = np.clip(0.3 * Y + 0.7 * rng.random(Y.shape), 0, 1)
    return Y, np.round(P, 1) if ties else P


def all_cuts(scores):
    return [*np.unique(scores), np.inf]


def by_sklearn(metric, Y, Y_hat):
    options = {"average": metric.average, "zero_division": 0}
    if isinstance(metric, FBeta):
        return fbeta_score(Y, Y_hat, beta=metric.beta, **options)
    return jaccard_score(Y, Y_hat, **options)


MEASURES = [FBeta(beta, average) for beta in (0.5, 2.0) for average in AVERAGES]
MEASURES += [Jaccard(average) for average in AVERAGES]


@pytest.mark.parametrize("metric", MEASURES, ids=repr)
def test_measures_are_those_of_scikit_learn(metric):
    rng = np.random.default_rng(0)
    for share in (0.0, 0.3, 1.0):
        Y, Y_hat = rng.random((12, 3)) < 0.4, rng.random((12, 3)) < share
        assert metric_value(Y, Y_hat, metric) == pytest.approx(by_sklearn(metric, Y, Y_hat))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("metric", MEASURES, ids=repr)
def test_the_best_single_cut_is_found_among_all(metric, seed):
    Y, P = noisy(seed)
    best = max(by_sklearn(metric, Y, cut <= P) for cut in all_cuts(P))
    result = tune_thresholds(Y, P, metrics=metric)
    assert result.scores[metric] == pytest.approx(best)
    assert by_sklearn(metric, Y, result.thresholds[metric] <= P) == pytest.approx(best)
    if metric.average != "macro":
        rule = metric.tune(Y, P)
        assert rule.validation_score == pytest.approx(best)
        np.testing.assert_array_equal(rule.decide(P), result.thresholds[metric] <= P)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("metric", [FBeta(2.0, "macro"), Jaccard("macro")], ids=repr)
def test_macro_averages_have_the_best_cut_of_each_label_unless_drawn_together(metric, seed):
    Y, P = noisy(seed, n=12, n_labels=2)
    pairs = itertools.product(all_cuts(P), repeat=2)
    best = max(by_sklearn(metric, Y, np.array(cuts) <= P) for cuts in pairs)
    own = tune_thresholds(Y, P, metrics=metric, strategy="per_label", shrinkage=0)
    assert own.scores[metric] == pytest.approx(best)
    drawn = tune_thresholds(Y, P, metrics=metric, strategy="per_label")
    np.testing.assert_array_equal(metric.tune(Y, P).thresholds, drawn.thresholds[metric])


@pytest.mark.parametrize("metric", [FBeta(2.0), Jaccard("samples")], ids=repr)
def test_cuts_of_labels_are_never_worse_than_the_common_one(metric):
    Y, P = noisy(0, ties=False)
    common, own = (
        tune_thresholds(Y, P, metrics=metric, strategy=strategy).scores[metric]
        for strategy in ("global", "per_label")
    )
    assert own >= common


def precision_and_recall(y, decided):
    return precision_score(y, decided, zero_division=0), recall_score(y, decided, zero_division=0)


def best_by_brute_force(decision, y, s):
    """The best of the other measure with the floor kept, or None if it cannot be."""
    found = [precision_and_recall(y, cut <= s) for cut in np.unique(s)]
    found = found if isinstance(decision, PrecisionFloor) else [pair[::-1] for pair in found]
    kept = [other for value, other in found if value >= decision.floor - 1e-12]
    return max(kept, default=None), max(value for value, _ in found)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("floor", [0.0, 0.5, 0.7, 0.95, 1.0])
@pytest.mark.parametrize("kind", [PrecisionFloor, RecallFloor])
@pytest.mark.parametrize("average", ["micro", "per_label"])
def test_floors_are_kept_with_the_most_of_the_other_measure(kind, floor, average, seed):
    Y, P = noisy(seed)
    decision = kind(floor, average)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FloorNotMetWarning)
        rule = decision.tune(Y, P)
    decided = rule.decide(P)
    columns = [(Y.ravel(), P.ravel(), decided.ravel())]
    if average == "per_label":
        columns = list(zip(Y.T, P.T, decided.T, strict=True))
    for k, (y, s, chosen) in enumerate(columns):
        best, reachable = best_by_brute_force(decision, y, s)
        assert rule.best_reachable[k] == pytest.approx(reachable)
        assert rule.met[k] == (best is not None)
        if best is None:
            assert not chosen.any()
            continue
        reached = precision_and_recall(y, chosen)
        assert reached == pytest.approx((rule.precision[k], rule.recall[k]))
        value, other = reached if kind is PrecisionFloor else reached[::-1]
        assert value >= floor - 1e-12
        assert other == pytest.approx(best)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", [PrecisionFloor, RecallFloor])
@pytest.mark.parametrize("floor", [0.3, 0.6])
def test_floors_with_confidence_are_kept_by_the_lower_bound(kind, floor, seed):
    Y, P = noisy(seed, n=60)

    def bound(decided):
        hits, of = np.count_nonzero(Y & decided), decided if kind is PrecisionFloor else Y
        test = binomtest(hits, max(np.count_nonzero(of), 1), alternative="greater")
        return test.proportion_ci(0.9, method="exact").low

    def other(decided):
        precision, recall = precision_and_recall(Y.ravel(), decided.ravel())
        return recall if kind is PrecisionFloor else precision

    decisions = [cut <= P for cut in np.unique(P)]
    kept = [decided for decided in decisions if bound(decided) >= floor]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FloorNotMetWarning)
        rule = kind(floor, confidence=0.9).tune(Y, P)
    assert rule.met[0] == bool(kept)
    assert rule.best_reachable[0] == pytest.approx(max(map(bound, decisions)))
    if kept:
        assert bound(rule.decide(P)) >= floor
        assert other(rule.decide(P)) == pytest.approx(max(map(other, kept)))


def test_a_floor_kept_by_chance_is_none_with_confidence():
    Y, P = np.array([[1], [0], [1], [0]]), np.array([[0.9], [0.8], [0.2], [0.1]])
    assert PrecisionFloor(0.9).tune(Y, P).met.all()  # one right prediction of one
    with pytest.warns(FloorNotMetWarning, match=r"best: 0.135\)"):
        PrecisionFloor(0.9, confidence=0.95).tune(Y, P)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neighbouring_scores_do_not_break_a_floor(dtype):
    one = dtype(0.5)
    P = np.array([[np.nextafter(one, dtype(1))], [one]])
    rule = PrecisionFloor(1.0).tune([[1], [0]], P)
    np.testing.assert_array_equal(rule.decide(P), [[True], [False]])


def test_a_floor_that_cannot_be_met_names_labels_and_what_they_reach():
    Y = np.array([[1, 0], [0, 1], [1, 0], [0, 1]])
    P = np.array([[0.9, 0.9], [0.1, 0.5], [0.8, 0.7], [0.2, 0.4]])
    with pytest.warns(FloorNotMetWarning, match=r"1 of 2 labels .*: cat \(best: 0.5\)\. Nothing"):
        rule = PrecisionFloor(0.9, "per_label").tune(Y, P, label_names=["dog", "cat"])
    np.testing.assert_array_equal(rule.met, [True, False])
    assert rule.best_reachable[1] == 0.5
    np.testing.assert_array_equal(rule.decide(P), np.array([[1, 0], [0, 0], [1, 0], [0, 0]]) > 0)
    with pytest.warns(FloorNotMetWarning, match=r"no cut of all labels \(best: 0.5\)"):
        rule = PrecisionFloor(0.9).tune(Y[:, 1:], P[:, 1:])
    assert not rule.decide(P).any()


def test_recall_of_a_label_without_positive_rows_is_unknown_and_said_to_be():
    Y, P = noisy(0)
    Y[:, 2] = False
    with pytest.warns(FloorNotMetWarning, match=r"1 of 4 labels .*: 2 \(best: nan\)\. The cut"):
        rule = RecallFloor(0.8, "per_label").tune(Y, P)
    common = RecallFloor(0.8).tune(Y, P).thresholds[0]
    assert rule.thresholds[2] == common
    assert rule.met.tolist() == [True, True, False, True]
    with pytest.warns(FloorNotMetWarning):
        assert not RecallFloor(0.8, "per_label").tune(Y & False, P).decide(P).any()


def test_costs_are_the_lowest_of_all_label_sets_where_probabilities_are_right():
    """The slope is 1 and the shift 0 when shares of true labels are what scores say."""
    rng = np.random.default_rng(0)
    P = rng.choice([0.1, 0.3, 0.6, 0.8], (4000, 3))
    Y = rng.random(P.shape) < P
    fp, fn = np.array([1.0, 5.0, 1.0]), np.array([1.0, 1.0, 6.0])
    rule = LabelCosts(fp, fn).tune(Y, P)
    rows = rng.choice([0.1, 0.3, 0.6, 0.8], (10, 3))
    sets = np.array(list(itertools.product([0, 1], repeat=3)))
    for p, decided in zip(rows, rule.decide(rows), strict=True):
        costs = sets @ (fp * (1 - p)) + (1 - sets) @ (fn * p)
        np.testing.assert_array_equal(decided, sets[costs.argmin()] > 0)
    decided = rule.decide(P)
    cost = (decided & ~Y) @ fp + (Y & ~decided) @ fn
    assert rule.validation_score == pytest.approx(-cost.mean())


def test_costs_of_margins_and_of_overconfident_probabilities_agree_with_the_truth():
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(5000, 2))
    Y = rng.random(Z.shape) < 1 / (1 + np.exp(-Z))
    sure = 1 / (1 + np.exp(-3 * Z))
    for scores, from_logits in ((sure, False), (2 * Z + 1, True)):
        decided = LabelCosts(fp=3).tune(Y, scores, from_logits=from_logits).decide(scores)
        right = np.log(3) <= Z  # where the probability is 3/4
        assert (decided == right).mean() > 0.97


@pytest.mark.parametrize(
    ("costs", "share"), [({"fp": 0, "fn": 1}, 1.0), ({"fp": 1, "fn": 0}, 0.0)], ids=repr
)
def test_mistakes_that_cost_nothing_are_made(costs, share):
    P = np.array([[0.0, 0.5], [1.0, 0.3]])
    assert LabelCosts(**costs).tune([[0, 1], [1, 0]], P).decide(P).mean() == share


def test_costs_and_cuts_by_name_are_those_in_order():
    Y, P = noisy(0, n_labels=3)
    names = ["a", "b", "c"]
    by_name, in_order = (
        LabelCosts(fp=fp).tune(Y, P, label_names=names) for fp in ({"c": 4, "a": 2}, [2, 1, 4])
    )
    np.testing.assert_array_equal(by_name.thresholds, in_order.thresholds)
    rule = LabelCuts({"c": 0.2, "a": 0.9}, default=0.5).tune(Y, P, label_names=names)
    np.testing.assert_array_equal(rule.decide(P), np.array([0.9, 0.5, 0.2]) <= P)


@pytest.mark.parametrize("k", [2, [0, 3, 1, 2], np.array([1, 1, 4, 0])], ids=repr)
def test_the_best_labels_of_each_row_are_predicted_as_many_as_asked(k):
    P = np.random.default_rng(0).permuted(np.tile(np.arange(4.0), (4, 1)), axis=1)
    decided = TopK(k).tune(P > 1, P).decide(P)
    for row, scores, number in zip(decided, P, np.broadcast_to(k, 4), strict=True):
        assert set(np.flatnonzero(row)) == set(np.argsort(-scores)[:number])
    by_function = TopK(lambda scores: np.broadcast_to(k, len(scores))).tune(P > 1, P)
    np.testing.assert_array_equal(by_function.decide(P), decided)


def test_at_least_one_adds_the_best_label():
    P = np.array([[0.1, 0.3], [0.6, 0.7], [0.2, 0.2]])
    decided = AtLeastOne(0.5).tune(P > 0.5, P).decide(P)
    np.testing.assert_array_equal(decided, np.array([[0, 1], [1, 1], [1, 0]]) > 0)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: FBeta(-1), ValueError, "beta must be a number from 0"),
        (lambda: FBeta("two"), TypeError, "beta must be a number, got 'two'"),
        (lambda: FBeta(2, "weighted"), ValueError, "one of micro, macro, samples, got 'weighted'"),
        (lambda: Jaccard("binary"), ValueError, "got 'binary'"),
        (lambda: PrecisionFloor(90), ValueError, "floor must be a number from 0 to 1, got 90"),
        (lambda: RecallFloor(0.9, "macro"), ValueError, "one of micro, per_label, got 'macro'"),
        (
            lambda: RecallFloor(0.9, confidence=1),
            ValueError,
            "confidence must be a number",
        ),
        (lambda: LabelCosts(fp=-1), ValueError, "fp must be a number from 0"),
        (lambda: LabelCosts(fn=[1, "x"]), TypeError, "fn must be a number, got"),
        (lambda: LabelCosts(fn=[[1]]), TypeError, "fn must be numbers, a sequence or a mapping"),
        (lambda: LabelCuts(0.5), TypeError, "a single cut is decision=<number>"),
        (lambda: LabelCuts([np.nan]), ValueError, "cuts must be a number"),
        (lambda: TopK(0), ValueError, "k must be at least 1, got 0"),
        (lambda: TopK([1, -1]), ValueError, "k must be at least 0, got -1"),
        (lambda: TopK(1.5), TypeError, "k must be a whole number"),
        (lambda: AtLeastOne("x"), TypeError, "cut must be a number"),
    ],
)
def test_values_that_mean_nothing_are_refused_when_written(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        (LabelCosts(fp=[1, 2]), "fp has 2 values, but there are 3 labels"),
        (LabelCosts(fp=0, fn={"a": 0}), "cost nothing for label a"),
        (LabelCuts([0.1]), "cuts has 1 values, but there are 3 labels"),
        (LabelCuts({"a": 0.1}), "cuts leaves out labels: b, c"),
        (LabelCuts({"d": 0.1}, default=0.5), "names labels that are not there: d"),
        (TopK(4), "k is 4, but there are 3 labels"),
        (TopK([1]), r"for each of the 2 rows, got an array of shape \(1,\)"),
        (TopK([1, 4]), "between 0 and the number of labels, 3; got values from 1 to 4"),
        (TopK(lambda P: P), "one whole number for each of the 2 rows"),
        (TopK(lambda P: 2), "one whole number for each of the 2 rows"),
    ],
    ids=repr,
)
def test_what_does_not_suit_the_labels_or_rows_is_refused(decision, message):
    P = np.array([[0.5, 0.2, 0.1], [0.1, 0.2, 0.3]])
    with pytest.raises(ValueError, match=message):
        decision.tune(P > 0.4, P, label_names=["a", "b", "c"]).decide(P)
