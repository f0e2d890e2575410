"""``warm_start=True``: where training starts, what stays, what is learned anew, what is refused."""

import signal

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from skorch.callbacks import Callback

from sklearn_mrmp import MrMPClassifier, load
from sklearn_mrmp._ensemble.row_marks import row_checksums
from sklearn_mrmp.datasets import make_related_labels
from tests.peers.networks import PEERS
from tests.tiny import PLAIN, tiny

pd = pytest.importorskip("pandas")
MAKERS = {"mrmp": tiny, **PEERS}
each = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
# A training in which no weight moves.
STILL = {"lr": 1e-30, "max_epochs": 1}
NAMES = list("abcdef")


class AtStart(Callback):
    """Keep the weights that trainings begin with."""

    def __init__(self):
        self.seen = []

    def on_train_begin(self, net, **kwargs):
        self.seen.append({n: w.detach().clone() for n, w in net.module_.named_parameters()})


def weights_of(clf):
    nets = clf._ensemble.voters["network"].nets
    return [{n: w.detach().clone() for n, w in net.module_.named_parameters()} for net in nets]


def assert_start_from(weights, before):
    """Check that trainings begin with weights from before; words that are new have no such."""
    assert len(weights) == len(before)
    for ours, theirs in zip(weights, before, strict=True):
        assert ours.keys() == theirs.keys()
        for name, weight in ours.items():
            known = theirs[name] != 0
            assert torch.equal(weight[known], theirs[name][known]), name
            assert "embedding" in name or torch.equal(weight, theirs[name]), name


def network_logits(clf, X):
    rows = clf._encoded(clf._check_rows(X))
    return clf._ensemble.voters["network"].logits(rows)


@each
@pytest.mark.parametrize(
    "options",
    [{}, {"cv": 2}, {"n_members": 2}, {"cv": 2, "n_members": 2}],
    ids=["plain", "folds", "members", "both"],
)
def test_each_network_starts_from_the_weights_that_it_had(make, related, options):
    X, Y = related
    clf = make(**options, warm_start=True, max_epochs=1).fit(X[:100], Y[:100])
    before, start = weights_of(clf), AtStart()
    clf.set_params(callbacks=[start]).fit(X, Y)
    assert_start_from(start.seen, before)
    trained = weights_of(clf)
    assert any(not torch.equal(trained[0][name], weight) for name, weight in before[0].items())


def test_without_it_weights_are_drawn_again(related):
    X, Y = related
    clf, start = tiny(**PLAIN, max_epochs=1), AtStart()
    before = weights_of(clf.fit(X, Y))
    clf.set_params(callbacks=[start]).fit(X, Y)
    name = "output"
    assert not torch.equal(start.seen[0][name], before[0][name])


def test_the_training_on_all_rows_starts_there_too(related):
    clf = tiny(**PLAIN, refit=True, warm_start=True, max_epochs=1).fit(*related)
    before, start = weights_of(clf), AtStart()
    clf.set_params(callbacks=[start]).fit(*related)
    assert_start_from(start.seen, [*before, *before])


@each
def test_labels_keep_their_vectors_in_whatever_order_they_come(make, related):
    X, Y = related
    clf = make(voters=("network",), warm_start=True).fit(X, pd.DataFrame(Y, columns=NAMES))
    before, embeddings = network_logits(clf, X), clf.label_embeddings_
    turned = pd.DataFrame(Y[:, ::-1], columns=NAMES[::-1])
    clf.set_params(**STILL).fit(X, turned)
    assert clf.label_names_.tolist() == NAMES[::-1]
    np.testing.assert_allclose(network_logits(clf, X), before[:, ::-1], atol=1e-4)
    np.testing.assert_allclose(clf.label_embeddings_, embeddings[::-1], atol=1e-5)


@each
def test_labels_are_added_by_name_anywhere_and_without_names_at_the_end(make, related):
    X, Y = related
    more = np.column_stack([Y[:, 1] * Y[:, 2], Y])
    clf = make(voters=("network",), warm_start=True).fit(X, pd.DataFrame(Y, columns=NAMES))
    clf.fit(X, pd.DataFrame(more, columns=["new", *NAMES]))
    assert clf.label_names_.tolist() == ["new", *NAMES]
    clf.fit(X, np.column_stack([more, Y[:, 0]]))
    assert clf.label_names_.tolist() == ["new", *NAMES, "7"]
    assert clf.predict_proba(X).shape == (len(Y), 8)


def test_lists_of_names_need_not_name_every_label(related):
    X, Y = related
    lists = [[NAMES[j] for j in np.flatnonzero(row)] for row in Y]
    clf = tiny(warm_start=True).fit(X, lists)
    later = [[*(name for name in row if name != "b"), "aa"] for row in lists]
    later[0].remove("aa")
    clf.fit(X, later)
    assert clf.label_names_.tolist() == ["a", "aa", *NAMES[1:]]


def test_classes_of_a_vector_may_be_added(related):
    X, y = related[0], np.arange(len(related[1])) % 3
    clf = tiny(**PLAIN, warm_start=True).fit(X, y)
    bias = clf.net_.module_.bias.detach().clone()
    clf.set_params(**STILL).fit(X, np.where(np.arange(len(y)) % 7 == 0, -1, y))
    assert clf.classes_.tolist() == [-1, 0, 1, 2]
    assert torch.equal(clf.net_.module_.bias[1:], bias)
    with pytest.raises(ValueError, match=r"y lacks 1 of them: -1"):
        clf.fit(X, y)
    with pytest.raises(ValueError, match="a multiclass target, but y is now a binary target"):
        clf.fit(X, y == 0)


@pytest.mark.parametrize("first", [NAMES, None], ids=["names", "numbers"])
def test_missing_labels_are_named(related, first):
    X, Y = related
    clf = tiny(warm_start=True).fit(X, Y if first is None else pd.DataFrame(Y, columns=first))
    few, missing = (Y[:, :5], "'5'") if first is None else (None, "'b'")
    few = pd.DataFrame(np.delete(Y, 1, 1), columns=list("acdef")) if few is None else few
    expected = clf.predict_proba(X)
    with pytest.raises(ValueError, match=rf"y lacks 1 of them: {missing}\. Add a column of zeros"):
        clf.fit(X, few)
    np.testing.assert_array_equal(clf.predict_proba(X), expected)  # as it was


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"d_model": 16}, "d_model=8, but d_model is now 16"),
        ({"n_heads": 1}, "n_heads=2, but n_heads is now 1"),
        ({"architecture": "paper"}, "architecture='default', but architecture is now 'paper'"),
        ({"n_encoder_layers": 1}, "n_encoder_layers=0, but n_encoder_layers is now 1"),
        ({"n_members": 2}, "networks was 1, and cv and n_members now ask for 2"),
        ({"cv": 3}, "networks was 1, and cv and n_members now ask for 3"),
        ({"input_type": "vectors"}, "reads input_type='features', but input_type is now 'vectors'"),
    ],
    ids=lambda value: ", ".join(value) if isinstance(value, dict) else "",
)
def test_what_makes_another_network_is_refused_and_changes_nothing(related, change, message):
    X, Y = related
    clf = tiny(**PLAIN, warm_start=True).fit(X, Y)
    expected = clf.predict_proba(X)
    with pytest.raises(ValueError, match=message):
        clf.set_params(**change).fit(X, Y)
    np.testing.assert_array_equal(clf.predict_proba(X), expected)


def test_other_columns_are_refused_as_everywhere(related):
    X, Y = related
    clf = tiny(**PLAIN, warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match="X has 30 features, but MrMPClassifier is expecting 40"):
        clf.fit(X[:, :30], Y)
    table = pd.DataFrame(X.toarray(), columns=[f"w{j}" for j in range(40)])
    clf = tiny(**PLAIN, warm_start=True).fit(table, Y)
    with pytest.raises(ValueError, match="feature names should match those that were passed"):
        clf.fit(table.rename(columns={"w3": "other"}), Y)
    assert clf.fit(table, Y).feature_names_in_[3] == "w3"


def test_rates_and_dropout_may_change(related):
    clf = tiny(**PLAIN, warm_start=True).fit(*related)
    clf.set_params(dropout=0.0, lr=1e-3, batch_size=32, feature_dropout=0.0, relations=None)
    assert clf.fit(*related).net_.module__dropout == 0.0


def test_auto_stays_what_the_network_has(related):
    X, Y = related
    clf = tiny(d_model=12, n_heads=3, warm_start=True).fit(X, Y)
    clf.set_params(d_model="auto", n_heads="auto").fit(X, Y)
    assert (clf.net_.module__d_model, clf.net_.module__n_heads) == (12, 3)


@pytest.fixture(scope="module")
def bags():
    """Rows that get a short training first."""
    X, Y, _ = make_related_labels(120, 6, n_features=200, random_state=0)
    return X, Y


def test_a_short_training_stays_one_also_with_a_number_of_epochs(bags, monkeypatch):
    monkeypatch.setattr("sklearn_mrmp._ensemble.fitting._PAYS", 1.0)  # so that it does not pay
    X, Y = bags
    clf = MrMPClassifier(d_model=8, random_state=0, n_threads=1, warm_start=True).fit(X, Y)
    assert (clf.n_iter_, clf.net_.module__n_encoder_layers) == (8, 0)
    short = clf.net_.lr
    clf.fit(X, Y)
    assert (clf.n_iter_, clf.net_.module__n_encoder_layers, clf.net_.lr) == (8, 0, short)
    clf.set_params(max_epochs=2).fit(X, Y)
    assert (clf.n_iter_, clf.net_.module__n_encoder_layers, clf.net_.lr) == (2, 0, short)


def test_a_training_of_full_length_is_not_preceded_by_a_short_one(bags, monkeypatch):
    monkeypatch.setattr("sklearn_mrmp._ensemble.fitting._PAYS", -10.0)  # so that it pays
    X, Y = bags
    start = AtStart()
    options = {"d_model": 8, "batch_size": 64, "random_state": 0, "n_threads": 1}
    clf = MrMPClassifier(**options, warm_start=True).fit(X, Y)
    assert (clf.n_iter_, clf.net_.module__n_encoder_layers) == (30, 2)
    clf.set_params(callbacks=[start], max_epochs=1).fit(X, Y)
    assert len(start.seen) == 1
    assert (clf.n_iter_, clf.net_.module__n_encoder_layers) == (1, 2)


def held_out(clf, X):
    """Rows of a fit that were held out, by what the classifier keeps."""
    return np.flatnonzero(clf._row_marks.parts_of(row_checksums(sp.csr_array(X))) >= 0)


def test_rows_that_the_network_was_trained_on_are_not_held_out_again(related):
    X, Y = related
    clf = tiny(**PLAIN, warm_start=True, cv=0.2).fit(X[:100], Y[:100])
    first = held_out(clf, X)
    assert len(first) == 20
    clf.fit(X, Y)
    second = held_out(clf, X)
    assert set(second[second < 100]) == set(first)
    assert np.count_nonzero(second >= 100) == 12
    clf.fit(X[::-1], Y[::-1])
    np.testing.assert_array_equal(held_out(clf, X), second)


def test_rows_stay_in_their_folds(related):
    X, Y = related
    clf = tiny(**PLAIN, warm_start=True, cv=3, max_epochs=1).fit(X[:90], Y[:90])
    marks = row_checksums(sp.csr_array(X))
    first = clf._row_marks.parts_of(marks)[:90]
    second = clf.fit(X, Y)._row_marks.parts_of(marks)
    np.testing.assert_array_equal(second[:90], first)
    assert set(second[90:]) <= {0, 1, 2}


def test_checksums_of_rows_are_kept_only_where_they_are_wanted(related):
    assert not hasattr(tiny(max_epochs=1).fit(*related), "_row_marks")
    without = tiny(voters=("linear",), warm_start=True).fit(*related)
    assert not hasattr(without, "_row_marks")


def test_words_that_come_later_are_learned(related):
    X, Y = related
    early = X[:100].copy()
    early = sp.csr_array(early.toarray() * (np.arange(40) >= 10))  # ten words are not there yet
    clf = tiny(**PLAIN, warm_start=True).fit(early, Y[:100])
    vectors = clf.net_.module_.embedding.presence.weight.detach().clone()
    assert not vectors[1:11].any()
    clf.fit(X, Y)
    later = clf.net_.module_.embedding.presence.weight
    assert later[1:11].any(dim=1).all()
    clf.set_params(**STILL).fit(X, Y)
    assert torch.equal(clf.net_.module_.embedding.presence.weight, later)


@pytest.mark.parametrize("kind", ["sequence", "vectors", "states", "counts"])
def test_every_kind_of_rows_is_gone_on_with(kind):
    rng = np.random.default_rng(0)
    rows = {
        "sequence": rng.integers(1, 20, (60, 7)) * (np.arange(7) < rng.integers(1, 8, (60, 1))),
        "vectors": sp.csr_array(
            np.hstack([rng.normal(size=(60, 5)), rng.integers(0, 3, (60, 9)) // 2])
        ),
        "states": [rng.normal(size=(n, 5)).astype(np.float32) for n in rng.integers(1, 4, 60)],
        "counts": sp.csr_array(rng.integers(0, 9, (60, 30)) // 6),
    }[kind]
    Y = (rng.random((60, 4)) < 0.4).astype(int)
    input_type = "features" if kind == "counts" else kind
    clf = tiny(input_type=input_type, warm_start=True).fit(rows[:40], Y[:40])
    before = network_logits(clf, rows[:40])
    clf.set_params(**STILL).fit(rows[:40], Y[:40])
    np.testing.assert_allclose(network_logits(clf, rows[:40]), before, atol=1e-4)
    clf.set_params(max_epochs=2, lr=0.01).fit(rows, Y)
    assert np.isfinite(clf.predict_proba(rows)).all()


def test_ids_of_tokens_that_are_too_large_are_unknown(related):
    rng, Y = np.random.default_rng(0), related[1]
    X = rng.integers(1, 15, (len(Y), 6))
    clf = tiny(**PLAIN, input_type="sequence", warm_start=True).fit(X, Y)
    X[:20, 0] = 40
    P = clf.fit(X, Y).predict_proba(X)
    assert np.isfinite(P).all()
    assert clf.net_.module_.embedding.presence.weight.shape[0] == 16


@pytest.mark.parametrize("encoder_lr", [0.0, 1e-3], ids=["as it is", "fine-tuned"])
@pytest.mark.parametrize("from_file", [False, True], ids=["in memory", "from a file"])
def test_text_encoders_go_on_as_they_are(encoder_lr, from_file, tmp_path):
    pytest.importorskip("transformers")
    from tests.tiny_encoder import tiny_encoder

    rng = np.random.default_rng(0)
    words = np.array(["sea", "ship", "desert", "sun", "camel", "fish"])
    texts = [" ".join(rng.choice(words, size=rng.integers(1, 9))) for _ in range(40)]
    Y = np.array([[word in text for word in ("sea", "camel")] for text in texts]).astype(int)
    encoder = tiny_encoder(texts)
    options = {**PLAIN, "encoder": encoder, "encoder_lr": encoder_lr, "max_epochs": 1}
    clf = tiny(**options, warm_start=True).fit(texts[:30], Y[:30])
    if from_file:
        clf.save(tmp_path / "model")
        clf = load(tmp_path / "model").set_params(encoder=encoder, warm_start=True)
    before, start = weights_of(clf), AtStart()
    clf.set_params(callbacks=[start]).fit(texts, Y)
    assert_start_from(start.seen, before)
    with pytest.raises(ValueError, match="goes on from a network that reads"):
        clf.set_params(encoder=tiny_encoder([*texts, "another word"], seed=3)).fit(texts, Y)
    with pytest.raises(ValueError, match="keep encoder_lr above 0, or at 0"):
        clf.set_params(encoder=encoder, encoder_lr=1e-3 - encoder_lr).fit(texts, Y)


@each
def test_a_loaded_model_goes_on_as_the_one_that_was_saved(make, related, tmp_path):
    X, Y = related
    clf = make(warm_start=True, max_epochs=1).fit(X[:100], Y[:100])
    clf.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.warm_start
    both = (c.set_params(max_epochs=2).fit(X, Y).predict_proba(X) for c in (clf, loaded))
    np.testing.assert_array_equal(*both)


def test_a_model_that_was_fitted_without_it_goes_on_as_well(related, tmp_path):
    X, Y = related
    tiny(**PLAIN, max_epochs=1).fit(X[:100], Y[:100]).save(tmp_path / "model")
    clf, start = load(tmp_path / "model"), AtStart()
    before = weights_of(clf)
    clf.set_params(warm_start=True, callbacks=[start]).fit(X, Y)
    assert_start_from(start.seen, before)


def test_without_a_network_before_or_now_a_fit_is_a_fit(related):
    X, Y = related
    clf = tiny(voters=("linear", "neighbors"), warm_start=True).fit(X, Y)
    clf.fit(X[:, :20], Y[:, :4])
    assert clf.predict_proba(X[:, :20]).shape == (len(Y), 4)
    fresh = tiny(max_epochs=1).fit(X, Y).predict_proba(X)
    clf.set_params(voters=("network", "linear", "neighbors"), max_epochs=1).fit(X, Y)
    np.testing.assert_array_equal(clf.predict_proba(X), fresh)


def test_other_voters_are_fitted_on_the_rows_of_the_call(related):
    X, Y = related
    clf = tiny(warm_start=True, max_epochs=1).fit(X, Y)
    clf.fit(X[:50], Y[:50])
    assert clf.voters_.neighbors.model.n_rows_ == 50
    linear = tiny(voters=("linear",)).fit(X[:50], Y[:50])
    ours, alone = (c.voters_.linear.predict_proba(X) for c in (clf, linear))
    assert ours.shape == alone.shape


def test_clones_have_the_parameter_and_nothing_to_go_on_from(related):
    clf = tiny(warm_start=True, max_epochs=1).fit(*related)
    copied = clone(clf)
    assert copied.warm_start
    with pytest.raises(NotFittedError):
        copied.predict(related[0])
    np.testing.assert_array_equal(
        copied.fit(*related).predict_proba(related[0]), clf.predict_proba(related[0])
    )


class Crash(RuntimeError):
    pass


class CrashLate(Callback):
    """Stop as a killed process would."""

    def on_epoch_begin(self, net, **kwargs):
        if len(net.history) == 2:
            raise Crash


def test_a_fit_that_fails_leaves_the_earlier_one_and_its_checkpoint_is_taken_up(related, tmp_path):
    X, Y = related
    clf = tiny(**PLAIN, warm_start=True, max_epochs=3).fit(X[:100], Y[:100])
    clf.save(tmp_path / "model")
    expected, folder = clf.predict_proba(X), tmp_path / "checkpoints"
    with pytest.raises(Crash):
        clf.set_params(checkpoint_dir=folder, callbacks=[CrashLate()]).fit(X, Y)
    np.testing.assert_array_equal(clf.predict_proba(X), expected)
    again = load(tmp_path / "model").set_params(checkpoint_dir=folder).fit(X, Y)
    whole = load(tmp_path / "model").fit(X, Y)
    np.testing.assert_array_equal(again.predict_proba(X), whole.predict_proba(X))
    with pytest.raises(ValueError, match="other data: weights of the earlier fit"):
        again.fit(X, Y)  # goes on from other weights


class PressAtOnce(Callback):
    def on_batch_end(self, net, **kwargs):
        signal.raise_signal(signal.SIGINT)


def test_ctrl_c_before_the_first_epoch_leaves_the_earlier_fit(related):
    X, Y = related
    clf = tiny(**PLAIN, warm_start=True).fit(X, Y)
    expected = clf.predict_proba(X)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            clf.set_params(callbacks=[PressAtOnce()]).fit(X, Y)
    finally:
        signal.signal(signal.SIGINT, before)
    np.testing.assert_array_equal(clf.predict_proba(X), expected)


def test_a_fit_that_goes_on_gives_the_same_bits_twice(related):
    X, Y = related
    first, second = (
        tiny(warm_start=True).fit(X[:100], Y[:100]).fit(X, Y).predict_proba(X) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


def test_told_labels_are_learned_anew(related):
    X, Y = related
    clf = tiny(warm_start=True).fit(X, Y, known_rate=0.4)
    clf.fit(X, Y, known_rate=0.4)
    known = np.full(Y.shape, np.nan)
    known[:, 0] = Y[:, 0]
    assert np.isfinite(clf.predict_proba(X, known=known)).all()


def test_a_recurrent_network_keeps_its_order(related):
    X, Y = related
    clf = PEERS["mlrnn"](warm_start=True).fit(X, Y)
    order = clf.label_order_.tolist()
    rare = Y.copy()
    rare[:, order[0]] = 0
    rare[:3, order[0]] = 1  # by frequency it would come last
    clf.fit(X, np.column_stack([rare, 1 - Y[:, 0]]))
    assert clf.label_order_.tolist() == [*order, 6]


def test_damaged_checksums_in_a_model_file_are_refused(related, tmp_path):
    clf = tiny(**PLAIN, warm_start=True, max_epochs=1).fit(*related)
    object.__setattr__(clf._row_marks, "parts", clf._row_marks.parts[:-1])
    with pytest.raises(ValueError, match="checksums of rows"):
        clf.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()
