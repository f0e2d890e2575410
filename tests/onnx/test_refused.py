"""What cannot be an ONNX model is refused, with advice."""

import sys

import numpy as np
import pytest
from scipy.special import log_ndtr
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from sklearn_mrmp import MLKNNClassifier, MrMPClassifier, to_onnx
from sklearn_mrmp._onnx import graph, voting
from sklearn_mrmp._onnx.networks import _normal_log_odds
from tests.onnx.running import run
from tests.peers.networks import lamp, mlrnn
from tests.seams.mean_linear import MeanLinearClassifier
from tests.tiny import PLAIN, tiny

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")


def test_neighbours(related):
    clf = tiny().fit(*related)
    with pytest.raises(ValueError, match=r"'neighbors'.*voters=\('network', 'linear'\)"):
        to_onnx(clf)


def test_estimators_of_the_user(related):
    voter = ("forest", OneVsRestClassifier(LogisticRegression()))
    clf = tiny(voters=("linear", voter)).fit(*related)
    with pytest.raises(ValueError, match=r"'forest' \(EstimatorVoter\).*voters=\('linear',\)"):
        to_onnx(clf)


def test_texts():
    pytest.importorskip("transformers")
    from tests.tiny_encoder import tiny_encoder

    texts = ["the sea", "a ship", "sun and sand", "a wave"] * 10
    Y = np.array([["sea" in text, "a" in text.split()] for text in texts]).astype(int)
    clf = tiny(**PLAIN, encoder=tiny_encoder(texts)).fit(texts, Y)
    with pytest.raises(ValueError, match=r"texts.*TextEncoder.*input_type='states'"):
        to_onnx(clf)


def test_networks_that_search(related):
    with pytest.raises(ValueError, match=r"mrmp, lamp, mpvae.*'mlrnn'"):
        to_onnx(mlrnn().fit(*related))


def test_networks_of_users(related):
    clf = MeanLinearClassifier(max_epochs=1, random_state=0).fit(*related)
    with pytest.raises(ValueError, match="'mean_linear'"):
        to_onnx(clf)


def test_shortlists_of_peers(related):
    clf = lamp(voters=("network", "linear"), label_shortlist=2).fit(*related)
    with pytest.raises(ValueError, match="label_shortlist=None"):
        to_onnx(clf)


def test_entries_of_sequences():
    X = np.arange(40).reshape(20, 2) % 5
    clf = tiny(**PLAIN, input_type="sequence").fit(X, X % 2)
    with pytest.raises(ValueError, match=r"sparse_rows=True.*'sequence'"):
        clf.to_onnx(sparse_rows=True)


@pytest.mark.parametrize("what", [MLKNNClassifier(), make_pipeline(MaxAbsScaler(), tiny())])
def test_other_estimators(what):
    with pytest.raises(TypeError, match=r"MrMPClassifier.*not \w+\. Of a pipeline"):
        to_onnx(what)


def test_classifiers_that_are_not_fitted():
    with pytest.raises(NotFittedError):
        to_onnx(MrMPClassifier())


def test_too_many_label_sets(related, monkeypatch):
    clf = tiny(**PLAIN, decision=0.5).fit(*related)
    clf._label_sets = tiny_label_sets(related[1])
    to_onnx(clf)
    monkeypatch.setattr(voting, "_MOST_SET_ENTRIES", 5)
    with pytest.raises(ValueError, match=r"label sets of 6 labels.*label_sets=False"):
        to_onnx(clf)


def tiny_label_sets(Y):
    from sklearn_mrmp._decisions.label_set_model import LabelSetModel
    from sklearn_mrmp._ensemble.label_sets import LabelSetVote

    return LabelSetVote(LabelSetModel.from_labels(np.asarray(Y, dtype=bool), 20), 0.5)


def test_models_larger_than_a_file_may_be(related, monkeypatch, tmp_path):
    clf = tiny(**PLAIN, decision=0.5).fit(*related)
    monkeypatch.setattr(graph, "_MOST_BYTES", 1_000)
    with pytest.raises(ValueError, match="too large for ONNX"):
        to_onnx(clf, tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_package_is_named_with_the_extra_that_brings_it(related, monkeypatch):
    clf = tiny(**PLAIN).fit(*related)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"sklearn-mrmp\[onnx\]"):
        to_onnx(clf)


def test_log_odds_of_a_probit_are_right_far_out():
    x = np.linspace(-30, 30, 2_001, dtype=np.float32)
    op = graph.GraphWriter()
    z = _normal_log_odds(op, op.input("x", np.float32, ("n",)))
    op.output("z", z, np.float32, ("n",))
    exact = x.astype(np.float64)
    exact = log_ndtr(exact) - log_ndtr(-exact)
    np.testing.assert_allclose(run(op.model(), x=x)["z"], exact, rtol=1e-5, atol=1e-6)
