"""The picture of metrics and thresholds."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from sklearn_mrmp._decisions.sweep import METRICS, metric_value
from sklearn_mrmp._decisions.thresholds import tune_thresholds
from sklearn_mrmp._plot.threshold import ThresholdDisplay
from sklearn_mrmp._tuned_decision.classifier import TunedDecisionClassifier

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    mpl.pyplot.close("all")


def test_curves_are_the_metrics_at_their_cuts(related):
    Y = related[1] > 0
    S = np.random.default_rng(0).random(Y.shape)
    display = ThresholdDisplay.from_predictions(Y, S)
    tuned = tune_thresholds(Y, S)
    assert display.thresholds == tuned.thresholds
    for metric in METRICS:
        cuts, values = (np.asarray(v) for v in display.lines_[metric].get_data())
        assert (np.diff(cuts) >= 0).all()
        for i in (0, len(cuts) // 2, -1):
            assert values[i] == pytest.approx(metric_value(Y, cuts[i] <= S, metric))
        assert values.max() == pytest.approx(tuned.scores[metric])


def test_many_cuts_are_thinned_and_the_best_one_is_kept():
    rng = np.random.default_rng(0)
    Y, S = rng.random((3000, 10)) < 0.2, rng.random((3000, 10))
    display = ThresholdDisplay.from_predictions(Y, S, metrics="f1_micro")
    cuts, values = display.curves["f1_micro"]
    assert len(cuts) < 5000
    assert values.max() == pytest.approx(tune_thresholds(Y, S).scores["f1_micro"])


def test_tuned_classifier_is_shown_with_its_own_cuts_and_rules(related):
    X, Y = related
    clf = TunedDecisionClassifier(
        OneVsRestClassifier(LogisticRegression()), metric="accuracy", cv=0.5, random_state=0
    ).fit(X[:100], Y[:100])
    display = ThresholdDisplay.from_estimator(clf, X[100:], Y[100:])
    assert display.thresholds == clf.thresholds_
    truth = np.asarray(Y[100:]) > 0
    expected = metric_value(truth, np.asarray(clf.predict(X[100:])) > 0, "accuracy")
    assert display.rule_scores["accuracy"] == expected
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "the metric's own rule" in texts


def test_tuned_classifier_at_the_end_of_a_pipeline_is_shown_with_its_own_cuts(related):
    X, Y = related
    tuned = TunedDecisionClassifier(OneVsRestClassifier(LogisticRegression()), random_state=0)
    piped = make_pipeline(MaxAbsScaler(), tuned).fit(X[:100], Y[:100])
    display = ThresholdDisplay.from_estimator(piped, X[100:], Y[100:])
    assert display.thresholds == piped[-1].thresholds_
    expected = metric_value(Y[100:] > 0, piped.predict(X[100:]) > 0, "f1_micro")
    assert display.rule_scores["f1_micro"] == expected


def test_decisions_tuned_on_margins_are_shown_on_margins(related):
    X, Y = related
    linear = OneVsRestClassifier(LogisticRegression())
    clf = TunedDecisionClassifier(linear, response_method="decision_function", random_state=0)
    clf.fit(X[:100], Y[:100])
    display = ThresholdDisplay.from_estimator(clf, X[100:], Y[100:], metrics="f1_micro")
    cuts, _ = display.curves["f1_micro"]
    assert cuts[0] < 0  # no probability
    expected = metric_value(Y[100:] > 0, clf.predict(X[100:]) > 0, "f1_micro")
    assert display.rule_scores["f1_micro"] == expected


def test_any_classifier_is_shown_with_the_best_cuts_on_the_rows(related):
    X, Y = related
    clf = OneVsRestClassifier(LogisticRegression()).fit(X, Y)
    ax = mpl.figure.Figure().subplots()
    display = ThresholdDisplay.from_estimator(clf, X, Y, metrics=["f1_macro"], ax=ax)
    assert display.ax_ is ax
    assert display.rule_scores is None
    expected = tune_thresholds(Y, clf.predict_proba(X)).thresholds["f1_macro"]
    assert display.thresholds == {"f1_macro": expected}


def test_rule_score_of_predictions_is_drawn_when_asked(related):
    Y = related[1] > 0
    S = np.clip(0.6 * Y + 0.4 * np.random.default_rng(0).random(Y.shape), 0, 1)
    display = ThresholdDisplay.from_predictions(Y, S, show_rule=True, metrics=["accuracy"])
    dashed = [line for line in display.ax_.lines if line.get_linestyle() == "--"]
    assert dashed[0].get_ydata()[0] == display.rule_scores["accuracy"]


def test_needs_a_fitted_classifier(related):
    with pytest.raises(NotFittedError):
        ThresholdDisplay.from_estimator(OneVsRestClassifier(LogisticRegression()), *related)


def shades(ax):
    return [patch for patch in ax.patches if patch.get_alpha() == 0.15]


def test_a_metric_that_is_the_same_at_every_cut_has_no_shade_and_the_legend_says_so():
    S = np.random.default_rng(0).random((20, 3))
    display = ThresholdDisplay.from_predictions(np.zeros((20, 3)), S, metrics=["f1_micro"])
    assert not shades(display.ax_)
    (text,) = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "0 at every cut" in text


@pytest.mark.parametrize(("value", "ends"), [(0.4, (0, 1)), (-3.0, (-4, -2))])
def test_a_single_score_gives_a_step_and_no_shade(value, ends):
    Y = np.array([[1, 0], [1, 1], [0, 0]])
    display = ThresholdDisplay.from_predictions(Y, np.full(Y.shape, value), metrics=METRICS)
    assert not shades(display.ax_)
    cuts, values = display.curves["accuracy"]
    assert (cuts[0], cuts[-1]) == ends
    assert values[0] == values[-1] == pytest.approx(1 / 3)  # all labels, and none
    cuts, values = display.curves["f1_micro"]
    assert values[0] == pytest.approx(2 / 3)
    assert values[-1] == 0


def test_a_plateau_between_scores_is_shaded():
    display = ThresholdDisplay.from_predictions(
        [[1, 0], [1, 1]], [[0.75, 0.25], [0.75, 0.5]], metrics="accuracy"
    )
    assert len(shades(display.ax_)) == 1
    assert display.plateaus == {"accuracy": (0.25, 0.5)}


def test_a_tuned_classifier_inside_searches_and_pipelines_is_shown_with_its_own_cuts(related):
    X, Y = related
    tuned = TunedDecisionClassifier(OneVsRestClassifier(LogisticRegression()), random_state=0)
    grid = {"tuneddecisionclassifier__metric": ["f1_macro"]}
    search = GridSearchCV(make_pipeline(MaxAbsScaler(), tuned), grid, scoring="f1_micro", cv=2)
    nested = make_pipeline(MaxAbsScaler(), search).fit(X[:100], Y[:100])
    display = ThresholdDisplay.from_estimator(nested, X[100:], Y[100:])
    assert display.thresholds == nested[-1].best_estimator_[-1].thresholds_
    expected = metric_value(Y[100:] > 0, nested.predict(X[100:]) > 0, "f1_macro")
    assert display.rule_scores["f1_macro"] == expected
