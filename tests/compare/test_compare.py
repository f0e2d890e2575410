"""compare_classifiers: the same rows and rules for everybody, and no run done twice."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import sklearn_mrmp
from sklearn_mrmp._compare.api import compare_classifiers
from sklearn_mrmp._compare.run import label_probabilities, peak_memory
from sklearn_mrmp._decisions.choice import fit_decision_rules
from sklearn_mrmp._numerics.target_scores import label_score
from sklearn_mrmp.datasets import make_related_labels

SEEN = []


class Recorder(ClassifierMixin, BaseEstimator):
    """Predicts label frequencies and remembers what it was given."""

    def __init__(self, random_state=None, fail=False):
        self.random_state = random_state
        self.fail = fail

    def fit(self, X, y):
        SEEN.append({"X": X, "y": y, "random_state": self.random_state})
        if self.fail:
            raise RuntimeError("no convergence\nat all")
        self.frequencies_ = y.mean(axis=0)
        return self

    def predict_proba(self, X):
        return np.tile(self.frequencies_, (len(X), 1)) + 0.01 * X[:, :1]


class HoldoutRecorder(Recorder):
    def fit(self, X, y, X_val=None, y_val=None):
        super().fit(X, y)
        SEEN[-1].update(X_val=X_val, y_val=y_val)
        return self


@pytest.fixture
def data():
    """Dense rows whose first column is their number, so that tests see who got which."""
    SEEN.clear()
    X, Y, _ = make_related_labels(80, 4, n_features=8, group_size=2, random_state=0)
    X = X.toarray()
    X[:, 0] = np.arange(80) / 80
    return X[:60], Y[:60], X[60:], Y[60:]


def compare(estimators, data, **options):
    return compare_classifiers(estimators, *data, isolate=False, **options)


def test_all_classifiers_get_the_same_rows_and_seeds_get_others(data):
    compare({"a": Recorder(), "b": Recorder()}, data, seeds=[3, 5])
    first_a, first_b, second_a, _ = SEEN
    np.testing.assert_array_equal(first_a["X"], first_b["X"])
    assert not np.array_equal(first_a["X"], second_a["X"])
    assert len(first_a["X"]) == 54
    expected, _ = train_test_split(np.arange(60), test_size=0.1, random_state=3)
    np.testing.assert_array_equal(first_a["X"], data[0][expected])


def test_validation_rows_reach_classifiers_that_take_them_through_pipelines_too(data):
    double = FunctionTransformer(lambda X: 2 * X)
    estimators = {
        "plain": HoldoutRecorder(),
        "piped": make_pipeline(double, HoldoutRecorder()),
        "other": make_pipeline(double, Recorder()),
    }
    result = compare(estimators, data)
    plain, piped, other = SEEN
    assert not result.errors
    _, valid = train_test_split(np.arange(60), test_size=0.1, random_state=0)
    np.testing.assert_array_equal(plain["X_val"], data[0][valid])
    np.testing.assert_array_equal(plain["y_val"], data[1][valid])
    np.testing.assert_array_equal(piped["X_val"], 2 * data[0][valid])
    np.testing.assert_array_equal(piped["X"], 2 * plain["X"])
    np.testing.assert_array_equal(other["X"], piped["X"])


def test_validation_rows_reach_classifiers_in_short_and_in_nested_pipelines(data):
    double = FunctionTransformer(lambda X: 2 * X)
    estimators = {
        "alone": make_pipeline(HoldoutRecorder()),
        "nested": make_pipeline(double, make_pipeline(double, HoldoutRecorder())),
    }
    assert not compare(estimators, data).errors
    alone, nested = SEEN
    np.testing.assert_array_equal(nested["X"], 4 * alone["X"])
    np.testing.assert_array_equal(nested["X_val"], 4 * alone["X_val"])


def test_every_random_state_becomes_the_seed_and_estimators_stay_untouched(data):
    estimator = make_pipeline(FunctionTransformer(), Recorder())
    compare({"a": estimator}, data, seeds=[7])
    assert SEEN[0]["random_state"] == 7
    assert estimator[-1].random_state is None
    assert not hasattr(estimator[-1], "frequencies_")


def test_scores_are_those_of_rules_tuned_on_the_validation_rows(data):
    X, Y, X_test, Y_test = data
    model = OneVsRestClassifier(LogisticRegression())
    result = compare({"lr": model}, data, seeds=[2])
    fit, valid = train_test_split(np.arange(60), test_size=0.1, random_state=2)
    model.fit(X[fit], Y[fit])
    for decision in ("optimal", "threshold"):
        rules = fit_decision_rules(
            Y[valid], model.predict_proba(X[valid]), Y_train=Y[fit], decision=decision
        )
        for metric, rule in rules.items():
            expected = label_score(Y_test, rule.decide(model.predict_proba(X_test)), metric)
            assert result.scores("lr", decision, metric) == [expected]


def test_a_failing_classifier_is_a_row_with_its_error(data):
    result = compare({"bad": Recorder(fail=True), "good": Recorder()}, data, seeds=2)
    assert "RuntimeError: no convergence" in result.errors["bad"]
    assert "test_compare.py" in result.errors["bad"]
    assert set(result.best.values()) == {"good"}
    frame = result.to_frame().set_index(["decision", "method"])
    assert frame.loc[("optimal", "bad"), "n_seeds"] == 0
    assert np.isnan(frame.loc[("optimal", "bad"), "accuracy"])
    assert frame["error"].notna().tolist() == [True, False, True, False]
    assert "| bad | optimal | error |" in result.to_markdown()
    assert "`bad` failed: RuntimeError: no convergence at all" in result.to_markdown()
    assert repr(result) == "ComparisonResult(2 classifiers, 2 seeds, 1 failed)"


def test_when_all_fail_there_is_no_best(data):
    result = compare({"bad": Recorder(fail=True)}, data)
    assert result.best == {}
    assert len(result.to_frame()) == 2


def test_warnings_are_kept_with_the_run(data):
    class Warner(Recorder):
        def fit(self, X, y):
            import warnings

            warnings.warn("hard to fit", UserWarning, stacklevel=1)
            return super().fit(X, y)

    (run,) = compare({"w": Warner()}, data).runs
    assert run.warnings == ["UserWarning: hard to fit"]


def test_finished_runs_are_resumed_and_failed_ones_tried_again(data, tmp_path, capsys):
    path = tmp_path / "deep" / "runs.jsonl"
    bad, good = Recorder(fail=True), Recorder()
    first = compare({"bad": bad, "good": good}, data, results_path=path, verbose=1)
    assert len(SEEN) == 2
    assert "[2/2] good, seed 0: accuracy" in capsys.readouterr().out
    again = compare({"bad": bad, "good": good}, data, results_path=path, verbose=1)
    assert len(SEEN) == 3
    assert again.runs[1].scores == first.runs[1].scores
    assert again.runs[1].fit_time == first.runs[1].fit_time
    assert np.isnan(again.runs[1].peak_memory)
    printed = capsys.readouterr().out
    assert "1 of 2 runs were done before" in printed
    assert "bad, seed 0: failed: RuntimeError" in printed
    compare({"good": good}, data, results_path=path, seeds=2)
    assert len(SEEN) == 4  # only the new seed


@pytest.mark.parametrize("change", ["data", "parameters", "settings", "name"])
def test_runs_of_other_data_or_settings_are_not_reused(data, tmp_path, change):
    path = tmp_path / "runs.jsonl"
    estimators, options = {"a": RidgeClassifier()}, {}
    compare(estimators, data, results_path=path)
    if change == "data":
        data[0][0, 1] += 1
    elif change == "parameters":
        estimators = {"a": RidgeClassifier(alpha=2)}
    elif change == "settings":
        options = {"validation_fraction": 0.2}
    else:
        estimators = {"b": RidgeClassifier()}
    compare(estimators, data, results_path=path, **options)
    keys = [json.loads(line)["key"] for line in path.read_text().splitlines()]
    assert len(set(keys)) == 2


def test_a_line_cut_short_by_an_interruption_is_done_again(data, tmp_path):
    path = tmp_path / "runs.jsonl"
    compare({"a": Recorder(), "b": Recorder()}, data, results_path=path)
    path.write_text(path.read_text()[:-20] + '\n[]\n{"key": 1')
    assert not compare({"a": Recorder(), "b": Recorder()}, data, results_path=path).errors
    assert len(SEEN) == 3
    compare({"a": Recorder(), "b": Recorder()}, data, results_path=path)
    assert len(SEEN) == 3


def test_runs_made_by_other_code_are_used_with_a_warning(data, tmp_path):
    path = tmp_path / "runs.jsonl"
    compare({"a": Recorder()}, data, results_path=path)
    record = json.loads(path.read_text()) | {"code": "older"}
    path.write_text(json.dumps(record) + "\n")
    with pytest.warns(UserWarning, match=r"1 of 1 runs in .*another state of sklearn_mrmp's code"):
        compare({"a": Recorder()}, data, results_path=path)
    assert len(SEEN) == 1


def test_unpicklable_estimators_are_compared_all_the_same(data, tmp_path):
    piped = make_pipeline(FunctionTransformer(lambda X: X), Recorder())
    result = compare({"a": piped}, data, results_path=tmp_path / "runs.jsonl")
    assert not result.errors


def test_tables_hold_means_and_deviations_over_seeds(data):
    model = OneVsRestClassifier(LogisticRegression())
    result = compare({"lr": model, "guess": Recorder()}, data, seeds=3, metrics=["f1_micro"])
    values = result.scores("lr", "threshold", "f1_micro")
    frame = result.to_frame()
    assert frame["method"].tolist() == ["lr", "guess", "lr", "guess"]
    row = frame[(frame.decision == "threshold") & (frame.method == "lr")].iloc[0]
    assert row.f1_micro == pytest.approx(values.mean())
    assert row.f1_micro_std == pytest.approx(values.std(ddof=1))
    assert bool(row.f1_micro_best)
    assert row.n_seeds == 3
    text = f"{values.mean():.3f} ± {values.std(ddof=1):.3f}"
    assert f"| lr | threshold | **{text}** |" in result.to_markdown()
    assert str(result) == result.to_markdown()
    long = result.runs_to_frame()
    assert len(long) == 2 * 3 * 2
    assert set(long.columns) >= {"method", "seed", "decision", "metric", "score", "fit_time"}


def test_latex_escapes_names_and_marks_the_best(data):
    text = compare({"my_model": Recorder()}, data, metrics="accuracy").to_latex()
    assert r"my\_model & optimal & \textbf{" in text
    assert text.count(r"\\") == 3
    assert text.startswith(r"\begin{tabular}{llrrrrr}")
    assert "±" not in text


def test_probabilities_are_read_from_every_convention():
    rng = np.random.RandomState(0)
    X, Y = rng.uniform(size=(30, 3)), rng.randint(0, 2, (30, 3))
    Y[:, 1], Y[:, 2] = 0, 1
    forest = RandomForestClassifier(5, random_state=0).fit(X, Y)
    P = label_probabilities(forest, X, 3)
    np.testing.assert_array_equal(P[:, 0], forest.predict_proba(X)[0][:, 1])
    np.testing.assert_array_equal(P[:, 1:], np.tile([0, 1], (30, 1)))
    Y[:, 1] = Y[::-1, 0]
    ridge = RidgeClassifier().fit(X, Y[:, :2])
    P = label_probabilities(ridge, X, 2)
    np.testing.assert_array_equal(P > 0.5, ridge.decision_function(X) > 0)
    with pytest.raises(AttributeError, match="FunctionTransformer has no predict_proba"):
        label_probabilities(FunctionTransformer(), X, 2)


def test_sparse_rows_sparse_labels_and_texts_are_accepted():
    X, Y, _ = make_related_labels(60, 4, n_features=8, group_size=2, random_state=0)
    model = OneVsRestClassifier(LogisticRegression())
    data = (sp.csc_array(X[:40]), sp.csr_array(Y[:40]), X[40:], sp.csr_matrix(Y[40:]))
    assert not compare({"lr": model}, data).errors
    from sklearn.feature_extraction.text import CountVectorizer

    texts = [" ".join(f"w{j}" for j in np.flatnonzero(row) + 10) for row in X.toarray()]
    piped = make_pipeline(CountVectorizer(), model)
    assert not compare({"lr": piped}, (texts[:40], Y[:40], texts[40:], Y[40:])).errors


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"estimators": {}}, ValueError, "at least one classifier"),
        ({"estimators": [("a", Recorder()), ("a", Recorder())]}, ValueError, "name of its own"),
        ({"estimators": [Recorder()]}, TypeError, r"compare_classifiers\({'Recorder': Recorder\("),
        ({"estimators": [("a", Recorder()), "b"]}, TypeError, r"got 'b'.*\{'name': classifier\}"),
        ({"estimators": {1: Recorder()}}, TypeError, "names must be strings, got 1"),
        ({"estimators": {"a": 3}}, TypeError, "'a' is 3, not a scikit-learn estimator"),
        ({"metrics": ["roc_auc"]}, ValueError, "Unknown metric 'roc_auc'"),
        ({"decisions": ["best"]}, ValueError, "decisions must be among optimal, threshold"),
        ({"Y_train": np.zeros(60)}, ValueError, r"got the shapes \(60,\) and \(20, 4\)"),
        ({"Y_train": np.full((60, 4), 2)}, ValueError, "must hold only 0 and 1"),
        ({"X_train": np.zeros((3, 8))}, ValueError, "inconsistent numbers of samples"),
        ({"seeds": 0}, ValueError, "'seeds' parameter"),
    ],
)
def test_bad_input_is_refused(data, change, error, message):
    names = ("X_train", "Y_train", "X_test", "Y_test")
    arguments = {"estimators": {"a": Recorder()}, **dict(zip(names, data, strict=True)), **change}
    with pytest.raises(error, match=message):
        compare_classifiers(**arguments, isolate=False)


@pytest.mark.slow
def test_each_run_has_a_process_of_its_own_with_its_own_memory(data):
    class Eater(ClassifierMixin, BaseEstimator):
        def __init__(self, megabytes=0, die=False):
            self.megabytes = megabytes
            self.die = die

        def fit(self, X, y):
            import os

            import numpy as np

            if self.die:
                os._exit(3)
            self.n_bytes_ = np.ones(self.megabytes << 20, dtype=np.int8).sum()
            self.n_labels_ = y.shape[1]
            return self

        def predict_proba(self, X):
            import numpy as np

            return np.full((len(X), self.n_labels_), 0.5)

    estimators = {"large": Eater(300), "dead": Eater(die=True), "small": Eater(0)}
    result = compare_classifiers(estimators, *data, n_jobs=2, metrics="f1_micro")
    large, _, small = (run.peak_memory for run in result.runs)
    assert 250 < large - small < 400
    assert "TerminatedWorkerError" in result.errors["dead"]


def test_a_run_that_takes_too_long_is_stopped_and_a_row_with_that_error(data):
    class Slow(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            import time

            time.sleep(600)

    result = compare_classifiers({"slow": Slow()}, *data, metrics="f1_micro", time_limit=1)
    assert result.errors == {"slow": "TimeoutError: stopped after 1 seconds (time_limit)"}
    with pytest.raises(ValueError, match="isolate=False has none"):
        compare_classifiers({"slow": Slow()}, *data, isolate=False, time_limit=1)


SCRIPT = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn_mrmp import compare_classifiers

class Mine(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.frequencies_ = y.mean(axis=0)
        return self

    def predict_proba(self, X):
        return np.tile(self.frequencies_, (len(X), 1))

X, Y = np.ones((40, 3)), np.eye(4, dtype=int)[np.arange(40) % 4]
result = compare_classifiers({"mine": Mine()}, X[:30], Y[:30], X[30:], Y[30:], metrics="accuracy")
assert not result.errors, result.errors
assert result.runs[0].peak_memory > 10
"""


@pytest.mark.slow
def test_scripts_need_no_main_guard_and_may_define_classifiers(tmp_path):
    """A worker neither runs the script again nor has to import the class from it."""
    (tmp_path / "script.py").write_text(SCRIPT)
    path = Path(sklearn_mrmp.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_peak_memory_is_known_without_proc(monkeypatch):
    import builtins

    def refuse(*args, **kwargs):
        raise OSError

    here = peak_memory()
    monkeypatch.setattr(builtins, "open", refuse)
    elsewhere = peak_memory()
    assert 10 < here < 100_000
    assert 10 < elsewhere < 100_000


class TestWeights:
    """Weights of training rows and of test rows."""

    @staticmethod
    def data():
        Y = np.repeat([[1, 0], [0, 1]], 20, axis=0)
        return np.arange(40.0)[:, None], Y

    def test_metrics_weigh_the_test_rows(self):
        X, Y = self.data()
        guess = {"guess": DummyClassifier(strategy="constant", constant=[1, 0])}
        weights = np.where(Y[:, 0] == 1, 3.0, 1.0)
        options = {"metrics": "accuracy", "decisions": "threshold", "isolate": False}
        result = compare_classifiers(guess, X, Y, X, Y, sample_weight_test=weights, **options)
        assert result.scores("guess", "threshold", "accuracy") == pytest.approx([0.75])

    @pytest.mark.parametrize("label", [0, 1])
    def test_fits_and_decisions_weigh_the_training_rows(self, label):
        X, Y = self.data()
        has = Y[:, label] == 1
        guess = {"guess": make_pipeline(FunctionTransformer(), DummyClassifier(strategy="prior"))}
        result = compare_classifiers(
            guess,
            *(X, Y, X[has], Y[has]),
            sample_weight_train=np.where(has, 9.0, 1.0),
            metrics="accuracy",
            decisions="threshold",
            isolate=False,
        )
        assert result.scores("guess", "threshold", "accuracy") == [1]

    def test_a_classifier_without_weights_is_an_error_in_the_table(self):
        X, Y = self.data()
        result = compare_classifiers(
            {"ovr": OneVsRestClassifier(LogisticRegression())},
            *(X, Y, X, Y),
            sample_weight_train=np.ones(40),
            isolate=False,
        )
        assert "takes no sample_weight" in result.runs[0].error
