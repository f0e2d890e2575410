"""Measures at k as scorers of any multi-label classifier."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sklearn_mrmp.datasets import make_related_labels
from sklearn_mrmp.metrics import get_scorer, get_scorer_names, label_propensities, precision_at_k

X, Y, _ = make_related_labels(80, 5, n_features=20, random_state=0)


@pytest.mark.parametrize("name", get_scorer_names())
def test_every_listed_name_is_a_scorer(name):
    k = int(name.rpartition("_")[2])
    options = {"propensities": label_propensities(Y)} if name.startswith("prop") else {}
    scorer = get_scorer(name, **options)
    clf = OneVsRestClassifier(LogisticRegression()).fit(X, Y)
    if k > Y.shape[1]:
        with pytest.raises(ValueError, match="k must be"):
            scorer(clf, X, Y)
    else:
        assert 0 <= scorer(clf, X, Y) <= 1


@pytest.mark.parametrize(
    "clf",
    [
        RandomForestClassifier(5, random_state=0),
        make_pipeline(StandardScaler(with_mean=False), RandomForestClassifier(5, random_state=0)),
        OneVsRestClassifier(LinearSVC()),
    ],
    ids=["list", "pipeline", "margins"],
)
def test_lists_of_arrays_and_margins_are_read(clf):
    assert get_scorer("precision_at_1")(clf.fit(X, Y), X, Y) > 0.5


def test_a_label_that_no_training_row_has_is_not_on_top():
    never = np.column_stack([np.zeros(len(Y), dtype=int), Y])
    clf = RandomForestClassifier(5, random_state=0).fit(X, never)
    P = np.column_stack([p[:, 1] if p.shape[1] > 1 else 0 * p[:, 0] for p in clf.predict_proba(X)])
    assert get_scorer("precision_at_1")(clf, X, never) == precision_at_k(never, P, k=1)


def test_scorers_serve_searches_and_several_metrics():
    scoring = {name: get_scorer(name) for name in ("precision_at_1", "ndcg_at_3")}
    clf = OneVsRestClassifier(LogisticRegression())
    found = cross_validate(clf, X, Y, scoring=scoring, cv=2)
    assert found["test_ndcg_at_3"].shape == (2,)
    grid = {"estimator__C": [0.1, 1.0]}
    search = GridSearchCV(clf, grid, scoring=get_scorer("recall_at_2"), cv=2).fit(X, Y)
    assert 0 <= search.best_score_ <= 1


def test_weights_of_rows_are_routed_on_request():
    clf, weights = DummyClassifier(strategy="prior"), np.arange(len(Y)) % 2
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = get_scorer("precision_at_1").set_score_request(sample_weight=True)
        params = {"sample_weight": weights}
        found = cross_validate(
            clf.set_fit_request(sample_weight=False), X, Y, cv=2, scoring=scorer, params=params
        )
    odd = cross_validate(clf, X, Y, cv=2, scoring=lambda c, A, B: scorer(c, A[1::2], B[1::2]))
    np.testing.assert_allclose(found["test_score"], odd["test_score"])


def test_scorers_can_be_pickled_and_say_what_they_are():
    scorer = pickle.loads(pickle.dumps(get_scorer("precision_at_3")))
    assert repr(scorer) == "RankingScorer(precision_at_k, k=3)"


@pytest.mark.parametrize("name", ["precision", "precision_at_0", "f1_at_3", 5])
def test_unknown_names_are_refused_with_the_known_ones(name):
    with pytest.raises(ValueError, match="recall_at_5"):
        get_scorer(name)


def test_propensities_have_to_be_given():
    with pytest.raises(ValueError, match="propensities=label_propensities"):
        get_scorer("propensity_scored_precision_at_3")
