"""Stratified splitters: scikit-learn's interface, exact sizes, and every kind of target."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_validate,
)
from sklearn.tree import DecisionTreeClassifier

from sklearn_mrmp import (
    MrMPClassifier,
    MultilabelStratifiedKFold,
    MultilabelStratifiedShuffleSplit,
    multilabel_train_test_split,
)

RNG = np.random.default_rng(0)
Y = (RNG.random((103, 9)) < np.linspace(0.02, 0.6, 9)).astype(int)
X = RNG.normal(size=(103, 3))
KINDS = [MultilabelStratifiedKFold, MultilabelStratifiedShuffleSplit]


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def splits(splitter, y=Y):
    return [(train.tolist(), test.tolist()) for train, test in splitter.split(np.empty(103), y)]


def shuffled(seed, **options):
    return [
        MultilabelStratifiedKFold(4, shuffle=True, random_state=seed, **options),
        MultilabelStratifiedShuffleSplit(4, random_state=seed, **options),
    ]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("n_splits", [2, 3, 5, 30, 103])
def test_folds_hold_out_each_row_once_and_differ_by_one_row(n_splits, shuffle, order):
    seed = 0 if shuffle else None
    splitter = MultilabelStratifiedKFold(n_splits, shuffle=shuffle, random_state=seed, order=order)
    folds = splits(splitter)
    assert len(folds) == splitter.get_n_splits() == n_splits
    assert sorted(row for _, test in folds for row in test) == list(range(103))
    assert {len(test) for _, test in folds} <= {103 // n_splits, 103 // n_splits + 1}
    for train, test in folds:
        assert sorted(train + test) == list(range(103))


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ({}, (92, 11)),
        ({"test_size": 0.25}, (77, 26)),
        ({"train_size": 40}, (40, 63)),
        ({"test_size": 20, "train_size": 0.5}, (51, 20)),
    ],
)
def test_shuffled_splits_have_the_sizes_of_scikit_learns(sizes, expected):
    for splitter in (
        MultilabelStratifiedShuffleSplit(3, random_state=0, **sizes),
        StratifiedShuffleSplit(3, random_state=0, **sizes),
    ):
        for train, test in splitter.split(X, Y[:, -1]):
            assert (len(train), len(test)) == expected
            assert not set(train) & set(test)


@pytest.mark.parametrize("test_size", [103, 0, 1.5, -0.1])
def test_sizes_that_leave_no_rows_are_refused_when_splitting(test_size):
    with pytest.raises(ValueError, match="test_size"):
        splits(MultilabelStratifiedShuffleSplit(test_size=test_size))


@pytest.mark.parametrize("position", [0, 1])
def test_splits_repeat_with_the_seed_alone(position):
    first, again, other = (splits(shuffled(seed)[position]) for seed in (0, 0, 1))
    assert first == again != other


def test_without_shuffle_the_first_rows_of_a_label_set_come_first():
    folds = splits(MultilabelStratifiedKFold(2), np.repeat([[1, 0], [0, 1]], [52, 51], axis=0))
    assert max(row for row in folds[0][1] if row < 52) == 25
    assert folds == splits(MultilabelStratifiedKFold(2), np.repeat([3, 7], [52, 51]))


def test_shuffled_splits_differ_from_each_other():
    tests = [test for _, test in splits(MultilabelStratifiedShuffleSplit(5, random_state=0))]
    assert len({tuple(sorted(test)) for test in tests}) == 5


def as_frame(values):
    return pytest.importorskip("pandas").DataFrame(values)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    "form",
    [
        sp.csr_matrix,
        sp.csr_array,
        sp.coo_array,
        as_frame,
        np.ndarray.tolist,
        lambda values: values.astype(bool),
        lambda values: values.astype(np.float32),
        lambda values: as_frame(values).astype("Int64"),
    ],
)
def test_all_forms_of_labels_give_the_same_splits(form, order):
    for splitter in shuffled(3, order=order):
        assert splits(splitter, form(Y)) == splits(splitter)


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("counts", [(70, 33), (50, 31, 14, 5, 3)])
def test_classes_of_a_vector_are_split_like_stratified_k_fold(counts, shuffle):
    y = np.repeat(np.array(list("edcba"))[: len(counts)], counts)[np.argsort(X[:, 0])]
    seed = 0 if shuffle else None

    def counts_in_folds(kind, vector):
        tests = [t for _, t in kind(3, shuffle=shuffle, random_state=seed).split(X, vector)]
        return [sorted(np.sum(y[test] == name) for test in tests) for name in np.unique(y)]

    expected = counts_in_folds(StratifiedKFold, y)
    for vector in (y, y[:, np.newaxis], y.tolist()):
        assert counts_in_folds(MultilabelStratifiedKFold, vector) == expected


@pytest.mark.parametrize(
    "labels",
    [
        np.zeros((103, 4), dtype=int),
        np.ones((103, 4), dtype=int),
        np.eye(103, dtype=int),
        sp.csr_array(Y[:, :1]),
        np.zeros(103, dtype=int),
    ],
    ids=["no labels", "all labels", "sets that occur once", "one label", "one class"],
)
@pytest.mark.parametrize("order", [1, 2])
def test_degenerate_labels_are_split_silently(labels, order):
    for splitter in shuffled(0, order=order):
        for train, test in splits(splitter, labels):
            assert train
            assert test


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "needs labels"),
        (np.full((103, 2), 2), "must hold only 0 and 1, but it holds 2"),
        (np.full((103, 2), np.nan), "must hold only 0 and 1, but it holds nan"),
        (np.linspace(0, 1, 103), "got a continuous target of shape"),
        (Y[:50], "inconsistent numbers of samples"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_other_targets_are_refused(kind, y, message):
    with pytest.raises(ValueError, match=message):
        splits(kind(), y)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_splits": 1}, ValueError, "at least 2, got 1"),
        ({"n_splits": 2.0}, ValueError, "whole number, got 2.0"),
        ({"n_splits": True}, ValueError, "whole number, got True"),
        ({"shuffle": "yes"}, TypeError, "True or False, got 'yes'"),
        ({"random_state": 0}, ValueError, "no effect without shuffle"),
        ({"order": 3}, ValueError, r"order must be 1 \(labels\) or 2"),
    ],
)
def test_impossible_parameters_are_refused_at_once(options, error, message):
    with pytest.raises(error, match=message):
        MultilabelStratifiedKFold(**options)


def test_more_folds_than_rows_are_refused():
    with pytest.raises(ValueError, match="n_splits=104 folds need as many rows; got n_samples=103"):
        splits(MultilabelStratifiedKFold(104))


def test_representations_name_the_parameters():
    shown = repr(MultilabelStratifiedKFold(3, order=2))
    assert " ".join(shown.split()) == (
        "MultilabelStratifiedKFold(n_splits=3, order=2, random_state=None, shuffle=False)"
    )
    assert "test_size=0.2" in repr(MultilabelStratifiedShuffleSplit(3, test_size=0.2))


@pytest.mark.parametrize("position", [0, 1])
def test_searches_and_cross_validation_take_the_splitters(position):
    splitter = shuffled(0)[position]
    tree = DecisionTreeClassifier(random_state=0)
    result = cross_validate(tree, X, Y, cv=splitter, return_indices=True)
    assert [test.tolist() for test in result["indices"]["test"]] == [t for _, t in splits(splitter)]
    search = clone(GridSearchCV(tree, {"max_depth": [1, 2]}, cv=splitter))
    assert search.fit(X, Y).n_splits_ == 4
    vector = GridSearchCV(LogisticRegression(), {"C": [1]}, cv=splitter).fit(X, Y[:, -1])
    assert vector.n_splits_ == 4


def test_the_classifier_cross_fits_on_the_folds():
    clf = MrMPClassifier(voters=("linear",), cv=MultilabelStratifiedKFold(3), random_state=0)
    assert clone(clf).fit(X, Y).predict(X).shape == Y.shape


def test_arrays_are_split_alike_in_the_order_of_scikit_learn():
    numbers, texts = np.arange(103), [str(row) for row in range(103)]
    parts = multilabel_train_test_split(numbers, texts, sp.csr_array(Y), random_state=0)
    train, test, texts_train, texts_test, Y_train, Y_test = parts
    assert (len(train), len(test)) == (77, 26)
    assert texts_train == [str(row) for row in train]
    assert texts_test == [str(row) for row in test]
    np.testing.assert_array_equal(Y_train.toarray(), Y[train])
    np.testing.assert_array_equal(Y_test.toarray(), Y[test])


def test_the_labels_to_stratify_by_can_be_given():
    by_last = multilabel_train_test_split(np.arange(103), Y, random_state=0)
    given = multilabel_train_test_split(np.arange(103), X, stratify=Y, random_state=0)
    np.testing.assert_array_equal(by_last[1], given[1])
    with pytest.raises(ValueError, match="at least one array"):
        multilabel_train_test_split(stratify=Y)


def test_the_global_random_state_is_left_alone():
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    splits(MultilabelStratifiedKFold(3))
    multilabel_train_test_split(Y, random_state=0)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
