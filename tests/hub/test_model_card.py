"""Model cards say what the model is, in Markdown and YAML that no name can break."""

import re
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import KNNImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_mrmp import (
    LabelPowersetClassifier,
    MLARAMClassifier,
    MLKNNClassifier,
    ModelFileError,
    SoftVotingMultilabelClassifier,
    TunedBinaryRelevanceClassifier,
    TunedDecisionClassifier,
    from_pretrained,
    load,
    model_card,
    save_pretrained,
)
from sklearn_mrmp._cli.main import main
from tests.tiny import tiny
from tests.tiny_encoder import tiny_encoder

TEXTS = ["red fish", "blue fish", "one bird", "two birds", "blue sky", "red bird"] * 8


def head_of(card):
    yaml = pytest.importorskip("yaml")
    _, head, body = card.split("---\n", 2)
    return yaml.safe_load(head), body


def section(card, title):
    return re.search(rf"^## {title}\n\n(.*?)(?=^## |\Z)", card, re.M | re.S)[1].strip()


@pytest.fixture(scope="module")
def knn(related):
    X, Y = related
    return MLKNNClassifier(3).fit(X, Y)


@pytest.fixture(scope="module")
def mrmp(related):
    return tiny().fit(*related)


def test_the_head_has_what_the_author_gave_and_what_the_model_is(knn):
    card = model_card(
        knn, title="Fish: a #1", license="mit", language="en", tags=["fish"], repo_id="a/b"
    )
    head, body = head_of(card)
    assert head == {
        "library_name": "sklearn-mrmp",
        "license": "mit",
        "language": ["en"],
        "pipeline_tag": "tabular-classification",
        "tags": [
            "scikit-learn",
            "sklearn-mrmp",
            "multi-label-classification",
            "mlknnclassifier",
            "fish",
        ],
    }
    assert body.startswith("\n# Fish&#58; a #1\n")
    assert 'sklearn_mrmp.from_pretrained("a/b")' in body


def test_the_hub_reads_the_results_of_the_head(knn, related):
    huggingface_hub = pytest.importorskip("huggingface_hub")
    X, Y = related
    card = model_card(knn, X[:50], Y[:50], dataset="Fish: 1", metrics={"precision at 5": 0.25})
    data = huggingface_hub.ModelCard(card).data
    assert data.library_name == "sklearn-mrmp"
    found = {result.metric_name: result.metric_value for result in data.eval_results}
    assert found["precision at 5"] == 0.25
    assert found["accuracy"] == pytest.approx(knn.score(X[:50], Y[:50]), abs=1e-6)
    assert {result.dataset_name for result in data.eval_results} == {"Fish: 1"}


def test_scores_are_those_of_scikit_learn(knn, related):
    from sklearn.metrics import f1_score

    X, Y = related
    evaluation = section(model_card(knn, X[:50], Y[:50]), "Evaluation")
    predicted = knn.predict(X[:50])
    assert "computed on 50 test rows" in evaluation
    for average in ("micro", "macro", "samples"):
        value = f1_score(Y[:50], predicted, average=average, zero_division=0)
        assert f"| f1_{average} | {value:.4g} |" in evaluation


def test_an_absent_evaluation_is_said(knn):
    assert section(model_card(knn), "Evaluation") == "The author gave no evaluation."


def test_limits_are_left_to_the_author(knn):
    assert "has not yet written" in section(model_card(knn), "Intended uses and limits")
    limits = "Not for *whales*."
    assert section(model_card(knn, limits=limits), "Intended uses and limits") == limits


def test_voters_and_changed_parameters_are_told(mrmp):
    card = model_card(mrmp)
    for name, weight in mrmp.vote_weights_.items():
        assert f"| {name} | {weight:.3g} |" in section(card, "Voters")
    told = section(card, "Parameters that are not at their default")
    assert "| d_model | 8 |" in told
    assert "early_stopping" not in told


def test_parameters_of_parts_have_the_names_of_set_params(related, tmp_path):
    X, Y = related
    tuned = TunedDecisionClassifier(MLKNNClassifier(3)).fit(X, Y)
    told = section(model_card(tuned), "Parameters that are not at their default")
    assert "| estimator__n_neighbors | 3 |" in told


def test_folders_of_the_author_are_not_told(related, tmp_path):
    model = tiny(voters=("linear",), checkpoint_dir=tmp_path / "secret").fit(*related)
    assert "secret" not in model_card(model)


@pytest.mark.parametrize(
    "names",
    [["<script>", "a | b", "x\ny", "# z", "`c`", "---"], [f"label {i}" for i in range(150)]],
    ids=["nasty", "many"],
)
def test_every_label_has_a_line_of_its_own_up_to_a_hundred(names):
    rng = np.random.default_rng(0)
    Y = pd.DataFrame(rng.integers(2, size=(40, len(names))), columns=names)
    card = model_card(MLKNNClassifier(3).fit(rng.random((40, 3)), Y))
    labels = section(card, "Labels")
    assert len(re.findall(r"^\| \d+ \| .* \|$", labels, re.M)) == min(len(names), 100)
    assert ("and 50 more" in labels) == (len(names) == 150)
    assert "<script>" not in card


def test_columns_of_a_data_frame_are_named(related):
    X, Y = related
    X = pd.DataFrame(X[:, :2].toarray(), columns=["size", "a|b"])
    assert "rows with 2 features: size, a&#124;b." in model_card(MLKNNClassifier(3).fit(X, Y))


def test_a_model_of_texts_says_so():
    names = [["fish"] * ("fish" in text) + ["blue"] * ("blue" in text) for text in TEXTS]
    model = make_pipeline(TfidfVectorizer(), MLKNNClassifier(3)).fit(TEXTS, names)
    head, body = head_of(model_card(model))
    assert head["pipeline_tag"] == "text-classification"
    assert "`Pipeline` that ends in `MLKNNClassifier` and reads texts" in body


def test_a_model_of_the_command_line_says_which_columns_it_reads(tmp_path):
    lines = [f"{text},{'fish' if 'fish' in text else 'bird'}" for text in TEXTS]
    (tmp_path / "rows.csv").write_text("\n".join(["title,tags", *lines]))
    path = str(tmp_path / "model.mrmp")
    command = ["fit", str(tmp_path / "rows.csv"), "--text", "title", "--label-column", "tags"]
    assert main([*command, "--voters", "linear", "--model", path]) == 0
    head, body = head_of(model_card(load(path)))
    assert head["pipeline_tag"] == "text-classification"
    assert "reads dicts, or rows of a data frame, with the columns title." in body


def test_a_model_with_a_pretrained_encoder_comes_back_with_its_weights(tmp_path):
    model, tokenizer = tiny_encoder(TEXTS)
    folder = tmp_path / "secret" / "encoder"
    for part in (model, tokenizer):
        part.save_pretrained(folder)
    Y = np.array([["fish" in text, "blue" in text] for text in TEXTS], dtype=int)
    clf = tiny(encoder=str(folder), voters=("linear", "neighbors")).fit(TEXTS, Y)
    card = model_card(clf)
    assert "secret" not in card
    assert f"| training rows | {len(TEXTS)} | `NeighborVoter` |" in card
    assert "base_model" not in head_of(card)[0]
    save_pretrained(clf, tmp_path / "model", encoder_weights=True)
    shutil.rmtree(folder)
    found = from_pretrained(tmp_path / "model").predict_proba(TEXTS)
    np.testing.assert_array_equal(found, clf.predict_proba(TEXTS))


def test_classes_that_exclude_each_other_are_classes(related):
    X, _ = related
    y = np.array(["a", "b", "c", "d"] * 40)
    model = MLKNNClassifier(3).fit(X, y)
    card = model_card(model, X, y)
    assert "gives each row one of 4 classes" in card
    assert "| 3 | d |" in section(card, "Classes")
    assert "f1" not in section(card, "Evaluation")
    assert "multi-label" not in card


def test_a_classifier_of_scikit_learn_has_a_card(related):
    X, Y = related
    model = OneVsRestClassifier(LogisticRegression()).fit(X, Y)
    card = model_card(model, X, Y)
    assert "any number of 6 labels" in card
    assert "| f1_micro |" in section(card, "Evaluation")


ROWS = "**The file contains training rows"


@pytest.mark.parametrize(
    ("model", "kept"),
    [
        (MLKNNClassifier(3), ["training rows | 160"]),
        (tiny(), ["training rows | 160", "label sets of training rows"]),
        (tiny(voters=("linear",)), ["label sets of training rows", "held-out rows"]),
        (MLARAMClassifier(), ["prototypes, of which many are single training rows"]),
        (LabelPowersetClassifier(), ["label sets of training rows"]),
        (TunedBinaryRelevanceClassifier(), []),
        (SoftVotingMultilabelClassifier([("k", MLKNNClassifier(3))]), ["training rows | 160"]),
        (
            make_pipeline(Nystroem(n_components=20), OneVsRestClassifier(LogisticRegression())),
            ["training rows | 20"],
        ),
        (
            make_pipeline(KNNImputer(), OneVsRestClassifier(LogisticRegression())),
            ["training rows | 160"],
        ),
        (OneVsRestClassifier(LogisticRegression()), []),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_the_file_keeps_of_the_training_data_is_told(related, model, kept):
    X, Y = related
    told = section(model_card(model.fit(X.toarray(), Y)), "Training data in the file")
    for line in kept:
        assert line in told
    shows = any("training rows |" in line or "prototypes" in line for line in kept)
    assert (ROWS in told) == shows
    assert ("|" in told) == bool(kept)


def test_words_of_the_training_texts_are_told():
    names = [["fish"] * ("fish" in text) + ["blue"] * ("blue" in text) for text in TEXTS]
    model = make_pipeline(TfidfVectorizer(), tiny(voters=("linear",))).fit(TEXTS, names)
    told = section(model_card(model), "Training data in the file")
    words = len(model[0].vocabulary_)
    assert f"| words, tokens or categories | {words} | `TfidfVectorizer` |" in told


def test_what_cannot_be_a_card_is_refused(knn, related):
    X, Y = related
    with pytest.raises(ValueError, match="together"):
        model_card(knn, X)
    with pytest.raises(ValueError, match="accuracy would be in the card twice"):
        model_card(knn, X, Y, metrics={"accuracy": 1.0})
    with pytest.raises(ValueError, match="no number to report"):
        model_card(knn, metrics={"loss": float("nan")})
    with pytest.raises(TypeError, match="as numbers; got 'loss': '1'"):
        model_card(knn, metrics={"loss": "1"})
    with pytest.raises(TypeError, match="title must be a str"):
        model_card(knn, title=3)
    with pytest.raises(TypeError, match="tags must have texts"):
        model_card(knn, tags=[3])
    with pytest.raises(ValueError, match="such as 'someone/tags'"):
        model_card(knn, repo_id='x"); import os')
    with pytest.raises(ModelFileError):
        model_card(DecisionTreeClassifier().fit(X, Y))
    with pytest.raises(ValueError, match="StandardScaler predicts no labels"):
        model_card(StandardScaler().fit(X.toarray()))
