"""Logistic regressions with a tuned penalty, one for each label."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from sklearn_mrmp import TunedBinaryRelevanceClassifier


def test_refitting_takes_all_rows_with_the_strength_that_was_chosen(related):
    X, Y = related
    options = {"strengths": (0.1, 1.0), "start": 1.0, "random_state": 0}
    tuned = TunedBinaryRelevanceClassifier(**options, refit=False).fit(X, Y)
    whole = TunedBinaryRelevanceClassifier(**options).fit(X, Y)
    assert whole.C_ == tuned.C_
    expected = OneVsRestClassifier(LogisticRegression(C=whole.C_, max_iter=1000)).fit(X, Y)
    np.testing.assert_allclose(whole.predict_proba(X), expected.predict_proba(X), rtol=1e-5)
    assert not np.allclose(whole.predict_proba(X), tuned.predict_proba(X))


def test_with_held_out_rows_of_the_caller_all_others_are_learned_from(related):
    X, Y = related
    clf = TunedBinaryRelevanceClassifier((1.0,)).fit(X[:80], Y[:80], X_val=X[80:], y_val=Y[80:])
    expected = TunedBinaryRelevanceClassifier((1.0,)).fit(X[:80], Y[:80])
    np.testing.assert_array_equal(clf.predict_proba(X), expected.predict_proba(X))
    with pytest.raises(ValueError, match="X_val and y_val belong together"):
        clf.fit(X, Y, X_val=X)


def test_constant_labels_are_predicted_as_constants(related):
    X, Y = related
    Y = np.hstack([Y[:, :2], np.zeros((len(Y), 1), dtype=Y.dtype)])
    clf = TunedBinaryRelevanceClassifier((1.0,), random_state=0).fit(X, Y)
    assert clf.estimators_[2] == 0.0
    assert not clf.predict(X)[:, 2].any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strengths": (1.0, 0.1)}, "each above the one before"),
        ({"strengths": (0.0, 1.0)}, "positive numbers"),
        ({"strengths": (0.1, 1.0), "start": 3.0}, "start=3.0 is not one of"),
    ],
)
def test_strengths_that_cannot_be_climbed_are_refused(related, options, message):
    with pytest.raises(ValueError, match=message):
        TunedBinaryRelevanceClassifier(**options).fit(*related)
