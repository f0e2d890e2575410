import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_param_validation, parametrize_with_checks

from sklearn_mrmp._decisions.responses import label_scores
from sklearn_mrmp._decisions.sweep import METRICS, metric_value
from sklearn_mrmp._tuned_decision.classifier import TunedDecisionClassifier
from tests.weight_checks import expected_failures

X, Y = make_multilabel_classification(150, n_classes=6, n_labels=2, random_state=0)
LR = OneVsRestClassifier(LogisticRegression())
DECISIONS = ("optimal", "label_sets", "threshold", "top_k", "at_least_one")
TREE = DecisionTreeClassifier(max_depth=4, random_state=0)


@parametrize_with_checks(
    [
        TunedDecisionClassifier(DecisionTreeClassifier(random_state=0), cv=3),
        TunedDecisionClassifier(OneVsRestClassifier(LinearSVC(max_iter=200)), cv=0.3),
    ],
    expected_failed_checks=expected_failures,
)
def test_common_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_parameters_are_validated():
    check_param_validation("TunedDecisionClassifier", TunedDecisionClassifier(TREE))


@pytest.mark.parametrize("estimator", [LR, TREE, KNeighborsClassifier(), OneVsRestClassifier(TREE)])
def test_all_shapes_of_probabilities_are_understood(estimator):
    clf = TunedDecisionClassifier(estimator, cv=3, random_state=0).fit(X, Y)
    assert clf.predict_proba(X).shape == Y.shape
    assert clf.predict(X).shape == Y.shape


def test_decision_function_serves_when_there_are_no_probabilities():
    clf = TunedDecisionClassifier(OneVsRestClassifier(LinearSVC()), random_state=0).fit(X, Y)
    assert not hasattr(clf, "predict_proba")
    margins = clf.decision_function(X)
    best = clf.decision_rules_["optimal"]["f1_micro"].threshold
    np.testing.assert_array_equal(clf.predict(X), margins >= best)
    cut = clf.thresholds_["f1_micro"]
    np.testing.assert_array_equal(clf.set_params(decision="threshold").predict(X), margins >= cut)
    clf.set_params(decision="optimal")
    for metric in METRICS:
        assert clf.set_params(metric=metric).predict(X).shape == Y.shape


def test_metric_and_decision_change_without_fitting_again():
    clf = TunedDecisionClassifier(LR, metric="accuracy", random_state=0).fit(X, Y)
    fitted = clf.estimator_
    predicted, scores = {}, {}
    for decision in ("optimal", "threshold"):
        for metric in METRICS:
            clf.set_params(metric=metric, decision=decision)
            predicted[decision, metric] = clf.predict(X)
            scores[decision, metric] = clf.best_score_
    assert clf.estimator_ is fitted
    assert not np.array_equal(*(predicted[d, "f1_samples"] for d in ("optimal", "threshold")))
    assert len(set(scores.values())) > 4
    P = clf.predict_proba(X)
    for metric in METRICS:
        cut = clf.thresholds_[metric]
        np.testing.assert_array_equal(predicted["threshold", metric], cut <= P)


def test_out_of_fold_tuning_uses_every_row_once():
    clf = TunedDecisionClassifier(LR, decision="threshold", cv=KFold(3)).fit(X, Y)
    P = np.empty(Y.shape)
    for train, test in KFold(3).split(X):
        P[test] = clone(LR).fit(X[train], Y[train]).predict_proba(X[test])
    cut = clf.thresholds_["f1_micro"]
    assert clf.best_score_ == metric_value(Y > 0, cut <= P, "f1_micro")
    np.testing.assert_allclose(clf.predict_proba(X), LR.fit(X, Y).predict_proba(X))


def test_held_out_fraction_without_refit_keeps_the_tuned_estimator():
    refitted, kept = (
        TunedDecisionClassifier(LR, cv=0.4, refit=refit, random_state=0).fit(X, Y)
        for refit in (True, False)
    )
    assert refitted.thresholds_ == kept.thresholds_
    assert not np.allclose(refitted.predict_proba(X), kept.predict_proba(X))


def test_prefit_takes_the_given_estimator_and_all_rows():
    fitted = clone(LR).fit(X[:100], Y[:100])
    clf = TunedDecisionClassifier(fitted, decision="threshold", cv="prefit")
    clf.fit(X[100:], Y[100:])
    assert clf.estimator_ is fitted
    cut = clf.thresholds_["f1_micro"]
    expected = metric_value(Y[100:] > 0, fitted.predict_proba(X[100:]) >= cut, "f1_micro")
    assert clf.best_score_ == expected


def test_prefit_refuses_an_unfitted_estimator():
    with pytest.raises(NotFittedError, match="prefit"):
        TunedDecisionClassifier(clone(LR), cv="prefit").fit(X, Y)


def test_several_folds_need_refit():
    with pytest.raises(ValueError, match="single split, but cv gives 3"):
        TunedDecisionClassifier(LR, cv=3, refit=False).fit(X, Y)


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix])
def test_sparse_rows_and_labels_come_back_sparse(container):
    clf = TunedDecisionClassifier(LR, metric="accuracy", cv=3).fit(container(X), container(Y))
    predicted = clf.predict(container(X))
    assert type(predicted) is container
    assert predicted.dtype == Y.dtype


def test_data_frames_keep_their_label_names():
    pd = pytest.importorskip("pandas")
    names = list("abcdef")
    clf = TunedDecisionClassifier(LR, cv=3).fit(
        pd.DataFrame(X).add_prefix("f"), pd.DataFrame(Y, columns=names)
    )
    assert clf.label_names_.tolist() == names
    assert clf.feature_names_in_[0] == "f0"
    assert clf.n_features_in_ == X.shape[1]


def test_a_label_constant_in_a_fold_is_never_or_always_positive():
    labels = Y.copy()
    labels[:, 0], labels[:, 1] = 0, 1
    labels[-1, 1] = 0
    clf = TunedDecisionClassifier(TREE, cv=KFold(3)).fit(X, labels)
    assert (clf.predict_proba(X)[:, 0] < 1e-9).all()


class EverythingRule:
    """A rule of a user: no base class, no metric, no validation score."""

    def fit(self, Y_valid, P_valid, Y_train=None):
        assert Y_valid.shape == P_valid.shape
        self.n_labels_ = Y_valid.shape[1]
        return self

    def decide(self, P):
        return np.ones((len(P), self.n_labels_))


@pytest.mark.parametrize("cv", [3, 0.4])
def test_rules_of_users_need_only_fit_and_decide(cv):
    rule = EverythingRule()
    clf = TunedDecisionClassifier(LR, decision=rule, cv=cv, random_state=0).fit(X, Y)
    assert not hasattr(rule, "n_labels_")
    predicted = clf.predict(X)
    assert predicted.dtype == Y.dtype
    assert predicted.all()


@pytest.mark.parametrize("cut", [0, 0.3, np.float32(0.5), 1.0])
def test_a_number_is_a_cut_that_can_be_changed_without_fitting_again(cut):
    clf = TunedDecisionClassifier(LR, decision=cut, cv=3, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(clf.predict(X), LR.fit(X, Y).predict_proba(X) >= cut)
    assert set(clf.decision_rules_) == set(DECISIONS)
    np.testing.assert_array_equal(
        clf.set_params(decision=0.7).predict(X), clf.predict_proba(X) >= 0.7
    )
    assert not hasattr(clf, "best_score_")
    assert clf.set_params(decision="optimal").best_score_ > 0


def test_cuts_outside_of_0_and_1_are_refused():
    with pytest.raises(ValueError, match="'decision' parameter"):
        TunedDecisionClassifier(LR, decision=1.5).fit(X, Y)


@pytest.mark.parametrize("decision", ["optimal", "threshold", 0.4])
def test_every_operating_point_can_be_asked_without_changing_the_classifier(decision):
    clf = TunedDecisionClassifier(LR, cv=3, random_state=0).fit(X, Y)
    before = clf.get_params()
    P = clf.predict_proba(X)
    asked = {metric: clf._labels_at(P, X, metric, decision) for metric in METRICS}
    assert clf.get_params() == before
    for metric, labels in asked.items():
        clf.set_params(metric=metric, decision=decision)
        np.testing.assert_array_equal(clf.predict(X), labels)


def test_decision_that_was_not_prepared_is_refused():
    clf = TunedDecisionClassifier(LR, cv=3).fit(X, Y).set_params(decision=EverythingRule())
    with pytest.raises(ValueError, match="not prepared in fit, only at_least_one, label_sets"):
        clf.predict(X)
    with pytest.raises(ValueError, match="known ones are accuracy"):
        clf.set_params(decision="optimal", metric="f1").predict(X)


@pytest.mark.parametrize("decision", DECISIONS)
def test_every_decision_is_there_after_a_fit_with_another(decision):
    clf = TunedDecisionClassifier(LR, cv=3, random_state=0).fit(X, Y)
    expected = TunedDecisionClassifier(LR, cv=3, random_state=0, decision=decision).fit(X, Y)
    for metric in METRICS:
        clf.set_params(decision=decision, metric=metric)
        expected.set_params(metric=metric)
        np.testing.assert_array_equal(clf.predict(X), expected.predict(X))


def test_two_classes_can_be_cut_anywhere():
    y = np.array(["no", "yes"])[Y[:, 0]]
    clf = TunedDecisionClassifier(LR, cv=3, random_state=0).fit(X, y)
    P = clf.predict_proba(X)[:, 1]
    cuts = {**clf.thresholds_, "a number": 0.3}
    for metric, cut in cuts.items():
        own = (
            {"metric": metric, "decision": "threshold"} if metric in METRICS else {"decision": cut}
        )
        np.testing.assert_array_equal(clf.set_params(**own).predict(X) == "yes", cut <= P)


def test_vector_targets_are_predicted_by_the_estimator_alone():
    y = np.array(["no", "yes"])[Y[:, 0]]
    clf = TunedDecisionClassifier(TREE).fit(X, y)
    np.testing.assert_array_equal(clf.predict(X), TREE.fit(X, y).predict(X))
    assert clf.predict_proba(X).shape == (150, 2)


def test_grid_search_reaches_the_inner_parameters():
    search = GridSearchCV(
        TunedDecisionClassifier(LR, cv=0.3, random_state=0),
        {"estimator__estimator__C": [0.001, 1]},
        cv=2,
        scoring="f1_micro",
    ).fit(X, Y)
    assert search.best_params_ == {"estimator__estimator__C": 1}


def test_metadata_goes_to_the_estimator_and_the_splitter():
    groups, weight = np.arange(150) % 5, np.linspace(0.1, 2, 150)
    with config_context(enable_metadata_routing=True):
        tree = clone(TREE).set_fit_request(sample_weight=True)
        clf = TunedDecisionClassifier(tree, cv=GroupKFold(5))
        clf.fit(X, Y, sample_weight=weight, groups=groups)
        expected = clone(TREE).fit(X, Y, sample_weight=weight)
    np.testing.assert_array_equal(clf.estimator_.tree_.threshold, expected.tree_.threshold)


def test_metadata_is_refused_when_routing_is_off():
    with pytest.raises(ValueError, match="sample_weight"):
        TunedDecisionClassifier(TREE).fit(X, Y, sample_weight=np.ones(150))


def test_folds_in_parallel_give_the_same_result():
    with parallel_config("threading"):
        one, two = (
            TunedDecisionClassifier(LR, n_jobs=n_jobs, random_state=0).fit(X, Y)
            for n_jobs in (1, 2)
        )
    assert one.thresholds_ == two.thresholds_


def test_fitted_classifier_can_be_pickled():
    clf = TunedDecisionClassifier(LR, metric="accuracy", cv=3).fit(X, Y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(clf)).predict(X), clf.predict(X))


def test_responses_of_another_shape_are_refused():
    fitted = clone(LR).fit(X, Y)
    with pytest.raises(ValueError, match="one column for each of the 7 labels"):
        label_scores(fitted, X, 7, "predict_proba")


def test_response_method_must_exist():
    clf = TunedDecisionClassifier(TREE, response_method="decision_function")
    with pytest.raises(AttributeError, match="no decision_function"):
        clf.fit(X, Y)
