"""Operating points: tuned in one go, on arrays that are looked at once, and asked by name."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import sklearn_mrmp
from sklearn_mrmp import MrMPClassifier, RecallFloor, fit_decision_rules
from sklearn_mrmp._decisions import calibration, label_set_model, thresholds
from sklearn_mrmp._decisions.held_out import HeldOutScores
from sklearn_mrmp._decisions.label_set_model import CollectedLabelSets
from sklearn_mrmp._decisions.operating_points import DECISIONS, OperatingPoints
from sklearn_mrmp._decisions.sweep import METRICS
from sklearn_mrmp._decisions.validation_rows import ValidationRows
from sklearn_mrmp._ensemble.label_sets import LabelSetVote
from sklearn_mrmp._numerics.similar_rows import SimilarRows


def related_labels(n=120, seed=0):
    """Rows of three label sets, and noisy probabilities of their labels."""
    rng = np.random.default_rng(seed)
    Y = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]])[rng.choice(3, n)]
    return Y, 1 / (1 + np.exp(-(3 * Y - 1.5 + 1.5 * rng.standard_normal(Y.shape))))


@pytest.fixture(scope="module")
def data():
    Y, P = related_labels()
    return Y, P, related_labels(80, seed=1)[0]


@pytest.fixture(scope="module")
def points(data):
    return OperatingPoints.tune(*data)


def number_of_calls(function, work):
    """Count the calls of a Python function, from wherever it was imported, while work is done."""
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        count += event == "call" and frame.f_code is function.__code__

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "function",
    [
        thresholds.check_labels_and_scores,
        label_set_model.fit_label_sets,
        calibration.Calibration.fit.__func__,
    ],
    ids=lambda function: function.__qualname__,
)
@pytest.mark.parametrize("decisions", [DECISIONS, (*DECISIONS, "label_sets", "top_k")])
def test_arrays_are_checked_and_models_fitted_once_for_all_rules(data, function, decisions):
    assert number_of_calls(function, lambda: OperatingPoints.tune(*data, decisions=decisions)) == 1


def test_a_fit_of_the_classifier_checks_and_collects_label_sets_once(related):
    clf = MrMPClassifier(d_model=8, max_epochs=1, random_state=0)
    assert number_of_calls(thresholds.check_labels_and_scores, lambda: clf.fit(*related)) == 1
    collect = CollectedLabelSets.of.__func__
    assert number_of_calls(collect, lambda: clf.fit(*related)) == 1


def test_label_sets_collected_before_give_the_same_rules_and_votes(data):
    Y, P, others = data[0] > 0, data[1], data[2] > 0
    for Y_others in (others, None):
        collected = CollectedLabelSets.of(Y, Y_others)
        shared, alone = (
            OperatingPoints.tune(Y, P, Y_others, collected=given) for given in (collected, None)
        )
        for metric in METRICS:
            np.testing.assert_array_equal(
                *(p.predict(P, metric, "optimal") for p in (shared, alone))
            )
        _, mixed = LabelSetVote.fit(Y, P, Y_others, collected=collected)
        np.testing.assert_array_equal(mixed, LabelSetVote.fit(Y, P, Y_others)[1])


def test_models_of_other_sizes_are_not_taken_for_the_collected_one(data):
    Y = data[0] > 0
    rows = ValidationRows(Y, data[1], collected=CollectedLabelSets.of(Y))
    assert rows.label_set_fit(2).model.sets.shape[0] == 2
    assert rows.label_set_fit().model.sets.shape[0] == 3


def test_rules_are_those_of_fit_decision_rules(points, data):
    Y, P, others = data
    for decision in DECISIONS:
        rules = fit_decision_rules(Y, P, Y_train=others, decision=decision)
        for metric, rule in rules.items():
            mine = points.rule(metric, decision)
            assert type(mine) is type(rule)
            assert mine.validation_score == rule.validation_score
            np.testing.assert_array_equal(points.predict(P, metric, decision), rule.decide(P))


def test_thresholds_are_the_cuts_of_the_threshold_rules(points, data):
    tuned = thresholds.tune_thresholds(*data[:2]).thresholds
    assert points.thresholds == tuned
    assert all(type(cut) is float for cut in points.thresholds.values())
    assert OperatingPoints.tune(*data, decisions=["optimal"]).thresholds == {}


def test_a_number_is_a_cut_for_every_metric(points, data):
    P = data[1]
    for cut in (0, 0.3, np.float32(0.5), 1):
        np.testing.assert_array_equal(points.predict(P, "accuracy", cut), cut <= P)
    assert not points.needs_rows("accuracy", 0.3)


@pytest.mark.parametrize(
    ("metric", "decision", "message"),
    [
        ("f1", "optimal", "'f1' is not a metric; the known ones are accuracy, f1_samples"),
        ("accuracy", "top_k", "top_k was not prepared in fit, only optimal, threshold"),
        ("accuracy", "topk", "Unknown decision 'topk'; the known ones are optimal"),
        ("f1_macro", "optimal", "'f1_macro' was not prepared, only accuracy"),
    ],
)
def test_operating_points_that_are_not_there_are_refused(data, metric, decision, message):
    points = OperatingPoints.tune(*data, metrics="accuracy")
    for ask in (points.rule, points.needs_rows, lambda *point: points.predict(data[1], *point)):
        with pytest.raises(ValueError, match=message):
            ask(metric, decision)


def test_decision_objects_need_rows_that_were_kept(data):
    Y, P, _ = data
    names = np.array(list("abcd"))
    decision = RecallFloor(0.5)
    with pytest.raises(ValueError, match=r"RecallFloor\(floor=0.5.* nothing was kept"):
        OperatingPoints.tune(*data).rule("accuracy", decision, names)
    points = OperatingPoints.tune(*data, keep_rows=True)
    rule = points.rule("accuracy", decision, names)
    np.testing.assert_array_equal(rule.thresholds, decision.tune(Y, P).thresholds)
    assert points.rule("f1_micro", RecallFloor(0.5), names) is rule  # tuned once
    assert not points.needs_rows("accuracy", decision)


@pytest.mark.parametrize("n_labels", [1, 8, 13])
def test_held_out_rows_are_kept_as_they_were_up_to_a_size(n_labels):
    rng = np.random.default_rng(0)
    Y, P = rng.random((50, n_labels)) < 0.4, rng.random((50, n_labels), dtype=np.float32)
    rows = ValidationRows.check(Y, P)
    kept = HeldOutScores.of(rows)
    np.testing.assert_array_equal(kept.rows().Y, Y)
    assert kept.P is rows.P  # no second copy
    assert kept.packed.nbytes == 50 * -(-n_labels // 8)
    few = HeldOutScores.of(rows, max_entries=10 * n_labels).rows()
    assert few.P.shape == (10, n_labels)
    np.testing.assert_array_equal(few.Y[[0, -1]], Y[[0, -1]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"decisions": ["best"]}, r"'best'.*optimal, label_sets, threshold"),
        ({"metrics": "f1"}, "Unknown metric 'f1'"),
        ({"Y": np.full((120, 4), 2)}, "only 0 and 1, but it holds 2"),
        ({"Y_others": np.zeros((3, 5))}, "Y_train has 5 labels and the validation rows have 4"),
    ],
)
def test_bad_input_is_refused_before_anything_is_fitted(data, change, message):
    arguments = dict(zip(("Y", "P", "Y_others"), data, strict=True)) | change
    with pytest.raises(ValueError, match=message):
        OperatingPoints.tune(**arguments)


def test_deciding_loads_no_torch():
    path = str(Path(sklearn_mrmp.__file__).parents[1])
    code = (
        f"import sys; sys.path.insert(0, {path!r})\n"
        "import sklearn_mrmp._decisions.operating_points, sklearn_mrmp._decisions.responses\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@dataclass
class Everything:
    """A rule of a user, who knows nothing of ours."""

    container: type = np.asarray

    def fit(self, Y_valid, P_valid, Y_train=None):
        self.n_labels_ = Y_valid.shape[1]
        return self

    def decide(self, P):
        return self.container(np.ones((len(P), self.n_labels_), dtype=int))


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, np.ndarray.tolist])
def test_rules_of_users_are_copied_and_serve_every_metric(data, container):
    rule = Everything(container)
    points = OperatingPoints.tune(*data, decisions=(*DECISIONS, rule))
    assert not hasattr(rule, "n_labels_")
    for metric in METRICS:
        predicted = points.predict(data[1], metric, rule)
        assert predicted.dtype == bool
        assert predicted.all()
        assert not points.needs_rows(metric, rule)


def test_only_rules_that_need_rows_get_them():
    """Labels follow from the similar row and from nothing else."""
    rng = np.random.default_rng(0)
    Y = rng.random((60, 8)) < 0.4
    P = np.full(Y.shape, 0.4) + 0.01 * rng.random(Y.shape)
    rows = np.arange(60)[:, None]
    similar = SimilarRows(np.ones((60, 1)), rows, sp.csr_array(Y.astype(float)))
    points = OperatingPoints.tune(Y, P, similar=similar)
    needing = {(m, d) for m in METRICS for d in DECISIONS if points.needs_rows(m, d)}
    assert needing == {("accuracy", "optimal")}
    np.testing.assert_array_equal(points.predict(P, "accuracy", "optimal", similar), Y)
    assert not np.array_equal(points.predict(P, "accuracy", "optimal"), Y)
    for metric, decision in (("f1_micro", "optimal"), ("accuracy", "threshold"), ("accuracy", 0.4)):
        np.testing.assert_array_equal(
            points.predict(P, metric, decision, similar), points.predict(P, metric, decision)
        )
