"""`MLRNNClassifier`: label sets as predictions, orders of labels, the publication's settings."""

import numpy as np
import pytest
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_mrmp import MLRNNClassifier, compare_classifiers, load
from sklearn_mrmp._network.architecture import find_architecture
from tests.peers.networks import mlrnn


def searched(clf, X):
    """Best label sets of the network's own search."""
    return clf._ensemble.most_probable_sets(clf._encoded(clf._check_rows(X)))


@pytest.mark.parametrize("label_order", ["f2r", "free"])
@pytest.mark.parametrize("metric", ["accuracy", "f1_micro", "f1_macro"])
def test_from_labels_that_nobody_has_it_learns_empty_sets(related, label_order, metric):
    X, Y = related
    clf = mlrnn(label_order=label_order, metric=metric).fit(X, np.zeros_like(Y))
    assert not clf.predict(X).any()


def test_for_subset_accuracy_the_most_probable_set_is_predicted(related):
    X, Y = related
    clf = mlrnn(metric="accuracy", beam_width=64).fit(X, Y)
    np.testing.assert_array_equal(clf.predict(X), searched(clf, X))
    P = clf.predict_proba(X)
    np.testing.assert_array_equal(clf._labels_at(P, X, "accuracy", "optimal"), searched(clf, X))


@pytest.mark.parametrize(
    "point", [("accuracy", "threshold"), ("f1_micro", "optimal"), ("accuracy", 0.3)]
)
def test_other_decisions_are_made_from_probabilities(related, point):
    X, Y = related
    clf = mlrnn().fit(X, Y)
    P = clf.predict_proba(X)
    expected = clf._points.predict(P, *point)
    np.testing.assert_array_equal(clf._labels_at(P, X, *point), expected)


@pytest.mark.parametrize(
    "options",
    [{"n_members": 2}, {"cv": 2}, {"voters": ("network", "linear")}],
    ids=lambda options: next(iter(options)),
)
def test_several_voters_or_networks_decide_from_probabilities(related, options):
    X, Y = related
    clf = mlrnn(**options).fit(X, Y)
    assert not clf._finds_sets("accuracy", "optimal")
    assert clf.set_params(metric="accuracy").predict(X).shape == Y.shape


def test_label_sets_that_are_mixed_in_change_probabilities_and_so_decisions(related):
    X, Y = related
    clf = mlrnn(label_sets=True, metric="accuracy").fit(X, Y)
    assert clf._finds_sets("accuracy", "optimal") == (clf.label_sets_ is None)


def test_a_comparison_scores_the_sets_that_the_network_finds(related):
    X, Y = related
    half = FunctionTransformer(lambda X: X / 2)
    estimators = {"plain": mlrnn(), "piped": make_pipeline(half, mlrnn())}
    data = X[:120], Y[:120], X[120:], Y[120:]
    result = compare_classifiers(estimators, *data, seeds=[0], isolate=False)
    fit, valid = train_test_split(np.arange(120), test_size=0.1, random_state=0)
    for name, scale in (("plain", 1.0), ("piped", 0.5)):
        rows = [scale * X[part] for part in (fit, valid, np.arange(120, 160))]
        clf = mlrnn().fit(rows[0], Y[fit], X_val=rows[1], y_val=Y[valid])
        right = (searched(clf, rows[2]) == Y[120:]).all(axis=1).mean()
        assert result.scores(name, "optimal", "accuracy") == [right]


def test_the_set_of_a_row_does_not_depend_on_the_rows_beside_it(related):
    X, Y = related
    clf = mlrnn(metric="accuracy").fit(X, Y)
    together = clf.predict(X)
    alone = np.vstack([clf.predict(X[[row]]) for row in range(20)])
    np.testing.assert_array_equal(alone, together[:20])


def test_labels_are_named_by_frequency_in_the_training_rows(related):
    X, Y = related
    frequent = mlrnn().fit(X, Y, X_val=X, y_val=Y).label_order_
    assert (np.diff(Y.sum(axis=0)[frequent]) <= 0).all()
    rare = mlrnn(label_order="r2f").fit(X, Y, X_val=X, y_val=Y).label_order_
    assert (np.diff(Y.sum(axis=0)[rare]) >= 0).all()
    assert mlrnn(label_order="free").fit(X, Y).label_order_ is None


def test_an_order_is_given_by_numbers_or_by_names(related, tmp_path):
    pd = pytest.importorskip("pandas")
    X, Y = related
    names = [f"topic {number}" for number in range(6)]
    Y, order = pd.DataFrame(Y, columns=names), [2, 0, 5, 1, 4, 3]
    numbered = mlrnn(label_order=np.array(order)).fit(X, Y)
    named = mlrnn(label_order=[names[number] for number in order]).fit(X, Y)
    assert numbered.label_order_.tolist() == named.label_order_.tolist() == order
    np.testing.assert_array_equal(numbered.predict_proba(X), named.predict_proba(X))
    named.save(tmp_path / "model")
    assert load(tmp_path / "model").label_order_.tolist() == order


@pytest.mark.parametrize(
    ("label_order", "message"),
    [
        ([0, 1, 2], "each of the 6 labels once.*3 entries, 3 of them different"),
        ([0, 1, 2, 3, 4, 4], "6 entries, 5 of them different"),
        (["a", "b", "c", "d", "e", "f"], "'a', which is the name of no label"),
        ("alphabetical", "The 'label_order' parameter of MLRNNClassifier"),
    ],
)
def test_what_is_no_order_of_all_labels_is_refused(related, label_order, message):
    with pytest.raises(ValueError, match=message):
        mlrnn(label_order=label_order).fit(*related)


@pytest.mark.parametrize(
    "wrong",
    [
        {"label_order": [0, 0, 1]},
        {"label_order": [0, 1, 9]},
        {"label_order": [0, 1]},
        {"label_order": "f2r"},
        {"label_order": [0.0, 1.0, 2.0]},
        {"length_penalty": float("nan")},
        {"beam_width": 0},
        {"masked": "yes"},
    ],
    ids=str,
)
def test_arguments_that_make_no_network_are_refused_in_files(wrong):
    sizes = dict.fromkeys(("d_model", "d_inner", "d_label", "beam_width", "max_labels"), 4)
    sound = {"n_labels": 3, "dropout": 0.1, "masked": True, "length_penalty": 0.0}
    sound |= sizes | {"architecture": "default", "label_order": [2, 0, 1]}
    architecture = find_architecture("mlrnn")
    architecture.check_arguments(sound)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        architecture.check_arguments(sound | wrong)


@pytest.mark.parametrize("options", [{"masked": False}, {"label_order": "free"}], ids=str)
def test_other_ways_to_name_labels_are_saved_with_the_model(related, options, tmp_path):
    X, Y = related
    clf = mlrnn(metric="accuracy", **options).fit(X, Y)
    clf.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), clf.predict(X))


def test_label_embeddings_have_the_width_of_labels(related):
    assert mlrnn().fit(*related).label_embeddings_.shape == (6, 6)


def test_the_papers_settings(related):
    clf = MLRNNClassifier.paper("Reuters", label_order="r2f")
    assert (clf.d_model, clf.d_inner, clf.d_label, clf.beam_width) == (512, 1024, 256, 5)
    assert (clf.masked, clf.length_penalty, clf.max_epochs, clf.lr) == (False, 1.0, 40, 2e-4)
    assert MLRNNClassifier.paper().max_epochs == 20
    assert (clf.metric, clf.decision) == ("accuracy", "optimal")
    small = MLRNNClassifier.paper(d_model=8, d_inner=8, d_label=4, max_epochs=1).fit(*related)
    assert small.net_.module_.reader.norm is None
