"""ONNX models say what the classifiers say, for every kind of rows, in batches of any size."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from sklearn_mrmp import LaMPClassifier, MPVAEClassifier, to_onnx
from sklearn_mrmp._decisions.label_set_model import LabelSetModel
from sklearn_mrmp._ensemble.label_sets import LabelSetVote
from tests.onnx.running import assert_same, entries, run
from tests.peers.networks import PEERS
from tests.tiny import tiny

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

BOTH = {"voters": ("network", "linear"), "decision": 0.5, "lr": 0.03}
ALONE = {**BOTH, "voters": ("network",), "label_sets": False}


def matrices(X):
    """Rows of each kind that is a matrix, of numbers that float32 holds."""
    rng, X = np.random.default_rng(0), sp.csr_array(X)
    counts = sp.csr_array(X.multiply(rng.integers(1, 6, size=X.shape)))
    shares = sp.csr_array(counts / 8)
    dense = rng.normal(size=(X.shape[0], 5)).astype(np.float32).astype(np.float64)
    return {
        "binary": X,
        "counts": counts,
        "shares": shares,
        "negative": sp.csr_array(X.multiply(rng.choice([-1.5, 0.5], size=X.shape))),
        "measurements": 20 * dense + 300,
        "beside words": sp.csr_array(sp.hstack([dense, counts])),
    }


@pytest.fixture(scope="module")
def rows(related):
    return matrices(related[0])


def dense32(X):
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float32)


def in_batches(model, size, **inputs):
    n_rows = len(next(iter(inputs.values())))
    parts = [
        run(model, **{name: part[start : start + size] for name, part in inputs.items()})
        for start in range(0, n_rows, size)
    ]
    return np.vstack([part["probabilities"] for part in parts])


KINDS = ("binary", "counts", "shares", "negative", "measurements")


@pytest.mark.parametrize("options", [BOTH, ALONE], ids=["with linear", "network"])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_features(kind, options, rows, related):
    clf = tiny(**options).fit(rows[kind], related[1])
    X = dense32(rows[kind])
    expected = clf.predict_proba(rows[kind])
    assert_same(run(to_onnx(clf), X=X)["probabilities"], expected)
    assert_same(run(to_onnx(clf, sparse_rows=True), **entries(X))["probabilities"], expected)


@pytest.mark.parametrize("kind", ["counts", "measurements"])
def test_a_linear_voter_alone(kind, rows, related):
    clf = tiny(**BOTH).set_params(voters=("linear",)).fit(rows[kind], related[1])
    X = dense32(rows[kind])
    expected = clf.predict_proba(rows[kind])
    assert_same(run(to_onnx(clf), X=X)["probabilities"], expected)
    assert_same(run(to_onnx(clf, sparse_rows=True), **entries(X))["probabilities"], expected)


@pytest.mark.parametrize("kind", ["measurements", "beside words"])
def test_rows_of_vectors(kind, rows, related):
    clf = tiny(**BOTH, input_type="vectors").fit(rows[kind], related[1])
    X = dense32(rows[kind])
    expected = clf.predict_proba(rows[kind])
    assert_same(run(to_onnx(clf), X=X)["probabilities"], expected)
    assert_same(run(to_onnx(clf, sparse_rows=True), **entries(X))["probabilities"], expected)


@pytest.mark.parametrize("kind", ["counts", "beside words"])
def test_batches_of_any_size_and_rows_of_any_length(kind, rows, related):
    X = dense32(rows[kind])
    X[1] = 0  # no token at all
    X[2, 3:] = 0
    X[4] = np.arange(X.shape[1]) % 3 + 1  # all tokens
    input_type = "features" if kind == "counts" else "vectors"
    clf = tiny(**ALONE, input_type=input_type).fit(rows[kind], related[1])
    expected, model = clf.predict_proba(sp.csr_array(X)), to_onnx(clf)
    sparse = to_onnx(clf, sparse_rows=True)
    for size in (1, 7, len(X)):
        assert_same(in_batches(model, size, X=X), expected)
        assert_same(in_batches(sparse, size, **entries(X)), expected)
    assert_same(run(sparse, **entries(X, n_more=9))["probabilities"], expected)
    assert_same(run(sparse, **entries(X[1:2]))["probabilities"], expected[1:2])


def test_entries_may_stand_in_any_order(rows, related):
    clf = tiny(**BOTH).fit(rows["counts"], related[1])
    inputs = entries(rows["counts"])
    backwards = {name: part[:, ::-1].copy() for name, part in inputs.items()}
    model = to_onnx(clf, sparse_rows=True)
    assert_same(run(model, **backwards)["probabilities"], clf.predict_proba(rows["counts"]))


@pytest.mark.parametrize("kind", ["binary", "counts"])
def test_the_most_important_tokens_of_long_rows(kind, rows, related):
    clf = tiny(**ALONE, max_tokens=2).fit(rows[kind], related[1])
    X, expected = dense32(rows[kind]), clf.predict_proba(rows[kind])
    assert_same(run(to_onnx(clf), X=X)["probabilities"], expected)
    assert_same(run(to_onnx(clf, sparse_rows=True), **entries(X))["probabilities"], expected)


def test_columns_that_training_rows_do_not_have_are_no_tokens(rows, related):
    X = rows["counts"].toarray()
    X[:, 7] = 0
    clf = tiny(**ALONE).fit(sp.csr_array(X), related[1])
    X[::2, 7] = 3
    assert_same(run(to_onnx(clf), X=dense32(X))["probabilities"], clf.predict_proba(X))


@pytest.mark.parametrize("kind", ["counts", "measurements"])
def test_huge_values(kind, rows, related):
    clf = tiny(**BOTH).fit(rows[kind], related[1])
    X = dense32(rows[kind])
    X[0, 0], X[1, 1] = 3e38, 1e-38
    assert_same(run(to_onnx(clf), X=X)["probabilities"], clf.predict_proba(X))


@pytest.mark.parametrize("max_tokens", [None, 3])
@pytest.mark.parametrize("options", [BOTH, ALONE], ids=["with linear", "network"])
def test_token_sequences(options, max_tokens, related):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 20, size=(160, 9))  # padding at any place
    clf = tiny(**options, input_type="sequence", max_tokens=max_tokens).fit(X, related[1])
    X[0], X[1, :6], X[2, 1] = 0, 0, 999  # no token, a short row, an unknown token
    expected, model = clf.predict_proba(X), to_onnx(clf)
    for size in (1, 7, len(X)):
        assert_same(in_batches(model, size, X=X), expected)
    padded = np.hstack([np.zeros((160, 2), int), X, np.zeros((160, 5), int)])
    assert_same(run(model, X=padded)["probabilities"], expected)


@pytest.mark.parametrize("max_tokens", [None, 3])
@pytest.mark.parametrize("options", [BOTH, ALONE], ids=["with linear", "network"])
def test_token_states(options, max_tokens, related):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(rng.integers(7), 6)).astype(np.float32) for _ in range(160)]
    clf = tiny(**options, max_tokens=max_tokens).fit(X, related[1])
    lengths = np.array([len(states) for states in X])
    padded = np.full((160, 8, 6), np.nan, np.float32)
    for row, states in zip(padded, X, strict=True):
        row[: len(states)] = states
    expected, model = clf.predict_proba(X), to_onnx(clf)
    assert (lengths == 0).any()
    for size in (1, 7, len(X)):
        assert_same(in_batches(model, size, states=padded, lengths=lengths), expected)


@pytest.mark.parametrize(
    "options",
    [
        {"architecture": "paper"},
        {"relations": None},
        {"n_members": 2},
        {"n_encoder_layers": 0},
        {"n_encoder_layers": 1, "n_decoder_layers": 3},
        {"n_encoder_layers": 3, "n_decoder_layers": 1},
        {"label_shortlist": 2},
        {"label_shortlist": 2, "n_decoder_layers": 2},
        {"cv": 2},
    ],
    ids=str,
)
def test_networks_and_votes_of_every_form(options, rows, related):
    clf = tiny(**{**BOTH, **options}).fit(rows["counts"], related[1])
    expected = clf.predict_proba(rows["counts"])
    assert_same(run(to_onnx(clf), X=dense32(rows["counts"]))["probabilities"], expected)


def test_shifts_of_labels_are_added(rows, related):
    clf = tiny(**BOTH).fit(rows["counts"], related[1])
    shifts = np.linspace(-1, 1, 6).astype(np.float32)
    for shortlist in ({}, {"label_shortlist": 2}):
        clf = tiny(**{**BOTH, **shortlist}).fit(rows["counts"], related[1])
        clf._ensemble = replace(clf._ensemble, shifts=shifts)
        expected = clf.predict_proba(rows["counts"])
        assert_same(run(to_onnx(clf), X=dense32(rows["counts"]))["probabilities"], expected)


def test_label_sets_are_mixed_in(rows, related):
    clf = tiny(**ALONE).fit(rows["counts"], related[1])
    alone = clf.predict_proba(rows["counts"])
    sets = LabelSetModel.from_labels(np.asarray(related[1], dtype=bool), 20, [0.8, 0.1, 0.5, -0.2])
    clf._label_sets = LabelSetVote(sets, 0.5)
    expected = clf.predict_proba(rows["counts"])
    assert np.abs(expected - alone).max() > 0.01
    assert_same(run(to_onnx(clf), X=dense32(rows["counts"]))["probabilities"], expected)


def test_a_classifier_that_reads_told_labels_is_the_same_for_rows_of_which_none_is_told(
    rows, related
):
    clf = tiny(**BOTH).fit(rows["counts"], related[1], known_rate=0.3)
    expected = clf.predict_proba(rows["counts"])
    assert_same(run(to_onnx(clf), X=dense32(rows["counts"]))["probabilities"], expected)


OF_LAMP = ({}, {"relations": "full"}, {"relations": None}, {"architecture": "paper"})
OF_MPVAE = ({}, {"architecture": "paper"})


@pytest.mark.parametrize("kind", ["counts", "beside words", "sequence"])
@pytest.mark.parametrize(
    ("name", "options"),
    [("lamp", options) for options in OF_LAMP] + [("mpvae", options) for options in OF_MPVAE],
    ids=str,
)
def test_neural_peers(name, options, kind, rows, related):
    if kind == "sequence":
        X = np.random.default_rng(0).integers(0, 20, size=(160, 9))
        X[0] = 0
    else:
        X = rows[kind]
    input_type = "vectors" if kind == "beside words" else "auto" if kind == "counts" else kind
    clf = PEERS[name](**options, input_type=input_type, lr=0.03, decision=0.5).fit(X, related[1])
    assert isinstance(clf, (LaMPClassifier, MPVAEClassifier))
    P = run(to_onnx(clf), X=X if kind == "sequence" else dense32(X))["probabilities"]
    assert_same(P, clf.predict_proba(X))
