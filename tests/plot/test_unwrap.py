"""Pictures find the classifier inside fitted pipelines, searches and decision tuning."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from sklearn_mrmp import (
    LabelGraphDisplay,
    MrMPClassifier,
    TrainingHistoryDisplay,
    TunedDecisionClassifier,
)

mpl.use("Agg")
DISPLAYS = (TrainingHistoryDisplay, LabelGraphDisplay)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    mpl.pyplot.close("all")


def tiny():
    return MrMPClassifier(
        d_model=8, n_heads=2, max_epochs=1, voters=("network",), alpha=0.5, random_state=0
    )


def pipeline():
    return make_pipeline(MaxAbsScaler(), tiny())


def search(estimator, **grid):
    return GridSearchCV(estimator, grid, cv=2, scoring="f1_micro")


WRAPPED = {
    "pipeline": lambda: (pipeline(), lambda e: e[-1]),
    "search": lambda: (search(tiny(), d_model=[8]), lambda e: e.best_estimator_),
    "random search of a pipeline": lambda: (
        RandomizedSearchCV(
            pipeline(), {"mrmpclassifier__d_model": [8]}, n_iter=1, cv=2, scoring="f1_micro"
        ),
        lambda e: e.best_estimator_[-1],
    ),
    "pipeline around a search": lambda: (
        make_pipeline(MaxAbsScaler(), search(pipeline(), mrmpclassifier__d_model=[8])),
        lambda e: e[-1].best_estimator_[-1],
    ),
    "tuned decisions around a pipeline": lambda: (
        TunedDecisionClassifier(pipeline(), cv=0.5, random_state=0),
        lambda e: e.estimator_[-1],
    ),
}


@pytest.mark.parametrize("case", WRAPPED)
def test_the_classifier_inside_is_drawn(related, case):
    estimator, inside = WRAPPED[case]()
    classifier = inside(estimator.fit(*related))
    display = TrainingHistoryDisplay.from_estimator(estimator)
    assert display.history == classifier.history_
    assert display.best_epoch == classifier.best_epoch_
    assert LabelGraphDisplay.from_estimator(estimator).graph == classifier.label_graph_


@pytest.mark.parametrize("display", DISPLAYS)
@pytest.mark.parametrize("case", WRAPPED)
def test_nothing_is_drawn_before_fit(display, case):
    with pytest.raises(NotFittedError):
        display.from_estimator(WRAPPED[case]()[0])


@pytest.mark.parametrize("display", DISPLAYS)
def test_another_classifier_is_refused_by_name(related, display):
    X, Y = related
    other = make_pipeline(MaxAbsScaler(), OneVsRestClassifier(LogisticRegression()))
    message = "OneVsRestClassifier inside this Pipeline has no .*_; pass a fitted MrMPClassifier"
    with pytest.raises(ValueError, match=message):
        display.from_estimator(other.fit(X, Y))


@pytest.mark.parametrize("display", DISPLAYS)
def test_a_search_without_refit_is_refused_with_the_reason(display):
    X, y = np.eye(8), np.tile([0, 1], 4)
    searched = GridSearchCV(LogisticRegression(), {"C": [1]}, cv=2, refit=False).fit(X, y)
    with pytest.raises(ValueError, match=r"GridSearchCV has no best_estimator_.*refit=True"):
        display.from_estimator(searched)


@pytest.mark.parametrize("refit", [False, True])
def test_a_classifier_without_a_network_is_refused_with_the_reason(related, refit):
    clf = tiny().set_params(voters=("linear",), refit=refit).fit(*related)
    message = r"This MrMPClassifier has no history_; .* with a network among its voters"
    with pytest.raises(ValueError, match=message):
        TrainingHistoryDisplay.from_estimator(clf)
