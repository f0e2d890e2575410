"""Every classifier, for every form of input: a documented error, or a finite, right-shaped answer.

Inputs stay as they were, and the form in which a matrix is passed does not change the answer.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st

from sklearn_mrmp import (
    MLARAMClassifier,
    MLKNNClassifier,
    MrMPClassifier,
    SoftVotingMultilabelClassifier,
    TopK,
    TunedDecisionClassifier,
)
from tests.properties.strategies import (
    DENSE_FORMS,
    DOCUMENTED,
    EXTREME,
    FORMS,
    LABEL_TYPES,
    SPARSE_FORMS,
    frame,
    holds_for,
    plain,
    problems,
    snapshot,
)

TINY = {
    "d_model": 4,
    "n_heads": 1,
    "n_encoder_layers": 1,
    "n_relation_layers": 1,
    "n_decoder_layers": 1,
    "max_epochs": 1,
    "random_state": 0,
}
KNN = MLKNNClassifier(2)
ESTIMATORS = {
    "mrmp": MrMPClassifier(**TINY),
    "mrmp, few tokens": MrMPClassifier(**TINY, max_tokens=2, relation_loss=1.0, refit=True),
    "mrmp, paper": MrMPClassifier.paper(**TINY, d_inner=8),
    "ml-knn": KNN,
    "ml-knn, cosine": MLKNNClassifier(3, metric="cosine"),
    "ml-aram": MLARAMClassifier(),
    "haram": MLARAMClassifier(0.5, cluster_vigilance=0.5, scaling="global"),
    "tuned": TunedDecisionClassifier(KNN, cv=2, random_state=0),
    "tuned, top k": TunedDecisionClassifier(KNN, cv=2, decision=TopK(1), random_state=0),
    "vote": SoftVotingMultilabelClassifier([("knn", KNN), ("aram", MLARAMClassifier())]),
}
# How many examples: fast ones get more.
NAMES = st.sampled_from([*ESTIMATORS, "ml-knn", "ml-aram", "tuned", "vote"])


def fit_predict(estimator, X, Y, X_new):
    """Fit and predict; check that no input changed. None where an error says what is wrong."""
    inputs = (X, Y, X_new)
    before = [snapshot(A) for A in inputs]
    try:
        estimator.fit(X, Y)
        answer = estimator.predict_proba(X_new), estimator.predict(X_new)
    except DOCUMENTED:
        answer = None
    assert [snapshot(A) for A in inputs] == before, "the caller's arrays were changed"
    return answer


def check_answer(answer, n_rows, n_labels):
    P, predicted = answer
    assert P.shape == predicted.shape == (n_rows, n_labels)
    assert np.isfinite(P).all()
    assert ((P >= 0) & (P <= 1)).all()
    assert np.isin(plain(predicted), (0, 1)).all()


def refused_for_size(estimator, n_rows):
    """Holding rows out, folds and neighbours need a second row."""
    return n_rows < (4 if "Tuned" in type(estimator).__name__ else 2)


@pytest.mark.filterwarnings("ignore")
@holds_for(
    60,
    name=NAMES,
    problem=problems(),
    form=st.sampled_from(sorted(FORMS)),
    form_new=st.sampled_from(sorted(FORMS)),
    form_labels=st.sampled_from(sorted(FORMS)),
    label_type=LABEL_TYPES,
)
def test_any_form_of_ordinary_data_is_learned_from(
    name, problem, form, form_new, form_labels, label_type
):
    X, Y, X_new = problem
    estimator = ESTIMATORS[name]
    labels = FORMS[form_labels](Y.astype(label_type))
    answer = fit_predict(estimator, FORMS[form](X), labels, FORMS[form_new](X_new))
    if answer is None:
        assert refused_for_size(estimator, len(X))
        return
    check_answer(answer, len(X_new), Y.shape[1])
    assert sp.issparse(answer[1]) == sp.issparse(labels)


@pytest.mark.filterwarnings("ignore")
@holds_for(
    50,
    name=NAMES,
    problem=problems(min_rows=4),
    forms=st.sampled_from([sorted(DENSE_FORMS), sorted(SPARSE_FORMS)]).flatmap(
        lambda names: st.lists(st.sampled_from(names), min_size=2, max_size=2)
    ),
    form_labels=st.sampled_from(sorted(set(FORMS) - {"object", "frame"})),
    label_type=LABEL_TYPES,
)
def test_the_form_of_a_matrix_does_not_matter(name, problem, forms, form_labels, label_type):
    X, Y, X_new = problem
    # Dense and sparse rows may break ties between neighbours differently, so no mixing there.
    plain_form = np.array if forms[0] in DENSE_FORMS else sp.csr_array
    expected = fit_predict(ESTIMATORS[name], plain_form(X), Y, plain_form(X_new))
    new = FORMS[forms[1]](X_new) if "frame" not in forms else FORMS[forms[0]](X_new)
    new = frame(X_new) if forms[0] == "frame" else new
    train = frame(X) if "frame" in forms else FORMS[forms[0]](X)
    new = frame(X_new) if "frame" in forms else new
    labels = FORMS[form_labels](Y.astype(label_type))
    found = fit_predict(ESTIMATORS[name], train, labels, new)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-5, atol=1e-7)


@pytest.mark.filterwarnings("ignore")
@holds_for(
    30,
    name=st.sampled_from(["mrmp", "mrmp, few tokens", "mrmp, paper"]),
    problem=problems(min_rows=2),
    form=st.sampled_from(sorted(SPARSE_FORMS)),
)
def test_mrmp_sees_dense_and_sparse_rows_alike(name, problem, form):
    X, Y, X_new = problem
    dense = fit_predict(ESTIMATORS[name], X, Y, X_new)
    sparse = fit_predict(ESTIMATORS[name], FORMS[form](X), Y, FORMS[form](X_new))
    np.testing.assert_array_equal(sparse[0], dense[0])
    np.testing.assert_array_equal(sparse[1], dense[1])


@pytest.mark.filterwarnings("ignore")
@holds_for(
    50,
    name=NAMES,
    problem=problems(cells=EXTREME, min_rows=4),
    form=st.sampled_from(sorted(FORMS)),
    as_float32=st.booleans(),
)
def test_extreme_values_give_finite_answers(name, problem, form, as_float32):
    X, Y, X_new = problem
    if as_float32:
        X, X_new = (np.clip(A, -3e38, 3e38).astype(np.float32) for A in (X, X_new))
    answer = fit_predict(ESTIMATORS[name], FORMS[form](X), Y, FORMS[form](X_new))
    if answer is not None:
        check_answer(answer, len(X_new), Y.shape[1])


@pytest.mark.filterwarnings("ignore")
@holds_for(
    25,
    name=st.sampled_from(sorted(ESTIMATORS)),
    problem=problems(min_rows=4),
    form=st.sampled_from(sorted(FORMS)),
    bad=st.sampled_from([np.nan, np.inf, -np.inf]),
    where=st.sampled_from(["fit", "predict"]),
    place=st.integers(0, 100),
)
def test_values_that_are_not_finite_are_refused(name, problem, form, bad, where, place):
    X, Y, X_new = problem
    spoilt = X if where == "fit" else X_new
    spoilt.flat[place % spoilt.size] = bad
    estimator = ESTIMATORS[name]
    if where == "predict":
        estimator.fit(FORMS[form](X), Y)
        with pytest.raises(ValueError, match=r"(?i)nan|inf"):
            estimator.predict(FORMS[form](X_new))
    else:
        with pytest.raises(ValueError, match=r"(?i)nan|inf"):
            estimator.fit(FORMS[form](X), Y)


def wrong_targets(Y):
    """Targets that no classifier takes, by what is wrong with them."""
    return {
        "other values": 2 * Y + 2,
        "signs": np.where(np.arange(Y.size).reshape(Y.shape) == 0, -1, 2 * Y - 1),
        "fractions": Y + 0.5,
        "a missing value": np.where(np.arange(Y.size).reshape(Y.shape) == 0, np.nan, Y),
        "too short": Y[1:],
        "too long": np.vstack([Y, Y[:1]]),
        "no columns": Y[:, :0],
        "no rows": Y[:0],
        "three dimensions": Y[:, :, None],
        "texts": np.where(Y == 1, "yes", "no"),
        "nothing": None,
        "a number": 1,
        "sparse other values": sp.csr_array(3 * Y + 2),
        "sparse too short": sp.csr_array(Y[1:]),
        "counted twice": sp.csr_array(
            (
                np.ones(2 * Y.size),
                np.repeat(np.tile(np.arange(Y.shape[1]), len(Y)), 2),
                2 * Y.shape[1] * np.arange(len(Y) + 1),
            ),
            shape=Y.shape,
        ),
    }


@pytest.mark.filterwarnings("ignore")
@holds_for(
    25,
    name=st.sampled_from(sorted(ESTIMATORS)),
    problem=problems(min_rows=4),
    wrong=st.sampled_from(sorted(wrong_targets(np.eye(2)))),
)
def test_targets_that_mean_nothing_are_refused(name, problem, wrong):
    X, Y, _ = problem
    y = wrong_targets(Y)[wrong]
    with pytest.raises(DOCUMENTED) as error:
        ESTIMATORS[name].fit(X, y)
    assert str(error.value)


@pytest.mark.filterwarnings("ignore")
@holds_for(
    15,
    name=st.sampled_from(sorted(ESTIMATORS)),
    problem=problems(min_rows=4),
    wrong=st.sampled_from(["one column more", "one column less", "no rows", "a vector", "a text"]),
    sparse=st.booleans(),
)
def test_rows_of_another_shape_are_refused(name, problem, wrong, sparse):
    X, Y, X_new = problem
    estimator = ESTIMATORS[name].fit(X, Y)
    rows = {
        "one column more": np.hstack([X_new, X_new[:, :1]]),
        "one column less": X_new[:, 1:],
        "no rows": X_new[:0],
        "a vector": X_new[0],
        "a text": "text",
    }[wrong]
    if sparse and wrong not in ("a vector", "a text"):
        rows = sp.csr_array(rows)
    with pytest.raises(DOCUMENTED):
        estimator.predict(rows)


@pytest.mark.filterwarnings("ignore")
@holds_for(
    10,
    name=st.sampled_from(sorted(ESTIMATORS)),
    problem=problems(min_rows=4),
)
def test_columns_of_a_frame_may_share_a_name(name, problem):
    X, Y, X_new = problem
    labels = frame(Y)
    labels.columns = ["same"] * Y.shape[1]
    answer = fit_predict(ESTIMATORS[name], X, labels, X_new)
    assert answer is not None
    check_answer(answer, len(X_new), Y.shape[1])
