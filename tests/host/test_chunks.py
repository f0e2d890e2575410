"""Prediction in chunks: the same answers, whatever the size of a chunk."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from sklearn_mrmp import (
    MLARAMClassifier,
    MLKNNClassifier,
    MrMPClassifier,
    SoftVotingMultilabelClassifier,
    TunedDecisionClassifier,
)
from sklearn_mrmp._host import chunks as _chunks
from sklearn_mrmp._host.chunks import chunk_rows, predict_in_chunks

LINEAR = OneVsRestClassifier(LogisticRegression())
ESTIMATORS = [
    MrMPClassifier(d_model=8, n_heads=2, max_epochs=1, random_state=0),
    MLKNNClassifier(3),
    MLARAMClassifier(),
    SoftVotingMultilabelClassifier([("linear", LINEAR), ("knn", MLKNNClassifier(3))]),
    TunedDecisionClassifier(LINEAR, cv=2, random_state=0),
]


def target(kind, Y):
    return {
        "dense": Y.toarray(),
        "csr_array": sp.csr_array(Y),
        "csr_matrix": sp.csr_matrix(Y),
        "binary": np.array(["no", "yes"])[Y.toarray()[:, 0]],
        "multiclass": Y.toarray()[:, :2] @ [1, 2],
    }[kind]


@pytest.mark.parametrize("kind", ["dense", "csr_array", "csr_matrix", "binary", "multiclass"])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_chunks_do_not_change_predictions(estimator, kind, related, monkeypatch):
    X, Y = related
    y = target(kind, sp.csr_array(Y))
    estimator.fit(X, y)
    P, predicted = estimator.predict_proba(X), estimator.predict(X)
    monkeypatch.setattr(_chunks, "CHUNK_CELLS", 7 * 40)
    P_chunked, predicted_chunked = estimator.predict_proba(X), estimator.predict(X)
    np.testing.assert_allclose(P_chunked, P, rtol=1e-5)
    assert P_chunked.dtype == P.dtype
    assert type(predicted_chunked) is type(predicted)
    assert predicted_chunked.dtype == predicted.dtype
    if sp.issparse(predicted):
        predicted, predicted_chunked = predicted.toarray(), predicted_chunked.toarray()
    np.testing.assert_array_equal(predicted_chunked, predicted)


def test_rows_of_a_chunk_follow_from_labels_and_features(monkeypatch):
    monkeypatch.setattr(_chunks, "CHUNK_CELLS", 100)
    assert chunk_rows(np.zeros((50, 10)), 50, n_labels=2) == 10
    assert chunk_rows(np.zeros((50, 10)), 50, n_labels=20) == 5
    assert chunk_rows(sp.csr_array(np.eye(50)), 50, n_labels=1) == 100
    assert chunk_rows(["a text", "another"], 2, n_labels=4) == 25
    assert chunk_rows(np.zeros((2, 1000)), 2, n_labels=4) == 1


def test_each_chunk_is_seen_once_and_in_order(monkeypatch):
    monkeypatch.setattr(_chunks, "CHUNK_CELLS", 4)
    seen = []

    def double(rows):
        seen.append(len(rows))
        return 2 * rows[:, 0]

    X = np.arange(10.0)[:, None]
    np.testing.assert_array_equal(predict_in_chunks(double, X, 1), 2 * X[:, 0])
    assert seen == [4, 4, 2]
