"""What ONNX models return besides probabilities: labels where a cut decides, and metadata."""

import json

import numpy as np
import pytest

from sklearn_mrmp import AtLeastOne, FBeta, LabelCuts, PrecisionFloor, TopK, to_onnx
from tests.onnx.running import assert_same, run
from tests.tiny import tiny

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

BOTH = {"voters": ("network", "linear"), "label_sets": False}


@pytest.fixture(scope="module")
def fitted(related):
    return tiny(**BOTH).fit(*related)


@pytest.fixture(scope="module")
def X(related):
    return related[0].toarray().astype(np.float32)


def metadata(model):
    return {entry.key: entry.value for entry in model.metadata_props}


@pytest.mark.parametrize("metric", ["f1_micro", "f1_macro"])
@pytest.mark.parametrize(
    "decision",
    [
        "optimal",
        "threshold",
        "at_least_one",
        AtLeastOne(0.6),
        LabelCuts([0.2, 0.3, 0.4, 0.5, 0.6, 2.0]),
        PrecisionFloor(0.7),
        FBeta(2.0),
        FBeta(2.0, "macro"),
    ],
    ids=repr,
)
def test_labels_are_decided_as_by_the_rule(decision, metric, fitted, X):
    clf = fitted.set_params(decision=decision, metric=metric)
    out = run(to_onnx(clf), X=X)
    assert out["labels"].dtype == np.int64
    # of the model's own probabilities: the last digit of others may be on the other side of a cut
    np.testing.assert_array_equal(out["labels"], clf.decision_rule_.decide(out["probabilities"]))
    assert metadata(to_onnx(clf))["decision"] == repr(decision)


def test_labels_reach_a_number(fitted, X):
    out = run(to_onnx(fitted.set_params(decision=0.3)), X=X)
    np.testing.assert_array_equal(out["labels"], out["probabilities"] >= np.float32(0.3))
    assert 0 < out["labels"].mean() < 1


@pytest.mark.parametrize("decision", ["optimal", "top_k", TopK(2)], ids=repr)
def test_a_rule_that_is_no_cut_gives_probabilities_alone_and_says_so(decision, fitted, X):
    clf = fitted.set_params(decision=decision, metric="f1_samples")
    with pytest.warns(UserWarning, match="is no threshold.*set_params"):
        model = to_onnx(clf)
    out = run(model, X=X)
    assert list(out) == ["probabilities"]
    assert_same(out["probabilities"], clf.predict_proba(X))
    assert metadata(model)["decision"] == "none"


@pytest.mark.parametrize("classes", [[3, 7], ["no", "yes"], [False, True], [1.0, 2.0]], ids=repr)
def test_a_vector_of_two_classes(classes, related, X):
    y = np.array(classes)[related[1][:, 0]]
    for decision in ("optimal", "threshold"):
        clf = tiny(**BOTH, decision=decision).fit(related[0], y)
        model = to_onnx(clf)
        out, cut = run(model, X=X), 0.5
        assert_same(out["probabilities"], clf.predict_proba(X))
        if decision == "threshold":
            cut = clf.thresholds_["f1_micro"]
        expected = clf.classes_[(out["probabilities"][:, 1] >= cut).astype(int)]
        np.testing.assert_array_equal(out["labels"].astype(y.dtype), expected)
        assert json.loads(metadata(model)["classes"]) == classes


@pytest.mark.parametrize("names", [["a", "b", "c"], [5, 6, 9]], ids=repr)
def test_a_vector_of_several_classes(names, related, X):
    clf = tiny(**BOTH).fit(related[0], np.array(names)[related[1].argmax(axis=1) % 3])
    model = to_onnx(clf)
    out = run(model, X=X)
    assert_same(out["probabilities"], clf.predict_proba(X))
    expected = clf.classes_[out["probabilities"].argmax(axis=1)]
    np.testing.assert_array_equal(out["labels"], expected)
    assert json.loads(metadata(model)["label_names"]) == [str(name) for name in names]


def test_metadata_name_labels_columns_and_kind_of_rows(related):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(related[0].toarray()[:, :5], columns=list("vwxyz"))
    Y = pd.DataFrame(related[1][:, :3], columns=["sea", "fish 'n' chips", "café"])
    clf = tiny(**BOTH).fit(X, Y)
    about = metadata(clf.to_onnx())
    assert json.loads(about["label_names"]) == list(Y.columns)
    assert json.loads(about["feature_names"]) == list(X.columns)
    assert about["input_type"] == clf.input_type_
    assert "classes" not in about


def test_the_file_holds_the_model_that_is_returned(fitted, X, tmp_path):
    import onnx

    model = fitted.set_params(decision=0.5).to_onnx(tmp_path / "model.onnx")
    read = onnx.load(tmp_path / "model.onnx")
    assert read == model
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]


def test_models_are_of_a_version_that_old_runtimes_read(fitted):
    model = fitted.set_params(decision=0.5).to_onnx()
    assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", 18)]
    assert model.ir_version == 8
    assert model.producer_name == "sklearn-mrmp"
