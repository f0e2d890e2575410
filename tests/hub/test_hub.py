"""Models in folders and on the Hub: what comes back, what is refused, and what is left alone."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_mrmp import (
    MLKNNClassifier,
    ModelFileError,
    TunedBinaryRelevanceClassifier,
    from_pretrained,
    model_card,
    push_to_hub,
    save_pretrained,
)

huggingface_hub = pytest.importorskip("huggingface_hub")
REPO = "someone/tags"


@pytest.fixture(scope="module")
def knn(related):
    return MLKNNClassifier(3).fit(*related)


@pytest.fixture(scope="module")
def regression(related):
    """A model that keeps no training rows."""
    return TunedBinaryRelevanceClassifier().fit(*related)


@pytest.fixture
def hub(tmp_path, monkeypatch):
    from tests.hub.fake_hub import FakeHub

    fake = FakeHub(tmp_path)
    monkeypatch.setattr(huggingface_hub, "HfApi", fake.interface)
    monkeypatch.chdir(tmp_path)  # where no folder is called like the repository
    return fake


def unsavable(related):
    X, Y = related
    return DecisionTreeClassifier(max_depth=2).fit(X, Y)


def test_a_pipeline_comes_back_from_a_folder_with_the_same_probabilities(related, tmp_path):
    X, Y = related
    pipeline = make_pipeline(MaxAbsScaler(), MLKNNClassifier(3)).fit(X, Y)
    folder = tmp_path / "new" / "folder"
    save_pretrained(pipeline, folder)
    found = from_pretrained(str(folder)).predict_proba(X)
    np.testing.assert_array_equal(found, pipeline.predict_proba(X))
    assert (folder / "README.md").read_text(encoding="utf-8") == model_card(pipeline)


def test_a_folder_with_files_is_left_alone_unless_asked(knn, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "README.md").write_text("mine, too")
    with pytest.raises(FileExistsError, match=r"'README\.md', 'notes\.txt'.*exist_ok"):
        save_pretrained(knn, tmp_path)
    assert not (tmp_path / "model.safetensors").exists()
    assert (tmp_path / "README.md").read_text() == "mine, too"
    save_pretrained(knn, tmp_path, exist_ok=True, card="the card")
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert (tmp_path / "README.md").read_text() == "the card"


def test_a_file_is_no_folder(knn, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FileExistsError, match="is a file"):
        save_pretrained(knn, tmp_path / "file", exist_ok=True)


@pytest.mark.parametrize("card", [None, "a card of the author"])
def test_a_model_that_cannot_be_saved_makes_no_folder(related, tmp_path, card):
    with pytest.raises(ModelFileError, match="DecisionTreeClassifier"):
        save_pretrained(unsavable(related), tmp_path / "new", card=card)
    with pytest.raises(NotFittedError):
        save_pretrained(MLKNNClassifier(), tmp_path / "new", card=card)
    assert not (tmp_path / "new").exists()


def test_a_pushed_model_is_pulled_with_the_same_probabilities(hub, regression, related):
    url = push_to_hub(regression, REPO)
    assert url == f"https://huggingface.co/{REPO}/commit/1"
    assert hub.private == {REPO: False}
    ((_, branch, files),) = hub.commits
    assert (branch, set(files)) == ("main", {"README.md", "model.safetensors"})
    assert f'from_pretrained("{REPO}")' in files["README.md"].decode()
    X, _ = related
    found = from_pretrained(REPO).predict_proba(X)
    np.testing.assert_array_equal(found, regression.predict_proba(X))


def test_a_revision_is_pushed_to_and_pulled_from(hub, regression, knn):
    push_to_hub(regression, REPO)
    push_to_hub(knn, REPO, revision="neighbours", exist_ok=True, private=False)
    assert isinstance(from_pretrained(REPO), TunedBinaryRelevanceClassifier)
    assert isinstance(from_pretrained(REPO, revision="neighbours"), MLKNNClassifier)
    assert "create_branch" in hub.calls


def test_an_existing_repository_is_changed_only_if_asked(hub, regression):
    push_to_hub(regression, REPO)
    with pytest.raises(FileExistsError, match=r"someone/tags exists.*exist_ok=True.*create_pr"):
        push_to_hub(regression, REPO)
    assert len(hub.commits) == 1
    assert push_to_hub(regression, REPO, create_pr=True).endswith("/discussions/1")
    assert len(hub.commits) == 1
    push_to_hub(regression, REPO, exist_ok=True, card="another card")
    assert hub.commits[-1][2]["README.md"] == b"another card"


def test_a_model_that_cannot_be_saved_reaches_no_hub(hub, related):
    with pytest.raises(ModelFileError, match="DecisionTreeClassifier"):
        push_to_hub(unsavable(related), REPO)
    assert hub.calls == []


def test_training_rows_are_shown_to_others_only_if_that_was_said(hub, knn):
    with pytest.raises(ValueError, match=r"training rows \(160, SparseNeighbors\).*private=True"):
        push_to_hub(knn, REPO)
    assert not {"create_repo", "upload_folder"} & set(hub.calls)
    push_to_hub(knn, REPO, private=True)
    assert hub.private[REPO]
    push_to_hub(knn, REPO, exist_ok=True)  # others see nothing of a private repository


def test_private_is_not_promised_of_a_public_repository(hub, knn, regression):
    push_to_hub(regression, REPO)
    with pytest.raises(ValueError, match="is public, and private=True does not change that"):
        push_to_hub(knn, REPO, private=True, exist_ok=True)
    with pytest.raises(ValueError, match="training rows"):
        push_to_hub(knn, REPO, exist_ok=True)
    assert len(hub.commits) == 1
    push_to_hub(knn, REPO, private=False, exist_ok=True)


def test_what_is_pulled_runs_no_code(hub, regression):
    push_to_hub(regression, REPO)
    hub.commits.append((REPO, "main", {"model.safetensors": b"cos\nsystem\n(S'echo'\ntR."}))
    with pytest.raises(ModelFileError):
        from_pretrained(REPO)


@pytest.mark.parametrize("name", ["tags", "a/b/c", "a b/c", "../tags", "someone/tags\n", "", 3])
def test_names_of_no_repository_are_refused(hub, regression, name):
    with pytest.raises(ValueError, match="such as 'someone/tags'"):
        push_to_hub(regression, name)
    assert hub.calls == []


def test_what_is_neither_folder_nor_repository_is_said(hub, tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        from_pretrained(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"has no model\.safetensors"):
        from_pretrained(tmp_path)
    with pytest.raises(TypeError, match="got int"):
        from_pretrained(3)
    assert hub.calls == []


def test_a_folder_has_no_revision(knn, tmp_path):
    save_pretrained(knn, tmp_path / "folder")
    with pytest.raises(ValueError, match="no revision 'v1'"):
        from_pretrained(tmp_path / "folder", revision="v1")


def test_a_card_must_be_text(knn, tmp_path):
    with pytest.raises(TypeError, match="card must be the text"):
        save_pretrained(knn, tmp_path / "folder", card=tmp_path)
    assert not (tmp_path / "folder").exists()
